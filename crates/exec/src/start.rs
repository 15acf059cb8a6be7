//! The start of one process under its guard, with pipes on all three standard descriptors.

use std::{io, os::unix::net::UnixStream, process::Stdio, time::Duration};

use tokio::process::{Child, Command};

use crate::{
    guard::Guard,
    sandbox::{Confined, Resolved},
};

/// Attempts while somebody still writes to the program, and the pause between two: another thread's fork holds a
/// file that was just written open for a moment.
const BUSY_ATTEMPTS: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// What was started.
pub(crate) struct Started {
    /// The guard, with the server's pipes.
    pub guard: Child,
    /// The owner's end of the link to the guard.
    pub link: UnixStream,
    /// The pid of what the guard started: the server, or the launcher of its sandbox.
    pub server: i32,
}

/// Starts a command. Blocking: until the program runs, or could not be run. Needs the runtime's context.
pub(crate) fn start(confined: &mut Confined) -> io::Result<Started> {
    let mut process = prepare(&confined.command);
    let guard = Guard::arm(
        &mut process,
        &confined.command,
        confined.launchers,
        &confined.keep,
        confined.hook.take(),
    )?;
    run(process, guard)
}

/// As [`start`], for a command of our own that needs no sandbox.
pub(crate) fn bare(command: &Resolved) -> io::Result<Started> {
    let mut process = prepare(command);
    let guard = Guard::arm(&mut process, command, 0, &[], None)?;
    run(process, guard)
}

fn run(mut process: Command, guard: Guard) -> io::Result<Started> {
    let child = process.spawn()?;
    // The hook and everything else that the command holds of the child's side goes before the first wait.
    drop(process);
    let (server, link) = guard.started()?;
    Ok(Started { guard: child, link, server })
}

/// Runs `attempt` again while the program is busy.
pub(crate) fn while_busy<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..BUSY_ATTEMPTS {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(BUSY_PAUSE),
            result => return result,
        }
    }
    attempt()
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn prepare(command: &Resolved) -> Command {
    let mut process = Command::new(&command.program);
    process.current_dir(&command.cwd);
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // On Linux the guard's side executes the program itself.
    #[cfg(not(target_os = "linux"))]
    process.args(&command.args).env_clear().envs(command.env.iter().map(|(name, value)| (name, value)));
    process
}
