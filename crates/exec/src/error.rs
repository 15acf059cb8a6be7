//! The one error of this crate: what kept a server from starting, and what to do about it.

use std::{io, path::PathBuf};

/// Why a server's process could not be started, or leftovers not be ended. Every variant of a start names the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The command is in none of the folders searched.
    #[error("server `{server}`: the command `{command}` was not found; searched {}{}", folders(.searched), remark(.note.as_ref()))]
    NotFound {
        /// The server.
        server: String,
        /// The command as configured.
        command: String,
        /// The folders searched, in order.
        searched: Vec<PathBuf>,
        /// What kept more folders from being searched, such as a login shell that did not answer.
        note: Option<String>,
    },
    /// The command exists but cannot be run.
    #[error("server `{server}`: `{}` cannot be run: {reason}", path.display())]
    NotExecutable {
        /// The server.
        server: String,
        /// The file.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
    /// The working folder is missing or is no folder.
    #[error("server `{server}`: its working folder `{}` cannot be used: {source}", path.display())]
    Cwd {
        /// The server.
        server: String,
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A value that no process can be given.
    #[error("server `{server}`: {field} {reason}")]
    Value {
        /// The server.
        server: String,
        /// The settings key, such as `args[2]` or `env.NAME`.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The sandbox that was asked for cannot hold the server.
    #[error("server `{server}`: {reason}")]
    Sandbox {
        /// The server.
        server: String,
        /// Why, in words.
        reason: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The system refused to start the process.
    #[error("server `{server}`: starting `{}` failed: {source}", program.display())]
    Spawn {
        /// The server.
        server: String,
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A record of running servers could not be read or removed.
    #[error("the record of running servers `{}`: {source}", path.display())]
    Record {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl ExecError {
    /// Adds what kept more folders from being searched.
    pub(crate) fn with_note(mut self, more: Option<&str>) -> Self {
        if let (Self::NotFound { note, .. }, Some(more)) = (&mut self, more) {
            *note = Some(note.take().map_or_else(|| more.to_owned(), |first| format!("{first}; {more}")));
        }
        self
    }

    /// The next step for a person, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { command, .. } => Some(format!(
                "Install `{command}`, add its folder to PATH in your shell's start-up file, or give its full path as `command`."
            )),
            Self::NotExecutable { .. } => Some("Check the file and its permissions.".into()),
            Self::Cwd { .. } => Some("Create the folder or change `cwd`.".into()),
            Self::Sandbox { hint, .. } => hint.clone(),
            Self::Value { .. } | Self::Spawn { .. } | Self::Record { .. } => None,
        }
    }
}

fn folders(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return "no folder, because PATH is empty".into();
    }
    searched.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn remark(note: Option<&String>) -> String {
    note.map(|note| format!(" ({note})")).unwrap_or_default()
}
