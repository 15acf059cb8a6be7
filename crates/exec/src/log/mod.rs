//! The bounded log of one server: what it writes to stderr, what strays into its stdout, and our own notes.
//!
//! Flat in memory whatever a server writes: lines are cut, a flood is thinned to its newest lines with a count of
//! what was left out, and the whole is held below a limit. It is kept in memory only; the diagnostic log is
//! elsewhere, and so is the redactor, which is handed in.

mod assemble;
mod clean;

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use assemble::Assembler;
use memchr::{memchr_iter, memrchr_iter};
use tokio::time::Instant;

/// Longest line kept, in bytes; what follows is cut and counted.
const LINE_LIMIT: usize = 4 * 1024;
/// Bytes that a whole log may take, its lines' headers included.
const LOG_LIMIT: usize = 256 * 1024;
/// What a line takes beyond its text.
const LINE_OVERHEAD: usize = size_of::<LogLine>();
/// Lines taken at once after a quiet time.
const BURST: u32 = 1000;
/// Lines taken a second in the long run.
const PER_SECOND: u32 = 200;
/// Newest lines of a flood that are kept.
const FLOOD_TAIL: usize = 50;

/// Masks the secrets of a line before it is kept.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// The server, on stderr.
    Stderr,
    /// The server, on stdout, where it is no protocol message.
    Noise,
    /// Patchbay.
    Note,
}

/// One line. Its text is valid, cut, without escape sequences and redacted, but else what the server wrote: untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was read.
    pub at: SystemTime,
    /// Who wrote it.
    pub source: LogSource,
    /// The text, without its line end.
    pub text: String,
}

impl fmt::Display for LogLine {
    /// `HH:MM:SS.mmm`, UTC, the mark of the source and the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, millis) = (since.as_secs() % 86_400, since.subsec_millis());
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mark = match self.source {
            LogSource::Stderr => "",
            LogSource::Noise => "[stdout] ",
            LogSource::Note => "[patchbay] ",
        };
        write!(f, "{hour:02}:{minute:02}:{second:02}.{millis:03} {mark}{}", self.text)
    }
}

/// The log of one server. A clone is the same log, so that it can outlive one process and be read meanwhile.
#[derive(Clone)]
pub struct ServerLog {
    state: Arc<Mutex<State>>,
}

struct State {
    redact: Option<Redact>,
    lines: VecDeque<LogLine>,
    bytes: usize,
    stderr: Assembler,
    budget: Budget,
    flood: VecDeque<Raw>,
    flood_left_out: u64,
    left_out: u64,
    noise: u64,
    revision: u64,
}

/// A line of a flood: not redacted yet, because most of them are never seen.
struct Raw {
    at: SystemTime,
    source: LogSource,
    bytes: Vec<u8>,
    beyond: u64,
}

/// A token bucket.
struct Budget {
    left: u32,
    filled: Instant,
}

impl Default for ServerLog {
    fn default() -> Self {
        Self::new(None)
    }
}

impl fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ServerLog").field("lines", &state.lines.len()).field("bytes", &state.bytes).finish()
    }
}

