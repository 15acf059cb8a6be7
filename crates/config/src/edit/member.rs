//! Setting and removing one key of one server, in the spelling that the file has for it.

use super::{
    layout::Layout,
    list::Brackets,
    locate::{Entry, Found, Host, Within},
    patch::Patch,
};
use crate::{
    node::{Node, Value},
    toml::{
        spell,
        syntax::{Kind, Spanned as _},
    },
};

/// One server in a text.
pub(super) struct Server<'t> {
    pub(super) layout: Layout<'t>,
    pub(super) entry: Entry<'t>,
}

/// A key: `[name]` or `[table, member]`.
pub(super) type Path<'p> = &'p [&'p str];

impl<'t> Server<'t> {
    fn text(&self) -> &'t str {
        self.layout.text
    }

    fn brackets(&self, within: Within<'t>) -> Brackets<'t, crate::toml::syntax::Pair> {
        Brackets { text: self.text(), span: within.span.clone(), items: within.pairs }
    }

    /// Gives a key a value. Where it has a list and shall have another one, only one part changes at a time:
    /// `false` says that more has to be done.
    pub(super) fn set(&self, path: Path<'_>, old: Option<&Node>, new: &Node) -> (Vec<Patch>, bool) {
        let Some(found) = self.entry.find(&self.layout, path) else {
            return (self.add(path, new), true);
        };
        if let (Kind::Array(items), Some(Value::Array(old)), Value::Array(new)) =
            (&found.pair.value.kind, old.map(|node| &node.value), &new.value)
        {
            let list = Brackets { text: self.text(), span: found.pair.value.span.clone(), items };
            return next_list_step(&list, old, new);
        }
        (vec![Patch::new(found.pair.value.span.clone(), spell::value(new))], true)
    }

    /// Puts `key = value` in the place of another key's pair.
    pub(super) fn exchange(&self, old: &str, new: &str, value: &Node) -> Option<Patch> {
        let found = self.entry.find(&self.layout, &[old])?;
        Some(Patch::new(found.pair.span(), spell::pair(&spell::key(new), value)))
    }

    fn add(&self, path: Path<'_>, value: &Node) -> Vec<Patch> {
        match path {
            [table, member] => self.add_member(table, member, value),
            _ => self.add_key(&path.iter().map(|name| spell::key(name)).collect::<Vec<_>>().join("."), value),
        }
    }

    /// A new key of the server itself.
    fn add_key(&self, key: &str, value: &Node) -> Vec<Patch> {
        let pair = spell::pair(key, value);
        match self.entry {
            Entry::Inline(pairs, span) => {
                Brackets { text: self.text(), span: span.clone(), items: pairs }.push(&pair)
            }
            Entry::Lines(statements) => {
                let last = self.entry.last_of_block(&self.layout, &[]).unwrap_or(statements[0]);
                vec![self.layout.insert_line(last, &pair)]
            }
        }
    }

    /// A new member of one of the server's tables, which may be spelled in four ways or not at all.
    fn add_member(&self, table: &str, member: &str, value: &Node) -> Vec<Patch> {
        let pair = spell::pair(&spell::key(member), value);
        if let Some(last) = self.entry.last_of_block(&self.layout, &[table]) {
            return vec![self.layout.insert_line(last, &pair)];
        }
        if let Some(found) = self.entry.find(&self.layout, &[table])
            && let Kind::Table(pairs) = &found.pair.value.kind
        {
            let list = Brackets { text: self.text(), span: found.pair.value.span.clone(), items: pairs };
            return list.push(&pair);
        }
        let dotted = self.entry.all(&self.layout, &[table]).into_iter().map(|(found, _)| found).next_back();
        match dotted {
            Some(found) => self.add_dotted(found, &pair),
            None => self.add_key(&format!("{}.{}", spell::key(table), spell::key(member)), value),
        }
    }

    /// A new member beside one with a dotted key, which is spelled the same way up to its last part.
    fn add_dotted(&self, beside: Found<'t>, pair: &str) -> Vec<Patch> {
        let prefix = match &*beside.pair.path {
            [first, second, ..] => &self.text()[first.span.start..second.span.start],
            _ => "",
        };
        let pair = format!("{prefix}{pair}");
        match beside.host {
            Host::Line(index) => vec![self.layout.insert_line(index, &pair)],
            Host::Member(within) => self.brackets(within).push(&pair),
        }
    }

    /// Takes a key away with everything under it, one piece at a time: `false` says that more has to be done.
    pub(super) fn unset(&self, path: Path<'_>) -> (Vec<Patch>, bool) {
        if let Some(header) = self.entry.headers(&self.layout, path).first() {
            let last = self.block_end(*header);
            return (vec![self.layout.remove_statements(*header, last)], false);
        }
        match self.entry.all(&self.layout, path).first() {
            Some((found, _)) => (self.remove(*found), false),
            None => (Vec::new(), true),
        }
    }

    /// The last of the statements that follow a header up to the next one.
    fn block_end(&self, header: usize) -> usize {
        let statements = &self.layout.document.statements;
        let follows = statements[header + 1..]
            .iter()
            .take_while(|statement| matches!(statement, crate::toml::syntax::Statement::Pair(_)));
        header + follows.count()
    }

    fn remove(&self, found: Found<'t>) -> Vec<Patch> {
        match found.host {
            Host::Line(index) => vec![self.layout.remove_line(index)],
            Host::Member(within) => self.brackets(within).remove(within.index, false),
        }
    }

    /// Switches off what is off by default: by taking the key away, or by `false` where a comment stands on its line.
    pub(super) fn clear_flag(&self, path: Path<'_>) -> Vec<Patch> {
        let Some(found) = self.entry.find(&self.layout, path) else { return Vec::new() };
        let end = found.pair.value.span.end;
        let line = &self.text()[end..super::layout::line_end(self.text(), end)];
        if matches!(found.host, Host::Line(_)) && line.trim_start_matches([' ', '\t']).starts_with('#') {
            return vec![Patch::new(found.pair.value.span.clone(), "false")];
        }
        self.remove(found)
    }
}

/// The next part of a list to change; `true` where that is all.
fn next_list_step(
    list: &Brackets<'_, crate::toml::syntax::Tree>,
    old: &[Node],
    new: &[Node],
) -> (Vec<Patch>, bool) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same_end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - same_end], &new[..new.len() - same_end]);
    match (old, new) {
        ([], []) => (Vec::new(), true),
        ([_, ..], []) => (list.remove(same, false), old.len() == 1),
        ([], [first, ..]) => (list.insert(same, &spell::value(first)), new.len() == 1),
        ([_, old_rest @ ..], [first, new_rest @ ..]) => {
            let span = list.items[same].part.span.clone();
            (vec![Patch::new(span, spell::value(first))], old_rest.is_empty() && new_rest.is_empty())
        }
    }
}
