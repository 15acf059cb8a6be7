//! Two files change places in one step, where the system can do that. The macOS call is written by its manual and
//! was not run here; other systems report that they cannot.

use std::{io, path::Path};

/// Exchanges two files of one folder.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use std::{ffi::CString, os::unix::ffi::OsStrExt as _};
    let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
    let (a, b) = (path(a)?, path(b)?);
    if exchange_raw(&a, &b) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn exchange(_a: &Path, _b: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no safe interface to renameat2")]
fn exchange_raw(a: &std::ffi::CStr, b: &std::ffi::CStr) -> libc::c_long {
    // SAFETY: both pointers are to strings with a final zero that live for the call.
    unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            a.as_ptr(),
            libc::AT_FDCWD,
            b.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    }
}

#[cfg(target_os = "macos")]
#[expect(unsafe_code, reason = "no safe interface to renamex_np")]
fn exchange_raw(a: &std::ffi::CStr, b: &std::ffi::CStr) -> libc::c_int {
    // SAFETY: both pointers are to strings with a final zero that live for the call.
    unsafe { libc::renamex_np(a.as_ptr(), b.as_ptr(), libc::RENAME_SWAP) }
}

/// Whether the system or this file system cannot exchange files at all.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::Unsupported {
        return true;
    }
    #[cfg(unix)]
    let known = [libc::ENOSYS, libc::EINVAL, libc::ENOTSUP];
    #[cfg(not(unix))]
    let known = [0_i32; 0];
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}
