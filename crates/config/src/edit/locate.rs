//! Finding servers and their keys among the statements, however the file spells them.

use super::layout::Layout;
use crate::{
    node::Span,
    toml::syntax::{Kind, List, Pair, Part, Statement, Tree, begins, is_path},
};

/// How a file spells its servers.
pub(super) enum Servers<'d> {
    /// `[[mcp.servers]]`: each server's statements, its sub-tables' among them, wherever they stand.
    Tables(Vec<Vec<usize>>),
    /// `servers = […]`
    List {
        /// The list.
        items: &'d List<Tree>,
        /// Its bytes.
        span: &'d Span,
        /// Where it is a member of `mcp = {…}`.
        within: Option<Within<'d>>,
    },
    /// Not at all.
    Absent {
        /// `mcp = {…}`, where there is one: no header may add to it.
        within: Option<(&'d List<Pair>, &'d Span)>,
    },
}

/// A member of an inline table.
#[derive(Clone, Copy)]
pub(super) struct Within<'d> {
    pub(super) pairs: &'d List<Pair>,
    pub(super) span: &'d Span,
    pub(super) index: usize,
}

/// One server as it is spelled.
#[derive(Clone, Copy)]
pub(super) enum Entry<'d> {
    /// By these statements; the first is its header.
    Lines(&'d [usize]),
    /// As an inline table.
    Inline(&'d List<Pair>, &'d Span),
}

/// Where a key and its value stand.
#[derive(Clone, Copy)]
pub(super) struct Found<'d> {
    pub(super) pair: &'d Pair,
    pub(super) host: Host<'d>,
}

/// What a pair is part of.
#[derive(Clone, Copy)]
pub(super) enum Host<'d> {
    /// A statement of its own.
    Line(usize),
    /// A member of an inline table.
    Member(Within<'d>),
}

/// The path to the servers.
const PATH: [&str; 2] = ["mcp", "servers"];

/// What is left of `path` behind this key; `None` where it leads elsewhere.
fn behind<'p, 'n>(key: &[Part], text: &str, path: &'p [&'n str]) -> Option<&'p [&'n str]> {
    (key.len() <= path.len() && begins(key, text, path)).then(|| &path[key.len()..])
}

impl<'d> Servers<'d> {
    /// Finds them. The document is a valid one whose `mcp.servers` is a list, if it is there.
    pub(super) fn find(layout: &Layout<'d>) -> Self {
        let text = layout.text;
        let mut tables: Vec<Vec<usize>> = Vec::new();
        let mut within = None;
        // The table that the pairs belong to; `None` for one of a server.
        let mut current: Option<&[Part]> = Some(&[]);
        for (index, statement) in layout.document.statements.iter().enumerate() {
            match (statement, current) {
                (Statement::Header(header), _) => {
                    if header.array && is_path(&header.path, text, &PATH) {
                        tables.push(Vec::new());
                    }
                    let of_server = header.path.len() >= PATH.len() && begins(&header.path, text, &PATH);
                    current = (!of_server || tables.is_empty()).then_some(&*header.path);
                }
                (Statement::Pair(pair), Some(table)) => {
                    let Some(rest) = behind(table, text, &PATH) else { continue };
                    match servers_in(pair, text, rest) {
                        Some(list @ Self::List { .. }) => return list,
                        Some(Self::Absent { within: found }) => within = found,
                        _ => {}
                    }
                }
                (Statement::Pair(_), None) => {}
            }
            if current.is_none()
                && let Some(server) = tables.last_mut()
            {
                server.push(index);
            }
        }
        if tables.is_empty() { Self::Absent { within } } else { Self::Tables(tables) }
    }

    /// The server at this place of the list.
    pub(super) fn entry(&'d self, index: usize) -> Option<Entry<'d>> {
        match self {
            Self::Tables(servers) => servers.get(index).map(|statements| Entry::Lines(statements)),
            Self::List { items, .. } => match &items.get(index)?.part {
                Tree { span, kind: Kind::Table(pairs) } => Some(Entry::Inline(pairs, span)),
                Tree { .. } => None,
            },
            Self::Absent { .. } => None,
        }
    }
}

/// What a pair says about the servers: the list itself, or an inline `mcp` that may hold it.
fn servers_in<'d>(pair: &'d Pair, text: &str, path: &[&str]) -> Option<Servers<'d>> {
    let rest = behind(&pair.path, text, path)?;
    match (&pair.value.kind, rest) {
        (Kind::Array(items), []) => Some(Servers::List { items, span: &pair.value.span, within: None }),
        (Kind::Table(pairs), [_]) => {
            let span = &pair.value.span;
            for (index, item) in pairs.iter().enumerate() {
                if let Some(Servers::List { items, span: list, .. }) = servers_in(&item.part, text, rest) {
                    return Some(Servers::List {
                        items,
                        span: list,
                        within: Some(Within { pairs, span, index }),
                    });
                }
            }
            Some(Servers::Absent { within: Some((pairs, span)) })
        }
        _ => None,
    }
}

