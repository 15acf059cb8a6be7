//! Gives back the memory of the owner that a fork leaves in the guard, so that a guard costs next to nothing and
//! holds none of the owner's secrets.

use super::{
    raw,
    text::{ProcPath, leading},
};

/// Ranges given back at most.
const RANGES: usize = 512;
/// Longest line that is looked at: a whole one of `stat`; of `maps` the names of files are cut, which does no harm.
const LINE: usize = 512;
/// What `ps` shows in place of the owner's command line.
const TITLE: &[u8] = b"patchbay-guard";

/// Gives back every private, writable, anonymous mapping but those that this thread runs on: its stack, and the
/// block with `errno` and the stack protector. Memory behind a file's data (`.bss`) stays too.
pub(super) fn trim() {
    let here = 0_u8;
    let keep = [&raw const here as usize, raw::errno_address()];
    let mut ranges = [(0_usize, 0_usize); RANGES];
    let mut free = ranges.iter_mut();
    let mut file_end = 0_usize;
    each_line(ProcPath::of(raw::getpid()).text(b"/maps").as_bytes(), |line| {
        let Some(map) = Map::parse(line) else { return };
        if !map.anonymous {
            file_end = map.end;
        } else if map.private_writable
            && map.start != file_end
            && !keep.iter().any(|address| (map.start..map.end).contains(address))
            && let Some(range) = free.next()
        {
            *range = (map.start, map.end);
        }
    });
    for (start, end) in ranges.into_iter().filter(|range| range.1 > 0) {
        #[expect(unsafe_code, reason = "system call")]
        // SAFETY: the guard has one thread, which runs on what is kept; it never touches the heap or another stack.
        unsafe {
            raw::unmap(start, end);
        }
    }
}

/// Shows the guard under its own name, so that nobody takes it for a second owner.
pub(super) fn rename() {
    raw::prctl(libc::PR_SET_NAME, c"patchbay-guard".as_ptr() as usize);
    let mut arguments = (0, 0);
    each_line(ProcPath::of(raw::getpid()).text(b"/stat").as_bytes(), |line| {
        arguments = argument_range(line);
    });
    let (start, end) = arguments;
    if start > 0 && end > start {
        #[expect(unsafe_code, reason = "own arguments")]
        // SAFETY: the kernel says that the arguments stand there: on the first stack, which stays mapped. This is a
        // copy of the process whose other threads, and whose code that read arguments, are gone.
        unsafe {
            raw::overwrite(start, end, TITLE);
        }
    }
}

struct Map {
    start: usize,
    end: usize,
    private_writable: bool,
    /// No file and no special mapping but the heap.
    anonymous: bool,
}

impl Map {
    /// `start-end perms offset dev inode   name`
    fn parse(line: &[u8]) -> Option<Self> {
        let (start, rest) = leading(line, 16);
        let (end, rest) = leading(rest.strip_prefix(b"-")?, 16);
        let mut words = rest.strip_prefix(b" ")?.splitn(5, |&byte| byte == b' ');
        let permissions = words.next()?;
        let (_offset, _device, inode, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let name = name.trim_ascii();
        Some(Self {
            start,
            end,
            private_writable: permissions == b"rw-p",
            anonymous: inode == b"0" && (name.is_empty() || name == b"[heap]" || name.starts_with(b"[anon:")),
        })
    }
}

/// Fields 48 and 49 of `stat`, counted after the name, which may hold anything but ends at the last `)`.
fn argument_range(line: &[u8]) -> (usize, usize) {
    let Some(after_name) = line.rsplit(|&byte| byte == b')').next() else {
        return (0, 0);
    };
    let mut words = after_name.trim_ascii().split(|&byte| byte == b' ').skip(45);
    let mut number = || words.next().map_or(0, |word| leading(word, 10).0);
    (number(), number())
}

/// Gives every line of a file to `found`, cut to what is held.
fn each_line(path: &[u8], mut found: impl FnMut(&[u8])) {
    let file = raw::open(path);
    if file < 0 {
        return;
    }
    let mut buffer = [0_u8; 1024];
    let mut line = [0_u8; LINE];
    let mut length = 0_usize;
    while let Ok(count) = usize::try_from(raw::read(file, &mut buffer))
        && count > 0
    {
        for &byte in buffer.iter().take(count) {
            if byte == b'\n' {
                found(line.get(..length).unwrap_or(&[]));
                length = 0;
            } else if let Some(place) = line.get_mut(length) {
                *place = byte;
                length = length.wrapping_add(1);
            }
        }
    }
    raw::close(file);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_writable_memory_without_a_file_is_given_back() {
        let told = |line: &str| {
            let map = Map::parse(line.as_bytes()).unwrap();
            (map.start, map.end, map.private_writable, map.anonymous)
        };
        assert_eq!(told("7f00-7f10 rw-p 00000000 00:00 0 "), (0x7f00, 0x7f10, true, true));
        assert_eq!(
            told("7f00-7f10 rw-p 00000000 00:00 0                          [heap]"),
            (0x7f00, 0x7f10, true, true)
        );
        assert_eq!(
            told("7f00-7f10 rw-p 00000000 00:00 0                          [stack]"),
            (0x7f00, 0x7f10, true, false)
        );
        assert_eq!(
            told("7f00-7f10 r-xp 00001000 08:01 123                        /bin/x"),
            (0x7f00, 0x7f10, false, false)
        );
        assert_eq!(
            told("7f00-7f10 rw-s 00000000 00:01 99 /dev/zero (deleted)"),
            (0x7f00, 0x7f10, false, false)
        );
        assert!(Map::parse(b"nonsense").is_none());
    }

    #[test]
    fn the_arguments_of_this_process_are_where_the_kernel_says() {
        let mut range = (0, 0);
        each_line(b"/proc/self/stat\0", |line| range = argument_range(line));
        let arguments = std::fs::read("/proc/self/cmdline").unwrap();
        assert_eq!(range.1 - range.0, arguments.len());
    }
}
