//! The audit log: one JSON line per event in `audit/YYYY-MM-DD.jsonl` of the home.

use std::{
    borrow::Cow,
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use patchbay_secrets::Redactor;
use serde_json::Value;
use time::{Date, OffsetDateTime};

use crate::{
    AuditEvent, LossCause, RecordsError,
    batches::Batches,
    day_files::DayFiles,
    stamp::{stamp, utc_day},
};

/// Most events that wait to be written.
const WAITING: usize = 16_384;
/// Longest text that an event keeps, in characters; names come from servers and agents.
const LONGEST_TEXT: usize = 512;
/// An event of up to this length, in bytes, has no text that is too long.
const SHORT: usize = 512;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Days before today.
    pub retain_days: u32,
    /// Bytes altogether.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { retain_days: 30, max_bytes: 256 << 20 }
    }
}

/// The audit log. Clones share it; when the last one is dropped, everything is written.
#[derive(Clone)]
pub struct Audit(Option<Arc<Open>>);

struct Open {
    batches: Batches<(OffsetDateTime, AuditEvent)>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Audit {
    /// A log that keeps nothing: `[audit] enabled = false`.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Opens the log of this home, and removes what is older or more than the limits allow.
    ///
    /// # Errors
    /// The folder cannot be made, read or cleared, or the writing thread cannot be started.
    pub fn open(
        home: &Path,
        redactor: Redactor,
        limits: Limits,
        now: OffsetDateTime,
    ) -> Result<Self, RecordsError> {
        let mut files = DayFiles::new(home.join("audit"), limits);
        files.open(utc_day(now))?;
        let failure = Arc::new(Mutex::new(None));
        let mut writer = Writer::new(files, redactor, Arc::clone(&failure), now);
        let batches = Batches::start("audit", WAITING, move |events, dropped| {
            writer.write(&events, dropped);
        })?;
        Ok(Self(Some(Arc::new(Open { batches, failure }))))
    }

    /// Hands an event over; never waits for the disk. Where too many wait, it is counted as lost, and the log says so.
    pub fn record(&self, now: OffsetDateTime, event: AuditEvent) {
        if let Some(open) = &self.0 {
            let hurry = !event.is_frequent();
            open.batches.push((now, event), 1, hurry);
        }
    }

    /// Waits until everything recorded before has been written or refused. Blocks for at most five seconds.
    ///
    /// # Errors
    /// It took too long.
    pub fn flush(&self) -> Result<(), RecordsError> {
        self.0.as_ref().map_or(Ok(()), |open| open.batches.flush())
    }

    /// Events that were lost because too many waited.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.as_ref().map_or(0, |open| open.batches.lost())
    }

    /// Why the last write was refused, in words; `None` while writing works.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.0.as_ref().and_then(|open| open.failure.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Audit" } else { "Audit(off)" })
    }
}

/// The writing thread's side.
struct Writer {
    files: DayFiles,
    redactor: Redactor,
    failure: Arc<Mutex<Option<String>>>,
    /// Events that the disk refused.
    refused: u64,
    /// Events that the day's size kept out and that the log has not told of yet.
    kept_out: u64,
    /// The day on which the log has said that it is full, and the last moment that it has seen.
    full: Option<Date>,
    last: OffsetDateTime,
}

/// Lines of one day, ready to be written.
struct Lines {
    day: Date,
    /// The length of the day's file before them.
    before: u64,
    text: Vec<u8>,
    events: u64,
}

impl Writer {
    fn new(
        files: DayFiles,
        redactor: Redactor,
        failure: Arc<Mutex<Option<String>>>,
        now: OffsetDateTime,
    ) -> Self {
        Self { files, redactor, failure, refused: 0, kept_out: 0, full: None, last: now }
    }

    fn write(&mut self, events: &[(OffsetDateTime, AuditEvent)], dropped: u64) {
        let Some((first, _)) = events.first() else { return };
        let mut lines = self.begin(utc_day(*first));
        for (count, cause) in [(dropped, LossCause::QueueFull), (self.refused, LossCause::WriteFailed)] {
            self.push_lost(&mut lines, *first, count, cause);
        }
        for (now, event) in events {
            if utc_day(*now) != lines.day {
                self.append(&lines);
                lines = self.begin(utc_day(*now));
            }
            self.admit(&mut lines, *now, event);
            self.last = *now;
        }
        self.append(&lines);
    }

    fn begin(&self, day: Date) -> Lines {
        Lines { day, before: self.files.length(day), text: Vec::new(), events: 0 }
    }

    /// Takes an event in if the day's file has room for it. The last quarter is kept for what is not a plain call,
    /// so that an agent cannot drown out the rest.
    fn admit(&mut self, lines: &mut Lines, now: OffsetDateTime, event: &AuditEvent) {
        let longest = self.files.longest();
        let room = if event.is_frequent() { longest / 4 * 3 } else { longest };
        let fits = lines.before + (lines.text.len() as u64) < room;
        if !fits {
            self.kept_out += 1;
        }
        // The first time on a day the log says so at once, then only when there is room again.
        if fits || self.full != Some(lines.day) {
            let kept_out = std::mem::take(&mut self.kept_out);
            self.push_lost(lines, now, kept_out, LossCause::SizeLimit);
        }
        if fits {
            self.push(lines, now, event);
            lines.events += 1;
        } else {
            self.full = Some(lines.day);
        }
    }

    fn push_lost(&self, lines: &mut Lines, now: OffsetDateTime, count: u64, cause: LossCause) {
        if count > 0 {
            self.push(lines, now, &AuditEvent::Lost { count, cause });
        }
    }

    fn push(&self, lines: &mut Lines, now: OffsetDateTime, event: &AuditEvent) {
        let body = self.body(event);
        lines.text.extend_from_slice(b"{\"time\":\"");
        lines.text.extend_from_slice(stamp(now).as_bytes());
        lines.text.extend_from_slice(b"\",");
        lines.text.extend_from_slice(body.strip_prefix('{').unwrap_or("}").as_bytes());
        lines.text.push(b'\n');
    }

    /// The event as JSON, without secrets and with texts of bounded length.
    fn body(&self, event: &AuditEvent) -> String {
        // An event is plain texts and numbers, which always make JSON.
        let body = serde_json::to_string(event).unwrap_or_default();
        if body.len() <= SHORT && matches!(self.redactor.redact(&body), Cow::Borrowed(_)) {
            return body;
        }
        let mut value = serde_json::to_value(event).unwrap_or_default();
        self.clean(&mut value);
        value.to_string()
    }

    fn clean(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let mut clean = self.redactor.redact(text).into_owned();
                if let Some((cut, _)) = clean.char_indices().nth(LONGEST_TEXT) {
                    clean.truncate(cut);
                    clean.push('…');
                }
                *text = clean;
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.clean(member)),
            _ => {}
        }
    }

    fn append(&mut self, lines: &Lines) {
        if lines.text.is_empty() {
            return;
        }
        let outcome = self.files.append(lines.day, &lines.text);
        match &outcome {
            Ok(()) => self.refused = 0,
            Err(_) => self.refused += lines.events,
        }
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = outcome.err().map(|error| {
            let cause =
                std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            format!("{error}{cause}")
        });
    }
}

impl Drop for Writer {
    /// Tells of what the size kept out since the log last said so.
    fn drop(&mut self) {
        let mut lines = self.begin(utc_day(self.last));
        self.push_lost(&mut lines, self.last, self.kept_out, LossCause::SizeLimit);
        self.append(&lines);
    }
}
