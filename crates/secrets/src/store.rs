//! Where secrets are kept. One type in front of every back end.

use std::path::Path;

use patchbay_api::Scope;

use crate::{Secret, SecretError, file_store::FileStore};

/// Longest name, in characters.
const MAX_NAME: usize = 512;
/// Longest value, in bytes. A sign-in with its tokens has some thousands.
const MAX_VALUE: usize = 1 << 20;

/// The secret store. Cheap to clone. Its calls block (files, locks): not for async code as they are.
#[derive(Debug, Clone)]
pub struct SecretStore(Backend);

#[derive(Debug, Clone)]
enum Backend {
    File(FileStore),
}

impl SecretStore {
    /// The owner-only file in this home. Nothing is touched before the first use.
    #[must_use]
    pub fn file(home: &Path) -> Self {
        Self(Backend::File(FileStore::new(home)))
    }

    /// Where the secrets are, for people: they are told plainly when it is a file.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.0 {
            Backend::File(store) => {
                format!("the file {}, readable by its owner only", store.file().display())
            }
        }
    }

    /// A secret; `None` where there is none of this name in this scope.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn get(&self, scope: &Scope, name: &str) -> Result<Option<Secret>, SecretError> {
        match &self.0 {
            Backend::File(store) => store.get(scope.as_str(), name),
        }
    }

    /// Keeps a secret, in place of an older one of its name.
    ///
    /// # Errors
    /// The name or the value cannot be kept, or the store cannot be read or written; then nothing has changed.
    pub fn set(&self, scope: &Scope, name: &str, value: &Secret) -> Result<(), SecretError> {
        let length = name.chars().count();
        if !(1..=MAX_NAME).contains(&length) || name.chars().any(char::is_control) {
            return Err(SecretError::Name { name: name.chars().take(MAX_NAME).collect() });
        }
        let length = value.expose().len();
        if length > MAX_VALUE {
            return Err(SecretError::TooLong { name: name.to_owned(), length, limit: MAX_VALUE });
        }
        match &self.0 {
            Backend::File(store) => store.set(scope.as_str(), name, value),
        }
    }

    /// Forgets a secret; says whether there was one.
    ///
    /// # Errors
    /// The store cannot be read or written; then nothing has changed.
    pub fn remove(&self, scope: &Scope, name: &str) -> Result<bool, SecretError> {
        match &self.0 {
            Backend::File(store) => store.remove(scope.as_str(), name),
        }
    }

    /// The names of a scope's secrets, sorted.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn names(&self, scope: &Scope) -> Result<Vec<String>, SecretError> {
        match &self.0 {
            Backend::File(store) => store.names(scope.as_str()),
        }
    }
}
