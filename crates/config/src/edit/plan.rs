//! Which keys of a server have to change so that it becomes what a draft says. What has the same effect already
//! stays as it is spelled.

use patchbay_api::{McpServerConfig, TransportKind};

use crate::{
    check::{self, known_member},
    defaults,
    draft::{draft_values, kind_name},
    node::{Node, Value},
};

/// A change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Gives a key a value.
    Set(Vec<String>, Node),
    /// Takes a key away with everything under it.
    Unset(Vec<String>),
    /// Switches off what is off by default.
    Clear(&'static str),
    /// Puts one key in the place of another.
    Exchange(&'static str, &'static str, Node),
}

impl Step {
    /// What it is about, without its values.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Set(path, _) => format!("setting {}", path.join(".")),
            Self::Unset(path) => format!("removing {}", path.join(".")),
            Self::Clear(key) => format!("clearing {key}"),
            Self::Exchange(old, new, _) => format!("putting {new} in the place of {old}"),
        }
    }
}

/// Every key of a server.
const KEYS: [&str; 19] = [
    "name",
    "type",
    "command",
    "args",
    "cwd",
    "url",
    "sandbox",
    "tools",
    "auto_approve",
    "prefix",
    "agents",
    "timeout_seconds",
    "max_seconds",
    "disabled",
    "always_allow",
    "env",
    "headers",
    "health_check",
    "oauth",
];

/// Whether a key means something, and for this kind of server.
pub(super) fn applies(key: &str, kind: TransportKind) -> bool {
    match key {
        "command" | "args" | "env" | "cwd" | "sandbox" => kind == TransportKind::Stdio,
        "url" | "headers" | "oauth" => kind != TransportKind::Stdio,
        _ => KEYS.contains(&key),
    }
}

/// The steps from an entry to a draft. `now` is the kind that the entry is, if it is a valid one, `then` the one that
/// it will be: while they are equal, keys that mean nothing for it are left alone.
pub(super) fn steps(
    entry: &Node,
    now: Option<TransportKind>,
    then: TransportKind,
    draft: &McpServerConfig,
) -> Vec<Step> {
    let wanted = draft_values(draft);
    let want = |key: &str| wanted.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    let mut steps = Vec::new();
    let exchanged = exchange(entry, &want);
    let skip = |key: &str| match &exchanged {
        Some(Step::Exchange(old, new, _)) => key == *old || key == *new,
        _ => now == Some(then) && !applies(key, then),
    };
    for key in KEYS.into_iter().filter(|key| !skip(key)) {
        match entry.get(key) {
            node if key == "type" => change_type(node, then, &mut steps),
            // Not even a default of the kind that it was: it would be reported as useless.
            Some(node) if !applies(key, then) => unset(key, node, &mut steps),
            node => change(key, node, want(key), &mut steps),
        }
    }
    // First the transport's own key, so that what is added comes below it.
    exchanged.into_iter().chain(steps).collect()
}

/// `command` in the place of `url` or the other way round.
fn exchange<'w>(entry: &Node, want: &impl Fn(&str) -> Option<&'w Node>) -> Option<Step> {
    [("command", "url"), ("url", "command")].into_iter().find_map(|(old, new)| {
        let replaced = entry.get(old)?.as_str().is_some() && entry.get(new).is_none() && want(old).is_none();
        replaced.then(|| want(new).map(|value| Step::Exchange(old, new, value.clone())))?
    })
}

/// A type that is written says the new kind; one that is not is written only where it cannot be inferred.
fn change_type(now: Option<&Node>, then: TransportKind, steps: &mut Vec<Step>) {
    let word = kind_name(then);
    let right = match now {
        Some(node) => node.as_str() == Some(word),
        None => then != TransportKind::Sse,
    };
    if !right {
        let value = Node { value: Value::String(word.into()), span: 0..0 };
        if now.is_some_and(has_tables) {
            steps.push(Step::Unset(vec!["type".into()]));
        }
        steps.push(Step::Set(vec!["type".into()], value));
    }
}

fn change(key: &'static str, now: Option<&Node>, want: Option<&Node>, steps: &mut Vec<Step>) {
    if effective(key, now) == effective(key, want) {
        return;
    }
    let path = || vec![key.to_owned()];
    match (now, want) {
        (None, None) => {}
        (None, Some(want)) => steps.push(Step::Set(path(), want.clone())),
        (Some(Node { value: Value::Bool(_), .. }), None) if matches!(key, "auto_approve" | "disabled") => {
            steps.push(Step::Clear(key));
        }
        (Some(now), None) => unset(key, now, steps),
        (Some(Node { value: Value::Table(now), .. }), Some(Node { value: Value::Table(want), .. })) => {
            change_members(key, now, want, steps);
        }
        (Some(now), Some(want)) => {
            if has_tables(now) {
                steps.push(Step::Unset(path()));
            }
            steps.push(Step::Set(path(), want.clone()));
        }
    }
}

type Members = [(crate::node::Key, Node)];

fn change_members(key: &str, now: &Members, want: &Members, steps: &mut Vec<Step>) {
    let find = |members: &Members, name: &str| {
        members.iter().find(|(k, _)| k.name == name).map(|(_, node)| node.clone())
    };
    for (member, _) in now.iter().filter(|(member, _)| known_member(key, &member.name)) {
        let full = format!("{key}.{}", member.name);
        let kept = find(want, &member.name).is_some()
            || effective(&full, find(now, &member.name).as_ref()).is_none();
        if !kept {
            steps.push(Step::Unset(vec![key.to_owned(), member.name.clone()]));
        }
    }
    for (member, value) in want {
        let full = format!("{key}.{}", member.name);
        if effective(&full, find(now, &member.name).as_ref()) != effective(&full, Some(value)) {
            steps.push(Step::Set(vec![key.to_owned(), member.name.clone()], value.clone()));
        }
    }
}

/// Takes a key away, but not the members that are not ours.
fn unset(key: &str, now: &Node, steps: &mut Vec<Step>) {
    let members = check::members(now);
    if members.iter().all(|(member, _)| known_member(key, &member.name)) {
        return steps.push(Step::Unset(vec![key.to_owned()]));
    }
    for (member, _) in members.iter().filter(|(member, _)| known_member(key, &member.name)) {
        steps.push(Step::Unset(vec![key.to_owned(), member.name.clone()]));
    }
}

/// Whether the value may be spelled with headers.
fn has_tables(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::Array(items) => items.iter().any(has_tables),
        _ => false,
    }
}

/// The value as far as it makes a difference: `None` where it is what holds without it.
fn effective(key: &str, node: Option<&Node>) -> Option<Value> {
    let node = node?;
    let value = &node.value;
    let usual = match (key, value) {
        (_, Value::Array(items)) => items.is_empty(),
        ("env" | "headers" | "health_check" | "oauth", Value::Table(members)) => {
            let relevant: Vec<_> = members
                .iter()
                .filter(|(member, node)| {
                    known_member(key, &member.name)
                        && effective(&format!("{key}.{}", member.name), Some(node)).is_some()
                })
                .cloned()
                .collect();
            return (!relevant.is_empty()).then(|| Value::Table(sorted(relevant)));
        }
        _ => defaults::server_default(key).is_some_and(|usual| usual == crate::toml::spell::value(node)),
    };
    (!usual).then(|| value.clone())
}

fn sorted(mut members: Vec<(crate::node::Key, Node)>) -> Vec<(crate::node::Key, Node)> {
    members.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    members
}
