//! Every spelling of where servers live, by whole files before and after.

use patchbay_config::Edit;

use super::{draft, edited, enable, http, read, remove, replaced, stdio};

/// Each spelling with three servers a, b and c, and the text that an added server d takes.
const FORMS: &[(&str, &str)] = &[
    (
        "headers",
        "# top\n\n[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n\n# about b\n[[mcp.servers]]\nname = \"b\"\ncommand = \"x\"\n[mcp.servers.env]\nK = 'v' # why\n\n[[mcp.servers]]\nname = \"c\"\nurl = \"http://h/\"\n\n[log]\nlevel = \"info\"\n",
    ),
    (
        "quoted headers",
        "[[ \"mcp\" . 'servers' ]]\nname = \"a\"\ncommand = \"x\"\n[[mcp.servers]]\nname = \"b\"\ncommand = \"x\"\n[[ mcp.servers ]] # c\nname = \"c\"\ncommand = \"x\"",
    ),
    (
        "one line",
        "[mcp]\nservers = [ { name = \"a\", command = \"x\" }, {name=\"b\",command=\"x\"},{ name = \"c\", command = \"x\" } ] # all\ntool_names = \"plain\"\n",
    ),
    (
        "many lines",
        "[mcp]\nservers = [ # ours\n  # first\n  { name = \"a\", command = \"x\" }, # one\n  { name = \"b\", command = \"x\" },\n\n  # last\n  { name = \"c\", command = \"x\" } # no comma\n  # rest\n]\n",
    ),
    (
        "many lines with commas",
        "mcp.servers = [\n\t{ name = \"a\", command = \"x\" },\n\t{ name = \"b\", command = \"x\" },\n\t{ name = \"c\", command = \"x\" },\n]\nmcp.legacy_sse = false\n[log]\nlevel = 'info'\n",
    ),
    (
        "dotted",
        "mcp.servers = [{ name = \"a\", command = \"x\" }, { name = \"b\", command = \"x\" }, { name = \"c\", command = \"x\" }]\n",
    ),
    (
        "inline mcp",
        "mcp = { tool_names = \"plain\", servers = [{ name = \"a\", command = \"x\" }, { name = \"b\", command = \"x\" }, { name = \"c\", command = \"x\" }], legacy_sse = false }\n",
    ),
    (
        "far sub-tables",
        "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n[log]\nlevel = 'info'\n[mcp.servers.env]\nA = '1'\n[[mcp.servers]]\nname = \"b\"\ncommand = \"x\"\n[audit]\nenabled = true\n\n# env of b\n[mcp.servers.env]\nB = '2'\n\n[tray]\n\n[[mcp.servers]]\nname = \"c\"\ncommand = \"x\"\n[gateway]\nport = 0x1d_00\n[mcp.servers.health_check]\nenabled = true\n",
    ),
    (
        "indented, CRLF, BOM",
        "\u{feff}# é\r\n  [[mcp.servers]]\r\n  name = \"a\"\r\n  command = \"x\"\r\n\r\n  [[mcp.servers]]\r\n  name = \"b\"\r\n  command = \"x\"\r\n\r\n  [[mcp.servers]]\r\n  name = \"c\"\r\n  command = \"x\"\r\n    [mcp.servers.env]\r\n    A = \"\"\"\r\nx\"\"\"\r\n\r\n\r\n",
    ),
];

#[test]
fn an_added_server_that_is_removed_again_leaves_the_same_bytes() {
    for (form, text) in FORMS {
        for new in [stdio("d", "y"), http("d", "https://h/mcp")] {
            let added = edited(text, &Edit::Add(new.clone())).unwrap_or_else(|e| panic!("{form}: {e}"));
            assert_eq!(draft(&added, "d"), new, "{form}\n{added}");
            assert_eq!(edited(&added, &remove("d")).unwrap(), *text, "{form}\n{added}");
        }
    }
}

#[test]
fn a_server_that_is_switched_off_and_on_again_leaves_the_same_bytes() {
    for (form, text) in FORMS {
        for name in ["a", "b", "c"] {
            let off = edited(text, &enable(name, false)).unwrap_or_else(|e| panic!("{form}: {e}"));
            assert!(read(&off).server(name).unwrap().disabled, "{form}\n{off}");
            assert_eq!(edited(&off, &enable(name, true)).unwrap(), *text, "{form}\n{off}");
        }
    }
}

