//! What a relay remembers of its agent, so that another owner can take over: the handshake and the requests that have
//! no answer yet. Pure; the streams are `relay`'s.
//!
//! The owner's side asks nothing of an agent, so only the agent's requests are remembered.

use std::collections::HashMap;

use patchbay_wire::{Id, Message, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer;

/// JSON-RPC: the other side failed.
const INTERNAL_ERROR: i64 = -32603;

/// Requests that change nothing: another owner is asked again instead of failing them.
const REPEATABLE: [&str; 3] = ["initialize", "ping", "tools/list"];

/// One agent's session over any number of owners.
#[derive(Debug, Default)]
pub struct Session {
    handshake: Option<Handshake>,
    /// The agent's line that ends the handshake.
    initialized: Option<Vec<u8>>,
    running: HashMap<Id, Running>,
    requests: u64,
    /// Set while a new owner shakes hands: its answer is not for the agent.
    resuming: bool,
}

#[derive(Debug)]
struct Handshake {
    id: Id,
    line: Vec<u8>,
    answered: bool,
}

/// A request without an answer.
#[derive(Debug)]
struct Running {
    /// Its place in the order of all requests.
    number: u64,
    id: Box<RawValue>,
    method: String,
    /// The line, where the request can be made again.
    line: Option<Vec<u8>>,
}

/// What to do with a line of the owner.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Hand it to the agent.
    Forward,
    /// It answers the repeated handshake; the session goes on, or cannot because of this.
    Resumed(Result<(), String>),
}

impl Session {
    /// Takes note of a line from the agent, which is then handed on as it is.
    pub fn agent_said(&mut self, line: &[u8]) {
        match patchbay_wire::decode(line) {
            Ok(Message::Request { id, method, .. }) => {
                let Some(key) = Id::exact(id) else { return };
                if method == "initialize" {
                    self.handshake =
                        Some(Handshake { id: key.clone(), line: line.to_owned(), answered: false });
                    self.initialized = None;
                }
                let again = REPEATABLE.contains(&method.as_ref()).then(|| line.to_owned());
                self.requests += 1;
                let (number, method) = (self.requests, method.into_owned());
                self.running.insert(key, Running { number, id: id.to_owned(), method, line: again });
            }
            Ok(Message::Notification { method, params }) => match method.as_ref() {
                "notifications/initialized" => self.initialized = Some(line.to_owned()),
                // A cancelled request gets no answer.
                "notifications/cancelled" => _ = cancelled(params).and_then(|id| self.running.remove(&id)),
                _ => {}
            },
            Ok(Message::Response { .. }) | Err(_) => {}
        }
    }

    /// Takes note of a line from the owner.
    pub fn owner_said(&mut self, line: &[u8]) -> Verdict {
        let Some(id) = answer::answered(line) else { return Verdict::Forward };
        if let Some(handshake) = self.handshake.as_mut().filter(|handshake| handshake.id == id) {
            if self.resuming && handshake.answered {
                self.resuming = false;
                return Verdict::Resumed(answer::error(line).map_or(Ok(()), Err));
            }
            handshake.answered = true;
        }
        self.running.remove(&id);
        Verdict::Forward
    }

    /// The owner has gone. The answers that the agent gets for the requests that died with it.
    pub fn lost(&mut self) -> Vec<u8> {
        let mut answers = Vec::new();
        self.running.retain(|_, request| {
            if request.line.is_some() {
                return true;
            }
            let message = format!(
                "{} has no answer: the running Patchbay has ended. Whether it took effect is not known. Next step: try again",
                request.method
            );
            answers.extend(patchbay_wire::error(Some(&request.id), &RpcError::new(INTERNAL_ERROR, message)));
            false
        });
        answers
    }

    /// What a new owner is told first. While [`Session::resuming`], nothing else may be sent to it.
    pub fn greeting(&mut self) -> Vec<u8> {
        let Some(handshake) = &self.handshake else { return Vec::new() };
        if !handshake.answered {
            return Vec::new();
        }
        self.resuming = true;
        ended(&handshake.line)
    }

    /// Whether a new owner still owes its answer to the greeting.
    pub fn resuming(&self) -> bool {
        self.resuming
    }

    /// What a new owner is told once it has shaken hands: the end of the handshake, and the requests to make again.
    pub fn rest(&self) -> Vec<u8> {
        let mut again: Vec<&Running> = self.running.values().collect();
        again.sort_by_key(|request| request.number);
        let (handshake, others): (Vec<_>, Vec<_>) =
            again.into_iter().partition(|request| request.method == "initialize");
        let lines = |requests: Vec<&Running>| {
            requests.into_iter().filter_map(|request| request.line.clone()).collect()
        };
        let mut all: Vec<Vec<u8>> = lines(handshake);
        all.extend(self.initialized.clone());
        all.extend::<Vec<Vec<u8>>>(lines(others));
        all.iter().flat_map(|line| ended(line)).collect()
    }

    /// What the agent is told when a new owner has taken over: its list of tools may be another.
    pub fn news(&self) -> Vec<u8> {
        match self.initialized {
            Some(_) => patchbay_wire::notification("notifications/tools/list_changed", None),
            None => Vec::new(),
        }
    }
}

