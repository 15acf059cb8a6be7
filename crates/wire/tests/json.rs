//! Random JSON from the bytes of a fuzzer, in odd spellings, and an independent reader of objects.

use std::{borrow::Cow, fmt, ops::Range};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Makes JSON out of a fuzzer's bytes; when they are used up, the simplest.
pub struct Source<'a>(pub &'a [u8]);

const KEYS: &[&str] = &[
    "name",
    "_meta",
    "progressToken",
    "arguments",
    "n\\u0061me",
    "a",
    "",
    "\\\"",
    "Name",
    "é",
    "\\u005fmeta",
];
const SCALARS: &[&str] = &[
    "null",
    "true",
    "1.0",
    "-0.0",
    "1e400",
    "12345678901234567890123",
    "\"\"",
    "\"\\\\\"",
    "\"}{,:\\\"\"",
    "\"\\ud800\"",
    "\"é\u{2028}\"",
];
const SPACES: &[&str] = &["", "", "", " ", "\n", "\t\r\n "];

impl Source<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    pub fn one_of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[usize::from(self.byte()) % list.len()]
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(self.one_of(SPACES));
    }

    pub fn object(&mut self, depth: u8, out: &mut String) {
        out.push('{');
        self.space(out);
        for index in 0..self.byte() % 5 {
            if index > 0 {
                out.push(',');
                self.space(out);
            }
            let key = self.one_of(KEYS);
            out.push_str(&format!("\"{key}\""));
            self.space(out);
            out.push(':');
            self.space(out);
            // Mostly an object where one belongs.
            if key.ends_with("meta") && !self.byte().is_multiple_of(4) {
                self.object(depth + 1, out);
            } else {
                self.value(depth + 1, out);
            }
            self.space(out);
        }
        out.push('}');
    }

    fn value(&mut self, depth: u8, out: &mut String) {
        match self.byte() % 5 {
            0 if depth < 5 => self.object(depth, out),
            1 if depth < 5 => {
                out.push('[');
                for index in 0..self.byte() % 4 {
                    out.push_str(if index > 0 { "," } else { "" });
                    self.value(depth + 1, out);
                    self.space(out);
                }
                out.push(']');
            }
            _ => out.push_str(self.one_of(SCALARS)),
        }
    }
}

/// The members of an object as serde_json sees them: keys with escapes resolved, values raw.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Pairs<'a>(pub Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Pairs<'a> {
    pub fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Where the values of this key stand in the text that the pairs were read from.
    pub fn places(&self, text: &str, key: &str) -> Vec<Range<usize>> {
        let start = |value: &str| value.as_ptr() as usize - text.as_ptr() as usize;
        self.0
            .iter()
            .filter(|(k, _)| k == key)
            .map(|(_, value)| start(value)..start(value) + value.len())
            .collect()
    }
}

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    pairs.push((Cow::Owned(key), map.next_value::<&RawValue>()?.get()));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
