//! What the tests share: a folder, servers as shell scripts, and processes known by pid and start time.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use patchbay_exec::{Exec, ExecOptions, Launch, Process, ServerLog, StopSteps};
use tempfile::TempDir;
use tokio::time::Instant;

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Steps that no test waits long for.
pub const QUICK: StopSteps = StopSteps {
    input: Duration::from_millis(150),
    term: Duration::from_millis(150),
    kill: Duration::from_secs(10),
};

/// A process, alive only as long as it is the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pid {
    pub pid: i32,
    start: u64,
}

impl Pid {
    /// The process that has this number now.
    pub fn now(pid: i32) -> Option<Self> {
        Some(Self { pid, start: stat(pid)?.1 })
    }

    /// Whether it runs; one that waits to be reaped does not.
    pub fn alive(self) -> bool {
        stat(self.pid).is_some_and(|(state, start)| start == self.start && state != 'Z')
    }

    /// Whether nothing of it is left, not even its status.
    pub fn reaped(self) -> bool {
        stat(self.pid).is_none_or(|(_, start)| start != self.start)
    }

    pub fn parent(self) -> Self {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
        Self::now(parent.trim().parse().unwrap()).unwrap()
    }

    pub fn signal(self, signal: i32) {
        if self.alive() {
            #[expect(unsafe_code, reason = "system call")]
            // SAFETY: no memory is passed.
            unsafe {
                libc::kill(self.pid, signal);
            }
        }
    }
}

fn stat(pid: i32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit(')').next()?.split_ascii_whitespace();
    Some((words.next()?.chars().next()?, words.nth(18)?.parse().ok()?))
}

/// A process that is killed when the test lets go of it, also when it fails.
pub struct Doomed(pub Pid);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.signal(libc::SIGKILL);
    }
}

/// What a future gives, if it does not take for ever.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes for ever")
}

/// Waits for a condition, looking every few milliseconds.
pub async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "gave up waiting: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A temporary folder in which servers work. Kills what is left of them when it goes.
pub struct Lab {
    pub dir: TempDir,
    pub exec: Exec,
}

impl Lab {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut ExecOptions)) -> Self {
        Self::at(tempfile::tempdir().unwrap(), change)
    }

    pub fn at(dir: TempDir, change: impl FnOnce(&mut ExecOptions)) -> Self {
        let mut options = ExecOptions { leftover_grace: QUICK.term, ..ExecOptions::default() };
        options.env.retain(|(name, _)| name != "PATH");
        options.env.push(("PATH".into(), "/usr/bin:/bin:/patchbay-tests".into()));
        change(&mut options);
        Self { dir, exec: Exec::new(options) }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A server that is a shell script run in the folder.
    pub fn script(&self, script: &str) -> Launch {
        self.launch("/bin/sh", &["-c", script])
    }

    pub fn launch(&self, program: &str, args: &[&str]) -> Launch {
        Launch {
            server: "test".into(),
            program: program.into(),
            args: args.iter().map(|&arg| arg.into()).collect(),
            env: Vec::new(),
            cwd: self.path().into(),
            scrub_env: Vec::new(),
            sandbox: None,
            log: ServerLog::default(),
        }
    }

    pub async fn spawn(&self, script: &str) -> Process {
        self.exec.spawn(self.script(script)).await.unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The whole text of a file once it ends with a line end.
    pub async fn file(&self, name: &str) -> String {
        let path = self.path().join(name);
        until(name, || fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).await
    }

    /// The process that wrote its pid to a file.
    pub async fn pid(&self, name: &str) -> Pid {
        let pid = self.file(name).await.trim().parse().unwrap();
        Pid::now(pid).unwrap_or_else(|| panic!("{name} has ended already"))
    }

    /// The processes that wrote their pids to files of these names.
    pub async fn pids(&self, names: &[String]) -> Vec<Pid> {
        let mut pids = Vec::new();
        for name in names {
            pids.push(self.pid(name).await);
        }
        pids
    }
}

impl Drop for Lab {
    /// Whatever still works in this folder is one of ours, and the test that should have ended it has failed.
    fn drop(&mut self) {
        let works_here =
            |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == self.path());
        for _ in 0..100 {
            let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
            let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let left: Vec<Pid> =
                pids.filter(works_here).filter_map(Pid::now).filter(|pid| pid.alive()).collect();
            if left.is_empty() {
                return;
            }
            left.iter().for_each(|pid| pid.signal(libc::SIGKILL));
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A script whose tree is three deep and ignores SIGTERM, with a daemon that left session and pipes; the files with
/// the pids are named after `name`.
pub fn stubborn(name: &str) -> (String, Vec<String>) {
    let daemon = r#"(setsid sh -c 'echo $$ > NAME-daemon; exec sleep 1000 <&- >&- 2>&-' &)"#;
    let grandchild = r#"sh -c 'echo $$ > NAME-three; exec sleep 1000' &"#;
    let child = r#"sh -c "echo \$\$ > NAME-two; $GRANDCHILD exec sleep 1000" &"#
        .replace("$GRANDCHILD", &grandchild.replace('$', "\\$"));
    let script = format!("trap '' TERM HUP INT; echo $$ > NAME-one; {daemon}; {child} exec sleep 1000");
    let names = ["one", "two", "three", "daemon"].map(|part| format!("{name}-{part}"));
    (script.replace("NAME", name), names.into())
}

/// The variables that a server wrote with `env -0`.
pub fn variables(text: &[u8]) -> BTreeMap<String, String> {
    let pairs = text.split(|&byte| byte == 0).filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| String::from_utf8(pair.to_vec()).unwrap());
    pairs.map(|pair| pair.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())).unwrap()).collect()
}
