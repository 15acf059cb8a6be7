//! Faults that people met with comparable programs, each with the input that provokes it.

use std::path::Path;

use patchbay_config::{ConfigError, Edit, Home, SettingsStore};

use super::{draft, edited, enable, listed, read, remove, replaced, stdio};

const MIXED: &str = "# top of the file

# A is ours
[[mcp.servers]]
name = \"A\" # the first
command = 'a'
notes = \"x\"
env = { KEY = \"1\", 'quoted key' = \"2\" }

[[mcp.servers]]
name = \"B\"
command = \"b\"
timeout_seconds = 3_0
[mcp.servers.env]
  LOG = \"debug\"

# a block of its own

# about C
# in two lines
[[mcp.servers]]
name = \"C\"
url = \"https://c.example/mcp\"
";

#[test]
fn adding_and_deleting_a_server_touches_no_other_line() {
    let added = edited(MIXED, &Edit::Add(stdio("D", "d"))).unwrap();
    assert_eq!(added, format!("{MIXED}\n[[mcp.servers]]\nname = \"D\"\ncommand = \"d\"\n"));
    assert_eq!(edited(&added, &remove("D")).unwrap(), MIXED);
}

#[test]
fn unknown_keys_survive_on_the_server_that_is_edited() {
    let changed = replaced(MIXED, "A", |draft| draft.args = vec!["--fast".into()]);
    let line = "env = { KEY = \"1\", 'quoted key' = \"2\" }\n";
    assert_eq!(changed, MIXED.replace(line, &format!("{line}args = [\"--fast\"]\n")));
}

#[test]
fn a_block_of_comments_of_its_own_stays_when_the_server_below_goes() {
    let removed = edited(MIXED, &remove("C")).unwrap();
    assert!(removed.ends_with("  LOG = \"debug\"\n\n# a block of its own\n"), "{removed}");
}

fn store(content: &[u8]) -> (tempfile::TempDir, SettingsStore) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(temp.path())).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a user's file")]
    std::fs::write(home.settings(), content).unwrap();
    (temp, SettingsStore::new(&home))
}

#[test]
fn a_file_that_does_not_parse_is_never_written() {
    let good = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n".repeat(4);
    let broken = format!("[log]\nlevel = \"info\"\n[gateway]\nport = 1\n[audit]\n\nenabled = \"true\n{good}");
    let (_temp, store) = store(broken.as_bytes());
    let edits = [
        Edit::Add(stdio("new", "x")),
        remove("a"),
        enable("a", false),
        Edit::Replace { name: "a".into(), draft: stdio("a", "y") },
    ];
    for edit in &edits {
        let error = store.edit(None, edit).unwrap_err();
        let place = error.to_api().place.unwrap();
        assert_eq!(
            (place.file, place.line, place.column),
            (store.file().display().to_string(), Some(7), Some(16))
        );
        assert_eq!(std::fs::read(store.file()).unwrap(), broken.as_bytes());
    }
    let names: Vec<_> =
        store.file().parent().unwrap().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
}

#[test]
fn a_file_of_no_bytes_holds_no_servers_and_takes_one() {
    let (_temp, store) = store(b"");
    assert_eq!(store.read().unwrap().servers, []);
    store.edit(None, &Edit::Add(stdio("a", "x"))).unwrap();
    assert_eq!(
        std::fs::read_to_string(store.file()).unwrap(),
        "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n"
    );
    store.edit(None, &remove("a")).unwrap();
    assert_eq!(std::fs::read(store.file()).unwrap(), b"");
}

#[test]
fn byte_order_mark_and_line_endings_are_kept() {
    let text = "\u{feff}[[mcp.servers]]\r\nname = \"a\"\r\ncommand = \"x\"\r\n";
    let changed = edited(text, &Edit::Add(stdio("b", "y"))).unwrap();
    assert_eq!(changed, format!("{text}\r\n[[mcp.servers]]\r\nname = \"b\"\r\ncommand = \"y\"\r\n"));
    assert_eq!(edited(text, &enable("a", false)).unwrap(), format!("{text}disabled = true\r\n"));
}