#[test]
fn removing_the_first_the_middle_or_the_last_leaves_the_others() {
    for (form, text) in FORMS {
        for (name, rest) in [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])] {
            let removed = edited(text, &remove(name)).unwrap_or_else(|e| panic!("{form}: {e}"));
            let left: Vec<_> = read(&removed).valid().map(|server| server.id.name.to_string()).collect();
            assert_eq!(left, rest, "{form}\n{removed}");
            for other in rest {
                assert_eq!(draft(&removed, other), draft(text, other), "{form}\n{removed}");
            }
        }
    }
}

#[test]
fn all_servers_can_be_removed_and_one_be_added_then() {
    for (form, text) in FORMS {
        let mut text = (*text).to_owned();
        for name in ["b", "a", "c"] {
            text = edited(&text, &remove(name)).unwrap_or_else(|e| panic!("{form}: {e}\n{text}"));
        }
        assert_eq!(read(&text).servers, [], "{form}\n{text}");
        let added =
            edited(&text, &Edit::Add(stdio("d", "y"))).unwrap_or_else(|e| panic!("{form}: {e}\n{text}"));
        assert_eq!(edited(&added, &remove("d")).unwrap(), text, "{form}\n{added}");
    }
}

#[test]
fn whole_files_after_removing_the_middle_one() {
    let after = |form: &str| {
        let (_, text) = FORMS.iter().find(|(name, _)| *name == form).unwrap();
        edited(text, &remove("b")).unwrap()
    };
    assert_eq!(
        after("headers"),
        "# top\n\n[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n\n[[mcp.servers]]\nname = \"c\"\nurl = \"http://h/\"\n\n[log]\nlevel = \"info\"\n"
    );
    assert_eq!(
        after("far sub-tables"),
        "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n[log]\nlevel = 'info'\n[mcp.servers.env]\nA = '1'\n[audit]\nenabled = true\n\n[tray]\n\n[[mcp.servers]]\nname = \"c\"\ncommand = \"x\"\n[gateway]\nport = 0x1d_00\n[mcp.servers.health_check]\nenabled = true\n"
    );
    assert_eq!(
        after("many lines"),
        "[mcp]\nservers = [ # ours\n  # first\n  { name = \"a\", command = \"x\" }, # one\n\n  # last\n  { name = \"c\", command = \"x\" } # no comma\n  # rest\n]\n"
    );
    assert_eq!(
        after("one line"),
        "[mcp]\nservers = [ { name = \"a\", command = \"x\" },{ name = \"c\", command = \"x\" } ] # all\ntool_names = \"plain\"\n"
    );
}

#[test]
fn a_value_changes_where_it_stands_and_nothing_else_does() {
    for (form, text) in FORMS {
        for name in ["a", "b"] {
            let changed = replaced(text, name, |draft| draft.command = Some("other \"x\"".into()));
            let expected = {
                let at = text.find(&format!("\"{name}\"")).unwrap();
                let command = at + text[at..].find("\"x\"").unwrap();
                format!("{}'other \"x\"'{}", &text[..command], &text[command + 3..])
            };
            assert_eq!(changed, expected, "{form}");
            assert_eq!(replaced(&changed, name, |draft| draft.command = Some("x".into())), *text, "{form}");
        }
    }
}

#[test]
fn members_of_tables_are_added_in_the_spelling_that_is_there() {
    let cases = [
        ("env = { A = \"1\" }", "env = { A = \"1\", B = \"2\" }"),
        ("env.A = \"1\"", "env.A = \"1\"\nenv.B = \"2\""),
        ("env . 'A' = \"1\" # why", "env . 'A' = \"1\" # why\nenv . B = \"2\""),
        ("[mcp.servers.env]\nA = \"1\"", "[mcp.servers.env]\nA = \"1\"\nB = \"2\""),
        ("", "env = { A = \"1\", B = \"2\" }"),
    ];
    for (before, after) in cases {
        let head = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n";
        let text = format!("{head}{before}\n\n[log]\n");
        let text = if before.is_empty() { format!("{head}\n[log]\n") } else { text };
        let changed = replaced(&text, "a", |draft| {
            draft.env.insert("A".into(), "1".into());
            draft.env.insert("B".into(), "2".into());
        });
        assert_eq!(changed, format!("{head}{after}\n\n[log]\n"));
    }
}

