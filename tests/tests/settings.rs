//! The settings file through the command line: what is changed, what is kept to the byte, and what is refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use patchbay_tests::{program, wait_for};
use tempfile::TempDir;

/// A home of the test's own.
struct Home(TempDir);

impl Home {
    fn with(settings: &str) -> Self {
        let home = Self(TempDir::new().unwrap());
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        fs::write(home.file(), settings).unwrap();
        home
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("settings.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Every file below the home with its content, but for locks and records.
    fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    walk(&path, found);
                } else if path.is_file() {
                    found.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        let mut found = Vec::new();
        walk(self.0.path(), &mut found);
        let kept = |path: &Path| {
            !path.ends_with(".lock") && path.extension().is_none_or(|end| end != "lock" && end != "log")
        };
        found.retain(|(path, _)| kept(path));
        found.sort();
        found
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the person at the terminal")]
    fn run(&self, args: &[&str]) -> Output {
        let mut child = Command::new(program("patchbay"))
            .args(args)
            .env("PATCHBAY_HOME", self.0.path())
            .env("HOME", self.0.path())
            .env("NO_COLOR", "1")
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for(&format!("the end of {args:?}"), || child.try_wait().unwrap());
        }));
        if let Err(in_vain) = ended {
            let _ = child.kill();
            std::panic::resume_unwind(in_vain);
        }
        child.wait_with_output().unwrap()
    }

    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail with this exit code without writing anything; gives what it says.
    fn refused(&self, args: &[&str], code: i32) -> String {
        let before = self.everything();
        let output = self.run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {told}");
        assert_eq!(self.everything(), before, "{args:?} wrote something: {told}");
        assert!(!told.contains("panicked"), "{told}");
        told
    }
}

/// Comments everywhere, an inline table, a sub-table, odd numbers and keys, unknown keys, Windows line ends, a BOM.
const ODD: &str = "\u{feff}# My servers. \u{1F40C}\r\n\
    title = 'mine' # not a key of Patchbay\r\n\
    \r\n\
    [mcp]\r\n\
    tool_names = \"plain\"\r\n\
    \r\n\
    # the first one\r\n\
    [[ mcp . servers ]]\r\n\
    \"name\" = 'first' # quoted key\r\n\
    command   =   \"one\"\r\n\
    env = { A = \"1\", \"B.C\" = '2' } # inline\r\n\
    notes = \"x\"\r\n\
    timeout_seconds = 0x3c\r\n\
    \r\n\
    \r\n\
    # a block\r\n\
    # of comments\r\n\
    \r\n\
    [[mcp.servers]]\r\n\
    name = \"second\"\r\n\
    command = '''two'''\r\n\
    args = [\r\n\
    \t\"a\", # first\r\n\
    \t\"b\",\r\n\
    ]\r\n\
    max_seconds = 3_00\r\n\
    [mcp.servers.env]\r\n\
    KEY = \"v\"\r\n\
    \r\n\
    [permissions] # after the servers\r\n\
    allow = [ ]\r\n\
    # the last line has no end";

#[test]
fn a_server_added_and_removed_leaves_the_file_as_it_was_to_the_byte() {
    let home = Home::with(ODD);
    home.succeeds(&["mcp", "add", "third", "--env", "K=v", "--", "prog", "--flag", "a b"]);
    let added = home.text();
    let mut rest = added.lines();
    for line in ODD.lines() {
        assert!(rest.any(|found| found == line), "{line:?} was lost or moved:\n{added}");
    }
    for value in ["\"third\"", "\"prog\"", "\"--flag\"", "\"a b\""] {
        assert!(added.contains(value) && !ODD.contains(value), "{value} in\n{added}");
    }
    assert!(home.succeeds(&["mcp", "list"]).contains("third"));
    home.succeeds(&["mcp", "remove", "third"]);
    assert_eq!(home.text(), ODD);
}

#[test]
fn switching_a_server_off_and_on_touches_its_own_line_only() {
    let home = Home::with(ODD);
    home.succeeds(&["mcp", "disable", "second"]);
    let off = home.text();
    let added: Vec<_> = off.lines().filter(|line| !ODD.lines().any(|old| old == *line)).collect();
    assert_eq!(added, ["disabled = true"]);
    assert_eq!(off.lines().count(), ODD.lines().count() + 1);
    home.succeeds(&["mcp", "enable", "second"]);
    let on = home.text();
    assert!(on == ODD || on == off.replace("disabled = true", "disabled = false"), "{on}");
}

#[test]
fn a_file_with_a_wrong_entry_or_that_does_not_parse_is_named_with_its_line_and_never_written() {
    let good = "[[mcp.servers]]\nname = \"good\"\ncommand = \"x\"\n\n";
    for (wrong, line, words) in [
        ("[[mcp.servers]]\nname = \"good\"\ncommand = \"y\"\n", 5, &["good"][..]),
        ("[[mcp.servers]]\nname = \"bad\"\n", 5, &["bad", "command", "url"]),
        (
            "[[mcp.servers]]\nname = \"bad\"\ncommand = \"x\"\nurl = \"http://127.0.0.1:1/\"\n",
            5,
            &["bad", "command", "url"],
        ),
        ("[[mcp.servers]]\nname = \"bad\ncommand = \"x\"\n", 6, &[]),
    ] {
        let home = Home::with(&format!("{good}{wrong}"));
        for args in
            [&["tools"][..], &["call", "good", "echo", "{}"], &["serve"], &["mcp", "add", "new", "prog"]]
        {
            let adding = args[0] == "mcp";
            if adding && !words.is_empty() {
                continue; // a wrong entry blocks nobody else's edit; only a file that can't be read does
            }
            let told = home.refused(args, 2);
            let place = format!("{}:", home.file().display());
            let after =
                told.split_once(&place).unwrap_or_else(|| panic!("{args:?} names no place: {told}")).1;
            let found: u32 =
                after.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
            assert!((line..line + 4).contains(&found), "{args:?} names line {found}, not {line}: {told}");
            for word in words {
                assert!(told.contains(word), "{args:?} doesn't say {word}: {told}");
            }
        }
    }
}

#[test]
fn wrong_words_on_the_command_line_are_refused_and_nothing_is_written() {
    let home = Home::with(ODD);
    for (args, word, code) in [
        (&["mcp", "add", "first", "prog"][..], "first", 2),
        (&["mcp", "add", "new"], "command", 2),
        (&["mcp", "add", "", "prog"], "name", 2),
        (&["mcp", "add", "new", "--env", "NOVALUE", "--", "prog"], "NOVALUE", 2),
        (&["mcp", "add", "new", "http://"], "url", 2),
        (&["mcp", "remove", "nobody"], "nobody", 3),
        (&["mcp", "disable", "nobody"], "nobody", 3),
        (&["mcp", "get", "nobody"], "nobody", 3),
    ] {
        let told = home.refused(args, code);
        assert!(told.to_lowercase().contains(&word.to_lowercase()), "{args:?} doesn't say {word}: {told}");
    }
}
