//! Putting parts into bracketed values and taking them out: arrays and inline tables, on one line or on many.

use super::{
    layout::{indent, line_end, line_start, newline},
    patch::Patch,
};
use crate::{
    node::Span,
    toml::syntax::{Item, Spanned},
};

/// A bracketed value: its bytes, brackets included, and its parts.
pub(super) struct Brackets<'t, T> {
    pub(super) text: &'t str,
    pub(super) span: Span,
    pub(super) items: &'t [Item<T>],
}

fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

impl<T: Spanned> Brackets<'_, T> {
    fn item(&self, index: usize) -> Span {
        self.items[index].part.span()
    }

    /// The end of a part with its comma.
    fn end(&self, index: usize) -> usize {
        self.items[index].comma.map_or(self.item(index).end, |comma| comma + 1)
    }

    /// Whether nothing stands before this byte on its line.
    fn begins_line(&self, at: usize) -> bool {
        is_space(&self.text[line_start(self.text, at)..at]) && line_start(self.text, at) > self.span.start
    }

    /// Whether nothing but a comment stands behind this byte on its line, which the value goes beyond.
    fn ends_line(&self, at: usize) -> bool {
        let end = line_end(self.text, at);
        let rest = &self.text[at..end];
        end < self.span.end && (is_space(rest) || rest.trim_start_matches([' ', '\t']).starts_with('#'))
    }

    /// Adds a part behind the others.
    pub(super) fn push(&self, part: &str) -> Vec<Patch> {
        let Some(last) = self.items.len().checked_sub(1) else { return vec![self.first(part)] };
        let end = self.end(last);
        let comma = self.items[last].comma.is_some();
        let own_comma = if comma { "," } else { "" };
        let mut patches = Vec::new();
        if !comma {
            patches.push(Patch::insert(self.item(last).end, ","));
        }
        if self.begins_line(self.item(last).start) && self.ends_line(end) {
            let newline = newline(self.text, end);
            let indent = indent(self.text, self.item(last).start);
            patches
                .push(Patch::insert(line_end(self.text, end), format!("{indent}{part}{own_comma}{newline}")));
        } else {
            patches.push(Patch::insert(end, format!(" {part}{own_comma}")));
        }
        patches
    }

    /// Adds the only part.
    fn first(&self, part: &str) -> Patch {
        let close = self.span.end - 1;
        if !self.begins_line(close) {
            return Patch::insert(self.span.start + 1, part);
        }
        let newline = newline(self.text, self.span.start);
        let outer = indent(self.text, self.span.start);
        // Above any comment: one right above a part would count as the part's own.
        Patch::insert(line_end(self.text, self.span.start), format!("{outer}  {part}{newline}"))
    }

    /// Adds a part before another one.
    pub(super) fn insert(&self, index: usize, part: &str) -> Vec<Patch> {
        if index >= self.items.len() {
            return self.push(part);
        }
        let start = self.item(index).start;
        if self.begins_line(start) {
            let newline = newline(self.text, start);
            let indent = indent(self.text, start);
            return vec![Patch::insert(line_start(self.text, start), format!("{indent}{part},{newline}"))];
        }
        vec![Patch::insert(start, format!("{part}, "))]
    }

    /// Takes a part away with its comma; if it has lines of its own, with them and, where wanted, the comment lines
    /// right above.
    pub(super) fn remove(&self, index: usize, with_comment_above: bool) -> Vec<Patch> {
        let span = self.item(index);
        let last = index + 1 == self.items.len();
        let mut patches = Vec::new();
        // The comma that separated the last part from the one before goes too, unless commas end every part here.
        let separator = if last && self.items[index].comma.is_none() { index.checked_sub(1) } else { None };
        if let Some(comma) = separator.and_then(|before| self.items[before].comma) {
            patches.push(Patch::remove(comma..comma + 1));
        }
        let end = self.end(index);
        if self.begins_line(span.start) && self.ends_line(end) {
            let mut start = line_start(self.text, span.start);
            if with_comment_above {
                start = self.comments_above(index, start);
            }
            patches.push(Patch::remove(start..line_end(self.text, end)));
            return patches;
        }
        let (start, end) = self.on_a_shared_line(index, span.start, end);
        patches.push(Patch::remove(start..end));
        patches
    }

    /// What to take away where other things stand on the same line: the white space goes that led to the part, or
    /// for the first one the white space behind it.
    fn on_a_shared_line(&self, index: usize, start: usize, end: usize) -> (usize, usize) {
        let blank = |c: char| c == ' ' || c == '\t';
        if index > 0 {
            let floor = self.end(index - 1);
            let lead = self.text[floor..start].len() - self.text[floor..start].trim_end_matches(blank).len();
            return (start - lead, end);
        }
        let rest = &self.text[end..self.span.end - 1];
        let trail = rest.len() - rest.trim_start_matches(blank).len();
        let before = &self.text[self.span.start + 1..start];
        let alone = self.items.len() == 1;
        match (alone, before.is_empty()) {
            (false, _) => (start, end + trail),
            (true, true) => (start, end),
            (true, false) if before.trim_matches(blank).is_empty() => (start - before.len(), end + trail),
            (true, false) => (start, end),
        }
    }

    fn comments_above(&self, index: usize, from: usize) -> usize {
        let floor = if index == 0 { self.span.start + 1 } else { line_end(self.text, self.end(index - 1)) };
        let mut start = from;
        while start > floor {
            let above = line_start(self.text, start - 1);
            if above < floor || !self.text[above..start].trim_start_matches([' ', '\t']).starts_with('#') {
                break;
            }
            start = above;
        }
        start
    }
}
