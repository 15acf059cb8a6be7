//! Writing the file: links, modes, owners, full and closed places, other writers.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start and end their own processes and keep their own files"
)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use patchbay_api::{ErrorCode, Revision};
use patchbay_config::{ConfigError, Edit, Home, SettingsStore};

use super::{
    enable,
    program::{NOBODY, home, is_root, names, program, run_as_nobody, said},
    read, stdio,
};

const ONE: &str = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n";
const ONE_OFF: &str = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\ndisabled = true\n";

fn store(home: &Path) -> SettingsStore {
    SettingsStore::new(&Home::resolve(Some(home)).unwrap())
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_new_home_and_file_are_for_their_user_alone() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path().join("deep/home");
    store(&home).edit(None, &Edit::Add(stdio("a", "x"))).unwrap();
    assert_eq!(std::fs::read_to_string(home.join("settings.toml")).unwrap(), ONE);
    assert_eq!(
        (mode(&home), mode(&home.join("settings.toml")), mode(&home.join("settings.lock"))),
        (0o700, 0o600, 0o600)
    );
    assert_eq!(names(&home), ["settings.lock", "settings.toml"]);
}

#[test]
fn mode_and_owner_of_the_file_stay() {
    let home = home(ONE);
    let file = home.path().join("settings.toml");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    // Only root may give files away; anybody else has only files of their own.
    if is_root() {
        std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let before = file.metadata().unwrap();
    store(home.path()).edit(None, &enable("a", false)).unwrap();
    let after = file.metadata().unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ONE_OFF);
}

#[test]
fn a_link_stays_a_link_and_its_target_on_another_file_system_changes() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir_in("/dev/shm").expect("/dev/shm is another file system");
    assert_ne!(home.path().metadata().unwrap().dev(), elsewhere.path().metadata().unwrap().dev());
    let target = elsewhere.path().join("x.toml");
    std::fs::write(&target, ONE).unwrap();
    std::fs::set_permissions(&target, PermissionsExt::from_mode(0o600)).unwrap();
    // A chain: absolute, then relative.
    symlink("y.toml", elsewhere.path().join("link.toml")).unwrap();
    symlink("./x.toml", elsewhere.path().join("y.toml")).unwrap();
    symlink(elsewhere.path().join("link.toml"), home.path().join("settings.toml")).unwrap();
    store(home.path()).edit(None, &enable("a", false)).unwrap();
    assert_eq!(std::fs::read_to_string(&target).unwrap(), ONE_OFF);
    assert!(
        home.path().join("settings.toml").is_symlink() && elsewhere.path().join("link.toml").is_symlink()
    );
    assert!(!target.is_symlink());
    assert_eq!(mode(&target), 0o600);
    assert_eq!(names(elsewhere.path()), ["link.toml", "x.toml", "y.toml"]);
}

#[test]
fn a_dangling_link_gets_its_target_and_one_into_nowhere_an_error() {
    let home = tempfile::tempdir().unwrap();
    let dotfiles = tempfile::tempdir().unwrap();
    let link = home.path().join("settings.toml");
    symlink(dotfiles.path().join("new.toml"), &link).unwrap();
    assert_eq!(store(home.path()).read().unwrap().servers, []);
    store(home.path()).edit(None, &Edit::Add(stdio("a", "x"))).unwrap();
    assert_eq!(std::fs::read_to_string(dotfiles.path().join("new.toml")).unwrap(), ONE);
    assert!(link.is_symlink());

    std::fs::remove_file(&link).unwrap();
    symlink(dotfiles.path().join("missing/x.toml"), &link).unwrap();
    let error = store(home.path()).edit(None, &Edit::Add(stdio("a", "x"))).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert_eq!(error.to_api().code, ErrorCode::Io);
    assert!(error.hint().unwrap().contains("folder"));

    std::fs::remove_file(&link).unwrap();
    symlink("settings.toml", &link).unwrap();
    let error = store(home.path()).edit(None, &Edit::Add(stdio("a", "x"))).unwrap_err();
    assert!(error.to_string().contains("settings.toml"), "{error}");
}

#[test]
fn a_read_only_file_or_folder_stays_as_it_is_and_the_error_says_why() {
    for (what, mode) in [("file", 0o444), ("folder", 0o555)] {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let file = home.join("settings.toml");
        std::fs::write(&file, ONE).unwrap();
        std::fs::write(home.join("settings.lock"), "").unwrap();
        let closed = if what == "file" { file.clone() } else { home.clone() };
        let output = run_as_nobody(temp.path(), &home, &["disable", "a"], || {
            std::fs::set_permissions(&closed, PermissionsExt::from_mode(mode)).unwrap();
        });
        let (success, text) = said(&output);
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(
            !success && text.contains("ermission denied") && text.contains(home.to_str().unwrap()),
            "{what}: {text}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), ONE, "{what}");
        assert_eq!(names(&home), ["settings.lock", "settings.toml"], "{what}");
    }
}

#[test]
fn a_user_without_privileges_can_edit_what_is_theirs() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("settings.toml"), ONE).unwrap();
    let output = run_as_nobody(temp.path(), &home, &["disable", "a"], || {});
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(home.join("settings.toml")).unwrap(), ONE_OFF);
}

