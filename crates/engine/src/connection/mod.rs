//! One connection to a server: what passes through goes by the raw road, rmcp does handshake and notifications.
//!
//! Requests that are passed on never enter rmcp's loop: its typed models would drop unknown fields and misread
//! odd results. They use ids from 2^32; rmcp's own count from 0.

mod handshake;
mod http;
mod http_reply;
mod pending;
mod stdio;

use serde_json::value::RawValue;

pub(crate) use handshake::{PeerFacts, RmcpSession, ToolsChanged, shake_hands};
pub(crate) use http::HttpLane;
pub(crate) use stdio::StdioLane;

/// The longest line or body taken from a server, in bytes.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// Why a request on a connection has no result.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    /// The server answered with a JSON-RPC error: the connection is sound.
    #[error("{} (JSON-RPC error {})", .0.message, .0.code)]
    Rpc(patchbay_wire::RpcError),
    /// The connection ended before the answer.
    #[error("{0}")]
    Closed(String),
    /// The session is unknown to the server now; the request was not run.
    #[error("the server no longer knows the session")]
    SessionLost,
    /// The server wants a sign-in.
    #[error("the server asks for a sign-in (HTTP 401)")]
    NeedsSignIn,
    /// The server answered something that is not of the protocol.
    #[error("{0}")]
    Protocol(String),
}

/// The raw road of one connection.
#[derive(Debug)]
pub(crate) enum Lane {
    Stdio(StdioLane),
    Http(HttpLane),
}

impl Lane {
    /// Sends a request and gives the bytes of its result. Dropping the future cancels the request at the server.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Box<RawValue>, LaneError> {
        match self {
            Self::Stdio(lane) => lane.request(method, params).await,
            Self::Http(lane) => lane.request(method, params).await,
        }
    }

    /// Resolves when the connection has ended by itself, with the reason.
    pub(crate) async fn ended(&self) -> String {
        match self {
            Self::Stdio(lane) => lane.ended().await,
            Self::Http(lane) => lane.ended().await,
        }
    }
}
