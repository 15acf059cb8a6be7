//! What the global settings and a project's files make of one workspace together.

use std::path::Path;
use std::sync::Arc;

use patchbay_api::{ServerState, TrustRequest};
use patchbay_config::{ConfigSnapshot, Entry, Home, Project, SandboxMode, Settings, TrustState, TrustStore};
use patchbay_engine::{Confinement, DesiredSet, Wanted};
use patchbay_exec::sandbox::{Host, Inputs, Mode};

/// A workspace's part of the settings.
pub(crate) struct Resolved {
    pub(crate) desired: DesiredSet,
    /// One sentence each.
    pub(crate) problems: Vec<String>,
    /// What a person has to be asked before the project's servers may run.
    pub(crate) pending: Option<TrustRequest>,
}

/// Joins global settings and project: what tightens holds at once, what runs or loosens only with trust.
pub(crate) fn resolve(
    home: &Home,
    global: &ConfigSnapshot,
    folder: Option<&Path>,
    project: Option<&Project>,
) -> Resolved {
    let mut settings = global.settings.clone();
    let mut servers: Vec<Wanted> = global.servers.iter().filter_map(wanted).collect();
    let (mut problems, mut pending) = (Vec::new(), None);
    if let Some(project) = project {
        project.tightening.apply(&mut settings);
        problems = project.problems();
        let names = global.servers.iter().filter_map(Entry::name);
        let (usable, clashes) = project.beside(names);
        problems.extend(clashes.iter().map(|clash| {
            format!(
                "{}: server {:?}: {}",
                clash.place,
                clash.name.as_deref().unwrap_or_default(),
                clash.reason
            )
        }));
        let rest = match TrustStore::new(home).state(project) {
            Ok(TrustState::NotNeeded | TrustState::Trusted) => {
                project.loosening.apply(&mut settings);
                None
            }
            Ok(TrustState::Pending(request)) => {
                pending = Some(*request);
                Some((ServerState::PendingTrust, None))
            }
            Err(error) => {
                problems.push(error.to_string());
                Some((
                    ServerState::PendingTrust,
                    Some(format!("whether the project is trusted cannot be told: {error}")),
                ))
            }
        };
        servers.extend(usable.into_iter().map(|server| {
            let off = server.config.disabled.then_some((ServerState::Disabled, None));
            Wanted { config: Arc::clone(&server.config), rest: rest.clone().or(off) }
        }));
    }
    let confinement = confinement(home, &settings, folder);
    Resolved {
        desired: DesiredSet { servers, permissions: settings.permissions, confinement },
        problems,
        pending,
    }
}

fn wanted(entry: &Entry) -> Option<Wanted> {
    match entry {
        Entry::Valid(config) => {
            let rest = config.disabled.then_some((ServerState::Disabled, None));
            Some(Wanted { config: Arc::clone(config), rest })
        }
        Entry::Invalid(_) => None,
    }
}

fn confinement(home: &Home, settings: &Settings, folder: Option<&Path>) -> Confinement {
    let sandbox = &settings.sandbox;
    let mode = match sandbox.mode {
        SandboxMode::Auto => Mode::Auto,
        SandboxMode::Required => Mode::Required,
        SandboxMode::Off => Mode::Off,
    };
    let host = Host::current();
    let inputs = Inputs {
        mode,
        workspace: folder.map(Path::to_owned),
        cwd: folder.unwrap_or(&host.home).to_owned(),
        patchbay_home: home.dir().to_owned(),
        writable_paths: sandbox.writable_paths.clone(),
        blocked_paths: sandbox.blocked_paths.clone(),
        allow_network: sandbox.allow_network,
        host,
    };
    Confinement { scrub_env: sandbox.scrub_env.clone(), sandbox: Some(inputs) }
}
