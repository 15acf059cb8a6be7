//! What statements amount to: one table, by TOML's rules about defining and extending tables (TOML 1.0, "Table",
//! "Inline Table", "Array of Tables").

use std::collections::HashMap;

use toml_parser::ParseError;

use super::syntax::{Document, Kind, List, Pair, Part, Statement, Tree, explain, scalar};
use crate::node::{Key, Node, Span, SyntaxError, Value};

/// How a table came to be; it decides who may add to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// As the parent in some header.
    Implied,
    /// By a dotted key.
    Dotted,
    /// By its own header.
    Header,
    /// By `{…}`: complete.
    Inline,
}

struct Table {
    origin: Origin,
    span: Span,
    members: Vec<(Key, Slot)>,
    /// Where each member stands, once there are many: a hostile file must not cost quadratic time.
    index: HashMap<String, usize>,
}

enum Slot {
    Leaf(Node),
    Table(usize),
    /// An array of tables, with the first one's header. In a box, so that a slot is as large as a node and tables
    /// become nodes without being moved.
    Tables(Box<(Vec<usize>, Span)>),
}

/// Members that a table has room for at first.
const USUAL: usize = 8;
/// Members that are looked for one by one.
const FEW: usize = 16;

impl Table {
    fn new(origin: Origin, span: Span) -> Self {
        Self { origin, span, members: Vec::with_capacity(USUAL), index: HashMap::new() }
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.members.len() <= FEW {
            return self.members.iter().position(|(key, _)| key.name == name);
        }
        self.index.get(name).copied()
    }

    fn insert(&mut self, key: Key, slot: Slot) {
        let at = self.members.len();
        if at == FEW {
            self.index.extend(self.members.iter().enumerate().map(|(i, (key, _))| (key.name.clone(), i)));
        }
        if at >= FEW {
            self.index.insert(key.name.clone(), at);
        }
        self.members.push((key, slot));
    }
}

struct Tables<'t> {
    text: &'t str,
    all: Vec<Table>,
    /// The first thing wrong with the spelling of a key or value.
    error: Option<ParseError>,
}

const ROOT: usize = 0;

/// The table that a document amounts to.
pub(super) fn root(text: &str, document: &Document) -> Result<Node, SyntaxError> {
    let mut tables = Tables { text, all: vec![Table::new(Origin::Header, 0..0)], error: None };
    let mut current = ROOT;
    for statement in &document.statements {
        match statement {
            Statement::Header(header) if header.array => {
                current = tables.add_to_array(&header.path, header.span.clone())?;
            }
            Statement::Header(header) => current = tables.define(&header.path, header.span.clone())?,
            Statement::Pair(pair) => tables.set(current, pair)?,
        }
        if let Some(error) = &tables.error {
            return Err(explain(error));
        }
    }
    Ok(tables.take(ROOT))
}

fn split(path: &[Part]) -> Result<(&[Part], &Part), SyntaxError> {
    match path {
        [parents @ .., last] => Ok((parents, last)),
        [] => Err(SyntaxError { reason: "a key is missing".into(), offset: 0 }),
    }
}

fn refuse<T>(key: &Key, reason: &str) -> Result<T, SyntaxError> {
    let shown: String = key.name.chars().take(60).collect();
    Err(SyntaxError { reason: format!("{reason} `{shown}`"), offset: key.span.start })
}

const TWICE: &str = "duplicate key";
const CLOSED: &str = "cannot add to the value of";

