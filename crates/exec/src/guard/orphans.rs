//! Who descends from the guard, read from `/proc` without allocation.

use super::{
    raw,
    text::{Numbers, ProcPath},
};

/// Processes of a tree that are looked at; what is beyond is still killed, in a later round.
const TREE: usize = 2048;
/// Where a folder entry's length and name stand (`struct linux_dirent64`).
const ENTRY_LENGTH: usize = 16;
const ENTRY_NAME: usize = 19;

/// Space that is reserved once: the guard never allocates.
pub(super) struct Scratch {
    folder: [u8; 2048],
    file: [u8; 1024],
    tree: [(i32, u8); TREE],
}

impl Scratch {
    /// Zeroed space.
    pub(super) const fn new() -> Self {
        Self { folder: [0; 2048], file: [0; 1024], tree: [(0, 0); TREE] }
    }

    /// Gives every child of `pid` to `found`. `false` where the kernel does not list them.
    pub(super) fn children(&mut self, pid: i32, found: impl FnMut(i32)) -> bool {
        children(&mut self.folder, &mut self.file, pid, found)
    }

    /// Gives every process below `top` with its depth (children have 0) to `found`, parents first.
    pub(super) fn descendants(&mut self, top: i32, mut found: impl FnMut(i32, u8)) {
        let Self { folder, file, tree } = self;
        let (mut next, mut end) = (0_usize, 0_usize);
        let mut parent = (top, 0_u8);
        loop {
            let depth = parent.1;
            children(folder, file, parent.0, |pid| {
                if let Some(place) = tree.get_mut(end) {
                    *place = (pid, depth.saturating_add(1));
                    end = end.wrapping_add(1);
                    found(pid, depth);
                }
            });
            match tree.get(next).filter(|_| next < end) {
                Some(&entry) => parent = entry,
                None => return,
            }
            next = next.wrapping_add(1);
        }
    }
}

/// Every thread of a process has children of its own.
fn children(folder: &mut [u8], file: &mut [u8], pid: i32, mut found: impl FnMut(i32)) -> bool {
    let tasks = raw::open(ProcPath::of(pid).text(b"/task").as_bytes());
    if tasks < 0 {
        return false;
    }
    let mut listed = false;
    while let Some(entries) = filled(folder, |buffer| raw::getdents(tasks, buffer)) {
        each_number_entry(entries, |thread| {
            let path = ProcPath::of(pid).text(b"/task/").number(thread).text(b"/children");
            listed |= numbers(path.as_bytes(), file, &mut found);
        });
    }
    raw::close(tasks);
    listed
}

/// Gives every number of a file to `found`; `false` where it cannot be opened.
fn numbers(path: &[u8], buffer: &mut [u8], found: &mut impl FnMut(i32)) -> bool {
    let file = raw::open(path);
    if file < 0 {
        return false;
    }
    let mut numbers = Numbers::default();
    while let Some(bytes) = filled(buffer, |buffer| raw::read(file, buffer)) {
        bytes.iter().filter_map(|&byte| numbers.take(byte)).for_each(&mut *found);
    }
    numbers.end().into_iter().for_each(found);
    raw::close(file);
    true
}

/// What a read put into the buffer; `None` at the end or on failure.
fn filled(buffer: &mut [u8], read: impl FnOnce(&mut [u8]) -> i32) -> Option<&[u8]> {
    let count = usize::try_from(read(buffer)).ok().filter(|&count| count > 0)?;
    buffer.get(..count)
}

/// Gives every folder entry whose name is a number to `found`.
fn each_number_entry(mut entries: &[u8], mut found: impl FnMut(i32)) {
    while let Some(&[low, high]) = entries.get(ENTRY_LENGTH..ENTRY_NAME - 1) {
        let length = usize::from(u16::from_ne_bytes([low, high]));
        let Some((entry, rest)) = entries.split_at_checked(length.max(ENTRY_NAME)) else {
            return;
        };
        let mut number = Numbers::default();
        let name = entry.get(ENTRY_NAME..).unwrap_or(&[]);
        if name.first().is_some_and(u8::is_ascii_digit) {
            name.iter().find_map(|&byte| number.take(byte)).into_iter().for_each(&mut found);
        }
        entries = rest;
    }
}

/// Children by a walk over all of `/proc`, for kernels that do not list them.
pub(super) fn children_by_scan(scratch: &mut Scratch, parent: i32, mut found: impl FnMut(i32)) {
    let processes = raw::open(b"/proc\0");
    if processes < 0 {
        return;
    }
    let Scratch { folder, file, .. } = scratch;
    while let Some(entries) = filled(folder, |buffer| raw::getdents(processes, buffer)) {
        each_number_entry(entries, |pid| {
            if parent_of(pid, file) == Some(parent) {
                found(pid);
            }
        });
    }
    raw::close(processes);
}

/// The parent of a process: the second word after its name, which may hold anything but ends at the last `)`.
fn parent_of(pid: i32, buffer: &mut [u8]) -> Option<i32> {
    let stat = raw::open(ProcPath::of(pid).text(b"/stat").as_bytes());
    if stat < 0 {
        return None;
    }
    let bytes = filled(buffer, |buffer| raw::read(stat, buffer));
    raw::close(stat);
    let after_name = bytes?.rsplit(|&byte| byte == b')').next()?;
    let mut numbers = Numbers::default();
    after_name.iter().find_map(|&byte| numbers.take(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child to be found")]
    fn a_child_is_found_by_the_list_and_by_the_walk_over_all() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, pid) = (raw::getpid(), i32::try_from(child.id()).unwrap());
        let mut scratch = Scratch::new();
        let (mut listed, mut scanned, mut below) = (Vec::new(), Vec::new(), Vec::new());
        let lists = scratch.children(own, |pid| listed.push(pid));
        children_by_scan(&mut scratch, own, |pid| scanned.push(pid));
        scratch.descendants(own, |pid, depth| below.push((pid, depth)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(lists && listed.contains(&pid), "{listed:?}");
        assert!(scanned.contains(&pid), "{scanned:?}");
        assert!(below.contains(&(pid, 0)), "{below:?}");
    }
}
