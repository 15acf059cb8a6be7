//! A home with secrets, a workspace, doors with listeners behind them, and a way to run a server in a back end.

use std::{
    ffi::OsString,
    fs,
    io::{Read, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixListener},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
};

use serde_json::{Value, json};

use crate::{
    ExecError,
    sandbox::{Backend, Confined, Hook, Host, Inputs, Mode, Policy, Probe, Resolved, confine, syscall},
};

/// The default entries of the settings.
pub const BLOCKED: &[&str] = &[
    ".env*",
    "*.pem",
    "*.key",
    "~/.ssh",
    "~/.aws",
    "~/.gnupg",
    "~/.config/gcloud",
    "~/.azure",
    "~/.kube",
    "~/.docker/config.json",
    "~/.netrc",
];

pub const PYTHON: &str = "/usr/bin/python3";
const INTRUDER: &str = include_str!("intruder.py");

/// Both back ends of Linux.
pub const BOTH: [Backend; 2] = [Backend::Bubblewrap, Backend::Landlock];

/// The disk that servers are tried on. Everything goes with it.
pub struct House {
    pub root: tempfile::TempDir,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub outside: PathBuf,
    pub temp: PathBuf,
    pub patchbay: PathBuf,
    /// Where the session's sockets stand.
    pub session: PathBuf,
    pub inputs: Inputs,
    listeners: Vec<UnixListener>,
}

/// Tried once for all tests, as an owner does.
static PROBES: LazyLock<[(Backend, Probe); 2]> =
    LazyLock::new(|| BOTH.map(|backend| (backend, Probe::of(vec![backend]))));

/// What a server left.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    pub fn stderr_lines(&self) -> Vec<String> {
        self.stderr.lines().map(str::to_owned).collect()
    }
}

impl House {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("patchbay-box-").tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let base = root.path().canonicalize().unwrap();
        let home = base.join("home");
        let workspace = home.join("work");
        let [outside, temp, session] = ["outside", "temp", "session"].map(|name| base.join(name));
        let patchbay = home.join(".config/patchbay");
        for folder in [&temp, &session, &workspace.join("free")] {
            fs::create_dir_all(folder).unwrap();
        }
        for (path, text) in [
            (home.join(".ssh/id_ed25519"), "private key"),
            (home.join(".netrc"), "machine x"),
            (home.join("notes.txt"), "notes"),
            (patchbay.join("token"), "token"),
            (workspace.join(".env"), "SECRET=1"),
            (workspace.join("sub/server.key"), "key"),
            (workspace.join("main.py"), "print()"),
            (outside.join("there.txt"), "there"),
            (base.join("intruder.py"), INTRUDER),
            (base.join("sockets"), ""),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let inputs = inputs(&base, &workspace, &patchbay);
        let listeners = Vec::new();
        Self { root, home, workspace, outside, temp, patchbay, session, inputs, listeners }
    }

    /// A listener that takes connections for as long as the house stands.
    pub fn listen(&mut self, path: &Path) {
        self.listeners.push(UnixListener::bind(path).unwrap());
        let line = format!("0: 00000002 00000000 00010000 0001 01 1 {}\n", path.display());
        fs::OpenOptions::new()
            .append(true)
            .open(&self.inputs.host.socket_table)
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
    }

    pub fn listen_abstract(&mut self, name: &str) {
        let address = SocketAddr::from_abstract_name(name).unwrap();
        self.listeners.push(UnixListener::bind_addr(&address).unwrap());
    }

    pub fn policy(&self) -> Policy {
        Policy::new("intruder", self.inputs.clone()).unwrap()
    }

