//! A server's entry in the JSON files that other programs share: many spellings, one [`RawServer`].
//!
//! Two spellings of one thing that say different things make the entry invalid: nothing is guessed. What the values
//! may be is decided in `check`.

use patchbay_api::Scope;

use crate::node::{Key, Node, Span, Value};
use crate::raw::{Problem, RawServer};

/// Spellings of `type`, in small letters.
const TYPES: [(&str, &str); 8] = [
    ("http", "http"),
    ("streamable-http", "http"),
    ("streamablehttp", "http"),
    ("streamable_http", "http"),
    ("remote", "http"),
    ("sse", "sse"),
    ("stdio", "stdio"),
    ("local", "stdio"),
];

/// Spellings of `url`. Where `httpUrl` stands beside `url`, the latter is the old address of the same server.
const URLS: [&str; 4] = ["url", "httpUrl", "serverUrl", "serverURL"];

/// A key that is read otherwise than it may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub key: String,
    /// Completes "key …".
    pub says: String,
    pub at: usize,
}

/// Reads an entry by its spellings.
pub(super) fn read(name: &Key, node: &Node, scope: Scope) -> Result<(RawServer, Vec<Remark>), Problem> {
    let mut entry = Entry::new(scope, node);
    entry.raw.name = Some(Node { value: Value::String(name.name.clone()), span: name.span.clone() });
    let outcome = entry.members(node, "a server", "").and_then(|()| entry.settle());
    outcome.map_err(|problem| Problem { name: Some(name.name.clone()), ..problem })?;
    Ok((entry.raw, entry.remarks))
}

struct Entry {
    raw: RawServer,
    types: Vec<Node>,
    urls: Vec<(String, Node)>,
    enabled: Option<Node>,
    remarks: Vec<Remark>,
}

impl Entry {
    fn new(scope: Scope, node: &Node) -> Self {
        let raw = RawServer::empty(scope, node.span.clone());
        Self { raw, types: Vec::new(), urls: Vec::new(), enabled: None, remarks: Vec::new() }
    }