const WRONG: &str = "
[[mcp.servers]]
name = \"late\"
startup_timeout_ms = 20_000

[[mcp.servers]]
name = \"good1\"
command = \"x\"

[[mcp.servers]]
name = \"socket\"
type = \"websocket\"
url = \"http://h\"

[[mcp.servers]]
name = \"both\"
command = \"x\"
url = \"http://h\"

[[mcp.servers]]
name = \"number\"
command = 5

[[mcp.servers]]
name = \"good2\"
url = \"http://h/mcp\"
";

#[test]
fn wrong_entries_are_told_and_good_ones_work_and_can_be_changed() {
    let snapshot = read(WRONG);
    assert_eq!(
        listed(&snapshot),
        [
            "2 late: has neither a command nor a url",
            "good1",
            "12 socket: the type \"websocket\" is not known: use \"stdio\", \"http\" or \"sse\"",
            "18 both: has both a command and a url",
            "22 number: command must be text in quotes, not a whole number",
            "good2",
        ]
    );
    assert_eq!(
        edited(WRONG, &enable("good1", false)).unwrap(),
        WRONG.replace("\ncommand = \"x\"\n\n", "\ncommand = \"x\"\ndisabled = true\n\n")
    );
    assert_eq!(
        replaced(WRONG, "good2", |draft| draft.prefix = Some("p".into())),
        format!("{WRONG}prefix = \"p\"\n")
    );
    let added = edited(WRONG, &Edit::Add(stdio("new", "y"))).unwrap();
    assert_eq!(edited(&added, &remove("new")).unwrap(), WRONG);
}

#[test]
fn a_wrong_entry_can_be_removed_or_put_right_but_not_switched() {
    assert!(!edited(WRONG, &remove("socket")).unwrap().contains("websocket"));
    let fixed =
        edited(WRONG, &Edit::Replace { name: "number".into(), draft: stdio("number", "five") }).unwrap();
    assert_eq!(fixed, WRONG.replace("command = 5", "command = \"five\""));
    let fixed = edited(WRONG, &Edit::Replace { name: "both".into(), draft: stdio("both", "x") }).unwrap();
    assert_eq!(fixed, WRONG.replace("command = \"x\"\nurl = \"http://h\"\n", "command = \"x\"\n"));
    let error = edited(WRONG, &enable("number", false)).unwrap_err();
    assert!(matches!(error, ConfigError::Entry(_)), "{error}");
}

#[test]
fn an_edit_that_would_make_something_wrong_changes_nothing() {
    let cases = [
        (Edit::Add(stdio("good1", "y")), Some("name")),
        (Edit::Add(stdio("late", "y")), Some("name")),
        (Edit::Add(stdio("", "y")), Some("name")),
        (Edit::Add(stdio("n", "")), Some("command")),
        (Edit::Add(super::http("n", "nonsense")), Some("url")),
        (Edit::Replace { name: "good1".into(), draft: stdio("good2", "y") }, Some("name")),
        (
            Edit::Replace { name: "good1".into(), draft: patchbay_api::McpServerConfig::default() },
            Some("name"),
        ),
    ];
    for (edit, field) in cases {
        let error = edited(WRONG, &edit).unwrap_err().to_api();
        assert_eq!(error.field.as_deref(), field, "{edit:?}: {error}");
        assert_eq!(error.code, patchbay_api::ErrorCode::Invalid);
    }
    let mut odd = stdio("n", "x");
    odd.headers.insert("A".into(), "b".into());
    assert_eq!(
        edited("", &Edit::Add(odd)).unwrap_err().to_string(),
        "server \"n\": headers has no effect on a server with a command"
    );
}

#[test]
fn an_unknown_name_is_told_as_such() {
    for edit in [
        remove("nobody"),
        enable("nobody", true),
        Edit::Replace { name: "nobody".into(), draft: stdio("n", "x") },
    ] {
        let error = edited(WRONG, &edit).unwrap_err();
        assert_eq!(error.to_api().code, patchbay_api::ErrorCode::McpServerNotFound);
        assert!(
            error.to_string().contains("nobody") && error.to_string().contains("settings.toml"),
            "{error}"
        );
    }
}

