//! A scripted MCP server over streamable HTTP that can misbehave on purpose, and writes down every request.
//!
//! `fake_http --script FILE`. Its record's `start` event names its port. It ends with its standard input, so that it
//! never outlives a test. `script` says what a script may say; the library's `fixture` holds what it shares with
//! `fake_server`.

mod request;
mod script;

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{self, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use patchbay_tests::fixture::{reactions::Reactions, record::Record};
use request::Request;
use script::{Action, Script};
use serde_json::{Value, json};

const SESSION: &str = "mcp-session-id";

struct Server {
    script: Script,
    reactions: Reactions<Action>,
    record: Record,
    /// The sessions given out and not ended, and how many there ever were.
    sessions: Mutex<(Vec<String>, u32)>,
}

/// Whether the connection can take another request.
#[derive(PartialEq, Eq)]
enum After {
    Open,
    /// A response is under way that ends with the connection.
    Streaming,
    Closed,
}

fn main() -> io::Result<()> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let [flag, file, ..] = args.as_slice() else {
        return Err(io::Error::other("fake_http --script FILE"));
    };
    if flag != "--script" {
        return Err(io::Error::other("fake_http --script FILE"));
    }
    let mut script: Script =
        serde_json::from_str(&std::fs::read_to_string(file)?).map_err(io::Error::other)?;
    let record = Record(script.record.clone());
    let reactions = Reactions::new(&mut script.on, &mut script.runs, record.count("start"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, script.port))?;
    record.add("start", json!({"port": listener.local_addr()?.port()}))?;
    let server = Arc::new(Server { script, reactions, record, sessions: Mutex::default() });
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&server);
            // A connection that breaks is the client's business.
            thread::spawn(move || server.serve(stream));
        }
    });
    io::stdin().lock().read_to_end(&mut Vec::new()).map(drop)
}

impl Server {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut input = BufReader::new(stream.try_clone()?);
        while let Some(request) = Request::read(&mut input)? {
            let message = request.message();
            self.record.add(
                "request",
                json!({"method": request.method, "path": request.path, "headers": request.headers, "message": message}),
            )?;
            if self.answer(&mut stream, &request, &message)? != After::Open {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, stream: &mut TcpStream, request: &Request, message: &Value) -> io::Result<After> {
        let scripted = match request.method.as_str() {
            "POST" => self.reactions.for_message(message).or_else(|| self.reactions.next("POST")),
            method => self.reactions.next(method),
        };
        let Some(actions) = scripted else {
            return self.behave(stream, request, message);
        };
        let mut after = After::Open;
        for action in &actions {
            after = self.act(action, stream, request, message, after)?;
            if after == After::Closed {
                break;
            }
        }
        Ok(after)
    }

    fn act(
        &self,
        action: &Action,
        stream: &mut TcpStream,
        request: &Request,
        message: &Value,
        after: After,
    ) -> io::Result<After> {
        let filled = |text: &str| text.replace("{id}", &message["id"].to_string());
        let reply = || self.script.answers.to(message).unwrap_or_default().to_string();
        match action {
            Action::Reply => return self.behave(stream, request, message),
            Action::ReplySse => {
                let headers = self.headers(message, "text/event-stream");
                respond(stream, 200, &headers, &format!("event: message\ndata: {}\n\n", reply()))?;
            }
            Action::Respond { status, headers, body } => respond(stream, *status, headers, &filled(body))?,
            Action::Begin { status, headers } => {
                head(stream, *status, headers, "connection: close\r\n")?;
                return Ok(After::Streaming);
            }
            Action::Write(text) => stream.write_all(filled(text).as_bytes())?,
            Action::WriteReply => stream.write_all(reply().as_bytes())?,
            Action::WaitFile(path) => {
                while !path.exists() {
                    thread::sleep(Duration::from_millis(2));
                }
            }
            Action::Touch(path) => drop(OpenOptions::new().create(true).append(true).open(path)?),
            Action::SleepMs(time) => thread::sleep(Duration::from_millis(*time)),
            Action::ForgetSessions => self.sessions().0.clear(),
            Action::Close => return Ok(After::Closed),
            // The process ends with its input at the latest.
            Action::Hang => thread::sleep(Duration::MAX),
            Action::Exit(code) => std::process::exit(*code),
        }
        Ok(after)
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, (Vec<String>, u32)> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Headers of a good answer; the one to `initialize` gives out a session.
    fn headers(&self, message: &Value, content: &str) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::from([("content-type".to_owned(), content.to_owned())]);
        if self.script.sessions && message["method"] == "initialize" {
            let mut sessions = self.sessions();
            sessions.1 += 1;
            let id = format!("session-{}", sessions.1);
            sessions.0.push(id.clone());
            headers.insert(SESSION.to_owned(), id);
        }
        headers
    }

    /// What a well-behaved server does: JSON to requests, 202 to the rest, no stream of its own.
    fn behave(&self, stream: &mut TcpStream, request: &Request, message: &Value) -> io::Result<After> {
        let none = BTreeMap::new();
        let session = request.headers.get(SESSION);
        let known = !self.script.sessions
            || message["method"] == "initialize"
            || session.is_some_and(|session| self.sessions().0.contains(session));
        match (request.method.as_str(), known) {
            (_, false) => respond(stream, 404, &none, "session not found")?,
            ("POST", true) => match self.script.answers.to(message) {
                Some(answer) => {
                    respond(stream, 200, &self.headers(message, "application/json"), &answer.to_string())?
                }
                None => respond(stream, 202, &none, "")?,
            },
            ("DELETE", true) => {
                self.sessions().0.retain(|known| Some(known) != session);
                respond(stream, 200, &none, "")?;
            }
            _ => respond(stream, 405, &none, "")?,
        }
        Ok(After::Open)
    }
}

fn respond(
    stream: &mut TcpStream,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: &str,
) -> io::Result<()> {
    head(stream, status, headers, &format!("content-length: {}\r\n", body.len()))?;
    stream.write_all(body.as_bytes())
}

fn head(
    stream: &mut TcpStream,
    status: u16,
    headers: &BTreeMap<String, String>,
    more: &str,
) -> io::Result<()> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    stream.write_all(format!("HTTP/1.1 {status} -\r\n{headers}{more}\r\n").as_bytes())
}
