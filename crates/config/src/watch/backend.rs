//! The system's notices about folders, behind a small interface; and which of them concern us.
//!
//! On macOS (FSEvents) and Windows (ReadDirectoryChangesW) this has not been run here.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// Watches folders, not what lies below their entries.
pub(super) trait Backend: Send {
    /// Starts to tell of a folder.
    fn watch(&mut self, dir: &Path) -> notify::Result<()>;
    /// No longer tells of a folder; one that is gone already is fine.
    fn unwatch(&mut self, dir: &Path);
}

impl Backend for RecommendedWatcher {
    fn watch(&mut self, dir: &Path) -> notify::Result<()> {
        notify::Watcher::watch(self, dir, RecursiveMode::NonRecursive)
    }

    fn unwatch(&mut self, dir: &Path) {
        // Fails only where the folder went and took its watch along.
        _ = notify::Watcher::unwatch(self, dir);
    }
}

/// The system's own watcher, which rings the bell. It runs one thread.
pub(super) fn system(bell: &Arc<Bell>) -> notify::Result<Box<dyn Backend>> {
    let bell = Arc::clone(bell);
    let handler = move |event: notify::Result<Event>| bell.hear(&event);
    Ok(Box::new(RecommendedWatcher::new(handler, notify::Config::default())?))
}

/// Rings when something happened to one of the paths of interest.
#[derive(Debug, Default)]
pub(super) struct Bell {
    /// Never held while a backend is called: its thread may be waiting in [`Bell::hear`] for it.
    interest: Mutex<Interest>,
    rung: AtomicBool,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Interest {
    /// Names whose appearing, going or changing counts.
    paths: HashSet<PathBuf>,
    /// The folders that are watched.
    dirs: HashSet<PathBuf>,
    /// Those of them that came, went or were renamed: another may stand at their path, without a watch.
    stale: HashSet<PathBuf>,
    /// Notices were lost.
    all_stale: bool,
}

impl Bell {
    /// From now on, only these paths and folders count.
    pub fn attend(&self, paths: impl Iterator<Item = PathBuf>, dirs: &HashSet<PathBuf>) {
        let mut interest = self.interest();
        interest.paths = paths.map(fold).collect();
        interest.dirs = dirs.iter().cloned().map(fold).collect();
    }

    /// The watched folders that have to be watched anew since the last time this was asked; `None`: all.
    pub fn stale(&self) -> Option<HashSet<PathBuf>> {
        let mut interest = self.interest();
        let stale = std::mem::take(&mut interest.stale);
        (!std::mem::take(&mut interest.all_stale)).then_some(stale)
    }

    /// Takes a notice in. Runs on the backend's thread.
    pub fn hear(&self, notice: &notify::Result<Event>) {
        let mut interest = self.interest();
        let concerns = match notice {
            Ok(event) if !event.need_rescan() => interest.take_in(event),
            _ => {
                interest.all_stale = true;
                true
            }
        };
        drop(interest);
        if concerns {
            self.ring();
        }
    }

    fn interest(&self) -> MutexGuard<'_, Interest> {
        self.interest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rings it.
    pub fn ring(&self) {
        self.rung.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Silences it, until it rings again.
    pub fn silence(&self) {
        self.rung.store(false, Ordering::SeqCst);
    }

    /// Whether it has rung since it was silenced.
    pub fn is_rung(&self) -> bool {
        self.rung.load(Ordering::SeqCst)
    }

    /// Waits until it has rung. Cancel-safe: it stays rung until silenced.
    pub async fn rung(&self) {
        while !self.is_rung() {
            self.wake.notified().await;
        }
    }
}

impl Interest {
    fn take_in(&mut self, event: &Event) -> bool {
        let replaces = match event.kind {
            // Reading is no change; our own reading above all.
            EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write) => return false,
            EventKind::Create(_)
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Any => true,
            _ => false,
        };
        let mut concerns = false;
        for path in event.paths.iter().cloned().map(fold) {
            concerns |= self.paths.contains(&path);
            if replaces && self.dirs.contains(&path) {
                concerns = true;
                self.stale.insert(path);
            }
        }
        concerns
    }
}

/// File systems outside Linux mostly know no difference of capitals, and notices come in either.
fn fold(path: PathBuf) -> PathBuf {
    if cfg!(target_os = "linux") { path } else { path.to_string_lossy().to_lowercase().into() }
}
