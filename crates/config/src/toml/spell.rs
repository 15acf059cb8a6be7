//! How values and keys that an edit puts in are written.

use std::fmt::Write as _;

use crate::node::{Node, Value};

/// A value on one line.
pub(crate) fn value(node: &Node) -> String {
    match &node.value {
        Value::Null => String::from("\"\""),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Number(text) | Value::Datetime(text) => text.clone(),
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(members) if members.is_empty() => String::from("{}"),
        Value::Table(members) => {
            let pairs: Vec<_> = members.iter().map(|(name, node)| pair(&key(&name.name), node)).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A spelled key with its value.
pub(crate) fn pair(key: &str, node: &Node) -> String {
    format!("{key} = {}", value(node))
}

/// A key, bare where it may be.
pub(crate) fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { name.to_owned() } else { string(name) }
}

/// Text: as it is between apostrophes where that saves escapes, else with escapes between quotes.
pub(crate) fn string(text: &str) -> String {
    let escapes = text.contains(['"', '\\']);
    let literal = !text.contains('\'') && !text.contains(|c: char| c.is_control() && c != '\t');
    if escapes && literal {
        return format!("'{text}'");
    }
    let mut spelled = String::with_capacity(text.len() + 2);
    spelled.push('"');
    for c in text.chars() {
        match c {
            '"' => spelled.push_str("\\\""),
            '\\' => spelled.push_str("\\\\"),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(spelled, "\\u{:04X}", u32::from(c));
            }
            c => spelled.push(c),
        }
    }
    spelled.push('"');
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_as_it_was() {
        for text in [
            "",
            "a",
            "it's",
            "C:\\x",
            "say \"hi\"",
            "both ' and \"",
            "\u{0}\u{7f}\u{85}",
            "a\r\nb\tc",
            "ü\u{202e}",
        ] {
            let (_, root) = super::super::parse(&format!("k = {}", string(text))).unwrap();
            assert_eq!(root.get("k").and_then(Node::as_str), Some(text));
            let (_, root) = super::super::parse(&format!("{} = 1", key(text))).unwrap();
            assert!(root.get(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn windows_paths_need_no_escapes() {
        assert_eq!(string("C:\\Program Files\\x"), "'C:\\Program Files\\x'");
    }
}
