//! Every failure of this crate, with its place, its next step, and its form on the wire.

use std::{io, path::PathBuf};

use patchbay_api::{ApiError, ErrorCode, InvalidServer, Place};
use thiserror::Error;

/// Why settings could not be read, checked or changed. Unless it says otherwise, nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no folder to keep settings in.
    #[error("cannot tell where settings belong: {reason}")]
    NoHome {
        /// What is missing or wrong.
        reason: String,
    },
    /// A file or folder operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is too large to be settings.
    #[error("{} has {bytes} bytes; at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// The file cannot be parsed.
    #[error("{place}: {reason}")]
    Syntax {
        /// Where it breaks.
        place: Place,
        /// What the parser says.
        reason: String,
    },
    /// A key outside the servers has a value that it cannot have.
    #[error("{place}: {key} {reason}")]
    Value {
        /// Where it stands.
        place: Place,
        /// The key's full name.
        key: String,
        /// What is wrong with it, completing "key …".
        reason: String,
    },
    /// An entry of a server is wrong, where only right ones are taken (MCP-01).
    #[error("{}", entry_message(.0))]
    Entry(Box<InvalidServer>),
    /// The wanted settings of a server break a rule.
    #[error("server \"{server}\": {reason}")]
    Draft {
        /// The server.
        server: String,
        /// The field.
        field: Option<String>,
        /// What is wrong.
        reason: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// Another server has this name.
    #[error("a server called \"{name}\" exists already ({place})")]
    NameTaken {
        /// The name.
        name: String,
        /// Where the other one stands.
        place: Place,
    },
    /// No server has this name.
    #[error("there is no server called \"{name}\" in {}", file.display())]
    UnknownServer {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// The file changed since the revision that the edit was made on.
    #[error("{} was changed meanwhile", file.display())]
    Conflict {
        /// The file.
        file: PathBuf,
    },
    /// Another writer holds the lock and does not finish.
    #[error("another process is changing the settings and does not finish ({})", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// The edited text did not read back as what was wanted, so it was thrown away.
    #[error("the change of {} cannot be made safely: {reason}", file.display())]
    Unverified {
        /// The file.
        file: PathBuf,
        /// What differed.
        reason: String,
    },
}

/// An invalid entry in one sentence: which server, which field, why.
fn entry_message(entry: &InvalidServer) -> String {
    let name =
        entry.name.as_deref().map_or_else(|| "a server without a name".into(), |n| format!("server \"{n}\""));
    format!("{}: {name}: {}", entry.place, entry.reason)
}

impl ConfigError {
    /// The error as a guest sees it: code, message, next step, field, server and place.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        let mut api = ApiError::new(self.code(), self.bare_message());
        api.hint = self.hint();
        match self {
            Self::Syntax { place, .. } => api.place = Some(place.clone()),
            Self::Value { place, key, .. } => {
                api.place = Some(place.clone());
                api.field = Some(key.clone());
            }
            Self::Entry(entry) => {
                api.place = Some(entry.place.clone());
                api.field.clone_from(&entry.field);
                api.server.clone_from(&entry.name);
            }
            Self::Draft { server, field, .. } => {
                api.server = Some(server.clone());
                api.field.clone_from(field);
            }
            Self::NameTaken { name, place } => {
                api.server = Some(name.clone());
                api.field = Some("name".into());
                api.place = Some(place.clone());
            }
            Self::UnknownServer { name, .. } => api.server = Some(name.clone()),
            _ => {}
        }
        api
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoHome { .. } => "Give a folder with --config DIR or in PATCHBAY_HOME.".into(),
            Self::Io { source, .. } => return io_hint(source).map(Into::into),
            Self::TooLarge { .. } => "Check that this is the settings file.".into(),
            Self::Syntax { .. } | Self::Value { .. } => "Correct this line of the file and save it.".into(),
            Self::Entry(entry) => return entry.hint.clone(),
            Self::Draft { hint, .. } => return hint.clone(),
            Self::NameTaken { .. } => "Choose another name, or change the existing server.".into(),
            Self::UnknownServer { .. } => "\"patchbay mcp list\" shows the names.".into(),
            Self::Conflict { .. } => "Look at the new state and make the change again.".into(),
            Self::Busy { .. } => "End the other process, or try again.".into(),
            Self::Unverified { .. } => "Make the change in an editor, and please report this file.".into(),
        })
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NoHome { .. } | Self::Io { .. } | Self::TooLarge { .. } => ErrorCode::Io,
            Self::Syntax { .. }
            | Self::Value { .. }
            | Self::Entry(_)
            | Self::Draft { .. }
            | Self::NameTaken { .. } => ErrorCode::Invalid,
            Self::UnknownServer { .. } => ErrorCode::McpServerNotFound,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::Busy { .. } => ErrorCode::Unavailable,
            Self::Unverified { .. } => ErrorCode::Internal,
        }
    }

    /// The message without the place, which the wire carries apart.
    fn bare_message(&self) -> String {
        match self {
            Self::Syntax { reason, .. } => reason.clone(),
            Self::Value { key, reason, .. } => format!("{key} {reason}"),
            Self::Entry(entry) => {
                let full = entry_message(entry);
                full.strip_prefix(&format!("{}: ", entry.place)).map_or(full.clone(), Into::into)
            }
            Self::NameTaken { name, .. } => format!("a server called \"{name}\" exists already"),
            other => other.to_string(),
        }
    }
}

fn io_hint(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::PermissionDenied => "Check who owns the file and its folder, and their permissions.",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free some space on this disk and try again."
        }
        io::ErrorKind::ReadOnlyFilesystem => "The file system is mounted read-only; make it writable first.",
        io::ErrorKind::NotFound => "Create the folder that is missing, or correct the link that leads there.",
        _ => return None,
    })
}

/// Adds path and verb to an [`io::Error`].
pub(crate) trait IoContext<T> {
    /// The failure of doing `action` to `path`.
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, ConfigError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, ConfigError> {
        self.map_err(|source| ConfigError::Io { path: path.into(), action, source })
    }
}
