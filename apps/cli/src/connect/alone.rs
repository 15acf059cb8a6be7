//! An agent's servers held by this very process, where no owner runs.

use std::path::Path;
use std::sync::Arc;

use patchbay_api::{ApiError, ErrorCode};
use patchbay_control::AgentHello;
use patchbay_gateway::Identity;
use patchbay_hub::{Hub, Lease};
use patchbay_records::LogGuard;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::task::JoinSet;

use super::stdio;
use crate::context::Context;
use crate::exit::Exit;
use crate::road::{self, Need};
use crate::signal::interrupted;

/// Bytes on their way between the relay and the servers of its own process.
const BUFFER: usize = 64 << 10;

/// A hub of our own, with one agent.
pub struct Alone {
    hub: Hub,
    _log: Option<LogGuard>,
    lease: Lease,
    identity: Identity,
    sessions: JoinSet<()>,
}

impl Alone {
    /// Opens the agent's workspace.
    ///
    /// # Errors
    /// The settings are wrong (MCP-01), or the folder cannot be opened.
    pub async fn open(context: &Context, hello: AgentHello) -> Result<Self, ApiError> {
        let (hub, log) = road::alone(context, Need::Servers).await?;
        let identity = Identity { agent: hello.agent, naming: hub.naming(hello.reserved) };
        match hub.lease(hello.workspace.as_deref().map(Path::new)).await {
            Ok(lease) => Ok(Self { hub, _log: log, lease, identity, sessions: JoinSet::new() }),
            Err(error) => {
                hub.stop().await;
                Err(error)
            }
        }
    }

    /// Serves the agent on these streams until it ends.
    fn serve<R, W>(
        &self,
        reader: R,
        writer: W,
    ) -> impl Future<Output = std::io::Result<()>> + Send + use<R, W>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let manager = Arc::clone(self.lease.manager());
        patchbay_gateway::serve(reader, writer, manager, self.identity.clone(), self.hub.stopping())
    }

    /// The agent's session as an owner would give it: one end of a stream of lines.
    pub fn link(&mut self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(BUFFER);
        let (reader, writer) = tokio::io::split(far);
        let session = self.serve(reader, writer);
        self.sessions.spawn(async move {
            if let Err(error) = session.await {
                tracing::info!(%error, "the agent's session broke off");
            }
        });
        near
    }

    /// Ends the session and stops every server.
    pub async fn close(self) {
        let Self { hub, _log, lease, identity: _, mut sessions } = self;
        sessions.shutdown().await;
        drop(lease);
        hub.stop().await;
    }
}

/// Serves the agent on standard input and output.
///
/// # Errors
/// The settings are wrong, or the streams fail.
pub async fn run(context: &mut Context, hello: AgentHello) -> Result<Exit, ApiError> {
    let alone = Alone::open(context, hello).await?;
    let result = tokio::select! {
        served = alone.serve(stdio::input(), stdio::output()) => ended(served),
        () = interrupted() => Ok(Exit::Interrupted),
    };
    // Asked a second time, the process ends at once; the guards end its servers.
    tokio::select! {
        () = alone.close() => result,
        () = interrupted() => Ok(Exit::Interrupted),
    }
}

/// How a session's end counts.
fn ended(served: std::io::Result<()>) -> Result<Exit, ApiError> {
    match served {
        Ok(()) => Ok(Exit::Done),
        // The agent has gone without closing our input first: the same end.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(ApiError::new(ErrorCode::Io, format!("the agent's session broke off: {error}"))),
    }
}
