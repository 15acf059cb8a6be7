//! The vocabulary of Patchbay: ids, states, the snapshot, questions, commands and errors.
//!
//! Types only. Every other room, the command line and the window speak in these; what they mean is decided
//! elsewhere (`config` checks settings, `engine` moves states, `hub` owns the snapshot).

mod command;
mod error;
mod id;
mod question;
mod server;
mod snapshot;
mod tool;

pub use command::*;
pub use error::{ApiError, ErrorCode, Place};
pub use id::{AgentId, InvalidId, QuestionId, Revision, Scope, ServerId, ServerName, WorkspaceKey};
pub use question::{Answer, Leak, Question, QuestionKind, TrustRequest, TrustServer};
pub use server::{
    HealthCheck, InvalidServer, MASK, McpServerConfig, Oauth, SandboxState, ServerState, ServerStatus,
    TransportKind,
};
pub use snapshot::{BrokenFile, ConfigState, OwnerInfo, OwnerKind, ServerSummary, Snapshot, WorkspaceState};
pub use tool::{AgentView, HiddenTool, ServerTools, ToolSummary};
