//! The actor behind a server: what it is doing now, and what each event makes of that.

mod publish;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use patchbay_api::{SandboxState, ServerId, ServerState, ServerStatus, TransportKind};
use patchbay_config::ServerConfig;
use patchbay_exec::ServerLog;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Desired, Order, Ready, View};
use crate::backoff::Backoff;
use crate::catalogue::Catalogue;
use crate::connect::{Live, Progress, Site, StartFailure, connect, ended};
use crate::{EngineError, Runtime};

/// Lines of the log that the status carries.
const TAIL: usize = 5;
/// How long a start may keep others waiting for their turn.
const TURN: Duration = Duration::from_secs(2);
/// Gaps of the sandbox that the status carries.
const MAX_GAPS: usize = 20;
/// Announced changes of the list within this time are one.
const COALESCE: Duration = Duration::from_millis(250);

type Waiter = oneshot::Sender<Result<Ready, EngineError>>;
type Started = Result<Live, StartFailure>;
/// The pid and the sandbox of a process that has just been started.
type Birth = (u32, SandboxState);
type Relist = BoxFuture<'static, Result<Catalogue, StartFailure>>;

/// What the server is doing. A variant owns all that belongs to it; leaving it drops that.
enum State {
    /// Nothing runs.
    Rest,
    /// A start is under way; these wait for it.
    Connecting { attempt: JoinSet<Started>, since: Instant, waiters: Vec<Waiter> },
    /// It works; its list may be on its way once more.
    Connected { live: Box<Live>, since: Instant, relist: Option<Relist> },
    /// The last start or run ended badly; a remote server is tried again by itself.
    Failed { failure: StartFailure, retry: Option<Instant> },
}

pub(super) struct Actor {
    id: ServerId,
    desired: watch::Receiver<Desired>,
    site: Site,
    runtime: Runtime,
    log: ServerLog,
    backoff: Backoff,
    /// The settings that the running state was made from.
    running: Option<Arc<ServerConfig>>,
    view: watch::Sender<View>,
    changed: watch::Sender<u32>,
    progress: (mpsc::Sender<Birth>, mpsc::Receiver<Birth>),
}

/// Something that happened.
enum Event {
    Desired,
    Order(Order),
    Started(Box<Started>),
    Progress(u32, SandboxState),
    Ended(String),
    ToolsChanged,
    Relisted(Result<Catalogue, StartFailure>),
    Blocked(Vec<PathBuf>),
    Retry,
    Closed,
}

impl Actor {
    pub(super) fn new(
        id: ServerId,
        desired: watch::Receiver<Desired>,
        site: Site,
        runtime: Runtime,
        log: ServerLog,
        changed: watch::Sender<u32>,
    ) -> (Self, watch::Receiver<View>) {
        let status = ServerStatus {
            id: id.clone(),
            transport: None,
            state: ServerState::Idle,
            cause: None,
            hint: None,
            since_ms: runtime.clock.now_ms(),
            until_ms: None,
            pid: None,
            sandbox: None,
            tool_count: None,
            catalogue_revision: 0,
            log_tail: Vec::new(),
        };
        let (view, receiver) = watch::channel(View { status, ready: None });
        let actor = Self {
            id,
            desired,
            site,
            runtime,
            log,
            backoff: Backoff::default(),
            running: None,
            view,
            changed,
            progress: mpsc::channel(1),
        };
        actor.publish_rest(None);
        (actor, receiver)
    }

