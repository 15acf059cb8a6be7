//! States in plain words, each with its colour.

use std::time::{Duration, SystemTime};

use patchbay_api::{ServerState, ServerStatus, TransportKind};

use crate::terminal::Style;

/// A state in words.
pub fn state(state: ServerState) -> (Style, &'static str) {
    match state {
        ServerState::Disabled => (Style::Faint, "disabled: configured, not started"),
        ServerState::Invalid => (Style::Bad, "invalid"),
        ServerState::PendingTrust => (Style::Warning, "pending trust"),
        ServerState::Idle => (Style::Plain, "idle"),
        ServerState::Connecting => (Style::Busy, "connecting"),
        ServerState::Connected => (Style::Good, "connected"),
        ServerState::Paused => (Style::Warning, "paused"),
        ServerState::NeedsSignIn => (Style::Warning, "needs sign-in"),
        ServerState::Failed => (Style::Bad, "failed"),
        ServerState::Stopping => (Style::Busy, "stopping"),
    }
}

/// A server's state in words, with the rest of a pause.
pub fn status(status: &ServerStatus) -> (Style, String) {
    let (style, word) = state(status.state);
    let rest = status
        .until_ms
        .filter(|_| status.state == ServerState::Paused)
        .map(|until| until.saturating_sub(now_ms()));
    match rest {
        Some(rest) if rest > 0 => (style, format!("{word} for {}", duration(rest))),
        _ => (style, word.to_owned()),
    }
}

/// How a server is reached, as the settings call it.
pub fn transport(kind: Option<TransportKind>) -> &'static str {
    match kind {
        Some(TransportKind::Stdio) => "stdio",
        Some(TransportKind::Http) => "http",
        Some(TransportKind::Sse) => "sse",
        None => "–",
    }
}

/// How long ago this moment was.
pub fn since(ms: u64) -> String {
    duration(now_ms().saturating_sub(ms))
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds in the unit that says most.
fn duration(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_says_most() {
        for (ms, text) in [
            (0, "0 s"),
            (1, "1 s"),
            (119_000, "119 s"),
            (120_000, "2 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }
}
