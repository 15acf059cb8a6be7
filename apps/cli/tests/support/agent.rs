//! An agent at the other end of `patchbay connect`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::{PATIENCE, Place, send_signal, wait_for};

/// A running `connect` and its streams.
pub struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    errors: Receiver<String>,
}

impl Agent {
    /// Starts it.
    pub fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place.command(&[&["connect"], args].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let line = line.unwrap();
                // Whatever is no protocol fails the test by the missing value.
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "noise": line }));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let (sender, errors) = channel();
        let output = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let input = child.stdin.take();
        Self { child, input, lines, errors }
    }

    /// Starts it and shakes hands.
    pub fn open(place: &Place, args: &[&str]) -> Self {
        let mut agent = Self::start(place, args);
        agent.shake_hands();
        agent
    }

    pub fn shake_hands(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask(0, "initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn request(&mut self, id: u32, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// The next line from it.
    pub fn next(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("nothing came: {error}"))
    }

    /// The answer to this id; notifications before it are passed over, other answers are not.
    pub fn answer(&self, id: u32) -> Value {
        loop {
            let message = self.next();
            if message["method"].is_string() {
                continue;
            }
            assert_eq!(message["id"], id, "{message}");
            return message;
        }
    }

    pub fn ask(&mut self, id: u32, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        self.answer(id)
    }

    /// The names of the tools that it is offered.
    pub fn tools(&mut self, id: u32) -> Vec<String> {
        let answer = self.ask(id, "tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for a line of standard error that holds this.
    pub fn wait_for_words(&self, words: &str) {
        loop {
            let line =
                self.errors.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("`{words}` was not said"));
            if line.contains(words) {
                return;
            }
        }
    }

    /// Closes its input and waits for its end; gives the exit code, and fails if a line was left over.
    pub fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        let code = self.code();
        let left: Vec<_> = self.lines.iter().filter(|line| line["method"].is_null()).collect();
        assert!(left.is_empty(), "lines that nobody asked for: {left:?}");
        code
    }

    /// Sends a signal and waits for its end.
    pub fn signal(mut self, signal: &str) -> Option<i32> {
        send_signal(signal, self.child.id());
        self.code()
    }

    /// Waits for its end.
    pub fn code(&mut self) -> Option<i32> {
        wait_for("the end of connect", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
