//! One server of one workspace: the only writer of its state. Others see the published view.

mod state;

use std::sync::Arc;

use patchbay_api::{ServerState, ServerStatus};
use patchbay_config::ServerConfig;
use patchbay_exec::ServerLog;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::catalogue::Catalogue;
use crate::connect::Site;
use crate::connection::Lane;
use crate::{EngineError, Runtime};

use state::Actor;

/// What the settings want of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Desired {
    /// Startable at its first use.
    Run(Arc<ServerConfig>),
    /// Not to run: disabled, or waiting for trust.
    Rest(Arc<ServerConfig>, ServerState, Option<String>),
    /// Taken out of the settings: stop, and end the actor.
    Gone,
}

impl Desired {
    pub(crate) fn config(&self) -> Option<&Arc<ServerConfig>> {
        match self {
            Self::Run(config) | Self::Rest(config, ..) => Some(config),
            Self::Gone => None,
        }
    }
}

/// A server that works, as calls use it.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) lane: Arc<Lane>,
    pub(crate) catalogue: Arc<Catalogue>,
}

/// What the actor publishes.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) status: ServerStatus,
    pub(crate) ready: Option<Ready>,
}

/// What is asked of the actor.
pub(crate) enum Order {
    /// Start if need be; answers when it works or why it does not.
    Connect(oneshot::Sender<Result<Ready, EngineError>>),
    /// Stop; answers when everything has ended, `false` when nothing ran.
    Stop(oneshot::Sender<bool>),
}

/// The handle of one server's actor.
pub(crate) struct Server {
    pub(crate) log: ServerLog,
    desired: watch::Sender<Desired>,
    orders: mpsc::Sender<Order>,
    view: watch::Receiver<View>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts the actor; the server itself starts at its first use. `after`: a predecessor of the same id that
    /// must have ended first. `changed` is told of every new view.
    pub(crate) fn new(
        desired: Desired,
        config: &ServerConfig,
        site: Site,
        runtime: Runtime,
        after: Option<JoinHandle<()>>,
        changed: watch::Sender<u32>,
    ) -> Self {
        let redactor = runtime.redactor.clone();
        let log = ServerLog::new(Some(Arc::new(move |line: &str| redactor.redact(line).into_owned())));
        let (desired_sender, desired_receiver) = watch::channel(desired);
        let (orders, inbox) = mpsc::channel(64);
        let (actor, view) =
            Actor::new(config.id.clone(), desired_receiver, site, runtime, log.clone(), changed);
        #[expect(clippy::disallowed_methods, reason = "the handle is kept and awaited: see `leave`")]
        let task = tokio::spawn(async move {
            if let Some(after) = after {
                // A predecessor that panicked has dropped its process, which ends it.
                let _ = after.await;
            }
            actor.run(inbox).await;
        });
        Self { log, desired: desired_sender, orders, view, task }
    }

    /// Hands the actor what the settings want now; it does what differs.
    pub(crate) fn want(&self, desired: Desired) {
        self.desired.send_if_modified(|current| {
            let differs = *current != desired;
            *current = desired;
            differs
        });
    }

    /// Whether it wants exactly this already.
    pub(crate) fn desired(&self) -> Desired {
        self.desired.borrow().clone()
    }

    pub(crate) fn view(&self) -> View {
        self.view.borrow().clone()
    }

    /// The working connection if there is one: the short way, without the actor.
    pub(crate) fn ready_now(&self) -> Option<Ready> {
        self.view.borrow().ready.clone()
    }

    pub(crate) fn orders(&self) -> mpsc::Sender<Order> {
        self.orders.clone()
    }

    /// Takes the server out; the handle ends when nothing of it is left.
    pub(crate) fn leave(self) -> JoinHandle<()> {
        self.desired.send_replace(Desired::Gone);
        self.task
    }
}

/// Starts the server if need be and waits for it.
pub(crate) async fn connect(
    orders: mpsc::Sender<Order>,
    gone: impl Fn() -> EngineError,
) -> Result<Ready, EngineError> {
    let (sender, answer) = oneshot::channel();
    orders.send(Order::Connect(sender)).await.map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}
