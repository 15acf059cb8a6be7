//! Edits of the settings file, judged by bytes: what an edit is not about keeps every one of them.
//!
//! `locate` finds the spelling of servers and keys, `layout` and `list` know lines and brackets, `plan` tells which
//! keys change, `verify` reads the result afresh. Files are written elsewhere.
//!
//! What belongs to a server, and goes with it: its header or inline table, its keys and sub-tables wherever they
//! stand, the comment lines right above its header, and comment lines below its last key up to a blank line. A server
//! that was added and is removed again leaves the bytes that were there before.

mod layout;
mod list;
mod locate;
mod member;
mod patch;
mod plan;
mod verify;

use std::path::Path;

use patchbay_api::{MASK, McpServerConfig, Revision, Scope, TransportKind};

use self::{
    layout::Layout,
    list::Brackets,
    locate::Servers,
    member::Server,
    patch::{Patch, apply},
    plan::Step,
    verify::Change,
};
use crate::{
    check,
    draft::draft_values,
    error::ConfigError,
    global::Edit,
    model::ServerConfig,
    node::{Lines, Node, Value},
    raw::{Problem, RawServer},
    read::{ConfigSnapshot, Entry, syntax},
    toml::{self, Document, spell},
};

/// A text that was parsed.
struct Parsed {
    text: String,
    document: Document,
    root: Node,
}

impl Parsed {
    fn new(file: &Path, text: String) -> Result<Self, ConfigError> {
        let (document, root) = toml::parse(&text).map_err(|error| syntax(&Lines::new(file, &text), error))?;
        Ok(Self { text, document, root })
    }

    /// The servers as values.
    fn entries(&self) -> &[Node] {
        match self.root.get("mcp").and_then(|mcp| mcp.get("servers")).map(|node| &node.value) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    /// The servers of this name, with their places in the list.
    fn named(&self, name: &str) -> impl DoubleEndedIterator<Item = (usize, &Node)> {
        let has_name = move |node: &Node| node.get("name").and_then(Node::as_str) == Some(name);
        self.entries().iter().enumerate().filter(move |(_, node)| has_name(node))
    }
}

/// The text of the file after an edit, and what it says; the text is the old one where nothing has to change.
///
/// # Errors
/// Where the text is broken, the edit breaks a rule, or the result does not read back as wanted.
pub(crate) fn edited(file: &Path, text: &str, edit: &Edit) -> Result<(String, ConfigSnapshot), ConfigError> {
    let lines = Lines::new(file, text);
    let parsed = Parsed::new(file, text.to_owned())?;
    let editor = Editor { file, lines, parsed };
    editor.refuse_wrong()?;
    match edit {
        Edit::Add(draft) => editor.add(draft),
        Edit::Remove { name } => editor.remove(name),
        Edit::Enable { name, enabled } => editor.enable(name, *enabled),
        Edit::Replace { name, draft } => editor.replace(name, draft),
    }
}

/// The settings with an empty list of servers in the place of the full one.
fn without_entries(root: &Node) -> Node {
    let members = check::members(root).iter().map(|(key, node)| {
        let node = if key.name == "mcp" { empty_list(node) } else { node.clone() };
        (key.clone(), node)
    });
    Node { value: Value::Table(members.collect()), span: root.span.clone() }
}

fn empty_list(mcp: &Node) -> Node {
    let Value::Table(members) = &mcp.value else { return mcp.clone() };
    let members = members.iter().map(|(key, node)| match &node.value {
        Value::Array(_) if key.name == "servers" => {
            (key.clone(), Node { value: Value::Array(Vec::new()), span: node.span.clone() })
        }
        _ => (key.clone(), node.clone()),
    });
    Node { value: Value::Table(members.collect()), span: mcp.span.clone() }
}

type Outcome = Result<(String, ConfigSnapshot), ConfigError>;

struct Editor<'t> {
    file: &'t Path,
    lines: Lines<'t>,
    parsed: Parsed,
}

