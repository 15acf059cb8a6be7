//! Errors of the engine: each names the server and says what to do next, apart from the message.

use std::time::Duration;

use patchbay_api::{ApiError, ErrorCode, ServerId};

/// What a person can do about a 401 while Patchbay has no sign-in of its own.
pub(crate) const NO_SIGN_IN: &str = "this version of Patchbay cannot sign in; a token can be sent as a header of the server (headers, Authorization)";

/// Why something of a server cannot be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// No server has this name in the workspace.
    #[error("no MCP server named {name} is configured here")]
    NoSuchServer {
        /// The name asked for.
        name: String,
    },
    /// The server has no such tool for this caller.
    #[error("the MCP server {server} has no tool named {tool}")]
    NoSuchTool {
        /// The server.
        server: ServerId,
        /// The tool asked for.
        tool: String,
    },
    /// A name that the agent was never offered.
    #[error("no tool named {name} is offered to this agent")]
    NotOffered {
        /// The name asked for.
        name: String,
    },
    /// Policy says no.
    #[error("{text}")]
    Denied {
        /// The server.
        server: ServerId,
        /// Why, and what would allow it.
        text: String,
    },
    /// The server rests, waits or failed.
    #[error("the MCP server {server} is unavailable: {cause}")]
    Unavailable {
        /// The server.
        server: ServerId,
        /// Why.
        cause: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The server wants a sign-in.
    #[error("the MCP server {server} asks for a sign-in")]
    NeedsSignIn {
        /// The server.
        server: ServerId,
    },
    /// The call took longer than the server's limit (MCP-31).
    #[error("the tool {tool} of the MCP server {server} timed out after {} s (timeout_seconds)", limit.as_secs_f64())]
    Timeout {
        /// The server.
        server: ServerId,
        /// The tool.
        tool: String,
        /// The limit that was hit.
        limit: Duration,
    },
    /// The server answered the call with a JSON-RPC error of its own.
    #[error("{message}")]
    Rpc {
        /// The server.
        server: ServerId,
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data, a JSON value as text.
        data: Option<String>,
    },
    /// The arguments are no JSON object.
    #[error("the arguments are not a JSON object: {reason}")]
    Arguments {
        /// What is wrong with them.
        reason: String,
    },
    /// The server is not running, so there is nothing to restart.
    #[error("the MCP server {server} is not running")]
    NotRunning {
        /// The server.
        server: ServerId,
    },
}

impl EngineError {
    /// The server that it is about.
    #[must_use]
    pub fn server(&self) -> Option<&ServerId> {
        match self {
            Self::NoSuchServer { .. } | Self::NotOffered { .. } | Self::Arguments { .. } => None,
            Self::NoSuchTool { server, .. }
            | Self::Denied { server, .. }
            | Self::Unavailable { server, .. }
            | Self::NeedsSignIn { server }
            | Self::Timeout { server, .. }
            | Self::Rpc { server, .. }
            | Self::NotRunning { server } => Some(server),
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NoSuchServer { .. } => ErrorCode::McpServerNotFound,
            Self::NoSuchTool { .. } | Self::NotOffered { .. } | Self::NotRunning { .. } => {
                ErrorCode::NotFound
            }
            Self::Denied { .. } => ErrorCode::Denied,
            Self::Unavailable { .. } | Self::NeedsSignIn { .. } | Self::Rpc { .. } => ErrorCode::Unavailable,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Arguments { .. } => ErrorCode::Invalid,
        }
    }

    /// The next step, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchServer { .. } => Some("`patchbay status` lists the servers".into()),
            Self::NoSuchTool { server, .. } => Some(format!("`patchbay tools` lists what {server} offers")),
            Self::Unavailable { hint, .. } => hint.clone(),
            Self::NeedsSignIn { .. } => Some(NO_SIGN_IN.into()),
            Self::NotRunning { .. } => Some("it starts when its tools are first listed".into()),
            _ => None,
        }
    }

    /// The error as guests see it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        let mut error = ApiError::new(self.code(), self.to_string());
        error.hint = self.hint();
        error.server = self.server().map(ToString::to_string);
        error
    }
}
