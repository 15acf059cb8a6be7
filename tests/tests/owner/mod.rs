//! An owner with its real parts – settings file, processes, sessions – and fake servers that misbehave.

mod agents;
mod guests;
mod lifecycle;
mod live;
mod remote;
mod trust;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use patchbay_api::{AgentId, OwnerKind, ServerState, ServerStatus, Snapshot};
use patchbay_config::Home;
use patchbay_exec::StopSteps;
use patchbay_hub::{Handle, Hub, HubError, HubOptions, Lease};
use patchbay_secrets::Redactor;
use patchbay_tests::{Fake, PATIENCE};
use serde_json::Value;
use tempfile::TempDir;

/// A home with its owner; ends everything when the test is over.
pub struct Owner {
    pub folder: TempDir,
    pub hub: Hub,
}

/// Short steps: the tests' servers are told to end often.
pub const STEPS: StopSteps = StopSteps {
    input: Duration::from_millis(500),
    term: Duration::from_millis(500),
    kill: Duration::from_secs(5),
};

impl Owner {
    /// Starts an owner on these settings.
    pub async fn start(settings: &str) -> Self {
        let folder = TempDir::new().unwrap();
        write(&folder.path().join("home/settings.toml"), settings);
        Self::on(folder).await.unwrap()
    }

    /// Starts an owner on a folder whose `home` is prepared.
    pub async fn on(folder: TempDir) -> Result<Self, HubError> {
        let hub = open(&folder.path().join("home"), OwnerKind::Desktop).await?;
        Ok(Self { folder, hub })
    }

    pub fn settings_file(&self) -> PathBuf {
        self.folder.path().join("home/settings.toml")
    }

    pub fn settings(&self) -> String {
        std::fs::read_to_string(self.settings_file()).unwrap()
    }

    /// An editor's save: another file in its place.
    #[expect(clippy::disallowed_methods, reason = "plays an editor")]
    pub fn save(&self, settings: &str) {
        let beside = self.folder.path().join("home/.settings.swp");
        write(&beside, settings);
        std::fs::rename(beside, self.settings_file()).unwrap();
    }

    /// The workspace without a folder.
    pub async fn lease(&self) -> Lease {
        self.hub.lease(None).await.unwrap()
    }

    /// A project with this `.mcp.json`.
    pub async fn project(&self, mcp_json: &Value) -> (PathBuf, Lease) {
        let project = self.folder.path().join("project");
        write(&project.join(".mcp.json"), &mcp_json.to_string());
        let lease = self.hub.lease(Some(&project)).await.unwrap();
        (project, lease)
    }

    pub async fn call<C: patchbay_api::Command>(
        &self,
        command: C,
    ) -> Result<C::Answer, patchbay_api::ApiError>
    where
        Hub: Handle<C>,
    {
        self.hub.handle(command).await
    }

    /// Waits until the snapshot is as wanted.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let mut snapshots = self.hub.snapshots();
        let waiting = snapshots.wait_for(|snapshot| wanted(snapshot));
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(snapshot) => Arc::clone(&snapshot.unwrap()),
            Err(_) => panic!("waited in vain for {what}: {:#?}", *self.hub.snapshots().borrow()),
        }
    }

    pub async fn stop(self) {
        self.hub.stop().await;
    }
}

pub async fn open(home: &Path, kind: OwnerKind) -> Result<Hub, HubError> {
    let home = Home::resolve(Some(home)).unwrap();
    let options = HubOptions {
        kind,
        sample: ("sample".into(), vec![]),
        stop_steps: STEPS,
        host: None,
        look_every: Duration::from_millis(200),
        strict: kind != OwnerKind::Desktop,
    };
    Hub::open(home, Redactor::new(), options).await
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
pub fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// The settings of a fake server, without a sandbox: what that does has tests of its own.
pub fn entry(name: &str, fake: &Fake) -> String {
    let (command, args) = (Fake::command().display().to_string(), fake.args());
    format!(
        "[[mcp.servers]]\nname = {name:?}\ncommand = {command:?}\nargs = {args:?}\nsandbox = false\nauto_approve = true\n"
    )
}

pub fn status(lease: &Lease, name: &str) -> ServerStatus {
    let all = lease.manager().statuses();
    all.into_iter()
        .find(|status| status.id.name.as_str() == name)
        .unwrap_or_else(|| panic!("no server {name}"))
}

pub fn state(lease: &Lease, name: &str) -> ServerState {
    status(lease, name).state
}

/// The names that the primary agent is offered once everything has settled.
pub async fn tools(owner: &Owner, lease: &Lease) -> Vec<String> {
    let naming = owner.hub.naming(Vec::new());
    let offer =
        lease.manager().offer(&AgentId::primary(), &naming, &std::collections::HashMap::new(), None).await;
    offer.view.servers.into_iter().flat_map(|server| server.tools).map(|tool| tool.name).collect()
}

/// Calls a tool by the server's own name for it.
pub async fn call(
    owner: &Owner,
    lease: &Lease,
    server: &str,
    tool: &str,
    arguments: &str,
) -> Result<Value, patchbay_api::ApiError> {
    let command = patchbay_api::CallTool {
        workspace: lease.key().clone(),
        server: server.into(),
        tool: tool.into(),
        arguments: arguments.into(),
    };
    let answer = owner.call(command).await?;
    Ok(serde_json::from_str(&answer.result).unwrap())
}
