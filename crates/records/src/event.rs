//! The events of the audit log. Their names in the file are those of the variants, in kebab case.

use patchbay_api::{AgentId, Revision, ServerId, WorkspaceKey};
use serde::Serialize;

/// Something that a person may want to know afterwards. Holds no arguments and no results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum AuditEvent {
    /// A call of a tool that was let through has ended.
    Call {
        /// The workspace.
        workspace: WorkspaceKey,
        /// The server.
        server: ServerId,
        /// The server's own name of the tool.
        tool: String,
        /// Who called.
        agent: AgentId,
        /// How it ended.
        outcome: CallOutcome,
        /// How long the server took, in milliseconds.
        duration_ms: u64,
    },
    /// A call was allowed or denied.
    Decision {
        /// The workspace.
        workspace: WorkspaceKey,
        /// The server.
        server: ServerId,
        /// The server's own name of the tool.
        tool: String,
        /// Who asked.
        agent: AgentId,
        /// Whether it was allowed.
        allowed: bool,
        /// What decided.
        reason: DecisionReason,
        /// The rule that decided, where one did.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// A sign-in began to hold, was renewed, failed or was forgotten.
    SignIn {
        /// The server.
        server: ServerId,
        /// What happened.
        change: SignInChange,
        /// Why, where it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// Trust in a project's files was given or taken back.
    Trust {
        /// The project's folder.
        path: String,
        /// What was trusted: the SHA-256 of the content.
        digest: Option<String>,
        /// What happened.
        change: TrustChange,
    },
    /// The settings changed.
    SettingsChange {
        /// The file.
        file: String,
        /// Its new revision.
        revision: Revision,
        /// What was done.
        action: SettingsAction,
        /// The server that it was done to, where it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
    /// A server's process started or ended.
    Process {
        /// The workspace.
        workspace: WorkspaceKey,
        /// The server.
        server: ServerId,
        /// The process's id.
        pid: Option<u32>,
        /// What happened.
        change: ProcessChange,
        /// Why, in words.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// The owner of the servers started or ended.
    Owner {
        /// Its process id.
        pid: u32,
        /// What happened.
        change: ProcessChange,
    },
    /// Events are missing here.
    Lost {
        /// How many.
        count: u64,
        /// Why.
        cause: LossCause,
    },
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// With a result.
    Ok,
    /// With an error that the tool reported as its result.
    ToolError,
    /// With an error that the server answered.
    Rejected,
    /// The agent withdrew it.
    Cancelled,
    /// At its time limit.
    TimedOut,
    /// The server could not be reached, or went away.
    Failed,
}

/// What decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionReason {
    /// The server's `auto_approve`.
    AutoApprove,
    /// A rule of the settings.
    Rule,
    /// A remembered approval.
    Always,
    /// An approval for this session.
    Session,
    /// A person, this once.
    Once,
    /// The mode.
    Mode,
    /// The agent's own dialog.
    Agent,
    /// The host's permission callback.
    Host,
    /// A person said no.
    Denied,
    /// Nobody answered in time.
    TimedOut,
    /// There was nobody to ask.
    NoApprover,
}

/// What happened to a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignInChange {
    /// A person signed in.
    SignedIn,
    /// Its tokens were renewed.
    Renewed,
    /// It was refused.
    Failed,
    /// It was forgotten.
    SignedOut,
}

/// What happened to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustChange {
    /// A person gave it.
    Given,
    /// A person refused it.
    Refused,
    /// A person took it back.
    TakenBack,
}

/// What was done to the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsAction {
    /// A server was added.
    ServerAdded,
    /// A server was changed.
    ServerSaved,
    /// A server was removed.
    ServerRemoved,
    /// A server was switched on.
    ServerEnabled,
    /// A server was switched off.
    ServerDisabled,
    /// The file was changed by another program.
    Edited,
}

/// What happened to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessChange {
    /// It started.
    Started,
    /// It was stopped.
    Stopped,
    /// It ended by itself.
    Ended,
    /// It could not be started.
    StartFailed,
}

/// Why events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    /// They came faster than they could be written.
    QueueFull,
    /// The day's file has reached its size.
    SizeLimit,
    /// The disk refused them.
    WriteFailed,
}

impl AuditEvent {
    /// Whether it can wait a moment to be written together with others. The rest is written at once.
    pub(crate) fn is_frequent(&self) -> bool {
        matches!(self, Self::Call { .. }) || matches!(self, Self::Decision { allowed: true, .. })
    }
}