impl Editor<'_> {
    fn add(self, draft: &McpServerConfig) -> Outcome {
        let wanted = checked(draft)?;
        self.refuse_taken(&draft.name, None)?;
        let layout = Layout { text: &self.parsed.text, document: &self.parsed.document };
        let patches = add_entry(&layout, &draft_values(draft));
        let at = self.parsed.entries().len();
        let text = apply(&self.parsed.text, patches);
        self.finish(text, Change::Added, Some((at, wanted)))
    }

    fn remove(self, name: &str) -> Outcome {
        // Of several with this name the last goes: taking the first would bring a refused one to life.
        let (index, _) = self.parsed.named(name).next_back().ok_or_else(|| self.unknown(name))?;
        let layout = Layout { text: &self.parsed.text, document: &self.parsed.document };
        let patches = remove_entry(&layout, index);
        let text = apply(&self.parsed.text, patches);
        self.finish(text, Change::Removed(index), None)
    }

    fn enable(self, name: &str, enabled: bool) -> Outcome {
        let (index, current) = self.find(name)?;
        let current =
            current.map_err(|problem| ConfigError::Entry(Box::new(problem.into_invalid(&self.lines))))?;
        let wanted = ServerConfig { disabled: !enabled, ..current.clone() };
        if wanted.disabled == current.disabled {
            return self.unchanged();
        }
        let kind = Some(current.kind());
        let step = if enabled {
            Step::Clear("disabled")
        } else {
            Step::Set(vec!["disabled".into()], Node { value: Value::Bool(true), span: 0..0 })
        };
        let text = run(self.file, &self.parsed, index, &[step])?;
        self.finish(text, Change::Changed(index, kind), Some((index, wanted)))
    }

    fn replace(self, name: &str, draft: &McpServerConfig) -> Outcome {
        let (index, current) = self.find(name)?;
        let now = current.ok().map(|server| server.kind());
        let entry = &self.parsed.entries()[index];
        let draft = unmasked(draft, entry)?;
        let wanted = checked(&draft)?;
        self.refuse_taken(&draft.name, Some(name))?;
        let steps = plan::steps(entry, now, wanted.kind(), &draft);
        if steps.is_empty() {
            return self.unchanged();
        }
        let stays = now.filter(|kind| *kind == wanted.kind());
        let text = run(self.file, &self.parsed, index, &steps)?;
        self.finish(text, Change::Changed(index, stays), Some((index, wanted)))
    }

    /// The server of this name and what it is now: the valid one, else the first that is not.
    fn find(&self, name: &str) -> Result<(usize, Result<ServerConfig, Problem>), ConfigError> {
        let mut first = None;
        for (index, node) in self.parsed.named(name) {
            let checked = RawServer::from_node(Scope::Global, node.clone()).and_then(ServerConfig::try_from);
            if checked.is_ok() {
                return Ok((index, checked));
            }
            first = first.or(Some((index, checked)));
        }
        first.ok_or_else(|| self.unknown(name))
    }

    /// Nothing has to change.
    fn unchanged(self) -> Outcome {
        let Parsed { text, root, .. } = self.parsed;
        let revision = Revision::of(text.as_bytes());
        let snapshot = ConfigSnapshot::from_root(self.file, revision, root, &self.lines)?;
        Ok((text, snapshot))
    }

    /// Refuses a file whose settings are wrong outside the entries.
    fn refuse_wrong(&self) -> Result<(), ConfigError> {
        let root = without_entries(&self.parsed.root);
        ConfigSnapshot::from_root(self.file, Revision::of(&[]), root, &self.lines).map(drop)
    }

    fn unknown(&self, name: &str) -> ConfigError {
        ConfigError::UnknownServer { name: name.into(), file: self.file.into() }
    }

    /// Refuses a name that another entry has, a wrong one too.
    fn refuse_taken(&self, name: &str, own: Option<&str>) -> Result<(), ConfigError> {
        if own == Some(name) {
            return Ok(());
        }
        let Some((_, entry)) = self.parsed.named(name).next() else { return Ok(()) };
        let at = entry.get("name").unwrap_or(entry).span.start;
        Err(ConfigError::NameTaken { name: name.into(), place: self.lines.place(at) })
    }

    /// Reads the new text and compares it with what was wanted.
    fn finish(self, text: String, change: Change, wanted: Option<(usize, ServerConfig)>) -> Outcome {
        let unverified = |reason: String| ConfigError::Unverified { file: self.file.into(), reason };
        let after = Parsed::new(self.file, text).map_err(|error| unverified(error.to_string()))?;
        verify::unchanged_but(&self.parsed.root, &after.root, change).map_err(unverified)?;
        let Parsed { text, root, .. } = after;
        let lines = Lines::new(self.file, &text);
        let snapshot = ConfigSnapshot::from_root(self.file, Revision::of(text.as_bytes()), root, &lines)?;
        if let Some((index, wanted)) = wanted {
            match snapshot.servers.get(index) {
                Some(Entry::Valid(server)) if **server == wanted => {}
                _ => return Err(unverified(format!("server \"{}\" would not be as wanted", wanted.id))),
            }
        }
        Ok((text, snapshot))
    }
}

/// Takes the steps one after the other. Steps that meet nowhere share one reading of the text; the others see the
/// text that the ones before left.
fn run(file: &Path, parsed: &Parsed, index: usize, steps: &[Step]) -> Result<String, ConfigError> {
    let unverified = |reason: String| ConfigError::Unverified { file: file.into(), reason };
    let mut fresh = None;
    let mut waiting = Vec::new();
    for step in steps {
        loop {
            let now = fresh.as_ref().unwrap_or(parsed);
            let (patches, done) = patches(now, index, step);
            if patches.is_empty() && !done {
                return Err(unverified(format!("{} has no effect", step.name())));
            }
            let meets = patch::meet(&waiting, &patches);
            if !meets {
                waiting.extend(patches);
                if done {
                    break;
                }
            }
            let text = apply(&now.text, std::mem::take(&mut waiting));
            fresh = Some(Parsed::new(file, text).map_err(|error| unverified(error.to_string()))?);
        }
    }
    Ok(apply(&fresh.as_ref().unwrap_or(parsed).text, waiting))
}

