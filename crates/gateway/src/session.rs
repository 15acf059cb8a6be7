//! One agent's session: reads its lines, answers them, tells it when its list changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use patchbay_api::{AgentId, ServerState};
use patchbay_engine::{Call, EngineError, Manager, Naming, Offer, Target};
use patchbay_wire::{CallParams, Id, Line, Lines, Message, RpcError, Token};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::answer;

/// The first list waits this long for servers that are still starting.
const PATIENCE: Duration = Duration::from_secs(1);
/// A call of a name that was never offered waits this long for servers that are still starting.
const CALL_PATIENCE: Duration = Duration::from_secs(60);
/// The longest line of an agent, in bytes.
const MAX_LINE: usize = 64 << 20;
/// Answers on their way to the agent.
const QUEUE: usize = 256;

/// Who an agent is and how its tools are named.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The agent.
    pub agent: AgentId,
    /// How its names are made.
    pub naming: Naming,
}

/// Serves one agent until it closes its end or `stop` is cancelled; its running calls are cancelled then.
///
/// # Errors
/// Reading or writing the streams failed.
pub async fn serve<R, W>(
    reader: R,
    writer: W,
    manager: Arc<Manager>,
    identity: Identity,
    stop: CancellationToken,
) -> std::io::Result<()>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (outgoing, lines) = mpsc::channel(QUEUE);
    let mut writing = JoinSet::new();
    writing.spawn(write(writer, lines));
    let session =
        Arc::new(Session { manager, identity, outgoing, names: Mutex::default(), running: Mutex::default() });
    let mut tasks = JoinSet::new();
    tasks.spawn(announce(Arc::clone(&session)));
    let result = read(reader, &session, &mut tasks, &stop).await;
    tasks.shutdown().await;
    drop(session);
    // Answers that are ready still go out, unless the agent has gone.
    while let Some(written) = writing.join_next().await {
        written.unwrap_or_else(|error| Err(std::io::Error::other(error)))?;
    }
    result
}

struct Session {
    manager: Arc<Manager>,
    identity: Identity,
    outgoing: mpsc::Sender<Bytes>,
    names: Mutex<Names>,
    running: Mutex<HashMap<Id, AbortHandle>>,
}

/// What the agent was offered.
#[derive(Default)]
struct Names {
    /// Every name that it ever saw in this session: such a name stays with its server.
    sticky: HashMap<String, Target>,
    /// The last list that it was sent; `None` before its first.
    listed: Option<Box<RawValue>>,
}

async fn write<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut lines: mpsc::Receiver<Bytes>,
) -> std::io::Result<()> {
    while let Some(line) = lines.recv().await {
        writer.write_all(&line).await?;
        while let Ok(line) = lines.try_recv() {
            writer.write_all(&line).await?;
        }
        writer.flush().await?;
    }
    Ok(())
}

async fn read<R: AsyncRead + Unpin>(
    mut reader: R,
    session: &Arc<Session>,
    tasks: &mut JoinSet<()>,
    stop: &CancellationToken,
) -> std::io::Result<()> {
    let mut lines = Lines::new(MAX_LINE);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = tokio::select! {
            read = reader.read(&mut chunk) => read?,
            () = stop.cancelled() => return Ok(()),
            Some(_) = tasks.join_next() => continue,
        };
        if read == 0 {
            return Ok(());
        }
        let mut too_long = false;
        lines.push(&chunk[..read], &mut |line| match line {
            Line::Whole(line) => session.take(line, tasks),
            Line::TooLong { .. } => too_long = true,
        });
        if too_long {
            return Err(std::io::Error::other(format!(
                "the agent sent a line of more than {} MiB",
                MAX_LINE >> 20
            )));
        }
    }
}

