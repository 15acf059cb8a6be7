//! A bounded look through folders for blocked names and for other names of blocked files. What is found becomes
//! part of a plan ([`super::plan`]).

use std::{
    collections::VecDeque,
    fs::{self, DirEntry, FileType},
    path::{Path, PathBuf},
};

/// Entries looked at for one start, over all folders.
const MAX_ENTRIES: usize = 1_000_000;

/// Folders of fetched packages and of version control, which are not looked through for blocked names: they hold
/// public certificates (`cacert.pem`) that programs need, and no secrets of the user.
const PASSED_OVER: &[&str] = &["node_modules", "site-packages", "dist-packages", ".git"];

/// Whether an entry is what is looked for.
pub(crate) type Accept<'a> = dyn FnMut(&DirEntry) -> bool + 'a;

/// Whether a folder is not looked into.
pub(crate) type PassOver<'a> = dyn Fn(&DirEntry) -> bool + 'a;

/// A walk with its budget.
#[derive(Debug)]
pub(crate) struct Walk {
    left: usize,
    /// What matched, in the order of depth.
    pub found: Vec<PathBuf>,
    /// The first folder that the budget did not reach.
    pub stopped_at: Option<PathBuf>,
}

impl Default for Walk {
    fn default() -> Self {
        Self::with_budget(MAX_ENTRIES)
    }
}

impl Walk {
    /// A walk over at most this many entries.
    pub(crate) fn with_budget(entries: usize) -> Self {
        Self { left: entries, found: Vec::new(), stopped_at: None }
    }

    /// Finds the entries below `root` that a test accepts, breadth first, not following links and not looking into
    /// what was accepted. A folder that cannot be read by the owner holds nothing that the server could read.
    pub(crate) fn below(
        &mut self,
        root: &Path,
        depth: usize,
        accept: &mut Accept<'_>,
        pass_over: &PassOver<'_>,
    ) {
        let mut folders = VecDeque::from([(root.to_path_buf(), depth)]);
        while let Some((folder, depth)) = folders.pop_front() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                if self.left == 0 {
                    self.stopped_at.get_or_insert(folder);
                    return;
                }
                self.left -= 1;
                if accept(&entry) {
                    self.found.push(entry.path());
                } else if depth > 1
                    && !pass_over(&entry)
                    && entry.file_type().is_ok_and(|kind| FileType::is_dir(&kind))
                {
                    folders.push_back((entry.path(), depth - 1));
                }
            }
        }
    }
}

/// Whether a folder is passed over when names are looked for.
pub(crate) fn passed_over(entry: &DirEntry) -> bool {
    PASSED_OVER.iter().any(|name| entry.file_name() == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_stops_at_its_budget_and_says_where() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a/deep", "b/deep"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let mut walk = Walk::with_budget(3);
        walk.below(root.path(), usize::MAX, &mut |entry| entry.file_name() == "deep", &|_| false);
        assert_eq!(walk.found.len(), 1);
        assert_eq!(walk.stopped_at.unwrap().parent(), Some(root.path()));
        let mut walk = Walk::with_budget(4);
        walk.below(root.path(), usize::MAX, &mut |entry| entry.file_name() == "deep", &|_| false);
        assert_eq!((walk.found.len(), walk.stopped_at), (2, None));
    }
}
