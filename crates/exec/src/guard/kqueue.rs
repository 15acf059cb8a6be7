//! The guard on macOS: one loop over the owner's link, the owner's and the server's end. Type-checked; not run here.
//!
//! There is no subreaper: what leaves the server's process group is not held.

#![expect(unsafe_code, reason = "system calls; every block says why it is sound")]

use std::io;

use super::{Charge, EXITED, KILL, MESSAGE, STARTED, TERM, enter};
use crate::sandbox::{Hook, Resolved};

/// Milliseconds between SIGTERM and SIGKILL when it is the guard that was sent SIGTERM.
const TERM_GRACE: i64 = 5000;
/// Milliseconds between looks at a group whose leader has ended.
const LOOK: i64 = 50;

/// What runs in the forked child.
pub(super) struct Child {
    charge: Charge,
    keep: Vec<i32>,
    hook: Option<Hook>,
}

impl Child {
    pub(super) fn new(
        charge: Charge,
        keep: Vec<i32>,
        hook: Option<Hook>,
        _command: &Resolved,
    ) -> io::Result<Self> {
        Ok(Self { charge, keep, hook })
    }

    /// Forks: returns in the server's process, which the standard library then makes the program, and never in the
    /// guard's.
    pub(super) fn run(&mut self) -> io::Result<()> {
        enter::leave_the_host()?;
        // SAFETY: this process has one thread, and both sides make async-signal-safe calls only.
        match unsafe { libc::fork() } {
            0 => {
                enter::server(&self.keep)?;
                self.hook.as_mut().map_or(Ok(()), |hook| hook())
            }
            server if server > 0 => keep(&self.charge, server),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

pub(super) fn default_signal(signal: i32) {
    // SAFETY: SIG_DFL is a valid disposition; numbers that cannot be set are refused.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

struct Keeper {
    server: i32,
    server_ended: bool,
    link: i32,
    killing: bool,
    /// Milliseconds left until SIGKILL follows the guard's own SIGTERM; negative: never.
    grace: i64,
}

/// The guard's life: returns never.
fn keep(charge: &Charge, server: i32) -> ! {
    // Both sides do it, so that the group is there for both; it fails where the server has become its program.
    let _ = enter::own_group(server);
    // SAFETY: the path is NUL-terminated; the descriptors closed are the guard's own, or refused.
    unsafe {
        libc::chdir(c"/".as_ptr());
        for descriptor in 0..enter::descriptor_limit() {
            if descriptor != charge.link {
                libc::close(descriptor);
            }
        }
    }
    tell(charge.link, STARTED, server);
    // SAFETY: takes nothing.
    let queue = unsafe { libc::kqueue() };
    watch(queue, charge.link, libc::EVFILT_READ, 0);
    watch(queue, libc::SIGTERM, libc::EVFILT_SIGNAL, 0);
    watch(queue, server, libc::EVFILT_PROC, libc::NOTE_EXIT);
    let watched = watch(queue, charge.owner, libc::EVFILT_PROC, libc::NOTE_EXIT);
    // SAFETY: takes nothing.
    let orphaned = !watched || unsafe { libc::getppid() } != charge.owner;
    Keeper { server, server_ended: false, link: charge.link, killing: orphaned, grace: -1 }
        .run(queue, charge.owner)
}

/// `false` where there is no such process any more.
fn watch(queue: i32, what: i32, filter: i16, flags: u32) -> bool {
    let event = libc::kevent {
        ident: what.unsigned_abs() as usize,
        filter,
        flags: libc::EV_ADD,
        fflags: flags,
        data: 0,
        udata: std::ptr::null_mut(),
    };
    // SAFETY: one change is passed, no place for events.
    unsafe { libc::kevent(queue, &raw const event, 1, std::ptr::null_mut(), 0, std::ptr::null()) == 0 }
}

fn tell(link: i32, kind: i32, number: i32) {
    let mut message = [0_u8; MESSAGE];
    let bytes = kind.to_ne_bytes().into_iter().chain(number.to_ne_bytes());
    message.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    // SAFETY: the buffer is valid for its length. SIGPIPE is blocked.
    unsafe { libc::write(link, message.as_ptr().cast(), MESSAGE) };
}

impl Keeper {
    fn run(&mut self, queue: i32, owner: i32) -> ! {
        loop {
            self.reap();
            if self.killing {
                self.signal(libc::SIGKILL);
            }
            let limit = if self.server_ended || self.killing || self.grace >= 0 { Some(LOOK) } else { None };
            match next_event(queue, limit) {
                Some((libc::EVFILT_READ, _)) if !self.take_order() => self.killing = true,
                Some((libc::EVFILT_PROC, pid)) if pid == owner => self.killing = true,
                Some((libc::EVFILT_SIGNAL, _)) if self.grace < 0 => {
                    self.signal(libc::SIGTERM);
                    self.grace = TERM_GRACE;
                }
                None if self.grace >= 0 => {
                    self.grace = self.grace.wrapping_sub(LOOK).max(0);
                    self.killing |= self.grace == 0;
                }
                _ => {}
            }
        }
    }

    /// Reaps the server; ends the guard when its group is empty.
    fn reap(&mut self) {
        let mut status = 0;
        // SAFETY: the status is a valid place to write to.
        if !self.server_ended
            && unsafe { libc::waitpid(self.server, &raw mut status, libc::WNOHANG) } == self.server
        {
            self.server_ended = true;
            tell(self.link, EXITED, status);
        }
        // While a member is left, the number cannot become another group's.
        if self.server_ended && !self.signal(0) {
            // SAFETY: takes a number; does not return.
            unsafe { libc::_exit(0) };
        }
    }

    fn take_order(&mut self) -> bool {
        let mut order = [0_u8; 1];
        // SAFETY: the buffer is valid for its length.
        if unsafe { libc::read(self.link, order.as_mut_ptr().cast(), 1) } != 1 {
            return false;
        }
        match order {
            [TERM] => {
                self.signal(libc::SIGTERM);
            }
            [KILL] => self.killing = true,
            _ => {}
        }
        true
    }

    /// `false` where the group is empty.
    fn signal(&self, signal: i32) -> bool {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(-self.server, signal) == 0 }
    }
}

/// Filter and subject of the next event; `None` when the limit, in milliseconds, has passed.
fn next_event(queue: i32, limit: Option<i64>) -> Option<(i16, i32)> {
    let limit = limit.map(|limit| libc::timespec { tv_sec: 0, tv_nsec: limit.wrapping_mul(1_000_000) });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: zero is a valid value of every field; one event is asked for, and the limit outlives the call.
    let (count, event) = unsafe {
        let mut event: libc::kevent = std::mem::zeroed();
        (libc::kevent(queue, std::ptr::null(), 0, &raw mut event, 1, limit), event)
    };
    (count == 1).then(|| (event.filter, i32::try_from(event.ident).unwrap_or(-1)))
}
