//! What a guest may ask of the owner. One type per command; its name is the path on the socket.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    AgentId, AgentView, Answer, McpServerConfig, QuestionId, Revision, ServerId, ServerStatus, Snapshot,
    TrustRequest, WorkspaceKey,
};

/// A command and its answer.
pub trait Command: Serialize + DeserializeOwned + Send + 'static {
    /// Its name on the socket: `POST /v1/<NAME>`.
    const NAME: &'static str;
    /// What the owner answers.
    type Answer: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident = $path:literal => $answer:ty { $($(#[$fdoc:meta])* $field:ident : $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$fdoc])* pub $field: $type),* }

        impl Command for $name {
            const NAME: &'static str = $path;
            type Answer = $answer;
        }
    )*};
}

commands! {
    /// Shakes hands: answers the owner's version, so that a guest of another one can say so.
    Hello = "hello" => HelloAnswer { /** The guest's version. */ version: String }
    /// The snapshot of this moment.
    GetSnapshot = "snapshot" => Snapshot {}
    /// The global servers with their settings, secrets masked (MCP-47).
    ListMcpServerConfigs = "list-mcp-server-configs" => McpServerConfigs {}
    /// Adds a server, or replaces the one named in `replaces`, renaming it if asked (MCP-47).
    SaveMcpServer = "save-mcp-server" => ConfigChange {
        /** The revision that the draft was made on; `None`: whatever is there now. */ base: Option<Revision>,
        /** The server that the draft replaces; `None`: a new one. */ replaces: Option<String>,
        /** The settings wanted. */ draft: McpServerConfig,
    }
    /// Removes a server; its sign-in stays (MCP-46).
    RemoveMcpServer = "remove-mcp-server" => ConfigChange {
        /** The revision that the person saw; `None`: whatever is there now. */ base: Option<Revision>,
        /** The server. */ name: String,
    }
    /// Switches a server on or off (MCP-47).
    SetMcpServerEnabled = "set-mcp-server-enabled" => ConfigChange {
        /** The server. */ name: String,
        /** Whether it shall be on. */ enabled: bool,
    }
    /// Adds the sample server that comes with Patchbay.
    AddSampleServer = "add-sample-server" => ConfigChange {}
    /// Opens a folder as a workspace and keeps it open for a while; answers its key.
    OpenWorkspace = "open-workspace" => WorkspaceKey {
        /** The folder; `None`: the workspace without one. */ path: Option<String>,
    }
    /// The servers of a workspace with their states (MCP-41, MCP-47). Starts nothing.
    ListMcpServers = "list-mcp-servers" => Vec<ServerStatus> { /** The workspace. */ workspace: WorkspaceKey }
    /// Stops a server; it starts afresh at the next listing (MCP-47).
    RestartMcpServer = "restart-mcp-server" => () {
        /** The workspace. */ workspace: WorkspaceKey,
        /** The server. */ server: ServerId,
    }
    /// Lists what an agent is offered; connects the servers that it is about (MCP-10).
    ListTools = "list-tools" => AgentView {
        /** The workspace. */ workspace: WorkspaceKey,
        /** The agent. */ agent: AgentId,
    }
    /// Calls one tool by the server's own name for it.
    CallTool = "call-tool" => CallToolAnswer {
        /** The workspace. */ workspace: WorkspaceKey,
        /** The server's name. */ server: String,
        /** The tool. */ tool: String,
        /** The arguments: a JSON object as text. */ arguments: String,
    }
    /// The last lines of a server's stderr, oldest first.
    ServerLog = "server-log" => Vec<String> {
        /** The workspace. */ workspace: WorkspaceKey,
        /** The server. */ server: ServerId,
    }
    /// Answers a question at the desk.
    AnswerQuestion = "answer-question" => () {
        /** The question. */ question: QuestionId,
        /** The decision. */ answer: Answer,
    }
    /// What trusting a folder would allow; `None` where nothing needs trust.
    DescribeTrust = "describe-trust" => TrustAnswer { /** The folder. */ path: String }
    /// Trusts exactly this content at this path.
    Trust = "trust" => () {
        /** The folder. */ path: String,
        /** The digest that the person saw. */ digest: String,
    }
    /// Takes trust in a folder back.
    RevokeTrust = "revoke-trust" => () { /** The folder. */ path: String }
    /// Opens the window, or brings it to the front.
    OpenWindow = "open-window" => () {}
    /// Ends the owner: everything stops in order.
    Quit = "quit" => () {}
}

/// Answer to [`Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct HelloAnswer {
    /// The owner's version.
    pub version: String,
    /// The owner's process id.
    pub pid: u32,
}

/// Answer to [`ListMcpServerConfigs`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct McpServerConfigs {
    /// The file.
    pub file: String,
    /// Its revision.
    pub revision: Revision,
    /// The valid servers in the file's order.
    pub servers: Vec<McpServerConfig>,
}

/// A change of the settings that every open workspace has taken. Starts are not waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ConfigChange {
    /// The new revision of the file.
    pub revision: Revision,
}

/// Answer to [`CallTool`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CallToolAnswer {
    /// The server's result, a JSON object as text, unchanged.
    pub result: String,
    /// Whether the tool reported an error of its own.
    pub is_error: bool,
}

/// Answer to [`DescribeTrust`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TrustAnswer {
    /// What would be trusted; `None` where nothing needs it.
    pub request: Option<TrustRequest>,
    /// Whether exactly this is trusted already.
    pub trusted: bool,
}