impl Tables<'_> {
    fn key(&mut self, part: &Part) -> Key {
        Key { name: part.decode(self.text, &mut self.error).into_owned(), span: part.span.clone() }
    }

    /// The member of a table that a key names.
    fn member(&mut self, table: usize, part: &Part) -> Option<&Slot> {
        let name = part.decode(self.text, &mut self.error);
        let table = &self.all[table];
        table.find(&name).map(|at| &table.members[at].1)
    }

    fn add(&mut self, table: Table) -> usize {
        self.all.push(table);
        self.all.len() - 1
    }

    /// `[path]`
    fn define(&mut self, path: &[Part], span: Span) -> Result<usize, SyntaxError> {
        let (parents, last) = split(path)?;
        let parent = self.descend_header(parents)?;
        let last = self.key(last);
        let Some(at) = self.all[parent].find(&last.name) else {
            let id = self.add(Table::new(Origin::Header, span));
            self.all[parent].insert(last, Slot::Table(id));
            return Ok(id);
        };
        match self.all[parent].members[at].1 {
            Slot::Table(id) if self.all[id].origin == Origin::Implied => {
                self.all[id].origin = Origin::Header;
                self.all[id].span = span;
                Ok(id)
            }
            _ => refuse(&last, TWICE),
        }
    }

    /// `[[path]]`
    fn add_to_array(&mut self, path: &[Part], span: Span) -> Result<usize, SyntaxError> {
        let (parents, last) = split(path)?;
        let parent = self.descend_header(parents)?;
        let last = self.key(last);
        let id = self.add(Table::new(Origin::Header, span.clone()));
        match self.all[parent].find(&last.name) {
            None => self.all[parent].insert(last, Slot::Tables(Box::new((vec![id], span)))),
            Some(at) => match &mut self.all[parent].members[at].1 {
                Slot::Tables(array) => array.0.push(id),
                _ => return refuse(&last, TWICE),
            },
        }
        Ok(id)
    }

    /// The table that a header's parents lead to; an array of tables stands for its last one.
    fn descend_header(&mut self, parents: &[Part]) -> Result<usize, SyntaxError> {
        let mut id = ROOT;
        for part in parents {
            let next = match self.member(id, part) {
                Some(Slot::Table(next)) => Some(*next),
                Some(Slot::Tables(array)) => array.0.last().copied(),
                Some(Slot::Leaf(_)) => return refuse(&self.key(part), CLOSED),
                None => None,
            };
            id = match next {
                Some(next) if self.all[next].origin == Origin::Inline => {
                    return refuse(&self.key(part), CLOSED);
                }
                Some(next) => next,
                None => self.add_child(id, part, Origin::Implied),
            };
        }
        Ok(id)
    }

    fn add_child(&mut self, parent: usize, part: &Part, origin: Origin) -> usize {
        let key = self.key(part);
        let id = self.add(Table::new(origin, key.span.clone()));
        self.all[parent].insert(key, Slot::Table(id));
        id
    }

    /// `path = value` within a table.
    fn set(&mut self, table: usize, pair: &Pair) -> Result<(), SyntaxError> {
        let (parents, last) = split(&pair.path)?;
        let parent = self.descend_dotted(table, parents)?;
        let last = self.key(last);
        if self.all[parent].find(&last.name).is_some() {
            return refuse(&last, TWICE);
        }
        let slot = self.value(&pair.value)?;
        self.all[parent].insert(last, slot);
        Ok(())
    }

    /// The table that a dotted key leads to. Tables that a header named belong to that header.
    fn descend_dotted(&mut self, table: usize, parents: &[Part]) -> Result<usize, SyntaxError> {
        let mut id = table;
        for part in parents {
            let next = match self.member(id, part) {
                None => None,
                Some(Slot::Table(next)) => Some(*next),
                Some(Slot::Leaf(_) | Slot::Tables(_)) => return refuse(&self.key(part), CLOSED),
            };
            let Some(next) = next else {
                id = self.add_child(id, part, Origin::Dotted);
                continue;
            };
            id = next;
            match self.all[next].origin {
                Origin::Dotted => {}
                Origin::Implied => self.all[next].origin = Origin::Dotted,
                Origin::Header => return refuse(&self.key(part), TWICE),
                Origin::Inline => return refuse(&self.key(part), CLOSED),
            }
        }
        Ok(id)
    }

    fn value(&mut self, tree: &Tree) -> Result<Slot, SyntaxError> {
        Ok(match &tree.kind {
            Kind::Scalar(encoding) => {
                let value = scalar(self.text, *encoding, &tree.span, &mut self.error);
                Slot::Leaf(Node { value, span: tree.span.clone() })
            }
            Kind::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.push(self.node(&item.part)?);
                }
                Slot::Leaf(Node { value: Value::Array(nodes), span: tree.span.clone() })
            }
            Kind::Table(pairs) => Slot::Table(self.inline(pairs, &tree.span)?),
        })
    }

    fn node(&mut self, tree: &Tree) -> Result<Node, SyntaxError> {
        Ok(match self.value(tree)? {
            Slot::Leaf(node) => node,
            Slot::Table(id) => self.take(id),
            Slot::Tables(..) => Node { value: Value::Null, span: tree.span.clone() },
        })
    }

    fn inline(&mut self, pairs: &List<Pair>, span: &Span) -> Result<usize, SyntaxError> {
        let id = self.add(Table::new(Origin::Inline, span.clone()));
        for item in pairs {
            self.set(id, &item.part)?;
        }
        Ok(id)
    }

    /// A finished table as a node.
    fn take(&mut self, id: usize) -> Node {
        let members = std::mem::take(&mut self.all[id].members);
        let span = self.all[id].span.clone();
        let members = members.into_iter().map(|(key, slot)| (key, self.take_slot(slot))).collect();
        Node { value: Value::Table(members), span }
    }

    fn take_slot(&mut self, slot: Slot) -> Node {
        match slot {
            Slot::Leaf(node) => node,
            Slot::Table(id) => self.take(id),
            Slot::Tables(array) => {
                let (ids, span) = *array;
                let nodes = ids.into_iter().map(|id| self.take(id)).collect();
                Node { value: Value::Array(nodes), span }
            }
        }
    }
}
