//! What is TOML and what is not: the reader agrees with another one, on every rule about defining tables and on
//! random files with random damage.

use std::path::Path;

use patchbay_config::{ConfigError, ConfigSnapshot};

use super::document::{Dice, document};

/// Whether our reader takes the text for TOML; what it then says about settings is another matter.
fn ours(text: &str) -> bool {
    let read = ConfigSnapshot::parse(Path::new("f.toml"), text.as_bytes());
    !matches!(read, Err(ConfigError::Syntax { .. }))
}

fn theirs(text: &str) -> bool {
    toml::de::DeTable::parse(text).is_ok()
}

#[test]
fn tables_may_be_defined_and_extended_as_toml_says() {
    let valid = [
        "[a]\n[a.b]\n[c]",
        "[a.b]\n[a]\nc = 1",
        "[a.b.c]\n[a]\n[a.b]",
        "a.b = 1\na.c = 2",
        "a.b.c = 1\na.b.d = 2\na.e = 3",
        "a.b = 1\n[a.c]",
        "a.b.c = 1\n[a.d]\n[a.b.e]",
        "[[a]]\n[[a]]\n[a.b]\n[[a]]\n[a.b]",
        "[[a.b]]\n[a]\nc = 1",
        "[[a]]\nb.c = 1\n[[a]]\nb.c = 1",
        "[[a]]\n[[a.b]]\n[[a.b]]\n[a.b.c]",
        "a = { b.c = 1, b.d = 2 }",
        "a = { }\nb = [ {c = 1}, {c = 2}, ]",
        "'' = 1\n\" \" = 2",
        "mcp.tool_names = 'plain'\n[[mcp.servers]]",
    ];
    for text in valid {
        assert!(ours(text) && theirs(text), "{text}");
    }
    let invalid = [
        "a = 1\na = 2",
        "a = 1\n\"a\" = 2",
        "[a]\n[a]",
        "[a]\nb = 1\n[a.b]",
        "[a.b]\n[a]\nb = 1",
        "[a.b]\n[a]\nb.c = 1",
        "[a.b.c]\n[a]\nb.c.d = 1",
        "a.b = 1\n[a]",
        "a.b.c = 1\n[a.b]",
        "a = 1\na.b = 2",
        "a.b = 1\na = 2",
        "a = {}\n[a.b]",
        "a = {}\na.b = 1",
        "a = { b = 1 }\na.c = 2",
        "a = { b = 1, b.c = 2 }",
        "a = { b.c = 1, b = 2 }",
        "a = { b = {}, b.c = 2 }",
        "a = [{}]\n[a.b]",
        "a = []\n[[a]]",
        "[a]\n[[a]]",
        "[[a]]\n[a]",
        "[[a]]\nb = 1\n[[a.b]]",
        "[[a.b]]\n[a.b]",
        "[[a.b]]\n[a]\nb.c = 1",
        "a = 1\n[a.b]",
        "a = 99999999999999999999",
        "a = 1979-13-01",
        "a = 07:60:00",
    ];
    for text in invalid {
        assert!(!ours(text), "{text}");
    }
}

/// Damages a text somewhere.
pub fn damaged(dice: &mut Dice, text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(5) {
        0 => drop(lines.remove(from)),
        1 => lines.insert(to, lines[from]),
        2 => lines.swap(from, to),
        3 => {
            let mut chars: Vec<char> = text.chars().collect();
            let at = dice.below(chars.len());
            chars[at] =
                *dice.pick(&['"', '\'', '[', ']', '{', '}', '=', '.', ',', '#', '\n', '\r', '\0', 'a', '\\']);
            return chars.into_iter().collect();
        }
        _ => {
            let chars: Vec<char> = text.chars().collect();
            return chars[..dice.below(chars.len())].iter().collect();
        }
    }
    lines.concat()
}

#[test]
fn of_damaged_files_exactly_those_are_read_that_another_reader_takes() {
    let mut broken = 0;
    for seed in 0..3_000 {
        let mut dice = Dice::new(seed);
        let text = damaged(&mut dice, &document(&mut Dice::new(seed)).text);
        assert_eq!(ours(&text), theirs(&text), "seed {seed}\n{text}");
        broken += usize::from(!ours(&text));
    }
    assert!((500..2_500).contains(&broken), "{broken} of 3000 were broken");
}
