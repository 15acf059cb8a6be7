//! Why a secret cannot be read or kept.

use std::{io, path::PathBuf};

/// A failure of the secret store. Never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file is there but is not what Patchbay wrote. It is left as it is.
    #[error("{}: the secret store cannot be read: {reason}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Why, without any of its content.
        reason: String,
    },
    /// The file was written by a newer Patchbay.
    #[error("{}: the secret store has version {version}, which this Patchbay does not know", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// The version found.
        version: u64,
    },
    /// A file operation failed.
    #[error("{}: cannot {doing}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Another process keeps the store locked.
    #[error("{}: another program has kept the secret store locked for {seconds} s", file.display())]
    Locked {
        /// The lock file.
        file: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// No name for a secret.
    #[error("a secret's name has 1 to 512 characters and no control characters: {name:?}")]
    Name {
        /// The name.
        name: String,
    },
    /// Too long to be kept.
    #[error("the value of secret `{name}` has {length} bytes; at most {limit} can be kept")]
    TooLong {
        /// Whose value.
        name: String,
        /// Its length, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl SecretError {
    /// What a person can do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Corrupt { .. } => Some("Put the file right, or move it away and set the secrets again."),
            Self::Version { .. } => {
                Some("Use the newer Patchbay, or move the file away and set the secrets again.")
            }
            Self::Io { .. } => Some("Check the folder's owner, its permissions and the free space."),
            Self::Locked { .. } => Some("End the other Patchbay process, then try again."),
            Self::Name { .. } | Self::TooLong { .. } => None,
        }
    }
}
