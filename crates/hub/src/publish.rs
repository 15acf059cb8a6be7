//! The merged snapshot: rebuilt when something changed, numbered when it differs.

use std::sync::Arc;

use patchbay_api::{
    ConfigState, OwnerInfo, ServerState, ServerStatus, ServerSummary, Snapshot, TransportKind, WorkspaceState,
};
use patchbay_config::Entry;
use patchbay_secrets::{Redactor, mask};
use tokio::sync::watch;

use crate::Shared;

/// Holds the current snapshot; the only place that numbers it.
pub(crate) struct Publisher {
    sender: watch::Sender<Arc<Snapshot>>,
    /// Rings when a rebuild is due.
    dirty: watch::Sender<u32>,
}

impl Publisher {
    pub(crate) fn new(first: Snapshot) -> Self {
        Self { sender: watch::channel(Arc::new(first)).0, dirty: watch::channel(0).0 }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.sender.subscribe()
    }

    pub(crate) fn now(&self) -> Arc<Snapshot> {
        Arc::clone(&self.sender.borrow())
    }

    /// Asks for a rebuild; what is asked for while one runs is in the next.
    pub(crate) fn touch(&self) {
        self.dirty.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn due(&self) -> watch::Receiver<u32> {
        self.dirty.subscribe()
    }

    /// Publishes what holds now, if it differs from what was published.
    pub(crate) fn publish(&self, shared: &Shared) {
        self.sender.send_if_modified(|current| {
            let mut next = build(shared, current.owner.clone());
            next.revision = current.revision;
            if next == **current {
                return false;
            }
            next.revision = current.revision.wrapping_add(1);
            *current = Arc::new(next);
            true
        });
    }
}

/// The first snapshot, before anything is open.
pub(crate) fn empty(owner: OwnerInfo, config: ConfigState) -> Snapshot {
    Snapshot { revision: 1, owner, config, workspaces: Vec::new(), questions: Vec::new() }
}

fn build(shared: &Shared, owner: OwnerInfo) -> Snapshot {
    let mut workspaces: Vec<WorkspaceState> =
        shared.workspaces.all().iter().map(|open| open.state()).collect();
    workspaces.sort_by(|a, b| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
    let mut config = config_state(&shared.global, &shared.runtime.redactor);
    for server in &mut config.servers {
        let worst =
            workspaces.iter().flat_map(|open| &open.servers).filter(|status| is_global(status, server));
        if let Some(status) = worst.max_by_key(|status| urgency(status.state)) {
            (server.state, server.cause) = (Some(status.state), status.cause.clone());
        }
    }
    Snapshot { revision: 0, owner, config, workspaces, questions: shared.desk.open() }
}

fn is_global(status: &ServerStatus, server: &ServerSummary) -> bool {
    status.id.scope == patchbay_api::Scope::Global && Some(&status.id.name) == server.name.as_ref()
}

/// Which state of several is the one to show: the one that needs attention most.
fn urgency(state: ServerState) -> u8 {
    match state {
        ServerState::Failed | ServerState::Invalid => 9,
        ServerState::NeedsSignIn => 8,
        ServerState::Paused => 7,
        ServerState::PendingTrust => 6,
        ServerState::Stopping => 5,
        ServerState::Connecting => 4,
        ServerState::Connected => 3,
        ServerState::Idle => 2,
        ServerState::Disabled => 1,
    }
}

/// The settings as everyone sees them, secrets masked.
pub(crate) fn config_state(global: &crate::global::Global, redactor: &Redactor) -> ConfigState {
    let (snapshot, broken) = global.now();
    let servers = snapshot.servers.iter().map(|entry| summary(entry, redactor)).collect();
    ConfigState {
        revision: snapshot.revision,
        file: snapshot.file.display().to_string(),
        broken,
        servers,
        warnings: snapshot.warnings,
    }
}

fn summary(entry: &Entry, redactor: &Redactor) -> ServerSummary {
    match entry {
        Entry::Valid(config) => {
            let shown = mask(&config.to_draft(), redactor);
            let line = match config.kind() {
                TransportKind::Stdio => {
                    command_line(shown.command.as_deref().unwrap_or_default(), &shown.args)
                }
                TransportKind::Http | TransportKind::Sse => shown.url.unwrap_or_default(),
            };
            ServerSummary {
                name: Some(config.id.name.clone()),
                enabled: !config.disabled,
                transport: Some(config.kind()),
                line,
                invalid: None,
                state: None,
                cause: None,
            }
        }
        Entry::Invalid(invalid) => ServerSummary {
            name: invalid.name.clone().and_then(|name| name.try_into().ok()),
            enabled: false,
            transport: None,
            line: String::new(),
            cause: Some(invalid.reason.clone()),
            invalid: Some(invalid.clone()),
            state: Some(ServerState::Invalid),
        },
    }
}

/// A command line for people: arguments that need it are quoted as a POSIX shell would read them.
fn command_line(command: &str, args: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,•".contains(c);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    std::iter::once(command).chain(args.iter().map(String::as_str)).map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_quoted_so_that_a_shell_reads_the_same_words() {
        let args = ["-y", "a b", "", "it's"].map(str::to_owned);
        assert_eq!(command_line("npx", &args), r"npx -y 'a b' '' 'it'\''s'");
    }
}
