//! Why a hub cannot be opened.

use std::path::PathBuf;

use patchbay_api::{ApiError, ErrorCode};

/// Why a hub cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Another process owns the home.
    #[error("{} belongs to the running Patchbay with process id {pid}", home.display())]
    Owned {
        /// The home.
        home: PathBuf,
        /// The owner's process id as it wrote it; 0 where it cannot be read.
        pid: u32,
    },
    /// The lock file cannot be used.
    #[error("cannot lock {}: {source}", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The settings are wrong (MCP-01).
    #[error(transparent)]
    Config(#[from] patchbay_config::ConfigError),
    /// The audit log cannot be opened.
    #[error(transparent)]
    Records(#[from] patchbay_records::RecordsError),
}

impl HubError {
    /// The error as guests and commands show it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Config(error) => error.to_api(),
            Self::Owned { .. } => ApiError::new(ErrorCode::Conflict, self.to_string())
                .hint("use the running one, or end it first (tray › Quit, or the terminal it runs in)"),
            Self::Lock { .. } | Self::Records(_) => ApiError::new(ErrorCode::Io, self.to_string()),
        }
    }
}
