//! One value of a settings file against what its key may hold. Each failure names key, reason and place.

use std::collections::BTreeMap;

use patchbay_api::TransportKind;

use crate::{
    node::{Key, Node, Span, Value},
    raw::Problem,
};

/// A key's value, if it is there.
pub(crate) struct Field<'k> {
    at: At<'k>,
    value: Option<Value>,
}

/// A key and where its value stands.
#[derive(Clone)]
struct At<'k> {
    name: &'k str,
    span: Span,
}

impl At<'_> {
    fn problem(&self, reason: impl Into<String>) -> Problem {
        let span = self.span.clone();
        Problem { name: None, field: Some(self.name.into()), reason: reason.into(), hint: None, span }
    }

    /// The key with what is wrong about it.
    fn bad(&self, what: &str) -> Problem {
        self.problem(format!("{} {what}", self.name))
    }

    fn wrong(&self, value: &Value, wanted: &str) -> Problem {
        self.bad(&format!("must be {wanted}, not {}", value.kind()))
    }

    fn without_nul(&self, text: String) -> Result<String, Problem> {
        if text.contains('\0') { Err(self.bad("must not hold the character U+0000")) } else { Ok(text) }
    }
}

impl<'k> Field<'k> {
    /// The value of the key with this full name.
    pub(crate) fn of(name: &'k str, node: Option<Node>) -> Self {
        match node {
            Some(Node { value, span }) => Self { at: At { name, span }, value: Some(value) },
            None => Self { at: At { name, span: 0..0 }, value: None },
        }
    }

