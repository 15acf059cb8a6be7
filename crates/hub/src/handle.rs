//! What the owner does for each command. Thin: reads a command, calls the room that owns the matter, answers.

use std::collections::HashMap;

use patchbay_api::{
    AddSampleServer, AgentId, AgentView, AnswerQuestion, ApiError, CallTool, CallToolAnswer, Command,
    ConfigChange, ErrorCode, GetSnapshot, Hello, HelloAnswer, ListMcpServerConfigs, ListMcpServers,
    ListTools, McpServerConfig, McpServerConfigs, OpenWindow, OpenWorkspace, OwnerKind, Quit,
    RemoveMcpServer, RestartMcpServer, Revision, SaveMcpServer, ServerLog, ServerStatus, SetMcpServerEnabled,
    Snapshot, WorkspaceKey,
};
use patchbay_config::{ConfigSnapshot, Edit, Entry};
use patchbay_engine::{Call, EngineError, Naming, Target};
use patchbay_records::{AuditEvent, SettingsAction};
use patchbay_secrets::{mask, unmask};
use serde_json::value::RawValue;

use crate::{HostRequest, Hub, sample};

/// Lines of a server's log that a guest gets at most.
const LOG_LINES: usize = 500;

/// Does one command.
pub trait Handle<C: Command> {
    /// Does it.
    ///
    /// # Errors
    /// In words for the person at the guest's end.
    fn handle(&self, command: C) -> impl Future<Output = Result<C::Answer, ApiError>> + Send;
}

impl Handle<Hello> for Hub {
    async fn handle(&self, _: Hello) -> Result<HelloAnswer, ApiError> {
        Ok(HelloAnswer { version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() })
    }
}

impl Handle<GetSnapshot> for Hub {
    async fn handle(&self, _: GetSnapshot) -> Result<Snapshot, ApiError> {
        // What the guest did before it asked is in the answer, though the next publication may be some time off.
        self.shared.publisher.publish(&self.shared);
        Ok((*self.shared.publisher.now()).clone())
    }
}

impl Handle<ListMcpServerConfigs> for Hub {
    async fn handle(&self, _: ListMcpServerConfigs) -> Result<McpServerConfigs, ApiError> {
        let (snapshot, _) = self.shared.global.now();
        let servers =
            drafts(&snapshot).iter().map(|draft| mask(draft, &self.shared.runtime.redactor)).collect();
        Ok(McpServerConfigs {
            file: snapshot.file.display().to_string(),
            revision: snapshot.revision,
            servers,
        })
    }
}

impl Handle<SaveMcpServer> for Hub {
    async fn handle(&self, command: SaveMcpServer) -> Result<ConfigChange, ApiError> {
        let (snapshot, _) = self.shared.global.now();
        let redactor = &self.shared.runtime.redactor;
        let server = command.draft.name.clone();
        let (edit, action) = match command.replaces {
            None => (
                Edit::Add(unmask(command.draft, &McpServerConfig::default(), redactor)?),
                SettingsAction::ServerAdded,
            ),
            Some(name) => {
                let current = drafts(&snapshot)
                    .into_iter()
                    .find(|draft| draft.name == name)
                    .ok_or_else(|| unknown(&name))?;
                let draft = unmask(command.draft, &current, redactor)?;
                (Edit::Replace { name, draft }, SettingsAction::ServerSaved)
            }
        };
        self.edit(command.base, edit, action, server).await
    }
}

impl Handle<RemoveMcpServer> for Hub {
    async fn handle(&self, command: RemoveMcpServer) -> Result<ConfigChange, ApiError> {
        let edit = Edit::Remove { name: command.name.clone() };
        self.edit(command.base, edit, SettingsAction::ServerRemoved, command.name).await
    }
}

impl Handle<SetMcpServerEnabled> for Hub {
    async fn handle(&self, command: SetMcpServerEnabled) -> Result<ConfigChange, ApiError> {
        let SetMcpServerEnabled { name, enabled } = command;
        let kind = if enabled { SettingsAction::ServerEnabled } else { SettingsAction::ServerDisabled };
        self.edit(None, Edit::Enable { name: name.clone(), enabled }, kind, name).await
    }
}

impl Handle<AddSampleServer> for Hub {
    async fn handle(&self, _: AddSampleServer) -> Result<ConfigChange, ApiError> {
        let (snapshot, _) = self.shared.global.now();
        let taken = |name: &str| snapshot.servers.iter().any(|entry| entry.name() == Some(name));
        let entry = sample::entry(&self.shared.options.sample, taken);
        let name = entry.name.clone();
        self.edit(Some(snapshot.revision.clone()), Edit::Add(entry), SettingsAction::ServerAdded, name).await
    }
}

impl Handle<OpenWorkspace> for Hub {
    async fn handle(&self, command: OpenWorkspace) -> Result<WorkspaceKey, ApiError> {
        Ok(self.lease(command.path.as_deref().map(std::path::Path::new)).await?.key().clone())
    }
}

impl Handle<ListMcpServers> for Hub {
    async fn handle(&self, command: ListMcpServers) -> Result<Vec<ServerStatus>, ApiError> {
        Ok(self.lease_open(&command.workspace)?.manager().statuses())
    }
}

impl Handle<RestartMcpServer> for Hub {
    async fn handle(&self, command: RestartMcpServer) -> Result<(), ApiError> {
        let lease = self.lease_open(&command.workspace)?;
        lease.manager().restart(&command.server).await.map_err(|error| error.to_api())
    }
}

