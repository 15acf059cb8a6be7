//! Open workspaces: each with its manager, its part of the settings, and the moment when it closes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use patchbay_api::{ApiError, ErrorCode, WorkspaceKey, WorkspaceState};
use patchbay_config::{ConfigSnapshot, ProjectFiles};
use patchbay_engine::Manager;
use tokio::time::Instant;

use crate::project::resolve;
use crate::trust::Asking;
use crate::{Lease, Shared};

/// The open workspaces.
#[derive(Default)]
pub(crate) struct Workspaces {
    open: Mutex<HashMap<WorkspaceKey, Arc<Workspace>>>,
}

/// One open workspace.
pub(crate) struct Workspace {
    pub(crate) manager: Arc<Manager>,
    /// Its folder, canonical; `None` for the one without.
    pub(crate) path: Option<PathBuf>,
    /// Held while the settings are taken, so that the last taken are the last read.
    files: Mutex<Option<ProjectFiles>>,
    pub(crate) asking: Asking,
    usage: Mutex<Usage>,
    problems: Mutex<Vec<String>>,
    shared: Weak<Shared>,
}

struct Usage {
    users: u32,
    last: Instant,
}

impl Workspaces {
    /// Opens a folder, or takes the lease of it if it is open.
    pub(crate) async fn open(shared: &Arc<Shared>, path: Option<&Path>) -> Result<Lease, ApiError> {
        let (key, files) = match path.map(Path::to_owned) {
            None => (WorkspaceKey::none(), None),
            Some(path) => {
                let files = blocking(move || open_project(&path)).await??;
                (WorkspaceKey::of(files.dir()), Some(files))
            }
        };
        if let Ok(lease) = shared.workspaces.lease(&key) {
            return Ok(lease);
        }
        let fresh = Arc::new(Workspace::new(shared, key.clone(), files));
        // Its servers are known before anybody can see it.
        fresh.refresh(shared).await?;
        let lease = {
            let mut open = shared.workspaces.lock();
            Lease::new(Arc::clone(open.entry(key).or_insert_with(|| Arc::clone(&fresh))))
        };
        if std::ptr::eq(Arc::as_ptr(lease.manager()), Arc::as_ptr(&fresh.manager)) {
            follow(shared, &fresh);
        }
        shared.watched();
        shared.touch();
        Ok(lease)
    }

    /// A lease of an open workspace.
    pub(crate) fn lease(&self, key: &WorkspaceKey) -> Result<Lease, ApiError> {
        let open = self.lock();
        let workspace = open.get(key).ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, format!("no workspace with the key {key} is open"))
                .hint("open its folder first")
        })?;
        Ok(Lease::new(Arc::clone(workspace)))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Workspace>> {
        self.lock().values().cloned().collect()
    }

    /// Takes out what nobody has used for `close_after`; the caller ends it.
    pub(crate) fn take_idle(&self, close_after: Duration) -> Vec<Arc<Workspace>> {
        let mut open = self.lock();
        let idle: Vec<WorkspaceKey> = open
            .iter()
            .filter(|(_, one)| one.idle_for() >= Some(close_after))
            .map(|(key, _)| key.clone())
            .collect();
        idle.iter().filter_map(|key| open.remove(key)).collect()
    }

    /// Takes all out; the caller ends them.
    pub(crate) fn take_all(&self) -> Vec<Arc<Workspace>> {
        self.lock().drain().map(|(_, one)| one).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkspaceKey, Arc<Workspace>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of the project in this folder.
pub(crate) fn open_project(path: &Path) -> Result<ProjectFiles, ApiError> {
    if !path.is_dir() {
        let what = if path.exists() { "is not a folder" } else { "does not exist" };
        let code = if path.exists() { ErrorCode::Invalid } else { ErrorCode::NotFound };
        return Err(ApiError::new(code, format!("{} {what}", path.display())).field("path"));
    }
    ProjectFiles::new(path).map_err(|error| error.to_api().field("path"))
}

/// Runs what blocks on the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))
}

/// Makes the snapshot follow a workspace's changes.
fn follow(shared: &Arc<Shared>, workspace: &Arc<Workspace>) {
    let mut changes = workspace.manager.changes();
    let (weak, stopping) = (Arc::downgrade(shared), shared.stopping.clone());
    shared.tasks.spawn(async move {
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = stopping.cancelled() => return,
            }
            let Some(shared) = weak.upgrade() else { return };
            shared.touch();
        }
    });
}

impl Workspace {
    fn new(shared: &Arc<Shared>, key: WorkspaceKey, files: Option<ProjectFiles>) -> Self {
        let path = files.as_ref().map(|files| files.dir().to_owned());
        let cwd = path.clone().unwrap_or_else(|| std::env::home_dir().unwrap_or_else(std::env::temp_dir));
        let manager = Arc::new(Manager::new(key, cwd, shared.runtime.clone(), shared.options.stop_steps));
        Self {
            manager,
            path,
            files: Mutex::new(files),
            asking: Asking::default(),
            usage: Mutex::new(Usage { users: 0, last: Instant::now() }),
            problems: Mutex::default(),
            shared: Arc::downgrade(shared),
        }
    }

    /// Reads the project's files and takes what holds now.
    pub(crate) async fn refresh(self: &Arc<Self>, shared: &Arc<Shared>) -> Result<(), ApiError> {
        let (this, owner) = (Arc::clone(self), Arc::clone(shared));
        let pending = blocking(move || this.take(&owner)).await?;
        self.asking.about(shared, self, pending);
        shared.touch();
        Ok(())
    }

    fn take(&self, shared: &Shared) -> Option<patchbay_api::TrustRequest> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (global, _): (ConfigSnapshot, _) = shared.global.now();
        let project = files.as_mut().map(|files| files.read(global.settings.mcp.legacy_sse));
        let resolved = resolve(&shared.home, &global, self.path.as_deref(), project.as_ref());
        for wanted in &resolved.desired.servers {
            shared.runtime.redactor.learn_server(&wanted.config.to_draft());
        }
        self.manager.update(resolved.desired);
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner) = resolved.problems;
        resolved.pending
    }

    /// The project's files, for the watch.
    pub(crate) fn watched_files(&self) -> Vec<PathBuf> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.as_ref().map(ProjectFiles::paths).unwrap_or_default()
    }

    pub(crate) fn users_changed(&self, by: i32) {
        {
            let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
            usage.users = usage.users.saturating_add_signed(by);
            usage.last = Instant::now();
        }
        if let Some(shared) = self.shared.upgrade() {
            shared.touch();
        }
    }

    /// How long nobody has used it; `None` while somebody does.
    fn idle_for(&self) -> Option<Duration> {
        let usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        (usage.users == 0).then(|| usage.last.elapsed())
    }

    pub(crate) fn state(&self) -> WorkspaceState {
        let users = self.usage.lock().unwrap_or_else(PoisonError::into_inner).users;
        WorkspaceState {
            key: self.manager.key().clone(),
            path: self.path.as_ref().map(|path| path.display().to_string()),
            users,
            servers: self.manager.statuses(),
            problems: self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
