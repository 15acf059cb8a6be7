//! What the tests of several rooms share: where the programs are, the scripted fake server and its record, and
//! whether a process lives. The behaviour tests themselves are in `tests/`, the end-to-end tests in `e2e/`.

pub mod fixture;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde_json::Value;

/// How long the `wait_for` functions wait at most.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A program of this workspace, found beside the running test program.
///
/// # Panics
/// When it was not built; `cargo build --workspace --bins` builds it.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("this test's own path: {error}"));
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = test.ancestors().skip(1).take(2).map(|folder| folder.join(&file)).find(|path| path.is_file());
    path.unwrap_or_else(|| panic!("{file} is not built: run `cargo build --workspace --bins`"))
}

/// A fake server with its script and its record, both in a folder of the test's.
#[derive(Debug, Clone)]
pub struct Fake {
    script: PathBuf,
    record: PathBuf,
}

impl Fake {
    /// Writes the script; `src/bin/fake_server/script.rs` says what it may say.
    ///
    /// # Panics
    /// When the script can't be written.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    pub fn new(folder: &Path, name: &str, mut script: Value) -> Self {
        let fake = Self {
            script: folder.join(format!("{name}.script.json")),
            record: folder.join(format!("{name}.record.jsonl")),
        };
        script["record"] = fake.record.to_string_lossy().into();
        fs::write(&fake.script, script.to_string())
            .unwrap_or_else(|error| panic!("{}: {error}", fake.script.display()));
        fake
    }

    /// The program to start.
    #[must_use]
    pub fn command() -> PathBuf {
        program("fake_server")
    }

    /// Its arguments.
    #[must_use]
    pub fn args(&self) -> Vec<String> {
        vec!["--script".to_owned(), self.script.to_string_lossy().into_owned()]
    }

    /// Everything written down so far, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.record).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The events of one kind: `start`, `line`, `eof`, `sigterm`, `descendant`, `exit`, `unwritten`.
    #[must_use]
    pub fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// The messages that it received, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        let texts = self.events_of("line");
        texts.iter().filter_map(|line| serde_json::from_str(line["text"].as_str()?).ok()).collect()
    }

    /// The messages of one method.
    #[must_use]
    pub fn messages_of(&self, method: &str) -> Vec<Value> {
        self.messages().into_iter().filter(|message| message["method"] == method).collect()
    }

    /// Waits until there are this many events of a kind, and gives them. Blocks its thread.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    #[must_use]
    pub fn wait_for(&self, kind: &str, count: usize) -> Vec<Value> {
        wait_for(&format!("{count} events `{kind}`"), || {
            let events = self.events_of(kind);
            (events.len() >= count).then_some(events)
        })
    }
}

/// Waits until `look` finds something. Blocks its thread.
///
/// # Panics
/// After [`PATIENCE`], naming what was waited for.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let step = Duration::from_millis(5);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        if let Some(found) = look() {
            return found;
        }
        thread::sleep(step);
    }
    panic!("waited {} s in vain for {what}", PATIENCE.as_secs())
}

/// Whether the process that an event names lives: the same pid with the same start time, and no zombie.
#[must_use]
pub fn alive(event: &Value) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", event["pid"])).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return false;
    };
    let fields: Vec<_> = rest.split_whitespace().collect();
    fields.first() != Some(&"Z")
        && fields.get(19).and_then(|ticks| ticks.parse::<u64>().ok()) == event["start_time"].as_u64()
}
