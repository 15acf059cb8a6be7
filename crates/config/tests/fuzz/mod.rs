//! Fuzz targets, run as ordinary tests: the committed corpus first, then random input.

use std::cell::Cell;

use bolero::check;
use patchbay_config::{ProjectFiles, Source, expand_text, trust_request, visible};

/// Text made of pieces that mean something to the readers; a byte chooses a piece.
fn compose(bytes: &[u8], pieces: &[&str]) -> String {
    bytes.iter().map(|byte| pieces[usize::from(*byte) % pieces.len()]).collect()
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "\r\n",
    " ",
    "\u{feff}",
    "#",
    "null",
    "true",
    "-1e9",
    "{\"mcpServers\":{",
    "\"a\":{",
    "\"b\":{",
    "}}",
    "\"command\":",
    "\"args\":[",
    "\"env\":{",
    "\"url\":",
    "\"httpUrl\":",
    "\"type\":",
    "\"transport\":{",
    "\"headers\":{",
    "\"disabled\":",
    "\"enabled\":",
    "\"oauth\":{",
    "\"sandbox\":false,",
    "\"autoApprove\":[",
    "\"x\"",
    "\"http\"",
    "\"sse\"",
    "\"http://h/${A}\"",
    "\"${A:-b}${secret:c}{{D}}\"",
    "\"\\u202e\\ud83d\"",
];

const TOML: &[&str] = &[
    "[[mcp.servers]]\n",
    "[permissions]\n",
    "[sandbox]\n",
    "[log]\n",
    "name",
    "command",
    "args",
    "env",
    "url",
    "deny",
    "allow",
    "mode",
    "blocked_paths",
    "auto_approve",
    "=",
    "'x'",
    "\"\"\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "\r\n",
    " ",
    "#",
    "1",
    "true",
    "'bypass'",
    "'off'",
    "\\",
    "\u{feff}",
    "é",
    "=1\n",
    "='x'\n",
    "=['x']\n",
];

/// Reads files with these contents and holds what comes out against what must hold for any file.
fn look_at(toml: &[u8], json: &[u8]) {
    let dir = std::env::temp_dir();
    let mut files = ProjectFiles::new(&dir).unwrap();
    let contents = || [None, Some(toml.to_vec()), Some(json.to_vec()), None];
    let project = files.read_contents(contents(), true);
    let request = trust_request(&project);

    assert_eq!(request.is_none(), project.servers.is_empty() && project.loosening.is_empty());
    if let Some(request) = &request {
        assert_eq!(request.servers.len(), project.servers.len());
        let again = trust_request(&ProjectFiles::new(&dir).unwrap().read_contents(contents(), true)).unwrap();
        assert_eq!(&again, request);
    }
    for server in &project.servers {
        assert!(!server.config.auto_approve && server.config.always_allow.is_empty());
        // Expansion of whatever was read ends, and asks for nothing that is not listed.
        let listed = server.config.variables();
        let asked = |source, name: &str| {
            assert!(listed.iter().any(|one| one.source == source && one.name == name) || name == "HOME");
        };
        let _ = server.config.expand(
            &|name| {
                asked(Source::Env, name);
                Some("v${A}".into())
            },
            &|name| {
                asked(Source::Secret, name);
                Ok(Some("s".into()))
            },
        );
    }
    for text in project.problems() {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    // What breaks a file takes nothing from what was read before.
    let before = project.servers.len();
    let broken = files.read_contents([None, Some(b"\xff".to_vec()), Some(b"{".to_vec()), None], true);
    if project.broken.is_empty() {
        assert_eq!((broken.servers.len(), broken.broken.len()), (before, 2));
    }
}

#[test]
fn no_bytes_make_the_readers_panic() {
    check!().with_iterations(2_000).for_each(|bytes: &[u8]| look_at(bytes, bytes));
}

#[test]
fn no_json_of_pieces_makes_the_reader_panic() {
    check!()
        .with_iterations(6_000)
        .with_max_len(80)
        .for_each(|bytes: &[u8]| look_at(b"", compose(bytes, JSON).as_bytes()));
}

#[test]
fn no_toml_of_pieces_makes_the_reader_panic() {
    check!()
        .with_iterations(6_000)
        .with_max_len(80)
        .for_each(|bytes: &[u8]| look_at(compose(bytes, TOML).as_bytes(), b""));
}

const REFERENCES: &[&str] = &[
    "${", "}", "$", "{", "{{", "}}", "%", "%A%", "A", "B_1", "1", ":-", ":", "env:", "secret:", "input:",
    "~", "/", "é", " ", "\0", "\n",
];

/// What a text that can be filled in becomes, where all is set but B_1.
fn by_hand(text: &str, value: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, after) = after.split_once('}').unwrap();
        let unset = inner.trim_start_matches("env:").split(":-").next() == Some("B_1");
        filled += before;
        filled += if unset { inner.split_once(":-").unwrap().1 } else { value };
        rest = after;
    }
    filled + rest
}

