//! What the person or the program at the other end reads: results on standard output, everything else on standard
//! error.

use std::io::{self, Write as _};

use patchbay_api::{ApiError, ErrorCode};
use serde::Serialize;

use crate::table::{Table, paragraph};
use crate::terminal::{Style, Terminal};
use crate::text;

/// Collects the result of a command, and tells of problems at once.
#[derive(Debug)]
pub struct Output {
    /// Whether JSON is wanted.
    pub json: bool,
    /// Standard output.
    pub terminal: Terminal,
    /// Standard error.
    pub aside: Terminal,
    result: String,
}

impl Output {
    /// For the options of this command line.
    pub fn new(json: bool, no_colour: bool) -> Self {
        let (terminal, aside) = (Terminal::output(no_colour), Terminal::error(no_colour));
        Self { json, terminal, aside, result: String::new() }
    }

    /// Adds a line to the result. It may hold colours; what comes from elsewhere is cleaned by the caller.
    pub fn line(&mut self, line: &str) {
        self.result.push_str(line);
        self.result.push('\n');
    }

    /// Adds a table to the result.
    pub fn table(&mut self, table: &Table) {
        self.result.push_str(&table.render(&self.terminal));
    }

    /// Adds a wrapped text to the result.
    pub fn paragraph(&mut self, style: Style, indent: usize, content: &str) {
        paragraph(&mut self.result, &text::one_line(content), style, indent, &self.terminal);
    }

    /// Adds a value to the result, as JSON.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ApiError> {
        let json = serde_json::to_string_pretty(value);
        let json = json.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
        self.raw_json(&json);
        Ok(())
    }

    /// Adds JSON text to the result, byte for byte where a program reads it.
    pub fn raw_json(&mut self, json: &str) {
        if self.terminal.interactive {
            self.line(&text::terminal_json(json));
        } else {
            self.line(json);
        }
    }

    /// Writes the result so far.
    ///
    /// # Errors
    /// Standard output cannot be written. A reader that has seen enough (`head`) is no failure.
    pub fn flush(&mut self) -> Result<(), ApiError> {
        let result = std::mem::take(&mut self.result);
        let mut out = io::stdout().lock();
        match out.write_all(result.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(ApiError::new(ErrorCode::Io, format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Tells of something beside the result.
    pub fn aside(&self, style: Style, label: &str, message: &str) {
        let mut text = String::new();
        paragraph(&mut text, &format!("{label}: {}", text::one_line(message)), Style::Plain, 0, &self.aside);
        say(&text.replacen(label, &self.aside.paint(style, label), 1));
    }

    /// Tells of a problem that did not keep the command from its work.
    pub fn warn(&self, message: &str) {
        self.aside(Style::Warning, "warning", message);
    }

    /// Tells why the command failed: what, where, and what to do next.
    pub fn fail(&self, error: &ApiError) {
        if self.json {
            // A plain structure of texts can always be written as JSON.
            let json = serde_json::to_string(error).unwrap_or_else(|error| error.to_string());
            say(&(if self.aside.interactive { text::terminal_json(&json) } else { json } + "\n"));
            return;
        }
        self.aside(Style::Bad, "error", &error.message);
        self.place_and_hint(error.place.as_ref().map(ToString::to_string).as_deref(), error.hint.as_deref());
    }

    /// The lines under a message.
    pub fn place_and_hint(&self, place: Option<&str>, hint: Option<&str>) {
        if let Some(place) = place {
            // Never wrapped, so that terminals and editors recognise it.
            say(&format!("  at {}\n", text::one_line(place)));
        }
        if let Some(hint) = hint {
            let mut text = String::new();
            paragraph(&mut text, &format!("next: {}", text::one_line(hint)), Style::Plain, 2, &self.aside);
            say(&text);
        }
    }
}

fn say(text: &str) {
    // When standard error is gone there is no one left to tell.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
