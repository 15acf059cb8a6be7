//! The diagnostic log: what the program tells about itself, in `log/patchbay.log` of the home.

use std::{
    fmt,
    io::{self, Write},
    path::Path,
    str::FromStr,
    sync::Arc,
};

use patchbay_secrets::{RedactingWriter, Redactor};
use time::OffsetDateTime;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Registry,
    filter::Targets,
    fmt::{MakeWriter, format::Writer as FormatWriter, time::FormatTime},
    layer::SubscriberExt as _,
    reload,
};

use crate::{RecordsError, batches::Batches, error::failed, rotating::RotatingFile, stamp::stamp};

/// Bytes that may wait to be written.
const WAITING: usize = 4 << 20;

/// Tells the time of a log line.
pub type Clock = fn() -> OffsetDateTime;

/// How much the log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What is odd as well.
    Warn,
    /// What happens as well.
    #[default]
    Info,
    /// How it happens as well.
    Debug,
    /// Everything.
    Trace,
}

impl FromStr for LogLevel {
    type Err = RecordsError;

    fn from_str(text: &str) -> Result<Self, RecordsError> {
        Ok(match text {
            "off" => Self::Off,
            "error" => Self::Error,
            "warn" => Self::Warn,
            "info" => Self::Info,
            "debug" => Self::Debug,
            "trace" => Self::Trace,
            _ => return Err(RecordsError::Level(text.to_owned())),
        })
    }
}

impl LogLevel {
    fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }

    /// Libraries that log payloads or every packet speak only when something is wrong.
    fn targets(self) -> Targets {
        let quiet = self.filter().min(LevelFilter::WARN);
        let loud =
            ["rmcp", "hyper", "hyper_util", "reqwest", "h2", "rustls", "tower", "mio", "notify", "zbus"];
        Targets::new().with_default(self.filter()).with_targets(loud.map(|target| (target, quiet)))
    }
}

/// Keeps the log going. When it is dropped, everything is written.
#[derive(Debug)]
pub struct LogGuard {
    pub(crate) batches: Arc<Batches<Vec<u8>>>,
    level: reload::Handle<Targets, Registry>,
}

impl LogGuard {
    /// Changes how much is told, from now on.
    pub fn set_level(&self, level: LogLevel) {
        // Fails only when the log is gone, and with it everything that could be told.
        let _ = self.level.reload(level.targets());
    }

    /// Waits until everything told before has been written or refused. Blocks for at most five seconds.
    ///
    /// # Errors
    /// It took too long.
    pub fn flush(&self) -> Result<(), RecordsError> {
        self.batches.flush()
    }

    /// Lines that were lost because too much waited.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.batches.lost()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        // The log itself may stay in force for the life of the process; what was told so far is written now.
        let _ = self.flush();
    }
}

/// Opens the log of this home and puts it in force for the whole process.
///
/// # Errors
/// The file cannot be opened, the writing thread cannot be started, or a log is in force already.
pub fn init(
    home: &Path,
    level: LogLevel,
    redactor: Redactor,
    retain_days: u32,
) -> Result<LogGuard, RecordsError> {
    let (subscriber, guard) = diagnostics(home, level, redactor, retain_days, OffsetDateTime::now_utc)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| RecordsError::Taken)?;
    Ok(guard)
}

/// Opens the log of this home without putting it in force.
///
/// # Errors
/// The file cannot be opened, or the writing thread cannot be started.
pub fn diagnostics(
    home: &Path,
    level: LogLevel,
    redactor: Redactor,
    retain_days: u32,
    clock: Clock,
) -> Result<(impl Subscriber + Send + Sync + 'static, LogGuard), RecordsError> {
    let folder = home.join("log");
    let file = RotatingFile::open(&folder, retain_days).map_err(failed(&folder, "open the log"))?;
    let mut writer = RedactingWriter::new(file, redactor);
    let batches = Arc::new(Batches::start("log", WAITING, move |lines: Vec<Vec<u8>>, dropped| {
        // A log that cannot be written has nowhere to say so.
        let _ = write_lines(&mut writer, &lines, dropped);
    })?);
    let (filter, handle) = reload::Layer::new(level.targets());
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_timer(Timer(clock))
        .with_writer(Sink(Arc::clone(&batches)));
    Ok((tracing_subscriber::registry().with(filter).with(lines), LogGuard { batches, level: handle }))
}

fn write_lines(
    writer: &mut RedactingWriter<RotatingFile>,
    lines: &[Vec<u8>],
    dropped: u64,
) -> io::Result<()> {
    if dropped > 0 {
        writeln!(writer, "{dropped} lines are missing here: they came faster than they could be written")?;
    }
    lines.iter().try_for_each(|line| writer.write_all(line))?;
    writer.flush()
}

struct Timer(Clock);

impl FormatTime for Timer {
    fn format_time(&self, writer: &mut FormatWriter<'_>) -> fmt::Result {
        writer.write_str(&stamp((self.0)()))
    }
}

/// The event with all lines but the first set in, so that a text from outside cannot pass for an event of its own.
fn indented(event: &[u8]) -> Vec<u8> {
    let text = event.strip_suffix(b"\n").unwrap_or(event);
    let mut out = Vec::with_capacity(event.len() + 1);
    for (index, line) in text.split(|b| *b == b'\n').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\n    ");
        }
        out.extend_from_slice(line);
    }
    out.push(b'\n');
    out
}

/// Takes each formatted event as one piece.
struct Sink(Arc<Batches<Vec<u8>>>);

struct Line<'a>(&'a Batches<Vec<u8>>);

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.0)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let event = indented(bytes);
        let weight = event.len();
        self.0.push(event, weight, false);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
