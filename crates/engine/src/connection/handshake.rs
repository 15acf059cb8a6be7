//! The handshake, by rmcp: what we say we are, and what the server says of itself.

use std::sync::Arc;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient,
    RunningService,
};
use rmcp::transport::IntoTransport;
use tokio::sync::Notify;

/// Rings when a server says that its list of tools changed.
pub(crate) type ToolsChanged = Arc<Notify>;

/// rmcp's side of a connection; dropping it ends its loop.
pub(crate) type RmcpSession = RunningService<RoleClient, Handler>;

/// Answers the server's own requests: nothing is declared, so rmcp refuses all but ping.
pub(crate) struct Handler {
    tools_changed: ToolsChanged,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("patchbay", env!("CARGO_PKG_VERSION")).with_title("Patchbay");
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// What a server says of itself in the handshake.
#[derive(Debug, Clone)]
pub(crate) struct PeerFacts {
    /// The protocol revision agreed on.
    pub(crate) protocol: String,
    /// Whether it has tools at all; lists that were not declared are not asked for.
    pub(crate) has_tools: bool,
}

/// Shakes hands over a transport (MCP lifecycle, revision 2025-11-25 and older).
///
/// # Errors
/// What rmcp says: the connection ended, the answer was an error or not of the protocol, or a revision that we
/// do not speak.
pub(crate) async fn shake_hands<T, E, A>(
    transport: T,
    tools_changed: ToolsChanged,
) -> Result<(RmcpSession, PeerFacts), ClientInitializeError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let handler = Handler { tools_changed };
    let session = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await?;
    let peer =
        session.peer_info().ok_or_else(|| ClientInitializeError::ConnectionClosed("no answer".into()))?;
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&peer.protocol_version) {
        return Err(ClientInitializeError::NoCompatibleProtocolVersion {
            client_supported: ProtocolVersion::KNOWN_VERSIONS.to_vec(),
            server_supported: vec![peer.protocol_version.clone()],
        });
    }
    let facts = PeerFacts {
        protocol: peer.protocol_version.to_string(),
        has_tools: peer.capabilities.tools.is_some(),
    };
    Ok((session, facts))
}