    /// Runs until the server is taken out of the settings or its handle is dropped; nothing is left after it.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut state = State::Rest;
        loop {
            let event = self.next(&mut state, &mut orders).await;
            state = match event {
                Event::Desired => self.reconcile(state).await,
                Event::Order(Order::Connect(waiter)) => self.connect(state, waiter),
                Event::Order(Order::Stop(done)) => self.stop_asked(state, done).await,
                Event::Started(started) => self.started(state, *started),
                Event::Progress(pid, sandbox) => {
                    self.publish(|status| (status.pid, status.sandbox) = (Some(pid), Some(sandbox)));
                    state
                }
                Event::Ended(reason) => self.ended(state, reason).await,
                Event::ToolsChanged => relist(state),
                Event::Relisted(list) => self.relisted(state, list),
                Event::Blocked(paths) => self.blocked_appeared(state, &paths),
                Event::Retry => self.retry(state),
                Event::Closed => {
                    self.stop(state, "Patchbay stops").await;
                    return;
                }
            };
        }
    }

    async fn next(&mut self, state: &mut State, orders: &mut mpsc::Receiver<Order>) -> Event {
        tokio::select! {
            changed = self.desired.changed() => match changed {
                Ok(()) if *self.desired.borrow() != Desired::Gone => Event::Desired,
                _ => Event::Closed,
            },
            order = orders.recv() => order.map_or(Event::Closed, Event::Order),
            Some((pid, sandbox)) = self.progress.1.recv() => Event::Progress(pid, sandbox),
            event = happens(state) => event,
        }
    }

    fn wanted(&self) -> Desired {
        self.desired.borrow().clone()
    }

    /// Desired against running: unchanged keeps running, changed stops and starts afresh at its next use (MCP-45).
    async fn reconcile(&mut self, state: State) -> State {
        let wanted = self.wanted();
        if let (Desired::Run(config), Some(running), State::Connected { .. } | State::Connecting { .. }) =
            (&wanted, &self.running, &state)
            && config == running
        {
            return state;
        }
        self.backoff.clear();
        self.stop(state, "its settings changed").await;
        self.publish_rest(None);
        State::Rest
    }

    fn connect(&mut self, state: State, waiter: Waiter) -> State {
        let config = match self.wanted() {
            Desired::Run(config) => config,
            Desired::Rest(_, rest, reason) => {
                let cause = reason.unwrap_or_else(|| rest_reason(rest).into());
                answer(waiter, Err(self.unavailable(cause, None)));
                return state;
            }
            Desired::Gone => {
                answer(waiter, Err(EngineError::NoSuchServer { name: self.id.to_string() }));
                return state;
            }
        };
        match state {
            State::Connected { ref live, .. } => {
                answer(waiter, Ok(ready(live)));
                state
            }
            State::Connecting { attempt, since, mut waiters } => {
                waiters.push(waiter);
                State::Connecting { attempt, since, waiters }
            }
            State::Rest | State::Failed { .. } => self.start(state, config, Some(waiter)),
        }
    }

    fn start(&mut self, state: State, config: Arc<ServerConfig>, waiter: Option<Waiter>) -> State {
        let now = Instant::now();
        if let Some(until) = self.backoff.until(now) {
            let cause = match &state {
                State::Failed { failure, .. } => failure.cause.clone(),
                _ => "it kept ending".to_owned(),
            };
            let wait = (until - now).as_secs() + 1;
            let hint = format!("it may start again in {wait} s; a restart by hand starts it at once");
            let refusal = self.unavailable(format!("{cause}; waiting before the next start"), Some(hint));
            waiter.into_iter().for_each(|waiter| answer(waiter, Err(refusal.clone())));
            return state;
        }
        self.running = Some(Arc::clone(&config));
        let (site, runtime, log) = (self.site.clone(), self.runtime.clone(), self.log.clone());
        let mut tell = Tell(self.progress.0.clone());
        let mut attempt = JoinSet::new();
        attempt.spawn(async move {
            let permit = runtime.starts.acquire().await;
            let starting = connect(&config, &site, &runtime, &log, &mut tell);
            tokio::pin!(starting);
            tokio::select! {
                started = &mut starting => return started,
                // Starting costs little from here on: a server that only lets us wait keeps no other from its turn.
                () = tokio::time::sleep(TURN) => drop(permit),
            }
            starting.await
        });
        self.publish_state(ServerState::Connecting, None, None);
        State::Connecting { attempt, since: now, waiters: waiter.into_iter().collect() }
    }

    fn started(&mut self, state: State, started: Started) -> State {
        let State::Connecting { since, waiters, .. } = state else { return state };
        match started {
            Ok(live) => {
                let ready = ready(&live);
                self.publish_connected(&live);
                for waiter in waiters {
                    answer(waiter, Ok(ready.clone()));
                }
                State::Connected { live: Box::new(live), since: Instant::now(), relist: None }
            }
            Err(failure) => {
                let failure = self.redacted(failure);
                // A lasting refusal is no crash: the next use asks the server again at once.
                if !failure.needs_sign_in {
                    self.backoff.ended(Instant::now(), since.elapsed());
                }
                self.publish_failure(&failure);
                for waiter in waiters {
                    answer(waiter, Err(self.failed(&failure)));
                }
                self.failed_state(failure)
            }
        }
    }

    /// Failed, and tried again by itself where nothing of ours has to be started for it.
    fn failed_state(&self, failure: StartFailure) -> State {
        let remote = matches!(self.wanted(), Desired::Run(config) if config.kind() == TransportKind::Http);
        let retry = (remote && !failure.needs_sign_in).then(|| {
            let mut salt = DefaultHasher::new();
            self.id.hash(&mut salt);
            let at = Instant::now() + self.backoff.retry_after(salt.finish());
            let at_ms = self.runtime.clock.at_ms(at);
            self.publish(|status| {
                status.until_ms = Some(at_ms);
                status.hint.get_or_insert_with(|| "it is tried again by itself".into());
            });
            at
        });
        State::Failed { failure, retry }
    }

    fn retry(&mut self, state: State) -> State {
        match self.wanted() {
            Desired::Run(config) => {
                // The wait that is over was this very one; the count goes on.
                self.backoff.waited();
                self.start(state, config, None)
            }
            _ => state,
        }
    }

    async fn ended(&mut self, state: State, reason: String) -> State {
        let State::Connected { live, since, .. } = state else { return state };
        self.backoff.ended(Instant::now(), since.elapsed());
        // Whatever is left of its process group goes with it.
        live.stop(self.site.stop_steps).await;
        let failure = self.redacted(StartFailure { cause: reason, hint: None, needs_sign_in: false });
        self.publish_failure(&failure);
        self.failed_state(failure)
    }

    fn relisted(&mut self, state: State, list: Result<Catalogue, StartFailure>) -> State {
        let State::Connected { mut live, since, .. } = state else { return state };
        match list {
            Ok(catalogue) => {
                live.catalogue = Arc::new(catalogue);
                self.publish_connected(&live);
            }
            Err(failure) => {
                let failure = self.redacted(failure);
                let cause = format!("its tools changed, but the new list cannot be had: {}", failure.cause);
                self.publish(|status| status.cause = Some(cause));
            }
        }
        State::Connected { live, since, relist: None }
    }

    /// Files that the settings block have appeared while it runs: they are named, and held from its next start.
    fn blocked_appeared(&mut self, mut state: State, paths: &[PathBuf]) -> State {
        if let State::Connected { live, .. } = &mut state
            && let Some(process) = &live.process
        {
            live.blocked = Box::pin(process.blocked_appear(self.runtime.look_every));
        }
        self.publish(|status| {
            let Some(sandbox) = &mut status.sandbox else { return };
            let named = paths.iter().map(|path| {
                format!(
                    "{} appeared after the start: it is blocked from the server's next start (restart it)",
                    path.display()
                )
            });
            sandbox.gaps.extend(named);
            let known = sandbox.gaps.len().saturating_sub(MAX_GAPS);
            sandbox.gaps.drain(..known);
        });
        state
    }

    async fn stop_asked(&mut self, state: State, done: oneshot::Sender<bool>) -> State {
        let ran = matches!(state, State::Connected { .. } | State::Connecting { .. } | State::Failed { .. });
        self.backoff.clear();
        self.stop(state, "it was restarted").await;
        self.publish_rest(None);
        // Whoever asked may have gone.
        let _ = done.send(ran);
        State::Rest
    }

    /// Ends whatever runs; returns when nothing of it is left.
    async fn stop(&mut self, state: State, why: &str) {
        self.running = None;
        match state {
            State::Rest | State::Failed { .. } => {}
            State::Connecting { mut attempt, waiters, .. } => {
                self.publish_state(ServerState::Stopping, None, None);
                for waiter in waiters {
                    answer(waiter, Err(self.unavailable(why.into(), None)));
                }
                // Dropping the start drops its process, which ends the whole group.
                attempt.shutdown().await;
                while self.progress.1.try_recv().is_ok() {}
            }
            State::Connected { live, .. } => {
                self.publish_state(ServerState::Stopping, None, None);
                live.stop(self.site.stop_steps).await;
            }
        }
    }

    fn unavailable(&self, cause: String, hint: Option<String>) -> EngineError {
        EngineError::Unavailable { server: self.id.clone(), cause, hint }
    }

    fn failed(&self, failure: &StartFailure) -> EngineError {
        if failure.needs_sign_in {
            return EngineError::NeedsSignIn { server: self.id.clone() };
        }
        let tail = self.tail();
        let cause = match tail.last() {
            Some(_) => format!("{}\nIts last words:\n  {}", failure.cause, tail.join("\n  ")),
            None => failure.cause.clone(),
        };
        self.unavailable(cause, failure.hint.clone())
    }

    fn redacted(&self, failure: StartFailure) -> StartFailure {
        StartFailure { cause: self.runtime.redactor.redact(&failure.cause).into_owned(), ..failure }
    }

    fn tail(&self) -> Vec<String> {
        self.log.tail(TAIL)
    }
}

