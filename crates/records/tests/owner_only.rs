//! Nobody but the owner can read the records.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::{Command, Stdio},
};

use patchbay_records::{Limits, LogLevel, diagnostics};
use patchbay_secrets::Redactor;

use crate::audit::{call, noon, open};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Whether a user without any rights can read the file. Only root can try; for others the modes have to do.
#[expect(clippy::disallowed_methods, reason = "another user's view needs a process of that user")]
fn others_read(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !root {
        return mode(path) & 0o077 != 0;
    }
    let mut cat = Command::new("cat");
    cat.arg(path).uid(65_534).gid(65_534).stdout(Stdio::null()).stderr(Stdio::null());
    cat.status().unwrap().success()
}

#[test]
fn folders_and_files_are_for_the_owner_only_even_if_they_were_not() {
    let home = tempfile::tempdir().unwrap();
    // So that only the records' own modes keep others out.
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(home.path().join("audit")).unwrap();
    fs::set_permissions(home.path().join("audit"), fs::Permissions::from_mode(0o755)).unwrap();
    let audit = open(home.path(), Limits::default());
    audit.record(noon(), call("a"));
    audit.flush().unwrap();
    let (_subscriber, _guard) = diagnostics(home.path(), LogLevel::Info, Redactor::new(), 7, noon).unwrap();

    for (folder, file) in [("audit", "audit/2026-03-01.jsonl"), ("log", "log/patchbay.log")] {
        let (folder, file) = (home.path().join(folder), home.path().join(file));
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600), "{}", file.display());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!others_read(&file), "the file's own mode keeps others out");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(others_read(&file), "or else this test shows nothing");
    }
    audit.record(noon(), call("b"));
    audit.flush().unwrap();
    assert_eq!(mode(&home.path().join("audit/2026-03-01.jsonl")), 0o600, "closed again");
}