#[test]
fn an_edit_of_an_older_revision_is_a_conflict_and_changes_nothing() {
    let home = home(ONE);
    let store = store(home.path());
    let base = store.read().unwrap().revision;
    let newer = store.edit(Some(&base), &Edit::Add(stdio("b", "y"))).unwrap();
    let content = std::fs::read(store.file()).unwrap();
    assert_eq!(newer.revision, Revision::of(&content));
    let error = store.edit(Some(&base), &enable("a", false)).unwrap_err();
    assert!(matches!(error, ConfigError::Conflict { .. }), "{error}");
    assert_eq!(error.to_api().code, ErrorCode::Conflict);
    assert_eq!(std::fs::read(store.file()).unwrap(), content);
    store.edit(Some(&newer.revision), &enable("a", false)).unwrap();
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let home = home(ONE);
    let store = store(home.path());
    let before = store.file().metadata().unwrap();
    store.edit(None, &enable("a", true)).unwrap();
    let after = store.file().metadata().unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
}

#[test]
fn a_writer_that_was_killed_leaves_nothing_behind_for_long() {
    let home = home(ONE);
    let (old, new) = (
        home.path().join(".settings.toml.AAAAAA.patchbay-tmp"),
        home.path().join(".settings.toml.BBBBBB.patchbay-tmp"),
    );
    let foreign = home.path().join(".settings.toml.swp");
    for path in [&old, &new, &foreign] {
        std::fs::write(path, "x").unwrap();
    }
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for path in [&old, &foreign] {
        std::fs::File::options().write(true).open(path).unwrap().set_modified(hour_ago).unwrap();
    }
    store(home.path()).edit(None, &enable("a", false)).unwrap();
    assert!(!old.exists() && new.exists() && foreign.exists());
}

/// Waits until a process is stopped by a signal.
fn stop(child: &Child) {
    let pid = child.id();
    signal(pid, "-STOP");
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        if matches!(state, Some('T' | 'Z') | None) {
            return;
        }
        std::thread::yield_now();
    }
}

fn signal(pid: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// An editor's save: a line more at the end, in the old file or by a new one in its place.
fn editor_saves(file: &Path, line: &str, in_place: bool) {
    let text = std::fs::read_to_string(file).unwrap() + line;
    if in_place {
        std::fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(file)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    } else {
        let temp = file.with_extension("editor");
        std::fs::write(&temp, text).unwrap();
        std::fs::rename(&temp, file).unwrap();
    }
}

#[test]
fn two_writers_and_an_editor_at_once_lose_nothing() {
    const EACH: usize = 100;
    const SAVES: usize = 20;
    let home = home("# start\n");
    let file: PathBuf = home.path().join("settings.toml");
    let mut writers: Vec<Child> = ["left", "right"]
        .into_iter()
        .map(|prefix| {
            let mut command = Command::new(program());
            command.arg(home.path()).args(["add-many", prefix, &EACH.to_string()]).stdout(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut progress = BufReader::new(writers[0].stdout.take().unwrap());
    let other = writers[1].stdout.take().unwrap();
    let drain = std::thread::spawn(move || BufReader::new(other).lines().count());
    let mut done = 0;
    for save in 0..SAVES {
        for _ in 0..EACH / SAVES - 1 {
            done += progress.read_line(&mut String::new()).unwrap().min(1);
        }
        // Stopped anywhere, also between two steps of one write.
        writers.iter().for_each(stop);
        editor_saves(&file, &format!("# save {save}\n"), save % 2 == 0);
        writers.iter().for_each(|child| signal(child.id(), "-CONT"));
    }
    done += progress.lines().count();
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!((done, drain.join().unwrap()), (EACH, EACH));
    let text = std::fs::read_to_string(&file).unwrap();
    let snapshot = read(&text);
    for i in 0..EACH {
        for prefix in ["left", "right"] {
            assert!(snapshot.server(&format!("{prefix}-{i}")).is_some(), "{prefix}-{i} is lost\n{text}");
        }
    }
    for save in 0..SAVES {
        assert_eq!(
            text.lines().filter(|line| *line == format!("# save {save}")).count(),
            1,
            "{save}\n{text}"
        );
    }
    assert_eq!(names(home.path()), ["settings.lock", "settings.toml"]);
}
