//! The guard on Linux: one loop over the owner's link, the owner's pidfd and its own signals.

use std::{ffi::c_void, io};

use super::{
    Charge, EXITED, KILL, MESSAGE, STARTED, TERM, enter,
    image::Image,
    orphans::{Scratch, children_by_scan},
    raw, trim,
};
use crate::sandbox::{Hook, Resolved};

/// Size of the stack on which the server's process gets ready, in units of 16 bytes: 256 KiB, of which only what is
/// used is ever there.
const STACK: usize = 16 * 1024;

/// After how long the owner's memory is given back. A server that ends at once is not worth the work, and while ten
/// start, the processor has better things to do.
const TRIM_AFTER: i64 = 500;
/// What servers get between SIGTERM and SIGKILL when it is the guard that was sent SIGTERM, in milliseconds.
const TERM_GRACE: i64 = 5000;
/// First and longest pause between two rounds of killing; the end of a child ends it early.
const ROUND: i64 = 2;
const LONGEST_ROUND: i64 = 500;
/// Rounds in which nothing could be killed after which the guard of a dead owner gives up: what is left belongs to
/// another user by now.
const HOPELESS: u32 = 50;
/// Signals that are looked at; the others stay blocked.
const WATCHED: u64 = 1 << (libc::SIGCHLD - 1) | 1 << (libc::SIGTERM - 1);
/// Descriptors that the guard keeps start here: 0 to 2 are the server's pipes.
const LOWEST: i32 = 3;

/// What runs in the forked child.
pub(super) struct Child {
    charge: Charge,
    keep: Vec<i32>,
    hook: Option<Hook>,
    image: Image,
    /// Where the server's process runs until it becomes its program.
    stack: Vec<u128>,
    /// Why it could not; 0 while nothing has failed.
    failure: i32,
}

impl Child {
    pub(super) fn new(
        charge: Charge,
        keep: Vec<i32>,
        hook: Option<Hook>,
        command: &Resolved,
    ) -> io::Result<Self> {
        let image = Image::new(&command.program, &command.args, &command.env)?;
        Ok(Self { charge, keep, hook, image, stack: vec![0; STACK], failure: 0 })
    }

    /// Starts the server and becomes its guard: returns only where the server could not be started.
    pub(super) fn run(&mut self) -> io::Result<()> {
        enter::leave_the_host()?;
        // From before there is a server, its orphans come to the guard.
        if raw::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) < 0 {
            return Err(io::Error::last_os_error());
        }
        let server = self.start();
        if server < 0 {
            return Err(io::Error::last_os_error());
        }
        if self.failure != 0 {
            return Err(io::Error::from_raw_os_error(self.failure));
        }
        keep(&self.charge, server)
    }

    /// The server's process shares this one's memory until it becomes its program, and this one waits for that: a
    /// second copy of the page tables of a large host would cost as much as the first.
    fn start(&mut self) -> i32 {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let top = self.stack.as_mut_ptr_range().end;
        #[expect(unsafe_code, reason = "system call")]
        // SAFETY: the stack is the child's alone, aligned and large enough for its few calls; this process does not
        // run while the child uses `self`, and the child ends by `execve` or `_exit` without returning.
        unsafe {
            libc::clone(become_server, top.cast(), flags, std::ptr::from_mut(self).cast())
        }
    }
}

extern "C" fn become_server(child: *mut c_void) -> i32 {
    #[expect(unsafe_code, reason = "the argument of the system call")]
    // SAFETY: `start` passes its own exclusive reference and waits until this process uses it no more.
    let child = unsafe { &mut *child.cast::<Child>() };
    let ready = enter::server(&child.keep).and_then(|()| child.hook.as_mut().map_or(Ok(()), |hook| hook()));
    child.failure = match ready {
        Ok(()) => child.image.execute(),
        Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
    };
    raw::exit(1)
}

/// See [`raw::default_signal`].
pub(super) fn default_signal(signal: i32) {
    raw::default_signal(signal);
}

struct Keeper {
    server: i32,
    server_ended: bool,
    owner_gone: bool,
    launchers: u8,
    link: i32,
    killing: bool,
    /// When SIGKILL follows the guard's own SIGTERM; 0: never.
    kill_at: i64,
    pause: i64,
    hopeless: u32,
    scratch: Scratch,
}

/// The guard's life: returns never.
fn keep(charge: &Charge, server: i32) -> ! {
    let owner = raw::pidfd_open(charge.owner);
    let (link, owner, signals) = adopt(charge.link, owner, raw::signalfd(WATCHED));
    tell(link, STARTED, server);
    raw::chdir(b"/\0");
    trim::rename();
    // Neither a debugger nor a core file of another process of this user gets at what the fork copied.
    raw::prctl(libc::PR_SET_DUMPABLE, 0);
    let mut keeper = Keeper {
        server,
        server_ended: false,
        // A pidfd of a recycled pid is possible only where the parent is another one by now. Without a link nobody
        // could be heard.
        owner_gone: link < 0 || raw::getppid() != charge.owner,
        launchers: charge.launchers,
        link,
        killing: false,
        kill_at: 0,
        pause: ROUND,
        hopeless: 0,
        scratch: Scratch::new(),
    };
    keeper.run(owner, signals)
}

