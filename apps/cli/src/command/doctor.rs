//! `patchbay doctor`: looks for what keeps servers from working (MCP-40). Starts no server unless asked to.

use std::path::PathBuf;
use std::sync::Arc;

use patchbay_api::{
    AgentId, ApiError, GetSnapshot, InvalidServer, ListMcpServers, ListTools, Scope, ServerState,
};
use patchbay_config::{
    ConfigSnapshot, Entry, Project, ProjectFiles, ServerConfig, SettingsStore, Transport, TrustState,
    TrustStore,
};
use patchbay_control::Client;
use patchbay_exec::{Exec, ExecOptions, Launch, ServerLog};
use patchbay_secrets::{SecretStore, mask_url};

use super::findings::{Findings, Level};
use super::{on_road, status};
use crate::context::Context;
use crate::exit::Exit;
use crate::road::Need;

/// Looks at everything and shows what was found; fails when something does not work.
///
/// # Errors
/// The workspace cannot be told.
pub async fn run(context: &mut Context, online: bool) -> Result<Exit, ApiError> {
    let mut findings = Findings::default();
    home(context, &mut findings);
    let snapshot = settings(context, &mut findings);
    owner(context, &mut findings).await;
    let exec = Exec::new(ExecOptions::default());
    let sandbox = exec.sandbox().await;
    if sandbox.active {
        findings.add(Level::Ok, "sandbox", sandbox.label);
    } else {
        let advice =
            "install bubblewrap (package `bubblewrap`), or switch the sandbox off for servers that you trust";
        findings
            .add(Level::Warning, "sandbox", sandbox.label)
            .next(cfg!(target_os = "linux").then_some(advice));
    }
    let workspace = context.workspace()?.map(PathBuf::from);
    let mut servers: Vec<Arc<ServerConfig>> =
        snapshot.iter().flat_map(ConfigSnapshot::valid).cloned().collect();
    if let (Some(snapshot), Some(dir)) = (&snapshot, &workspace) {
        servers.extend(project(context, snapshot, dir, &mut findings));
    }
    let place =
        Place { cwd: workspace.unwrap_or_else(user_folder), secrets: SecretStore::file(context.home.dir()) };
    findings.add(Level::Ok, "secrets", format!("kept in {}", place.secrets.place()));
    for server in servers.iter().filter(|server| !server.disabled) {
        self::server(&place, &exec, snapshot.as_ref(), server, &mut findings).await;
    }
    let exit = if online { self::online(context, &mut findings).await? } else { Exit::Done };
    if context.output.json {
        context.output.value(&findings)?;
    } else {
        findings.show(&mut context.output);
    }
    Ok(if exit == Exit::Done && findings.has_problem() { Exit::Failed } else { exit })
}

/// Where servers would start.
struct Place {
    cwd: PathBuf,
    secrets: SecretStore,
}

fn user_folder() -> PathBuf {
    std::env::home_dir().unwrap_or_else(std::env::temp_dir)
}

fn home(context: &Context, findings: &mut Findings) {
    let dir = context.home.dir();
    let shown = dir.display().to_string();
    match dir.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.add(Level::Ok, "home", format!("{shown} is made at its first use"));
        }
        Err(error) => _ = findings.add(Level::Problem, "home", format!("{shown} cannot be used: {error}")),
        Ok(meta) if open_to_others(&meta) => findings
            .add(Level::Warning, "home", format!("{shown} can be read by other users"))
            .next(Some(format!("chmod 700 {shown}"))),
        Ok(_) => _ = findings.add(Level::Ok, "home", shown),
    }
}

#[cfg(unix)]
fn open_to_others(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o077 != 0
}

/// The user's own folder for settings is closed to others by the system.
#[cfg(not(unix))]
fn open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

fn settings(context: &Context, findings: &mut Findings) -> Option<ConfigSnapshot> {
    let snapshot = match SettingsStore::new(&context.home).read() {
        Ok(snapshot) => snapshot,
        Err(error) => {
            let error = error.to_api();
            let finding = findings.add(Level::Problem, "settings", &error.message);
            error.place.iter().for_each(|place| _ = finding.at(place));
            finding.next(error.hint);
            return None;
        }
    };
    let invalid = snapshot.servers.iter().filter_map(|entry| match entry {
        Entry::Invalid(invalid) => Some(invalid),
        Entry::Valid(_) => None,
    });
    invalid.for_each(|entry| self::invalid(entry, findings));
    snapshot.warnings.iter().for_each(|warning| _ = findings.add(Level::Warning, "settings", warning));
    let count = snapshot.valid().count();
    findings.add(Level::Ok, "settings", format!("{} ({count} usable servers)", snapshot.file.display()));
    Some(snapshot)
}

fn invalid(entry: &InvalidServer, findings: &mut Findings) {
    let subject = entry.name.clone().unwrap_or_else(|| "(no name)".into());
    findings.add(Level::Problem, subject, &entry.reason).at(&entry.place).next(entry.hint.clone());
}

