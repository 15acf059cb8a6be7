//! Replacing bytes of a text.

use crate::node::Span;

/// Bytes to replace, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) span: Span,
    pub(super) text: String,
}

impl Patch {
    pub(super) fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }

    pub(super) fn remove(span: Span) -> Self {
        Self::new(span, "")
    }
}

/// Whether any of the first touches or overlaps any of the others.
pub(super) fn meet(first: &[Patch], others: &[Patch]) -> bool {
    let touches = |a: &Patch, b: &Patch| a.span.start <= b.span.end && b.span.start <= a.span.end;
    first.iter().any(|a| others.iter().any(|b| touches(a, b)))
}

/// The text with these patches. Those that begin at one byte are applied in their order.
pub(super) fn apply(text: &str, mut patches: Vec<Patch>) -> String {
    patches.sort_by_key(|patch| patch.span.start);
    let mut patched = String::with_capacity(text.len() + patches.iter().map(|p| p.text.len()).sum::<usize>());
    let mut done = 0;
    for Patch { span, text: new } in patches {
        debug_assert!(span.start >= done, "patches overlap");
        patched.push_str(&text[done..span.start.max(done)]);
        patched.push_str(&new);
        done = span.end.max(done);
    }
    patched.push_str(&text[done..]);
    patched
}
