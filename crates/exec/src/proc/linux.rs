//! Processes by `/proc`.

use std::{fs, io};

use super::{Identity, Stat};

/// Every process that can be seen.
pub(crate) fn list() -> io::Result<Vec<Stat>> {
    let pids = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // One that ends while it is looked at is none.
    Ok(pids.filter_map(look).collect())
}

/// One process, by its number.
pub(crate) fn look(pid: i32) -> Option<Stat> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The words after the name, which may hold anything but ends at the last `)`: state is the third of them all.
fn parse(pid: i32, stat: &[u8]) -> Option<Stat> {
    let after_name = stat.rsplit(|&byte| byte == b')').next()?;
    let words: Vec<&str> = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace().collect();
    let number = |field: usize| words.get(field - 3)?.parse().ok();
    Some(Stat {
        id: Identity { pid, start: words.get(22 - 3)?.parse().ok()? },
        parent: number(4)?,
        group: number(5)?,
        session: number(6)?,
        ended: matches!(*words.first()?, "Z" | "X"),
    })
}

/// Sends a signal to exactly this process, or to none.
pub(crate) fn signal(id: Identity, signal: i32) {
    let descriptor = pidfd_open(id.pid);
    // The descriptor cannot come to mean another process; that it means this one shows the start time.
    if !id.alive() {
        close(descriptor);
        return;
    }
    match descriptor {
        Some(descriptor) => {
            let info: *const libc::siginfo_t = std::ptr::null();
            #[expect(unsafe_code, reason = "system call")]
            // SAFETY: the descriptor is open; no information is passed.
            unsafe {
                libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, info, 0);
            }
        }
        None => {
            #[expect(unsafe_code, reason = "system call")]
            // SAFETY: no memory is passed.
            unsafe {
                libc::kill(id.pid, signal);
            }
        }
    }
    close(descriptor);
}

fn pidfd_open(pid: i32) -> Option<i32> {
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    i32::try_from(descriptor).ok().filter(|&descriptor| descriptor >= 0)
}

fn close(descriptor: Option<i32>) {
    if let Some(descriptor) = descriptor {
        #[expect(unsafe_code, reason = "system call")]
        // SAFETY: the descriptor was opened here and is closed once.
        unsafe {
            libc::close(descriptor);
        }
    }
}

/// Within what numbers and start times mean the same: this boot, this PID namespace.
pub(crate) fn era() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let line = b"7 (a) S 9 (b) S 1 7 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let stat = parse(7, line).unwrap();
        assert_eq!(
            (stat.parent, stat.group, stat.session, stat.id.start, stat.ended),
            (1, 7, 5, 12345, false)
        );
        assert!(parse(7, b"7 (cut) S 1").is_none());
    }
}
