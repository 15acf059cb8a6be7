//! The global settings in force. A file that cannot be taken as it is leaves the last good state in force.

use std::sync::{Mutex, MutexGuard, PoisonError};

use patchbay_api::{ApiError, BrokenFile, ErrorCode, Place, Revision};
use patchbay_config::{ConfigError, ConfigSnapshot, Edit, Entry, Home, SettingsStore};

/// The settings store and what holds of it.
pub(crate) struct Global {
    store: SettingsStore,
    state: Mutex<State>,
}

#[derive(Clone)]
struct State {
    in_force: ConfigSnapshot,
    broken: Option<BrokenFile>,
}

impl Global {
    /// Reads the file for the first time.
    ///
    /// # Errors
    /// `strict`: whatever is wrong with it. Else only what makes even an empty start impossible.
    pub(crate) fn open(home: &Home, strict: bool) -> Result<Self, ConfigError> {
        let store = SettingsStore::new(home);
        let (in_force, broken) = match store.read() {
            Ok(snapshot) => {
                if strict {
                    snapshot.strict()?;
                }
                (snapshot, None)
            }
            Err(error) if strict => return Err(error),
            Err(error) => (ConfigSnapshot::parse(store.file(), b"")?, Some(broken(&store, &error))),
        };
        Ok(Self { store, state: Mutex::new(State { in_force, broken }) })
    }

    /// The settings in force, and why the file on disk is not, where it is not.
    pub(crate) fn now(&self) -> (ConfigSnapshot, Option<BrokenFile>) {
        let state = self.lock();
        (state.in_force.clone(), state.broken.clone())
    }

    /// Reads the file again; `true` when something changed. A wrong change changes nothing (MCP-45).
    pub(crate) fn reload(&self) -> bool {
        let read = self.store.read();
        let mut state = self.lock();
        let next = match read {
            Ok(snapshot) => match spoiled(&state.in_force, &snapshot) {
                None => State { in_force: snapshot, broken: None },
                Some(broken) => State { broken: Some(broken), ..state.clone() },
            },
            Err(error) => State { broken: Some(broken(&self.store, &error)), ..state.clone() },
        };
        let changed = next.in_force != state.in_force || next.broken != state.broken;
        *state = next;
        changed
    }

    /// Edits the file in place and takes the result. Blocks on the disk.
    ///
    /// # Errors
    /// The edit is wrong or stale, or the file on disk is not in force: nothing was written then.
    pub(crate) fn edit(&self, base: Option<&Revision>, edit: &Edit) -> Result<Revision, ApiError> {
        self.reload();
        if let Some(broken) = self.lock().broken.clone() {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("the settings file is not in force: {}", broken.reason),
            )
            .place(broken.place)
            .hint("put it right in an editor first; nothing was written"));
        }
        let snapshot = self.store.edit(base, edit).map_err(|error| error.to_api())?;
        let revision = snapshot.revision.clone();
        self.lock().in_force = snapshot;
        Ok(revision)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn broken(store: &SettingsStore, error: &ConfigError) -> BrokenFile {
    let error = error.to_api();
    let file = || Place { file: store.file().display().to_string(), line: None, column: None };
    BrokenFile { reason: error.message, place: error.place.unwrap_or_else(file) }
}

/// What a changed file makes wrong that was not wrong before, if anything. Entries that were invalid already are
/// carried along and block nobody.
fn spoiled(before: &ConfigSnapshot, after: &ConfigSnapshot) -> Option<BrokenFile> {
    let invalid = |snapshot: &ConfigSnapshot| -> Vec<_> {
        let entries = snapshot.servers.iter();
        entries
            .filter_map(
                |entry| if let Entry::Invalid(invalid) = entry { Some(invalid.clone()) } else { None },
            )
            .collect()
    };
    let old = invalid(before);
    let known = |one: &patchbay_api::InvalidServer| {
        old.iter().any(|old| (&old.name, &old.field, &old.reason) == (&one.name, &one.field, &one.reason))
    };
    let new = invalid(after).into_iter().find(|one| !known(one))?;
    Some(BrokenFile { reason: new.reason, place: new.place })
}