/// Resolves when something happens by itself in this state; never while nothing runs.
async fn happens(state: &mut State) -> Event {
    match state {
        State::Rest | State::Failed { retry: None, .. } => std::future::pending().await,
        State::Failed { retry: Some(at), .. } => {
            tokio::time::sleep_until(*at).await;
            Event::Retry
        }
        State::Connecting { attempt, .. } => match attempt.join_next().await {
            Some(Ok(started)) => Event::Started(Box::new(started)),
            Some(Err(error)) => Event::Started(Box::new(Err(StartFailure {
                cause: format!("a fault of Patchbay during its start: {error}"),
                hint: None,
                needs_sign_in: false,
            }))),
            None => std::future::pending().await,
        },
        State::Connected { live, relist, .. } => {
            let Live { process, lane, tools_changed, blocked, .. } = &mut **live;
            tokio::select! {
                reason = ended(process.as_ref(), lane) => Event::Ended(reason),
                () = tools_changed.notified(), if relist.is_none() => Event::ToolsChanged,
                list = listed(relist) => Event::Relisted(list),
                paths = blocked => Event::Blocked(paths),
            }
        }
    }
}

async fn listed(relist: &mut Option<Relist>) -> Result<Catalogue, StartFailure> {
    match relist {
        Some(list) => list.await,
        None => std::future::pending().await,
    }
}

