//! Writes that are killed or fail at any point: the file is the old or the new one, whole.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start and end their own processes and keep their own files"
)]

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use patchbay_config::Edit;

use super::{
    document::Dice,
    edited, enable,
    program::{home, names, program},
    stdio,
};

/// A file of some length, so that writing it takes more than one moment.
fn settings() -> (String, String) {
    let mut text = "# start\n".to_owned();
    for i in 0..20 {
        text = edited(&text, &Edit::Add(stdio(&format!("server-{i}"), "x"))).unwrap();
    }
    let off = edited(&text, &enable("server-10", false)).unwrap();
    (text, off)
}

#[test]
fn a_thousand_writes_that_are_killed_anywhere_leave_the_old_file_or_the_new_one() {
    const KILLS: u64 = 1_000;
    let (old, new) = settings();
    let home = home(&old);
    let file = home.path().join("settings.toml");
    let mut dice = Dice::new(7);
    let mut seen = [0; 2];
    let mut temps = 0;
    for _ in 0..KILLS {
        let mut child = Command::new(program())
            .arg(home.path())
            .args(["toggle", "server-10"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // The child may be anywhere in its first writes by now; the moment of the kill is the point of the test.
        let wait = Duration::from_micros(dice.below(6_000) as u64);
        let start = Instant::now();
        while start.elapsed() < wait {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdout);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text == old || text == new, "neither the old file nor the new one:\n{text}");
        seen[usize::from(text == new)] += 1;
        for name in names(home.path()) {
            if name.ends_with("patchbay-tmp") {
                temps += 1;
                std::fs::remove_file(home.path().join(name)).unwrap();
            }
        }
    }
    // The kills hit before, in and after writes.
    assert!(seen.iter().all(|count| *count > 50) && temps > 20, "{seen:?}, {temps} in the middle of a write");
}

/// One write under strace, which may do something to it: how it ended, what it said, what strace saw.
fn strace(home: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let log = home.with_extension("strace");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(options)
        .arg(program())
        .arg(home)
        .args(["disable", "server-10"])
        .output()
        .expect("strace starts: install it with `apt-get install strace`");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    drop(std::fs::remove_file(&log));
    assert!(!text.is_empty(), "strace works here: {}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), text)
}

/// The system calls that have to do with files.
const CALLS: &str = "openat,read,write,close,lseek,flock,fsync,fdatasync,fchmod,fchown,fcntl,statx,newfstatat,readlink,\
    readlinkat,mkdir,mkdirat,renameat2,renameat,rename,linkat,unlink,unlinkat,getdents64";

/// The calls of one write, from its lock on: each with which one of its name it is.
fn calls(old: &str) -> Vec<(String, usize)> {
    let home = home(old);
    let (status, _, log) = strace(home.path(), &["-e", &format!("trace={CALLS}")]);
    assert_eq!(status, Some(0), "{log}");
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    let mut writing = false;
    for line in log.lines() {
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        let Some((name, _)) = call.split_once('(') else { continue };
        let count = counts.entry(name).or_default();
        *count += 1;
        writing |= line.contains("settings.lock");
        if writing {
            calls.push((name.to_owned(), *count));
        }
    }
    for needed in ["openat", "renameat2", "fsync", "write", "unlink", "flock", "close", "read"] {
        assert!(calls.iter().any(|(name, _)| name == needed), "{needed} is missing: {log}");
    }
    calls
}

/// One write with a fault at the `nth` call of this name.
fn fault(old: &str, new: &str, call: &str, nth: usize, what: &str) {
    let home = home(old);
    let inject = format!("inject={call}:{what}:when={nth}");
    let (status, _, log) = strace(home.path(), &["-e", &format!("trace={call}"), "-e", &inject]);
    let label = format!("{what} at {call} {nth}, {status:?}\n{log}");
    let text = std::fs::read_to_string(home.path().join("settings.toml")).unwrap();
    assert!(text == old || text == new, "{label}\n{text}");
    if status == Some(0) {
        assert_eq!(text, new, "{label}");
    }
    let killed = what.starts_with("signal");
    if !killed && !call.starts_with("unlink") {
        let left: Vec<_> =
            names(home.path()).into_iter().filter(|name| name.ends_with("patchbay-tmp")).collect();
        assert!(left.is_empty(), "{left:?} is left: {label}");
    }
}

#[test]
fn a_write_that_is_killed_or_fails_at_any_of_its_system_calls_leaves_the_old_file_or_the_new_one() {
    let (old, new) = settings();
    let calls = calls(&old);
    let faults = ["signal=SIGKILL", "error=ENOSPC", "error=EROFS", "error=EACCES"];
    let cases: Vec<_> =
        calls.iter().flat_map(|(call, nth)| faults.map(|what| (call.as_str(), *nth, what))).collect();
    let (left, right) = cases.split_at(cases.len() / 2);
    std::thread::scope(|scope| {
        for half in [left, right] {
            let (old, new) = (&old, &new);
            scope.spawn(move || half.iter().for_each(|(call, nth, what)| fault(old, new, call, *nth, what)));
        }
    });
}

#[test]
fn a_full_disk_is_told_with_the_next_step_and_the_old_file_stays() {
    let (old, _) = settings();
    let home = home(&old);
    let (status, said, log) =
        strace(home.path(), &["-e", "trace=write", "-e", "inject=write:error=ENOSPC:when=1"]);
    assert_eq!(status, Some(1), "{log}");
    let file = home.path().join("settings.toml");
    assert_eq!(
        said,
        format!(
            "error: cannot write {}: No space left on device (os error 28)\nFree some space on this disk and try again.\n",
            file.display()
        )
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), old);
    assert_eq!(names(home.path()), ["settings.lock", "settings.toml"]);
}
