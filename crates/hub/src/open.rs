//! Opening an owner and ending it: the order of both.

use std::fs::TryLockError;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use patchbay_api::{ApiError, OwnerInfo, OwnerKind};
use patchbay_config::{Home, Settings};
use patchbay_engine::{Clock, Desk, Runtime};
use patchbay_exec::{Exec, ExecOptions};
use patchbay_records::{Audit, AuditEvent, Limits, RecordsError};
use patchbay_secrets::{Redactor, SecretStore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::global::Global;
use crate::publish::{self, Publisher};
use crate::settings_watch;
use crate::workspace::{Workspace, Workspaces};
use crate::{Hub, HubError, HubOptions, Shared};

/// How often idle workspaces are looked for.
const SWEEP: Duration = Duration::from_secs(15);
/// A process that the kernel holds keeps the owner no longer than this.
const DRAIN: Duration = Duration::from_secs(15);
/// Snapshots follow each other at least this far apart.
const SNAPSHOT_GAP: Duration = Duration::from_millis(20);

impl Hub {
    /// Opens a home: takes its lock (unless alone), ends what a crashed owner left, reads the settings, follows them.
    ///
    /// # Errors
    /// Somebody else owns the home; the settings are wrong (where `strict`); a file cannot be used.
    pub async fn open(home: Home, redactor: Redactor, options: HubOptions) -> Result<Self, HubError> {
        home.ensure()?;
        let alone = options.kind == OwnerKind::Alone;
        let lock = if alone { None } else { Some(lock(&home)?) };
        let global = Global::open(&home, options.strict)?;
        let (settings, _) = global.now();
        let exec_options = ExecOptions {
            run_dir: (!alone).then(|| home.dir().join("run")),
            leftover_grace: options.stop_steps.term,
            ..ExecOptions::default()
        };
        let exec = Exec::new(exec_options);
        if !alone {
            reap_leftovers(&home.dir().join("run")).await;
        }
        let secrets = Arc::new(SecretStore::file(home.dir()));
        let audit = open_audit(&home, &redactor, &settings.settings)?;
        let lookup = Arc::clone(&secrets);
        let mut runtime = Runtime::new(
            exec,
            redactor,
            audit,
            Arc::new(|name| std::env::var(name).ok()),
            Arc::new(move |scope, name| {
                let found = lookup.get(scope, name).map_err(|error| error.to_string())?;
                Ok(found.map(|secret| secret.expose().to_owned()))
            }),
        );
        runtime.look_every = options.look_every;
        let owner = OwnerInfo {
            pid: std::process::id(),
            kind: options.kind,
            version: env!("CARGO_PKG_VERSION").into(),
            home: home.dir().display().to_string(),
        };
        let first = publish::empty(owner, publish::config_state(&global, &runtime.redactor));
        let shared = Arc::new(Shared {
            home,
            options,
            global,
            workspaces: Workspaces::default(),
            desk: Desk::new(Clock::system()),
            runtime,
            secrets,
            publisher: Publisher::new(first),
            rewatch: tokio::sync::Notify::new(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            _lock: lock,
        });
        shared.learn_secrets();
        follow(&shared);
        Ok(Self { shared })
    }

    /// Ends everything in order: intake off, questions withdrawn, servers stopped side by side, records flushed.
    /// Returns when nothing is left.
    pub async fn stop(&self) {
        let shared = &self.shared;
        shared.stopping.cancel();
        shared.desk.close();
        close_all(&shared.workspaces.take_all()).await;
        shared.tasks.close();
        shared.tasks.wait().await;
        if tokio::time::timeout(DRAIN, shared.runtime.exec.drained()).await.is_err() {
            tracing::error!("a process that the system holds could not be waited for");
        }
        if let Err(error) = shared.runtime.audit.flush() {
            tracing::error!(%error, "the audit log was not written to its end");
        }
    }
}

impl Shared {
    /// Something changed: the snapshot is due.
    pub(crate) fn touch(&self) {
        self.publisher.touch();
    }

    /// Hands the settings in force to every open workspace, and publishes.
    pub(crate) async fn spread(self: &Arc<Self>) -> Result<(), ApiError> {
        self.learn_secrets();
        for workspace in self.workspaces.all() {
            workspace.refresh(self).await?;
        }
        self.publisher.publish(self);
        Ok(())
    }

    /// The workspace of this canonical folder takes its files anew, if it is open.
    pub(crate) async fn refresh_folder(self: &Arc<Self>, folder: &Path) -> Result<(), ApiError> {
        for workspace in self.workspaces.all() {
            if workspace.path.as_deref() == Some(folder) {
                workspace.refresh(self).await?;
            }
        }
        self.publisher.publish(self);
        Ok(())
    }

    /// Other workspaces are open now: their files are to be watched.
    pub(crate) fn watched(&self) {
        self.rewatch.notify_one();
    }

    /// Writes an event into the audit log.
    pub(crate) fn audit(&self, event: AuditEvent) {
        self.runtime.audit.record(self.runtime.clock.now_utc(), event);
    }

    /// Everything in the settings that is a secret is hidden from here on.
    fn learn_secrets(&self) {
        for entry in &self.global.now().0.servers {
            if let patchbay_config::Entry::Valid(config) = entry {
                self.runtime.redactor.learn_server(&config.to_draft());
            }
        }
    }
}

/// Ends what a crashed owner left running. What cannot be looked at is logged: it keeps nobody from working.
async fn reap_leftovers(run_dir: &Path) {
    match Exec::reap_leftovers(run_dir).await {
        Ok(names) if names.is_empty() => {}
        Ok(names) => tracing::warn!(servers = ?names, "ended what an earlier Patchbay left running"),
        Err(error) => tracing::error!(%error, "what an earlier Patchbay left running cannot be looked for"),
    }
}

fn open_audit(home: &Home, redactor: &Redactor, settings: &Settings) -> Result<Audit, RecordsError> {
    if !settings.audit.enabled {
        return Ok(Audit::off());
    }
    let limits = Limits { retain_days: settings.log.retain_days, ..Limits::default() };
    Audit::open(home.dir(), redactor.clone(), limits, Clock::system().now_utc())
}

/// Ends workspaces side by side.
async fn close_all(workspaces: &[Arc<Workspace>]) {
    let ends = workspaces.iter().map(|workspace| async {
        workspace.asking.withdraw();
        workspace.manager.close().await;
    });
    futures_util::future::join_all(ends).await;
}

/// Takes the owner's lock and writes our process id into it.
fn lock(home: &Home) -> Result<std::fs::File, HubError> {
    let path = home.owner_lock();
    let failed = |source| HubError::Lock { path: path.clone(), source };
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(failed)?;
    if taken(file.try_lock()).map_err(failed)? {
        let mut pid = String::new();
        // Another's lock may keep the content from us on some systems: the pid is then not told.
        let _ = file.read_to_string(&mut pid);
        return Err(HubError::Owned { home: home.dir().to_owned(), pid: pid.trim().parse().unwrap_or(0) });
    }
    let written =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
    written.and_then(|()| file.flush()).map_err(failed)?;
    Ok(file)
}

/// Starts the tasks that keep an owner true: snapshots, the settings watch, the closing of idle workspaces.
fn follow(shared: &Arc<Shared>) {
    let tasks = &shared.tasks;
    tasks.spawn(publish_due(Arc::clone(shared)));
    if shared.options.kind != OwnerKind::Alone {
        let (exec, stopping) = (shared.runtime.exec.clone(), shared.stopping.clone());
        // The first server need not wait for the login shell to tell its PATH.
        tasks.spawn(async move { stopping.run_until_cancelled(exec.prepare()).await.unwrap_or_default() });
        tasks.spawn(close_idle(Arc::clone(shared)));
        tasks.spawn(settings_watch::run(Arc::clone(shared)));
    }
}

async fn publish_due(shared: Arc<Shared>) {
    let mut due = shared.publisher.due();
    let mut questions = shared.desk.changes();
    loop {
        tokio::select! {
            _ = due.changed() => {}
            _ = questions.changed() => {}
            () = shared.stopping.cancelled() => return,
        }
        shared.publisher.publish(&shared);
        tokio::select! {
            () = tokio::time::sleep(SNAPSHOT_GAP) => {}
            () = shared.stopping.cancelled() => return,
        }
    }
}

async fn close_idle(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            () = shared.stopping.cancelled() => return,
        }
        let minutes = shared.global.now().0.settings.workspaces.close_after_minutes;
        let idle = shared.workspaces.take_idle(Duration::from_secs(u64::from(minutes) * 60));
        if !idle.is_empty() {
            close_all(&idle).await;
            shared.watched();
            shared.touch();
        }
    }
}

/// Whether another process owns the home, by its lock.
///
/// # Errors
/// The lock file cannot be used.
pub fn owner_pid(home: &Home) -> Result<Option<u32>, HubError> {
    let path: &Path = &home.owner_lock();
    let Ok(mut file) = std::fs::File::open(path) else { return Ok(None) };
    let failed = |source| HubError::Lock { path: path.to_owned(), source };
    if !taken(file.try_lock_shared()).map_err(failed)? {
        return Ok(None);
    }
    let mut pid = String::new();
    let _ = file.read_to_string(&mut pid);
    Ok(Some(pid.trim().parse().unwrap_or(0)))
}

fn taken(locked: Result<(), TryLockError>) -> std::io::Result<bool> {
    match locked {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
