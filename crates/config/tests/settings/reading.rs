//! What a settings file says, and how wrong ones are refused.

use std::path::Path;

use patchbay_api::{ErrorCode, HealthCheck, Oauth, TransportKind};
use patchbay_config::{ConfigError, ConfigSnapshot, Home, Settings, SettingsStore, defaults};

use super::{draft, listed, read};

const FULL: &str = r#"
[[mcp.servers]]
name = "files"
type = "stdio"
command = "npx"
args = ["-y", "", "a b"]
env = { TOKEN = "${secret:files}" }
cwd = "~/notes"
sandbox = false
tools = ["read_*", "list"]
auto_approve = true
prefix = "f"
agents = ["*", "codex"]
timeout_seconds = 6_0
max_seconds = 0x3C0
disabled = true
always_allow = ["write"]
health_check = { enabled = true, interval_ms = 1, timeout_ms = 2, failures = 4 }

[[mcp.servers]]
name = "web"
type = "sse"
url = "https://h/sse"
headers = { X-Key = "k" }
[mcp.servers.oauth]
provider = "P"
client_id = "id"
client_secret = "${secret:web}"
enabled = false
scopes = ["a", "b"]
redirect_port = 7777
"#;

#[test]
fn every_key_of_a_server_is_read() {
    let snapshot = read(FULL);
    assert_eq!(snapshot.warnings, [""; 0]);
    let files = draft(FULL, "files");
    assert_eq!(files.command.as_deref(), Some("npx"));
    assert_eq!(files.args, ["-y", "", "a b"]);
    assert_eq!(files.env["TOKEN"], "${secret:files}");
    assert_eq!(files.cwd.as_deref(), Some("~/notes"));
    assert_eq!(files.sandbox, Some(false));
    assert_eq!(files.tools, ["read_*", "list"]);
    assert!(files.auto_approve && files.disabled);
    assert_eq!(files.prefix.as_deref(), Some("f"));
    assert_eq!(files.agents, ["*", "codex"]);
    assert_eq!((files.timeout_seconds, files.max_seconds), (Some(60), Some(960)));
    assert_eq!(files.always_allow, ["write"]);
    assert_eq!(
        files.health_check,
        Some(HealthCheck { enabled: true, interval_ms: 1, timeout_ms: 2, failures: 4 })
    );
    let web = draft(FULL, "web");
    assert_eq!((web.r#type, web.url.as_deref()), (Some(TransportKind::Sse), Some("https://h/sse")));
    assert_eq!(web.headers["X-Key"], "k");
    let oauth = Oauth {
        provider: Some("P".into()),
        client_id: Some("id".into()),
        client_secret: Some("${secret:web}".into()),
        enabled: false,
        scopes: vec!["a".into(), "b".into()],
        redirect_port: Some(7777),
    };
    assert_eq!(web.oauth, Some(oauth));
}

#[test]
fn an_empty_and_a_missing_file_hold_no_servers_and_every_default() {
    for text in ["", "\u{feff}", "\r\n", "# only a comment"] {
        let snapshot = read(text);
        assert_eq!((snapshot.servers.len(), snapshot.settings), (0, Settings::default()), "{text:?}");
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(&temp.path().join("none"))).unwrap();
    let snapshot = SettingsStore::new(&home).read().unwrap();
    assert_eq!(snapshot.servers, []);
    assert!(!home.dir().exists(), "reading creates nothing");
}

#[test]
fn each_broken_rule_of_an_entry_is_told_with_its_line_and_field() {
    let cases = [
        ("command = 'x'", "2 ?: a server needs a name", "name"),
        ("name = ''\ncommand = 'x'", "3 : a server's name must not be empty", "name"),
        ("name = 5\ncommand = 'x'", "3 ?: name must be text in quotes, not a whole number", "name"),
        ("name = 'n'", "2 n: has neither a command nor a url", "command"),
        ("name = 'n'\ncommand = 'x'\nurl = 'http://h'", "5 n: has both a command and a url", "url"),
        ("name = 'n'\ncommand = 5", "4 n: command must be text in quotes, not a whole number", "command"),
        ("name = 'n'\ncommand = ' '", "4 n: command must not be empty", "command"),
        (
            "name = 'n'\ncommand = 'x'\nargs = 'a b'",
            "5 n: args must be a list of texts in square brackets, not text",
            "args",
        ),
        (
            "name = 'n'\ncommand = 'x'\nargs = ['a',\n 1.5]",
            "6 n: args[1] must be text in quotes, not a number",
            "args[1]",
        ),
        (
            "name = 'n'\ncommand = 'x'\n[mcp.servers.env]\nPORT = 80",
            "6 n: env.PORT must be text in quotes, not a whole number",
            "env.PORT",
        ),
        (
            "name = 'n'\ncommand = 'x'\nenv = { 'A=B' = '' }",
            "5 n: env.A=B is no name of a variable",
            "env.A=B",
        ),
        (
            "name = 'n'\ncommand = 'x'\nsandbox = 'false'",
            "5 n: sandbox must be true or false without quotes, not text",
            "sandbox",
        ),
        (
            "name = 'n'\ncommand = 'x'\ntimeout_seconds = 0",
            "5 n: timeout_seconds must be a whole number from 1 to 4294967295",
            "timeout_seconds",
        ),
        (
            "name = 'n'\ncommand = 'x'\ntimeout_seconds = 1.5",
            "5 n: timeout_seconds must be a whole number, not a number",
            "timeout_seconds",
        ),
        (
            "name = 'n'\ncommand = 'x'\ntype = 'http'",
            "5 n: the type does not fit a server with a command: leave it out or write \"stdio\"",
            "type",
        ),
        (
            "name = 'n'\nurl = 'http://h'\ntype = 'websocket'",
            "5 n: the type \"websocket\" is not known: use \"stdio\", \"http\" or \"sse\"",
            "type",
        ),
        ("name = 'n'\nurl = 'ftp://h'", "4 n: url must begin with http:// or https://", "url"),
        ("name = 'n'\nurl = 'h/mcp'", "4 n: url is no web address: relative URL without a base", "url"),
        (
            "name = 'n'\nurl = 'http://h'\nheaders = { 'a b' = 'v' }",
            "5 n: headers.a b is no name of a header",
            "headers.a b",
        ),
        (
            "name = 'n'\nurl = 'http://h'\nheaders = { a = \"v\\r\\nx\" }",
            "5 n: headers.a holds a line break or another control character",
            "headers.a",
        ),
        (
            "name = 'n'\nurl = 'http://h'\nheaders = { a = '1', A = '2' }",
            "5 n: headers: \"A\" and \"a\" are the same header",
            "headers",
        ),
        (
            "name = 'n'\nurl = 'http://h'\noauth.client_secret = 'hunter2'",
            "5 n: oauth.client_secret must be a reference such as \"${secret:NAME}\"",
            "oauth.client_secret",
        ),
        (
            "name = 'n'\nurl = 'http://h'\noauth.redirect_port = 65536",
            "5 n: oauth.redirect_port must be a port from 1 to 65535",
            "oauth.redirect_port",
        ),
        (
            "name = 'n'\ncommand = 'x'\nhealth_check = true",
            "5 n: health_check must be a table, not true or false",
            "health_check",
        ),
        (
            "name = 'n'\ncommand = 'x'\ntools = ['[']",
            "5 n: tools: \"[\" is no pattern: unclosed character class; missing ']'",
            "tools",
        ),
    ];
    for (entry, reason, field) in cases {
        let text = format!("\n[[mcp.servers]]\n{entry}\n\n[[mcp.servers]]\nname = 'good'\ncommand = 'x'\n");
        let snapshot = read(&text);
        assert_eq!(listed(&snapshot), [reason, "good"]);
        let error = snapshot.strict().unwrap_err().to_api();
        assert_eq!((error.code, error.field.as_deref()), (ErrorCode::Invalid, Some(field)), "{entry}");
        assert_eq!(error.place.unwrap().file, "settings.toml");
    }
}

#[test]
fn of_two_with_one_name_the_later_is_invalid() {
    let snapshot =
        read("[[mcp.servers]]\nname = 'a'\ncommand = 'x'\n[[mcp.servers]]\nname = 'a'\ncommand = 'y'\n");
    assert_eq!(listed(&snapshot), ["a", "5 a: the name is used already, on line 2"]);
    let error = snapshot.strict().unwrap_err();
    assert_eq!(error.to_string(), "settings.toml:5:8: server \"a\": the name is used already, on line 2");
}

#[test]
fn an_invalid_entry_does_not_take_a_name_away() {
    let snapshot = read("[[mcp.servers]]\nname = 'a'\n[[mcp.servers]]\nname = 'a'\ncommand = 'y'\n");
    assert_eq!(listed(&snapshot), ["1 a: has neither a command nor a url", "a"]);
}

#[test]
fn servers_that_are_no_list_of_tables_are_refused() {
    for (text, message) in [
        (
            "[mcp.servers.a]\ncommand = 'x'",
            "settings.toml:1:6: mcp.servers must be a list, not a table: write [[mcp.servers]] and give each server a name",
        ),
        (
            "mcp.servers = 5",
            "settings.toml:1:15: mcp.servers must be a list, not a whole number: write [[mcp.servers]] and give each server a name",
        ),
        ("\nmcp = 5", "settings.toml:2:7: mcp must be a table, not a whole number"),
    ] {
        let error = ConfigSnapshot::parse(Path::new("settings.toml"), text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let snapshot = read("mcp.servers = [5, { name = 'a', command = 'x' }]");
    assert_eq!(listed(&snapshot), ["1 ?: a server must be a table, not a whole number", "a"]);
}

#[test]
fn a_wrong_value_of_another_setting_is_an_error_and_not_its_default() {
    let parse =
        |text: &str| ConfigSnapshot::parse(Path::new("s.toml"), text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        parse("[permissions]\ndeny = 'mcp(a:*)'"),
        "s.toml:2:8: permissions.deny must be a list of texts in square brackets, not text"
    );
    assert_eq!(
        parse("permissions.mode = 'bypas'"),
        "s.toml:1:20: permissions.mode must be one of \"default\", \"plan\", \"read-only\", \"dont-ask\", \"bypass\""
    );
    assert_eq!(parse("gateway.port = 70000"), "s.toml:1:16: gateway.port must be a port from 0 to 65535");
}

#[test]
fn what_does_not_parse_is_told_with_line_and_column() {
    let parse = |bytes: &[u8]| ConfigSnapshot::parse(Path::new("s.toml"), bytes).unwrap_err();
    let error = parse("# é\n[log]\nlevel = \"x\n".as_bytes());
    let ConfigError::Syntax { place, .. } = &error else { panic!("{error}") };
    assert_eq!((place.line, place.column), (Some(3), Some(11)), "{error}");
    let error = parse(b"a = 1\n\xff\n");
    assert_eq!(error.to_string(), "s.toml:2:1: the file is not UTF-8 text from here on");
    let error = parse("\u{feff}a = 1\n a = 2".as_bytes());
    assert_eq!(error.to_string(), "s.toml:2:2: duplicate key `a`");
    for deep in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a{} = 1", ".a".repeat(100_000)),
        format!("[a{}]", ".a".repeat(100_000)),
    ] {
        assert!(matches!(parse(deep.as_bytes()), ConfigError::Syntax { .. }));
    }
}

#[test]
fn unknown_and_useless_keys_are_kept_and_told_once() {
    let text = "colour = 1\n[log]\nlevle = 'x'\n[[mcp.servers]]\nname = 'a'\ncommand = 'x'\nnotes = 1\nheaders = { A = 'b' }\nhealth_check = { enabld = true }\n";
    assert_eq!(
        read(text).warnings,
        [
            "settings.toml:1:1: unknown key colour; it is kept and has no effect",
            "settings.toml:3:1: unknown key log.levle; it is kept and has no effect",
            "settings.toml:7:1: unknown key notes of server \"a\"; it is kept and has no effect",
            "settings.toml:9:18: unknown key health_check.enabld of server \"a\"; it is kept and has no effect",
            "settings.toml:8:11: headers has no effect on server \"a\", which has a command",
        ]
    );
}

#[test]
fn a_value_with_variables_is_taken_as_written() {
    let text = "[[mcp.servers]]\nname = 'a'\nurl = '${BASE:-http://h}/mcp'\nheaders.Authorization = 'Bearer ${secret:a}'\n";
    let draft = draft(text, "a");
    assert_eq!(draft.url.as_deref(), Some("${BASE:-http://h}/mcp"));
    assert_eq!(draft.headers["Authorization"], "Bearer ${secret:a}");
}

#[test]
fn the_documentation_has_every_key_with_its_default_and_no_other() {
    let rows: Vec<_> = include_str!("../../settings.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|row| {
            let (key, rest) = row.split_once("` |").unwrap();
            let (default, meaning) = rest.split_once('|').unwrap();
            assert!(meaning.trim_end_matches('|').trim().len() > 10, "{key} is not explained");
            let default = default.trim().trim_matches('`');
            (key.to_owned(), Some(default.to_owned()).filter(|text| !text.is_empty()))
        })
        .collect();
    let sorted = |mut rows: Vec<(String, Option<String>)>| {
        rows.sort();
        rows
    };
    let known =
        defaults::settings().into_iter().map(|setting| (setting.key.to_owned(), setting.default)).collect();
    assert_eq!(sorted(rows), sorted(known));
}

#[test]
fn the_example_of_the_documentation_is_valid() {
    let doc = include_str!("../../settings.md");
    let example = doc.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let snapshot = read(example);
    assert_eq!(
        (listed(&snapshot), snapshot.warnings),
        (vec!["files".to_owned(), "tracker".to_owned()], vec![])
    );
}
