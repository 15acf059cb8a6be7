//! How the program ends: one number for each kind of failure, so that scripts can tell them apart.

use std::process::ExitCode;

use patchbay_api::{ApiError, ErrorCode};

/// What the help says of the numbers.
pub const TABLE: &str = "\
Exit codes:
  0  done
  1  failed, or the tool reported an error
  2  the command line, its input or the settings are wrong
  3  no such server, tool, folder or secret
  4  not permitted
  5  somebody else was first: a changed file, another owner
  6  the server or the running Patchbay cannot be reached, or took too long";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what it was asked.
    Done = 0,
    /// It failed in a way that has no number of its own.
    Failed = 1,
    /// Its input is wrong; also clap's own number.
    Wrong = 2,
    /// What it names does not exist.
    NotFound = 3,
    /// Permission is missing.
    Denied = 4,
    /// Somebody else was first.
    Conflict = 5,
    /// Nobody answers.
    Unavailable = 6,
    /// Ended by Ctrl-C, in the number that shells use.
    Interrupted = 130,
}

impl From<&ApiError> for Exit {
    fn from(error: &ApiError) -> Self {
        match error.code {
            ErrorCode::NotFound | ErrorCode::McpServerNotFound => Self::NotFound,
            ErrorCode::Invalid => Self::Wrong,
            ErrorCode::Conflict => Self::Conflict,
            ErrorCode::Denied | ErrorCode::Unauthorized => Self::Denied,
            ErrorCode::Unavailable | ErrorCode::Timeout | ErrorCode::VersionMismatch => Self::Unavailable,
            ErrorCode::Io | ErrorCode::Internal => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_failure_has_its_number() {
        for (code, number) in [
            (ErrorCode::NotFound, 3),
            (ErrorCode::McpServerNotFound, 3),
            (ErrorCode::Invalid, 2),
            (ErrorCode::Conflict, 5),
            (ErrorCode::Denied, 4),
            (ErrorCode::Unauthorized, 4),
            (ErrorCode::Unavailable, 6),
            (ErrorCode::Timeout, 6),
            (ErrorCode::VersionMismatch, 6),
            (ErrorCode::Io, 1),
            (ErrorCode::Internal, 1),
        ] {
            assert_eq!(Exit::from(&ApiError::new(code, "")) as u8, number, "{code:?}");
        }
    }
}
