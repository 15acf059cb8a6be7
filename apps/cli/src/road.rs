//! The one road of every command: to the owner where one runs, else to a hub of its own.

use std::path::Path;

use patchbay_api::{ApiError, Command, ErrorCode, ListMcpServers, OwnerKind, ServerStatus, WorkspaceKey};
use patchbay_control::{Client, Held};
use patchbay_hub::{Handle, Hub, Lease};
use patchbay_records::LogGuard;

use crate::context::Context;

/// Who does the commands.
pub enum Road {
    /// The owner.
    Guest(Client),
    /// This process, which owns nothing.
    Alone(Hub, Option<LogGuard>),
}

/// An open workspace.
pub struct Workspace {
    /// Which one.
    pub key: WorkspaceKey,
    _open: Open,
}

/// What keeps it open.
#[expect(dead_code, reason = "held, never looked at")]
enum Open {
    Guest(Held),
    Alone(Lease),
}

/// What a command needs of a hub of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// To look and to edit: wrong settings can be put right.
    Settings,
    /// To run servers: wrong settings are refused (MCP-01).
    Servers,
}

/// Opens a hub that owns nothing, with the diagnostic log where it runs servers.
///
/// # Errors
/// The settings cannot be used.
pub async fn alone(context: &Context, need: Need) -> Result<(Hub, Option<LogGuard>), ApiError> {
    let options = context.hub_options(OwnerKind::Alone, need == Need::Servers)?;
    let hub = Hub::open(context.home.clone(), context.redactor.clone(), options).await;
    let hub = hub.map_err(|error| error.to_api())?;
    let log = if need == Need::Servers { context.log() } else { None };
    Ok((hub, log))
}

impl Road {
    /// Finds the owner, or works alone.
    ///
    /// # Errors
    /// An owner runs but does not answer; alone: the settings cannot be used.
    pub async fn open(context: &Context, need: Need) -> Result<Self, ApiError> {
        match Client::connect(&context.home).await.map_err(|error| error.to_api())? {
            Some(client) => Ok(Self::Guest(client)),
            None => alone(context, need).await.map(|(hub, log)| Self::Alone(hub, log)),
        }
    }

    /// Whether an owner does the commands.
    pub fn has_owner(&self) -> bool {
        matches!(self, Self::Guest(_))
    }

    /// Does a command.
    ///
    /// # Errors
    /// As the command says.
    pub async fn call<C>(&self, command: C) -> Result<C::Answer, ApiError>
    where
        C: Command + Sync,
        Hub: Handle<C>,
    {
        match self {
            Self::Guest(client) => client.call(&command).await,
            Self::Alone(hub, _) => hub.handle(command).await,
        }
    }

    /// Opens the command's workspace for as long as the answer lives.
    ///
    /// # Errors
    /// Its folder cannot be opened.
    pub async fn workspace(&self, context: &Context) -> Result<Workspace, ApiError> {
        let path = context.workspace()?;
        match self {
            Self::Guest(client) => {
                let held = client.hold(path.as_deref()).await?;
                Ok(Workspace { key: held.key.clone(), _open: Open::Guest(held) })
            }
            Self::Alone(hub, _) => {
                let lease = hub.lease(path.as_deref().map(Path::new)).await?;
                Ok(Workspace { key: lease.key().clone(), _open: Open::Alone(lease) })
            }
        }
    }

    /// The server of this name in a workspace.
    ///
    /// # Errors
    /// There is none.
    pub async fn server(&self, workspace: &Workspace, name: &str) -> Result<ServerStatus, ApiError> {
        let servers = self.call(ListMcpServers { workspace: workspace.key.clone() }).await?;
        servers.into_iter().find(|status| status.id.name.as_str() == name).ok_or_else(|| {
            ApiError::new(
                ErrorCode::McpServerNotFound,
                format!("no MCP server named {name} is configured here"),
            )
            .server(name)
            .hint("`patchbay status` lists the servers")
        })
    }

    /// Ends what was opened: alone, every server that was started is stopped.
    pub async fn close(self) {
        if let Self::Alone(hub, _log) = self {
            hub.stop().await;
        }
    }
}
