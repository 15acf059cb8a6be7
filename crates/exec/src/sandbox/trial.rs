//! Running a back end, or its program, once and for a bounded time.

use std::{
    io::{self, PipeReader, Read},
    os::{
        fd::AsFd,
        unix::{fs::PermissionsExt, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use super::{
    Hook, Resolved,
    plan::Plan,
    poll::{Deadline, readable},
    probe::Working,
};

/// How long a trial may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The first line that a program writes.
#[cfg(target_os = "linux")]
pub(super) fn output(program: &Path, argument: &str) -> Result<String, String> {
    let text = finish(command(program).arg(argument), None)?;
    Ok(text.lines().next().unwrap_or_default().trim().chars().take(80).collect())
}

/// Runs `true` in a back end, without and with the network: the two are held by different means.
pub(super) fn run(working: &Working) -> Result<(), String> {
    [false, true].into_iter().try_for_each(|network| run_in(working, &Plan::trial(network)))
}

fn run_in(working: &Working, plan: &Plan) -> Result<(), String> {
    let program = program("true").ok_or("there is no program `true` to try it with")?;
    let trial =
        Resolved { server: "trial".into(), program, args: Vec::new(), env: Vec::new(), cwd: "/".into() };
    let confined = working.confine(plan, trial).map_err(|error| error.to_string())?;
    let (keep, mut hook) = (confined.keep, confined.hook);
    let enter: Hook = Box::new(move || {
        #[cfg(target_os = "linux")]
        for fd in &keep {
            super::syscall::keep_over_exec(std::os::fd::AsRawFd::as_raw_fd(fd))?;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = &keep;
        hook.as_mut().map_or(Ok(()), |hook| hook())
    });
    finish(command(&confined.command.program).args(&confined.command.args), Some(enter)).map(drop)
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").stdin(Stdio::null());
    command
}

/// Runs a command to its end; the error is what it wrote, or how it failed.
#[expect(unsafe_code, reason = "a hook between fork and exec is unsafe to set")]
fn finish(command: &mut Command, hook: Option<Hook>) -> Result<String, String> {
    let failed = |error: io::Error| error.to_string();
    let (mut output, written) = io::pipe().map_err(failed)?;
    command.stdout(written.try_clone().map_err(failed)?).stderr(written);
    if let Some(hook) = hook {
        // SAFETY: hooks are async-signal-safe by their contract.
        unsafe { command.pre_exec(hook) };
    }
    let mut child = command.spawn().map_err(failed)?;
    // The command holds the writing end too.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut text = Vec::new();
    let in_time = read_all(&mut output, &mut text).map_err(failed)?;
    if !in_time {
        child.kill().map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    match (in_time, status.success()) {
        (true, true) => Ok(text),
        (true, false) if !text.is_empty() => Err(text.chars().take(300).collect()),
        (true, false) => Err(format!("its trial failed ({status})")),
        (false, _) => Err(format!("its trial did not end within {} s", LIMIT.as_secs())),
    }
}

/// Reads to the end; whether that came in time and before too much was read.
fn read_all(output: &mut PipeReader, text: &mut Vec<u8>) -> io::Result<bool> {
    const MOST: usize = 64 * 1024;
    let mut part = [0; 4096];
    let deadline = Deadline::after(LIMIT);
    loop {
        let left = deadline.left();
        if left.is_zero() || text.len() > MOST {
            return Ok(false);
        }
        if readable(output.as_fd(), left)? {
            match output.read(&mut part)? {
                0 => return Ok(true),
                read => text.extend_from_slice(&part[..read]),
            }
        }
    }
}

/// Folders of programs that no server can write, whoever runs it. PATH is not asked: a server could put a false
/// bubblewrap into one of its folders.
const SYSTEM_FOLDERS: &[&str] = &[
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/run/wrappers/bin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
    "/home/linuxbrew/.linuxbrew/bin",
];

/// A program of the system.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let runs = |program: &PathBuf| {
        let found = program.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(runs)
}