/// What a step changes in the text, and whether that is all of it.
fn patches(parsed: &Parsed, index: usize, step: &Step) -> (Vec<Patch>, bool) {
    let layout = Layout { text: &parsed.text, document: &parsed.document };
    let servers = Servers::find(&layout);
    let Some(entry) = servers.entry(index) else { return (Vec::new(), true) };
    let server = Server { layout, entry };
    fn names(path: &[String]) -> Vec<&str> {
        path.iter().map(String::as_str).collect()
    }
    match step {
        Step::Set(path, value) => {
            let old = parsed
                .entries()
                .get(index)
                .and_then(|node| path.iter().try_fold(node, |node, name| node.get(name)));
            server.set(&names(path), old, value)
        }
        Step::Unset(path) => server.unset(&names(path)),
        Step::Clear(key) => (server.clear_flag(&[key]), true),
        Step::Exchange(old, new, value) => (server.exchange(old, new, value).into_iter().collect(), true),
    }
}

/// Puts a new server behind the others, spelled as they are.
fn add_entry(layout: &Layout<'_>, values: &[(&str, Node)]) -> Vec<Patch> {
    let pairs: Vec<_> = values.iter().map(|(key, value)| spell::pair(key, value)).collect();
    let inline = || format!("{{ {} }}", pairs.join(", "));
    let text = layout.text;
    match Servers::find(layout) {
        Servers::List { items, span, .. } => Brackets { text, span: span.clone(), items }.push(&inline()),
        Servers::Absent { within: Some((items, span)) } => {
            Brackets { text, span: span.clone(), items }.push(&format!("servers = [ {} ]", inline()))
        }
        servers => {
            let last = match &servers {
                Servers::Tables(all) => all.last().and_then(|statements| statements.last().copied()),
                _ => None,
            };
            let lines: Vec<_> = std::iter::once("[[mcp.servers]]".to_owned()).chain(pairs).collect();
            vec![layout.insert_table(last, &lines)]
        }
    }
}

/// Takes a server away with all that is its own.
fn remove_entry(layout: &Layout<'_>, index: usize) -> Vec<Patch> {
    let text = layout.text;
    match Servers::find(layout) {
        Servers::Absent { .. } => Vec::new(),
        Servers::List { items, span, within } => {
            // A list that was put into `mcp = {…}` for its first server is spelled so, and goes with its last one.
            let ours = text[span.clone()].starts_with("[ {") && items.len() == 1;
            match within.filter(|_| ours) {
                Some(list) => {
                    Brackets { text, span: list.span.clone(), items: list.pairs }.remove(list.index, false)
                }
                None => Brackets { text, span: span.clone(), items }.remove(index, true),
            }
        }
        Servers::Tables(servers) => {
            let statements = servers.get(index).map(Vec::as_slice).unwrap_or_default();
            let runs = statements.chunk_by(|a, b| a + 1 == *b);
            runs.filter_map(|run| Some(layout.remove_statements(*run.first()?, *run.last()?))).collect()
        }
    }
}

/// The server that a draft describes.
fn checked(draft: &McpServerConfig) -> Result<ServerConfig, ConfigError> {
    let refuse = |field: &str, reason: String| ConfigError::Draft {
        server: draft.name.clone(),
        field: Some(field.into()),
        reason,
        hint: None,
    };
    let server = ServerConfig::try_from(RawServer::from_draft(Scope::Global, draft)).map_err(|problem| {
        ConfigError::Draft {
            server: draft.name.clone(),
            field: problem.field,
            reason: problem.reason,
            hint: problem.hint,
        }
    })?;
    for (key, value) in draft_values(draft) {
        if !plan::applies(key, server.kind()) {
            let has = if server.kind() == TransportKind::Stdio { "a command" } else { "a url" };
            return Err(refuse(key, format!("{key} has no effect on a server with {has}")));
        }
        if holds_mask(&value) {
            return Err(refuse(key, format!("{key} holds the mask of a secret instead of the secret")));
        }
    }
    Ok(server)
}

fn holds_mask(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains(MASK),
        Value::Array(items) => items.iter().any(holds_mask),
        Value::Table(members) => members.iter().any(|(_, node)| holds_mask(node)),
        _ => false,
    }
}

/// The draft with the file's own values where it says to keep them.
fn unmasked(draft: &McpServerConfig, entry: &Node) -> Result<McpServerConfig, ConfigError> {
    let mut draft = draft.clone();
    let server = draft.name.clone();
    for (table, values) in [("env", &mut draft.env), ("headers", &mut draft.headers)] {
        for (name, value) in values.iter_mut().filter(|(_, value)| *value == MASK) {
            let kept = entry.get(table).and_then(|table| table.get(name)).and_then(Node::as_str);
            *value = kept.map(ToOwned::to_owned).ok_or_else(|| ConfigError::Draft {
                server: server.clone(),
                field: Some(format!("{table}.{name}")),
                reason: format!("{table}.{name} has no value yet that could be kept"),
                hint: Some("Enter its value.".into()),
            })?;
        }
    }
    Ok(draft)
}
