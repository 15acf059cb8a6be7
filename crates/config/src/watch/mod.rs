//! Telling that a watched file changed, however it was saved.
//!
//! Owns which folders are watched, the short wait that gathers the notices of one save, and telling our own writes
//! from others' by content. What a change means is the hub's.
//!
//! Folders are watched, not files: editors replace files. A folder that does not exist yet is awaited in the one
//! above; links are followed, and a link that is turned elsewhere counts as a change. Where the system cannot watch
//! (its watches are used up, or the folder may not be read) all files are compared every [`POLL_INTERVAL`] instead.

mod backend;
mod content;
mod trail;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use patchbay_api::Revision;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use backend::{Backend, Bell};
pub use content::Content;
use trail::trail;

/// How long notices are gathered before the files are compared: one save makes several.
pub const DEBOUNCE: Duration = Duration::from_millis(50);

/// How often files are compared where the system cannot watch.
pub const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long a file must be gone before that is told: some programs save by deleting and writing anew.
pub const GONE_AFTER: Duration = Duration::from_millis(200);

/// A file whose content is another than it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path under which it is watched.
    pub file: PathBuf,
    /// What stands there now.
    pub content: Content,
}

/// The watched files.
type Known = HashMap<PathBuf, Seen>;

/// What is known of a file.
#[derive(Debug, Default)]
struct Seen {
    /// What it held when last told or written by ourselves; `None` until it is looked at.
    content: Option<Content>,
    /// Since when it is gone, untold.
    gone: Option<Instant>,
}

/// A watch over some files. Dropping it ends it.
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Bell>,
    known: Arc<Mutex<Known>>,
    /// `None` while a comparison has them.
    folders: Option<Folders>,
    comparing: Option<JoinHandle<(Folders, Compared)>>,
    due: Option<Instant>,
    changes: VecDeque<Change>,
}

impl Watch {
    /// A watch over no files yet.
    #[must_use]
    pub fn new() -> Self {
        let bell = Arc::new(Bell::default());
        let backend = backend::system(&bell);
        Self::with_backend(bell, backend)
    }

    fn with_backend(bell: Arc<Bell>, backend: notify::Result<Box<dyn Backend>>) -> Self {
        let folders = Folders::new(Arc::clone(&bell), backend);
        Self {
            bell,
            known: Arc::default(),
            folders: Some(folders),
            comparing: None,
            due: None,
            changes: VecDeque::new(),
        }
    }

    /// Watches these files and no others; paths must be absolute. Read the files after this, not before: what
    /// changes from here on is told, also for files that were watched already.
    pub async fn set(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.settle().await;
        let files: HashSet<PathBuf> = files.into_iter().collect();
        self.changes.retain(|change| files.contains(&change.file));
        {
            let mut known = lock(&self.known);
            known.retain(|file, _| files.contains(file));
            for file in files {
                known.entry(file).or_default();
            }
        }
        self.compare();
        self.settle().await;
    }

    /// Waits for the next change. Cancel-safe: a change is told once, to a call that runs to its end.
    pub async fn changed(&mut self) -> Change {
        loop {
            self.settle().await;
            if let Some(change) = self.changes.pop_front() {
                return change;
            }
            self.stir().await;
            self.compare();
        }
    }

    /// Waits until something happened around the files, and tells which hold another content: perhaps none, if they
    /// are as they were again. For whoever also reads the files on other occasions, and so may know a content that
    /// this watch never saw. Cancel-safe.
    pub async fn stirred(&mut self) -> Vec<Change> {
        if self.comparing.is_none() {
            self.stir().await;
            self.compare();
        }
        self.settle().await;
        self.changes.drain(..).collect()
    }

    /// Waits until a comparison is due.
    async fn stir(&mut self) {
        match self.polling() {
            None => {
                self.bell.rung().await;
                let due = *self.due.get_or_insert_with(|| Instant::now() + DEBOUNCE);
                tokio::time::sleep_until(due).await;
            }
            Some(interval) => {
                let due = *self.due.get_or_insert_with(|| Instant::now() + interval);
                tokio::time::sleep_until(due).await;
            }
        }
        self.due = None;
    }

    /// The interval in which files are compared, where the system cannot watch.
    #[must_use]
    pub fn polling(&self) -> Option<Duration> {
        self.folders.as_ref().filter(|folders| folders.backend.is_none()).map(|_| POLL_INTERVAL)
    }

    /// A handle to make writes through that this watch does not tell of.
    #[must_use]
    pub fn own_writes(&self) -> OwnWrites {
        OwnWrites { known: Arc::clone(&self.known) }
    }

    /// Starts to compare all files with what is known of them.
    fn compare(&mut self) {
        let Some(mut folders) = self.folders.take() else {
            return;
        };
        let known = Arc::clone(&self.known);
        // What happens from here on rings again.
        self.bell.silence();
        self.comparing = Some(tokio::task::spawn_blocking(move || {
            let files: Vec<PathBuf> = lock(&known).keys().cloned().collect();
            folders.follow(&files);
            let compared = differing(&mut lock(&known), Instant::now());
            (folders, compared)
        }));
    }

