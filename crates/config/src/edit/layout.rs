//! Lines, blank lines and comments between statements: which belong to what, and where new lines go.
//!
//! A block of comment lines right above a statement belongs to it. Right below one, followed by a blank line or the
//! end of the file, it belongs to that one. Between blank lines it belongs to nobody and stays.

use super::patch::Patch;
use crate::{
    node::Span,
    toml::{Document, syntax::Spanned as _},
};

/// A text with its statements.
pub(super) struct Layout<'t> {
    pub(super) text: &'t str,
    pub(super) document: &'t Document,
}

/// Where the line of this byte begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(newline) => newline + 1,
        None => content_start(text),
    }
}

/// Where the next line begins, or the text ends.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The white space that a line begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// What ends the line of this byte; where nothing does, what ends the first line of the text.
pub(super) fn newline(text: &str, at: usize) -> &'static str {
    newline_above(text, line_end(text, at))
}

/// What ends the text before this byte; where nothing does, what ends the first line of the text.
fn newline_above(text: &str, at: usize) -> &'static str {
    let line = if text[..at].ends_with('\n') { &text[..at] } else { &text[..line_end(text, 0)] };
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Behind the byte order mark.
fn content_start(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{feff}').len()
}

fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t', '\r', '\n']).is_empty()
}

fn is_comment(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('#')
}

/// The end of the text before `at` without its last line break.
fn before_newline(text: &str, at: usize) -> usize {
    let head = &text[..at];
    let head = head.strip_suffix('\n').map_or(head, |head| head.strip_suffix('\r').unwrap_or(head));
    head.len()
}

impl Layout<'_> {
    fn span(&self, statement: usize) -> Span {
        self.document.statements[statement].span()
    }

    /// Where the lines of the statement before begin to be free.
    fn floor(&self, statement: usize) -> usize {
        match statement.checked_sub(1) {
            Some(previous) => line_end(self.text, self.span(previous).end),
            None => content_start(self.text),
        }
    }

    /// Where the lines of the statement after begin.
    fn ceiling(&self, statement: usize) -> usize {
        match self.document.statements.get(statement + 1) {
            Some(next) => line_start(self.text, next.span().start),
            None => self.text.len(),
        }
    }

    /// The start of the lines above `from` that all fulfil `like`, not beyond `floor`.
    fn up(&self, from: usize, floor: usize, like: fn(&str) -> bool) -> usize {
        let mut start = from;
        while start > floor {
            let above = line_start(self.text, before_newline(self.text, start));
            if above < floor || !like(&self.text[above..start]) {
                break;
            }
            start = above;
        }
        start
    }

    /// The end of the lines below `from` that all fulfil `like`, not beyond `ceiling`.
    fn down(&self, from: usize, ceiling: usize, like: fn(&str) -> bool) -> usize {
        let mut end = from;
        while end < ceiling {
            let next = line_end(self.text, end);
            if !like(&self.text[end..next]) {
                break;
            }
            end = next;
        }
        end
    }

    /// The end of what belongs to a statement: its lines and the comments below that are its own.
    fn tail(&self, statement: usize) -> usize {
        let end = line_end(self.text, self.span(statement).end);
        let ceiling = self.ceiling(statement);
        let comments = self.down(end, ceiling, is_comment);
        let belongs_below = comments == ceiling && statement + 1 < self.document.statements.len();
        if belongs_below { end } else { comments }
    }

    /// Takes neighbouring statements away, with the comments that are theirs and the blank lines around.
    pub(super) fn remove_statements(&self, first: usize, last: usize) -> Patch {
        let floor = self.floor(first);
        let lead = self.up(line_start(self.text, self.span(first).start), floor, is_comment);
        let end = self.tail(last);
        let blank_above = self.up(lead, floor, is_blank);
        let blank_below = self.down(end, self.ceiling(last), is_blank);
        let begins_file = blank_above == content_start(self.text);
        let ends_file = blank_below == self.text.len();
        let (start, end) = if begins_file && !ends_file {
            (lead, blank_below)
        } else if !begins_file && (blank_below > end || ends_file) {
            (blank_above, end)
        } else {
            (lead, end)
        };
        Patch::remove(self.with_last_newline(start, end))
    }

    /// Takes the lines of one statement away, nothing else.
    pub(super) fn remove_line(&self, statement: usize) -> Patch {
        let span = self.span(statement);
        Patch::remove(
            self.with_last_newline(line_start(self.text, span.start), line_end(self.text, span.end)),
        )
    }

    /// Whole lines; if they end a text without a last line break, the text stays one.
    fn with_last_newline(&self, start: usize, end: usize) -> Span {
        let open_end = end == self.text.len() && !self.text.ends_with('\n');
        if open_end && start > content_start(self.text) {
            before_newline(self.text, start)..end
        } else {
            start..end
        }
    }

    /// Puts a line right below a statement, indented alike.
    pub(super) fn insert_line(&self, statement: usize, line: &str) -> Patch {
        let span = self.span(statement);
        let newline = newline(self.text, span.end);
        let indent = indent(self.text, span.start);
        let at = line_end(self.text, span.end);
        if self.text[..at].ends_with('\n') {
            Patch::insert(at, format!("{indent}{line}{newline}"))
        } else {
            Patch::insert(at, format!("{newline}{indent}{line}"))
        }
    }

    /// Puts a table's lines below a statement and what belongs to it, or at the end of the text; with a blank line
    /// above, unless what follows has none either.
    pub(super) fn insert_table(&self, behind: Option<usize>, lines: &[String]) -> Patch {
        let (at, indent) = match behind {
            Some(statement) => (self.tail(statement), self.header_indent(statement)),
            None => (self.content_end(), ""),
        };
        let newline = newline_above(self.text, at);
        let table: Vec<_> = lines.iter().map(|line| format!("{indent}{line}")).collect();
        let mut table = table.join(newline);
        if at == content_start(self.text) {
            return Patch::insert(at, table + newline);
        }
        if !self.text[..at].ends_with('\n') {
            return Patch::insert(at, format!("{newline}{newline}{table}"));
        }
        if at == self.text.len() || is_blank(&self.text[at..line_end(self.text, at)]) {
            table.insert_str(0, newline);
        }
        Patch::insert(at, table + newline)
    }

    /// The indentation of the header above a statement.
    fn header_indent(&self, statement: usize) -> &str {
        let header = (0..=statement)
            .rev()
            .find(|index| matches!(&self.document.statements[*index], crate::toml::syntax::Statement::Header(h) if h.array));
        header.map_or("", |index| indent(self.text, self.span(index).start))
    }

    /// Behind the last line that is not blank.
    fn content_end(&self) -> usize {
        self.up(self.text.len(), content_start(self.text), is_blank)
    }
}
