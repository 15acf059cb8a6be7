//! The owner's state as one small numbered value. Catalogues and logs are fetched apart, by their own revision.

use serde::{Deserialize, Serialize};

use crate::{
    InvalidServer, Place, Question, Revision, ServerName, ServerState, ServerStatus, TransportKind,
    WorkspaceKey,
};

/// Everything that window, tray and command line show, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Grows with every change.
    pub revision: u32,
    /// Who owns the servers.
    pub owner: OwnerInfo,
    /// The global settings.
    pub config: ConfigState,
    /// The open workspaces.
    pub workspaces: Vec<WorkspaceState>,
    /// Questions that wait for a person, oldest first.
    pub questions: Vec<Question>,
}

/// The process that holds the servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OwnerInfo {
    /// Its process id.
    pub pid: u32,
    /// What it is.
    pub kind: OwnerKind,
    /// Its version.
    pub version: String,
    /// The home that it owns.
    pub home: String,
}

/// What kind of process owns the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum OwnerKind {
    /// The desktop app.
    Desktop,
    /// `patchbay serve`.
    Serve,
    /// A command that works alone, without an owner.
    Alone,
}

/// The global settings as they hold now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConfigState {
    /// The file's revision; the base of an edit.
    pub revision: Revision,
    /// The file.
    pub file: String,
    /// Why the file on disk is not in force: it does not parse, or a running owner refused a wrong change.
    pub broken: Option<BrokenFile>,
    /// Global servers in the order of the file.
    pub servers: Vec<ServerSummary>,
    /// What else is odd, such as unknown keys: one sentence each.
    pub warnings: Vec<String>,
}

/// A settings file that cannot be taken as it is; the last good state stays in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BrokenFile {
    /// Why.
    pub reason: String,
    /// Where.
    pub place: Place,
}

/// One global server in the settings list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerSummary {
    /// Its name; `None` for an entry without a readable one.
    pub name: Option<ServerName>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How it is reached; `None` for an invalid entry.
    pub transport: Option<TransportKind>,
    /// Its command line or address, secrets masked.
    pub line: String,
    /// Why it is invalid, where it is.
    pub invalid: Option<InvalidServer>,
    /// Its state over the open workspaces: the one that needs attention most; `None` while none is open.
    pub state: Option<ServerState>,
    /// The cause of that state.
    pub cause: Option<String>,
}

/// One open workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceState {
    /// Which one.
    pub key: WorkspaceKey,
    /// Its folder; `None` for the workspace without one.
    pub path: Option<String>,
    /// Windows, agents and commands that use it now.
    pub users: u32,
    /// Its servers in the order of the settings: global, then the project's.
    pub servers: Vec<ServerStatus>,
    /// Problems of the project's files: one sentence each.
    pub problems: Vec<String>,
}
