//! Aligned tables without borders, and wrapped text, in the width of the terminal.

use unicode_width::UnicodeWidthStr as _;

use crate::terminal::{Style, Terminal};
use crate::text;

/// Between two columns.
const GAP: usize = 2;
/// A column is never narrower than this, unless its content is.
const LEAST: usize = 8;
/// The last column, which gives way first, is never narrower than this.
const LEAST_LAST: usize = 24;

/// A table: a heading, and rows with notes under them.
#[derive(Debug, Default)]
pub struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Row>,
    indent: usize,
}

#[derive(Debug, Default)]
struct Row {
    cells: Vec<(Style, String)>,
    notes: Vec<Note>,
}

#[derive(Debug)]
enum Note {
    Text(Style, String),
    /// Never wrapped, so that terminals and editors recognise it.
    Place(String),
}

impl Table {
    /// An empty table with these headings.
    pub fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), ..Self::default() }
    }

    /// One without headings, moved to the right.
    pub fn indented(indent: usize) -> Self {
        Self { indent, ..Self::default() }
    }

    /// Adds a row. Texts are cleaned: they may come from anywhere.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = (Style, T)>) {
        let cells = cells.into_iter().map(|(style, cell)| (style, text::one_line(cell.as_ref()))).collect();
        self.rows.push(Row { cells, notes: Vec::new() });
    }

    /// Adds a line under the last row.
    pub fn note(&mut self, style: Style, note: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.notes.push(Note::Text(style, text::one_line(note)));
        }
    }

    /// Adds under the last row where in a file it stands.
    pub fn place(&mut self, place: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.notes.push(Note::Place(text::one_line(place)));
        }
    }

    /// Takes out the columns that say nothing in any row.
    pub fn without_empty_columns(mut self) -> Self {
        for at in (0..self.heading.len()).rev() {
            let says_something = |row: &Row| row.cells.get(at).is_some_and(|(_, cell)| !cell.is_empty());
            if !self.rows.iter().any(says_something) {
                self.heading.remove(at);
                self.rows
                    .iter_mut()
                    .filter(|row| at < row.cells.len())
                    .for_each(|row| _ = row.cells.remove(at));
            }
        }
        self
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, each line ended.
    pub fn render(&self, terminal: &Terminal) -> String {
        let widths = self.widths(terminal.width);
        let mut out = String::new();
        if !self.heading.is_empty() {
            let heading: Vec<_> =
                self.heading.iter().map(|title| (Style::Strong, (*title).to_owned())).collect();
            self.line(&mut out, &heading, &widths, terminal);
        }
        for row in &self.rows {
            self.line(&mut out, &row.cells, &widths, terminal);
            let indent = self.indent + 2;
            for note in &row.notes {
                match note {
                    Note::Text(style, text) => paragraph(&mut out, text, *style, indent, terminal),
                    Note::Place(place) => out.push_str(&format!("{}at {place}\n", " ".repeat(indent))),
                }
            }
        }
        out
    }

    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0).max(self.heading.len());
        let mut widths = vec![0; columns];
        let titles = self.heading.iter().enumerate().map(|(at, title)| (at, title.width()));
        let cells = self
            .rows
            .iter()
            .flat_map(|row| row.cells.iter().enumerate().map(|(at, (_, text))| (at, text.width())));
        for (at, width) in titles.chain(cells) {
            widths[at] = widths[at].max(width);
        }
        if let Some(limit) = limit {
            squeeze(&mut widths, limit.saturating_sub(self.indent + GAP * columns.saturating_sub(1)));
        }
        widths
    }

    fn line(&self, out: &mut String, cells: &[(Style, String)], widths: &[usize], terminal: &Terminal) {
        let wrapped: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|((_, cell), width)| wrap(cell, *width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let mut line = " ".repeat(self.indent);
            let mut owed = 0;
            for ((lines, width), (style, _)) in wrapped.iter().zip(widths).zip(cells) {
                let text = lines.get(at).map_or("", String::as_str);
                if !text.is_empty() {
                    line.push_str(&" ".repeat(owed));
                    owed = 0;
                    line.push_str(&terminal.paint(*style, text));
                }
                owed += width.saturating_sub(text.width()) + GAP;
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// Makes columns fit: the last gives way first, then always the widest.
fn squeeze(widths: &mut [usize], limit: usize) {
    let over = |widths: &[usize]| widths.iter().sum::<usize>().saturating_sub(limit);
    if let Some(last) = widths.last_mut().map(|last| *last) {
        let excess = over(widths);
        let at = widths.len() - 1;
        widths[at] = last.saturating_sub(excess).max(last.min(LEAST_LAST));
    }
    while over(widths) > 0 {
        let Some(widest) = widths.iter_mut().max_by_key(|width| **width).filter(|width| **width > LEAST)
        else {
            return;
        };
        *widest -= 1;
    }
}

/// Adds a text as lines that begin at `indent` and, from the second on, two further.
pub fn paragraph(out: &mut String, text: &str, style: Style, indent: usize, terminal: &Terminal) {
    let width = terminal.width.map_or(usize::MAX, |width| width.saturating_sub(indent + 2).max(LEAST));
    for (at, line) in wrap(text, width).iter().enumerate() {
        out.push_str(&" ".repeat(if at == 0 { indent } else { indent + 2 }));
        out.push_str(&terminal.paint(style, line));
        out.push('\n');
    }
}

/// Breaks a text into lines of at most `width` columns: between words, or inside one that is longer than a line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let (mut word, mut needed) = (word, word.width());
        if used > 0 {
            if used + 1 + needed <= width {
                push(&mut lines, " ");
                used += 1;
            } else {
                lines.push(String::new());
                used = 0;
            }
        }
        while needed > width {
            let end = fitting(word, width);
            push(&mut lines, &word[..end]);
            lines.push(String::new());
            word = &word[end..];
            needed = word.width();
        }
        push(&mut lines, word);
        used += needed;
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

/// How many bytes of a word fit into a line; at least one character.
fn fitting(word: &str, width: usize) -> usize {
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
    let fits = ends.clone().take_while(|end| word[..*end].width() <= width).last();
    fits.or(ends.min()).unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["Server", "State", "Command"]);
        table.row([
            (Style::Strong, "fs"),
            (Style::Good, "connected"),
            (Style::Plain, "npx -y some-package /home/me/notes"),
        ]);
        table.note(Style::Bad, "a note about it that is rather long and will not fit");
        table.row([(Style::Strong, "我的服务器"), (Style::Faint, "idle"), (Style::Plain, "x")]);
        table
    }

    #[test]
    fn without_a_width_nothing_is_wrapped_and_wide_characters_count_twice() {
        let text = table().render(&Terminal::fixed(None, false));
        assert_eq!(
            text,
            "Server      State      Command\n\
             fs          connected  npx -y some-package /home/me/notes\n  \
               a note about it that is rather long and will not fit\n\
             我的服务器  idle       x\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_is_lost() {
        for width in [20, 30, 40, 50, 80, 200] {
            let text = table().render(&Terminal::fixed(Some(width), false));
            if width >= 40 {
                assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            }
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            assert_eq!(
                letters(&text),
                letters(&table().render(&Terminal::fixed(None, false))),
                "{width}:\n{text}"
            );
        }
    }

    #[test]
    fn wrapped_cells_stay_in_their_column() {
        let text = table().render(&Terminal::fixed(Some(50), false));
        assert_eq!(
            text.lines().take(3).collect::<Vec<_>>(),
            [
                "Server      State      Command",
                "fs          connected  npx -y some-package",
                "                       /home/me/notes"
            ]
        );
    }

    #[test]
    fn colours_do_not_move_columns() {
        let painted = table().render(&Terminal::fixed(Some(50), true));
        assert!(painted.contains("\x1b[32mconnected\x1b[0m"));
        assert_eq!(text::clean(&painted), table().render(&Terminal::fixed(Some(50), false)));
    }

    #[test]
    fn words_longer_than_a_line_are_broken_between_characters() {
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("a 服务器", 3), ["a", "服", "务", "器"]);
        assert_eq!(wrap("服", 1), ["服", ""]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn columns_that_say_nothing_can_be_left_out() {
        let mut table = Table::new(&["A", "B", "C"]);
        table.row([(Style::Plain, "x"), (Style::Plain, ""), (Style::Plain, "")]);
        table.row([(Style::Plain, ""), (Style::Plain, ""), (Style::Plain, "y")]);
        assert_eq!(table.without_empty_columns().render(&Terminal::fixed(None, false)), "A  C\nx\n   y\n");
    }

    #[test]
    fn cells_cannot_steer_the_terminal() {
        let mut table = Table::new(&["A"]);
        table.row([(Style::Plain, "\x1b[2Jx\ny")]);
        assert_eq!(table.render(&Terminal::fixed(None, false)), "A\nx y\n");
    }
}
