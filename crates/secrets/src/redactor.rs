//! Takes secrets out of text: known values in all their forms, and what looks like a token.

use std::{
    borrow::Cow,
    fmt,
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

use patchbay_api::McpServerConfig;

use crate::{known::Known, mask, shapes, spans};

/// Stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// Knows the secrets of this process. Clones share what they know; values can be added at any time.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Arc<Known>>>,
}

impl Redactor {
    /// One that knows no value yet, only the shapes of tokens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a value. One of fewer than 6 characters is not searched for.
    pub fn learn(&self, value: &str) {
        self.learn_all([value]);
    }

    /// Learns many values at once, which is cheaper than one by one.
    pub fn learn_all<'a>(&self, values: impl IntoIterator<Item = &'a str>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = known.with(values.into_iter()) {
            *known = Arc::new(more);
        }
    }

    /// Learns a header's value, and the token alone where it stands after a scheme (`Bearer …`).
    pub fn learn_header(&self, value: &str) {
        self.learn_all(spans::header_secrets(value));
    }

    /// Learns the user info and the secret query values of an address, encoded and decoded.
    pub fn learn_url(&self, url: &str) {
        let found = spans::of_url(url).into_iter().map(|span| &url[span]).collect::<Vec<_>>();
        let decoded: Vec<String> =
            found.iter().flat_map(|part| part.split(':')).map(spans::percent_decoded).collect();
        self.learn_all(found.into_iter().chain(decoded.iter().map(String::as_str)));
    }

    /// Learns everything that is secret in a server's settings. References in them are not values and stay unknown;
    /// what they stand for is to be learned when it is read.
    pub fn learn_server(&self, server: &McpServerConfig) {
        self.learn_all(mask::literals(server).iter().map(String::as_str));
        server.headers.values().for_each(|value| self.learn_header(value));
        server.url.iter().chain(&server.args).for_each(|url| self.learn_url(url));
    }

    /// The text without secrets; borrowed where there are none.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, &self.spans(text), REDACTED)
    }

    /// Where secrets stand in a text: in order, apart from each other.
    pub(crate) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let known = Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner));
        let mut ranges = Vec::new();
        if !known.is_empty() {
            known.find(text, &mut ranges);
        }
        ranges.extend(shapes::find(text));
        merge(text, ranges)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// Joins ranges that touch or overlap, and widens them to whole characters.
pub(crate) fn merge(text: &str, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let range = floor(text, range.start)..ceiling(text, range.end);
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The last border between characters that is not after `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first border between characters that is not before `at`.
fn ceiling(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The text with `new` in place of each range.
pub(crate) fn replace<'t>(text: &'t str, ranges: &[Range<usize>], new: &str) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(&text[at..range.start]);
        out.push_str(new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}
