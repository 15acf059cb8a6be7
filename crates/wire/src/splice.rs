//! Replaces single values inside raw JSON; every byte outside of them stays, so that unknown members, spellings of
//! numbers, order and white space survive.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::{
    WireError, encode,
    scan::{Member, members},
};

/// What shall happen to `_meta.progressToken`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// It stays.
    Keep,
    /// It becomes this JSON value, and is put in where there is none.
    Set(&'a str),
    /// It goes.
    Remove,
}

/// Replaces the name and the progress token in the parameters of a call.
///
/// # Errors
/// The parameters (or their `_meta`) are no object, there is no name to replace, or the token is not JSON.
pub fn splice(params: &RawValue, name: Option<&str>, token: Token<'_>) -> Result<Box<RawValue>, WireError> {
    let edits = call_edits(params.get(), name, token)?;
    finish(params.get(), &edits)
}

/// The line of a request whose parameters are `params` with another name or progress token: as [`splice`] and
/// [`crate::request`], in one step.
///
/// # Errors
/// As [`splice`].
pub fn spliced_request(
    id: u64,
    method: &str,
    params: &RawValue,
    name: Option<&str>,
    token: Token<'_>,
) -> Result<Vec<u8>, WireError> {
    let text = params.get();
    let edits = call_edits(text, name, token)?;
    let grown: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut line = encode::request_head(id, method, text.len() + grown);
    line.extend_from_slice(b",\"params\":");
    apply(text, &edits, |piece| encode::push_raw(&mut line, piece));
    Ok(encode::end(line))
}

/// Sets one member of an object to a JSON value, adds it at the end where it is not there, or with `None` removes it.
///
/// # Errors
/// `object` is no object, or the value is not JSON.
pub fn set(object: &RawValue, key: &'static str, value: Option<&str>) -> Result<Box<RawValue>, WireError> {
    let text = object.get();
    let list: Vec<Member> = members(text).ok_or(WireError::NotAnObject("the value"))?.collect();
    let mut edits = Vec::new();
    match value {
        Some(value) => put(text, 0, &list, key, checked(key, value)?, &mut edits),
        None => remove(text, 0, &list, key, &mut edits),
    }
    finish(text, &edits)
}

type Edit = (Range<usize>, String);

/// A value that would close the object and go on would smuggle members in.
fn checked<'a>(key: &'static str, value: &'a str) -> Result<&'a str, WireError> {
    serde_json::from_str::<&RawValue>(value).map_err(|_| WireError::NotJson(key))?;
    Ok(value)
}

fn call_edits(text: &str, name: Option<&str>, token: Token<'_>) -> Result<Vec<Edit>, WireError> {
    let list: Vec<Member> = members(text).ok_or(WireError::NotAnObject("params"))?.collect();
    let mut edits = Vec::new();
    if let Some(name) = name {
        let mut quoted = Vec::with_capacity(name.len() + 2);
        encode::push_text(&mut quoted, name);
        let quoted = String::from_utf8(quoted).map_err(|_| WireError::NoName)?;
        edits.extend(list.iter().filter(|m| m.is(text, "name")).map(|m| (m.value.clone(), quoted.clone())));
        if edits.is_empty() {
            return Err(WireError::NoName);
        }
    }
    if token != Token::Keep {
        if let Token::Set(value) = token {
            checked("progressToken", value)?;
        }
        token_edits(text, &list, token, &mut edits)?;
        edits.sort_by_key(|(range, _)| range.start);
    }
    Ok(edits)
}

fn token_edits(
    text: &str,
    list: &[Member],
    token: Token<'_>,
    edits: &mut Vec<Edit>,
) -> Result<(), WireError> {
    let mut found = false;
    for member in list.iter().filter(|member| member.is(text, "_meta")) {
        found = true;
        let meta = &text[member.value.clone()];
        let offset = member.value.start;
        match (members(meta), token) {
            (Some(inner), Token::Set(value)) => {
                put(meta, offset, &inner.collect::<Vec<_>>(), "progressToken", value, edits);
            }
            (Some(inner), _) => remove(meta, offset, &inner.collect::<Vec<_>>(), "progressToken", edits),
            (None, Token::Set(value)) if meta == "null" => {
                edits.push((member.value.clone(), format!("{{\"progressToken\":{value}}}")));
            }
            (None, Token::Remove) if meta == "null" => {}
            (None, _) => return Err(WireError::NotAnObject("_meta")),
        }
    }
    if let Token::Set(value) = token
        && !found
    {
        put(text, 0, list, "_meta", &format!("{{\"progressToken\":{value}}}"), edits);
    }
    Ok(())
}

/// Replaces every value of this key in the object, or adds the member at its end. `offset` is where `object` begins
/// in the text that the edits are about.
fn put(object: &str, offset: usize, list: &[Member], key: &str, value: &str, edits: &mut Vec<Edit>) {
    let before = edits.len();
    let places = list.iter().filter(|member| member.is(object, key));
    edits.extend(places.map(|m| (offset + m.value.start..offset + m.value.end, value.to_owned())));
    if edits.len() == before {
        let (at, comma) = match list.last() {
            Some(last) => (offset + last.value.end, ","),
            None => (offset + inside(object), ""),
        };
        edits.push((at..at, format!("{comma}\"{key}\":{value}")));
    }
}

/// Removes every member of this key, with the comma that it no longer needs.
fn remove(object: &str, offset: usize, list: &[Member], key: &str, edits: &mut Vec<Edit>) {
    let first = edits.len();
    let mut kept_end = inside(object);
    for (index, member) in list.iter().enumerate() {
        if !member.is(object, key) {
            kept_end = member.value.end;
        } else if let Some(next) = list.get(index + 1) {
            edits.push((offset + member.key.start..offset + next.key.start, String::new()));
        } else {
            // The last one takes the comma before it along, and with it whatever was removed in between.
            while edits.len() > first
                && edits.last().is_some_and(|(range, _)| range.start >= offset + kept_end)
            {
                edits.pop();
            }
            edits.push((offset + kept_end..offset + member.value.end, String::new()));
        }
    }
}

/// The index after the opening brace.
fn inside(object: &str) -> usize {
    object.find('{').map_or(0, |open| open + 1)
}

fn apply(text: &str, edits: &[Edit], mut write: impl FnMut(&str)) {
    let mut at = 0;
    for (range, new) in edits {
        write(&text[at..range.start]);
        write(new);
        at = range.end;
    }
    write(&text[at..]);
}

fn finish(text: &str, edits: &[Edit]) -> Result<Box<RawValue>, WireError> {
    let grown: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    apply(text, edits, |piece| out.push_str(piece));
    // Cannot fail: valid values stand where values stood.
    RawValue::from_string(out).map_err(|_| WireError::NotJson("the whole"))
}
