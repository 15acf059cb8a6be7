//! Filling in variables: one pass, named failures, nothing literal or empty sent by mistake.

use std::cell::RefCell;
use std::collections::HashMap;

use patchbay_config::{ExpandError, Expanded, ServerConfig, Transport, expand_text};

use super::Folder;

fn server(entry: &str) -> ServerConfig {
    let folder = Folder::with_json(&format!(r#"{{"mcpServers": {{"s": {entry}}}}}"#));
    let project = folder.read();
    assert!(project.invalid.is_empty(), "{:?}", project.invalid);
    ServerConfig::clone(&project.servers[0].config)
}

fn expand(server: &ServerConfig, env: &[(&str, &str)]) -> Result<Expanded, ExpandError> {
    let env: HashMap<&str, &str> = env.iter().copied().collect();
    let secret = |name: &str| match name {
        "db" => Ok(Some("s3cret ${X} value".to_owned())),
        "locked" => Err("the keyring is locked".into()),
        _ => Ok(None),
    };
    server.expand(&|name| env.get(name).map(ToString::to_string), &secret)
}

#[test]
fn every_field_is_filled_in_once_and_what_comes_in_is_not_looked_at_again() {
    let server = server(
        r#"{"command": "${BIN:-node}", "cwd": "${DIR}/sub", "args": ["--root", "${WS} dir", "${T}", "$5 $HOME $", "${secret:db}"],
            "env": {"K": "a${T}b", "D": "cost $5", "E": "${env:T}", "F": "${EMPTY:-full}", "G": "${EMPTY}", "H": "`id` $(id) !x"}}"#,
    );
    let env = [("WS", "/my ws"), ("DIR", "/d"), ("T", "to${OTHER}ken"), ("OTHER", "no"), ("EMPTY", "")];
    let expanded = expand(&server, &env).unwrap();
    let Transport::Stdio(stdio) = &expanded.transport else { panic!("stdio") };
    assert_eq!(stdio.command, "node");
    assert_eq!(stdio.cwd.as_deref(), Some("/d/sub"));
    assert_eq!(stdio.args, ["--root", "/my ws dir", "to${OTHER}ken", "$5 $HOME $", "s3cret ${X} value"]);
    let values: Vec<_> = stdio.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        values,
        ["D=cost $5", "E=to${OTHER}ken", "F=full", "G=", "H=`id` $(id) !x", "K=ato${OTHER}kenb"]
    );
    assert_eq!(expanded.secrets, ["/d", "/my ws", "s3cret ${X} value", "to${OTHER}ken"]);
    assert!(!format!("{expanded:?}").contains("s3cret"));
}

#[test]
fn an_address_and_headers_are_filled_in() {
    let server = server(
        r#"{"url": "${BASE:-http://127.0.0.1:9}/mcp?k=${T}", "headers": {"Authorization": "Bearer ${T}", "X": "{env:T} %TOKEN% $5"}}"#,
    );
    let expanded = expand(&server, &[("T", "tok")]).unwrap();
    let Transport::Http(http) = &expanded.transport else { panic!("http") };
    assert_eq!(http.url, "http://127.0.0.1:9/mcp?k=tok");
    assert_eq!(http.headers["Authorization"], "Bearer tok");
    assert_eq!(http.headers["X"], "{env:T} %TOKEN% $5");
    assert_eq!(expanded.secrets, ["tok"]);
}

