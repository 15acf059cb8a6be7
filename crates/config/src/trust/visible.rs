//! Text as a person must see it: characters that show nothing, reorder text or pass for a space are written out.
//!
//! Owns the table of such characters. Nothing is ever cut or normalised away.

use std::collections::HashSet;
use std::fmt::Write as _;

/// Runs of spaces from this length on are counted out, so that they cannot push text out of sight.
const LONG_RUN: usize = 4;

/// Most kinds of unseen characters that are named for one text.
const MOST_UNSEEN: usize = 20;

/// The text with each unseen character as `⟨U+202E⟩`, and long, leading or trailing runs of spaces as `⟨12 spaces⟩`.
///
/// The brackets themselves are written out too, so that a text cannot pretend to hold such a mark.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        if spaces > 0 {
            let at_an_end = rest.len() == text.len() || rest.len() == spaces;
            match spaces {
                1 if at_an_end => shown.push_str("⟨1 space⟩"),
                n if at_an_end || n >= LONG_RUN => _ = write!(shown, "⟨{n} spaces⟩"),
                n => shown.push_str(&rest[..n]),
            }
            rest = &rest[spaces..];
            continue;
        }
        match is_unseen(first) || matches!(first, '⟨' | '⟩') {
            true => _ = write!(shown, "⟨U+{:04X}⟩", u32::from(first)),
            false => shown.push(first),
        }
        rest = &rest[first.len_utf8()..];
    }
    shown
}

/// The unseen characters of a text, each once, in the order in which they come up: `U+202E (reorders text)`. The
/// text itself is shown whole; of this list, a long rest is only counted.
#[must_use]
pub(crate) fn unseen(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found: Vec<String> = (text.chars())
        .filter(|char| is_unseen(*char) && seen.insert(*char))
        .take(MOST_UNSEEN)
        .map(|char| format!("U+{:04X} ({})", u32::from(char), what(char)))
        .collect();
    if found.len() == MOST_UNSEEN {
        found.push("and more characters like these".into());
    }
    if longest_run(text) >= LONG_RUN {
        found.push(format!("{} spaces in a row", longest_run(text)));
    }
    found
}

fn longest_run(text: &str) -> usize {
    text.split(|c: char| c != ' ').map(str::len).max().unwrap_or(0)
}

fn what(char: char) -> &'static str {
    match char {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}' => {
            "reorders text"
        }
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => "breaks the line",
        c if c.is_control() => "control character",
        c if c.is_whitespace() => "unusual space",
        _ => "cannot be seen",
    }
}

/// Whether a character shows nothing of its own, reorders what stands around it, or looks like a plain space.
///
/// Source: Unicode's `Default_Ignorable_Code_Point`, `Cc`, `Cf`, `Zl`, `Zp`, `Zs` (all but the plain space) and
/// private use; U+2800 is a blank that counts as a symbol.
fn is_unseen(char: char) -> bool {
    if char == ' ' {
        return false;
    }
    char.is_control()
        || char.is_whitespace()
        || matches!(u32::from(char),
            0x00AD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x0890..=0x0891 | 0x08E2
            | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
            | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xE000..=0xF8FF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF0000..=0x10_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("a\u{202E}b\u{200B}c"), "a⟨U+202E⟩b⟨U+200B⟩c");
        assert_eq!(visible("a\nb\tc\u{7f}\u{1b}[0m"), "a⟨U+000A⟩b⟨U+0009⟩c⟨U+007F⟩⟨U+001B⟩[0m");
        assert_eq!(visible("a\u{A0}b\u{3000}c\u{E0041}\u{3164}"), "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+E0041⟩⟨U+3164⟩");
        assert_eq!(visible("⟨U+0041⟩"), "⟨U+27E8⟩U+0041⟨U+27E9⟩");
        assert_eq!(visible("plain text, 我的服务器, é, 😀"), "plain text, 我的服务器, é, 😀");
    }

    #[test]
    fn runs_of_spaces_cannot_hide_what_follows() {
        assert_eq!(visible(&format!("ls{}rm -rf", " ".repeat(300))), "ls⟨300 spaces⟩rm -rf");
        assert_eq!(visible("a b  c   d    e"), "a b  c   d⟨4 spaces⟩e");
        assert_eq!(visible(" a "), "⟨1 space⟩a⟨1 space⟩");
        assert_eq!(visible("  "), "⟨2 spaces⟩");
        assert_eq!(visible(""), "");
    }

    #[test]
    fn suspicious_characters_are_named_once() {
        assert_eq!(
            unseen("a\u{202E}\u{202E}\u{200B}\n\u{A0}\u{1}"),
            [
                "U+202E (reorders text)",
                "U+200B (cannot be seen)",
                "U+000A (breaks the line)",
                "U+00A0 (unusual space)",
                "U+0001 (control character)"
            ]
        );
        assert_eq!(unseen("x      y"), ["6 spaces in a row"]);
        assert!(unseen("plain, 我的, 😀").is_empty());
    }
}
