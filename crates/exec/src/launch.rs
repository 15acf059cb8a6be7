//! The way from a resolved command to a running server: sandbox, start, pid, record, supervisor.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use patchbay_api::SandboxState;
use tokio::{
    net::unix::pipe,
    sync::{mpsc, watch},
};

use crate::{
    ExecError, Launch, Process,
    exec::Shared,
    family::Family,
    guard::Link,
    process::{Progress, StdinPipe},
    record::Record,
    sandbox::{self, Resolved},
    start::{self, Started},
    supervise::Supervisor,
};

/// How long the launcher of a sandbox may take to start the server.
const LAUNCHER_LIMIT: Duration = Duration::from_secs(10);
/// Lines of stderr that are quoted when a sandbox could not be set up.
const QUOTED: usize = 5;

/// How often a sandbox is tried whose launcher ends before the server runs: what it masks may go meanwhile, as sockets
/// of other programs do.
const SANDBOX_ATTEMPTS: u32 = 3;

/// What became of one attempt.
enum Attempt {
    /// The server runs, or has run.
    Ran(Process),
    /// The launcher of its sandbox failed.
    Failed(ExecError),
}

/// Starts a resolved command. Off the runtime's threads, because a fork of a large owner takes its time.
pub(crate) async fn launch(
    shared: &Arc<Shared>,
    launch: Arc<Launch>,
    resolved: Resolved,
) -> Result<Process, ExecError> {
    let resolved = Arc::new(resolved);
    let mut left = SANDBOX_ATTEMPTS;
    loop {
        left -= 1;
        match attempt(shared, &launch, &resolved).await? {
            Attempt::Ran(process) => return Ok(process),
            Attempt::Failed(error) if left == 0 => return Err(error),
            Attempt::Failed(_) => {}
        }
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    launch: &Arc<Launch>,
    resolved: &Arc<Resolved>,
) -> Result<Attempt, ExecError> {
    let (mut process, info) = {
        let (server, program) = (launch.server.clone(), resolved.program.clone());
        let (shared, launch, resolved) = (Arc::clone(shared), Arc::clone(launch), Arc::clone(resolved));
        let starting = shared.tasks.clone().spawn_blocking(move || start(&shared, &launch, &resolved));
        starting
            .await
            .unwrap_or_else(|error| Err(ExecError::Spawn { server, program, source: error.into() }))?
    };
    let Some(info) = info else {
        return Ok(Attempt::Ran(process));
    };
    // From here on the server has a supervisor, which ends everything should this future be dropped.
    let told = tokio::task::spawn_blocking(move || sandbox::host_pid(info, LAUNCHER_LIMIT)).await;
    match told.unwrap_or_else(|error| Err(error.into())) {
        Ok(pid) => {
            process.pid = pid;
            Ok(Attempt::Ran(process))
        }
        Err(error) => Ok(without_pid(launch, process, &error).await),
    }
}

/// No pid was told: the launcher failed, and said so, or the server was over before anybody could look.
async fn without_pid(launch: &Launch, process: Process, error: &io::Error) -> Attempt {
    let ended = error.kind() == io::ErrorKind::UnexpectedEof
        && tokio::time::timeout(LAUNCHER_LIMIT, process.exited()).await.is_ok();
    let since = process.started_at();
    let said = launch.log.lines(QUOTED).into_iter().filter(|line| line.at >= since);
    let said: Vec<String> = said.map(|line| line.text).collect();
    if ended && !said.iter().any(|line| line.starts_with(sandbox::LAUNCHER_SAYS)) {
        return Attempt::Ran(process);
    }
    process.kill().await;
    let said = if said.is_empty() { error.to_string() } else { said.join("; ") };
    Attempt::Failed(ExecError::Sandbox {
        server: launch.server.clone(),
        reason: format!("its sandbox could not be set up: {said}"),
        hint: Some("See the server's log; `patchbay doctor` tries the sandbox.".into()),
    })
}

/// Blocking. The server runs under its supervisor when this returns.
fn start(
    shared: &Shared,
    launch: &Launch,
    resolved: &Resolved,
) -> Result<(Process, Option<OwnedFd>), ExecError> {
    let failed = |source| ExecError::Spawn {
        server: launch.server.clone(),
        program: resolved.program.clone(),
        source,
    };
    let mut attempt = || {
        let mut confined = match sandbox::confine(&shared.probe, launch.sandbox.as_ref(), resolved.clone()) {
            Ok(confined) => confined,
            Err(refused) => return Ok(Err(refused)),
        };
        let started = start::start(&mut confined)?;
        Ok(Ok((started, confined)))
    };
    let (started, confined) = start::while_busy(&mut attempt).map_err(failed)??;
    let held = confined.held.map(|held| Arc::new(Mutex::new(held)));
    let process = supervise(shared, launch, started, confined.state).map_err(failed)?;
    Ok((Process { held, ..process }, confined.info))
}

fn supervise(
    shared: &Shared,
    launch: &Launch,
    started: Started,
    sandbox: SandboxState,
) -> io::Result<Process> {
    let Started { mut guard, link, server } = started;
    let stdin = StdinPipe::new(guard.stdin.take());
    let stdout = guard.stdout.take();
    let stderr = guard
        .stderr
        .take()
        .map(|stderr| pipe::Receiver::from_owned_fd(stderr.into_owned_fd()?))
        .transpose()?;
    let family = guard.id().and_then(|guard| Family::of(std::process::id(), guard, server));
    let record = match (&shared.options.run_dir, &family) {
        (Some(dir), Some(family)) => Record::write(dir, &launch.server, family).map_err(|error| {
            // Only an owner and a guard that are both killed leave anything behind without it.
            launch.log.note(&format!(
                "the record of this process could not be written to {}: {error}",
                dir.display()
            ));
        }),
        _ => Err(()),
    };
    let (orders, inbox) = mpsc::unbounded_channel();
    let (progress, watch) = watch::channel(Progress::default());
    let supervisor = Supervisor {
        guard,
        link: Link::new(link)?,
        stderr,
        orders: inbox,
        progress,
        log: launch.log.clone(),
        family,
        record: record.ok(),
        leftover_grace: shared.options.leftover_grace,
    };
    shared.tasks.spawn(supervisor.run());
    let pid = server.unsigned_abs();
    let started_at = SystemTime::now();
    Ok(Process {
        pid,
        started_at,
        sandbox,
        held: None,
        stdin,
        stdin_taken: false,
        stdout,
        progress: watch,
        orders,
    })
}
