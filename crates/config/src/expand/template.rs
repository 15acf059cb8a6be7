//! Texts with references in them: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${secret:NAME}`.
//!
//! Pure: splits a text and names what stands in it. Looking values up is `expand`'s.

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Stands for itself.
    Text(&'a str),
    /// Stands for a value.
    Reference(Reference<'a>),
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The environment.
    Env,
    /// The secret store.
    Secret,
}

/// A reference as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    pub source: Source,
    pub name: &'a str,
    /// Used where the variable is unset or empty; never expanded itself.
    pub default: Option<&'a str>,
}

/// A `${` that is no reference. Nothing is guessed: the server does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadReference {
    pub text: String,
    pub reason: &'static str,
}

/// Splits a text into its pieces. `$NAME`, `$5` and a lone `$` are text.
pub(crate) fn split(text: &str) -> Result<Vec<Part<'_>>, BadReference> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if at > 0 {
            parts.push(Part::Text(&rest[..at]));
        }
        let Some(length) = rest[at..].find('}') else {
            return Err(BadReference { text: rest[at..].to_owned(), reason: "the closing } is missing" });
        };
        let written = &rest[at..=at + length];
        let inner = &written[2..written.len() - 1];
        let reference =
            reference(inner).map_err(|reason| BadReference { text: written.to_owned(), reason })?;
        parts.push(Part::Reference(reference));
        rest = &rest[at + length + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

fn reference(inner: &str) -> Result<Reference<'_>, &'static str> {
    if let Some(name) = inner.strip_prefix("secret:") {
        let fits = !name.is_empty()
            && name.len() <= 200
            && !name.chars().any(|c| c.is_control() || c.is_whitespace());
        return if !fits {
            Err("a secret's name is 1 to 200 characters without space")
        } else if name.contains(":-") {
            Err("a secret has no default")
        } else {
            Ok(Reference { source: Source::Secret, name, default: None })
        };
    }
    let body = inner.strip_prefix("env:").unwrap_or(inner);
    let (name, default) = match body.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (body, None),
    };
    if default.is_some_and(|text| text.contains("${")) {
        return Err("a default cannot hold another reference");
    }
    if name.contains(':') {
        return Err("only ${NAME}, ${NAME:-default}, ${env:NAME} and ${secret:NAME} are known");
    }
    if !is_name(name) {
        return Err("a variable's name is letters, digits and _, and starts with no digit");
    }
    Ok(Reference { source: Source::Env, name, default })
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// How a text spells a variable in another program's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// `$NAME`, as shells do.
    Dollar,
    /// `{env:NAME}`
    Braces,
    /// `%NAME%`
    Percent,
    /// `{{NAME}}`, a place to be filled in by hand.
    Placeholder,
}

/// What in the text looks like a variable of another program: it is not expanded.
pub(crate) fn foreign(text: &str) -> Vec<(Spelling, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(['$', '{', '%']) {
        at += offset;
        let rest = &text[at..];
        let hit = match rest.as_bytes()[0] {
            b'$' => dollar(rest).map(|end| (Spelling::Dollar, end)),
            b'%' => percent(rest).map(|end| (Spelling::Percent, end)),
            _ => enclosed(rest, "{{", "}}")
                .map(|end| (Spelling::Placeholder, end))
                .or_else(|| enclosed(rest, "{env:", "}").map(|end| (Spelling::Braces, end))),
        };
        at += match hit {
            Some((spelling, end)) => {
                found.push((spelling, &rest[..end]));
                end
            }
            // `${env:X}` is ours: its brace must not be taken for `{env:X}`.
            None if rest.starts_with("${") => 2,
            None => 1,
        };
    }
    found
}

fn dollar(rest: &str) -> Option<usize> {
    let end = 1 + name_length(&rest[1..], &[]);
    (end > 2 && is_name(&rest[1..end])).then_some(end)
}

/// `%NAME%`; names under three characters are taken for percent-encoding and time formats (`%C3%A9`, `%H%M`).
pub(super) fn percent(rest: &str) -> Option<usize> {
    let end = 1 + name_length(&rest[1..], &[]);
    (end > 3 && rest[end..].starts_with('%') && is_name(&rest[1..end])).then_some(end + 1)
}

fn enclosed(rest: &str, open: &str, close: &str) -> Option<usize> {
    let inner = rest.strip_prefix(open)?;
    let length = name_length(inner, &[' ']);
    let closed = inner[length..].starts_with(close) && is_name(inner[..length].trim_matches(' '));
    closed.then_some(open.len() + length + close.len())
}

/// How far the characters of a name go. Looking no further keeps long texts without an end cheap.
fn name_length(text: &str, also: &[char]) -> usize {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || also.contains(&c));
    text.find(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(name: &'a str, default: Option<&'a str>) -> Part<'a> {
        Part::Reference(Reference { source: Source::Env, name, default })
    }

    #[test]
    fn the_four_forms_are_references_and_the_rest_is_text() {
        let secret = Part::Reference(Reference { source: Source::Secret, name: "db.main", default: None });
        assert_eq!(
            split("a${A}b${B:-x:y}${env:C}${secret:db.main} $5 $HOME $").unwrap(),
            [
                Part::Text("a"),
                env("A", None),
                Part::Text("b"),
                env("B", Some("x:y")),
                env("C", None),
                secret,
                Part::Text(" $5 $HOME $")
            ]
        );
        assert_eq!(split("${A:-}").unwrap(), [env("A", Some(""))]);
        assert_eq!(split("$${A}").unwrap(), [Part::Text("$"), env("A", None)]);
        assert_eq!(split("").unwrap(), []);
    }

    #[test]
    fn what_starts_like_a_reference_and_is_none_is_an_error() {
        for text in [
            "${",
            "${A",
            "${}",
            "${1A}",
            "${a b}",
            "${input:key}",
            "${secret:}",
            "${secret:a:-b}",
            "${A:-${B}}",
            "${é}",
            "${a.b}",
        ] {
            assert!(split(text).is_err(), "{text}");
        }
        assert_eq!(split("x ${input:key} y").unwrap_err().text, "${input:key}");
    }

    #[test]
    fn other_programs_spellings_are_seen() {
        assert_eq!(
            foreign("{env:A} {{HOST}} {{ a }} %APPDATA%\\x $HOME/x $5 100% ${OURS} ${env:OURS} %C3%A9 {x}"),
            [
                (Spelling::Braces, "{env:A}"),
                (Spelling::Placeholder, "{{HOST}}"),
                (Spelling::Placeholder, "{{ a }}"),
                (Spelling::Percent, "%APPDATA%"),
                (Spelling::Dollar, "$HOME"),
            ]
        );
        for text in
            ["%H%M%S", "{{.Name}}", "{\"a\": {}}", "%%", "$", "{{", "{env:", "a%20b%20c", "$(id)", "`id`"]
        {
            assert_eq!(foreign(text), [], "{text}");
        }
    }
}
