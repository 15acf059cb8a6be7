//! `Exec`: where every server of one owner is started. Holds what is shared between starts.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use patchbay_api::SandboxState;
use tokio::{sync::Mutex, time::Instant};
use tokio_util::task::TaskTracker;

use crate::{
    ExecError, Process, ServerLog, StopSteps, environment, launch, record,
    sandbox::{self, Resolved},
    search::{self, Miss, ShellPath},
    shell,
};

/// A command that is not found is looked for anew in the shell's PATH after this time: it may have been installed.
const SHELL_STALE: Duration = Duration::from_secs(30);

/// What holds for every server of one owner.
#[derive(Clone)]
pub struct ExecOptions {
    /// The owner's environment; servers get it, scrubbed. `SHELL` in it names the login shell.
    pub env: Vec<(OsString, OsString)>,
    /// How long the login shell may take to tell its PATH.
    pub shell_limit: Duration,
    /// Where running servers are recorded, so that [`Exec::reap_leftovers`] of a later owner can end what both this
    /// owner and its guards left behind. `None`: nothing is recorded.
    pub run_dir: Option<PathBuf>,
    /// What a server leaves behind when it ends by itself gets SIGTERM, and SIGKILL after this time.
    pub leftover_grace: Duration,
}

impl Default for ExecOptions {
    /// This process's environment, three seconds for the shell, no record, five seconds of grace.
    fn default() -> Self {
        Self {
            env: std::env::vars_os().collect(),
            shell_limit: Duration::from_secs(3),
            run_dir: None,
            leftover_grace: StopSteps::default().term,
        }
    }
}

/// One server to start. Everything in it is expanded already.
#[derive(Clone)]
pub struct Launch {
    /// The server's name, for errors and records.
    pub server: String,
    /// The command: a path, or a name to be found on PATH.
    pub program: String,
    /// Its arguments, handed over byte for byte.
    pub args: Vec<String>,
    /// Its own environment, beyond and above what it inherits.
    pub env: Vec<(String, String)>,
    /// Its working folder.
    pub cwd: PathBuf,
    /// Globs of the names of inherited variables that it does not get.
    pub scrub_env: Vec<String>,
    /// What the OS sandbox shall hold it to; `None`: it runs without one.
    pub sandbox: Option<sandbox::Policy>,
    /// Where its stderr goes.
    pub log: ServerLog,
}

/// Starts servers and owns what they share. A clone is the same one.
#[derive(Clone)]
pub struct Exec {
    shared: Arc<Shared>,
}

/// What all starts of one owner share.
pub(crate) struct Shared {
    pub options: ExecOptions,
    pub probe: sandbox::Probe,
    /// The parent of every task beside a server.
    pub tasks: TaskTracker,
    shell: Mutex<Option<(Instant, Arc<ShellPath>)>>,
}

impl Exec {
    /// Prepares nothing yet: PATH and sandbox are looked at when the first start needs them.
    #[must_use]
    pub fn new(options: ExecOptions) -> Self {
        let (probe, tasks, shell) = (sandbox::Probe::default(), TaskTracker::new(), Mutex::new(None));
        Self { shared: Arc::new(Shared { options, probe, tasks, shell }) }
    }

    /// Reads the login shell's PATH now if the first start would have to, so that it need not wait.
    pub async fn prepare(&self) {
        if self.path_is_bare() {
            self.shell_path(Duration::MAX).await;
        }
    }

    /// Starts a server: finds its command, builds its environment, puts it into its sandbox and under its guard.
    /// May be dropped at any time; what was started by then is ended.
    ///
    /// # Errors
    /// [`ExecError`] says what kept it from starting; nothing is left behind then.
    pub async fn spawn(&self, launch: Launch) -> Result<Process, ExecError> {
        let launch = Arc::new(launch);
        let resolved = self.resolve(&launch).await?;
        launch::launch(&self.shared, launch, resolved).await
    }

    /// The program that a server's command stands for, found as [`Exec::spawn`] finds it. Starts no server.
    ///
    /// # Errors
    /// [`ExecError`] says why it could not be started.
    pub async fn locate(&self, launch: Launch) -> Result<PathBuf, ExecError> {
        Ok(self.resolve(&Arc::new(launch)).await?.program)
    }

