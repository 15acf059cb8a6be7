//! Nothing is left behind here, so nothing is recorded.

use std::path::Path;

use crate::ExecError;

/// Nobody.
pub(crate) fn reap(_dir: &Path) -> Result<Vec<String>, ExecError> {
    Ok(Vec::new())
}
