//! One of a project's files: its servers, its policy, and what is odd about it.
//!
//! Every text that comes from the file and goes into a message is shown with what cannot be seen written out, and
//! cut: the file may be hostile, the message may go to a terminal.

use std::path::Path;
use std::sync::Arc;

use patchbay_api::{BrokenFile, InvalidServer, Place, Scope};

use super::entry::{self, Remark};
use super::policy::{self, Loosening, Tightening};
use crate::check;
use crate::error::ConfigError;
use crate::jsonc;
use crate::model::ServerConfig;
use crate::node::{Key, Lines, Node, Value, parse_toml};
use crate::raw::{Problem, RawServer};
use crate::read::{syntax, utf8};
use crate::trust::visible;

/// Most servers that one file may name.
const MAX_SERVERS: usize = 500;

/// Most remarks that are kept of one file.
const MAX_WARNINGS: usize = 200;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// As the global settings.
    Toml,
    /// `{"mcpServers": {name: {…}}}`, with comments.
    Json,
}

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub(super) struct FileContent {
    pub entries: Vec<Entry>,
    pub warnings: Vec<String>,
    pub tightening: Tightening,
    pub loosening: Loosening,
}

/// An entry of a file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The name, where there is a readable one.
    pub name: Option<String>,
    pub place: Place,
    /// Whether it asks to run outside the sandbox; it does not.
    pub asks_unsandboxed: bool,
    pub server: Result<Arc<ServerConfig>, InvalidServer>,
}

/// Reads a file's bytes.
///
/// # Errors
/// Where it does not parse or says something that cannot be: nothing is taken from it then.
pub(super) fn parse(
    file: &Path,
    format: Format,
    bytes: &[u8],
    scope: &Scope,
) -> Result<FileContent, BrokenFile> {
    let text = utf8(file, bytes).map_err(|error| broken(file, &error))?;
    let lines = Lines::new(file, text);
    let mut reader = Reader { scope, lines: &lines, content: FileContent::default(), unsaid: 0 };
    match format {
        Format::Toml => reader.toml(text)?,
        Format::Json => reader.json(text)?,
    }
    if reader.unsaid > 0 {
        let more = format!("{}: and {} more remarks like these", file.display(), reader.unsaid);
        reader.content.warnings.push(more);
    }
    Ok(reader.content)
}

fn broken(file: &Path, error: &ConfigError) -> BrokenFile {
    let whole = || Place { file: file.display().to_string(), line: None, column: None };
    let api = error.to_api();
    BrokenFile { reason: shown(&api.message), place: api.place.unwrap_or_else(whole) }
}

/// Text of a file in a message.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text),
    }
}

struct Reader<'r> {
    scope: &'r Scope,
    lines: &'r Lines<'r>,
    content: FileContent,
    /// Remarks beyond those that are kept.
    unsaid: usize,
}

