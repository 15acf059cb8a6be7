//! The values that are known to be secret, ready to be searched for all at once.

use std::{collections::VecDeque, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::{Secret, forms, redactor::floor};

/// Shorter values are not searched for: they would hit half of all text. In characters.
const SHORTEST: usize = 6;
/// So many bytes of a form are searched for; what follows is compared. Keeps the automaton small for long tokens.
const HEAD: usize = 48;
/// Most values; beyond them the oldest is forgotten. Sign-ins renew their tokens every hour.
const MOST: usize = 2048;

/// Known values and the automaton that finds them. Never changed: a new one is made when a value is added.
#[derive(Default)]
pub(crate) struct Known {
    values: VecDeque<Secret>,
    forms: Vec<Secret>,
    heads: Option<AhoCorasick>,
}

impl Known {
    /// These values and more; `None` where nothing would be new.
    pub fn with<'a>(&self, more: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut values = self.values.clone();
        let before = values.len();
        // A value of several lines is written line by line, so each line counts.
        for value in more.flat_map(|value| std::iter::once(value).chain(value.lines().map(str::trim))) {
            let new = value.chars().nth(SHORTEST - 1).is_some()
                && values.iter().all(|known| known.expose() != value);
            if new {
                values.push_back(value.into());
            }
        }
        if values.len() == before {
            return None;
        }
        values.drain(..values.len().saturating_sub(MOST));
        let forms: Vec<Secret> =
            values.iter().flat_map(|value| forms::of(value.expose())).map(Secret::from).collect();
        let heads = forms.iter().map(|form| head(form.expose()));
        // The compact automaton: a table of all states would take megabytes.
        let heads = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(heads).ok();
        Some(Self { values, forms, heads })
    }

    /// Whether there is anything to search for.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Where known values stand in a text; ranges may overlap.
    pub fn find(&self, text: &str, ranges: &mut Vec<Range<usize>>) {
        let Some(heads) = &self.heads else { return };
        for found in heads.find_overlapping_iter(text) {
            let form = self.forms[found.pattern()].expose().as_bytes();
            let rest = text.as_bytes()[found.start()..].iter().zip(form).take_while(|(a, b)| a == b).count();
            ranges.push(found.start()..found.start() + rest);
        }
    }
}

fn head(form: &str) -> &str {
    &form[..floor(form, HEAD)]
}
