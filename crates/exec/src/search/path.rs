//! PATH as a list of folders.

use std::{
    collections::HashSet,
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// Folders that a system's PATH has before any person or package added to it.
const BARE: &[&str] = &[
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/games",
    "/usr/local/games",
    "/snap/bin",
];

/// The folders in order. Relative ones are left out: a server's folder may be anybody's project, and nothing is run
/// from there because it has the name of a command.
pub(super) fn folders(path: &OsStr) -> Vec<PathBuf> {
    env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Keeps the first of equal folders.
pub(super) fn unique(folders: &mut Vec<PathBuf>) {
    let mut seen = HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
}

/// Whether nothing was added to what the system starts with, as after a start from a dock or a menu.
pub(crate) fn is_bare(path: Option<&OsStr>) -> bool {
    let folders = path.map(folders).unwrap_or_default();
    folders.iter().all(|folder| BARE.iter().any(|bare| folder == Path::new(bare)))
}

/// The owner's PATH with what the login shell's adds. A bare one says nothing of what its user wants, so the shell's
/// order holds then; else the owner's does.
pub(crate) fn merge(owner: Option<&OsStr>, shell: &OsStr) -> OsString {
    let (first, second) = match owner {
        Some(owner) if !is_bare(Some(owner)) => (owner, shell),
        owner => (shell, owner.unwrap_or_default()),
    };
    let mut merged = folders(first);
    merged.extend(folders(second));
    unique(&mut merged);
    // Fails only for a folder with the separator in it, which cannot come out of a PATH.
    env::join_paths(merged).unwrap_or_else(|_| first.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_system_starts_with_is_bare() {
        let bare = |path: &str| is_bare(Some(OsStr::new(path)));
        assert!(bare("/usr/bin:/bin:/usr/sbin:/sbin") && bare("") && is_bare(None));
        assert!(!bare("/usr/bin:/bin:/home/me/.local/bin"));
    }

    #[test]
    fn a_chosen_path_comes_first_and_a_bare_one_last() {
        let merged = |owner: Option<&str>, shell: &str| merge(owner.map(OsStr::new), OsStr::new(shell));
        assert_eq!(merged(Some("/usr/bin:/bin"), "/home/me/bin:/usr/bin"), "/home/me/bin:/usr/bin:/bin");
        assert_eq!(merged(Some("/venv/bin:/bin"), "/home/me/bin:/bin"), "/venv/bin:/bin:/home/me/bin");
        assert_eq!(merged(None, "/a:.::b:/a:/c"), "/a:/c");
    }
}
