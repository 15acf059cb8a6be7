//! Finding servers and their keys among the statements, however the file spells them.

use crate::{
    node::{Key, Span},
    toml::{
        Document,
        syntax::{Kind, List, Pair, Statement, Tree},
    },
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

fn names(path: &[Key]) -> Vec<&str> {
    path.iter().map(|key| key.name.as_str()).collect()
}

/// What is left of `path` behind these keys; `None` where they lead elsewhere.
fn behind<'p, 'n>(keys: &[Key], path: &'p [&'n str]) -> Option<&'p [&'n str]> {
    let same = keys.len() <= path.len() && keys.iter().zip(path).all(|(key, name)| key.name == *name);
    same.then(|| &path[keys.len()..])
}

impl<'d> Servers<'d> {
    /// Finds them. The document is a valid one whose `mcp.servers` is a list, if it is there.
    pub(super) fn find(document: &'d Document) -> Self {
        let mut tables: Vec<Vec<usize>> = Vec::new();
        let mut within = None;
        let mut current: Option<Vec<&str>> = Some(Vec::new());
        for (index, statement) in document.statements.iter().enumerate() {
            match (statement, &current) {
                (Statement::Header(header), _) => {
                    let path = names(&header.path);
                    if header.array && path == PATH {
                        tables.push(Vec::new());
                    }
                    let of_server = path.starts_with(&PATH) && !tables.is_empty();
                    current = (!of_server).then_some(path);
                }
                (Statement::Pair(pair), Some(table)) => {
                    let Some(rest) = PATH.strip_prefix(table.as_slice()) else { continue };
                    match servers_in(pair, rest) {
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
fn servers_in<'d>(pair: &'d Pair, path: &[&str]) -> Option<Servers<'d>> {
    let rest = behind(&pair.path, path)?;
    match (&pair.value.kind, rest) {
        (Kind::Array(items), []) => Some(Servers::List { items, span: &pair.value.span, within: None }),
        (Kind::Table(pairs), [_]) => {
            let span = &pair.value.span;
            for (index, item) in pairs.iter().enumerate() {
                if let Some(Servers::List { items, span: list, .. }) = servers_in(&item.part, rest) {
                    return Some(Servers::List { items, span: list, within: Some(Within { pairs, span, index }) });
                }
            }
            Some(Servers::Absent { within: Some((pairs, span)) })
        }
        _ => None,
    }
}

impl<'d> Entry<'d> {
    /// The pair of exactly this key.
    pub(super) fn find(&self, document: &'d Document, path: &[&str]) -> Option<Found<'d>> {
        self.all(document, path).into_iter().find(|(_, exact)| *exact).map(|(found, _)| found)
    }

    /// The pairs of this key and of what is under it, each with whether it is exactly this key.
    pub(super) fn all(&self, document: &'d Document, path: &[&str]) -> Vec<(Found<'d>, bool)> {
        let mut found = Vec::new();
        match *self {
            Self::Inline(pairs, span) => within_table(pairs, span, path, &mut found),
            Self::Lines(statements) => {
                for (index, pair, table) in pairs_of(document, statements) {
                    // A table under the key holds parts of it only.
                    if table.len() > path.len() || !path.starts_with(&table) {
                        if table.starts_with(path) {
                            found.push((Found { pair, host: Host::Line(index) }, false));
                        }
                        continue;
                    }
                    let host = Host::Line(index);
                    match_pair(pair, host, &path[table.len()..], &mut found);
                }
            }
        }
        found
    }

    /// The headers of this key's table and of those under it.
    pub(super) fn headers(&self, document: &Document, path: &[&str]) -> Vec<usize> {
        let Self::Lines(statements) = self else { return Vec::new() };
        let is_one = |index: &usize| match &document.statements[*index] {
            Statement::Header(header) => *index != statements[0] && relative(&names(&header.path)).starts_with(path),
            Statement::Pair(_) => false,
        };
        statements.iter().copied().filter(is_one).collect()
    }

    /// The last statement of the block under the header of this table; of the server's own block for the empty path.
    pub(super) fn last_of_block(&self, document: &Document, path: &[&str]) -> Option<usize> {
        let Self::Lines(statements) = self else { return None };
        let header = statements.iter().position(|index| match &document.statements[*index] {
            Statement::Header(header) => relative(&names(&header.path)) == path,
            Statement::Pair(_) => false,
        })?;
        let block = statements[header + 1..].iter().zip(statements[header] + 1..);
        let pairs = block.take_while(|(index, next)| {
            **index == *next && matches!(document.statements[**index], Statement::Pair(_))
        });
        Some(pairs.last().map_or(statements[header], |(index, _)| *index))
    }
}

/// A header's path from the server on.
fn relative<'p, 'n>(path: &'p [&'n str]) -> &'p [&'n str] {
    path.get(PATH.len()..).unwrap_or_default()
}

/// The pairs among these statements, each with the table that it stands under.
fn pairs_of<'d>(document: &'d Document, statements: &[usize]) -> Vec<(usize, &'d Pair, Vec<&'d str>)> {
    let mut table = Vec::new();
    let mut pairs = Vec::new();
    for index in statements {
        match &document.statements[*index] {
            Statement::Header(header) => table = relative(&names(&header.path)).to_vec(),
            Statement::Pair(pair) => pairs.push((*index, pair, table.clone())),
        }
    }
    pairs
}

fn within_table<'d>(pairs: &'d List<Pair>, span: &'d Span, path: &[&str], found: &mut Vec<(Found<'d>, bool)>) {
    for (index, item) in pairs.iter().enumerate() {
        match_pair(&item.part, Host::Member(Within { pairs, span, index }), path, found);
    }
}

fn match_pair<'d>(pair: &'d Pair, host: Host<'d>, path: &[&str], found: &mut Vec<(Found<'d>, bool)>) {
    if let Some(rest) = behind(&pair.path, path) {
        match (&pair.value.kind, rest) {
            (_, []) => found.push((Found { pair, host }, true)),
            (Kind::Table(pairs), rest) => within_table(pairs, &pair.value.span, rest, found),
            _ => {}
        }
    } else if pair.path.len() > path.len() && behind(&pair.path[..path.len()], path).is_some() {
        found.push((Found { pair, host }, false));
    }
}