async fn owner(context: &Context, findings: &mut Findings) {
    let found = match Client::connect(&context.home).await {
        Ok(Some(client)) => client.call(&GetSnapshot {}).await.map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error.to_api()),
    };
    match found {
        Ok(Some(snapshot)) => {
            findings.add(Level::Ok, "owner", status::owner(&snapshot.owner));
            if let Some(broken) = snapshot.config.broken {
                let message = format!("it does not take the settings file as it is now: {}", broken.reason);
                findings.add(Level::Problem, "owner", message).at(&broken.place);
            }
        }
        Ok(None) => _ = findings.add(Level::Ok, "owner", "none runs; every command works by itself"),
        Err(error) => findings.add(Level::Problem, "owner", error.message).next(error.hint),
    }
}

/// Looks at the project's files; gives the servers that may start.
fn project(
    context: &Context,
    global: &ConfigSnapshot,
    dir: &std::path::Path,
    findings: &mut Findings,
) -> Vec<Arc<ServerConfig>> {
    let project = match ProjectFiles::new(dir) {
        Ok(mut files) => files.read(global.settings.mcp.legacy_sse),
        Err(error) => {
            findings.add(Level::Problem, "project", error.to_string()).next(error.hint());
            return Vec::new();
        }
    };
    for problem in project.problems() {
        findings.add(Level::Warning, "project", problem);
    }
    let (usable, clashes) = project.beside(global.servers.iter().filter_map(Entry::name));
    clashes.iter().for_each(|clash| invalid(clash, findings));
    if !trusted(context, &project, findings) {
        return Vec::new();
    }
    usable.into_iter().map(|server| Arc::clone(&server.config)).collect()
}

fn trusted(context: &Context, project: &Project, findings: &mut Findings) -> bool {
    match TrustStore::new(&context.home).state(project) {
        Ok(TrustState::NotNeeded) => true,
        Ok(TrustState::Trusted) => {
            findings.add(Level::Ok, "project", format!("{} is trusted as it is now", project.dir.display()));
            true
        }
        Ok(TrustState::Pending(_)) => {
            let message = format!("{} is not trusted, so its servers do not start", project.dir.display());
            findings.add(Level::Warning, "project", message).next(Some("patchbay trust"));
            false
        }
        Err(error) => {
            findings.add(Level::Problem, "project", error.to_string()).next(error.hint());
            false
        }
    }
}

/// Whether a server could start: its variables can be filled in, and its command is found.
async fn server(
    place: &Place,
    exec: &Exec,
    global: Option<&ConfigSnapshot>,
    server: &ServerConfig,
    findings: &mut Findings,
) {
    let name = server.id.name.as_str();
    for foreign in server.warnings() {
        findings.add(Level::Warning, name, foreign.to_string());
    }
    let scope = &server.id.scope;
    let secret = |name: &str| match place.secrets.get(scope, name) {
        Ok(found) => Ok(found.map(|secret| secret.expose().to_owned())),
        Err(error) => Err(error.to_string().into()),
    };
    let expanded = match server.expand(&|name| std::env::var(name).ok(), &secret) {
        Ok(expanded) => expanded,
        Err(error) => return findings.add(Level::Problem, name, error.to_string()).next(Some(error.hint())),
    };
    let stdio = match expanded.transport {
        Transport::Stdio(stdio) => stdio,
        Transport::Http(http) | Transport::Sse(http) => {
            findings.add(Level::Ok, name, mask_url(&http.url));
            return;
        }
    };
    let launch = Launch {
        server: name.to_owned(),
        program: stdio.command,
        args: stdio.args,
        env: stdio.env.into_iter().collect(),
        cwd: stdio.cwd.map_or_else(|| place.cwd.clone(), |cwd| place.cwd.join(cwd)),
        scrub_env: global.map(|global| global.settings.sandbox.scrub_env.clone()).unwrap_or_default(),
        sandbox: None,
        log: ServerLog::default(),
    };
    match exec.locate(launch).await {
        Ok(program) => _ = findings.add(Level::Ok, name, program.display().to_string()),
        Err(error) => findings.add(Level::Problem, name, error.to_string()).next(error.hint()),
    }
}

/// Connects to every server and counts its tools.
async fn online(context: &mut Context, findings: &mut Findings) -> Result<Exit, ApiError> {
    on_road(context, Need::Settings, async |context, road| {
        let open = road.workspace(context).await?;
        road.call(ListTools { workspace: open.key.clone(), agent: AgentId::primary() }).await?;
        for status in road.call(ListMcpServers { workspace: open.key.clone() }).await? {
            let name = match &status.id.scope {
                Scope::Global => status.id.name.to_string(),
                Scope::Project(_) => format!("{} (project)", status.id.name),
            };
            let (_, state) = crate::words::status(&status);
            match (status.state, status.tool_count) {
                (ServerState::Connected, count) => {
                    findings.add(Level::Ok, name, format!("connected, {} tools", count.unwrap_or(0)));
                }
                (ServerState::Disabled, _) => _ = findings.add(Level::Ok, name, state),
                (ServerState::PendingTrust, _) => {
                    findings.add(Level::Warning, name, state).next(Some("patchbay trust"))
                }
                _ => {
                    let message = status.cause.map_or(state.clone(), |cause| format!("{state}: {cause}"));
                    findings.add(Level::Problem, name, message).next(status.hint);
                }
            }
        }
        Ok(Exit::Done)
    })
    .await
}
