//! When a server that keeps ending may start again. A pure state machine that is given the time.

use std::time::Duration;

use tokio::time::Instant;

/// Ends in a row that cost nothing: a crash now and then restarts at once.
const FREE: u32 = 3;
/// The first pause; it doubles with every further end.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(300);
/// The longest time between two tries to reach a remote server.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// A server that lived this long is in order again.
const HEALTHY: Duration = Duration::from_secs(60);

/// Counts a server's ends in a row, whether or not its handshake worked.
///
/// One that ends at once starts at most ten times in its first minute: three times freely, then after
/// 1, 2, 4, 8, 16 and 32 seconds.
#[derive(Debug, Default)]
pub struct Backoff {
    ends: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// Takes note that the server ended (or failed to start) at `now`, having lived for `lived`.
    pub fn ended(&mut self, now: Instant, lived: Duration) {
        if lived >= HEALTHY {
            self.ends = 0;
        }
        self.ends = self.ends.saturating_add(1);
        self.until = self
            .ends
            .checked_sub(FREE)
            .filter(|paused| *paused > 0)
            .map(|paused| now + FIRST.saturating_mul(1 << (paused - 1).min(16)).min(LONGEST));
    }

    /// Until when it must wait, if that is after `now`.
    #[must_use]
    pub fn until(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }

    /// The wait is over by other means than the clock: the next start is free, the count stays.
    pub fn waited(&mut self) {
        self.until = None;
    }

    /// When a remote server that cannot be reached is tried again by itself: after 1, 2, 4 … seconds, a minute at
    /// most, spread by `salt` so that many do not come back at the same moment.
    #[must_use]
    pub fn retry_after(&self, salt: u64) -> Duration {
        let base = FIRST.saturating_mul(1 << self.ends.saturating_sub(1).min(16)).min(LONGEST_RETRY);
        let share = u32::try_from((salt ^ u64::from(self.ends).wrapping_mul(0x9E37_79B9)) % 512).unwrap_or(0);
        base.saturating_mul(768 + share) / 1024
    }

    /// Forgets everything: a person asked for a restart, or the settings changed.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts the server as soon as it may, each time it ends after `lived`; counts the starts within a minute.
    fn starts_in_first_minute(lived: Duration) -> usize {
        let start = Instant::now();
        let (mut now, mut backoff, mut starts) = (start, Backoff::default(), 0);
        while now < start + Duration::from_secs(60) {
            starts += 1;
            now += lived;
            backoff.ended(now, lived);
            now = backoff.until(now).unwrap_or(now);
        }
        starts
    }

    #[test]
    fn a_server_that_ends_at_once_starts_at_most_ten_times_in_its_first_minute() {
        assert_eq!(starts_in_first_minute(Duration::from_millis(1)), 9);
        assert_eq!(starts_in_first_minute(Duration::from_secs(2)), 9);
    }

    #[test]
    fn a_minute_of_health_makes_the_next_restart_free() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        for _ in 0..6 {
            backoff.ended(now, Duration::ZERO);
        }
        assert!(backoff.until(now).is_some());
        backoff.ended(now, Duration::from_secs(61));
        assert_eq!(backoff.until(now), None);
    }

    #[test]
    fn tries_to_reach_a_remote_server_are_spread_and_never_more_than_a_minute_and_a_quarter_apart() {
        let mut backoff = Backoff::default();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..20 {
            backoff.ended(Instant::now(), Duration::ZERO);
            for salt in 0..8 {
                let after = backoff.retry_after(salt * 77);
                assert!(after >= Duration::from_millis(750) && after <= Duration::from_secs(75), "{after:?}");
                seen.insert(after);
            }
        }
        assert!(seen.len() > 100, "{} different times", seen.len());
    }

    #[test]
    fn the_pause_stops_growing_at_five_minutes() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        for _ in 0..100 {
            backoff.ended(now, Duration::ZERO);
        }
        assert_eq!(backoff.until(now), Some(now + LONGEST));
    }
}
