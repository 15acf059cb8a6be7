//! Finds the members of a JSON object by their bytes. The text is known to be valid JSON; on anything else the scan
//! ends early, and never panics.

use std::{borrow::Cow, ops::Range};

use memchr::memchr;

/// Where a member of an object stands in its text.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The key, with its quotes.
    pub key: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

impl Member {
    /// Whether the key, with escapes resolved, is this one.
    pub fn is(&self, text: &str, key: &str) -> bool {
        let raw = &text[self.key.clone()];
        raw.len() >= 2
            && (raw[1..raw.len() - 1] == *key
                || (raw.contains('\\') && self::text(raw).is_some_and(|k| k == key)))
    }
}

/// The members of an object, in order.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The members of the object that `text` is; `None` where it is no object.
pub(crate) fn members(text: &str) -> Option<Members<'_>> {
    let bytes = text.as_bytes();
    let open = skip_space(bytes, 0);
    (bytes.get(open) == Some(&b'{')).then(|| Members { bytes, at: open + 1 })
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let mut at = skip_space(self.bytes, self.at);
        if self.bytes.get(at) == Some(&b',') {
            at = skip_space(self.bytes, at + 1);
        }
        if self.bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key = at..skip_string(self.bytes, at)?;
        at = skip_space(self.bytes, key.end);
        if self.bytes.get(at) != Some(&b':') {
            return None;
        }
        at = skip_space(self.bytes, at + 1);
        let value = at..skip_value(self.bytes, at)?;
        self.at = value.end;
        Some(Member { key, value })
    }
}

/// The text of a JSON string with its quotes; `None` where it is no string, or holds half a surrogate pair.
pub(crate) fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw).ok().map(Cow::Owned)
}

pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The index after the string whose opening quote is at `at`.
///
/// Looks for quotes only, and back for what escapes them: text is full of `\n`, and each stop costs.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + 1;
    let mut at = start;
    loop {
        at += memchr(b'"', bytes.get(at..)?)?;
        let escapes = bytes[start..at].iter().rev().take_while(|b| **b == b'\\').count();
        if escapes.is_multiple_of(2) {
            return Some(at + 1);
        }
        at += 1;
    }
}

/// The index after the value that begins at `at`.
pub(crate) fn skip_value(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => skip_string(bytes, at),
        b'{' | b'[' => skip_nested(bytes, at),
        _ => {
            let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let length = bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
            (length > 0).then_some(at + length)
        }
    }
}

fn skip_nested(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = skip_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}
