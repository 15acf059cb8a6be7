//! Text from servers and files on its way to the terminal: nothing in it may steer the terminal or reorder what
//! stands around it.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// The text without terminal escapes, control characters and characters that reorder text. Line breaks and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| steers(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => kept.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            // A lone return overwrites the line on a terminal; here it begins a new one.
            '\r' => kept.push('\n'),
            '\x1b' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            c if steers(c) => {}
            c => kept.push(c),
        }
    }
    Cow::Owned(kept)
}

/// As [`clean`], on one line.
pub fn one_line(text: &str) -> String {
    let text = clean(text);
    text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The first line that says something, at most `limit` characters long.
pub fn first_line(text: &str, limit: usize) -> String {
    let text = clean(text);
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().replace('\t', " ");
    match line.char_indices().nth(limit) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// JSON for a terminal: the same value, with everything that could steer the terminal escaped.
pub fn terminal_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) && !matches!(c, '\n' | '\r' | '\t') {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character acts on the terminal or on the order of text instead of showing something.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Skips what follows an ESC (ECMA-48).
fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        // Intermediate characters, then one final.
        Some(' '..='/') => {
            while rest.next_if(|c| (' '..='/').contains(c)).is_some() {}
            rest.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => _ = rest.next(),
        _ => {}
    }
}

/// Skips parameters up to the final character of a control sequence.
fn skip_control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
    rest.next_if(|c| ('@'..='~').contains(c));
}

/// Skips a string such as a window title, up to its end mark. One that never ends hides nothing: it goes up to the
/// end of the line.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        if c == '\x07' || c == '\u{9c}' {
            return;
        }
        if c == '\x1b' {
            rest.next_if_eq(&'\\');
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        for (text, expected) in [
            ("plain, é, 我的服务器, 👍🏽", "plain, é, 我的服务器, 👍🏽"),
            ("a\nb\tc", "a\nb\tc"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b[2J\x1b[1;1Hx", "x"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b]52;c;aGk=\u{9c}x", "x"),
            ("\x1b]0;never ends\nnext", "\nnext"),
            ("\x1bP1$r\x1b\\x", "x"),
            ("\x1b(Bx\x1b=y\x1bcz", "xyz"),
            ("\u{9b}31mx\u{9d}0;t\x07y", "xy"),
            ("a\x08\x07\x00\x7fb", "ab"),
            ("50%\r100%\r\ndone", "50%\n100%\ndone"),
            ("x\u{202e}gpj.exe\u{202c}", "xgpj.exe"),
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b[31", ""),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn one_line_joins_lines_and_first_line_takes_the_first_with_text() {
        assert_eq!(one_line(" a\n\n b\tc \r\nd"), "a b c d");
        assert_eq!(first_line("\n  \n first \n second", 80), "first");
        assert_eq!(first_line("abc def", 4), "abc…");
        assert_eq!(first_line("äöüß", 4), "äöüß");
    }

    #[test]
    fn json_for_a_terminal_is_the_same_value() {
        let json = "{\n \"a\": \"x\u{9b}31m\u{202e}\u{7f}\u{e0041}é\"}";
        let shown = terminal_json(json);
        assert!(shown.chars().all(|c| c == '\n' || !steers(c)), "{shown:?}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&shown), value(json));
    }
}
