//! The way from a resolved command to a running server, and the task beside it.

use std::{
    io,
    process::Stdio,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, Command},
    sync::{mpsc, watch},
    time::sleep,
};

use super::job::Job;
use crate::{
    ExecError, Exit, Launch, Process, ServerLog,
    exec::Shared,
    process::{Order, Progress, StdinPipe},
    sandbox::{self, Resolved},
};

/// No console window comes up, and the process runs only when it is in its job.
const FLAGS: u32 = 0x0800_0000 | 0x0000_0004;
/// Bytes of stderr read at once.
const CHUNK: usize = 16 * 1024;
/// How often is looked whether a job is empty.
const LOOK: Duration = Duration::from_millis(20);
/// How long the rest of stderr is read after the server's end.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Starts a resolved command.
pub(crate) async fn launch(
    shared: &Arc<Shared>,
    launch: Arc<Launch>,
    resolved: Resolved,
) -> Result<Process, ExecError> {
    let (server, program) = (launch.server.clone(), resolved.program.clone());
    let starting = {
        let shared = Arc::clone(shared);
        let tasks = shared.tasks.clone();
        tasks.spawn_blocking(move || start(&shared, &launch, resolved))
    };
    starting.await.unwrap_or_else(|error| Err(ExecError::Spawn { server, program, source: error.into() }))
}

fn start(shared: &Shared, launch: &Launch, resolved: Resolved) -> Result<Process, ExecError> {
    let confined = sandbox::confine(&shared.probe, launch.sandbox.as_ref(), resolved)?;
    let command = confined.command;
    let failed =
        |source| ExecError::Spawn { server: launch.server.clone(), program: command.program.clone(), source };
    let (mut child, job) = run(&command).map_err(failed)?;
    let (orders, inbox) = mpsc::unbounded_channel();
    let (progress, watch) = watch::channel(Progress::default());
    let process = Process {
        pid: child.id().unwrap_or_default(),
        started_at: SystemTime::now(),
        sandbox: confined.state,
        stdin: StdinPipe::new(child.stdin.take()),
        stdin_taken: false,
        stdout: child.stdout.take(),
        progress: watch,
        orders,
    };
    let stderr = child.stderr.take();
    let supervisor = Supervisor { child, job, stderr, orders: inbox, progress, log: launch.log.clone() };
    shared.tasks.spawn(supervisor.run());
    Ok(process)
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn run(command: &Resolved) -> io::Result<(Child, Job)> {
    let job = Job::new()?;
    let mut process = Command::new(&command.program);
    process.args(&command.args).env_clear().envs(command.env.iter().map(|(name, value)| (name, value)));
    process.current_dir(&command.cwd).creation_flags(FLAGS).kill_on_drop(true);
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = process.spawn()?;
    let (Some(handle), Some(pid)) = (child.raw_handle(), child.id()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    job.adopt(handle, pid)?;
    Ok((child, job))
}

struct Supervisor {
    child: Child,
    job: Job,
    stderr: Option<ChildStderr>,
    orders: mpsc::UnboundedReceiver<Order>,
    progress: watch::Sender<Progress>,
    log: ServerLog,
}

impl Supervisor {
    async fn run(mut self) {
        let mut deserted = false;
        let mut chunk = vec![0; CHUNK];
        let status = loop {
            tokio::select! {
                status = self.child.wait() => break status,
                order = self.orders.recv(), if !deserted => {
                    deserted = order.is_none();
                    if order != Some(Order::Stopping) {
                        self.end();
                    }
                }
                count = read(self.stderr.as_mut(), &mut chunk) => self.take(count, &chunk),
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, async {
            while self.stderr.is_some() {
                let count = read(self.stderr.as_mut(), &mut chunk).await;
                self.take(count, &chunk);
            }
        })
        .await;
        self.log.stderr_end();
        let code = status.ok().and_then(|status| status.code());
        let exit = Exit { code, signal: None, guard_lost: false };
        self.progress.send_modify(|progress| progress.exit = Some(exit));
        self.end();
        while self.job.running().is_ok_and(|running| running > 0) {
            sleep(LOOK).await;
        }
        self.progress.send_modify(|progress| progress.gone = true);
    }

    fn end(&self) {
        if let Err(error) = self.job.end() {
            self.log.note(&format!("its processes could not be ended: {error}"));
        }
    }

    fn take(&mut self, count: io::Result<usize>, chunk: &[u8]) {
        match count {
            Ok(count) if count > 0 => self.log.stderr(&chunk[..count]),
            _ => self.stderr = None,
        }
    }
}

async fn read(stderr: Option<&mut ChildStderr>, chunk: &mut [u8]) -> io::Result<usize> {
    match stderr {
        Some(stderr) => stderr.read(chunk).await,
        None => std::future::pending().await,
    }
}
