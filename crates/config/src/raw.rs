//! A server's entry as a file holds it: its keys told apart, its values not looked at yet.
//! `check` turns it into a [`crate::ServerConfig`].

use patchbay_api::{InvalidServer, Scope};

use crate::node::{Key, Lines, Node, Span, Value};

/// One entry, tolerant: every key may be missing or hold anything.
#[derive(Debug, Clone)]
pub struct RawServer {
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub span: Span,
    /// `name`
    pub name: Option<Node>,
    /// `command`
    pub command: Option<Node>,
    /// `args`
    pub args: Option<Node>,
    /// `env`
    pub env: Option<Node>,
    /// `cwd`
    pub cwd: Option<Node>,
    /// `url`
    pub url: Option<Node>,
    /// `type`
    pub transport: Option<Node>,
    /// `headers`
    pub headers: Option<Node>,
    /// `tools`
    pub tools: Option<Node>,
    /// `auto_approve`
    pub auto_approve: Option<Node>,
    /// `sandbox`
    pub sandbox: Option<Node>,
    /// `prefix`
    pub prefix: Option<Node>,
    /// `agents`
    pub agents: Option<Node>,
    /// `timeout_seconds`
    pub timeout_seconds: Option<Node>,
    /// `max_seconds`
    pub max_seconds: Option<Node>,
    /// `disabled`
    pub disabled: Option<Node>,
    /// `health_check`
    pub health_check: Option<Node>,
    /// `oauth`
    pub oauth: Option<Node>,
    /// `always_allow`
    pub always_allow: Option<Node>,
    /// Keys that mean nothing here.
    pub unknown: Vec<Key>,
}

/// What is wrong with an entry, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The server's name, where it has a readable one.
    pub name: Option<String>,
    /// The key that is wrong, such as `env.PORT`.
    pub field: Option<String>,
    /// Why, as a sentence without a full stop.
    pub reason: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Where it stands.
    pub span: Span,
}

impl Problem {
    /// The problem as guests see it.
    #[must_use]
    pub fn into_invalid(self, lines: &Lines<'_>) -> InvalidServer {
        let Self { name, field, reason, hint, span } = self;
        InvalidServer { name, field, reason, hint, place: lines.place(span.start) }
    }
}

impl RawServer {
    /// An entry without a key.
    #[must_use]
    pub fn empty(scope: Scope, span: Span) -> Self {
        Self {
            scope,
            span,
            name: None,
            command: None,
            args: None,
            env: None,
            cwd: None,
            url: None,
            transport: None,
            headers: None,
            tools: None,
            auto_approve: None,
            sandbox: None,
            prefix: None,
            agents: None,
            timeout_seconds: None,
            max_seconds: None,
            disabled: None,
            health_check: None,
            oauth: None,
            always_allow: None,
            unknown: Vec::new(),
        }
    }

    /// Tells the keys of an entry apart.
    ///
    /// # Errors
    /// Where the entry is no table.
    pub fn from_node(scope: Scope, node: Node) -> Result<Self, Problem> {
        let mut raw = Self::empty(scope, node.span.clone());
        let Value::Table(members) = node.value else {
            return Err(Problem {
                name: None,
                field: None,
                reason: format!("a server must be a table, not {}", node.kind()),
                hint: Some("Write [[mcp.servers]] above the server's keys.".into()),
                span: node.span,
            });
        };
        for (key, value) in members {
            match raw.slot(&key.name) {
                Some(slot) => *slot = Some(value),
                None => raw.unknown.push(key),
            }
        }
        Ok(raw)
    }

    /// The place of a key by its name in the file.
    pub(crate) fn slot(&mut self, key: &str) -> Option<&mut Option<Node>> {
        Some(match key {
            "name" => &mut self.name,
            "command" => &mut self.command,
            "args" => &mut self.args,
            "env" => &mut self.env,
            "cwd" => &mut self.cwd,
            "url" => &mut self.url,
            "type" => &mut self.transport,
            "headers" => &mut self.headers,
            "tools" => &mut self.tools,
            "auto_approve" => &mut self.auto_approve,
            "sandbox" => &mut self.sandbox,
            "prefix" => &mut self.prefix,
            "agents" => &mut self.agents,
            "timeout_seconds" => &mut self.timeout_seconds,
            "max_seconds" => &mut self.max_seconds,
            "disabled" => &mut self.disabled,
            "health_check" => &mut self.health_check,
            "oauth" => &mut self.oauth,
            "always_allow" => &mut self.always_allow,
            _ => return None,
        })
    }
}
