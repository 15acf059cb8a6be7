//! Takes escape sequences and control characters out of a line: it may end up in a terminal.

/// The text without terminal escape sequences; other control characters but the tab become U+FFFD.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_until(&mut chars, |c| matches!(c, '@'..='~')),
            '\t' => out.push(c),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_until(chars, |c| matches!(c, '@'..='~')),
        // Operating system command and its kin: up to BEL or ESC \.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            skip_until(chars, |c| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}'));
            if chars.peek() == Some(&'\\') {
                chars.next();
            }
        }
        Some(' '..='/') => skip_until(chars, |c| matches!(c, '0'..='~')),
        _ => {}
    }
}

fn skip_until(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: impl Fn(char) -> bool) {
    for c in chars.by_ref() {
        if end(c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn colours_titles_and_controls_do_not_reach_the_log() {
        assert_eq!(clean("\u{1b}[1;31mred\u{1b}[0m plain"), "red plain");
        assert_eq!(clean("\u{1b}]0;title\u{7}after"), "after");
        assert_eq!(clean("\u{1b}]8;;http://x\u{1b}\\link"), "link");
        assert_eq!(clean("\u{1b}(Bascii"), "ascii");
        assert_eq!(clean("a\u{8}b\tc\u{0}"), "a\u{fffd}b\tc\u{fffd}");
        assert_eq!(clean("cut \u{1b}[3"), "cut ");
    }
}
