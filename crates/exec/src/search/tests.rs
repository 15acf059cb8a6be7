//! Finding a command: on PATH, by its path, and by the rules of Windows.

use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::ServerLog;

struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn file(&self, path: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn resolve(&self, command: &str, path: &str, own: &[(&str, &str)]) -> Result<Resolved, String> {
        let path = path.replace('@', self.dir.path().to_str().unwrap());
        let launch = Launch {
            server: "s".into(),
            program: command.into(),
            args: vec!["".into(), "a b".into()],
            env: own
                .iter()
                .map(|(n, v)| ((*n).into(), v.replace('@', self.dir.path().to_str().unwrap())))
                .collect(),
            cwd: self.dir.path().into(),
            scrub_env: Vec::new(),
            sandbox: None,
            log: ServerLog::default(),
        };
        resolve(&[("PATH".into(), path.into())], None, &launch).map_err(|miss| match miss {
            Miss::NotFound(error) => format!("not found: {error}"),
            Miss::Final(error) => format!("final: {error}"),
        })
    }
}

#[test]
fn the_first_folder_with_a_runnable_file_wins() {
    let fixture = Fixture::new();
    fixture.file("a/tool", "", 0o644);
    fs::create_dir_all(fixture.dir.path().join("b/tool")).unwrap();
    let tool = fixture.file("c/tool", "", 0o755);
    let resolved = fixture.resolve("tool", "relative:@/a:@/b:@/c:/bin", &[]).unwrap();
    assert_eq!(resolved.program, tool);
    assert_eq!(resolved.args, ["", "a b"]);
}

#[test]
fn a_missing_command_is_named_with_every_folder_once() {
    let error = Fixture::new().resolve("no-such-tool", "/usr/bin:/bin:/usr/bin", &[]).unwrap_err();
    assert_eq!(
        error,
        "not found: server `s`: the command `no-such-tool` was not found; searched /usr/bin, /bin"
    );
}

#[test]
fn a_file_that_cannot_be_run_is_said_to_be_there() {
    let fixture = Fixture::new();
    let tool = fixture.file("a/tool", "", 0o644);
    let error = fixture.resolve("tool", "@/a", &[]).unwrap_err();
    assert_eq!(
        error,
        format!("final: server `s`: `{}` cannot be run: it is not marked as executable", tool.display())
    );
    let error = fixture.resolve("./a", "", &[]).unwrap_err();
    assert!(error.ends_with("cannot be run: it is a folder"), "{error}");
}

#[test]
fn a_relative_path_starts_from_the_servers_folder() {
    let fixture = Fixture::new();
    let tool = fixture.file("bin/tool", "", 0o755);
    assert_eq!(fixture.resolve("bin/tool", "", &[]).unwrap().program, tool);
    let error = fixture.resolve("./none", "", &[]).unwrap_err();
    assert!(
        error.starts_with("not found: server `s`: the command `./none` was not found; searched /"),
        "{error}"
    );
}

#[test]
fn the_servers_own_path_is_searched_before_the_owners() {
    let fixture = Fixture::new();
    fixture.file("owner/tool", "", 0o755);
    let own = fixture.file("own/tool", "", 0o755);
    let other = fixture.file("owner/other", "", 0o755);
    let env = [("PATH", "@/own")];
    assert_eq!(fixture.resolve("tool", "@/owner", &env).unwrap().program, own);
    assert_eq!(fixture.resolve("other", "@/owner", &env).unwrap().program, other);
}

#[test]
fn a_script_whose_interpreter_is_missing_says_so() {
    let fixture = Fixture::new();
    fixture.file("bin/one", "#!/no/such/interpreter -x\n", 0o755);
    fixture.file("bin/two", "#!/usr/bin/env -S no-such-tool --flag\n", 0o755);
    fixture.file("bin/three", "#! /usr/bin/env sh\n", 0o755);
    let error = fixture.resolve("one", "@/bin", &[]).unwrap_err();
    assert!(
        error.starts_with("final: ")
            && error.ends_with("its interpreter `/no/such/interpreter` does not exist")
    );
    let error = fixture.resolve("two", "@/bin", &[]).unwrap_err();
    assert!(error.starts_with("not found: server `s`: the command `no-such-tool` was not found"), "{error}");
    assert!(fixture.resolve("three", "@/bin:/bin", &[]).is_ok());
}

#[test]
fn a_folder_that_is_missing_or_none_is_named() {
    let fixture = Fixture::new();
    let file = fixture.file("file", "", 0o644);
    for path in [file.join("x"), file.clone(), fixture.dir.path().join("gone")] {
        let launch = Launch {
            server: "s".into(),
            program: "sh".into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: path.clone(),
            scrub_env: Vec::new(),
            sandbox: None,
            log: ServerLog::default(),
        };
        let Err(Miss::Final(error)) = resolve(&[("PATH".into(), "/bin".into())], None, &launch) else {
            panic!()
        };
        let start = format!("server `s`: its working folder `{}` cannot be used: ", path.display());
        assert!(error.to_string().starts_with(&start), "{error}");
    }
}
