//! What the user asked for: the settings files, read into checked types and edited in place.
//!
//! The global file is `settings.toml` in the [`Home`]; its servers become [`ServerConfig`]s, its other keys
//! [`Settings`]. An [`Edit`] changes only the bytes that it is about. Nothing is started or connected here.
//!
//! A project's files become a [`Project`]; what of it may run is in the [`TrustStore`]. [`ServerConfig::expand`]
//! fills in variables with the caller's lookups, a [`Watch`] tells of changed files, and a [`VersionedStore`] keeps
//! decisions and facts in one file.

mod check;
pub mod defaults;
mod draft;
mod edit;
mod error;
mod expand;
mod global;
mod home;
mod jsonc;
mod model;
mod node;
mod project;
mod raw;
mod read;
mod settings;
mod store;
mod toml;
mod trust;
mod watch;
mod write;

pub use error::ConfigError;
pub use expand::{
    EnvLookup, ExpandError, Expanded, ForeignVariable, LookupError, SecretLookup, Source, Spelling,
    VariableUse, expand_text,
};
pub use global::{Edit, SettingsStore, edit_bytes};
pub use home::Home;
pub use model::{Http, ServerConfig, Stdio, Transport};
pub use project::{Loosening, Project, ProjectFiles, ProjectServer, Tightening, workspace_of};
pub use read::{ConfigSnapshot, Entry};
pub use settings::{
    AuditSettings, GatewaySettings, LogLevel, LogSettings, McpSettings, PermissionMode, PermissionSettings,
    SandboxMode, SandboxSettings, Settings, ToolNames, TraySettings, WorkspaceSettings,
};
pub use store::{StoreError, VersionedStore};
pub use trust::{TrustRecord, TrustState, TrustStore, is_loader, trust_request, visible};
pub use watch::{Change, Content, DEBOUNCE, GONE_AFTER, OwnWrites, POLL_INTERVAL, Watch};
