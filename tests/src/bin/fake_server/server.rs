//! Reads messages, looks up what the script says about them, and does it.

use std::{
    fs::OpenOptions,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use patchbay_tests::fixture::{answers::Answers, reactions::Reactions, record::Record};
use serde_json::{Value, json};

use crate::{
    process,
    script::{Action, Script, Stream},
};

/// The fake.
pub struct Server {
    script: Script,
    reactions: Reactions<Action>,
    record: Record,
    answers: Mutex<Answers>,
    /// One message is written at a time, also by actions in the background.
    writing: Mutex<()>,
}

impl Server {
    pub fn new(script: Script, reactions: Reactions<Action>, record: Record) -> Arc<Self> {
        let answers = Mutex::new(script.answers.clone());
        Arc::new(Self { script, reactions, record, answers, writing: Mutex::new(()) })
    }

    /// Reads until the end of standard input.
    pub fn serve(self: &Arc<Self>) -> io::Result<()> {
        self.happen("start", &Value::Null)?;
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let text = line.trim_ascii_end();
            self.record.line(text)?;
            if let Ok(message) = serde_json::from_slice::<Value>(text) {
                self.take(&message)?;
            }
        }
        self.record.add("eof", json!({}))?;
        self.happen("eof", &Value::Null)?;
        self.record.add("exit", json!({"code": 0}))
    }

    /// SIGTERM came.
    pub fn terminated(self: &Arc<Self>) -> io::Result<()> {
        self.record.add("sigterm", json!({}))?;
        self.happen("sigterm", &Value::Null)?;
        if !self.script.ignore_sigterm {
            process::signal_self(15);
        }
        Ok(())
    }

    fn take(self: &Arc<Self>, message: &Value) -> io::Result<()> {
        if message["method"].is_null() {
            return Ok(());
        }
        let scripted = self.reactions.for_message(message);
        self.act(&scripted.unwrap_or_else(|| vec![Action::Reply]), message)
    }

    fn happen(self: &Arc<Self>, event: &str, message: &Value) -> io::Result<()> {
        self.act(&self.reactions.next(event).unwrap_or_default(), message)
    }

    fn act(self: &Arc<Self>, actions: &[Action], message: &Value) -> io::Result<()> {
        actions.iter().try_for_each(|action| self.one(action, message))
    }

    fn one(self: &Arc<Self>, action: &Action, message: &Value) -> io::Result<()> {
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        match action {
            Action::Reply => self.reply(message),
            Action::Result(result) => self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
            Action::Error(error) => self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
            Action::Send(text) => self.send(text),
            Action::Progress(fields) => self.progress(fields, message),
            Action::Raw { to, text } => self.write(*to, text.replace("{id}", &id.to_string()).as_bytes()),
            Action::Hex { to, bytes } => self.write(*to, &unhex(bytes)?),
            Action::Fill { to, text, bytes } => self.fill(*to, text, *bytes),
            Action::Repeat { times, every_ms, actions } => {
                (0..times.unwrap_or(u64::MAX)).try_for_each(|_| {
                    self.act(actions, message)?;
                    thread::sleep(Duration::from_millis(*every_ms));
                    Ok(())
                })
            }
            Action::Background(actions) => {
                let (server, actions, message) = (Arc::clone(self), actions.clone(), message.clone());
                thread::spawn(move || server.act(&actions, &message));
                Ok(())
            }
            Action::SetTools(tools) => {
                self.answers.lock().unwrap_or_else(PoisonError::into_inner).tools = Some(tools.clone());
                Ok(())
            }
            other => self.outside(other),
        }
    }

    /// The actions that have nothing to do with messages.
    fn outside(&self, action: &Action) -> io::Result<()> {
        match action {
            Action::WaitFile(path) => {
                while !path.exists() {
                    thread::sleep(Duration::from_millis(2));
                }
                Ok(())
            }
            Action::Touch(path) => OpenOptions::new().create(true).append(true).open(path).map(drop),
            Action::SleepMs(time) => {
                thread::sleep(Duration::from_millis(*time));
                Ok(())
            }
            Action::Spawn(descendant) => process::spawn(*descendant, &self.record),
            Action::Close(stream) => process::close(*stream),
            Action::Exit(code) => {
                self.record.add("exit", json!({"code": code}))?;
                std::process::exit(*code)
            }
            Action::Signal(signal) => process::signal_self(*signal),
            _ => process::hang(),
        }
    }

    fn reply(&self, message: &Value) -> io::Result<()> {
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).to(message);
        answer.map_or(Ok(()), |answer| self.send(&answer))
    }

    fn progress(&self, fields: &Value, message: &Value) -> io::Result<()> {
        let token = &message["params"]["_meta"]["progressToken"];
        if token.is_null() {
            return Ok(());
        }
        let mut params = fields.clone();
        if params.get("progressToken").is_none() {
            params["progressToken"] = token.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        self.write(Stream::Stdout, format!("{message}\n").as_bytes())
    }

    fn fill(&self, to: Stream, text: &str, bytes: u64) -> io::Result<()> {
        let piece = text.repeat((64 << 10) / text.len().max(1) + 1);
        let pieces = bytes.div_ceil(piece.len() as u64);
        (0..pieces).try_for_each(|_| self.write(to, piece.as_bytes()))
    }

    /// A stream that nobody reads any more takes nothing: the fake lives on.
    fn write(&self, to: Stream, bytes: &[u8]) -> io::Result<()> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match to {
            Stream::Stdout => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
            Stream::Stderr => io::stderr().write_all(bytes),
        };
        written.or_else(|error| self.record.add("unwritten", json!({"why": error.to_string()})))
    }
}

fn unhex(text: &str) -> io::Result<Vec<u8>> {
    let digits: Vec<_> = text.chars().filter(|digit| !digit.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).map_err(io::Error::other))
        .collect()
}
