//! The guard: a process between the owner and one server that ends everything when either end of it breaks.
//!
//! Forked inside `pre_exec`, it needs no executable of its own and holds in any host program:
//!
//! ```text
//! owner ──(socket pair, pidfd)── guard ── server ── whatever the server starts
//!                                  └───── orphans of the server, which re-parent to it (Linux)
//! ```
//!
//! - The owner's end of the socket pair closes when the owner ends by any cause; the guard then kills all of them.
//! - The guard is the leader of a session without a terminal; the server leads a process group within it.
//! - The guard reaps the server at once and tells its status, then waits until nothing is left, and ends.
//! - It only carries out orders; which step comes when is decided by the owner (`supervise`).
//! - When the guard itself is killed, the owner sees the end of the stream and ends the family (`family`).
//!
//! The code that runs in the child is async-signal-safe: no allocation, no lock, no panic. On macOS there is no
//! subreaper, so that only the server's process group is held there; that variant is type-checked but not run here.

mod enter;
#[cfg(target_os = "linux")]
mod image;
#[cfg(not(target_os = "linux"))]
mod kqueue;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod text;
#[cfg(target_os = "linux")]
mod trim;

use std::{
    io::{self, Read},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use tokio::process::Command;

use crate::sandbox::{Hook, Resolved};

#[cfg(not(target_os = "linux"))]
use kqueue::Child;
#[cfg(target_os = "linux")]
use linux::Child;

/// Length of a message from the guard: its kind and its number, in the machine's byte order.
const MESSAGE: usize = 8;
/// Kind of the message that tells the server's pid.
const STARTED: i32 = 1;
/// Kind of the message that tells the server's wait status.
const EXITED: i32 = 2;
/// Order to send SIGTERM to everything.
pub(crate) const TERM: u8 = b't';
/// Order to kill everything.
pub(crate) const KILL: u8 = b'k';
/// How long the first message may take; it is sent before the server's program runs.
const START_LIMIT: Duration = Duration::from_secs(10);

/// What a guard tells its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// The server's pid.
    Started(i32),
    /// The server's wait status.
    Exited(i32),
}

impl Message {
    fn from_bytes(bytes: [u8; MESSAGE]) -> io::Result<Self> {
        let [a, b, c, d, number @ ..] = bytes;
        let number = i32::from_ne_bytes(number);
        match i32::from_ne_bytes([a, b, c, d]) {
            STARTED => Ok(Self::Started(number)),
            EXITED => Ok(Self::Exited(number)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// What the child needs to know; everything is ready before the fork.
struct Charge {
    /// The guard's end of the socket pair.
    link: i32,
    /// The owner's pid.
    owner: i32,
    /// Generations of launcher above the server, which SIGTERM passes over.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has such launchers"))]
    launchers: u8,
}

/// A guard that is set up but not forked yet.
pub(crate) struct Guard {
    owner_end: UnixStream,
    /// Held open until the fork is done.
    _guard_end: UnixStream,
}

impl Guard {
    /// Makes `process` fork a guard before it runs `command`. `keep` stays open in the program, `hook` is the last
    /// thing before it.
    pub(crate) fn arm(
        process: &mut Command,
        command: &Resolved,
        launchers: u8,
        keep: &[OwnedFd],
        hook: Option<Hook>,
    ) -> io::Result<Self> {
        let (owner_end, guard_end) = UnixStream::pair()?;
        let owner = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        let charge = Charge { link: guard_end.as_raw_fd(), owner, launchers };
        let keep = keep.iter().map(AsRawFd::as_raw_fd).collect();
        let mut child = Child::new(charge, keep, hook, command)?;
        #[expect(unsafe_code, reason = "the guard is forked between fork and exec")]
        // SAFETY: the closure makes async-signal-safe calls only, as `enter`, its platform's half and `Hook` promise.
        unsafe {
            process.pre_exec(move || child.run());
        }
        Ok(Self { owner_end, _guard_end: guard_end })
    }

    /// After the start: waits for the server's pid. Blocking, but only until the guard's first step.
    pub(crate) fn started(self) -> io::Result<(i32, UnixStream)> {
        let mut link = self.owner_end;
        link.set_read_timeout(Some(START_LIMIT))?;
        let mut bytes = [0; MESSAGE];
        link.read_exact(&mut bytes)?;
        link.set_nonblocking(true)?;
        match Message::from_bytes(bytes)? {
            Message::Started(pid) => Ok((pid, link)),
            Message::Exited(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The owner's end of a running guard.
pub(crate) struct Link {
    pub(crate) stream: tokio::net::UnixStream,
    bytes: [u8; MESSAGE],
    filled: usize,
}

impl Link {
    /// Needs the runtime's context.
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        let stream = tokio::net::UnixStream::from_std(stream)?;
        Ok(Self { stream, bytes: [0; MESSAGE], filled: 0 })
    }

    /// The next message; `None` when the guard has ended. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            self.stream.readable().await.ok()?;
            match self.stream.try_read(&mut self.bytes[self.filled..]) {
                Ok(0) => return None,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
            if self.filled == MESSAGE {
                self.filled = 0;
                return Message::from_bytes(self.bytes).ok();
            }
        }
    }

    /// Sends an order. A closed link means that the guard has ended, which [`Link::next`] tells.
    pub(crate) fn order(&self, order: u8) {
        // One byte always fits: the guard reads them at once.
        let _ = self.stream.try_write(&[order]);
    }
}
