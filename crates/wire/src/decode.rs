//! A line to a message, forgiving what real servers and agents get wrong.

use std::{fmt, str};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    Id, Message, Noise, RpcError,
    message::INTERNAL_ERROR,
    scan::{self, members},
};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a line as a message.
///
/// Forgiven: a byte order mark, `\r` progress bars and terminal escapes around the message, a missing `jsonrpc`,
/// keys that come twice (the last holds), unknown keys, any depth, numbers of any size, ids of responses as strings,
/// `"error": null` beside a result, and errors in any shape.
///
/// # Errors
/// What the line is instead. Nothing of it may be answered on a server's behalf: it is text that got lost on stdout.
pub fn decode(line: &[u8]) -> Result<Message<'_>, Noise> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    match parse(line) {
        Err(noise @ (Noise::NotJson | Noise::InvalidUtf8)) => after_progress(line).ok_or(noise),
        outcome => outcome,
    }
}

/// Takes a JSON-RPC batch apart; each item is then read by [`decode`].
///
/// # Errors
/// What the line is if it is no array.
pub fn batch(line: &[u8]) -> Result<Vec<&RawValue>, Noise> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let text = str::from_utf8(line).map_err(|_| Noise::InvalidUtf8)?;
    serde_json::from_str(text).map_err(|_| Noise::NotJson)
}

/// The id of a response that [`decode`] cannot read (bytes that are not UTF-8, `NaN`, a cut line), as far as it can
/// be made out, so that its call can fail at once instead of waiting for its time limit.
#[must_use]
pub fn broken_response(line: &[u8]) -> Option<Id> {
    let line = String::from_utf8_lossy(line);
    let text = &line[line.find('{')?..];
    let (mut id, mut answers) = (None, false);
    for member in members(text)? {
        if member.is(text, "method") {
            return None;
        } else if member.is(text, "id") {
            id = serde_json::from_str::<&RawValue>(&text[member.value.clone()]).ok().and_then(Id::lenient);
        }
        answers |= member.is(text, "result") || member.is(text, "error");
    }
    // A line that was cut ends inside its result: that key is then no whole member.
    let answers = answers || text.contains("\"result\"") || text.contains("\"error\"");
    id.filter(|id| answers && *id != Id::Null)
}

fn parse(line: &[u8]) -> Result<Message<'_>, Noise> {
    let first = line.get(scan::skip_space(line, 0)).ok_or(Noise::Empty)?;
    let text = str::from_utf8(line).map_err(|_| Noise::InvalidUtf8)?;
    if *first == b'{' {
        let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|_| Noise::NotJson)?;
        return envelope.message();
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) if *first == b'[' => Err(Noise::Batch),
        Ok(_) => Err(Noise::NotRpc("it is no object")),
        Err(_) => Err(Noise::NotJson),
    }
}

/// Looks for a message among the parts that a progress bar's `\r` leaves on one line, the last one first.
fn after_progress(line: &[u8]) -> Option<Message<'_>> {
    memchr::memchr(b'\r', line)?;
    line.rsplit(|byte| *byte == b'\r')
        .map(without_escapes)
        .filter(|part| part.first() == Some(&b'{'))
        .find_map(|part| parse(part).ok())
}

/// Drops white space and terminal escapes (`ESC [ … letter`) before and after.
fn without_escapes(mut part: &[u8]) -> &[u8] {
    loop {
        part = part.trim_ascii();
        let Some(rest) = part.strip_prefix(b"\x1b[") else {
            return part;
        };
        let Some(end) = rest.iter().position(u8::is_ascii_alphabetic) else {
            return part;
        };
        part = &rest[end + 1..];
    }
}

/// The members of a message, each still raw.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    fn message(self) -> Result<Message<'a>, Noise> {
        let Some(method) = self.method.filter(|method| !is_null(method)) else {
            return self.response();
        };
        let method = scan::text(method.get()).ok_or(Noise::NotRpc("its method is no string"))?;
        let params = self.params.filter(|params| !is_null(params));
        match self.id {
            None => Ok(Message::Notification { method, params }),
            // Some clients write the id that a notification has not.
            Some(id) if is_null(id) && method.starts_with("notifications/") => {
                Ok(Message::Notification { method, params })
            }
            Some(id) if Id::exact(id).is_some() => Ok(Message::Request { id, method, params }),
            Some(_) => Err(Noise::NotRpc("its id is neither a number nor a string")),
        }
    }

    fn response(self) -> Result<Message<'a>, Noise> {
        let outcome = match (self.result, self.error.filter(|error| !is_null(error))) {
            (_, Some(error)) => Err(lenient_error(error)),
            (Some(result), None) => Ok(result),
            (None, None) => return Err(Noise::NotRpc("it has no method, no result and no error")),
        };
        let id = match self.id {
            None => Id::Null,
            Some(id) => Id::lenient(id).ok_or(Noise::NotRpc("its id is neither a number nor a string"))?,
        };
        if id == Id::Null && outcome.is_ok() {
            return Err(Noise::NotRpc("a result without an id"));
        }
        Ok(Message::Response { id, outcome })
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Reads an error in any shape: an object with odd members, or just a text.
fn lenient_error(raw: &RawValue) -> RpcError {
    const SILENT: &str = "the other side answered an error without a message";
    let whole = raw.get();
    let Some(members) = members(whole) else {
        let message = scan::text(whole).map_or_else(|| format!("{SILENT}: {whole}"), Into::into);
        return RpcError::new(INTERNAL_ERROR, message);
    };
    let (mut code, mut word, mut message, mut data) = (None, None, None, None);
    for member in members {
        let value = &whole[member.value.clone()];
        if member.is(whole, "code") {
            (code, word) = lenient_code(value);
        } else if member.is(whole, "message") && value != "null" {
            message = Some(scan::text(value).map_or_else(|| value.to_owned(), Into::into));
        } else if member.is(whole, "data") && value != "null" {
            data = serde_json::from_str::<Box<RawValue>>(value).ok();
        }
    }
    let message = match (word, message) {
        (Some(word), Some(message)) => format!("{word}: {message}"),
        (Some(word), None) => word,
        (None, Some(message)) => message,
        (None, None) => SILENT.to_owned(),
    };
    RpcError { code: code.unwrap_or(INTERNAL_ERROR), message, data }
}

/// A code as a number, or the word that stands in its place.
fn lenient_code(value: &str) -> (Option<i64>, Option<String>) {
    let text = scan::text(value).unwrap_or(value.into());
    if let Ok(code) = text.trim().parse() {
        return (Some(code), None);
    }
    match text.trim().parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "checked: whole and small")]
        Ok(code) if code.fract() == 0.0 && code.abs() < 1e15 => (Some(code as i64), None),
        _ if value.starts_with('"') && !text.is_empty() => (None, Some(text.into_owned())),
        _ => (None, None),
    }
}

/// The keys of an envelope.
enum Key {
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, name: &str) -> Result<Key, E> {
                Ok(match name {
                    "id" => Key::Id,
                    "method" => Key::Method,
                    "params" => Key::Params,
                    "result" => Key::Result,
                    "error" => Key::Error,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(Name)
    }
}

// By hand: a derived reader refuses keys that come twice, and takes `null` for an absent value.
impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key()? {
                    let place = match key {
                        Key::Id => &mut envelope.id,
                        Key::Method => &mut envelope.method,
                        Key::Params => &mut envelope.params,
                        Key::Result => &mut envelope.result,
                        Key::Error => &mut envelope.error,
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *place = Some(map.next_value()?);
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Object)
    }
}