    /// What is wrong with this value.
    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        self.at.problem(reason)
    }

    /// true or false.
    pub(crate) fn bool(self) -> Result<Option<bool>, Problem> {
        match self.value {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(self.at.wrong(&other, "true or false without quotes")),
        }
    }

    /// A whole number from `least` up to 32 bits.
    pub(crate) fn whole(self, least: u32) -> Result<Option<u32>, Problem> {
        match self.value {
            None => Ok(None),
            Some(Value::Integer(value)) => match u32::try_from(value) {
                Ok(value) if value >= least => Ok(Some(value)),
                _ => Err(self.at.bad(&format!("must be a whole number from {least} to {}", u32::MAX))),
            },
            Some(other) => Err(self.at.wrong(&other, "a whole number")),
        }
    }

    /// A port number, not less than `least`.
    pub(crate) fn port(self, least: u32) -> Result<Option<u16>, Problem> {
        let at = self.at.clone();
        let wrong = |_| at.bad(&format!("must be a port from {least} to 65535"));
        self.whole(least)?.map(u16::try_from).transpose().map_err(wrong)
    }

    /// Text.
    pub(crate) fn text(self) -> Result<Option<String>, Problem> {
        match self.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.at.wrong(&other, "text in quotes")),
        }
    }

    /// Text with something in it that a system call can carry.
    pub(crate) fn some_text(self) -> Result<Option<String>, Problem> {
        let at = self.at.clone();
        match self.text()? {
            Some(text) if text.trim().is_empty() => Err(at.bad("must not be empty")),
            Some(text) => at.without_nul(text).map(Some),
            None => Ok(None),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(self) -> Result<Vec<String>, Problem> {
        let items = match self.value {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.at.wrong(&other, "a list of texts in square brackets")),
        };
        let name = self.at.name;
        let each = |(index, item): (usize, Node)| match item.value {
            Value::String(text) => Ok(text),
            other => {
                let name = format!("{name}[{index}]");
                Err(At { name: &name, span: item.span }.wrong(&other, "text in quotes"))
            }
        };
        items.into_iter().enumerate().map(each).collect()
    }

    /// Arguments of a program.
    pub(crate) fn args(self) -> Result<Vec<String>, Problem> {
        let at = self.at.clone();
        self.texts()?.into_iter().map(|text| at.without_nul(text)).collect()
    }

    /// Globs.
    pub(crate) fn globs(self) -> Result<Vec<String>, Problem> {
        let at = self.at.clone();
        let globs = self.texts()?;
        for glob in &globs {
            globset::Glob::new(glob).map_err(|error| {
                at.problem(format!("{}: \"{glob}\" is no pattern: {}", at.name, error.kind()))
            })?;
        }
        Ok(globs)
    }

    /// A table.
    pub(crate) fn table(self) -> Result<Option<Vec<(Key, Node)>>, Problem> {
        match self.value {
            None => Ok(None),
            Some(Value::Table(members)) => Ok(Some(members)),
            Some(other) => Err(self.at.wrong(&other, "a table")),
        }
    }

    /// A table of texts, each of which `wrong` has nothing to say about.
    fn text_table(
        self,
        wrong: fn(&str, &str) -> Option<&'static str>,
    ) -> Result<BTreeMap<String, String>, Problem> {
        let table = self.at.name;
        let mut texts = BTreeMap::new();
        for (key, Node { value, span }) in self.table()?.unwrap_or_default() {
            let fault = match &value {
                Value::String(text) => wrong(&key.name, text).map(ToOwned::to_owned),
                other => Some(format!("must be text in quotes, not {}", other.kind())),
            };
            if let Some(fault) = fault {
                return Err(At { name: &format!("{table}.{}", key.name), span }.bad(&fault));
            }
            if let Value::String(text) = value {
                texts.insert(key.name, text);
            }
        }
        Ok(texts)
    }

    /// Variables of an environment.
    pub(crate) fn env(self) -> Result<BTreeMap<String, String>, Problem> {
        self.text_table(|name, value| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Some("is no name of a variable");
            }
            value.contains('\0').then_some("must not hold the character U+0000")
        })
    }

    /// HTTP headers (RFC 9110, sections 5.1 and 5.5).
    pub(crate) fn headers(self) -> Result<BTreeMap<String, String>, Problem> {
        let table = self.at.clone();
        let headers = self.text_table(|name, value| {
            if name.is_empty() || !name.bytes().all(is_token) {
                return Some("is no name of a header");
            }
            // The value is not repeated: it may be a secret.
            let control = value.contains(|c: char| c.is_control() && c != '\t');
            control.then_some("holds a line break or another control character")
        })?;
        let mut seen = BTreeMap::new();
        for name in headers.keys() {
            if let Some(other) = seen.insert(name.to_ascii_lowercase(), name) {
                return Err(
                    table.problem(format!("{}: \"{other}\" and \"{name}\" are the same header", table.name))
                );
            }
        }
        Ok(headers)
    }

    /// A web address. One with variables is looked at again when they are filled in.
    pub(crate) fn address(self) -> Result<Option<String>, Problem> {
        let at = self.at.clone();
        let Some(text) = self.some_text()? else { return Ok(None) };
        if text.contains("${") {
            return Ok(Some(text));
        }
        match url::Url::parse(&text) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                Err(at.bad("must begin with http:// or https://"))
            }
            Ok(url) if url.host_str().is_none_or(str::is_empty) => Err(at.bad("names no host")),
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(at.bad(&format!("is no web address: {error}"))),
        }
    }

    /// `type`.
    pub(crate) fn transport(self) -> Result<Option<TransportKind>, Problem> {
        let at = self.at.clone();
        Ok(match self.text()?.as_deref() {
            None => None,
            Some("stdio") => Some(TransportKind::Stdio),
            Some("http") => Some(TransportKind::Http),
            Some("sse") => Some(TransportKind::Sse),
            Some(other) => {
                let other: String = other.chars().take(40).collect();
                let reason = format!("the type \"{other}\" is not known: use \"stdio\", \"http\" or \"sse\"");
                return Err(at.problem(reason));
            }
        })
    }

    /// A reference into the secret store: never the secret itself.
    pub(crate) fn secret_reference(self) -> Result<Option<String>, Problem> {
        let at = self.at.clone();
        let Some(text) = self.some_text()? else { return Ok(None) };
        let name = text.strip_prefix("${secret:").and_then(|rest| rest.strip_suffix('}'));
        if name.is_some_and(|name| !name.is_empty() && !name.contains(['{', '}', '$'])) {
            return Ok(Some(text));
        }
        let mut problem = at.bad("must be a reference such as \"${secret:NAME}\"");
        problem.hint =
            Some("Store it with \"patchbay secret set NAME\" and write the reference here.".into());
        Err(problem)
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