    /// Waits for a comparison that runs.
    async fn settle(&mut self) {
        let Some(comparing) = &mut self.comparing else {
            return;
        };
        let outcome = comparing.await;
        self.comparing = None;
        match outcome {
            Ok((folders, compared)) => {
                self.folders = Some(folders);
                self.changes.extend(compared.changes);
                if compared.waiting {
                    self.due = Some(Instant::now() + GONE_AFTER);
                    self.bell.ring();
                }
            }
            // The runtime is shutting down, or the comparison broke and took the watcher along: poll from now on.
            Err(_) => {
                let backend = Err(notify::Error::generic("comparing ended early"));
                self.folders = Some(Folders::new(Arc::clone(&self.bell), backend));
            }
        }
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

/// What a comparison finds.
#[derive(Debug, Default)]
struct Compared {
    changes: Vec<Change>,
    /// Whether a file is gone that may come back any moment.
    waiting: bool,
}

fn differing(known: &mut Known, now: Instant) -> Compared {
    let mut compared = Compared::default();
    for (file, seen) in known.iter_mut() {
        let content = Content::of(file);
        let before = seen.content.as_ref();
        if content == Content::Missing && before.is_some_and(|before| *before != Content::Missing) {
            let gone = *seen.gone.get_or_insert(now);
            if now.duration_since(gone) < GONE_AFTER {
                compared.waiting = true;
                continue;
            }
        }
        seen.gone = None;
        if before.is_some_and(|before| *before != content) {
            compared.changes.push(Change { file: file.clone(), content: content.clone() });
        }
        seen.content = Some(content);
    }
    compared.changes.sort_by(|a, b| a.file.cmp(&b.file));
    compared
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes writes that the watch knows as its own.
#[derive(Debug, Clone)]
pub struct OwnWrites {
    known: Arc<Mutex<Known>>,
}

impl OwnWrites {
    /// Runs a write of `file` that answers the new content's revision; the watch tells nothing of it. Comparing
    /// waits meanwhile, so keep it short. Blocks.
    ///
    /// # Errors
    /// What the write says.
    pub fn write<E>(&self, file: &Path, write: impl FnOnce() -> Result<Revision, E>) -> Result<Revision, E> {
        let mut known = lock(&self.known);
        let revision = write()?;
        if let Some(seen) = known.get_mut(file) {
            *seen = Seen { content: Some(Content::Revision(revision.clone())), gone: None };
        }
        Ok(revision)
    }
}

/// The folders that are watched.
struct Folders {
    bell: Arc<Bell>,
    /// `None`: polling.
    backend: Option<Box<dyn Backend>>,
    watched: HashSet<PathBuf>,
}

impl std::fmt::Debug for Folders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folders").field("watched", &self.watched).finish_non_exhaustive()
    }
}

impl Folders {
    fn new(bell: Arc<Bell>, backend: notify::Result<Box<dyn Backend>>) -> Self {
        Self { bell, backend: backend.ok(), watched: HashSet::new() }
    }

    /// Watches what tells of these files. Falls back to polling where the system refuses.
    fn follow(&mut self, files: &[PathBuf]) {
        // A folder can appear or be exchanged while watches are set: look again until nothing is new. Somebody who
        // exchanges them all the time is told of at the next ring.
        for _ in 0..4 {
            let entries: HashSet<_> = files.iter().flat_map(|file| trail(file)).collect();
            let dirs: HashSet<PathBuf> = entries.iter().map(|entry| entry.dir.clone()).collect();
            self.bell.attend(entries.into_iter().map(|entry| entry.dir.join(entry.name)), &dirs);
            if !self.watch_only(&dirs) {
                return;
            }
        }
    }

    /// Watches these folders alone. Whether any watch is new.
    fn watch_only(&mut self, dirs: &HashSet<PathBuf>) -> bool {
        let Some(backend) = &mut self.backend else {
            return false;
        };
        let stale = self.bell.stale();
        let (kept, gone) = std::mem::take(&mut self.watched)
            .into_iter()
            .partition(|dir| dirs.contains(dir) && !stale.as_ref().is_none_or(|stale| stale.contains(dir)));
        self.watched = kept;
        for dir in gone {
            backend.unwatch(&dir);
        }
        let mut new = false;
        for dir in dirs.iter().filter(|dir| !self.watched.contains(*dir)).cloned().collect::<Vec<_>>() {
            match backend.watch(&dir) {
                Ok(()) => {
                    self.watched.insert(dir);
                }
                // It went meanwhile: the next look finds where to wait for it.
                Err(_) if !dir.is_dir() => {}
                Err(_) => {
                    self.backend = None;
                    self.watched.clear();
                    return false;
                }
            }
            new = true;
        }
        new
    }
}

#[cfg(test)]
mod tests;
