//! A workspace stays open while somebody uses it: users hold leases.

use std::sync::Arc;

use patchbay_api::WorkspaceKey;
use patchbay_engine::Manager;

use crate::workspace::Workspace;

/// Keeps a workspace open. Dropping the last one starts the time until it closes (`close_after_minutes`).
pub struct Lease {
    workspace: Arc<Workspace>,
}

impl Lease {
    pub(crate) fn new(workspace: Arc<Workspace>) -> Self {
        workspace.users_changed(1);
        Self { workspace }
    }

    /// The workspace's servers.
    #[must_use]
    pub fn manager(&self) -> &Arc<Manager> {
        &self.workspace.manager
    }

    /// Which workspace it is.
    #[must_use]
    pub fn key(&self) -> &WorkspaceKey {
        self.workspace.manager.key()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.workspace.users_changed(-1);
    }
}
