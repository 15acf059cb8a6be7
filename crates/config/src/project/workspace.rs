//! Which folder is the workspace of a command that names none.

use std::path::{Path, PathBuf};

/// What marks a folder as a workspace.
const MARKERS: [&str; 4] = [".patchbay", ".mcp.json", ".agents", ".git"];

/// The nearest folder from `start` upwards that holds `.patchbay`, `.mcp.json`, `.agents` or `.git`, else `start`.
///
/// The root folder and the home folder are no workspaces: `None` stands for the global servers only.
#[must_use]
pub fn workspace_of(start: &Path, home: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().unwrap_or_else(|_| start.to_path_buf());
    let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
    let marked = |dir: &&Path| MARKERS.iter().any(|marker| dir.join(marker).symlink_metadata().is_ok());
    let found = start.ancestors().find(marked).unwrap_or(&start);
    (found.parent().is_some() && found != home).then(|| found.to_path_buf())
}
