//! Whether git tracks a file: read from the index, without running git.
//!
//! Reads index versions 2 to 4 with SHA-1 or SHA-256 names (git's `index-format` documentation), up to
//! [`MAX_INDEX`] bytes. What cannot be read so (split or sparse indexes, larger or damaged ones) counts as *not
//! tracked*: the answer feeds a warning, nothing else.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::source;

/// How much of an index is looked at, in bytes.
const MAX_INDEX: u64 = 64 * 1024 * 1024;

/// Longest path that an index entry may have here, in bytes.
const MAX_PATH: usize = 4096;

/// Whether the git work tree around `dir` (canonical) tracks the file `relative` in it.
pub(crate) fn tracks(dir: &Path, relative: &Path) -> bool {
    let Some((tree, git_dir)) = work_tree(dir) else {
        return false;
    };
    let Ok(below) = dir.strip_prefix(&tree) else {
        return false;
    };
    let wanted = index_name(&below.join(relative));
    let index = git_dir.join("index");
    // Names of objects are 20 bytes long, or 32 in the repositories that chose so: the one that reads is right.
    [20, 32].into_iter().find_map(|object| look_up(&index, object, &wanted)).unwrap_or(false)
}

/// The nearest folder upwards with a `.git`, and the folder with its index.
fn work_tree(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    for tree in dir.ancestors() {
        let git = tree.join(".git");
        if git.is_dir() {
            return Some((tree.to_path_buf(), git));
        }
        // Work trees and submodules have a file that names the folder.
        if let Ok(Some(content)) = source::read(&git, MAX_PATH) {
            let text = String::from_utf8(content).ok()?;
            let named = text.strip_prefix("gitdir:")?.trim();
            return Some((tree.to_path_buf(), tree.join(named)));
        }
    }
    None
}

/// A path as an index spells it: with `/` everywhere.
fn index_name(path: &Path) -> Vec<u8> {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().as_encoded_bytes()).collect();
    parts.join(&b'/')
}

fn look_up(index: &Path, object: usize, wanted: &[u8]) -> Option<bool> {
    let file = source::open(index).ok()??;
    holds(BufReader::new(file.take(MAX_INDEX)), object, wanted)
}

/// Whether an index with object names of this length holds the path; `None` where it does not read so.
fn holds(reader: impl BufRead, object: usize, wanted: &[u8]) -> Option<bool> {
    let mut index = Index { reader, read: 0 };
    let header: [u8; 12] = index.take()?;
    if &header[..4] != b"DIRC" {
        return None;
    }
    let version = u32::from_be_bytes(header[4..8].try_into().ok()?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let entries = u32::from_be_bytes(header[8..].try_into().ok()?);
    let mut name = Vec::new();
    for _ in 0..entries {
        index.entry(version, object, &mut name)?;
        match name.as_slice().cmp(wanted) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Greater => return Some(false),
        }
    }
    Some(false)
}

struct Index<R> {
    reader: R,
    read: usize,
}

impl<R: BufRead> Index<R> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).ok()?;
        self.read += N;
        Some(bytes)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        let skipped = std::io::copy(&mut (&mut self.reader).take(count as u64), &mut std::io::sink()).ok()?;
        self.read += count;
        (skipped == count as u64).then_some(())
    }

    /// Reads an entry and leaves its path in `name`, which holds the path of the one before.
    fn entry(&mut self, version: u32, object: usize, name: &mut Vec<u8>) -> Option<()> {
        let start = self.read;
        self.skip(40 + object)?; // times, device, inode, mode, owner, size; then the object's name
        let flags = u16::from_be_bytes(self.take()?);
        if version >= 3 && flags & 0x4000 != 0 {
            self.skip(2)?;
        }
        if version == 4 {
            let strip = self.offset()?;
            name.truncate(name.len().checked_sub(strip)?);
        } else {
            name.clear();
        }
        let before = name.len();
        (&mut self.reader).take(MAX_PATH as u64).read_until(0, name).ok()?;
        self.read += name.len() - before;
        if name.pop() != Some(0) {
            return None;
        }
        let length = usize::from(flags & 0x0FFF);
        if name.is_empty() || (length < 0x0FFF && length != name.len()) {
            return None;
        }
        if version < 4 {
            self.skip((8 - (self.read - start) % 8) % 8)?;
        }
        Some(())
    }

    /// A number in the encoding of pack offsets.
    fn offset(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        for round in 0..5 {
            let [byte] = self.take()?;
            value = (value + usize::from(round > 0)) << 7 | usize::from(byte & 0x7F);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}
