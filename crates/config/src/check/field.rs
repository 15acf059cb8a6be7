//! One value of a settings file against what its key may hold. Each failure names key, reason and place.

use std::collections::BTreeMap;

use patchbay_api::TransportKind;

use crate::{
    node::{Key, Node, Value},
    raw::Problem,
};

/// A key's value, if it is there.
pub(crate) struct Field<'n> {
    name: &'n str,
    node: Option<&'n Node>,
}

impl<'n> Field<'n> {
    /// The value of the key with this full name.
    pub(crate) fn of(name: &'n str, node: Option<&'n Node>) -> Self {
        Self { name, node }
    }

    /// What is wrong with this value.
    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem {
            name: None,
            field: Some(self.name.into()),
            reason: reason.into(),
            hint: None,
            span: self.node.map_or(0..0, |node| node.span.clone()),
        }
    }

    fn wrong(&self, node: &Node, wanted: &str) -> Problem {
        self.problem(format!("{} must be {wanted}, not {}", self.name, node.kind()))
    }

    /// true or false.
    pub(crate) fn bool(&self) -> Result<Option<bool>, Problem> {
        match self.node {
            None => Ok(None),
            Some(Node { value: Value::Bool(value), .. }) => Ok(Some(*value)),
            Some(node) => Err(self.wrong(node, "true or false without quotes")),
        }
    }

    /// A whole number from `least` up to 32 bits.
    pub(crate) fn whole(&self, least: u32) -> Result<Option<u32>, Problem> {
        match self.node {
            None => Ok(None),
            Some(Node { value: Value::Integer(value), .. }) => match u32::try_from(*value) {
                Ok(value) if value >= least => Ok(Some(value)),
                _ => Err(self.problem(format!("{} must be a whole number from {least} to {}", self.name, u32::MAX))),
            },
            Some(node) => Err(self.wrong(node, "a whole number")),
        }
    }

    /// A port number; 0 is none.
    pub(crate) fn port(&self) -> Result<Option<u16>, Problem> {
        match self.whole(1)? {
            None => Ok(None),
            Some(value) => u16::try_from(value)
                .map(Some)
                .map_err(|_| self.problem(format!("{} must be a port from 1 to 65535", self.name))),
        }
    }

    /// Text.
    pub(crate) fn text(&self) -> Result<Option<String>, Problem> {
        match self.node {
            None => Ok(None),
            Some(Node { value: Value::String(text), .. }) => Ok(Some(text.clone())),
            Some(node) => Err(self.wrong(node, "text in quotes")),
        }
    }

    /// Text with something in it.
    pub(crate) fn some_text(&self) -> Result<Option<String>, Problem> {
        match self.text()? {
            Some(text) if text.trim().is_empty() => Err(self.problem(format!("{} must not be empty", self.name))),
            Some(text) => self.without_nul(text).map(Some),
            None => Ok(None),
        }
    }

    /// Text that a system call can carry.
    pub(crate) fn without_nul(&self, text: String) -> Result<String, Problem> {
        if text.contains('\0') {
            return Err(self.problem(format!("{} must not hold the character U+0000", self.name)));
        }
        Ok(text)
    }

    /// A list of texts.
    pub(crate) fn texts(&self) -> Result<Vec<String>, Problem> {
        let items = match self.node {
            None => return Ok(Vec::new()),
            Some(Node { value: Value::Array(items), .. }) => items,
            Some(node) => return Err(self.wrong(node, "a list of texts in square brackets")),
        };
        let each = |(index, item): (usize, &Node)| match &item.value {
            Value::String(text) => Ok(text.clone()),
            _ => {
                let name = format!("{}[{index}]", self.name);
                Err(Field::of(&name, Some(item)).wrong(item, "text in quotes"))
            }
        };
        items.iter().enumerate().map(each).collect()
    }

    /// Arguments of a program.
    pub(crate) fn args(&self) -> Result<Vec<String>, Problem> {
        self.texts()?.into_iter().map(|text| self.without_nul(text)).collect()
    }

    /// Globs.
    pub(crate) fn globs(&self) -> Result<Vec<String>, Problem> {
        let globs = self.texts()?;
        for glob in &globs {
            globset::Glob::new(glob)
                .map_err(|error| self.problem(format!("{}: \"{glob}\" is no pattern: {}", self.name, error.kind())))?;
        }
        Ok(globs)
    }

    /// A table.
    pub(crate) fn table(&self) -> Result<Option<&'n [(Key, Node)]>, Problem> {
        match self.node {
            None => Ok(None),
            Some(Node { value: Value::Table(members), .. }) => Ok(Some(members)),
            Some(node) => Err(self.wrong(node, "a table")),
        }
    }

    fn text_table(&self, check: impl Fn(&Field<'_>, &str, &str) -> Result<(), Problem>) -> Result<BTreeMap<String, String>, Problem> {
        let mut texts = BTreeMap::new();
        for (key, node) in self.table()?.unwrap_or_default() {
            let name = format!("{}.{}", self.name, key.name);
            let field = Field::of(&name, Some(node));
            let text = field.text()?.unwrap_or_default();
            check(&field, &key.name, &text)?;
            texts.insert(key.name.clone(), text);
        }
        Ok(texts)
    }

    /// Variables of an environment.
    pub(crate) fn env(&self) -> Result<BTreeMap<String, String>, Problem> {
        self.text_table(|field, name, value| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(field.problem(format!("{} is no name of a variable", field.name)));
            }
            field.without_nul(value.to_owned()).map(drop)
        })
    }

    /// HTTP headers (RFC 9110, sections 5.1 and 5.5).
    pub(crate) fn headers(&self) -> Result<BTreeMap<String, String>, Problem> {
        let headers = self.text_table(|field, name, value| {
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(field.problem(format!("{} is no name of a header", field.name)));
            }
            // The value is not repeated: it may be a secret.
            if value.contains(|c: char| c.is_control() && c != '\t') {
                return Err(field.problem(format!("{} holds a line break or another control character", field.name)));
            }
            Ok(())
        })?;
        let mut seen = BTreeMap::new();
        for name in headers.keys() {
            if let Some(other) = seen.insert(name.to_ascii_lowercase(), name) {
                return Err(self.problem(format!("{}: \"{other}\" and \"{name}\" are the same header", self.name)));
            }
        }
        Ok(headers)
    }

    /// A web address. One with variables is looked at again when they are filled in.
    pub(crate) fn address(&self, text: String) -> Result<String, Problem> {
        if text.contains("${") {
            return Ok(text);
        }
        let reason = match url::Url::parse(&text) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => "must begin with http:// or https://".to_owned(),
            Ok(url) if url.host_str().is_none_or(str::is_empty) => "names no host".to_owned(),
            Ok(_) => return Ok(text),
            Err(error) => format!("is no web address: {error}"),
        };
        Err(self.problem(format!("{} {reason}", self.name)))
    }

    /// `type`.
    pub(crate) fn transport(&self) -> Result<Option<TransportKind>, Problem> {
        Ok(match self.text()?.as_deref() {
            None => None,
            Some("stdio") => Some(TransportKind::Stdio),
            Some("http") => Some(TransportKind::Http),
            Some("sse") => Some(TransportKind::Sse),
            Some(other) => {
                let reason = format!("the type \"{}\" is not known: use \"stdio\", \"http\" or \"sse\"", cut(other));
                return Err(self.problem(reason));
            }
        })
    }

    /// A reference into the secret store: never the secret itself.
    pub(crate) fn secret_reference(&self) -> Result<Option<String>, Problem> {
        let Some(text) = self.some_text()? else { return Ok(None) };
        let name = text.strip_prefix("${secret:").and_then(|rest| rest.strip_suffix('}'));
        if name.is_some_and(|name| !name.is_empty() && !name.contains(['{', '}', '$'])) {
            return Ok(Some(text));
        }
        let mut problem = self.problem(format!("{} must be a reference such as \"${{secret:NAME}}\"", self.name));
        problem.hint = Some("Store it with \"patchbay secret set NAME\" and write the reference here.".into());
        Err(problem)
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Text from a file, short enough for a message.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
