//! The OS sandbox. One [`Policy`] says what a server may do; every back end is made from it.
//!
//! This file holds the seam to the rest of the crate: [`confine`] turns a resolved command and a policy into what is
//! started in its stead. The road: `policy` (pure, from settings and `host`) → `plan` (what that is on this disk, now,
//! with what `closed` and `walk` find) → one back end (`bwrap`, `landlock` with `seccomp`, `seatbelt`), chosen by
//! `probe`. `explain` goes the other way: from what a server wrote to the setting that denied it.

#![cfg_attr(
    windows,
    allow(dead_code, reason = "Windows has no back end yet: policies are made and nothing holds them")
)]

#[cfg(target_os = "linux")]
mod bwrap;
#[cfg(unix)]
mod closed;
mod explain;
mod host;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(unix)]
mod plan;
mod policy;
#[cfg(unix)]
mod poll;
mod probe;
#[cfg(any(target_os = "macos", all(test, unix)))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod syscall;
#[cfg(unix)]
mod trial;
#[cfg(unix)]
mod walk;

#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(windows)]
use std::os::windows::io::OwnedHandle as OwnedFd;
use std::{ffi::OsString, io, path::PathBuf, time::Duration};

use patchbay_api::SandboxState;

use crate::ExecError;

#[cfg(unix)]
pub use closed::Held;
pub use explain::{Denial, explain};
pub use host::Host;
pub use policy::{Inputs, Mode, Policy};
pub use probe::Backend;
pub(crate) use probe::Probe;

/// A command after look-up: what would be started without a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    /// The server, for errors.
    pub server: String,
    /// The program's full path.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder (exists).
    pub cwd: PathBuf,
}

/// Runs in the child between fork and exec: async-signal-safe calls only.
pub(crate) type Hook = Box<dyn FnMut() -> io::Result<()> + Send + Sync>;

/// How a launcher begins each line of its own on stderr.
pub(crate) const LAUNCHER_SAYS: &str = "bwrap: ";

/// What is started, and how it is held.
pub(crate) struct Confined {
    /// The command that is really started: the server's own, or a launcher with the server's behind it.
    pub command: Resolved,
    /// Descriptors that stay open over exec, under their own numbers (they may be close-on-exec now).
    pub keep: Vec<OwnedFd>,
    /// Last step before exec, in the server's process (never in its guard).
    pub hook: Option<Hook>,
    /// Where a launcher tells the host's pid of what it started; see [`host_pid`].
    pub info: Option<OwnedFd>,
    /// How many generations of launcher stand above the server: SIGTERM passes them over. bubblewrap with a
    /// PID namespace has 2 (bwrap itself and the namespace's init).
    pub launchers: u8,
    /// What everybody is shown.
    pub state: SandboxState,
    /// The blocked names that are held; it tells which appear later.
    #[cfg(unix)]
    pub held: Option<Held>,
}

impl Confined {
    /// A command that nothing holds.
    fn bare(command: Resolved, label: &str) -> Self {
        let state = SandboxState { active: false, label: label.into(), gaps: Vec::new() };
        Self {
            command,
            keep: Vec::new(),
            hook: None,
            info: None,
            launchers: 0,
            state,
            #[cfg(unix)]
            held: None,
        }
    }
}

/// Applies a policy; `None` means that none is wanted for this server. Blocking (a first call tries the back ends,
/// each looks through the workspace): call it off the runtime's threads.
///
/// A bubblewrap ends with the *thread* that forked it, so start its command from a thread that lives as long as the
/// server.
///
/// # Errors
/// [`ExecError::Sandbox`] where the policy asks for a sandbox that cannot be had.
pub(crate) fn confine(
    probe: &Probe,
    policy: Option<&Policy>,
    command: Resolved,
) -> Result<Confined, ExecError> {
    let Some(policy) = policy else {
        return Ok(Confined::bare(command, "off for this server (`sandbox = false`)"));
    };
    match (policy.mode(), Backend::HERE) {
        (Mode::Off, _) => Ok(Confined::bare(command, "off (`[sandbox] mode = \"off\"`)")),
        (Mode::Auto, []) => Ok(Confined::bare(command, "none: this system has no sandbox for servers yet")),
        (Mode::Required, []) => {
            Err(refusal(&command.server, "this system has no sandbox for servers yet".into()))
        }
        _ => hold(probe, policy, command),
    }
}

/// Reads the server's host pid from a launcher's info descriptor, waiting at most `limit`. Blocking.
///
/// # Errors
/// Where the launcher ended or said nothing in time.
pub(crate) fn host_pid(info: OwnedFd, limit: Duration) -> io::Result<u32> {
    #[cfg(target_os = "linux")]
    return bwrap::server_pid(info, limit);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (info, limit);
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(unix)]
fn hold(probe: &Probe, policy: &Policy, mut command: Resolved) -> Result<Confined, ExecError> {
    let server = command.server.clone();
    let found = probe.found();
    let Some(working) = &found.working else {
        return Err(refusal(&server, format!("no sandbox works here ({})", probe.reasons())));
    };
    let (plan, held) = plan::Plan::new(policy).map_err(|reason| ExecError::Sandbox {
        server: server.clone(),
        reason,
        hint: Some("Choose another folder, or take the entry out of `[sandbox] blocked_paths`.".into()),
    })?;
    command.env.retain(|(name, _)| !host::DOOR_VARIABLES.iter().any(|door| name == door));
    let failed = |error: io::Error| refusal(&server, format!("its sandbox could not be prepared: {error}"));
    let mut confined = working.confine(&plan, command).map_err(failed)?;
    if policy.mode() == Mode::Required && !confined.state.gaps.is_empty() {
        let gaps = confined.state.gaps.join("; ");
        let reason = format!("{} cannot hold all that its sandbox policy asks: {gaps}", confined.state.label);
        return Err(refusal(&server, reason));
    }
    if !found.failed.is_empty() {
        confined.state.label = format!("{} ({})", confined.state.label, probe.reasons());
    }
    confined.held = Some(held);
    Ok(confined)
}

/// Never called: a system without back ends was answered before.
#[cfg(not(unix))]
fn hold(probe: &Probe, _policy: &Policy, command: Resolved) -> Result<Confined, ExecError> {
    Err(refusal(&command.server, probe.reasons()))
}

/// A server that does not start for want of a sandbox, with what can be done.
fn refusal(server: &str, reason: String) -> ExecError {
    let install =
        if cfg!(target_os = "linux") { "Install bubblewrap (package `bubblewrap`), or r" } else { "R" };
    let hint = format!("{install}un this server without a sandbox: `sandbox = false` in its entry.");
    ExecError::Sandbox { server: server.into(), reason, hint: Some(hint) }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
