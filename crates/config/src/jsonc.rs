//! Reading JSON the way people write it: comments, trailing commas, a byte order mark, any line ending.
//!
//! Owns the bounds (size, depth) and finds repeated keys. What the values mean is decided in `project`.

use std::collections::HashSet;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};

use crate::node::{Key, Node, SyntaxError, Value};

/// Largest text that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Deepest nesting that is read.
pub const MAX_DEPTH: usize = 64;

/// What a text holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    /// The value; its spans are bytes of the text as it was given, with its byte order mark.
    pub root: Node,
    /// Keys that stood in their object before, in the order of the text. Both are members of the object.
    pub repeated: Vec<Key>,
}

/// Reads one JSON value.
///
/// # Errors
/// Text that is too large, is nested too deeply or is no JSON; with the byte where it goes wrong.
pub fn parse(text: &str) -> Result<Json, SyntaxError> {
    if text.len() > MAX_BYTES {
        return Err(SyntaxError { reason: format!("larger than {} KiB", MAX_BYTES / 1024), offset: 0 });
    }
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shift = text.len() - body.len();
    bound_depth(body, shift)?;
    let parsed = parse_to_ast(body, &CollectOptions::default(), &strict()).map_err(|error| SyntaxError {
        reason: error.kind().to_string().to_lowercase(),
        offset: shift + error.range().start,
    })?;
    let Some(value) = parsed.value else {
        return Err(SyntaxError { reason: "nothing but space or comments".into(), offset: 0 });
    };
    let mut repeated = Vec::new();
    let root = node(value, shift, &mut repeated);
    Ok(Json { root, repeated })
}

/// JSON with comments and trailing commas, and none of JSON5's other liberties.
fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Refuses deep nesting before the recursive reader sees it: its own limit is too deep for a small stack.
fn bound_depth(text: &str, shift: usize) -> Result<(), SyntaxError> {
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    let mut depth = 0_usize;
    // A token that cannot be read ends the walk: the reader stops there too, and says why.
    while let Ok(Some(token)) = scanner.scan() {
        match token {
            Token::OpenBrace | Token::OpenBracket => depth += 1,
            Token::CloseBrace | Token::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let offset = shift + scanner.token_start();
            return Err(SyntaxError { reason: format!("nested more than {MAX_DEPTH} deep"), offset });
        }
    }
    Ok(())
}

fn node(value: ast::Value<'_>, shift: usize, repeated: &mut Vec<Key>) -> Node {
    let span = value.start() + shift..value.end() + shift;
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(literal) => match literal.value.parse() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Number(literal.value.to_owned()),
        },
        ast::Value::StringLit(literal) => Value::String(literal.value.into_owned()),
        ast::Value::Array(array) => {
            Value::Array(array.elements.into_iter().map(|item| node(item, shift, repeated)).collect())
        }
        ast::Value::Object(object) => {
            let mut seen = HashSet::new();
            let mut members = Vec::with_capacity(object.properties.len());
            for property in object.properties {
                let span = property.name.start() + shift..property.name.end() + shift;
                let key = Key { name: property.name.into_string(), span };
                if !seen.insert(key.name.clone()) {
                    repeated.push(key.clone());
                }
                members.push((key, node(property.value, shift, repeated)));
            }
            Value::Table(members)
        }
    };
    Node { value, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (String, usize) {
        let error = parse(text).unwrap_err();
        (error.reason, error.offset)
    }

    #[test]
    fn comments_trailing_commas_bom_and_crlf_are_read() {
        let text = "\u{feff}// head\r\n{ /* in\r\nside */ \"a\": [1, -2.50e1, \"http://x\",], // tail\r\n \"b\": null, }\r\n";
        let root = parse(text).unwrap().root;
        let Value::Table(members) = &root.value else { panic!("a table") };
        assert_eq!(&text[members[0].0.span.clone()], "\"a\"");
        assert_eq!(&text[members[0].1.span.clone()], "[1, -2.50e1, \"http://x\",]");
        let Value::Array(items) = &members[0].1.value else { panic!("a list") };
        let values: Vec<_> = items.iter().map(|item| item.value.clone()).collect();
        assert_eq!(
            values,
            [Value::Integer(1), Value::Number("-2.50e1".into()), Value::String("http://x".into())]
        );
        assert_eq!((members[1].0.name.as_str(), &members[1].1.value), ("b", &Value::Null));
    }

    #[test]
    fn an_error_names_the_byte() {
        assert_eq!(error("{\n  # x\n}"), ("unexpected token".into(), 4));
        assert_eq!(error("{\n  \"a\": {\n"), ("unterminated object".into(), 9));
        assert_eq!(error("\u{feff}{\"é\": tru}").1, 10);
        assert_eq!(error(""), ("nothing but space or comments".into(), 0));
        assert_eq!(error("// only\n").0, "nothing but space or comments");
    }

    #[test]
    fn liberties_beyond_comments_and_trailing_commas_are_errors() {
        for text in [
            "{a: 1}",
            "{'a': 1}",
            "{\"a\": 0x1}",
            "{\"a\": +1}",
            "{\"a\": .5}",
            "{\"a\": NaN}",
            "[1 2]",
            "{} {}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_found_with_its_place() {
        let text = "{\"a\": 1, \"b\": {\"a\": 2, \"a\": 2}, \"a\": 3}";
        let repeated = parse(text).unwrap().repeated;
        assert_eq!(repeated.iter().map(|key| key.span.start).collect::<Vec<_>>(), [23, 32]);
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert_eq!(error(&" ".repeat(MAX_BYTES + 1)).0, "larger than 1024 KiB");
        assert!(parse(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert_eq!(error(&"[".repeat(MAX_BYTES)), ("nested more than 64 deep".into(), 64));
        assert_eq!(error(&"{\"a\":".repeat(150_000)).0, "nested more than 64 deep");
    }

    #[test]
    fn escapes_are_resolved_and_half_pairs_refused() {
        let text = |json: &str| parse(json).map(|json| json.root.value);
        assert_eq!(text(r#""a\u0041\\\ud83d\ude00\/""#).unwrap(), Value::String("aA\\\u{1F600}/".into()));
        assert!(text(r#""\ud83d""#).is_err());
    }
}
