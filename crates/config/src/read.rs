//! The global settings file as one value: its settings, its servers in order, and what is odd about it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use patchbay_api::{InvalidServer, Revision, Scope};

use crate::{
    check,
    error::ConfigError,
    model::{ServerConfig, Transport},
    node::{Lines, Node, SyntaxError, Value, parse_toml},
    raw::{Problem, RawServer},
    settings::{Settings, unknown_keys},
};

/// An entry of `mcp.servers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A server that can be used.
    Valid(Arc<ServerConfig>),
    /// An entry that cannot, and why.
    Invalid(InvalidServer),
}

impl Entry {
    /// The server's name, where it has a readable one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Valid(server) => Some(server.id.name.as_str()),
            Self::Invalid(invalid) => invalid.name.as_deref(),
        }
    }
}

/// The settings file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSnapshot {
    /// The version of its content; the base of an edit.
    pub revision: Revision,
    /// The file.
    pub file: PathBuf,
    /// Everything but the servers.
    pub settings: Settings,
    /// The servers in the order of the file.
    pub servers: Vec<Entry>,
    /// What else is odd, such as unknown keys: one sentence each.
    pub warnings: Vec<String>,
}

impl ConfigSnapshot {
    /// Reads the bytes of a settings file.
    ///
    /// # Errors
    /// Where they are no TOML, or a key outside the servers has a value that it cannot have.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let text = utf8(file, bytes)?;
        let lines = Lines::new(file, text);
        let root = parse_toml(text).map_err(|error| syntax(&lines, error))?;
        Self::from_root(file, Revision::of(bytes), root, &lines)
    }

    /// Reads the root table of a settings file.
    pub(crate) fn from_root(
        file: &Path,
        revision: Revision,
        mut root: Node,
        lines: &Lines<'_>,
    ) -> Result<Self, ConfigError> {
        let settings = Settings::read(&root).map_err(|problem| wrong_value(lines, problem))?;
        let mut warnings: Vec<_> = unknown_keys(&root)
            .into_iter()
            .map(|(key, span)| {
                format!("{}: unknown key {key}; it is kept and has no effect", lines.place(span.start))
            })
            .collect();
        let mut names = HashMap::new();
        let entries = take_entries(&mut root, lines)?;
        let servers =
            entries.into_iter().map(|node| read_entry(node, lines, &mut names, &mut warnings)).collect();
        Ok(Self { revision, file: file.to_owned(), settings, servers, warnings })
    }

    /// Refuses a file with an invalid entry, naming the first one with its field and line (MCP-01).
    ///
    /// # Errors
    /// [`ConfigError::Entry`].
    pub fn strict(&self) -> Result<(), ConfigError> {
        for entry in &self.servers {
            if let Entry::Invalid(invalid) = entry {
                return Err(ConfigError::Entry(Box::new(invalid.clone())));
            }
        }
        Ok(())
    }

    /// The valid servers in the order of the file.
    pub fn valid(&self) -> impl Iterator<Item = &Arc<ServerConfig>> {
        self.servers.iter().filter_map(|entry| match entry {
            Entry::Valid(server) => Some(server),
            Entry::Invalid(_) => None,
        })
    }

    /// The valid server of this name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Arc<ServerConfig>> {
        self.valid().find(|server| server.id.name.as_str() == name)
    }
}

/// The bytes as text.
pub(crate) fn utf8<'b>(file: &Path, bytes: &'b [u8]) -> Result<&'b str, ConfigError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or("");
        ConfigError::Syntax {
            place: Lines::new(file, good).place(good.len()),
            reason: "the file is not UTF-8 text from here on".into(),
        }
    })
}

/// A parser's complaint with its place.
pub(crate) fn syntax(lines: &Lines<'_>, error: SyntaxError) -> ConfigError {
    ConfigError::Syntax { place: lines.place(error.offset), reason: error.reason }
}

