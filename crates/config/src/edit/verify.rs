//! Whether an edited text says what was wanted and nothing else. It is read afresh; how it was made plays no part.

use patchbay_api::TransportKind;

use super::plan::applies;
use crate::{
    check::{known_member, members},
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
    let mcp = |root| others(member(root, "mcp"), "servers");
    if !others(members(before), "mcp").eq(others(members(after), "mcp")) || !mcp(before).eq(mcp(after)) {
        return Err("settings outside the servers would change".into());
    }
    let (before, after) = (servers(before), servers(after));
    let same = match change {
        Change::Added => after.len() == before.len() + 1 && after.starts_with(before),
        Change::Removed(index) => {
            let (left, right) = (&before[..index], &before[index + 1..]);
            after.len() == left.len() + right.len() && after.starts_with(left) && after.ends_with(right)
        }
        Change::Changed(index, kind) => {
            before.len() == after.len()
                && before[..index] == after[..index]
                && before[index + 1..] == after[index + 1..]
                && foreign_keys(&before[index], kind) == foreign_keys(&after[index], kind)
        }
    };
    if same { Ok(()) } else { Err("other servers or unknown keys would change".into()) }
}

/// The members of a table but one, in the order of the file.
fn others<'n>(members: &'n [(Key, Node)], but: &'static str) -> impl Iterator<Item = &'n (Key, Node)> {
    members.iter().filter(move |(key, _)| key.name != but)
}

fn member<'n>(root: &'n Node, name: &str) -> &'n [(Key, Node)] {
    root.get(name).map(members).unwrap_or_default()
}

fn servers(root: &Node) -> &[Node] {
    match root.get("mcp").and_then(|mcp| mcp.get("servers")).map(|node| &node.value) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

/// The keys of an entry that an edit has no business with.
fn foreign_keys(node: &Node, kind: Option<TransportKind>) -> Vec<(String, &Node)> {
    let ours = |key: &str| match kind {
        Some(kind) => applies(key, kind),
        None => applies(key, TransportKind::Stdio) || applies(key, TransportKind::Http),
    };
    let mut foreign = Vec::new();
    for (key, value) in members(node) {
        if !ours(&key.name) {
            foreign.push((key.name.clone(), value));
        } else if matches!(key.name.as_str(), "health_check" | "oauth") {
            let unknown = members(value).iter().filter(|(member, _)| !known_member(&key.name, &member.name));
            foreign.extend(unknown.map(|(member, value)| (format!("{}.{}", key.name, member.name), value)));
        }
    }
    foreign.sort_by(|(a, _), (b, _)| a.cmp(b));
    foreign
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::parse_toml;

    const BEFORE: &str =
        "x = 1\nmcp.tool_names = 'plain'\nmcp.servers = [{ name = 'a', own = 1 }, { name = 'b' }]";

    fn verdict(before: &str, after: &str, change: Change) -> bool {
        unchanged_but(&parse_toml(before).unwrap(), &parse_toml(after).unwrap(), change).is_ok()
    }

    #[test]
    fn what_was_wanted_passes() {
        let is_fine = |from: &str, to: &str, change| verdict(BEFORE, &BEFORE.replace(from, to), change);
        assert!(is_fine("'b' }]", "'b' }, { name = 'c' }]", Change::Added));
        assert!(is_fine("{ name = 'a', own = 1 }, ", "", Change::Removed(0)));
        assert!(is_fine("'b'", "'b', disabled = true", Change::Changed(1, None)));
        assert!(is_fine("'a'", "'c'", Change::Changed(0, Some(TransportKind::Stdio))));
        assert!(verdict("", "[[mcp.servers]]\nname = 'a'", Change::Added));
        assert!(verdict("[[mcp.servers]]\nname = 'a'", "", Change::Removed(0)));
    }

    #[test]
    fn whatever_else_differs_is_refused() {
        let changes = [
            ("x = 1", "x = 2"),
            ("x = 1", "x = 1.0"),
            ("x = 1", "y = 1"),
            ("'plain'", "'namespaced'"),
            ("own = 1", "own = 2"),
            ("own = 1", "timeout_seconds = 1"),
            ("'b'", "'c'"),
            ("'b' }", "'b' }, { name = 'c' }"),
            (", { name = 'b' }", ""),
        ];
        for (from, to) in changes {
            for change in
                [Change::Added, Change::Removed(1), Change::Changed(1, None), Change::Changed(0, None)]
            {
                let wanted = matches!(
                    (to, change),
                    ("'c'", Change::Changed(1, _))
                        | ("'b' }, { name = 'c' }", Change::Added)
                        | ("", Change::Removed(1))
                );
                assert_eq!(
                    verdict(BEFORE, &BEFORE.replace(from, to), change),
                    wanted,
                    "{from} -> {to}, {change:?}"
                );
            }
        }
        let two = "mcp.servers = [{ name = 'a', headers = { A = '1' }, health_check = { odd = 1 } }]";
        let kept = Change::Changed(0, Some(TransportKind::Stdio));
        assert!(!verdict(two, &two.replace("'1'", "'2'"), kept), "a key that means nothing for this kind");
        assert!(verdict(two, &two.replace("'1'", "'2'"), Change::Changed(0, None)));
        assert!(!verdict(two, &two.replace("odd = 1", "odd = 2"), Change::Changed(0, None)));
    }
}
