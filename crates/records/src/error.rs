//! Why a record cannot be kept.

use std::{io, path::PathBuf};

/// A failure of the audit or the diagnostic log.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// A file operation failed.
    #[error("{}: cannot {doing}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The writing thread could not be started.
    #[error("cannot start the thread that writes {what}")]
    Thread {
        /// Which records.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// What was to be written is not on disk after the time limit.
    #[error("the {what} is not written after {seconds} s")]
    Slow {
        /// Which records.
        what: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// Another log is in force in this process already.
    #[error("this process already has a diagnostic log")]
    Taken,
    /// No name of a log level.
    #[error("`{0}` is no log level; there are off, error, warn, info, debug and trace")]
    Level(String),
}

impl RecordsError {
    /// What a person can do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } | Self::Slow { .. } => {
                Some("Check the folder's owner, its permissions and the free space.")
            }
            Self::Level(_) => Some("Put one of them into `level` of the `[log]` table."),
            Self::Thread { .. } | Self::Taken => None,
        }
    }
}

/// Makes an [`RecordsError::Io`] of a system's error.
pub(crate) fn failed(path: &std::path::Path, doing: &'static str) -> impl FnOnce(io::Error) -> RecordsError {
    let path = path.to_owned();
    move |source| RecordsError::Io { path, doing, source }
}