impl ServerLog {
    /// An empty log, whose lines pass through `redact`.
    #[must_use]
    pub fn new(redact: Option<Redact>) -> Self {
        let state = State {
            redact,
            lines: VecDeque::new(),
            bytes: 0,
            stderr: Assembler::default(),
            budget: Budget { left: BURST, filled: Instant::now() },
            flood: VecDeque::new(),
            flood_left_out: 0,
            left_out: 0,
            noise: 0,
            revision: 0,
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Takes a line of stdout that is no protocol message.
    pub fn noise(&self, line: &[u8]) {
        let mut state = self.lock();
        state.noise += 1;
        let (kept, beyond) = head(line);
        state.push(LogSource::Noise, kept, beyond);
    }

    /// Adds a line of ours.
    pub fn note(&self, text: &str) {
        let (kept, beyond) = head(text.as_bytes());
        self.lock().push(LogSource::Note, kept, beyond);
    }

    /// Takes a piece of stderr, cut anywhere.
    pub(crate) fn stderr(&self, piece: &[u8]) {
        let mut state = self.lock();
        let mut assembler = std::mem::take(&mut state.stderr);
        let newest = state.pass_over(&mut assembler, piece);
        assembler.feed(newest, |line, beyond| state.push(LogSource::Stderr, line, beyond));
        state.stderr = assembler;
        state.revision += 1;
    }

    /// Ends the last line of stderr, when the process has closed it.
    pub(crate) fn stderr_end(&self) {
        let mut state = self.lock();
        let mut assembler = std::mem::take(&mut state.stderr);
        assembler.end(|line, beyond| state.push(LogSource::Stderr, line, beyond));
    }

    /// The last `n` lines, oldest first, as text with time stamps (UTC) and marks of their source.
    #[must_use]
    pub fn tail(&self, n: usize) -> Vec<String> {
        self.lines(n).iter().map(ToString::to_string).collect()
    }

    /// The last `n` lines, oldest first; the one that a server has not ended yet is the last.
    #[must_use]
    pub fn lines(&self, n: usize) -> Vec<LogLine> {
        let state = self.lock();
        let mut lines: Vec<LogLine> = state.lines.iter().rev().take(n).cloned().collect();
        lines.reverse();
        lines.extend(state.flood_note());
        lines.extend(state.flood.iter().map(|raw| state.finish(raw)));
        if let Some((bytes, beyond)) = state.stderr.unfinished() {
            let at = SystemTime::now();
            lines.push(state.finish(&Raw { at, source: LogSource::Stderr, bytes: bytes.to_vec(), beyond }));
        }
        lines.drain(..lines.len().saturating_sub(n));
        lines
    }

    /// How many lines of stdout were no protocol messages.
    #[must_use]
    pub fn noise_count(&self) -> u64 {
        self.lock().noise
    }

    /// How many lines were left out because too many came at once.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Grows with every change.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a line that is looked at, and how many bytes are not.
fn head(line: &[u8]) -> (&[u8], u64) {
    let kept = &line[..line.len().min(assemble::HELD)];
    (kept, (line.len() - kept.len()) as u64)
}

impl State {
    fn push(&mut self, source: LogSource, line: &[u8], beyond: u64) {
        self.revision += 1;
        let at = SystemTime::now();
        if self.flooded() {
            let mut bytes = Vec::new();
            if self.flood.len() == FLOOD_TAIL {
                // In the place of the oldest: a flood is no reason to allocate.
                bytes = self.flood.pop_front().map(|oldest| oldest.bytes).unwrap_or_default();
                bytes.clear();
                self.leave_out(1);
            }
            bytes.extend_from_slice(line);
            self.flood.push_back(Raw { at, source, bytes, beyond });
            return;
        }
        self.end_flood();
        self.budget.left -= 1;
        let line = self.finish(&Raw { at, source, bytes: line.to_vec(), beyond });
        self.keep(line);
    }

    /// Whether lines come faster than they are taken. A flood lasts until there is room for all that is kept of it.
    fn flooded(&mut self) -> bool {
        self.budget.fill();
        let needed = if self.flood.is_empty() { 1 } else { FLOOD_TAIL + 2 };
        (self.budget.left as usize) < needed
    }

    fn end_flood(&mut self) {
        if self.flood.is_empty() {
            return;
        }
        let note = self.flood_note();
        self.flood_left_out = 0;
        note.into_iter().for_each(|note| self.keep(note));
        for raw in std::mem::take(&mut self.flood) {
            self.budget.left -= 1;
            let line = self.finish(&raw);
            self.keep(line);
        }
    }

    fn leave_out(&mut self, lines: u64) {
        self.flood_left_out += lines;
        self.left_out += lines;
    }

    /// Passes over what a flood would push out again at once; gives the part of the piece that is to be looked at.
    fn pass_over<'a>(&mut self, assembler: &mut Assembler, piece: &'a [u8]) -> &'a [u8] {
        let Some(cut) = memrchr_iter(b'\n', piece).nth(FLOOD_TAIL).filter(|_| self.flooded()) else {
            return piece;
        };
        let (old, newest) = piece.split_at(cut + 1);
        assembler.clear();
        self.leave_out(memchr_iter(b'\n', old).count() as u64 + self.flood.len() as u64);
        self.flood.clear();
        newest
    }

    fn keep(&mut self, line: LogLine) {
        self.bytes += line.text.len() + LINE_OVERHEAD;
        self.lines.push_back(line);
        while self.bytes > LOG_LIMIT {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= oldest.text.len() + LINE_OVERHEAD;
        }
    }

    fn flood_note(&self) -> Option<LogLine> {
        let at = self.flood.front()?.at;
        let text = format!("{} lines left out: too many came at once", self.flood_left_out);
        (self.flood_left_out > 0).then_some(LogLine { at, source: LogSource::Note, text })
    }

    /// Makes a line fit to be shown: valid, clean, redacted before it is cut, so that no half of a secret stays.
    fn finish(&self, raw: &Raw) -> LogLine {
        let mut text = clean::clean(&String::from_utf8_lossy(&raw.bytes));
        if let Some(redact) = &self.redact {
            text = redact(&text);
        }
        let mut beyond = raw.beyond;
        if text.len() > LINE_LIMIT {
            let boundary = |&end: &usize| text.is_char_boundary(end);
            let end = (0..=LINE_LIMIT).rev().find(boundary).unwrap_or(0);
            beyond += (text.len() - end) as u64;
            text.truncate(end);
        }
        if beyond > 0 {
            text.push_str(&format!(" … ({beyond} more bytes cut)"));
        }
        text.shrink_to_fit();
        LogLine { at: raw.at, source: raw.source, text }
    }
}

impl Budget {
    /// Adds what time has earned.
    fn fill(&mut self) {
        let now = Instant::now();
        let passed = now.saturating_duration_since(self.filled);
        let earned = u32::try_from(passed.as_millis() * u128::from(PER_SECOND) / 1000).unwrap_or(BURST);
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(BURST);
            self.filled = if earned >= BURST {
                now
            } else {
                self.filled + Duration::from_secs(1) * earned / PER_SECOND
            };
        }
    }
}

#[cfg(test)]
mod tests;
