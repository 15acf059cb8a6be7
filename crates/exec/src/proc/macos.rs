//! Processes by libproc. Type-checked; not run here.

#![expect(unsafe_code, reason = "system calls; every block says why it is sound")]

use std::io;

use super::{Identity, Stat};

/// Every process that can be seen.
pub(crate) fn list() -> io::Result<Vec<Stat>> {
    // SAFETY: with no buffer the call only counts.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let room = usize::try_from(count).map_err(|_| io::Error::last_os_error())? + 64;
    let mut pids = vec![0_i32; room];
    let bytes = i32::try_from(room * size_of::<i32>()).map_err(io::Error::other)?;
    // SAFETY: the buffer is as large as the size passed says.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), bytes) };
    pids.truncate(usize::try_from(count).map_err(|_| io::Error::last_os_error())?);
    Ok(pids.into_iter().filter_map(look).collect())
}

/// One process, by its number.
pub(crate) fn look(pid: i32) -> Option<Stat> {
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: zero is a valid value of every field, and the buffer is as large as the size passed says.
    let (filled, bsd) = unsafe {
        let mut bsd: libc::proc_bsdinfo = std::mem::zeroed();
        (libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut bsd).cast(), size), bsd)
    };
    (filled == size).then(|| Stat {
        id: Identity { pid, start: bsd.pbi_start_tvsec * 1_000_000 + bsd.pbi_start_tvusec },
        parent: i32::try_from(bsd.pbi_ppid).unwrap_or(-1),
        group: i32::try_from(bsd.pbi_pgid).unwrap_or(-1),
        // SAFETY: no memory is passed.
        session: unsafe { libc::getsid(pid) },
        ended: bsd.pbi_status == libc::SZOMB,
    })
}

/// Sends a signal to this process if it is still there. There is no way to do both at once on this system.
pub(crate) fn signal(id: Identity, signal: i32) {
    if id.alive() {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(id.pid, signal) };
    }
}

/// Start times are wall-clock times of microseconds here, which do not come again.
pub(crate) fn era() -> String {
    "macos".into()
}