#[test]
fn arguments_change_one_by_one_and_keep_their_comments() {
    let text = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\nargs = [\n  \"-y\", # yes\n  'two', # 2\n  \"three\",\n]\n";
    let set = |args: &[&str]| {
        replaced(text, "a", |draft| draft.args = args.iter().map(ToString::to_string).collect())
    };
    assert_eq!(set(&["-y", "2", "three"]), text.replace("'two'", "\"2\""));
    assert_eq!(set(&["-y", "three"]), text.replace("  'two', # 2\n", ""));
    assert_eq!(
        set(&["-y", "two", "three", "four"]),
        text.replace("  \"three\",\n", "  \"three\",\n  \"four\",\n")
    );
    assert_eq!(set(&["-y", "new", "two", "three"]), text.replace("  'two'", "  \"new\",\n  'two'"));
    assert_eq!(set(&[]), "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\n");
    assert_eq!(
        set(&["", "a\nb"]),
        text.replace("\"-y\"", "\"\"").replace("'two'", "\"a\\nb\"").replace("  \"three\",\n", "")
    );
}

#[test]
fn another_transport_takes_the_place_of_the_first_and_unknown_keys_stay() {
    let text = "[[mcp.servers]]\nname = \"a\" # keep\n# how\ncommand = \"x\"\nargs = [\"1\"]\nnotes = 0x_1\nsandbox = false\nprefix = \"p\"\n[mcp.servers.env]\nA = \"1\"\n[mcp.servers.mine]\nfoo.bar = 1e0\n".replace("0x_1", "0x1");
    let mut draft = http("a", "https://h/mcp");
    draft.prefix = Some("p".into());
    draft.headers.insert("X-Key".into(), "v".into());
    let changed = edited(&text, &Edit::Replace { name: "a".into(), draft: draft.clone() }).unwrap();
    assert_eq!(
        changed,
        "[[mcp.servers]]\nname = \"a\" # keep\n# how\nurl = \"https://h/mcp\"\nnotes = 0x1\nprefix = \"p\"\nheaders = { X-Key = \"v\" }\n[mcp.servers.mine]\nfoo.bar = 1e0\n"
    );
    assert_eq!(super::draft(&changed, "a"), draft);
}

#[test]
fn a_rename_changes_the_name_only() {
    let text = FORMS[0].1;
    assert_eq!(
        replaced(text, "b", |draft| draft.name = "my server".into()),
        text.replace("name = \"b\"", "name = \"my server\"")
    );
}

#[test]
fn saving_an_unchanged_draft_changes_nothing() {
    for (form, text) in FORMS {
        for name in ["a", "b", "c"] {
            assert_eq!(replaced(text, name, |_| {}), *text, "{form}");
        }
    }
}

#[test]
fn what_says_the_default_is_left_as_it_is_written() {
    let text = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\ntype = 'stdio'\nargs = []\nenv = {}\nauto_approve = false\nsandbox = true\ntimeout_seconds = 3_00\ndisabled = false\nhealth_check = { interval_ms = 30_000 }\nagents = []\n";
    assert_eq!(replaced(text, "a", |_| {}), text);
    assert_eq!(replaced(text, "a", |draft| draft.timeout_seconds = Some(300)), text);
    assert_eq!(replaced(text, "a", |draft| draft.timeout_seconds = Some(60)), text.replace("3_00", "60"));
    assert_eq!(
        edited(text, &enable("a", false)).unwrap(),
        text.replace("disabled = false", "disabled = true")
    );
}

#[test]
fn a_comment_beside_a_switch_outlives_it() {
    let text = "[[mcp.servers]]\nname = \"a\"\ncommand = \"x\"\ndisabled = true # broken since May\n";
    assert_eq!(
        edited(text, &enable("a", true)).unwrap(),
        text.replace("disabled = true", "disabled = false")
    );
}