    pub fn probe(&self, backend: Backend) -> &'static Probe {
        &PROBES.iter().find(|(of, _)| *of == backend).unwrap().1
    }

    pub fn confine(
        &self,
        backend: Backend,
        program: &str,
        args: Vec<OsString>,
    ) -> Result<Confined, ExecError> {
        let mut env: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.home.clone().into()),
            ("TMPDIR".into(), self.temp.clone().into()),
            ("SSH_AUTH_SOCK".into(), self.session.join("ssh-agent").into()),
        ];
        env.extend(
            ["DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR"]
                .map(|key| (key.into(), "x".into())),
        );
        let command = Resolved {
            server: "intruder".into(),
            program: program.into(),
            args,
            env,
            cwd: self.inputs.cwd.clone(),
        };
        confine(self.probe(backend), Some(&self.policy()), command)
    }

    /// Runs a program in a back end to its end.
    pub fn run(&self, backend: Backend, program: &str, args: &[&str]) -> Output {
        let confined = self.confine(backend, program, args.iter().map(OsString::from).collect()).unwrap();
        assert!(confined.state.active, "{:?}", confined.state);
        run(confined)
    }

    /// Lets the intruder try things; what came of each.
    pub fn attempts(&self, backend: Backend, attempts: &Value) -> Vec<String> {
        let script = self.root.path().join("intruder.py");
        let output = self.run(backend, PYTHON, &[script.to_str().unwrap(), &attempts.to_string()]);
        assert!(output.status.success(), "{backend}: {output:?}");
        serde_json::from_str(&output.stdout).unwrap()
    }

    /// Fails unless the first word of each result is the one beside it; `refused` stands for any error.
    pub fn expect(&self, backend: Backend, cases: &[(Value, &str)]) {
        let attempts = json!(cases.iter().map(|(attempt, _)| attempt.clone()).collect::<Vec<_>>());
        let results = self.attempts(backend, &attempts);
        let told: Vec<String> = cases
            .iter()
            .zip(&results)
            .filter(|((_, expected), result)| match *expected {
                "refused" => result.starts_with("ok"),
                expected => *result != expected,
            })
            .map(|((attempt, expected), result)| format!("{attempt}: expected {expected}, got {result}"))
            .collect();
        assert!(told.is_empty(), "{backend}:\n{}", told.join("\n"));
    }
}

fn inputs(base: &Path, workspace: &Path, patchbay: &Path) -> Inputs {
    let session = base.join("session");
    let variables = [
        ("HOME", base.join("home").into_os_string()),
        ("SSH_AUTH_SOCK", session.join("ssh-agent").into_os_string()),
        ("XDG_RUNTIME_DIR", session.clone().into_os_string()),
        ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}/bus", session.display()).into()),
    ];
    let mut host =
        Host::new(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()));
    host.temp = vec![base.join("temp")];
    // Sockets of whatever else runs on this machine come and go.
    host.socket_table = base.join("sockets");
    Inputs {
        mode: Mode::Auto,
        workspace: Some(workspace.into()),
        cwd: workspace.into(),
        patchbay_home: patchbay.into(),
        writable_paths: Vec::new(),
        blocked_paths: BLOCKED.iter().map(|text| (*text).into()).collect(),
        allow_network: true,
        host,
    }
}

/// Starts what was confined, and gives its info descriptor back.
#[expect(unsafe_code, reason = "a hook between fork and exec is unsafe to set")]
pub fn start(confined: Confined, output: Stdio) -> (Child, Option<OwnedFd>) {
    let Confined { command, keep, mut hook, info, .. } = confined;
    let mut started = Command::new(&command.program);
    started.args(&command.args).env_clear().envs(command.env).current_dir(&command.cwd);
    started.stdin(Stdio::null()).stdout(output).stderr(Stdio::piped()).process_group(0);
    let enter: Hook = Box::new(move || {
        // As a real start does: nothing but the three streams and what is kept.
        // SAFETY: numbers only.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        keep.iter().try_for_each(|fd| syscall::keep_over_exec(fd.as_raw_fd()))?;
        hook.as_mut().map_or(Ok(()), |hook| hook())
    });
    // SAFETY: the hook is async-signal-safe by its contract.
    unsafe { started.pre_exec(enter) };
    (started.spawn().unwrap(), info)
}

/// Starts what was confined and waits for its end.
pub fn run(confined: Confined) -> Output {
    // The info is not read, but somebody must be able to, or bubblewrap ends when it tells.
    let (mut child, _info) = start(confined, Stdio::piped());
    let mut stderr = child.stderr.take().unwrap();
    let stderr = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap()
    });
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let status = child.wait().unwrap();
    Output { status, stdout, stderr: stderr.join().unwrap() }
}
