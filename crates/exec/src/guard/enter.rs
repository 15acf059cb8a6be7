//! The first steps in the forked child, on every Unix: the guard's leave of the host, and the server's clean start.
//!
//! Everything here runs between fork and exec: async-signal-safe calls only.

use std::io;

#[cfg(not(target_os = "linux"))]
use super::kqueue as platform;
#[cfg(target_os = "linux")]
use super::linux as platform;

/// Highest descriptor looked at where the system cannot mark a range at once.
const MANY_DESCRIPTORS: i32 = 65_536;

/// The forked child's first steps, before there is a server: no host's handlers, a session without a terminal.
pub(super) fn leave_the_host() -> io::Result<()> {
    block_signals();
    default_signals();
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed.
    let session = unsafe { libc::setsid() };
    check(session).map(|_| ())
}

/// The server's side: its own process group, no inherited descriptor but `keep` and 0 to 2, signals as at birth.
pub(super) fn server(keep: &[i32]) -> io::Result<()> {
    own_group(0)?;
    close_on_exec();
    for &descriptor in keep {
        set_descriptor_flags(descriptor, 0);
    }
    unblock_signals();
    Ok(())
}

/// Makes a process the leader of its own group. The guard does it too, so that the group exists for both from the
/// start.
pub(super) fn own_group(pid: i32) -> io::Result<()> {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed.
    let result = unsafe { libc::setpgid(pid, pid) };
    check(result).map(|_| ())
}

/// The host's handlers must not run in the guard: they would write into descriptors that now are something else.
/// Nor shall the server ignore what the host ignores.
fn default_signals() {
    (1..=64).for_each(platform::default_signal);
}

fn block_signals() {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: the set is initialised by sigfillset before it is used; the old mask is not asked for.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

fn unblock_signals() {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: the set is initialised by sigemptyset before it is used; the old mask is not asked for.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Marks everything above 2, whatever the host left open. It must not be closed yet: the standard library reports a
/// failed exec through one of them.
fn close_on_exec() {
    #[cfg(target_os = "linux")]
    if super::raw::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 {
        return;
    }
    for descriptor in 3..descriptor_limit() {
        set_descriptor_flags(descriptor, libc::FD_CLOEXEC);
    }
}

fn set_descriptor_flags(descriptor: i32, flags: i32) {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed; a number that is no descriptor is refused.
    unsafe {
        libc::fcntl(descriptor, libc::F_SETFD, flags);
    }
}

/// One more than the highest descriptor that may be open.
pub(super) fn descriptor_limit() -> i32 {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    i32::try_from(limit)
        .ok()
        .filter(|limit| (3..MANY_DESCRIPTORS).contains(limit))
        .unwrap_or(MANY_DESCRIPTORS)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
