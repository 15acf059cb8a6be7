//! Signals, streams that are closed early, and processes of the fake's own.

use std::{
    io,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use patchbay_tests::fixture::record::{Record, start_time};
use serde_json::json;

use crate::script::{Descendant, Stream};

/// The longest that any process of the fake lives: a test that fails must not leave it for good.
const LIFETIME: Duration = Duration::from_secs(300);

/// Waits for the end of [`LIFETIME`], then ends the process.
pub fn hang() -> ! {
    thread::sleep(LIFETIME);
    std::process::exit(99)
}

/// Ends the process after [`LIFETIME`], whatever it does.
pub fn limit_lifetime() {
    thread::spawn(|| hang());
}

/// Starts a descendant and waits until it has written itself down.
pub fn spawn(descendant: Descendant, record: &Record) -> io::Result<()> {
    let before = record.count("descendant");
    let mut child = start(if descendant.daemon { "between" } else { "child" }, descendant, record)?;
    if descendant.daemon {
        child.wait()?;
    }
    while record.0.is_some() && record.count("descendant") == before {
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a fixture's processes are what the tests hunt: nothing owns them"
)]
fn start(role: &str, descendant: Descendant, record: &Record) -> io::Result<std::process::Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--descendant", role]).arg(if descendant.ignore_sigterm { "deaf" } else { "hearing" });
    command.args(&record.0);
    if descendant.daemon {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    command.spawn()
}

/// The life of a descendant: `args` are its role, whether it hears SIGTERM, and the record.
pub fn descendant(args: &[String]) -> io::Result<()> {
    let deaf = args.get(1).is_some_and(|word| word == "deaf");
    let record = Record(args.get(2).map(Into::into));
    if args.first().is_some_and(|role| role == "between") {
        // Its parent's end gives the next one away to whoever takes orphans.
        start("daemon", Descendant { daemon: true, ignore_sigterm: deaf }, &record)?;
        return Ok(());
    }
    if args.first().is_some_and(|role| role == "daemon") {
        sys::new_session();
    }
    if deaf {
        sys::ignore_sigterm();
    }
    record.add("descendant", json!({"role": args.first(), "start_time": start_time()}))?;
    hang()
}

/// Closes a stream for good.
pub fn close(stream: Stream) -> io::Result<()> {
    sys::close(match stream {
        Stream::Stdout => 1,
        Stream::Stderr => 2,
    })
}

pub use sys::{catch_sigterm, signal_self};

#[cfg(unix)]
mod sys {
    use std::{fs::OpenOptions, io, mem::MaybeUninit, os::fd::AsRawFd, ptr, thread};

    /// Makes SIGTERM run `work`, on a thread of its own; before any other thread is started.
    #[expect(unsafe_code, reason = "sigwait")]
    pub fn catch_sigterm(work: impl Fn() + Send + 'static) {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialised by sigemptyset before it is used.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
            set.assume_init()
        };
        thread::spawn(move || {
            loop {
                let mut signal = 0;
                // SAFETY: both are valid for the call.
                if unsafe { libc::sigwait(&raw const set, &raw mut signal) } == 0 {
                    work();
                }
            }
        });
    }

    /// Ends this process by a signal, as if it came from outside.
    #[expect(unsafe_code, reason = "raise")]
    pub fn signal_self(signal: i32) -> ! {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialised by sigemptyset before it is used; raise takes any number.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        super::hang()
    }

    #[expect(unsafe_code, reason = "setsid")]
    pub fn new_session() {
        // SAFETY: no arguments; it fails harmlessly in a group leader.
        unsafe { libc::setsid() };
    }

    #[expect(unsafe_code, reason = "signal")]
    pub fn ignore_sigterm() {
        // SAFETY: SIG_IGN is a valid disposition.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    }

    /// The other end sees the stream's end; here the number stays taken, so that no file gets it.
    #[expect(unsafe_code, reason = "dup2")]
    pub fn close(fd: i32) -> io::Result<()> {
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        // SAFETY: both are open descriptors of this process.
        match unsafe { libc::dup2(nowhere.as_raw_fd(), fd) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

/// Not run here: elsewhere a script that needs signals or early closing ends the fake with a code of its own.
#[cfg(not(unix))]
mod sys {
    pub fn catch_sigterm(_work: impl Fn() + Send + 'static) {}

    pub fn signal_self(_signal: i32) -> ! {
        std::process::exit(98)
    }

    pub fn new_session() {}

    pub fn ignore_sigterm() {}

    pub fn close(_fd: i32) -> std::io::Result<()> {
        std::process::exit(98)
    }
}
