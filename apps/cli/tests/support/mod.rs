//! A home and a project of a test's own, the program run in them, and a small scripted server.

mod agent;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub use agent::Agent;
pub use server::Server;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A home, a project and a user's folder.
pub struct Place {
    dir: TempDir,
}

impl Place {
    /// One with these settings.
    pub fn with(settings: &str) -> Self {
        let place = Self { dir: TempDir::new().unwrap() };
        fs::create_dir_all(place.project().join(".git")).unwrap();
        fs::create_dir_all(place.home()).unwrap();
        set_private(&place.home());
        write(&place.settings(), settings);
        place
    }

    /// One without a settings file.
    pub fn empty() -> Self {
        let place = Self::with("");
        fs::remove_file(place.settings()).unwrap();
        place
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn settings(&self) -> PathBuf {
        self.home().join("settings.toml")
    }

    /// The folder that commands run in.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub fn text(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    /// The program, not started yet.
    #[expect(clippy::disallowed_methods, reason = "the test is the person at the terminal")]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patchbay"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .env("PATCHBAY_HOME", self.home())
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        ended(args, self.command(args).spawn().unwrap())
    }

    /// Runs it with this on standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Ended {
        use std::io::Write as _;
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ended(args, child)
    }

    /// Runs what must succeed; gives its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.err);
        ended.out
    }

    /// Runs what must succeed with `--json`; gives the value.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
    }

    /// Runs what must fail with this exit code; gives its standard error.
    pub fn fails(&self, code: i32, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, Some(code), "{args:?}: {} {}", ended.out, ended.err);
        ended.err
    }

    /// Starts `patchbay serve` and waits until it listens.
    pub fn serve(&self) -> Owner {
        use std::io::BufRead as _;
        let mut child = self.command(&["serve", "--json"]).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("serve: {error}: {line:?}"));
        assert_eq!(told["pid"], child.id());
        Owner(child)
    }
}

/// What a run of the program left.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Waits for the end; a program that hangs fails the test.
fn ended(args: &[&str], mut child: Child) -> Ended {
    // Read while it runs: a full pipe would keep it from ending.
    let out = drain(child.stdout.take().unwrap());
    let err = drain(child.stderr.take().unwrap());
    let status = wait_for(&format!("the end of {args:?}"), || child.try_wait().unwrap());
    let text = |bytes: std::thread::JoinHandle<Vec<u8>>| String::from_utf8(bytes.join().unwrap()).unwrap();
    let ended = Ended { code: status.code(), out: text(out), err: text(err) };
    assert!(!ended.err.contains("panicked"), "{args:?}: {}", ended.err);
    ended
}

fn drain(mut stream: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// A running owner; killed when the test ends early.
pub struct Owner(Child);

impl Owner {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal and waits for the end; gives the exit code.
    pub fn end(mut self, signal: &str) -> Option<i32> {
        send_signal(signal, self.0.id());
        wait_for("the owner's end", || self.0.try_wait().unwrap()).code()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until `look` finds something.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let step = Duration::from_millis(5);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(step);
    }
    panic!("waited in vain for {what}")
}

/// Whether a process lives (and is no zombie).
pub fn alive(pid: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[expect(clippy::disallowed_methods, reason = "a signal to the test's own child")]
pub fn send_signal(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn set_private(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
}
