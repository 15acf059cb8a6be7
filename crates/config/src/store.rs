//! One small JSON file of decisions and facts, shared by all processes of a home: locked, atomic, versioned.
//!
//! Approvals, trust, protocol eras and recent workspaces are kept so. What the entries mean is their owners'.

use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::error::ConfigError;
use crate::project::source::{self, SourceError};
use crate::write::{self, Replaced};

/// Largest file that is read, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Why a store cannot be used. Nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It holds something that was never written by Patchbay.
    #[error("{}, line {line}, column {column}: {reason}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the reader says.
        reason: String,
    },
    /// It was written by a newer Patchbay.
    #[error("{} has version {found}; this Patchbay knows {known}", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: SourceError,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] ConfigError),
}

impl StoreError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Corrupt { file, .. } => Some(format!(
                "It is left as it is. Repair {}, or move it away to start with an empty one.",
                file.display()
            )),
            Self::Newer { .. } => Some("Use the newest Patchbay with this home.".into()),
            Self::Read { .. } => Some("Check who owns the file and its permissions.".into()),
            Self::Write(error) => error.hint(),
        }
    }
}

/// A file of entries with text keys.
#[derive(Debug)]
pub struct VersionedStore<T> {
    file: PathBuf,
    version: u32,
    entries: PhantomData<fn() -> T>,
}

impl<T> Clone for VersionedStore<T> {
    fn clone(&self) -> Self {
        Self { file: self.file.clone(), version: self.version, entries: PhantomData }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<E> {
    version: u32,
    entries: E,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl<T: Serialize + DeserializeOwned> VersionedStore<T> {
    /// The store in this file; `version` is that of the entries' shape. Touches nothing yet.
    #[must_use]
    pub fn new(file: PathBuf, version: u32) -> Self {
        Self { file, version, entries: PhantomData }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The entries, sorted by key; none where there is no file. Blocks.
    ///
    /// # Errors
    /// Where the file cannot be read, is corrupt, or is of a newer version.
    pub fn read(&self) -> Result<BTreeMap<String, T>, StoreError> {
        self.parse(self.bytes()?.as_deref())
    }

    /// Changes the entries under the store's lock; writes only if they are others afterwards. The folder must
    /// exist. Blocks while another process has the lock.
    ///
    /// # Errors
    /// As [`Self::read`], and where the file cannot be written or changes although it is locked. Nothing is changed
    /// then.
    pub fn update<R>(&self, change: impl FnOnce(&mut BTreeMap<String, T>) -> R) -> Result<R, StoreError> {
        let _lock = write::Lock::acquire(&self.lock_file())?;
        let bytes = self.bytes()?;
        let mut entries = self.parse(bytes.as_deref())?;
        let before = self.text(&entries)?;
        let outcome = change(&mut entries);
        let after = self.text(&entries)?;
        if before != after {
            let target = write::resolve(&self.file)?;
            match write::replace(&target, bytes.as_deref(), after.as_bytes())? {
                Replaced::Done => {}
                Replaced::Foreign => {
                    return Err(ConfigError::Conflict { file: self.file.clone() }.into());
                }
            }
        }
        Ok(outcome)
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>, StoreError> {
        source::read(&self.file, MAX_BYTES)
            .map_err(|source| StoreError::Read { file: self.file.clone(), source })
    }

    fn parse(&self, bytes: Option<&[u8]>) -> Result<BTreeMap<String, T>, StoreError> {
        let Some(bytes) = bytes else {
            return Ok(BTreeMap::new());
        };
        let corrupt = |error: serde_json::Error| StoreError::Corrupt {
            file: self.file.clone(),
            line: error.line(),
            column: error.column(),
            reason: reason(&error),
        };
        // The version first: a newer shape must be called newer, not corrupt.
        let Version { version } = serde_json::from_slice(bytes).map_err(corrupt)?;
        if version > self.version {
            return Err(StoreError::Newer { file: self.file.clone(), found: version, known: self.version });
        }
        let content: Content<BTreeMap<String, T>> = serde_json::from_slice(bytes).map_err(corrupt)?;
        Ok(content.entries)
    }

    fn lock_file(&self) -> PathBuf {
        self.file.with_extension("lock")
    }

    fn text(&self, entries: &BTreeMap<String, T>) -> Result<String, StoreError> {
        let content = Content { version: self.version, entries };
        match serde_json::to_string_pretty(&content) {
            Ok(text) => Ok(text + "\n"),
            Err(error) => {
                let error = ConfigError::Io {
                    path: self.file.clone(),
                    action: "write",
                    source: io::Error::other(error),
                };
                Err(error.into())
            }
        }
    }
}

/// The reader's words without the place, which stands in front of them already.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}
