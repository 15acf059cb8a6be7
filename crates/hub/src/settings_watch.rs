//! Edits from outside: the global file, the open workspaces' project files and the trust store are watched, and what
//! changed takes the same road as an edit of our own.

use std::path::PathBuf;
use std::sync::Arc;

use patchbay_config::Watch;
use patchbay_records::{AuditEvent, SettingsAction};

use crate::Shared;
use crate::workspace::blocking;

/// Follows the files until the owner stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut watch = Watch::new();
    loop {
        watch.set(files(&shared)).await;
        // What changed between an earlier reading and the watch is found by reading once more.
        take_all(&shared).await;
        loop {
            tokio::select! {
                // Our own readings may have seen what the watch never did: whatever happened, look again.
                _ = watch.stirred() => take_all(&shared).await,
                () = shared.rewatch.notified() => break,
                () = shared.stopping.cancelled() => return,
            }
        }
    }
}

fn files(shared: &Shared) -> Vec<PathBuf> {
    let projects = shared.workspaces.all().into_iter().flat_map(|workspace| workspace.watched_files());
    [shared.home.settings(), shared.home.dir().join("trust.json")].into_iter().chain(projects).collect()
}

async fn take_all(shared: &Arc<Shared>) {
    let reading = Arc::clone(shared);
    let changed = blocking(move || reading.global.reload()).await;
    let spread = match changed {
        Ok(changed) => {
            if changed {
                let (settings, broken) = shared.global.now();
                if broken.is_none() {
                    let file = settings.file.display().to_string();
                    let action = SettingsAction::Edited;
                    shared.audit(AuditEvent::SettingsChange {
                        file,
                        revision: settings.revision,
                        action,
                        server: None,
                    });
                }
            }
            shared.spread().await
        }
        Err(error) => Err(error),
    };
    if let Err(error) = spread {
        tracing::error!(%error, "changed settings could not be taken");
    }
}