fn ended(line: &[u8]) -> Vec<u8> {
    [line, b"\n"].concat()
}

fn cancelled(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let cancelled: Cancelled<'_> = serde_json::from_str(params?.get()).ok()?;
    Id::exact(cancelled.request_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZE: &str =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

    fn agent(session: &mut Session, lines: &[&str]) {
        lines.iter().for_each(|line| session.agent_said(line.as_bytes()));
    }

    fn owner(session: &mut Session, line: &str) -> Verdict {
        session.owner_said(line.as_bytes())
    }

    fn result(id: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
    }

    fn call(id: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x"}}}}"#)
    }

    /// A session whose handshake is over.
    fn open() -> Session {
        let mut session = Session::default();
        agent(&mut session, &[INITIALIZE]);
        assert_eq!(owner(&mut session, &result("0")), Verdict::Forward);
        agent(&mut session, &[INITIALIZED]);
        session
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn calls_that_run_when_the_owner_goes_fail_each_once_and_answered_ones_do_not() {
        let mut session = open();
        agent(&mut session, &[&call("1"), &call(r#""two""#), &call("3"), &call("4")]);
        owner(&mut session, &result("1"));
        agent(
            &mut session,
            &[r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#],
        );
        let answers = text(session.lost());
        let mut ids: Vec<String> = answers
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|answer| {
                assert_eq!(answer["error"]["code"], INTERNAL_ERROR);
                assert!(
                    answer["error"]["message"].as_str().unwrap().contains("tools/call has no answer"),
                    "{answer}"
                );
                answer["id"].to_string()
            })
            .collect();
        ids.sort();
        assert_eq!(ids, [r#""two""#, "4"]);
        assert_eq!(text(session.lost()), "");
    }

    #[test]
    fn a_new_owner_gets_the_handshake_and_its_answer_stays_here() {
        let mut session = open();
        session.lost();
        assert_eq!(text(session.greeting()), format!("{INITIALIZE}\n"));
        assert!(session.resuming());
        assert_eq!(
            owner(&mut session, r#"{"jsonrpc":"2.0","method":"notifications/message"}"#),
            Verdict::Forward
        );
        assert_eq!(owner(&mut session, &result("0")), Verdict::Resumed(Ok(())));
        assert!(!session.resuming());
        assert_eq!(text(session.rest()), format!("{INITIALIZED}\n"));
        assert!(text(session.news()).contains("list_changed"));
        // An agent may use the handshake's id again.
        agent(&mut session, &[&call("0")]);
        assert_eq!(owner(&mut session, &result("0")), Verdict::Forward);
        assert_eq!(text(session.lost()), "");
    }

    #[test]
    fn a_new_owner_that_refuses_the_handshake_is_told_apart() {
        let mut session = open();
        session.greeting();
        let verdict =
            owner(&mut session, r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}"#);
        assert_eq!(verdict, Verdict::Resumed(Err("no".into())));
    }

    #[test]
    fn requests_that_change_nothing_are_made_again_instead_of_failing() {
        let mut session = open();
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        agent(&mut session, &[list, &call("2")]);
        assert!(!text(session.lost()).contains("tools/list"));
        session.greeting();
        owner(&mut session, &result("0"));
        assert_eq!(text(session.rest()), format!("{INITIALIZED}\n{list}\n"));
        assert_eq!(owner(&mut session, &result("1")), Verdict::Forward);
        assert_eq!(text(session.rest()), format!("{INITIALIZED}\n"));
    }

    #[test]
    fn a_handshake_without_an_answer_is_made_again_and_its_answer_is_the_agents() {
        let mut session = Session::default();
        agent(&mut session, &[INITIALIZE]);
        assert_eq!(text(session.lost()), "");
        assert_eq!(text(session.greeting()), "");
        assert_eq!(text(session.rest()), format!("{INITIALIZE}\n"));
        assert_eq!(owner(&mut session, &result("0")), Verdict::Forward);
        assert_eq!(text(session.news()), "");
    }

    #[test]
    fn what_an_impatient_agent_sent_at_once_is_made_again_in_its_order() {
        let mut session = Session::default();
        let lists: Vec<String> =
            (1..6).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)).collect();
        agent(&mut session, &[INITIALIZE]);
        lists[..3].iter().for_each(|list| agent(&mut session, &[list]));
        agent(&mut session, &[INITIALIZED]);
        lists[3..].iter().for_each(|list| agent(&mut session, &[list]));
        session.lost();
        let expected: Vec<&str> =
            [INITIALIZE, INITIALIZED].into_iter().chain(lists.iter().map(String::as_str)).collect();
        assert_eq!(text(session.rest()).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_agent_without_a_handshake_needs_none_at_a_new_owner() {
        let mut session = Session::default();
        agent(&mut session, &[&call("1"), "noise", "[]"]);
        assert!(text(session.lost()).contains(r#""id":1"#));
        assert_eq!(text(session.greeting()), "");
        assert!(!session.resuming());
        assert_eq!(text(session.rest()), "");
    }
}
