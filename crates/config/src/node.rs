//! Values as a file holds them, with the bytes where they stand. Read from TOML here, from JSON with comments
//! elsewhere; what the values mean is decided by the readers.

use std::{cell::OnceCell, ops::Range, path::Path};

use patchbay_api::Place;

/// Where something stands in a file: bytes from its start.
pub type Span = Range<usize>;

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Its bytes; for a table under a header, the header's.
    pub span: Span,
}

/// The kinds of values that TOML and JSON share, and what only one of them has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// JSON's null.
    Null,
    /// true or false.
    Bool(bool),
    /// A whole number of 64 bits.
    Integer(i64),
    /// A number that is no such integer, as it is spelled.
    Number(String),
    /// Text.
    String(String),
    /// A date or time of TOML, as it is spelled.
    Datetime(String),
    /// A list.
    Array(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<(Key, Node)>),
}

/// A key and its place.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key without quotes and escapes.
    pub name: String,
    /// Its bytes.
    pub span: Span,
}

/// Equal values are equal wherever they stand.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Node {}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

impl Value {
    /// What it is, in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::String(_) => "text",
            Self::Datetime(_) => "a date or time",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// What it is, in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.value.kind()
    }

    /// The member of a table.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(members) => members.iter().find(|(key, _)| key.name == name).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The member of a table, to be changed or taken.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::Table(members) => {
                members.iter_mut().find(|(key, _)| key.name == name).map(|(_, node)| node)
            }
            _ => None,
        }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// A parser's complaint: why, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Why.
    pub reason: String,
    /// From which byte on.
    pub offset: usize,
}

/// The starts of a text's lines, to turn bytes into places that a person can open.
#[derive(Debug)]
pub struct Lines<'t> {
    file: &'t Path,
    text: &'t str,
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Lines<'t> {
    /// The lines of this file's text. They are not looked for before something is wrong.
    #[must_use]
    pub fn new(file: &'t Path, text: &'t str) -> Self {
        Self { file, text, starts: OnceCell::new() }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(ends).collect()
        })
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.starts().partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Line and column of a byte. A byte order mark takes no column.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        let line = self.line(offset);
        let start = self.starts().get(line as usize - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or("").trim_start_matches('\u{feff}');
        let column = u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX);
        Place { file: self.file.display().to_string(), line: Some(line), column: Some(column) }
    }
}

/// Reads TOML into a table.
///
/// # Errors
/// What the parser says, and where.
pub fn parse_toml(text: &str) -> Result<Node, SyntaxError> {
    crate::toml::parse(text).map(|(_, root)| root)
}
