//! What a script of the HTTP fake may say. A word that doesn't exist fails the start.

use std::{collections::BTreeMap, path::PathBuf};

use patchbay_tests::fixture::{answers::Answers, reactions::ByEvent};
use serde::Deserialize;

/// A whole script. Everything has a default: `{}` is a well-behaved server without sessions.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What is answered where the script says nothing else.
    pub answers: Answers,
    /// Where to write down what happens, one JSON object a line; several processes may share it.
    pub record: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 takes a free one, which the `start` event names.
    pub port: u16,
    /// Whether it gives out session ids and refuses unknown ones with 404.
    pub sessions: bool,
    /// What to do at a request: `GET`, `DELETE`, `POST` (whatever it carries), a method, or `tools/call:NAME`.
    pub on: ByEvent<Action>,
    /// Reactions that replace those of `on` in the first, second … process that shares the record; the last one stays.
    pub runs: Vec<ByEvent<Action>>,
}

/// One thing to do. In texts, `{id}` stands for the request's id as JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Answers as a well-behaved server does, in JSON.
    Reply,
    /// Answers as a well-behaved server does, as the only event of an event stream.
    ReplySse,
    /// A whole response.
    Respond {
        /// Its status.
        status: u16,
        /// Its headers.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// Its body.
        #[serde(default)]
        body: String,
    },
    /// The head of a response whose end is the end of the connection.
    Begin {
        /// Its status.
        status: u16,
        /// Its headers.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Text after `begin`, as it is.
    Write(String),
    /// The well-behaved answer after `begin`, as JSON without anything around it.
    WriteReply,
    /// Waits until a file exists.
    WaitFile(PathBuf),
    /// Makes an empty file, to tell the test that this point was reached.
    Touch(PathBuf),
    /// Waits.
    SleepMs(u64),
    /// Forgets every session.
    ForgetSessions,
    /// Closes the connection.
    Close,
    /// Leaves the connection open and silent.
    Hang,
    /// Ends the process with this exit code.
    Exit(i32),
}
