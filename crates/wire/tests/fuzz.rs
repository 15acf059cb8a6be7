//! Fuzz targets, run as ordinary tests: the committed corpus first, then random input.

use bolero::check;
use patchbay_wire::{Message, Token, batch, broken_response, decode, splice, spliced_request};
use serde_json::{Value, value::RawValue};

use crate::{
    json::{Pairs, Source},
    lines::{Seen, split},
};

/// What a splitter without any care for memory would report.
fn naive(limit: usize, stream: &[u8]) -> Vec<Seen> {
    let mut lines: Vec<&[u8]> = stream.split(|b| *b == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let one = |line: &[u8]| match line.len() > limit {
        true => Seen::TooLong(limit),
        false => Seen::Whole(line.strip_suffix(b"\r").unwrap_or(line).to_vec()),
    };
    lines.into_iter().map(one).collect()
}

#[test]
fn any_chunking_gives_the_lines_of_the_whole() {
    check!().with_iterations(20_000).with_type::<(Vec<u8>, Vec<u8>, u8)>().for_each(
        |(bytes, cuts, limit)| {
            // Line ends must be frequent to be interesting.
            let stream: Vec<u8> =
                bytes.iter().map(|b| b"\n\n\n\r\rabcdefgh\xFF"[usize::from(*b) % 14]).collect();
            let mut rest = stream.as_slice();
            let mut chunks = Vec::new();
            for cut in cuts {
                let (chunk, after) = rest.split_at(usize::from(*cut % 24).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            chunks.push(rest);
            let limit = usize::from(*limit % 16);
            assert_eq!(split(limit, chunks), naive(limit, &stream), "limit {limit}");
        },
    );
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\"id\":",
    "\"method\":",
    "\"params\":",
    "\"result\":",
    "\"error\":",
    "\"code\":",
    "\"message\":",
    "\"data\":",
    "\"a\"",
    "1",
    "-1",
    "1e9",
    "null",
    "true",
    "\r",
    " ",
    "\u{feff}",
    "\u{1b}[2K",
    "é",
    "\"\\ud800\"",
];

fn look_at(line: &[u8]) {
    let outcome = decode(line);
    let _ = (batch(line), broken_response(line));
    // What serde_json takes for an object with the members of a message is one for us, and the other way round.
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(line) else {
        return;
    };
    match outcome {
        Ok(Message::Request { method, .. }) => {
            assert!(object["method"] == *method && object.contains_key("id"));
        }
        Ok(Message::Notification { method, .. }) => assert!(object["method"] == *method),
        Ok(Message::Response { outcome: Ok(result), .. }) => {
            assert_eq!(serde_json::from_str::<Value>(result.get()).unwrap(), object["result"]);
        }
        Ok(Message::Response { .. }) => assert!(!object["error"].is_null()),
        Err(_) => {
            let rpc = object.get("method").is_some_and(Value::is_string) && !object.contains_key("id")
                || object.get("method").is_none()
                    && object.contains_key("result")
                    && object.get("id").is_some_and(Value::is_u64);
            assert!(!rpc, "{}", String::from_utf8_lossy(line));
        }
    }
}

#[test]
fn no_line_makes_decoding_panic() {
    check!().with_iterations(20_000).for_each(look_at);
}

#[test]
fn no_mixture_of_pieces_makes_decoding_panic() {
    check!().with_iterations(20_000).with_max_len(64).for_each(|bytes: &[u8]| {
        let mut source = Source(bytes);
        let mut line = String::new();
        while !source.0.is_empty() {
            line.push_str(source.one_of(PIECES));
        }
        look_at(line.as_bytes());
    });
}

/// The outcome of a splice in the eyes of another parser: values replaced by their position, tokens put in at the end.
fn expected(text: &str, name: Option<&str>, token: &str) -> Option<String> {
    let pairs = Pairs::of(text)?;
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    if let Some(name) = name {
        edits.extend(
            pairs.places(text, "name").into_iter().map(|place| (place, serde_json::to_string(name).unwrap())),
        );
        if edits.is_empty() {
            return None;
        }
    }
    let metas = pairs.places(text, "_meta");
    for place in &metas {
        let meta = &text[place.clone()];
        if meta == "null" {
            edits.push((place.clone(), format!("{{\"progressToken\":{token}}}")));
            continue;
        }
        let inner = Pairs::of(meta)?;
        let tokens = inner.places(meta, "progressToken");
        if tokens.is_empty() {
            edits.push(put(meta, place.start, &inner, &format!("\"progressToken\":{token}")));
        }
        edits.extend(
            tokens.into_iter().map(|t| (place.start + t.start..place.start + t.end, token.to_owned())),
        );
    }
    if metas.is_empty() {
        edits.push(put(text, 0, &pairs, &format!("\"_meta\":{{\"progressToken\":{token}}}")));
    }
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut out = text.to_owned();
    edits.into_iter().for_each(|(place, new)| out.replace_range(place, &new));
    Some(out)
}

fn put(object: &str, offset: usize, pairs: &Pairs<'_>, member: &str) -> (std::ops::Range<usize>, String) {
    match pairs.0.last() {
        Some((_, last)) => {
            let at = offset + last.as_ptr() as usize - object.as_ptr() as usize + last.len();
            (at..at, format!(",{member}"))
        }
        None => (offset + 1..offset + 1, member.to_owned()),
    }
}

/// All members in order, those of `_meta` but the token among them.
fn without_token(text: &str) -> Vec<(String, String)> {
    let mut members = Vec::new();
    for (key, value) in Pairs::of(text).unwrap().0 {
        match Pairs::of(value) {
            Some(inner) if key == "_meta" => {
                let kept = inner.0.into_iter().filter(|(key, _)| key != "progressToken");
                members.push((key.into_owned(), "{".to_owned()));
                members.extend(kept.map(|(key, value)| (key.into_owned(), value.to_owned())));
            }
            _ => members.push((key.into_owned(), value.to_owned())),
        }
    }
    members
}

#[test]
fn splicing_changes_nothing_else() {
    check!().with_iterations(20_000).with_max_len(256).for_each(|bytes: &[u8]| {
        let mut source = Source(bytes);
        let name = [None, Some("x"), Some("a\"b\\")][usize::from(source.byte() % 3)];
        let token = source.one_of(&["5", "\"t\"", "{\"a\":[1]}"]);
        let mut text = String::new();
        source.object(0, &mut text);
        let params = RawValue::from_string(text.clone()).unwrap();

        let set = splice(&params, name, Token::Set(token)).ok().map(|params| params.get().to_owned());
        assert_eq!(set, expected(&text, name, token), "{text}");
        let line = spliced_request(1, "m", &params, name, Token::Set(token)).ok();
        assert_eq!(line.is_some(), set.is_some());
        if let (Some(line), Some(set)) = (line, set) {
            let set = RawValue::from_string(set).unwrap();
            assert_eq!(line, patchbay_wire::request(1, "m", Some(&set)));
        }

        if let Ok(removed) = splice(&params, None, Token::Remove) {
            assert_eq!(without_token(removed.get()), without_token(&text), "{text}");
            let metas = Pairs::of(removed.get()).unwrap();
            let left =
                metas.0.iter().filter(|(key, _)| key == "_meta").filter_map(|(_, meta)| Pairs::of(meta));
            assert!(
                left.flat_map(|meta| meta.0).all(|(key, _)| key != "progressToken"),
                "{text} -> {removed}"
            );
        }
        assert_eq!(splice(&params, None, Token::Keep).unwrap().get(), text);
    });
}