    /// Which sandbox works here, tried once: its name, or why there is none.
    pub async fn sandbox(&self) -> SandboxState {
        let shared = Arc::clone(&self.shared);
        let trying = tokio::task::spawn_blocking(move || shared.probe.summary());
        trying.await.unwrap_or_else(|error| SandboxState {
            active: false,
            label: error.to_string(),
            gaps: Vec::new(),
        })
    }

    /// Waits until every server that this has started is gone, with everything that it started. Call it after the
    /// last [`Process`] was stopped or dropped; a start meanwhile is waited for too.
    pub async fn drained(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Ends what earlier owners recorded in `dir` and left behind, and nothing else: a process counts only if its
    /// id *and* its start time are the recorded ones, and its owner is gone. Returns the names of the servers ended.
    ///
    /// # Errors
    /// [`ExecError::Record`] where the folder or a record cannot be read.
    pub async fn reap_leftovers(dir: &Path) -> Result<Vec<String>, ExecError> {
        let dir = dir.to_owned();
        let failed = |source| ExecError::Record { path: dir.clone(), source };
        let reaping = dir.clone();
        let reaped = tokio::task::spawn_blocking(move || record::reap(&reaping)).await;
        reaped.map_err(|error| failed(error.into()))?
    }

    /// Looks in the owner's PATH; in the login shell's too where the owner's says nothing or is not enough.
    async fn resolve(&self, launch: &Arc<Launch>) -> Result<Resolved, ExecError> {
        let mut shell = None;
        if self.path_is_bare() {
            shell = Some(self.shell_path(Duration::MAX).await);
        }
        let first = self.look(launch, shell.as_deref()).await;
        let Err(Miss::NotFound(error)) = first else {
            return settle(first, launch, shell.as_deref());
        };
        let again = self.shell_path(SHELL_STALE).await;
        if shell.is_some_and(|shell| shell == again) {
            return settle(Err(Miss::NotFound(error)), launch, Some(&again));
        }
        settle(self.look(launch, Some(&again)).await, launch, Some(&again))
    }

    async fn look(&self, launch: &Arc<Launch>, shell: Option<&ShellPath>) -> Result<Resolved, Miss> {
        let (shared, launch) = (Arc::clone(&self.shared), Arc::clone(launch));
        let path =
            shell.and_then(|shell| shell.path.as_deref()).map(|path| search::merge(self.own_path(), path));
        let server = launch.server.clone();
        let looking = tokio::task::spawn_blocking(move || {
            search::resolve(&shared.options.env, path.as_deref(), &launch)
        });
        looking.await.unwrap_or_else(|error| {
            let program = PathBuf::from("PATH");
            Err(Miss::Final(ExecError::Spawn { server, program, source: error.into() }))
        })
    }

    fn own_path(&self) -> Option<&OsStr> {
        environment::get(&self.shared.options.env, environment::PATH)
    }

    fn path_is_bare(&self) -> bool {
        search::is_bare(self.own_path())
    }

    /// What the login shell said, at most `age` ago; whoever comes while it is asked waits for the same answer.
    async fn shell_path(&self, age: Duration) -> Arc<ShellPath> {
        let mut cached = self.shared.shell.lock().await;
        if let Some((asked, path)) = &*cached
            && asked.elapsed() < age
        {
            return Arc::clone(path);
        }
        let options = &self.shared.options;
        let path = Arc::new(shell::read(&options.env, options.shell_limit).await);
        *cached = Some((Instant::now(), Arc::clone(&path)));
        path
    }
}

/// Tells in the log or in the error that the login shell could not be asked.
fn settle(
    result: Result<Resolved, Miss>,
    launch: &Launch,
    shell: Option<&ShellPath>,
) -> Result<Resolved, ExecError> {
    let note = shell.and_then(|shell| shell.note.as_deref());
    match result {
        Ok(resolved) => {
            if let Some(note) = note {
                launch.log.note(note);
            }
            Ok(resolved)
        }
        Err(Miss::NotFound(error)) => Err(error.with_note(note)),
        Err(Miss::Final(error)) => Err(error),
    }
}

impl fmt::Debug for ExecOptions {
    /// Without the environment: it holds secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecOptions").field("run_dir", &self.run_dir).finish_non_exhaustive()
    }
}

impl fmt::Debug for Launch {
    /// Without arguments and environment: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("server", &self.server)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exec").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
