//! Secrets that are known by their look alone: tokens of well-known services, JSON web tokens, PEM blocks.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Anchored, Input, MatchKind};

/// What follows a prefix.
struct Shape {
    prefix: &'static str,
    /// Which bytes may follow.
    body: fn(u8) -> bool,
    /// How many of them at least.
    least: usize,
    /// Whether words of a plain text could look alike: then a digit is asked for, and a border before the prefix.
    loose: bool,
}

const fn exact(prefix: &'static str, least: usize) -> Shape {
    Shape { prefix, body: is_word, least, loose: false }
}

const fn loose(prefix: &'static str, least: usize) -> Shape {
    Shape { prefix, body: is_word, least, loose: true }
}

const fn bearer(prefix: &'static str) -> Shape {
    Shape { prefix, body: is_token, least: 16, loose: true }
}

static SHAPES: &[Shape] = &[
    Shape { prefix: PEM_BEGIN, body: |_| true, least: 0, loose: false },
    Shape { prefix: "eyJ", body: is_jwt, least: 16, loose: false },
    Shape { prefix: "AKIA", body: is_upper, least: 16, loose: false },
    Shape { prefix: "ASIA", body: is_upper, least: 16, loose: false },
    Shape { prefix: "ABIA", body: is_upper, least: 16, loose: false },
    Shape { prefix: "ACCA", body: is_upper, least: 16, loose: false },
    loose("sk-", 20),
    exact("sk_live_", 16),
    exact("sk_test_", 16),
    exact("rk_live_", 16),
    exact("AIza", 35),
    Shape { prefix: "ya29.", body: is_jwt, least: 20, loose: false },
    exact("GOCSPX-", 20),
    exact("ghp_", 20),
    exact("gho_", 20),
    exact("ghu_", 20),
    exact("ghs_", 20),
    exact("ghr_", 20),
    exact("github_pat_", 20),
    exact("glpat-", 16),
    loose("xoxa-", 10),
    loose("xoxb-", 10),
    loose("xoxe-", 10),
    loose("xoxe.", 10),
    loose("xoxo-", 10),
    loose("xoxp-", 10),
    loose("xoxr-", 10),
    loose("xoxs-", 10),
    loose("xapp-", 10),
    loose("npm_", 30),
    loose("hf_", 30),
    bearer("Bearer "),
    bearer("bearer "),
    bearer("BEARER "),
];

/// The shapes by index.
const PEM: usize = 0;
const JWT: usize = 1;

pub(crate) const PEM_BEGIN: &str = "-----BEGIN ";
pub(crate) const PEM_END: &str = "-----END ";

static PREFIXES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let prefixes = SHAPES.iter().map(|shape| shape.prefix);
    AhoCorasickBuilder::new().match_kind(MatchKind::LeftmostLongest).build(prefixes).ok()
});

/// Where secrets of a known shape stand in a text, in order.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let prefixes = PREFIXES.as_ref()?;
        loop {
            let input = Input::new(text).range(at.min(text.len())..).anchored(Anchored::No);
            let found = prefixes.find(input)?;
            let index = found.pattern().as_usize();
            if let Some(range) = matched(text, index, found.range()) {
                at = range.end;
                return Some(range);
            }
            at = found.start() + 1;
        }
    })
}

/// The whole token after a prefix; `None` where it is only text that begins alike.
fn matched(text: &str, index: usize, prefix: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if index == PEM {
        return Some(prefix.start..pem_end(text, prefix.end));
    }
    let shape = SHAPES.get(index)?;
    let body = &bytes[prefix.end..];
    let length = body.iter().position(|b| !(shape.body)(*b)).unwrap_or(body.len());
    let body = &body[..length];
    if length < shape.least || (index == JWT && !has_two_parts(body)) {
        return None;
    }
    if shape.loose && !(has_border(&bytes[..prefix.start]) && body.iter().any(u8::is_ascii_digit)) {
        return None;
    }
    // Of `Bearer x` only the token goes.
    let start = if shape.prefix.ends_with(' ') { prefix.end } else { prefix.start };
    Some(start..prefix.end + length)
}

/// The end of a PEM block; of one without an end, the end of the text.
fn pem_end(text: &str, from: usize) -> usize {
    let Some(end) = text[from..].find(PEM_END) else {
        return text.len();
    };
    let label = from + end + PEM_END.len();
    text[label..].find("-----").map_or(text.len(), |dashes| label + dashes + 5)
}

/// Whether what stands before is no part of the same word; a percent-encoded byte is not.
fn has_border(before: &[u8]) -> bool {
    match before {
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !is_word(*last),
        [] => true,
    }
}

fn has_two_parts(body: &[u8]) -> bool {
    let mut parts = body.split(|b| *b == b'.');
    parts.next().is_some_and(|head| head.len() >= 8) && parts.next().is_some_and(|payload| payload.len() >= 8)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn is_jwt(b: u8) -> bool {
    is_word(b) || b == b'.'
}

fn is_token(b: u8) -> bool {
    is_word(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=')
}
