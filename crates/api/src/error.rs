//! The one error that crosses the socket and the window's bridge.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of failure it is, for programs; the words are in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// What was named does not exist.
    NotFound,
    /// No server has this name.
    McpServerNotFound,
    /// The input breaks a rule; nothing was changed.
    Invalid,
    /// Somebody else changed it first; nothing was changed.
    Conflict,
    /// Permission was not given.
    Denied,
    /// The server cannot be used now.
    Unavailable,
    /// A time limit was hit.
    Timeout,
    /// Hello failed: the token or the user is not the owner's.
    Unauthorized,
    /// Hello failed: owner and guest are of different versions.
    VersionMismatch,
    /// A file or a system call failed.
    Io,
    /// A fault of Patchbay itself.
    Internal,
}

/// A place in a file that a person can open.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Place {
    /// The file's path.
    pub file: String,
    /// Line, from 1; `None` where the whole file is meant.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// A failure as a guest sees it: a code for programs, a message and a next step for people. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ApiError {
    /// The kind of failure.
    pub code: ErrorCode,
    /// What happened, in words.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The server that it is about.
    pub server: Option<String>,
    /// The settings key or form field that it is about, by its name in the file.
    pub field: Option<String>,
    /// Where in a file it stands.
    pub place: Option<Place>,
}

impl ApiError {
    /// An error with a code and a message only.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, server: None, field: None, place: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the server.
    #[must_use]
    pub fn server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Names the field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Names the place.
    #[must_use]
    pub fn place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