/// Lists again after a short while: what is announced meanwhile is in the same list, what comes later rings again.
fn relist(state: State) -> State {
    let State::Connected { live, since, .. } = state else { return state };
    let list = live.relist();
    let relist = Box::pin(async move {
        tokio::time::sleep(COALESCE).await;
        list.await
    });
    State::Connected { live, since, relist: Some(relist) }
}

fn ready(live: &Live) -> Ready {
    Ready { lane: Arc::clone(&live.lane), catalogue: Arc::clone(&live.catalogue) }
}

fn same_list(a: &Catalogue, b: &Catalogue) -> bool {
    a.tools.len() == b.tools.len()
        && a.tools.iter().zip(&b.tools).all(|(a, b)| a.definition.get() == b.definition.get())
}

fn rest_reason(state: ServerState) -> &'static str {
    match state {
        ServerState::Disabled => "disabled: configured, not started",
        ServerState::PendingTrust => "the project's files wait for trust",
        _ => "it is not to run",
    }
}

fn answer(waiter: Waiter, result: Result<Ready, EngineError>) {
    // Whoever asked may have stopped waiting.
    let _ = waiter.send(result);
}

struct Tell(mpsc::Sender<Birth>);

impl Progress for Tell {
    fn started(&mut self, pid: u32, sandbox: &SandboxState) {
        // A full queue means that the same was said already.
        let _ = self.0.try_send((pid, sandbox.clone()));
    }
}