    /// Takes the members of the entry, or of its `transport`.
    fn members(&mut self, node: &Node, what: &str, inside: &str) -> Result<(), Problem> {
        let Value::Table(members) = &node.value else {
            return Err(problem(None, format!("{what} must be an object, not {}", node.kind()), &node.span));
        };
        for (key, value) in members {
            match key.name.as_str() {
                "transport" if inside.is_empty() && matches!(value.value, Value::Table(_)) => {
                    self.members(value, "transport", "transport.")?;
                }
                "type" | "transport" | "transportType" => self.types.push(spelled_type(key, value)?),
                url if URLS.contains(&url) => self.urls.push((key.name.clone(), value.clone())),
                "enabled" => self.enabled = Some(negated(value)?),
                "name" if inside.is_empty() => {
                    if self.raw.name.as_ref() != Some(value) {
                        let says = "is not read: the name is the key in front of the entry".to_owned();
                        self.remarks.push(Remark { key: "name".into(), says, at: key.span.start });
                    }
                }
                "autoApprove" | "alwaysAllow" => {
                    let says =
                        "is not taken from a project: only you decide what runs without asking".to_owned();
                    self.remarks.push(Remark { key: key.name.clone(), says, at: key.span.start });
                }
                "oauth" => self.put(key, oauth(value))?,
                known if self.raw.slot(&snake(known)).is_some() => {
                    let key = Key { name: snake(known), span: key.span.clone() };
                    self.put(&key, value.clone())?;
                }
                other => self.unknown(&format!("{inside}{other}"), key.span.start),
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &Key, value: Node) -> Result<(), Problem> {
        match self.raw.slot(&key.name) {
            Some(slot) if slot.as_ref().is_some_and(|before| *before != value) => {
                let reason = format!("{} stands in it twice, with different values", key.name);
                Err(problem(Some(&key.name), reason, &key.span))
            }
            Some(slot) => {
                *slot = Some(value);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn unknown(&mut self, key: &str, at: usize) {
        let says = match key {
            "timeout" => "is not read, as programs differ over its unit: write timeout_seconds",
            "trust" => "is not taken from a project: only you decide what is trusted",
            "envFile" => "is not read: name the variables under env",
            "includeTools" | "enabledTools" => "is not read: list the tools under tools",
            "excludeTools" | "disabledTools" => {
                "is not read: list the tools that may be used under tools, or write a deny rule"
            }
            _ => "is not known; it has no effect",
        };
        self.remarks.push(Remark { key: key.into(), says: says.into(), at });
    }

    /// Makes one of what came in several spellings.
    fn settle(&mut self) -> Result<(), Problem> {
        let mut types = std::mem::take(&mut self.types).into_iter();
        if let Some(first) = types.next() {
            if let Some(other) = types.find(|other| *other != first) {
                return Err(problem(Some("type"), "names two different types".into(), &other.span));
            }
            self.raw.transport = Some(first);
        }
        self.settle_url()?;
        if let Some(disabled) = self.enabled.take() {
            if self.raw.disabled.as_ref().is_some_and(|before| *before != disabled) {
                return Err(problem(
                    Some("enabled"),
                    "enabled and disabled contradict each other".into(),
                    &disabled.span,
                ));
            }
            self.raw.disabled = Some(disabled);
        }
        self.split_command()
    }

    fn settle_url(&mut self) -> Result<(), Problem> {
        let mut urls = std::mem::take(&mut self.urls);
        let only =
            |name: &str, urls: &[(String, Node)]| urls.len() == 2 && urls.iter().any(|(key, _)| key == name);
        if only("url", &urls) && only("httpUrl", &urls) && urls[0].1 != urls[1].1 {
            let at = urls.iter().find(|(key, _)| key == "url").map_or(0, |(_, node)| node.span.start);
            let says = "is not used: httpUrl stands beside it and comes first".to_owned();
            self.remarks.push(Remark { key: "url".into(), says, at });
            urls.retain(|(key, _)| key == "httpUrl");
        }
        let mut urls = urls.into_iter();
        let Some((first, node)) = urls.next() else {
            return Ok(());
        };
        if let Some((other, at)) = urls.find(|(_, other)| *other != node) {
            return Err(problem(
                Some(&other),
                format!("{first} and {other} name two different addresses"),
                &at.span,
            ));
        }
        self.raw.url = Some(node);
        Ok(())
    }

    /// A command as a list is the program and its arguments.
    fn split_command(&mut self) -> Result<(), Problem> {
        let Some(Node { value: Value::Array(items), span }) = &self.raw.command else {
            return Ok(());
        };
        let (items, span) = (items.clone(), span.clone());
        if self.raw.args.as_ref().is_some_and(|args| args.value != Value::Array(Vec::new())) {
            let reason =
                "command is a list and args is there too: it is unclear which arguments are meant".into();
            return Err(problem(Some("command"), reason, &span));
        }
        if let Some(wrong) = items.iter().position(|item| item.as_str().is_none()) {
            let reason = format!("command[{wrong}] must be text in quotes, not {}", items[wrong].kind());
            return Err(problem(Some(&format!("command[{wrong}]")), reason, &items[wrong].span));
        }
        let mut items = items.into_iter();
        let Some(program) = items.next() else {
            return Err(problem(Some("command"), "command is an empty list".into(), &span));
        };
        self.raw.command = Some(program);
        self.raw.args = Some(Node { value: Value::Array(items.collect()), span });
        Ok(())
    }
}

fn spelled_type(key: &Key, node: &Node) -> Result<Node, Problem> {
    let Some(text) = node.as_str() else {
        let reason = format!("{} must be text in quotes, not {}", key.name, node.kind());
        return Err(problem(Some(&key.name), reason, &node.span));
    };
    let small = text.to_ascii_lowercase();
    let word = TYPES.iter().find(|(spelling, _)| *spelling == small).map_or(text, |(_, word)| word);
    Ok(Node { value: Value::String(word.to_owned()), span: node.span.clone() })
}

/// `enabled` as `disabled`.
fn negated(node: &Node) -> Result<Node, Problem> {
    match node.value {
        Value::Bool(on) => Ok(Node { value: Value::Bool(!on), span: node.span.clone() }),
        _ => {
            let reason = format!("enabled must be true or false without quotes, not {}", node.kind());
            Err(problem(Some("enabled"), reason, &node.span))
        }
    }
}

fn oauth(node: &Node) -> Node {
    let Value::Table(members) = &node.value else {
        return node.clone();
    };
    let named =
        |(key, value): &(Key, Node)| (Key { name: snake(&key.name), span: key.span.clone() }, value.clone());
    Node { value: Value::Table(members.iter().map(named).collect()), span: node.span.clone() }
}

/// A key in the spelling of the settings: `timeoutSeconds` is `timeout_seconds`.
fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for char in key.chars() {
        if char.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

fn problem(field: Option<&str>, reason: String, span: &Span) -> Problem {
    Problem { name: None, field: field.map(Into::into), reason, hint: None, span: span.clone() }
}
