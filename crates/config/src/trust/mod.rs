//! Whether a person has agreed to what a project's files would run, and the question that asks it.
//!
//! Owns the digest, the question's content and `trust.json`. Which files there are and what they say is `project`'s;
//! who asks is the engine's desk.

mod digest;
mod loaders;
mod request;
mod visible;

use std::path::Path;

use patchbay_api::TrustRequest;
use serde::{Deserialize, Serialize};

use crate::home::Home;
use crate::project::Project;
use crate::store::{StoreError, VersionedStore};
pub use loaders::is_loader;
pub use visible::visible;

/// Whether a project's servers may run and its loosening holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustState {
    /// There is nothing that would need trust.
    NotNeeded,
    /// A person agreed to exactly this content at this path.
    Trusted,
    /// A person has to be asked this first.
    Pending(Box<TrustRequest>),
}

/// What is remembered of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// SHA-256 of the content that was agreed to, as 64 hex digits.
    pub digest: String,
}

/// The decisions of the user of this home, in `trust.json`.
#[derive(Debug, Clone)]
pub struct TrustStore {
    home: Home,
    store: VersionedStore<TrustRecord>,
}

impl TrustStore {
    /// The store of this home. Touches nothing yet.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self { home: home.clone(), store: VersionedStore::new(home.dir().join("trust.json"), 1) }
    }

    /// Whether a project is trusted, with the question where it is not. Blocks.
    ///
    /// # Errors
    /// Where the store cannot be read; the project is not trusted then.
    pub fn state(&self, project: &Project) -> Result<TrustState, StoreError> {
        let Some(digest) = digest::digest(project) else {
            return Ok(TrustState::NotNeeded);
        };
        let records = self.store.read()?;
        let known = records.get(&key(&project.dir));
        if known.is_some_and(|record| record.digest == digest) {
            return Ok(TrustState::Trusted);
        }
        Ok(TrustState::Pending(Box::new(request::request(project, digest, known.is_some()))))
    }

    /// Remembers that a person agreed to the content with this digest at this canonical path, in place of what was
    /// agreed to before. Blocks.
    ///
    /// # Errors
    /// Where the store cannot be read or written; nothing is remembered then.
    pub fn trust(&self, path: &Path, digest: &str) -> Result<(), StoreError> {
        self.home.ensure()?;
        self.store.update(|records| {
            records.insert(key(path), TrustRecord { digest: digest.to_owned() });
        })
    }

    /// Forgets what was agreed to at this canonical path. Whether there was anything. Blocks.
    ///
    /// # Errors
    /// Where the store cannot be read or written; nothing is forgotten then.
    pub fn revoke(&self, path: &Path) -> Result<bool, StoreError> {
        self.home.ensure()?;
        self.store.update(|records| records.remove(&key(path)).is_some())
    }
}

/// What the project asks to be trusted with; `None` where it asks for nothing.
#[must_use]
pub fn trust_request(project: &Project) -> Option<TrustRequest> {
    digest::digest(project).map(|digest| request::request(project, digest, false))
}

/// A path as a key. One that is no Unicode is written in hex: two of those must not become one.
fn key(path: &Path) -> String {
    path.to_str().map_or_else(
        || {
            path.as_os_str()
                .as_encoded_bytes()
                .iter()
                .fold("hex:".to_owned(), |key, byte| key + &format!("{byte:02x}"))
        },
        ToOwned::to_owned,
    )
}
