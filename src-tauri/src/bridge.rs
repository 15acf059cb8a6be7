//! The typed bridge between page and owner: each command of the page is one of the owner's, passed on unchanged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use patchbay_api as api;
use patchbay_api::{
    AgentId, AgentView, Answer, ApiError, ConfigChange, McpServerConfig, McpServerConfigs, QuestionId,
    Revision, ServerId, ServerStatus, Snapshot, TrustAnswer, WorkspaceKey,
};
use patchbay_control::{Client, Held};
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::{State, Wry};
use tauri_specta::{Builder, Event, collect_commands, collect_events};

/// The window's side of the bridge.
pub(crate) struct Bridge {
    client: Client,
    /// What the page has opened stays open while the window stands.
    held: Mutex<BTreeMap<WorkspaceKey, Held>>,
}

impl Bridge {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, held: Mutex::default() }
    }
}

/// The owner's state is another one now.
#[derive(Clone, Serialize, Deserialize, Type, Event)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotChanged {
    /// The whole new state.
    pub(crate) snapshot: Snapshot,
}

/// The owner has ended.
#[derive(Clone, Serialize, Deserialize, Type, Event)]
pub(crate) struct OwnerLost {}

/// The tray asked for the settings.
#[derive(Clone, Serialize, Deserialize, Type, Event)]
pub(crate) struct ShowSettings {}

/// All commands and events of the page.
pub(crate) fn builder() -> Builder<Wry> {
    Builder::<Wry>::new()
        .disable_serde_phases()
        .commands(collect_commands![
            get_snapshot,
            list_mcp_server_configs,
            save_mcp_server,
            remove_mcp_server,
            set_mcp_server_enabled,
            add_sample_server,
            open_workspace,
            list_mcp_servers,
            restart_mcp_server,
            list_tools,
            server_log,
            answer_question,
            describe_trust,
            trust,
            revoke_trust,
            quit,
        ])
        .events(collect_events![SnapshotChanged, OwnerLost, ShowSettings])
}

type Result<T> = std::result::Result<T, ApiError>;

#[tauri::command]
#[specta::specta]
async fn get_snapshot(bridge: State<'_, Bridge>) -> Result<Snapshot> {
    bridge.client.call(&api::GetSnapshot {}).await
}

#[tauri::command]
#[specta::specta]
async fn list_mcp_server_configs(bridge: State<'_, Bridge>) -> Result<McpServerConfigs> {
    bridge.client.call(&api::ListMcpServerConfigs {}).await
}

#[tauri::command]
#[specta::specta]
async fn save_mcp_server(
    bridge: State<'_, Bridge>,
    base: Option<Revision>,
    replaces: Option<String>,
    draft: McpServerConfig,
) -> Result<ConfigChange> {
    bridge.client.call(&api::SaveMcpServer { base, replaces, draft }).await
}

#[tauri::command]
#[specta::specta]
async fn remove_mcp_server(
    bridge: State<'_, Bridge>,
    base: Option<Revision>,
    name: String,
) -> Result<ConfigChange> {
    bridge.client.call(&api::RemoveMcpServer { base, name }).await
}

#[tauri::command]
#[specta::specta]
async fn set_mcp_server_enabled(
    bridge: State<'_, Bridge>,
    name: String,
    enabled: bool,
) -> Result<ConfigChange> {
    bridge.client.call(&api::SetMcpServerEnabled { name, enabled }).await
}

#[tauri::command]
#[specta::specta]
async fn add_sample_server(bridge: State<'_, Bridge>) -> Result<ConfigChange> {
    bridge.client.call(&api::AddSampleServer {}).await
}

#[tauri::command]
#[specta::specta]
async fn open_workspace(bridge: State<'_, Bridge>, path: Option<String>) -> Result<WorkspaceKey> {
    let held = bridge.client.hold(path.as_deref()).await?;
    let key = held.key.clone();
    bridge.held.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), held);
    Ok(key)
}

#[tauri::command]
#[specta::specta]
async fn list_mcp_servers(bridge: State<'_, Bridge>, workspace: WorkspaceKey) -> Result<Vec<ServerStatus>> {
    bridge.client.call(&api::ListMcpServers { workspace }).await
}

#[tauri::command]
#[specta::specta]
async fn restart_mcp_server(
    bridge: State<'_, Bridge>,
    workspace: WorkspaceKey,
    server: ServerId,
) -> Result<()> {
    bridge.client.call(&api::RestartMcpServer { workspace, server }).await
}

#[tauri::command]
#[specta::specta]
async fn list_tools(bridge: State<'_, Bridge>, workspace: WorkspaceKey, agent: AgentId) -> Result<AgentView> {
    bridge.client.call(&api::ListTools { workspace, agent }).await
}

#[tauri::command]
#[specta::specta]
async fn server_log(
    bridge: State<'_, Bridge>,
    workspace: WorkspaceKey,
    server: ServerId,
) -> Result<Vec<String>> {
    bridge.client.call(&api::ServerLog { workspace, server }).await
}

#[tauri::command]
#[specta::specta]
async fn answer_question(bridge: State<'_, Bridge>, question: QuestionId, answer: Answer) -> Result<()> {
    bridge.client.call(&api::AnswerQuestion { question, answer }).await
}

#[tauri::command]
#[specta::specta]
async fn describe_trust(bridge: State<'_, Bridge>, path: String) -> Result<TrustAnswer> {
    bridge.client.call(&api::DescribeTrust { path }).await
}

#[tauri::command]
#[specta::specta]
async fn trust(bridge: State<'_, Bridge>, path: String, digest: String) -> Result<()> {
    bridge.client.call(&api::Trust { path, digest }).await
}

#[tauri::command]
#[specta::specta]
async fn revoke_trust(bridge: State<'_, Bridge>, path: String) -> Result<()> {
    bridge.client.call(&api::RevokeTrust { path }).await
}

#[tauri::command]
#[specta::specta]
async fn quit(bridge: State<'_, Bridge>) -> Result<()> {
    bridge.client.call(&api::Quit {}).await
}

#[cfg(test)]
mod tests {
    use specta_typescript::Typescript;

    const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/src/bindings.ts");

    /// `npm run bindings` sets this to write the file instead of comparing it.
    const WRITE: &str = "PATCHBAY_WRITE_BINDINGS";

    #[test]
    fn the_committed_bindings_are_those_of_the_commands() {
        let header =
            "// Generated by `npm run bindings` from src-tauri/src/bridge.rs and crates/api. Do not edit.\n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bindings.ts");
        super::builder().export(Typescript::default().header(header), &file).unwrap();
        let made = std::fs::read_to_string(&file).unwrap();
        if std::env::var_os(WRITE).is_some() {
            #[expect(clippy::disallowed_methods, reason = "writes a source file, on demand")]
            std::fs::write(COMMITTED, &made).unwrap();
        }
        let committed = std::fs::read_to_string(COMMITTED).unwrap();
        assert!(committed == made, "ui/src/bindings.ts is stale: run `npm run bindings` and commit it");
    }
}
