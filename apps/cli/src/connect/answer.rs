//! Which request an answer belongs to, without reading the answer.

use patchbay_wire::{Id, Message};
use serde_json::value::RawValue;

/// How the owner's answers begin.
const HEAD: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";

/// The id that a line answers; `None` where it is no answer.
pub fn answered(line: &[u8]) -> Option<Id> {
    usual(line).or_else(|| match patchbay_wire::decode(line) {
        Ok(Message::Response { id, .. }) => Some(id),
        _ => None,
    })
}

/// Whether an answer is an error, and what it says.
pub fn error(line: &[u8]) -> Option<String> {
    match patchbay_wire::decode(line) {
        Ok(Message::Response { outcome: Err(error), .. }) => Some(error.message),
        _ => None,
    }
}

/// The id of an answer in the owner's own spelling. Results can be large: only their beginning is looked at.
fn usual(line: &[u8]) -> Option<Id> {
    let rest = line.strip_prefix(HEAD)?;
    let end = match rest.first()? {
        b'"' => {
            2 + rest[1..]
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\'))
                .filter(|at| rest[at + 1] == b'"')?
        }
        _ => rest.iter().position(|byte| *byte == b',')?,
    };
    let (id, rest) = rest.split_at(end);
    if !rest.starts_with(b",\"result\":") && !rest.starts_with(b",\"error\":") {
        return None;
    }
    let id: &RawValue = serde_json::from_slice(id).ok()?;
    Id::exact(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_any_spelling_are_found_and_nothing_else_is() {
        let number = |number| Some(Id::Number(number));
        let text = |text: &str| Some(Id::Text(text.into()));
        for (line, id, quick) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"big":1}}"#, number(7), true),
            (r#"{"jsonrpc":"2.0","id":"a b","result":{}}"#, text("a b"), true),
            (r#"{"jsonrpc":"2.0","id":"","result":{}}"#, text(""), true),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#, number(7), true),
            (r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#, text("a\"b"), false),
            (r#"{"id":7,"jsonrpc":"2.0","result":{}}"#, number(7), false),
            (r#"{"jsonrpc":"2.0", "id": 7, "result": {}}"#, number(7), false),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, None, false),
            (r#"{"jsonrpc":"2.0","method":"x","params":{"id":7,"result":1}}"#, None, false),
            (r#"{"jsonrpc":"2.0","id":"#, None, false),
            (r#"{"jsonrpc":"2.0","id":""#, None, false),
            (r#"{"jsonrpc":"2.0","id":"x\"#, None, false),
            ("", None, false),
        ] {
            assert_eq!(usual(line.as_bytes()).is_some(), quick, "{line}");
            assert_eq!(answered(line.as_bytes()), id, "{line}");
        }
    }
}
