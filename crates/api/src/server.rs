//! A server as people see it: its settings with secrets masked, and its state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Place, ServerId};

/// Stands wherever a secret value would. Coming back in a draft it means: keep what the file has.
pub const MASK: &str = "••••••••";

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// A child process, by its standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The old HTTP with server-sent events.
    Sse,
}

/// A server's settings with the file's key names: what the form edits and `mcp get` prints.
///
/// A value that is a secret comes as [`MASK`]; sent back as [`MASK`] it stays as the file has it.
/// `None` and empty lists mean that the key is not written and its default holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct McpServerConfig {
    /// Unique name.
    pub name: String,
    /// The program of a stdio server.
    pub command: Option<String>,
    /// Its arguments, exact to the byte.
    pub args: Vec<String>,
    /// Its environment, beyond what it inherits.
    pub env: BTreeMap<String, String>,
    /// Its working folder.
    pub cwd: Option<String>,
    /// The address of an HTTP server.
    pub url: Option<String>,
    /// `type`, where it is written; else it is inferred.
    pub r#type: Option<TransportKind>,
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// Globs of the tools that may be used; empty: all.
    pub tools: Vec<String>,
    /// Whether calls are made without asking.
    pub auto_approve: bool,
    /// Whether a stdio server runs in the OS sandbox.
    pub sandbox: Option<bool>,
    /// Prefix of the tools' names.
    pub prefix: Option<String>,
    /// Agents that are offered the tools; empty: the primary one, `*`: all.
    pub agents: Vec<String>,
    /// Limit of one call, in seconds.
    pub timeout_seconds: Option<u32>,
    /// Absolute limit of one call that reports progress, in seconds.
    pub max_seconds: Option<u32>,
    /// Configured but not started.
    pub disabled: bool,
    /// Health check.
    pub health_check: Option<HealthCheck>,
    /// Sign-in.
    pub oauth: Option<Oauth>,
    /// Kept and readable; grants nothing.
    pub always_allow: Vec<String>,
}

/// A server's `health_check` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct HealthCheck {
    /// Whether it runs.
    pub enabled: bool,
    /// Milliseconds between checks.
    pub interval_ms: u32,
    /// Milliseconds until a check counts as missed.
    pub timeout_ms: u32,
    /// Misses before the server is connected anew.
    pub failures: u32,
}

impl Default for HealthCheck {
    fn default() -> Self {
        Self { enabled: false, interval_ms: 30_000, timeout_ms: 10_000, failures: 3 }
    }
}

/// A server's `oauth` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, deny_unknown_fields)]
pub struct Oauth {
    /// A label for people.
    pub provider: Option<String>,
    /// Client id registered beforehand.
    pub client_id: Option<String>,
    /// Reference to the client secret: `${secret:NAME}`.
    pub client_secret: Option<String>,
    /// `false`: no sign-in is offered, a 401 is a failure.
    pub enabled: bool,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Fixed port of the loopback redirect.
    pub redirect_port: Option<u16>,
}

impl Default for Oauth {
    fn default() -> Self {
        Self {
            provider: None,
            client_id: None,
            client_secret: None,
            enabled: true,
            scopes: Vec::new(),
            redirect_port: None,
        }
    }
}

/// An entry of a file that cannot be used, and why. The others are not touched by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct InvalidServer {
    /// Its name, where it has a readable one.
    pub name: Option<String>,
    /// The key that is wrong.
    pub field: Option<String>,
    /// Why, in words.
    pub reason: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// The true state of a server in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// Configured, not started.
    Disabled,
    /// Its settings are wrong.
    Invalid,
    /// A project's server that waits for trust.
    PendingTrust,
    /// Starts at its first use.
    Idle,
    /// Starting or shaking hands.
    Connecting,
    /// Works; its tools are known.
    Connected,
    /// Breaker open, until a time.
    Paused,
    /// Answers only after a sign-in.
    NeedsSignIn,
    /// Does not work; says why.
    Failed,
    /// Being stopped.
    Stopping,
}

/// How far a server is held by the OS sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct SandboxState {
    /// Whether a sandbox holds it.
    pub active: bool,
    /// What holds it, or why nothing does.
    pub label: String,
    /// What the policy asks and the back end cannot hold.
    pub gaps: Vec<String>,
}

/// One server in one workspace, as everyone but its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// Which server.
    pub id: ServerId,
    /// How it is reached; `None` for an invalid entry.
    pub transport: Option<TransportKind>,
    /// Its state.
    pub state: ServerState,
    /// Why it is in this state, in words.
    pub cause: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// Since when, in milliseconds since 1970 UTC.
    #[cfg_attr(feature = "specta", specta(type = f64))]
    pub since_ms: u64,
    /// Until when it is paused, in milliseconds since 1970 UTC.
    #[cfg_attr(feature = "specta", specta(type = Option<f64>))]
    pub until_ms: Option<u64>,
    /// The host's process id of a running stdio server.
    pub pid: Option<u32>,
    /// Its sandbox; `None` where it has no process.
    pub sandbox: Option<SandboxState>,
    /// Number of tools of the last listing.
    pub tool_count: Option<u32>,
    /// Changes whenever the catalogue does.
    pub catalogue_revision: u32,
    /// The last lines that it wrote to stderr.
    pub log_tail: Vec<String>,
}
