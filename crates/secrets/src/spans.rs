//! Where secrets stand by their place: in an address, in a header, in an argument.

use std::ops::Range;

use crate::looks::{is_harmless, is_reference, is_secret_name, looks_secret};

/// The secret parts of an address: its user info, and query and fragment values whose key or look is a secret's.
/// References stay visible. Works on the text, so that addresses with `${…}` in them keep every byte.
pub(crate) fn of_url(url: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let start = match url.find("://").filter(|end| is_scheme(&url[..*end])) {
        Some(scheme) => scheme + 3,
        None if url.starts_with("${") => 0,
        None => return found,
    };
    let authority_end = url[start..].find(['/', '?', '#', '\\']).map_or(url.len(), |at| start + at);
    if let Some(at) = url[start..authority_end].rfind('@') {
        let user = start..start + at;
        if !url[user.clone()].split(':').all(|part| part.is_empty() || is_reference(part)) {
            found.push(user);
        }
    }
    let Some(query) = url[authority_end..].find(['?', '#']) else {
        return found;
    };
    let mut at = authority_end + query + 1;
    for pair in url[at..].split(['&', '#', ';', '?']) {
        if let Some(equals) = pair.find('=') {
            let (key, value) = (percent_decoded(&pair[..equals]), &pair[equals + 1..]);
            if !value.is_empty() && !is_reference(value) && looks_secret(&key, value) {
                found.push(at + equals + 1..at + pair.len());
            }
        }
        at += pair.len() + 1;
    }
    found
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The secret values in a header's value: the whole, and the token alone after a scheme.
pub(crate) fn header_secrets(value: &str) -> impl Iterator<Item = &str> {
    let value = value.trim();
    let token = value.split_once(' ').map(|(_, token)| token.trim());
    let whole = (!is_shown_header(value)).then_some(value);
    whole.into_iter().chain(token.filter(|token| whole.is_some() && !is_reference(token)))
}

/// Whether a header's value is only a reference, alone or after a scheme (`Bearer ${TOKEN}`).
pub(crate) fn is_shown_header(value: &str) -> bool {
    let scheme = |word: &str| word.len() <= 16 && word.bytes().all(|b| b.is_ascii_alphabetic());
    value.is_empty()
        || is_reference(value)
        || value.split_once(' ').is_some_and(|(word, rest)| scheme(word) && is_reference(rest.trim()))
}

/// The secret parts of an argument, given the one before it.
pub(crate) fn of_arg(before: Option<&str>, arg: &str) -> Vec<Range<usize>> {
    if let Some(flag) = before.filter(|flag| flag.starts_with('-') && !flag.contains('=')) {
        if is_header_flag(flag) {
            return of_header_line(arg, 0);
        }
        if is_secret_name(flag) && !arg.starts_with("--") && !is_harmless(arg) {
            return std::iter::once(0..arg.len()).collect();
        }
    }
    if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| is_assignable(name)) {
        let at = name.len() + 1;
        if is_header_flag(name) {
            return of_header_line(value, at);
        }
        if is_secret_name(name) && !is_harmless(value) {
            return std::iter::once(at..arg.len()).collect();
        }
        return shifted(of_url(value), at);
    }
    let urls = of_url(arg);
    if urls.is_empty() && is_header_line(arg) { of_header_line(arg, 0) } else { urls }
}

fn shifted(spans: Vec<Range<usize>>, by: usize) -> Vec<Range<usize>> {
    spans.into_iter().map(|span| span.start + by..span.end + by).collect()
}

fn is_header_flag(flag: &str) -> bool {
    matches!(flag, "-H" | "--header" | "--headers" | "-header")
}

/// A name that can stand before `=`: an option or a variable.
fn is_assignable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether a text is a header with a secret name: `Authorization: …`.
fn is_header_line(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(name, value)| is_assignable(name) && !value.starts_with("//") && is_secret_name(name))
}

/// The value of `Name: value`, `Name:value` or `Name=value`; without a name, the whole.
fn of_header_line(line: &str, offset: usize) -> Vec<Range<usize>> {
    let start = line.find([':', '=']).filter(|at| is_assignable(line[..*at].trim())).map_or(0, |at| at + 1);
    let value = line[start..].trim_start();
    let start = line.len() - value.len();
    if is_shown_header(value) {
        Vec::new()
    } else {
        std::iter::once(offset + start..offset + line.len()).collect()
    }
}

/// Resolves `%XX`; what is no valid escape, or no text afterwards, stays as it was.
pub(crate) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = text
            .get(at + 1..at + 3)
            .filter(|pair| bytes[at] == b'%' && pair.bytes().all(|b| b.is_ascii_hexdigit()));
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