fn wrong_value(lines: &Lines<'_>, problem: Problem) -> ConfigError {
    let key = problem.field.unwrap_or_default();
    let reason = problem.reason.strip_prefix(&format!("{key} ")).unwrap_or(&problem.reason).to_owned();
    ConfigError::Value { place: lines.place(problem.span.start), key, reason }
}

/// The entries of `mcp.servers`, which are gone from the table then.
fn take_entries(root: &mut Node, lines: &Lines<'_>) -> Result<Vec<Node>, ConfigError> {
    match root.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers")) {
        None => Ok(Vec::new()),
        Some(Node { value: Value::Array(entries), .. }) => Ok(std::mem::take(entries)),
        Some(node) => Err(ConfigError::Value {
            place: lines.place(node.span.start),
            key: "mcp.servers".into(),
            reason: format!(
                "must be a list, not {}: write [[mcp.servers]] and give each server a name",
                node.kind()
            ),
        }),
    }
}

/// Where the keys stand that say nothing about one kind of server: `headers`, `oauth`, `args`, `env`, `cwd`, `sandbox`.
type Misfits = [(&'static str, Option<usize>); 6];

fn read_entry(
    node: Node,
    lines: &Lines<'_>,
    names: &mut HashMap<String, usize>,
    warnings: &mut Vec<String>,
) -> Entry {
    let checked = RawServer::from_node(Scope::Global, node).and_then(|raw| {
        let at = raw.name.as_ref().map_or(raw.span.start, |name| name.span.start);
        let (odd, fits) = (unknown(&raw), misfits(&raw));
        ServerConfig::try_from(raw).map(|server| (server, odd, fits, at))
    });
    match checked {
        Ok((server, odd, fits, at)) => {
            let name = server.id.name.as_str();
            if let Some(first) = names.get(name) {
                let first = lines.line(*first);
                return Entry::Invalid(InvalidServer {
                    reason: format!("the name is used already, on line {first}"),
                    name: Some(name.to_owned()),
                    field: Some("name".into()),
                    hint: Some("Give each server a name of its own.".into()),
                    place: lines.place(at),
                });
            }
            names.insert(name.to_owned(), at);
            for (key, at) in odd {
                let place = lines.place(at);
                warnings.push(format!(
                    "{place}: unknown key {key} of server \"{name}\"; it is kept and has no effect"
                ));
            }
            let (useless, has) = match &server.transport {
                Transport::Stdio(_) => (&fits[..2], "a command"),
                Transport::Http(_) | Transport::Sse(_) => (&fits[2..], "a url"),
            };
            for (key, at) in useless.iter().filter_map(|(key, at)| Some((key, (*at)?))) {
                let place = lines.place(at);
                warnings.push(format!("{place}: {key} has no effect on server \"{name}\", which has {has}"));
            }
            Entry::Valid(Arc::new(server))
        }
        Err(problem) => Entry::Invalid(problem.into_invalid(lines)),
    }
}

/// Keys of an entry that mean nothing, and where they stand.
fn unknown(raw: &RawServer) -> Vec<(String, usize)> {
    let mut unknown: Vec<_> = raw.unknown.iter().map(|key| (key.name.clone(), key.span.start)).collect();
    for (table, node) in [("health_check", &raw.health_check), ("oauth", &raw.oauth)] {
        let members = node.as_ref().map(check::members).unwrap_or_default();
        let odd = members.iter().filter(|(key, _)| !check::known_member(table, &key.name));
        unknown.extend(odd.map(|(key, _)| (format!("{table}.{}", key.name), key.span.start)));
    }
    unknown
}

fn misfits(raw: &RawServer) -> Misfits {
    let at = |node: &Option<Node>| node.as_ref().map(|node| node.span.start);
    [
        ("headers", at(&raw.headers)),
        ("oauth", at(&raw.oauth)),
        ("args", at(&raw.args)),
        ("env", at(&raw.env)),
        ("cwd", at(&raw.cwd)),
        ("sandbox", at(&raw.sandbox)),
    ]
}