impl Reader<'_> {
    fn toml(&mut self, text: &str) -> Result<(), BrokenFile> {
        let root = parse_toml(text).map_err(|error| self.broken(&syntax(self.lines, error)))?;
        let (tightening, loosening, remarks) = policy::read(&root).map_err(|problem| self.wrong(&problem))?;
        self.content.tightening = tightening;
        self.content.loosening = loosening;
        self.remark(None, remarks);
        for (key, span) in crate::settings::unknown_keys(&root) {
            self.remark(
                None,
                vec![Remark { key, says: "is not known; it has no effect".into(), at: span.start }],
            );
        }
        let Some(servers) = root.get("mcp").and_then(|mcp| mcp.get("servers")) else {
            return Ok(());
        };
        let Value::Array(entries) = &servers.value else {
            let reason = format!("mcp.servers must be a list, not {}: write [[mcp.servers]]", servers.kind());
            return Err(self.refuse(reason, servers.span.start));
        };
        self.bounded(entries.len(), servers.span.start)?;
        for node in entries {
            let read = RawServer::from_node(self.scope.clone(), node.clone()).map(|raw| (raw, Vec::new()));
            self.entry(read, node);
        }
        Ok(())
    }

    fn json(&mut self, text: &str) -> Result<(), BrokenFile> {
        // A file that was just created holds nothing yet.
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Ok(());
        }
        let json = jsonc::parse(text).map_err(|error| self.broken(&syntax(self.lines, error)))?;
        let Value::Table(members) = &json.root.value else {
            return Err(
                self.refuse(format!("must be an object, not {}", json.root.kind()), json.root.span.start)
            );
        };
        let mut found = false;
        for (key, value) in members {
            match key.name.as_str() {
                "mcpServers" if found => {
                    return Err(self.refuse("mcpServers stands in it twice".into(), key.span.start));
                }
                "mcpServers" => {
                    found = true;
                    self.json_servers(value, &json.repeated)?;
                }
                "servers" if !members.iter().any(|(key, _)| key.name == "mcpServers") => {
                    let says = "is VS Code's key: here the servers stand under mcpServers".to_owned();
                    self.remark(None, vec![Remark { key: "servers".into(), says, at: key.span.start }]);
                }
                "$schema" => {}
                other => {
                    let says = "is not known; it has no effect".to_owned();
                    self.remark(None, vec![Remark { key: other.into(), says, at: key.span.start }]);
                }
            }
        }
        Ok(())
    }

    fn json_servers(&mut self, servers: &Node, repeated: &[Key]) -> Result<(), BrokenFile> {
        let Value::Table(entries) = &servers.value else {
            let reason = format!("mcpServers must be an object, not {}", servers.kind());
            return Err(self.refuse(reason, servers.span.start));
        };
        self.bounded(entries.len(), servers.span.start)?;
        for (name, node) in entries {
            let read = match repeated.iter().find(|key| node.span.contains(&key.span.start)) {
                // Readers differ over which of the two counts: what is shown might not be what runs.
                Some(key) => Err(Problem {
                    name: Some(name.name.clone()),
                    field: Some(key.name.clone()),
                    reason: format!("{} stands in it twice", key.name),
                    hint: Some("Delete one of the two.".into()),
                    span: key.span.clone(),
                }),
                None => entry::read(name, node, self.scope.clone()),
            };
            self.entry(read, node);
        }
        Ok(())
    }

    /// Takes an entry in, less what a project has no say in.
    fn entry(&mut self, read: Result<(RawServer, Vec<Remark>), Problem>, node: &Node) {
        let mut asks_unsandboxed = false;
        let mut at = node.span.start;
        let checked = read.and_then(|(mut raw, mut remarks)| {
            at = raw.name.as_ref().map_or(at, |name| name.span.start);
            asks_unsandboxed = refuse_privileges(&mut raw, &mut remarks);
            unknown(&raw, &mut remarks);
            let name = raw.name.as_ref().and_then(Node::as_str).unwrap_or_default().to_owned();
            let server = ServerConfig::try_from(raw)?;
            self.remark(Some(&name), remarks);
            for warning in server.warnings() {
                self.warn(Some(&name), at, || shown(&warning.to_string()));
            }
            Ok(server)
        });
        let entry = match checked {
            Ok(server) => Entry {
                name: Some(server.id.name.as_str().to_owned()),
                place: self.lines.place(at),
                asks_unsandboxed,
                server: Ok(Arc::new(server)),
            },
            Err(problem) => {
                let name = problem.name.clone();
                let invalid = harmless(problem.into_invalid(self.lines));
                Entry { name, place: invalid.place.clone(), asks_unsandboxed, server: Err(invalid) }
            }
        };
        self.content.entries.push(entry);
    }

    fn remark(&mut self, server: Option<&str>, remarks: Vec<Remark>) {
        for Remark { key, says, at } in remarks {
            self.warn(server, at, || format!("{} {says}", shown(&key)));
        }
    }

    /// Keeps a warning. Finding its place costs a walk over its line, so what is not kept is only counted.
    fn warn(&mut self, server: Option<&str>, at: usize, says: impl FnOnce() -> String) {
        if self.content.warnings.len() >= MAX_WARNINGS {
            self.unsaid += 1;
            return;
        }
        let place = self.lines.place(at);
        let of = server.map_or_else(String::new, |name| format!("server \"{}\": ", shown(name)));
        self.content.warnings.push(format!("{place}: {of}{}", says()));
    }

    fn bounded(&self, count: usize, at: usize) -> Result<(), BrokenFile> {
        if count <= MAX_SERVERS {
            return Ok(());
        }
        Err(self.refuse(format!("names {count} servers; at most {MAX_SERVERS} are read"), at))
    }

    fn refuse(&self, reason: String, at: usize) -> BrokenFile {
        BrokenFile { reason, place: self.lines.place(at) }
    }

    fn wrong(&self, problem: &Problem) -> BrokenFile {
        self.refuse(shown(&problem.reason), problem.span.start)
    }

    fn broken(&self, error: &ConfigError) -> BrokenFile {
        let api = error.to_api();
        BrokenFile { reason: shown(&api.message), place: api.place.unwrap_or_else(|| self.lines.place(0)) }
    }
}

/// Takes out what only the user can grant. Whether the entry asks to run outside the sandbox.
fn refuse_privileges(raw: &mut RawServer, remarks: &mut Vec<Remark>) -> bool {
    let mut refuse = |key: &str, node: Option<Node>, says: &str| {
        if let Some(node) = node {
            remarks.push(Remark { key: key.into(), says: says.into(), at: node.span.start });
        }
    };
    refuse(
        "auto_approve",
        raw.auto_approve.take(),
        "is not taken from a project: only you decide what runs without asking",
    );
    refuse("always_allow", raw.always_allow.take(), "is not taken from a project; it grants nothing");
    let off = raw.sandbox.take_if(|node| node.value == Value::Bool(false));
    let asks_unsandboxed = off.is_some();
    refuse("sandbox", off, "= false is not taken from a project: the server stays in the sandbox");
    asks_unsandboxed
}

/// Names the keys of an entry that mean nothing.
fn unknown(raw: &RawServer, remarks: &mut Vec<Remark>) {
    let says = || "is not known; it has no effect".to_owned();
    for key in &raw.unknown {
        remarks.push(Remark { key: key.name.clone(), says: says(), at: key.span.start });
    }
    for (table, node) in [("health_check", &raw.health_check), ("oauth", &raw.oauth)] {
        for (key, _) in node.as_ref().map(check::members).unwrap_or_default() {
            if !check::known_member(table, &key.name) {
                remarks.push(Remark {
                    key: format!("{table}.{}", key.name),
                    says: says(),
                    at: key.span.start,
                });
            }
        }
    }
}

/// An invalid entry whose texts can be shown anywhere.
fn harmless(invalid: InvalidServer) -> InvalidServer {
    let InvalidServer { name, field, reason, hint, place } = invalid;
    let each = |text: Option<String>| text.as_deref().map(shown);
    InvalidServer { name: each(name), field: each(field), reason: shown(&reason), hint, place }
}
