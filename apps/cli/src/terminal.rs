//! What the terminal can show: its width, and whether colours are wanted.

use std::io::{IsTerminal, stderr, stdout};

/// What a piece of text says by its colour. The words say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As everything.
    #[default]
    Plain,
    /// A heading or a name.
    Strong,
    /// Less important.
    Faint,
    /// Works.
    Good,
    /// Is on its way.
    Busy,
    /// Wants attention.
    Warning,
    /// Does not work.
    Bad,
}

/// How one of the two output streams is written to.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Columns; `None` where it is no terminal, so that nothing is wrapped for programs.
    pub width: Option<usize>,
    /// Whether it is a terminal.
    pub interactive: bool,
    colour: bool,
}

impl Terminal {
    /// Standard output.
    pub fn output(no_colour: bool) -> Self {
        let width = terminal_size::terminal_size_of(stdout());
        Self::new(stdout().is_terminal(), width.map(|(width, _)| width.0), no_colour)
    }

    /// Standard error.
    pub fn error(no_colour: bool) -> Self {
        let width = terminal_size::terminal_size_of(stderr());
        Self::new(stderr().is_terminal(), width.map(|(width, _)| width.0), no_colour)
    }

    fn new(interactive: bool, width: Option<u16>, no_colour: bool) -> Self {
        // A terminal of width 0 is one that does not know.
        let width = width.filter(|width| interactive && *width > 0).map(usize::from);
        let set = |name| std::env::var_os(name).is_some_and(|value: std::ffi::OsString| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { width, interactive, colour: interactive && !no_colour && !dumb && !set("NO_COLOR") }
    }

    /// The text in its colour, where colours are wanted.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Busy => "34",
            Style::Warning => "33",
            Style::Bad => "31",
        };
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
impl Terminal {
    /// One of this width, for tests.
    pub fn fixed(width: Option<usize>, colour: bool) -> Self {
        Self { width, interactive: true, colour }
    }
}
