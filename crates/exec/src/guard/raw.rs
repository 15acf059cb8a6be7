//! System calls of the Linux guard, each a thin wrapper that returns what the kernel does.
//!
//! All go through `syscall`: nothing has to be bound by the dynamic linker after the guard has given the heap back.

#![expect(unsafe_code, reason = "system calls; every block says why it is sound")]

/// A timeout of `poll` that never comes.
pub(super) const FOREVER: i64 = -1;

/// Ends this process, running nothing of the host's.
pub(super) fn exit(code: i32) -> ! {
    loop {
        // SAFETY: no memory is passed; the call does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// Gives a signal its default effect, also those two that the C library keeps for itself.
pub(super) fn default_signal(signal: i32) {
    // Handler, flags, restorer and mask: nothing but zeros is the default. Wherever a field is left out it is shorter.
    let action = [0_u64; 4];
    let old = std::ptr::null::<u64>();
    // SAFETY: the action outlives the call and is no shorter than the kernel's; the old one is not asked for.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, action.as_ptr(), old, size_of::<u64>()) };
}

pub(super) fn getpid() -> i32 {
    // SAFETY: no memory is passed.
    small(unsafe { libc::syscall(libc::SYS_getpid) })
}

pub(super) fn getppid() -> i32 {
    // SAFETY: no memory is passed.
    small(unsafe { libc::syscall(libc::SYS_getppid) })
}

pub(super) fn getpgid(pid: i32) -> i32 {
    // SAFETY: no memory is passed.
    small(unsafe { libc::syscall(libc::SYS_getpgid, pid) })
}

pub(super) fn prctl(option: i32, value: usize) -> i32 {
    // SAFETY: only options are used that take a number, or a pointer to a text of 16 bytes that outlives the call.
    small(unsafe { libc::syscall(libc::SYS_prctl, option, value, 0, 0, 0) })
}

/// Whether the signal could be sent.
pub(super) fn kill(pid: i32, signal: i32) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_kill, pid, signal) == 0 }
}

/// Reaps one child: its pid and wait status, 0 if none has ended, negative if there is no child.
pub(super) fn reap() -> (i32, i32) {
    let mut status = 0_i32;
    let any = -1_i32;
    // SAFETY: the status is a valid place for the call to write to; resource usage is not asked for.
    let pid = unsafe { libc::syscall(libc::SYS_wait4, any, &raw mut status, libc::WNOHANG, 0) };
    (small(pid), status)
}

/// Opens a folder or file for reading; `path` ends with NUL.
pub(super) fn open(path: &[u8]) -> i32 {
    if path.last() != Some(&0) {
        return -1;
    }
    // SAFETY: the path is NUL-terminated, as checked above, and outlives the call.
    small(unsafe {
        libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0)
    })
}

/// Bytes read, 0 at the end, negative on failure.
pub(super) fn read(descriptor: i32, into: &mut [u8]) -> i32 {
    // SAFETY: the buffer is valid for its length.
    small(unsafe { libc::syscall(libc::SYS_read, descriptor, into.as_mut_ptr(), into.len()) })
}

/// Sends on a socket without ever raising SIGPIPE.
pub(super) fn send(descriptor: i32, bytes: &[u8]) {
    // SAFETY: the buffer is valid for its length; no address is passed.
    unsafe {
        libc::syscall(libc::SYS_sendto, descriptor, bytes.as_ptr(), bytes.len(), libc::MSG_NOSIGNAL, 0, 0)
    };
}

/// Folder entries as the kernel packs them.
pub(super) fn getdents(descriptor: i32, into: &mut [u8]) -> i32 {
    // SAFETY: the buffer is valid for its length.
    small(unsafe { libc::syscall(libc::SYS_getdents64, descriptor, into.as_mut_ptr(), into.len()) })
}

pub(super) fn close(descriptor: i32) {
    // SAFETY: the guard owns every descriptor that it has; a wrong number is refused.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

pub(super) fn close_range(first: u32, last: u32, flags: libc::c_uint) -> i32 {
    // SAFETY: no memory is passed; the child has no other user of these descriptors.
    small(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })
}

/// A copy of a descriptor at or above `lowest`.
pub(super) fn dup_above(descriptor: i32, lowest: i32) -> i32 {
    // SAFETY: no memory is passed.
    small(unsafe { libc::syscall(libc::SYS_fcntl, descriptor, libc::F_DUPFD_CLOEXEC, lowest) })
}

/// A descriptor that becomes readable when the process ends; negative where the kernel has none.
pub(super) fn pidfd_open(pid: i32) -> i32 {
    // SAFETY: no memory is passed.
    small(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}

/// A descriptor that becomes readable when one of the (blocked) signals of the mask is pending.
pub(super) fn signalfd(mask: u64) -> i32 {
    let new = -1_i32;
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: the mask is as large as the size passed says.
    small(unsafe { libc::syscall(libc::SYS_signalfd4, new, &raw const mask, size_of::<u64>(), flags) })
}

/// Waits until a descriptor is ready, at most `milliseconds` ([`FOREVER`] is for ever).
pub(super) fn poll(descriptors: &mut [libc::pollfd], milliseconds: i64) -> i32 {
    let limit = libc::timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 };
    let limit = if milliseconds < 0 { std::ptr::null() } else { &raw const limit };
    // SAFETY: the descriptors are valid for their count, the limit is null or outlives the call, no mask is passed.
    small(unsafe { libc::syscall(libc::SYS_ppoll, descriptors.as_mut_ptr(), descriptors.len(), limit, 0, 8) })
}

/// Milliseconds of the clock that never goes back.
pub(super) fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is a valid place for the call to write to.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.wrapping_mul(1000).wrapping_add(time.tv_nsec / 1_000_000)
}

pub(super) fn chdir(path: &[u8]) {
    if path.last() == Some(&0) {
        // SAFETY: the path is NUL-terminated, as checked, and outlives the call.
        unsafe { libc::syscall(libc::SYS_chdir, path.as_ptr()) };
    }
}

/// Gives memory back.
///
/// # Safety
/// Nothing may use the range afterwards.
pub(super) unsafe fn unmap(start: usize, end: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_munmap, start, end.wrapping_sub(start)) };
}

/// Zeroes the range and puts `name` at its start.
///
/// # Safety
/// The range must be mapped, writable and used by nothing else.
pub(super) unsafe fn overwrite(start: usize, end: usize, name: &[u8]) {
    let mut name = name.iter();
    for address in start..end {
        let byte = name.next().copied().unwrap_or(0);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(byte) };
    }
}

/// The address of this thread's `errno`, which `syscall` writes to.
pub(super) fn errno_address() -> usize {
    // SAFETY: takes nothing; returns the address only.
    unsafe { libc::__errno_location() as usize }
}

/// Results of system calls are small numbers.
fn small(result: libc::c_long) -> i32 {
    i32::try_from(result).unwrap_or(-1)
}
