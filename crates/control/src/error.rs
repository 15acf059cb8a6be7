//! Why the socket cannot be used.

use std::path::PathBuf;

use patchbay_api::{ApiError, ErrorCode};

/// Why the socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A file of the socket cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// An owner holds the home but does not answer.
    #[error("the running Patchbay (process id {pid}) does not answer on {}: {reason}", path.display())]
    Silent {
        /// The owner.
        pid: u32,
        /// The socket.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The owner answered hello with a refusal.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The owner's lock cannot be looked at.
    #[error(transparent)]
    Hub(#[from] patchbay_hub::HubError),
}

impl ControlError {
    /// The error as commands show it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Refused(error) => error.clone(),
            Self::Hub(error) => error.to_api(),
            Self::Io { .. } => ApiError::new(ErrorCode::Io, self.to_string()),
            Self::Silent { .. } => ApiError::new(ErrorCode::Unavailable, self.to_string())
                .hint("end that process and start Patchbay again"),
        }
    }
}
