//! Bytes and texts that nobody would write: the reader and the edits never panic, and no edit loses anything. The
//! inputs under `__fuzz__` are tried first, each time.

use std::path::Path;

use bolero::check;
use patchbay_config::{ConfigSnapshot, Edit, edit_bytes};
use toml::de::{DeTable, DeValue};

use super::{
    document::{Dice, document},
    enable,
    grammar::damaged,
    http, remove, stdio,
};

#[test]
fn no_bytes_make_the_settings_reader_panic() {
    check!().with_iterations(2_000).with_max_len(2_048).for_each(|bytes: &[u8]| {
        if let Ok(snapshot) = ConfigSnapshot::parse(Path::new("f"), bytes) {
            drop(snapshot.strict());
            edit_everything(bytes);
        }
    });
}

#[test]
fn no_text_of_pieces_loses_anything_in_an_edit() {
    check!().with_iterations(1_500).with_max_len(64).for_each(|bytes: &[u8]| {
        let text: String = bytes.iter().map(|byte| PIECES[*byte as usize % PIECES.len()]).collect();
        edit_everything(text.as_bytes());
    });
}

#[test]
fn no_damaged_file_loses_anything_in_an_edit() {
    check!().with_iterations(500).with_max_len(512).for_each(|bytes: &[u8]| {
        let mut dice = Dice::from_bytes(bytes);
        let text = document(&mut dice).text;
        edit_everything(damaged(&mut dice, &text).as_bytes());
    });
}

/// Lines and parts of lines; many rows of them are settings.
const PIECES: &[&str] = &[
    "[[mcp.servers]]\n",
    "[[ 'mcp' . \"servers\" ]] # c\r\n",
    "[mcp]\n",
    "[mcp.servers.env]\n",
    "[mcp.servers.oauth]\n",
    "[[mcp.servers.mine]]\n",
    "[x]\n",
    "name = \"a\"\n",
    "name = 'b'\n",
    "\"name\" = \"c\" # c\n",
    "command = 'x'\n",
    "url = \"http://h\"\n",
    "disabled = true\n",
    "disabled = false # c\n",
    "env.A = 'v'\n",
    "env = { A = 'v' }\n",
    "K = \"v\"\n",
    "args = [ 'a',\n 'b' # c\n ]\n",
    "notes = \"\"\"\n[[mcp.servers]]\n\"\"\"\n",
    "servers = [\n  { name = 'a', command = 'x' }, # c\n  {\n    name = 'b', # c\n    command = 'x',\n  },\n]\n",
    "mcp.servers = [ { name = 'a', command = 'x' } , {name='b',url='http://h'} ]\n",
    "mcp = { servers = [ { name = 'a', command = 'x' } ], tool_names = 'plain' }\n",
    "mcp = {\n  servers = [{name='a',command='x'}]\n  , legacy_sse = true, }\n",
    "mcp.tool_names = 'plain'\n",
    "servers = [ # c\n]\n",
    "servers = []",
    "# comment\n",
    "  # indented\n",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "\u{feff}",
    "timeout_seconds = 0x1_0\n",
    "health_check.enabled = true\n",
    "= ",
    "]",
    "{",
    "\"",
];

/// Makes every kind of edit, if it may be made, and looks for what is lost.
fn edit_everything(bytes: &[u8]) {
    let file = Path::new("f");
    let names: Vec<String> = match ConfigSnapshot::parse(file, bytes) {
        Ok(snapshot) => {
            snapshot.servers.iter().filter_map(|entry| entry.name().map(ToOwned::to_owned)).collect()
        }
        Err(_) => vec!["a".into()],
    };
    let mut edits = vec![Edit::Add(stdio("new", "x")), Edit::Add(http("n.w", "http://h"))];
    for name in names.iter().take(3) {
        let mut draft = stdio(name, "y");
        draft.args = vec!["1".into()];
        draft.env.insert("B".into(), "w".into());
        let replace = |draft| Edit::Replace { name: name.clone(), draft };
        edits.extend([
            remove(name),
            enable(name, false),
            enable(name, true),
            replace(draft),
            replace(http("new", "http://h")),
        ]);
    }
    for edit in &edits {
        if let Ok((after, _)) = edit_bytes(file, bytes, edit) {
            let before = std::str::from_utf8(bytes).expect("only text is edited");
            nothing_lost(before, &after, edit);
        }
    }
}

/// Everything but one server is in the text as before, says another parser.
fn nothing_lost(before: &str, after: &str, edit: &Edit) {
    let (old, old_rest) = parts(before);
    let (new, new_rest) = parts(after);
    assert_eq!(old_rest, new_rest, "{edit:?}\n{before}\n--\n{after}");
    let (less, more) = match edit {
        Edit::Add(_) => (0, 1),
        Edit::Remove { .. } => (1, 0),
        _ => (1, 1),
    };
    let kept = old.iter().filter(|server| new.contains(server)).count();
    let counts = (new.len() + less, kept + less >= old.len());
    assert_eq!(counts, (old.len() + more, true), "{edit:?}\n{before}\n--\n{after}");
}

/// The servers, and everything else, each as text without layout.
fn parts(text: &str) -> (Vec<String>, Vec<(String, String)>) {
    let root = DeTable::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).into_inner();
    let mut servers = Vec::new();
    let mut rest = Vec::new();
    for (key, value) in &root {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("mcp", DeValue::Table(mcp)) => {
                for (key, value) in mcp {
                    match (key.get_ref().as_ref(), value.get_ref()) {
                        ("servers", DeValue::Array(all)) => {
                            servers = all.iter().map(|s| plain(s.get_ref())).collect()
                        }
                        (key, value) => rest.push((format!("mcp.{key}"), plain(value))),
                    }
                }
            }
            (key, value) => rest.push((key.to_owned(), plain(value))),
        }
    }
    rest.sort();
    (servers, rest)
}

fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(items) => {
            format!("{:?}", items.iter().map(|item| plain(item.get_ref())).collect::<Vec<_>>())
        }
        DeValue::Table(members) => {
            let mut all: Vec<_> = members
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref())))
                .collect();
            all.sort();
            format!("{all:?}")
        }
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => format!("{}/{}", number.as_str(), number.radix()),
        DeValue::Float(number) => format!("float {}", number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    }
}