impl Handle<ListTools> for Hub {
    async fn handle(&self, command: ListTools) -> Result<AgentView, ApiError> {
        let lease = self.lease_open(&command.workspace)?;
        let naming = self.naming(Vec::new());
        Ok(lease.manager().offer(&command.agent, &naming, &HashMap::new(), None).await.view)
    }
}

impl Handle<CallTool> for Hub {
    async fn handle(&self, command: CallTool) -> Result<CallToolAnswer, ApiError> {
        let lease = self.lease_open(&command.workspace)?;
        let api = |error: EngineError| error.to_api();
        let server = lease.manager().find(&command.server).map_err(api)?;
        let params = params(&command.tool, &command.arguments).map_err(api)?;
        let target = Target { server, tool: command.tool };
        let call = Call { agent: AgentId::primary(), target, params };
        let reply = lease.manager().call(call).await.map_err(api)?;
        Ok(CallToolAnswer { result: reply.result.get().to_owned(), is_error: reply.is_error })
    }
}

/// The parameters of a call, with the arguments' own bytes in them.
fn params(tool: &str, arguments: &str) -> Result<Box<RawValue>, EngineError> {
    let arguments = RawValue::from_string(arguments.to_owned())
        .map_err(|error| EngineError::Arguments { reason: error.to_string() })?;
    if !arguments.get().starts_with('{') {
        return Err(EngineError::Arguments { reason: "they must stand in braces".into() });
    }
    let name = serde_json::Value::from(tool);
    RawValue::from_string(format!(r#"{{"name":{name},"arguments":{arguments}}}"#))
        .map_err(|error| EngineError::Arguments { reason: error.to_string() })
}

impl Handle<ServerLog> for Hub {
    async fn handle(&self, command: ServerLog) -> Result<Vec<String>, ApiError> {
        let lease = self.lease_open(&command.workspace)?;
        lease.manager().log(&command.server, LOG_LINES).map_err(|error| error.to_api())
    }
}

impl Handle<AnswerQuestion> for Hub {
    async fn handle(&self, command: AnswerQuestion) -> Result<(), ApiError> {
        if self.shared.desk.answer(command.question, command.answer) {
            return Ok(());
        }
        Err(ApiError::new(ErrorCode::NotFound, "the question is not open any more"))
    }
}

impl Handle<OpenWindow> for Hub {
    async fn handle(&self, _: OpenWindow) -> Result<(), ApiError> {
        self.ask_host(HostRequest::OpenWindow).await
    }
}

impl Handle<Quit> for Hub {
    async fn handle(&self, _: Quit) -> Result<(), ApiError> {
        self.ask_host(HostRequest::Quit).await
    }
}

impl Hub {
    /// How tools are named for agents, with the agent's own tools reserved.
    #[must_use]
    pub fn naming(&self, reserved: Vec<String>) -> Naming {
        Naming { style: self.shared.global.now().0.settings.mcp.tool_names, reserved }
    }

    async fn ask_host(&self, request: HostRequest) -> Result<(), ApiError> {
        let options = &self.shared.options;
        let windowless = request == HostRequest::OpenWindow && options.kind != OwnerKind::Desktop;
        let sent = match options.host.as_ref().filter(|_| !windowless) {
            Some(host) => host.send(request).await.is_ok(),
            None => false,
        };
        if sent {
            return Ok(());
        }
        let message = "the owner of this home runs without a desktop, so it has no window";
        Err(ApiError::new(ErrorCode::Unavailable, message)
            .hint("`patchbay status` shows the servers in the terminal"))
    }

    /// One edit of the settings; answers when every open workspace has taken the new desired set.
    async fn edit(
        &self,
        base: Option<Revision>,
        edit: Edit,
        action: SettingsAction,
        server: String,
    ) -> Result<ConfigChange, ApiError> {
        let shared = std::sync::Arc::clone(&self.shared);
        let written = tokio::task::spawn_blocking(move || shared.global.edit(base.as_ref(), &edit));
        let result = written.await.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
        // Even a refused edit may have found the file changed by somebody else.
        self.shared.spread().await?;
        let revision = result?;
        let file = self.shared.home.settings().display().to_string();
        let server = Some(server);
        self.shared.audit(AuditEvent::SettingsChange { file, revision: revision.clone(), action, server });
        Ok(ConfigChange { revision })
    }
}

fn drafts(snapshot: &ConfigSnapshot) -> Vec<McpServerConfig> {
    let valid = snapshot.servers.iter().filter_map(|entry| match entry {
        Entry::Valid(config) => Some(config.to_draft()),
        Entry::Invalid(_) => None,
    });
    valid.collect()
}

fn unknown(name: &str) -> ApiError {
    ApiError::new(ErrorCode::McpServerNotFound, format!("no MCP server named {name} is in the settings"))
        .server(name)
        .hint("`patchbay mcp list` shows the names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_a_call_keep_their_bytes_and_must_be_an_object() {
        assert_eq!(params("a\"b", r#"{"x":1.0}"#).unwrap().get(), r#"{"name":"a\"b","arguments":{"x":1.0}}"#);
        for bad in ["", "[1]", "7", "{", "{} {}"] {
            assert!(matches!(params("t", bad), Err(EngineError::Arguments { .. })), "{bad}");
        }
    }
}
