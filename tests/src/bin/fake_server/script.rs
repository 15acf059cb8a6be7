//! What a script may say. It is JSON; a word that doesn't exist fails the start, so that a typo can't pass a test.

use std::path::PathBuf;

use patchbay_tests::fixture::{answers::Answers, reactions::ByEvent};
use serde::Deserialize;
use serde_json::Value;

/// A whole script. Everything has a default: `{}` is a well-behaved server.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What is answered where the script says nothing else.
    pub answers: Answers,
    /// Where to write down what happens, one JSON object a line; several processes may share it.
    pub record: Option<PathBuf>,
    /// Whether SIGTERM is only written down.
    pub ignore_sigterm: bool,
    /// What to do at an event: `start`, `eof`, `sigterm`, a method, or `tools/call:NAME`.
    pub on: ByEvent<Action>,
    /// Reactions that replace those of `on` in the first, second … process that shares the record; the last one stays.
    pub runs: Vec<ByEvent<Action>>,
}

/// Where bytes go.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One thing to do. In texts, `{id}` stands for the request's id as JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Answers as a well-behaved server does.
    Reply,
    /// Answers with this result.
    Result(Value),
    /// Answers with this error object.
    Error(Value),
    /// Sends this message.
    Send(Value),
    /// Sends `notifications/progress` with the token of the request, if it brought one, and these other fields.
    Progress(Value),
    /// Writes a text as it is.
    Raw {
        /// Where to.
        to: Stream,
        /// The text.
        text: String,
    },
    /// Writes bytes given in hex.
    Hex {
        /// Where to.
        to: Stream,
        /// The bytes.
        bytes: String,
    },
    /// Writes a text many times over, in large pieces.
    Fill {
        /// Where to.
        to: Stream,
        /// The text.
        text: String,
        /// How many bytes in all, at least.
        bytes: u64,
    },
    /// Does the same several times; without `times`, for ever.
    Repeat {
        /// How often.
        times: Option<u64>,
        /// Milliseconds between two times.
        #[serde(default)]
        every_ms: u64,
        /// What.
        actions: Vec<Action>,
    },
    /// Goes on with the next action and the next message while these are done.
    Background(Vec<Action>),
    /// Waits until a file exists.
    WaitFile(PathBuf),
    /// Makes an empty file, to tell the test that this point was reached.
    Touch(PathBuf),
    /// Waits.
    SleepMs(u64),
    /// Lists these tools from now on; says nothing about it.
    SetTools(Vec<Value>),
    /// Starts a process of its own.
    Spawn(Descendant),
    /// Closes a stream and runs on.
    Close(Stream),
    /// Does nothing more, and reads nothing more.
    Hang,
    /// Ends with this exit code.
    Exit(i32),
    /// Ends itself by this signal.
    Signal(i32),
}

/// A process that the fake starts.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Descendant {
    /// Whether it leaves the process group and the parent: forked twice, own session, pipes closed.
    pub daemon: bool,
    /// Whether it ignores SIGTERM.
    pub ignore_sigterm: bool,
}
