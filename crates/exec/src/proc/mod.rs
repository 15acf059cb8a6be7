//! Processes of this machine as its kernel lists them. A pid alone is no identity: its number may be given again.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::{era, list, look, signal};
#[cfg(target_os = "macos")]
pub(crate) use macos::{era, list, look, signal};

/// One process: the number together with when it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// The number.
    pub pid: i32,
    /// When the process started, in the kernel's own unit; comparable within one era.
    pub start: u64,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Which one.
    pub id: Identity,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its session.
    pub session: i32,
    /// Whether it has ended and waits to be reaped.
    pub ended: bool,
}

impl Identity {
    /// The process that has this number now.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        look(pid).map(|stat| stat.id)
    }

    /// Whether exactly this process still runs.
    pub(crate) fn alive(self) -> bool {
        look(self.pid).is_some_and(|stat| stat.id == self && !stat.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_another_start_is_another_process() {
        let own = Identity::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.alive());
        assert!(!Identity { start: own.start + 1, ..own }.alive());
        assert!(list().unwrap().iter().any(|stat| stat.id == own));
        assert_eq!(era(), era());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to be ended")]
    fn a_signal_reaches_only_the_process_that_is_meant() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = Identity::of(i32::try_from(child.id()).unwrap()).unwrap();
        signal(Identity { start: id.start + 1, ..id }, libc::SIGKILL);
        assert!(id.alive());
        signal(id, libc::SIGKILL);
        child.wait().unwrap();
        assert!(!id.alive());
    }
}
