//! Which folders tell that a file changed: its own, the one above, and that of every symbolic link on the way.
//!
//! Looks at the file system, changes nothing and watches nothing.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// A name in a folder. When it appears, goes or changes, the file may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// The folder; no part of it is a link, and it existed a moment ago.
    pub dir: PathBuf,
    /// The name in it.
    pub name: OsString,
}

/// Everything between the root and the file that decides what is read at its path.
///
/// Plain folders further up than the file's own and the one above are left out: they are renamed so rarely that
/// watching the busy ones among them (`/tmp`, the home) would cost more than it tells.
pub(super) fn trail(file: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut here = PathBuf::new();
    let mut ahead: VecDeque<OsString> = VecDeque::new();
    let mut links = 0;
    start(file, &mut here, &mut ahead);
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let path = here.join(&name);
        let target = std::fs::read_link(&path).ok();
        let exists = target.is_some() || path.symlink_metadata().is_ok();
        if target.is_some() || !exists || ahead.len() <= 1 {
            entries.push(Entry { dir: here.clone(), name });
        }
        match target {
            Some(target) if links < MAX_LINKS => {
                links += 1;
                start(&target, &mut here, &mut ahead);
            }
            None if exists => here = path,
            // Nothing stands here, or the links go round: there is nothing further on to watch.
            _ => break,
        }
    }
    entries
}

/// Puts a path's parts before what lies ahead; an absolute one starts at its root again.
fn start(path: &Path, here: &mut PathBuf, ahead: &mut VecDeque<OsString>) {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => {
                here.push(component);
                parts.clear();
            }
            Component::CurDir => {}
            Component::ParentDir => parts.push("..".into()),
            Component::Normal(name) => parts.push(name.to_owned()),
        }
    }
    for part in parts.into_iter().rev() {
        ahead.push_front(part);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(file: &Path, root: &Path) -> Vec<String> {
        let inside =
            |entry: Entry| Some(entry.dir.join(entry.name).strip_prefix(root).ok()?.display().to_string());
        trail(file).into_iter().filter_map(inside).collect()
    }

    #[test]
    fn a_plain_file_is_told_by_its_folder_and_the_one_above() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        assert_eq!(names(&root.join("a/b/c/f"), &root), ["a/b/c", "a/b/c/f"]);
    }

    #[test]
    fn of_folders_that_are_missing_the_first_is_awaited() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        assert_eq!(names(&root.join("a/b/c/f"), &root), ["a"]);
    }

    #[test]
    fn every_link_on_the_way_counts() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        symlink("real", root.join("dir")).unwrap();
        symlink("../../other/../other/target", root.join("real/deep/f")).unwrap();
        symlink(root.join("end"), root.join("other/target")).unwrap();
        assert_eq!(
            names(&root.join("dir/deep/f"), &root),
            ["dir", "real/deep", "real/deep/f", "other", "other/target", "", "end"]
        );
    }

    #[test]
    fn links_that_go_round_end() {
        let temp = tempfile::tempdir().unwrap();
        symlink("b", temp.path().join("a")).unwrap();
        symlink("a", temp.path().join("b")).unwrap();
        assert!(trail(&temp.path().join("a")).len() <= MAX_LINKS + 3);
    }
}
