//! Bytes to lines: bounded, linear in time, without a copy where a whole line lies in one chunk.

use memchr::memchr;

/// The longest line that is read unless told otherwise, in bytes: 64 MiB.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// What the buffer may keep between two lines, in bytes.
const KEEP: usize = 16 << 10;

/// One line of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its end (`\n` or `\r\n`). It need not be UTF-8.
    Whole(&'a [u8]),
    /// A line grew past the limit; reported once, at that moment. What follows up to its end is skipped.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Splits a stream of bytes into lines.
///
/// A line that grows past the limit costs at most the limit in memory, and only until it is found out.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    held: Vec<u8>,
    skipping: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(DEFAULT_LIMIT)
    }
}

impl Lines {
    /// A splitter whose lines have at most `limit` bytes before the `\n`.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), skipping: false }
    }

    /// Takes the next bytes of the stream and reports every line that ends in them.
    pub fn push(&mut self, mut chunk: &[u8], on_line: &mut dyn FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', chunk) {
            self.end_line(&chunk[..end], on_line);
            chunk = &chunk[end + 1..];
        }
        if chunk.is_empty() || self.skipping {
            return;
        }
        if self.held.len() + chunk.len() > self.limit {
            self.held = Vec::new();
            self.skipping = true;
            on_line(Line::TooLong { limit: self.limit });
        } else {
            self.hold(chunk);
        }
    }

    /// Ends the stream: reports a last line that has no end, and starts afresh.
    pub fn finish(&mut self, on_line: &mut dyn FnMut(Line<'_>)) {
        let skipping = std::mem::take(&mut self.skipping);
        let last = std::mem::take(&mut self.held);
        if !skipping && !last.is_empty() {
            on_line(Line::Whole(without_return(&last)));
        }
    }

    fn end_line(&mut self, tail: &[u8], on_line: &mut dyn FnMut(Line<'_>)) {
        if self.skipping {
            self.skipping = false;
        } else if self.held.len() + tail.len() > self.limit {
            self.held = Vec::new();
            on_line(Line::TooLong { limit: self.limit });
        } else if self.held.is_empty() {
            on_line(Line::Whole(without_return(tail)));
        } else {
            self.hold(tail);
            on_line(Line::Whole(without_return(&self.held)));
            if self.held.capacity() > KEEP {
                self.held = Vec::new();
            } else {
                self.held.clear();
            }
        }
    }

    /// Grows by doubling, so that many small chunks stay linear, but never past the limit.
    fn hold(&mut self, bytes: &[u8]) {
        let needed = self.held.len() + bytes.len();
        if needed > self.held.capacity() {
            let wanted = needed.max(2 * self.held.capacity()).min(self.limit.max(needed));
            self.held.reserve_exact(wanted - self.held.len());
        }
        self.held.extend_from_slice(bytes);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
