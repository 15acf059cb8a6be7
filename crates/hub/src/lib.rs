//! The owner of a home: its lock, its open workspaces, the settings in force, the snapshot that everyone sees, and
//! the order in which everything stops.
//!
//! Guests reach it through [`Handle`], one implementation per command; who may be a guest is `control`'s business.

mod error;
mod global;
mod handle;
mod lease;
mod open;
mod options;
mod project;
mod publish;
mod sample;
mod settings_watch;
mod trust;
mod workspace;

use std::path::Path;
use std::sync::Arc;

use patchbay_api::{ApiError, Snapshot, WorkspaceKey};
use patchbay_config::Home;
use tokio::sync::watch;

pub use error::HubError;
pub use handle::Handle;
pub use lease::Lease;
pub use open::owner_pid;
pub use options::{HostRequest, HubOptions};
pub use patchbay_engine::LOOK_EVERY;

use global::Global;
use publish::Publisher;
use workspace::Workspaces;

/// An owner, or a command that works alone. Cheap to clone; [`Hub::stop`] ends it.
#[derive(Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) home: Home,
    pub(crate) options: HubOptions,
    pub(crate) global: Global,
    pub(crate) workspaces: Workspaces,
    pub(crate) runtime: patchbay_engine::Runtime,
    pub(crate) desk: patchbay_engine::Desk,
    pub(crate) secrets: Arc<patchbay_secrets::SecretStore>,
    publisher: Publisher,
    /// Rings when other files are to be watched.
    rewatch: tokio::sync::Notify,
    tasks: tokio_util::task::TaskTracker,
    stopping: tokio_util::sync::CancellationToken,
    /// Held for as long as the owner lives; the system lets go of it however the process ends.
    _lock: Option<std::fs::File>,
}

impl Hub {
    /// The snapshot and its changes.
    #[must_use]
    pub fn snapshots(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.shared.publisher.subscribe()
    }

    /// The home that it owns.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.shared.home
    }

    /// The secret store of the home.
    #[must_use]
    pub fn secrets(&self) -> &patchbay_secrets::SecretStore {
        &self.shared.secrets
    }

    /// Cancelled when the owner begins to stop: intake ends then.
    #[must_use]
    pub fn stopping(&self) -> tokio_util::sync::CancellationToken {
        self.shared.stopping.clone()
    }

    /// Opens a folder as a workspace, or the workspace without one, for as long as the lease lives.
    ///
    /// # Errors
    /// The folder does not exist.
    pub async fn lease(&self, path: Option<&Path>) -> Result<Lease, ApiError> {
        Workspaces::open(&self.shared, path).await
    }

    /// Leases a workspace that is open.
    ///
    /// # Errors
    /// It is not open.
    pub fn lease_open(&self, key: &WorkspaceKey) -> Result<Lease, ApiError> {
        self.shared.workspaces.lease(key)
    }
}