/// Moves the guard's descriptors to the lowest free numbers above the standard ones and closes all others: the
/// server's pipes must have no second holder.
fn adopt(link: i32, owner: i32, signals: i32) -> (i32, i32, i32) {
    // First above everything that may be in the way, then down.
    let high = [link, owner, signals].map(|descriptor| raw::dup_above(descriptor, 64));
    close_all(0, 63);
    let low = high.map(|descriptor| raw::dup_above(descriptor, LOWEST));
    close_all(LOWEST + 3, i32::MAX);
    (low[0], low[1], low[2])
}

fn close_all(first: i32, last: i32) {
    if raw::close_range(first.unsigned_abs(), last.unsigned_abs(), 0) != 0 {
        (first..=last.min(enter::descriptor_limit())).for_each(raw::close);
    }
}

fn tell(link: i32, kind: i32, number: i32) {
    let mut message = [0_u8; MESSAGE];
    let bytes = kind.to_ne_bytes().into_iter().chain(number.to_ne_bytes());
    message.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    raw::send(link, &message);
}

impl Keeper {
    fn run(&mut self, owner: i32, signals: i32) -> ! {
        let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut descriptors = [watch(self.link), watch(owner), watch(signals)];
        let mut trimmed = false;
        loop {
            self.reap();
            if self.owner_gone || self.kill_at > 0 && raw::now() >= self.kill_at {
                self.killing = true;
            }
            if self.killing {
                self.kill_round();
            }
            let ready = raw::poll(&mut descriptors, self.timeout(trimmed));
            if ready == 0 && !trimmed && !self.killing {
                trim::trim();
                trimmed = true;
            }
            let [link, owner, signals] = &mut descriptors;
            if link.revents != 0 && !self.take_order() || owner.revents != 0 {
                self.owner_gone = true;
                // Nothing more comes from there; a negative number is passed over.
                (link.fd, owner.fd) = (-1, -1);
            }
            if signals.revents != 0 {
                self.take_signals(signals.fd);
            }
        }
    }

    fn timeout(&self, trimmed: bool) -> i64 {
        if self.killing {
            self.pause
        } else if self.kill_at > 0 {
            self.kill_at.wrapping_sub(raw::now()).max(0)
        } else if trimmed {
            raw::FOREVER
        } else {
            TRIM_AFTER
        }
    }

    /// Reaps whoever has ended; ends the guard when nobody is left.
    fn reap(&mut self) {
        loop {
            match raw::reap() {
                (0, _) => return,
                (pid, status) if pid > 0 => {
                    (self.pause, self.hopeless) = (ROUND, 0);
                    if pid == self.server {
                        self.server_ended = true;
                        tell(self.link, EXITED, status);
                    }
                }
                _ => raw::exit(0),
            }
        }
    }

    /// `false` when the owner's end is closed.
    fn take_order(&mut self) -> bool {
        let mut order = [0_u8; 1];
        if raw::read(self.link, &mut order) != 1 {
            return false;
        }
        match order {
            [TERM] => self.term(),
            [KILL] => self.killing = true,
            _ => {}
        }
        true
    }

    fn take_signals(&mut self, signals: i32) {
        // `struct signalfd_siginfo` starts with the signal's number and has 128 bytes.
        let mut signal = [0_u8; 128];
        while raw::read(signals, &mut signal) > 0 {
            if let [low, ..] = signal
                && i32::from(low) == libc::SIGTERM
                && self.kill_at == 0
            {
                self.term();
                self.kill_at = raw::now().wrapping_add(TERM_GRACE);
            }
        }
    }

    /// SIGTERM to the whole family, once to each, past the launchers: bubblewrap would take the server down with it.
    fn term(&mut self) {
        let (server, launchers) = (self.server, self.launchers);
        // While the server is not reaped, its number is its group's; afterwards it may be anybody's.
        let as_group = launchers == 0 && !self.server_ended && raw::kill(-server, libc::SIGTERM);
        let mut reached = as_group;
        self.scratch.descendants(raw::getpid(), |pid, depth| {
            if depth >= launchers && !(as_group && raw::getpgid(pid) == server) {
                reached |= raw::kill(pid, libc::SIGTERM);
            }
        });
        if !reached && !self.server_ended {
            raw::kill(server, libc::SIGTERM);
        }
    }

    /// SIGKILL to the server's group and to the guard's own children. Only the guard reaps them, so that none of the
    /// numbers can be another process; what they leave behind is the guard's child in the next round.
    fn kill_round(&mut self) {
        let mut killed = !self.server_ended && raw::kill(-self.server, libc::SIGKILL);
        let own = raw::getpid();
        let mut kill = |pid| killed |= raw::kill(pid, libc::SIGKILL);
        if !self.scratch.children(own, &mut kill) {
            children_by_scan(&mut self.scratch, own, &mut kill);
        }
        self.pause = self.pause.wrapping_mul(2).min(LONGEST_ROUND);
        self.hopeless = if killed { 0 } else { self.hopeless.wrapping_add(1) };
        if self.owner_gone && self.hopeless > HOPELESS {
            raw::exit(1);
        }
    }
}