#[test]
fn a_masked_secret_keeps_the_files_value_and_is_never_written() {
    let text = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\nenv = { KEY = 'real' }\n";
    let changed = replaced(text, "a", |draft| {
        draft.env.insert("KEY".into(), patchbay_api::MASK.into());
        draft.env.insert("NEW".into(), "1".into());
    });
    assert_eq!(changed, text.replace("'real' }", "'real', NEW = \"1\" }"));
    let mut draft = draft(text, "a");
    draft.env.insert("OTHER".into(), patchbay_api::MASK.into());
    let error = edited(text, &Edit::Replace { name: "a".into(), draft: draft.clone() }).unwrap_err();
    assert_eq!(error.to_api().field.as_deref(), Some("env.OTHER"));
    draft.env.clear();
    draft.args = vec![format!("--key={}", patchbay_api::MASK)];
    let error = edited(text, &Edit::Replace { name: "a".into(), draft }).unwrap_err();
    assert_eq!(error.to_api().field.as_deref(), Some("args"));
}

#[test]
fn of_two_with_one_name_the_refused_one_is_removed() {
    let text = "[[mcp.servers]]\nname = 'a'\ncommand = 'x'\n\n[[mcp.servers]]\nname = 'a'\ncommand = 'y'\n";
    assert_eq!(edited(text, &remove("a")).unwrap(), "[[mcp.servers]]\nname = 'a'\ncommand = 'x'\n");
    assert_eq!(edited(text, &enable("a", false)).unwrap(), text.replace("'x'\n", "'x'\ndisabled = true\n"));
}

const NAMES: &[&str] = &[
    "我的服务器",
    "мой сервер",
    "my server",
    "my_server",
    "a.b",
    "we\"ird",
    "it's",
    "both \" and '",
    "true",
    "2024-01-01",
    "..",
    "CON",
    "\u{e9}",
    "e\u{301}",
    "a\\b",
    "[x]",
    "# no comment",
];

#[test]
fn every_name_that_a_person_may_choose_works_and_stays_apart_from_the_others() {
    let base = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n[mcp.servers.env]\nb = \"1\"\n";
    let long = "x".repeat(200);
    let names: Vec<&str> = NAMES.iter().copied().chain([long.as_str()]).collect();
    let mut text = base.to_owned();
    let mut versions = vec![text.clone()];
    for name in &names {
        text = edited(&text, &Edit::Add(stdio(name, "x"))).unwrap_or_else(|error| panic!("{name}: {error}"));
        versions.push(text.clone());
    }
    assert_eq!(listed(&read(&text))[1..], names.iter().map(ToString::to_string).collect::<Vec<_>>());
    for name in &names {
        let error = edited(&text, &Edit::Add(stdio(name, "y"))).unwrap_err();
        assert!(matches!(error, ConfigError::NameTaken { .. }), "{name}: {error}");
        let off = edited(&text, &enable(name, false)).unwrap();
        assert_eq!(read(&off).valid().filter(|server| server.disabled).count(), 1, "{name}");
        assert_eq!(edited(&off, &enable(name, true)).unwrap(), text, "{name}");
        let renamed = replaced(&text, name, |draft| draft.name = "renamed".into());
        assert_eq!(replaced(&renamed, "renamed", |draft| draft.name = (*name).into()), text, "{name}");
    }
    for name in names.iter().rev() {
        text = edited(&text, &remove(name)).unwrap();
        versions.pop();
        assert_eq!(Some(&text), versions.last(), "{name}");
    }
    assert_eq!(text, base, "removing a.b leaves a with its env");
}

#[test]
fn a_settings_path_that_is_no_file_is_an_error_and_not_an_empty_file() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(temp.path())).unwrap();
    std::fs::create_dir(home.settings()).unwrap();
    let store = SettingsStore::new(&home);
    for error in [store.read().unwrap_err(), store.edit(None, &Edit::Add(stdio("a", "x"))).unwrap_err()] {
        assert!(error.to_string().contains("settings.toml"), "{error}");
    }
    assert!(Path::new(&home.settings()).is_dir());
}