#[test]
fn a_failure_names_field_and_variable() {
    let failure = |entry: &str| {
        let error =
            expand(&server(entry), &[("BAD", "a\r\nX: y"), ("NUL", "a\0b"), ("FTP", "ftp:")]).unwrap_err();
        format!("{} | {error}", error.field())
    };
    let failures = [
        failure(r#"{"command": "srv", "env": {"API_TOKEN": "${EXAMPLE_TOKEN}"}}"#),
        failure(r#"{"command": "srv", "args": ["a", "b", "c", "${WS}"]}"#),
        failure(r#"{"command": "${BIN}"}"#),
        failure(r#"{"command": "srv", "cwd": "${secret:none}"}"#),
        failure(r#"{"url": "https://h.example/${env:PART}"}"#),
        failure(r#"{"url": "https://h.example/", "headers": {"Authorization": "Bearer ${secret:locked}"}}"#),
        failure(r#"{"url": "https://{{HOST}}/${A:-b}"}"#),
        failure(r#"{"url": "https://h.example/", "headers": {"X": "${input:key}"}}"#),
        failure(r#"{"url": "https://h.example/", "headers": {"X": "${BAD}"}}"#),
        failure(r#"{"url": "${FTP}//h.example/"}"#),
        failure(r#"{"command": "srv", "env": {"A": "${NUL}"}}"#),
        failure(r#"{"command": "${E:-}"}"#),
        failure(r#"{"command": "~other/bin/srv"}"#),
        failure(r#"{"command": "srv", "cwd": "~other"}"#),
        failure(r#"{"command": "~/bin/srv"}"#),
    ];
    assert_eq!(
        failures,
        [
            "env.API_TOKEN | env.API_TOKEN uses the variable EXAMPLE_TOKEN, which is not set",
            "args[3] | args[3] uses the variable WS, which is not set",
            "command | command uses the variable BIN, which is not set",
            "cwd | cwd uses the secret none, which is not stored",
            "url | url uses the variable PART, which is not set",
            "headers.Authorization | headers.Authorization uses the secret locked, which cannot be read: the keyring is locked",
            "url | url still holds the placeholder {{HOST}}",
            "headers.X | headers.X holds ${input:key}, which cannot be filled in: only ${NAME}, ${NAME:-default}, ${env:NAME} and ${secret:NAME} are known",
            "headers.X | headers.X holds a line break or another control character once its variables are filled in",
            "url | url is no http or https address once its variables are filled in",
            "env.A | env.A holds the character U+0000 once its variables are filled in",
            "command | command is empty once its variables are filled in",
            "command | command starts with ~other: only ~ and ~/ stand for the home folder",
            "cwd | cwd starts with ~other: only ~ and ~/ stand for the home folder",
            "command | command uses the variable HOME, which is not set",
        ]
    );
}

#[test]
fn the_home_folder_stands_for_a_tilde_at_the_start_of_command_and_cwd_alone() {
    let server =
        server(r#"{"command": "~/bin/${N:-srv}", "args": ["~/data", "~"], "cwd": "~", "env": {"P": "~/x"}}"#);
    let expanded = expand(&server, &[("HOME", "/home/u")]).unwrap();
    let Transport::Stdio(stdio) = expanded.transport else { panic!("stdio") };
    assert_eq!((stdio.command.as_str(), stdio.cwd.as_deref()), ("/home/u/bin/srv", Some("/home/u")));
    assert_eq!((stdio.args, stdio.env["P"].as_str()), (vec!["~/data".to_owned(), "~".to_owned()], "~/x"));
}

#[test]
fn a_place_left_to_fill_in_is_an_error_except_in_arguments_which_may_be_templates() {
    let template = server(r#"{"command": "srv", "args": ["--format", "{{name}}"]}"#);
    assert!(expand(&template, &[]).is_ok());
    assert_eq!(
        template.warnings()[0].to_string(),
        "args[1] holds {{name}}: is it a place to be filled in by hand?"
    );
    let env = server(r#"{"command": "srv", "env": {"KEY": "{{KEY}}"}}"#);
    assert!(matches!(expand(&env, &[]), Err(ExpandError::Placeholder { field, .. }) if field == "env.KEY"));
}

#[test]
fn one_servers_failure_is_its_own_and_says_the_next_step() {
    let error = expand(&server(r#"{"command": "srv", "env": {"A": "${A_KEY}"}}"#), &[]).unwrap_err();
    assert_eq!(error.hint(), "Set A_KEY where Patchbay is started, or give a default: ${A_KEY:-…}.");
    let error = expand(&server(r#"{"command": "srv", "env": {"A": "${secret:none}"}}"#), &[]).unwrap_err();
    assert_eq!(error.hint(), "Store it: patchbay secret set none");
}

#[test]
fn what_is_named_is_listed_without_being_looked_up() {
    let server =
        server(r#"{"command": "srv", "args": ["${A:-${"], "env": {"B": "${B}${secret:db}", "C": "$C"}}"#);
    let names: Vec<_> = server
        .variables()
        .into_iter()
        .map(|variable| format!("{} in {}", variable.name, variable.field))
        .collect();
    assert_eq!(names, ["B in env.B", "db in env.B"]);
}

#[test]
fn a_single_text_is_filled_in_by_the_same_rules() {
    let asked = RefCell::new(Vec::new());
    let secret = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        Ok(Some("v".to_owned()))
    };
    assert_eq!(expand_text("oauth.client_secret", "${secret:c}", &|_| None, &secret).unwrap(), "v");
    assert_eq!(asked.into_inner(), ["c"]);
}
