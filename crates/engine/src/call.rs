//! One call of a tool, from name to answer; one function to read from top to bottom.

use std::time::Duration;

use patchbay_api::AgentId;
use patchbay_records::{AuditEvent, CallOutcome, DecisionReason};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::connection::LaneError;
use crate::manager::Manager;
use crate::policy::{self, Decision, Reason};
use crate::server::Ready;
use crate::{EngineError, Target};

/// A call as it arrives. Everything but the target stays raw.
#[derive(Debug)]
pub struct Call {
    /// Who calls.
    pub agent: AgentId,
    /// The server, and its own name for the tool.
    pub target: Target,
    /// The whole `params` of `tools/call` with the tool's own name in it.
    pub params: Box<RawValue>,
}

/// A server's answer.
#[derive(Debug)]
pub struct Reply {
    /// The result's bytes, as the server wrote them.
    pub result: Box<RawValue>,
    /// Whether the tool reported an error of its own.
    pub is_error: bool,
}

impl Manager {
    /// Makes a call: permission, connection, the server's time limit, record. Dropping the future cancels it.
    ///
    /// # Errors
    /// Denied by policy, the server cannot be used, the limit was hit, or the server's own JSON-RPC error.
    pub async fn call(&self, call: Call) -> Result<Reply, EngineError> {
        let config = self.config(&call.target.server)?;
        self.permit(&call, &config.id.name.to_string(), config.auto_approve)?;
        let ready = self.ready(&call.target.server).await?;
        if !ready.catalogue.tools.iter().any(|tool| tool.name == call.target.tool) {
            return Err(EngineError::NoSuchTool { server: call.target.server, tool: call.target.tool });
        }
        let began = Instant::now();
        let answer = self.send(&call, ready, config.timeout).await;
        self.record(&call, began.elapsed(), &answer);
        answer
    }

    fn permit(&self, call: &Call, server: &str, auto_approve: bool) -> Result<(), EngineError> {
        let decision = policy::decide(&self.permissions(), server, &call.target.tool, auto_approve);
        let (reason, rule, denied) = match decision {
            Decision::Allow(reason) => (reason, None, None),
            Decision::Deny { reason, rule, text } => (reason, rule, Some(text)),
        };
        self.audit(AuditEvent::Decision {
            workspace: self.key().clone(),
            server: call.target.server.clone(),
            tool: call.target.tool.clone(),
            agent: call.agent.clone(),
            allowed: denied.is_none(),
            reason: reason.into(),
            rule,
        });
        denied.map_or(Ok(()), |text| Err(EngineError::Denied { server: call.target.server.clone(), text }))
    }

    async fn send(&self, call: &Call, ready: Ready, limit: Duration) -> Result<Reply, EngineError> {
        let server = &call.target.server;
        let mut answer = timed(call, &ready, limit).await?;
        if let Err(LaneError::SessionLost) = answer {
            // The server refused the session before it ran anything: once more, in a new one.
            let ready = self.ready_after(server, &ready).await?;
            answer = timed(call, &ready, limit).await?;
        }
        match answer {
            Ok(result) => {
                let is_error = patchbay_wire::result_flags(&result).is_error;
                Ok(Reply { result, is_error })
            }
            Err(LaneError::Rpc(error)) => Err(EngineError::Rpc {
                server: server.clone(),
                code: error.code,
                message: error.message,
                data: error.data.map(|data| data.get().to_owned()),
            }),
            Err(LaneError::NeedsSignIn) => Err(EngineError::NeedsSignIn { server: server.clone() }),
            Err(LaneError::Closed(reason)) => Err(self.broke_off(server, &reason).await),
            Err(error) => {
                Err(EngineError::Unavailable { server: server.clone(), cause: error.to_string(), hint: None })
            }
        }
    }

    fn record(&self, call: &Call, took: Duration, answer: &Result<Reply, EngineError>) {
        let outcome = match answer {
            Ok(Reply { is_error: false, .. }) => CallOutcome::Ok,
            Ok(_) => CallOutcome::ToolError,
            Err(EngineError::Timeout { .. }) => CallOutcome::TimedOut,
            Err(EngineError::Rpc { .. }) => CallOutcome::Rejected,
            Err(_) => CallOutcome::Failed,
        };
        self.audit(AuditEvent::Call {
            workspace: self.key().clone(),
            server: call.target.server.clone(),
            tool: call.target.tool.clone(),
            agent: call.agent.clone(),
            outcome,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
    }
}

async fn timed(
    call: &Call,
    ready: &Ready,
    limit: Duration,
) -> Result<Result<Box<RawValue>, LaneError>, EngineError> {
    tokio::time::timeout(limit, ready.lane.request("tools/call", Some(&call.params))).await.map_err(|_| {
        EngineError::Timeout { server: call.target.server.clone(), tool: call.target.tool.clone(), limit }
    })
}

impl From<Reason> for DecisionReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Mode => Self::Mode,
            Reason::Rule => Self::Rule,
            Reason::AutoApprove => Self::AutoApprove,
            Reason::NoApprover => Self::NoApprover,
        }
    }
}
