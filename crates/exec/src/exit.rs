//! How a server's process ended, in values and in words.

use std::fmt;

/// The end of a server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, where the process ended by itself.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether its guard was killed first, so that its true status was lost and its owner ended it.
    pub guard_lost: bool,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}"),
            (None, Some(signal)) => match name(signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            (None, None) if self.guard_lost => f.write_str("was ended because its guard process was killed"),
            (None, None) => f.write_str("ended"),
        }
    }
}

/// The usual name of a signal that is met in practice. The numbers are equal on Linux and macOS but for `SIGBUS`
/// and `SIGUSR1`, which are left out.
fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_told_in_words() {
        let exit = |code, signal, guard_lost| Exit { code, signal, guard_lost }.to_string();
        assert_eq!(exit(Some(3), None, false), "exited with code 3");
        assert_eq!(exit(None, Some(9), false), "was ended by signal 9 (SIGKILL)");
        assert_eq!(exit(None, Some(77), false), "was ended by signal 77");
        assert_eq!(exit(None, None, true), "was ended because its guard process was killed");
    }
}
