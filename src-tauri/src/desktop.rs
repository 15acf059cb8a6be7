//! The owner's side as the desktop uses it: its own hub, or, beside another owner, a guest's client.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use patchbay_api::{ApiError, Command, OpenWindow, OwnerKind, Snapshot};
use patchbay_config::{Home, SettingsStore};
use patchbay_control::Client;
use patchbay_exec::StopSteps;
use patchbay_hub::{Handle, HostRequest, Hub, HubError, HubOptions};
use patchbay_records::{LogGuard, LogLevel};
use patchbay_secrets::Redactor;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// How the desktop reaches the servers' owner.
#[derive(Clone)]
pub(crate) enum Desktop {
    /// This process is the owner.
    Owner(Hub),
    /// Another process is; this one is its tray.
    Guest(Client),
}

/// What a start finds.
pub(crate) enum Start {
    /// Runs, with the stream of snapshots and the tasks behind it.
    Running {
        desktop: Desktop,
        home: Home,
        snapshots: watch::Receiver<Arc<Snapshot>>,
        tasks: JoinSet<()>,
        log: LogGuard,
    },
    /// Another desktop runs; it has been asked to open its window.
    AlreadyOpen,
}

impl Desktop {
    /// Opens the home as its owner, or becomes a guest of whoever owns it.
    pub(crate) async fn start(
        config: Option<&Path>,
        host: mpsc::Sender<HostRequest>,
    ) -> anyhow::Result<Start> {
        let home = Home::resolve(config)?;
        let redactor = Redactor::new();
        home.ensure()?;
        let log = open_log(&home, redactor.clone()).context("opening the diagnostic log")?;
        let options = HubOptions {
            kind: OwnerKind::Desktop,
            sample: sample()?,
            stop_steps: StopSteps::default(),
            look_every: patchbay_hub::LOOK_EVERY,
            host: Some(host),
            strict: false,
        };
        let mut tasks = JoinSet::new();
        match Hub::open(home.clone(), redactor, options).await {
            Ok(hub) => {
                let snapshots = hub.snapshots();
                let serving = hub.clone();
                tasks.spawn(async move {
                    if let Err(error) = patchbay_control::serve(serving).await {
                        tracing::error!(%error, "guests cannot be served");
                    }
                });
                Ok(Start::Running { desktop: Self::Owner(hub), home, snapshots, tasks, log })
            }
            Err(HubError::Owned { .. }) => Self::beside(home, tasks, log).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn beside(home: Home, mut tasks: JoinSet<()>, log: LogGuard) -> anyhow::Result<Start> {
        let client =
            Client::connect(&home).await?.context("the owner of the home ended meanwhile; start again")?;
        let mut stream = client.snapshots().await?;
        let first = stream.next().await.context("the owner of the home ended meanwhile; start again")??;
        if first.owner.kind == OwnerKind::Desktop {
            client.call(&OpenWindow {}).await?;
            return Ok(Start::AlreadyOpen);
        }
        let (sender, snapshots) = watch::channel(Arc::new(first));
        tasks.spawn(async move {
            while let Some(Ok(snapshot)) = stream.next().await {
                sender.send_replace(Arc::new(snapshot));
            }
        });
        Ok(Start::Running { desktop: Self::Guest(client), home, snapshots, tasks, log })
    }

    /// Does a command at the owner.
    pub(crate) async fn call<C: Command>(&self, command: C) -> Result<C::Answer, ApiError>
    where
        Hub: Handle<C>,
    {
        match self {
            Self::Owner(hub) => hub.handle(command).await,
            Self::Guest(client) => client.call(&command).await,
        }
    }

    /// Ends everything that is ours: the servers where this is the owner, nothing of another's.
    pub(crate) async fn stop(&self) {
        if let Self::Owner(hub) = self {
            hub.stop().await;
        }
    }
}

/// The diagnostic log, as the settings ask for it; with settings that cannot be read, as the defaults do.
fn open_log(home: &Home, redactor: Redactor) -> Result<LogGuard, patchbay_records::RecordsError> {
    use patchbay_config::LogLevel as Wanted;
    let log = SettingsStore::new(home).read().map(|snapshot| snapshot.settings.log).unwrap_or_default();
    let level = match log.level {
        Wanted::Error => LogLevel::Error,
        Wanted::Warn => LogLevel::Warn,
        Wanted::Info => LogLevel::Info,
        Wanted::Debug => LogLevel::Debug,
        Wanted::Trace => LogLevel::Trace,
    };
    patchbay_records::init(home.dir(), level, redactor, log.retain_days)
}

/// The bundled sample server is this program itself.
fn sample() -> anyhow::Result<(String, Vec<String>)> {
    let program = std::env::current_exe().context("finding this program's own file")?;
    let program = program.to_str().context("this program's path is not text")?.to_owned();
    Ok((program, vec!["sample-server".into()]))
}