#[test]
fn expansion_is_one_pass_and_never_panics() {
    check!().with_iterations(20_000).with_max_len(40).for_each(|bytes: &[u8]| {
        let text = compose(bytes, REFERENCES);
        let lookups = Cell::new(0);
        let count = || lookups.set(lookups.get() + 1);
        // What comes in looks like every reference there is; none of it may be asked for.
        let value = "${A}${secret:A}%A%{{A}}";
        let env = |name: &str| {
            count();
            (name != "B_1").then(|| value.to_owned())
        };
        let secret = |_: &str| {
            count();
            Ok(Some(value.to_owned()))
        };
        let outcome = expand_text("args[0]", &text, &env, &secret);
        let written = text.matches("${").count();
        assert!(lookups.get() <= written, "{text:?}: {} lookups", lookups.get());
        match outcome {
            Ok(filled) => assert_eq!(filled, by_hand(&text, value), "{text:?}"),
            Err(error) => assert_eq!(error.field(), "args[0]"),
        }
    });
}

/// The text that was made visible.
fn unmarked(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some(start) = rest.find('⟨') {
        text.push_str(&rest[..start]);
        let end = start + rest[start..].find('⟩').unwrap();
        let mark = &rest[start + '⟨'.len_utf8()..end];
        match mark.strip_prefix("U+") {
            Some(hex) => text.push(char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap()),
            None => text.push_str(&" ".repeat(mark.split(' ').next().unwrap().parse().unwrap())),
        }
        rest = &rest[end + '⟩'.len_utf8()..];
    }
    text + rest
}

#[test]
fn what_is_made_visible_hides_and_loses_nothing() {
    check!().with_iterations(10_000).with_type::<Vec<char>>().for_each(|chars: &Vec<char>| {
        // Spaces and marks must be frequent to be interesting.
        let text: String = chars
            .iter()
            .map(|c| {
                if u32::from(*c) % 3 == 0 {
                    [' ', ' ', '⟨', '⟩', '\u{202e}', 'U'][u32::from(*c) as usize % 6]
                } else {
                    *c
                }
            })
            .collect();
        let shown = visible(&text);
        assert_eq!(unmarked(&shown), text);
        assert!(!shown.contains(|c: char| c.is_control()
            || (c.is_whitespace() && c != ' ')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}')));
        assert!(!shown.contains("    ") && !shown.starts_with(' ') && !shown.ends_with(' '));
    });
}

#[test]
fn no_git_index_makes_reading_panic() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("sub");
    for folder in [dir.join(".patchbay"), temp.path().join(".git")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(dir.join(".patchbay/settings.local.toml"), "").unwrap();
    let index = temp.path().join(".git/index");
    let real: [&[u8]; 4] = [
        include_bytes!("../project/git/v2"),
        include_bytes!("../project/git/v3"),
        include_bytes!("../project/git/v4"),
        include_bytes!("../project/git/v4-sha256"),
    ];
    check!().with_iterations(400).with_type::<(u8, Vec<(u16, u8)>, Option<u16>)>().for_each(
        |(which, changes, cut)| {
            let mut bytes = real[usize::from(*which) % 4].to_vec();
            for (at, byte) in changes.iter().take(8) {
                let at = usize::from(*at) % bytes.len();
                bytes[at] = *byte;
            }
            bytes.truncate(cut.map_or(usize::MAX, usize::from));
            std::fs::write(&index, bytes).unwrap();
            ProjectFiles::new(&dir).unwrap().read(false);
        },
    );
}
