//! A writer that lets no secret through, however the text is cut into chunks.

use std::io::{self, Write};

use crate::{
    REDACTED, Redactor,
    redactor::floor,
    shapes::{PEM_BEGIN, PEM_END},
};

/// Longest line that is passed on, in bytes; what is longer is cut.
const LONGEST: usize = 64 << 10;
/// So much more of a line is looked at, to find a secret that begins before the cut.
const BEYOND: usize = 512;
/// Most lines of a PEM block; one without an end must not swallow the log.
const PEM_LINES: usize = 400;

/// Passes text on line by line, redacted. A line is held back until its end; when the writer is dropped, a last line
/// without an end is written with one. Memory is bounded: a line of more than 64 KiB is cut.
#[derive(Debug)]
pub struct RedactingWriter<W: Write> {
    inner: W,
    redactor: Redactor,
    line: Vec<u8>,
    /// Bytes of the line that were not kept.
    cut: u64,
    /// Lines that may still belong to a PEM block.
    pem: usize,
}

impl<W: Write> RedactingWriter<W> {
    /// Writes to `inner` what `redactor` leaves.
    pub fn new(inner: W, redactor: Redactor) -> Self {
        Self { inner, redactor, line: Vec::new(), cut: 0, pem: 0 }
    }

    /// The writer below.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Writes what is held back, as a line.
    ///
    /// # Errors
    /// The writer below failed.
    pub fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        let outcome = self.write_line(&line, cut);
        if line.capacity() <= 4096 {
            self.line = line;
            self.line.clear();
        }
        outcome
    }

    fn write_line(&mut self, line: &[u8], cut: u64) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        if self.in_pem(&text) {
            return Ok(());
        }
        let redacted = self.redactor.redact(&text);
        let long = cut > 0 || line.len() > LONGEST;
        let kept = if long { &redacted[..floor(&redacted, LONGEST)] } else { &redacted };
        self.inner.write_all(kept.as_bytes())?;
        if long {
            write!(self.inner, " [line of {} bytes cut]", line.len() as u64 + cut)?;
        }
        self.inner.write_all(b"\n")
    }

    /// Whether the line is inside a PEM block that began on a line before; notes where one begins and ends.
    fn in_pem(&mut self, line: &str) -> bool {
        let inside = self.pem > 0 && (line.contains(PEM_END) || is_pem_body(line));
        self.pem = match (line.rfind(PEM_BEGIN), line.rfind(PEM_END)) {
            (Some(begin), end) if end.is_none_or(|end| end < begin) => PEM_LINES,
            (None, None) if inside => self.pem - 1,
            _ => 0,
        };
        inside
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = (LONGEST + BEYOND).saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..room]);
        self.cut += (bytes.len() - room) as u64;
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.hold(&rest[..end]);
            self.end_line()?;
            rest = &rest[end + 1..];
        }
        self.hold(rest);
        Ok(bytes.len())
    }

    /// Flushes the writer below; a line without an end stays held back.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for RedactingWriter<W> {
    fn drop(&mut self) {
        if !self.line.is_empty() {
            // A failure cannot be told from here; who needs to know calls `end_line` before.
            let _ = self.end_line();
        }
    }
}

/// Whether a line can stand inside a PEM block: base64, or one of its old headers.
fn is_pem_body(line: &str) -> bool {
    let line = line.trim();
    let base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    line == REDACTED
        || line.bytes().all(base64)
        || line.starts_with("Proc-Type:")
        || line.starts_with("DEK-Info:")
}
