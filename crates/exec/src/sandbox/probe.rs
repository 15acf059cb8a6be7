//! Which back end works here: each is really run once, around `true`, and the answer is kept.

#[cfg(any(target_os = "linux", target_os = "macos"))]
use std::io;
use std::{fmt, sync::OnceLock};

use patchbay_api::SandboxState;

#[cfg(any(target_os = "linux", target_os = "macos"))]
use super::{Confined, Resolved, plan::Plan, trial};

#[cfg(target_os = "macos")]
use super::seatbelt;
#[cfg(target_os = "linux")]
use super::{bwrap::Bubblewrap, landlock};

/// A way to hold a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Namespaces and mounts, by the program bubblewrap. Linux.
    Bubblewrap,
    /// Landlock with a system call filter. Linux.
    Landlock,
    /// `sandbox-exec`. macOS.
    Seatbelt,
}

impl Backend {
    /// The back ends of this system, the best first.
    pub const HERE: &'static [Self] = if cfg!(target_os = "linux") {
        &[Self::Bubblewrap, Self::Landlock]
    } else if cfg!(target_os = "macos") {
        &[Self::Seatbelt]
    } else {
        &[]
    };
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "Landlock",
            Self::Seatbelt => "Seatbelt",
        })
    }
}

/// A back end that worked in its trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Working {
    #[cfg(target_os = "linux")]
    Bubblewrap(Bubblewrap),
    #[cfg(target_os = "linux")]
    Landlock,
    #[cfg(target_os = "macos")]
    Seatbelt,
}

impl Working {
    fn backend(&self) -> Backend {
        match *self {
            #[cfg(target_os = "linux")]
            Self::Bubblewrap(_) => Backend::Bubblewrap,
            #[cfg(target_os = "linux")]
            Self::Landlock => Backend::Landlock,
            #[cfg(target_os = "macos")]
            Self::Seatbelt => Backend::Seatbelt,
        }
    }

    /// Puts a command into this back end.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn confine(&self, plan: &Plan, command: Resolved) -> io::Result<Confined> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Bubblewrap(bubblewrap) => bubblewrap.confine(plan, command),
            #[cfg(target_os = "linux")]
            Self::Landlock => landlock::confine(plan, command),
            #[cfg(target_os = "macos")]
            Self::Seatbelt => Ok(seatbelt::confine(plan, command)),
        }
    }
}

/// What the trials showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The best back end that works.
    pub working: Option<Working>,
    /// Those before it that do not, and why.
    pub failed: Vec<(Backend, String)>,
}

/// Probe results, kept by `Exec` for its whole life: a new one has probed nothing yet.
#[derive(Debug)]
pub(crate) struct Probe {
    candidates: Vec<Backend>,
    found: OnceLock<Found>,
}

impl Default for Probe {
    fn default() -> Self {
        Self::of(Backend::HERE.to_vec())
    }
}

impl Probe {
    /// Tries only these, in this order.
    pub(crate) fn of(candidates: Vec<Backend>) -> Self {
        Self { candidates, found: OnceLock::new() }
    }

    /// The back end that works. Blocking: the first call runs the trials.
    pub(crate) fn found(&self) -> &Found {
        self.found.get_or_init(|| {
            let mut failed = Vec::new();
            for backend in &self.candidates {
                match attempt(*backend) {
                    Ok(working) => {
                        return Found { working: Some(working), failed };
                    }
                    Err(error) => failed.push((*backend, error)),
                }
            }
            Found { working: None, failed }
        })
    }

    /// What works here, for people. Blocking like [`Probe::found`].
    pub(crate) fn summary(&self) -> SandboxState {
        let found = self.found();
        let label = match (&found.working, self.candidates.is_empty()) {
            (Some(working), _) if found.failed.is_empty() => working.backend().to_string(),
            (Some(working), _) => format!("{} ({})", working.backend(), self.reasons()),
            (None, true) => "this system has no sandbox for servers yet".into(),
            (None, false) => self.reasons(),
        };
        SandboxState { active: found.working.is_some(), label, gaps: Vec::new() }
    }

    /// Why there is none, in words.
    pub(crate) fn reasons(&self) -> String {
        let one = |(backend, reason): &(Backend, String)| format!("{backend}: {reason}");
        self.found().failed.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

/// Finds a back end and runs it around `true`; the error says in words what went wrong.
#[cfg(target_os = "linux")]
fn attempt(backend: Backend) -> Result<Working, String> {
    let working = match backend {
        Backend::Bubblewrap => {
            let program = trial::program("bwrap").ok_or("it is not installed")?;
            let version = trial::output(&program, "--version")?;
            Working::Bubblewrap(Bubblewrap { program, version })
        }
        Backend::Landlock if super::syscall::landlock_version() == 0 => {
            return Err("this kernel has none, or it is switched off".into());
        }
        Backend::Landlock => Working::Landlock,
        Backend::Seatbelt => return Err("it belongs to macOS".into()),
    };
    trial::run(&working)?;
    Ok(working)
}

/// Finds a back end and runs it around `true`; the error says in words what went wrong.
#[cfg(target_os = "macos")]
fn attempt(backend: Backend) -> Result<Working, String> {
    if backend != Backend::Seatbelt {
        return Err("it belongs to Linux".into());
    }
    trial::run(&Working::Seatbelt)?;
    Ok(Working::Seatbelt)
}

/// There is none.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn attempt(_backend: Backend) -> Result<Working, String> {
    Err("it does not exist on this system".into())
}
