//! Waiting for a descriptor without a runtime, on every Unix, up to a point in time. The other system calls are in [`super::syscall`].

use std::{
    ffi::CString,
    io,
    os::{
        fd::{AsRawFd, BorrowedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    time::{Duration, Instant},
};

/// A point in time until which something is waited for. These waits are blocking and outside any runtime, so that no
/// paused clock holds them up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

#[expect(clippy::disallowed_methods, reason = "a blocking wait, which no paused clock may hold up")]
impl Deadline {
    /// So long from now.
    pub(crate) fn after(limit: Duration) -> Self {
        Self(Instant::now() + limit)
    }

    /// What is left; zero when it is over.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// Waits until a descriptor can be read (or has ended), at most `limit`. Whether it can.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn readable(fd: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    let mut wanted = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one structure, that lives until the call returns.
    let ready = unsafe { libc::poll(&raw mut wanted, 1, limit) };
    let error = io::Error::last_os_error();
    match ready {
        0.. => Ok(ready > 0),
        _ if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        _ => Err(error),
    }
}

/// Whether this process may write a path.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn writable(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path lives until the call returns.
    unsafe { libc::access(path.as_ptr(), libc::W_OK) == 0 }
}
