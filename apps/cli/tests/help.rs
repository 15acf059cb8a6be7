//! The help: what a newcomer reads first.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::Place;

const TOP: &str = include_str!("help.txt");

#[test]
fn the_top_level_help_is_as_pinned() {
    let place = Place::empty();
    assert_eq!(
        place.ok(&["--help"]),
        TOP,
        "help.txt holds the help; look at the difference before you change it"
    );
}

#[test]
fn every_command_has_help_and_hidden_ones_are_not_listed() {
    let place = Place::empty();
    for command in [
        &["mcp"][..],
        &["mcp", "add"],
        &["mcp", "list"],
        &["mcp", "get"],
        &["mcp", "remove"],
        &["mcp", "enable"],
        &["mcp", "disable"],
        &["status"],
        &["tools"],
        &["call"],
        &["restart"],
        &["log"],
        &["trust"],
        &["secret"],
        &["secret", "set"],
        &["secret", "list"],
        &["secret", "remove"],
        &["config"],
        &["config", "show"],
        &["config", "path"],
        &["doctor"],
        &["serve"],
        &["connect"],
        &["completions"],
    ] {
        let help = place.ok(&[command, &["--help"]].concat());
        assert!(help.contains("Usage: patchbay"), "{command:?}: {help}");
    }
    assert!(!TOP.contains("sample-server"));
    let words = place.ok(&["mcp", "add", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("after `--`, everything is"), "{words}");
}

#[test]
fn what_the_command_line_does_not_know_is_a_usage_error() {
    let place = Place::empty();
    for args in
        [&["--odd"][..], &["odd"], &["mcp", "list", "--odd"], &["call", "x"], &["log", "x", "-n", "many"]]
    {
        let told = place.fails(2, args);
        assert!(told.contains("--help"), "{told}");
    }
    assert_eq!(place.run(&[]).code, Some(2));
    assert!(!place.home().join("settings.toml").exists());
}

#[test]
fn completions_are_scripts_that_their_shell_can_read() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(&["completions", shell]);
        assert!(script.contains("doctor") && script.contains("auto-approve"), "{shell}");
    }
    let script = place.ok(&["completions", "bash"]);
    #[expect(clippy::disallowed_methods, reason = "asks the shell")]
    let mut bash = std::process::Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}
