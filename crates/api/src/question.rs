//! Questions to a person, and their answers. One desk asks them; window, tray and terminal answer.

use serde::{Deserialize, Serialize};

use crate::{QuestionId, TransportKind, WorkspaceKey};

/// Something that only a person may decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Which question.
    pub id: QuestionId,
    /// The workspace that it arises in.
    pub workspace: WorkspaceKey,
    /// Since when it waits, in milliseconds since 1970 UTC.
    #[cfg_attr(feature = "specta", specta(type = f64))]
    pub since_ms: u64,
    /// What is asked.
    pub kind: QuestionKind,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum QuestionKind {
    /// May this project's files start what they name?
    Trust {
        /// What would run.
        request: TrustRequest,
    },
}

/// A person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

/// What a project's files would run or loosen: everything that a person must see before saying yes.
///
/// All text is shown as text, with invisible characters written out, and nothing is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TrustRequest {
    /// The project's canonical path.
    pub path: String,
    /// SHA-256 of the trust-relevant content; the answer holds for exactly this.
    pub digest: String,
    /// The files that it comes from.
    pub files: Vec<String>,
    /// Servers that could start or be reached.
    pub servers: Vec<TrustServer>,
    /// `allow` rules that would hold.
    pub allow: Vec<String>,
    /// Folders that sandboxed servers could write.
    pub writable_paths: Vec<String>,
    /// Whether other content at this path was trusted before.
    pub changed: bool,
}

/// One server of a project, as the question shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TrustServer {
    /// Its name.
    pub name: String,
    /// The file that it stands in.
    pub file: String,
    /// How it is reached.
    pub transport: TransportKind,
    /// Program and every argument, or the address; each an item of its own.
    pub command: Vec<String>,
    /// Its working folder.
    pub cwd: Option<String>,
    /// Names and values that it sets, as written in the file.
    pub env: Vec<(String, String)>,
    /// Headers that it sends, as written in the file.
    pub headers: Vec<(String, String)>,
    /// Variables and secrets of the user that would leave for it.
    pub leaks: Vec<Leak>,
    /// Names in `env` that make programs load foreign code.
    pub loaders: Vec<String>,
    /// Whether it asks to run outside the sandbox.
    pub unsandboxed: bool,
    /// Characters that cannot be seen or that reorder text, found in its values.
    pub suspicious: Vec<String>,
}

/// A value of the user's environment or secret store that would be handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Leak {
    /// The variable or secret.
    pub name: String,
    /// The field that it stands in.
    pub field: String,
    /// The program or host that would get it.
    pub to: String,
}
