//! What a watched file holds, as far as a change of it must be told.

use std::path::Path;

use patchbay_api::Revision;

use crate::project::source;

/// Largest file whose content is compared, in bytes: more than any reader of settings takes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is none.
    Missing,
    /// It holds what has this revision.
    Revision(Revision),
    /// Something stands there that cannot be read; why.
    Unreadable(String),
}

impl Content {
    /// Looks at a file. Blocks for as long as reading it takes; never waits for a pipe.
    pub(super) fn of(file: &Path) -> Self {
        match source::read(file, MAX_BYTES) {
            Ok(Some(bytes)) => Self::Revision(Revision::of(&bytes)),
            Ok(None) => Self::Missing,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}
