//! Whether an SPDX licence expression can be satisfied with a list of licences.

/// Whether `expression` holds when exactly the licences of `list` may be used. A licence with an exception counts
/// only when the list has it with that exception. What can't be read does not hold.
pub fn allowed(expression: &str, list: &[&str]) -> bool {
    // Old manifests write `A/B` for `A OR B`.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<_> = spaced.split_whitespace().collect();
    let mut reader = Reader { tokens: &tokens, list };
    reader.or() == Some(true) && reader.tokens.is_empty()
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    list: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn next_is(&mut self, word: &str) -> bool {
        let is = self.tokens.first() == Some(&word);
        if is {
            self.tokens = &self.tokens[1..];
        }
        is
    }

    fn word(&mut self) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn or(&mut self) -> Option<bool> {
        let mut holds = self.and()?;
        while self.next_is("OR") {
            holds |= self.and()?;
        }
        Some(holds)
    }

    fn and(&mut self) -> Option<bool> {
        let mut holds = self.one()?;
        while self.next_is("AND") {
            holds &= self.one()?;
        }
        Some(holds)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next_is("(") {
            let holds = self.or()?;
            return self.next_is(")").then_some(holds);
        }
        let licence = self.word()?;
        let whole = if self.next_is("WITH") {
            format!("{licence} WITH {}", self.word()?)
        } else {
            licence.to_owned()
        };
        Some(self.list.contains(&whole.as_str()))
    }
}

#[test]
fn licence_expressions_are_read_as_spdx_states() {
    let list = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"];
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/Apache-2.0",
        "MIT AND ISC",
        "(GPL-3.0 OR MIT) AND ISC",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0",
    ] {
        assert!(allowed(good, &list), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "Apache-2.0",
        "ISC WITH LLVM-exception",
        "(MIT",
        "MIT ISC",
        "MIT OR",
    ] {
        assert!(!allowed(bad, &list), "{bad}");
    }
}
