//! TOML with its layout: statements as they stand in the text, and the table that they amount to.
//!
//! `syntax` takes a text apart without losing a byte's place, `tables` applies TOML's rules about what may be
//! defined where, `spell` writes values. One walk serves readers and edits, because a parser that keeps values but
//! not places, or respells what it keeps, serves only one of them.

pub(crate) mod spell;
pub(crate) mod syntax;
mod tables;

use crate::node::{Node, SyntaxError};

pub(crate) use syntax::Document;

/// Deepest nesting of values, and most parts of a key.
pub(crate) const MAX_DEPTH: u32 = 64;

/// A text's statements and the table that they make.
///
/// # Errors
/// What is wrong first, and where.
pub(crate) fn parse(text: &str) -> Result<(Document, Node), SyntaxError> {
    let document = Document::parse(text)?;
    let root = tables::root(text, &document)?;
    Ok((document, root))
}
