//! Tools as lists show them; the full definitions stay raw in the engine.

use serde::{Deserialize, Serialize};

use crate::{AgentId, ServerId, WorkspaceKey};

/// Which servers and tools one agent is offered in one workspace, and why not the others (MCP-40).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// The workspace.
    pub workspace: WorkspaceKey,
    /// The agent.
    pub agent: AgentId,
    /// Every server of the workspace in the order of the settings.
    pub servers: Vec<ServerTools>,
}

/// One server's part of a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerTools {
    /// The server.
    pub id: ServerId,
    /// Why nothing of it is offered; `None` where something may be.
    pub withheld: Option<String>,
    /// The tools offered, in the server's order.
    pub tools: Vec<ToolSummary>,
    /// The tools left out.
    pub hidden: Vec<HiddenTool>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolSummary {
    /// The name that the agent sees.
    pub name: String,
    /// The server's own name for it.
    pub original: String,
    /// Its description, as text.
    pub description: String,
}

/// A tool that is not offered, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct HiddenTool {
    /// The server's own name for it; empty where it has none.
    pub original: String,
    /// Why it is left out.
    pub reason: String,
}