impl<'d> Entry<'d> {
    /// The pair of exactly this key.
    pub(super) fn find(&self, layout: &Layout<'d>, path: &[&str]) -> Option<Found<'d>> {
        self.all(layout, path).into_iter().find(|(_, exact)| *exact).map(|(found, _)| found)
    }

    /// The pairs of this key and of what is under it, each with whether it is exactly this key.
    pub(super) fn all(&self, layout: &Layout<'d>, path: &[&str]) -> Vec<(Found<'d>, bool)> {
        let text = layout.text;
        let mut found = Vec::new();
        match *self {
            Self::Inline(pairs, span) => within_table(pairs, span, text, path, &mut found),
            Self::Lines(statements) => {
                let mut table: &[Part] = &[];
                for index in statements {
                    match &layout.document.statements[*index] {
                        Statement::Header(header) => table = relative(&header.path),
                        // A table under the key holds parts of it only.
                        Statement::Pair(pair) if table.len() > path.len() => {
                            if begins(table, text, path) {
                                found.push((Found { pair, host: Host::Line(*index) }, false));
                            }
                        }
                        Statement::Pair(pair) => {
                            if let Some(rest) = behind(table, text, path) {
                                match_pair(pair, Host::Line(*index), text, rest, &mut found);
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// The headers of this key's table and of those under it.
    pub(super) fn headers(&self, layout: &Layout<'d>, path: &[&str]) -> Vec<usize> {
        let Self::Lines([own, others @ ..]) = self else { return Vec::new() };
        let is_one = |index: &usize| match &layout.document.statements[*index] {
            Statement::Header(header) => {
                let table = relative(&header.path);
                *index != *own && table.len() >= path.len() && begins(table, layout.text, path)
            }
            Statement::Pair(_) => false,
        };
        others.iter().copied().filter(is_one).collect()
    }

    /// The last statement of the block under the header of this table; of the server's own block for the empty path.
    pub(super) fn last_of_block(&self, layout: &Layout<'d>, path: &[&str]) -> Option<usize> {
        let Self::Lines(statements) = self else { return None };
        let all = &layout.document.statements;
        let header = statements.iter().position(|index| match &all[*index] {
            Statement::Header(header) => is_path(relative(&header.path), layout.text, path),
            Statement::Pair(_) => false,
        })?;
        let block = statements[header + 1..].iter().zip(statements[header] + 1..);
        let pairs =
            block.take_while(|(index, next)| **index == *next && matches!(all[**index], Statement::Pair(_)));
        Some(pairs.last().map_or(statements[header], |(index, _)| *index))
    }
}

/// A header's path from the server on.
fn relative(path: &[Part]) -> &[Part] {
    path.get(PATH.len()..).unwrap_or_default()
}

type All<'d> = Vec<(Found<'d>, bool)>;

fn within_table<'d>(pairs: &'d List<Pair>, span: &'d Span, text: &str, path: &[&str], found: &mut All<'d>) {
    for (index, item) in pairs.iter().enumerate() {
        match_pair(&item.part, Host::Member(Within { pairs, span, index }), text, path, found);
    }
}

fn match_pair<'d>(pair: &'d Pair, host: Host<'d>, text: &str, path: &[&str], found: &mut All<'d>) {
    if let Some(rest) = behind(&pair.path, text, path) {
        match (&pair.value.kind, rest) {
            (_, []) => found.push((Found { pair, host }, true)),
            (Kind::Table(pairs), rest) => within_table(pairs, &pair.value.span, text, rest, found),
            _ => {}
        }
    } else if pair.path.len() > path.len() && begins(&pair.path, text, path) {
        found.push((Found { pair, host }, false));
    }
}
