//! Whether an edited text says what was wanted and nothing else. It is read afresh; how it was made plays no part.

use patchbay_api::TransportKind;

use super::plan::applies;
use crate::{
    check,
    node::{Key, Node, Value},
};

/// What may differ between the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// One server more, at the end.
    Added,
    /// This server less.
    Removed(usize),
    /// The keys of this server that mean something; for a server that stays of this kind, to that kind.
    Changed(usize, Option<TransportKind>),
}

/// Compares two root tables.
///
/// # Errors
/// What differs that must not.
pub(super) fn unchanged_but(before: &Node, after: &Node, change: Change) -> Result<(), String> {
    let mcp = |root: &Node| root.get("mcp").map(|mcp| without(mcp, &["servers"])).unwrap_or_default();
    if without(before, &["mcp"]) != without(after, &["mcp"]) || mcp(before) != mcp(after) {
        return Err("settings outside the servers would change".into());
    }
    let (before, after) = (servers(before), servers(after));
    let same = match change {
        Change::Added => after.len() == before.len() + 1 && after.starts_with(before),
        Change::Removed(index) => {
            let rest = [&before[..index], &before[index + 1..]].concat();
            after == rest
        }
        Change::Changed(index, kind) => {
            let others = |list: &[Node]| [&list[..index], &list[index + 1..]].concat();
            let foreign = |node: &Node| foreign_keys(node, kind);
            before.len() == after.len()
                && others(before) == others(after)
                && foreign(&before[index]) == foreign(&after[index])
        }
    };
    if same { Ok(()) } else { Err("other servers or unknown keys would change".into()) }
}

fn servers(root: &Node) -> &[Node] {
    match root.get("mcp").and_then(|mcp| mcp.get("servers")).map(|node| &node.value) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

/// The members of a table but these, in the order of their names.
fn without(node: &Node, names: &[&str]) -> Vec<(Key, Node)> {
    let mut members: Vec<_> =
        check::members(node).iter().filter(|(key, _)| !names.contains(&key.name.as_str())).cloned().collect();
    members.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    members
}

/// The keys of an entry that an edit has no business with.
fn foreign_keys(node: &Node, kind: Option<TransportKind>) -> Vec<(Key, Node)> {
    let ours = |key: &str| match kind {
        Some(kind) => applies(key, kind),
        None => applies(key, TransportKind::Stdio) || applies(key, TransportKind::Http),
    };
    let mut foreign = Vec::new();
    for (key, value) in without(node, &[]) {
        if !ours(&key.name) {
            foreign.push((key, value));
        } else if matches!(key.name.as_str(), "health_check" | "oauth") {
            let members = check::members(&value).iter();
            foreign.extend(members.filter(|(member, _)| !check::known_member(&key.name, &member.name)).cloned());
        }
    }
    foreign
}