impl Session {
    fn take(self: &Arc<Self>, line: &[u8], tasks: &mut JoinSet<()>) {
        match patchbay_wire::decode(line) {
            Ok(Message::Request { id, method, params }) => self.begin(id, &method, params, tasks),
            Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                self.cancel(params)
            }
            // The gateway asks nothing of the agent, so answers mean nothing; other notifications need nothing.
            Ok(Message::Notification { .. } | Message::Response { .. }) => {}
            Err(noise) => tracing::debug!(%noise, "a line of the agent is no message"),
        }
    }

    /// Starts answering a request. Each in a task of its own: a slow one delays none.
    fn begin(
        self: &Arc<Self>,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
        tasks: &mut JoinSet<()>,
    ) {
        let (session, owned_id) = (Arc::clone(self), id.to_owned());
        let (method, params) = (method.to_owned(), params.map(ToOwned::to_owned));
        let key = Id::exact(id).unwrap_or(Id::Null);
        let done = key.clone();
        let task = tasks.spawn(async move {
            let result = session.answer(&method, params.as_deref()).await;
            // Removed first: a cancellation that comes later finds nothing to cancel.
            session.running().remove(&done);
            let line = match &result {
                Ok(result) => patchbay_wire::response(&owned_id, result),
                Err(error) => patchbay_wire::error(Some(&owned_id), error),
            };
            session.send(line).await;
        });
        if !task.is_finished() {
            self.running().insert(key, task);
        }
    }

    fn cancel(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let cancelled = params.and_then(|params| serde_json::from_str::<Cancelled<'_>>(params.get()).ok());
        let id = cancelled.and_then(|cancelled| Id::exact(cancelled.request_id));
        if let Some(task) = id.and_then(|id| self.running().remove(&id)) {
            // Dropping the call tells the server behind (MCP: a cancelled request gets no answer).
            task.abort();
        }
    }

    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
        match method {
            "initialize" => answer::initialize(params),
            "ping" => answer::empty(),
            "tools/list" => self.list().await,
            "tools/call" => self.call(params).await,
            other => Err(RpcError::new(answer::METHOD_NOT_FOUND, format!("{other} is not offered here"))),
        }
    }

    async fn list(&self) -> Result<Box<RawValue>, RpcError> {
        let offer = self.offer().await;
        let list = answer::tools(&offer.tools)?;
        let mut names = self.names();
        names.sticky.extend(offer.targets);
        names.listed = Some(list.clone());
        Ok(list)
    }

    async fn offer(&self) -> Offer {
        let sticky = self.names().sticky.clone();
        let Identity { agent, naming } = &self.identity;
        self.manager.offer(agent, naming, &sticky, Some(PATIENCE)).await
    }

    async fn call(&self, params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
        let invalid =
            |error: &dyn std::fmt::Display| RpcError::new(answer::INVALID_PARAMS, error.to_string());
        let params = params.ok_or_else(|| invalid(&"tools/call needs parameters"))?;
        let name = CallParams::decode(params).map_err(|error| invalid(&error))?.name.into_owned();
        let target = match self.target(&name).await {
            Ok(target) => target,
            Err(error) => return answer::failure(&error),
        };
        // The agent's progress token means nothing to the server: progress is not passed on.
        let params = patchbay_wire::splice(params, Some(&target.tool), Token::Remove)
            .map_err(|error| invalid(&error))?;
        let call = Call { agent: self.identity.agent.clone(), target, params };
        match self.manager.call(call).await {
            Ok(reply) => Ok(reply.result),
            Err(error) => answer::failure(&error),
        }
    }

    /// Where a name leads: to what the agent was offered, and nowhere else.
    async fn target(&self, name: &str) -> Result<Target, EngineError> {
        if let Some(target) = self.names().sticky.get(name) {
            return Ok(target.clone());
        }
        // An agent that remembers names from an earlier session may call before it lists, or before its server is up.
        let mut changes = self.manager.changes();
        let mut offer = self.offer().await;
        let late = tokio::time::sleep(CALL_PATIENCE);
        tokio::pin!(late);
        loop {
            self.names().sticky.extend(offer.targets);
            if let Some(target) = self.names().sticky.get(name) {
                return Ok(target.clone());
            }
            let starting =
                self.manager.statuses().iter().any(|status| status.state == ServerState::Connecting);
            let unknown = || EngineError::NotOffered { name: name.to_owned() };
            if !starting {
                return Err(unknown());
            }
            tokio::select! {
                changed = changes.changed() => changed.map_err(|_| unknown())?,
                () = &mut late => return Err(unknown()),
            }
            let sticky = self.names().sticky.clone();
            offer = self.manager.offer_now(&self.identity.agent, &self.identity.naming, &sticky);
        }
    }

    async fn send(&self, line: Vec<u8>) {
        // A closed queue: the agent has gone, and the session ends with its input.
        let _ = self.outgoing.send(Bytes::from(line)).await;
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Id, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the agent when what it would be sent now differs from what it was sent last.
async fn announce(session: Arc<Session>) {
    let mut changes = session.manager.changes();
    while changes.changed().await.is_ok() {
        let Identity { agent, naming } = &session.identity;
        let sticky = session.names().sticky.clone();
        let offer = session.manager.offer_now(agent, naming, &sticky);
        let Ok(list) = answer::tools(&offer.tools) else { continue };
        let differs = {
            let mut names = session.names();
            let differs = names.listed.as_ref().is_some_and(|listed| listed.get() != list.get());
            if differs {
                names.listed = Some(list);
            }
            differs
        };
        if differs {
            session.send(patchbay_wire::notification("notifications/tools/list_changed", None)).await;
        }
    }
}
