//! The Linux system calls that the back ends need and that no dependency offers. All `unsafe` of the sandbox on
//! Linux is here; what runs between fork and exec says so and is async-signal-safe.

use std::{
    ffi::CString,
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

/// Turns the result of a system call into ours.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The Landlock version that the kernel offers; 0 for none.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no attributes and only returns a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Holds this process and all that it starts to a ruleset, for good. Async-signal-safe.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn landlock_restrict(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a descriptor and flags; no memory is handed over.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) }).map(drop)
}

/// Nothing that this process starts can gain privileges by exec. Async-signal-safe.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn no_new_privileges() -> io::Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into()).map(drop)
}

/// Holds this process and all that it starts to a filter. Async-signal-safe; needs [`no_new_privileges`] first.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn seccomp(filter: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(filter.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program and its filter live until the call returns; the kernel copies and does not write them.
    check(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) }.into())
        .map(drop)
}

/// Leaves the session's kernel keyring for an empty one. Async-signal-safe.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn leave_keyring() -> io::Result<()> {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    // SAFETY: a number and no name.
    let joined = unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) };
    match check(joined) {
        // A kernel without keyrings, or a container that has shut them, has nothing to leave.
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => Err(error),
        _ => Ok(()),
    }
}

/// Gives up every capability, so that being root means no more than owning files. Async-signal-safe.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    for capability in 0..64 {
        // SAFETY: numbers only. Refused to an unprivileged process, which cannot gain any after `no_new_privileges`.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            break;
        }
    }
    // SAFETY: version 3 reads one header and two sets of three words; both live until the call returns.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(drop)
}

/// Lets a descriptor stay open over exec. Async-signal-safe.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn keep_over_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: changes one flag of one descriptor.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }.into()).map(drop)
}

/// A file without a name, holding `content` and standing at its start; closed on exec.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn nameless_file(content: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    // SAFETY: the name is a constant with its NUL.
    let fd = check(unsafe { libc::memfd_create(c"patchbay".as_ptr(), libc::MFD_CLOEXEC) }.into())?;
    let fd = RawFd::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    // SAFETY: just opened, owned by nobody else.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

/// Opens a path for a Landlock rule, refusing a symbolic link anywhere in it, so that nobody can put another file
/// in its place meanwhile.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: plain numbers, for which zero is a value.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_CLOEXEC | libc::O_NOFOLLOW).unsigned_abs().into();
    how.resolve = libc::RESOLVE_NO_SYMLINKS;
    // SAFETY: path and structure live until the call returns; the size is the structure's.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    })?;
    let fd = RawFd::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    // SAFETY: just opened, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A descriptor that becomes readable when the process ends.
#[expect(unsafe_code, reason = "libc offers no safe call")]
pub(crate) fn process_end(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    let fd = RawFd::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    // SAFETY: just opened, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_with_a_link_in_it_is_not_opened() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inner")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        assert!(open_without_links(&root.join("real/inner")).is_ok());
        let error = open_without_links(&root.join("link/inner")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }
}
