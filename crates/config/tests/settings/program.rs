//! The program that edits settings, as a process of its own: to be stopped, killed, or run by another user.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start and end their own processes and keep their own files"
)]

use std::{
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::{Command, Output},
};

/// A user that owns nothing.
pub const NOBODY: u32 = 65534;

/// The program.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_edit-settings"))
}

/// A home with these settings.
pub fn home(settings: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("settings.toml"), settings).unwrap();
    home
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs the program as a user without privileges, in a copy of its own: the checkout may be closed to others.
/// What it may touch in `folder` is what `prepare` leaves it.
pub fn run_as_nobody(folder: &Path, home: &Path, args: &[&str], prepare: impl FnOnce()) -> Output {
    let copy = folder.join("edit-settings");
    std::fs::copy(program(), &copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    let root = is_root();
    if root {
        give_to_nobody(home);
    }
    prepare();
    let mut command = if root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(&copy);
        command
    } else {
        Command::new(&copy)
    };
    command.arg(home).args(args).output().expect("setpriv (of util-linux) starts the program")
}

pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

fn give_to_nobody(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in path.read_dir().unwrap() {
            give_to_nobody(&entry.unwrap().path());
        }
    } else if !path.is_symlink() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// What the program said, and whether it was content.
pub fn said(output: &Output) -> (bool, String) {
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}
