//! Wall-clock stamps that obey the paused clock of the tests.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Turns the runtime's monotonic time into milliseconds since 1970 UTC.
///
/// A jump of the system's clock does not move it: it is read once.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    base: Instant,
    base_ms: u64,
}

impl Clock {
    /// A clock that starts at the system's time.
    #[must_use]
    pub fn system() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { base: Instant::now(), base_ms: millis(now) }
    }

    /// Now, in milliseconds since 1970 UTC.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.at_ms(Instant::now())
    }

    /// Now, as the records write it.
    #[must_use]
    pub fn now_utc(&self) -> time::OffsetDateTime {
        let nanos = i128::from(self.now_ms()) * 1_000_000;
        time::OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(time::OffsetDateTime::UNIX_EPOCH)
    }

    /// A moment of the runtime, in milliseconds since 1970 UTC.
    #[must_use]
    pub fn at_ms(&self, moment: Instant) -> u64 {
        self.base_ms + millis(moment.saturating_duration_since(self.base))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_follows_the_paused_time_of_the_runtime() {
        let clock = Clock::system();
        let before = clock.now_ms();
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now_ms() - before, 90_000);
    }
}
