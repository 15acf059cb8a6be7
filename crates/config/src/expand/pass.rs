//! One pass over a server's texts: each reference is replaced by its value, and what comes in is left alone.
//!
//! The rules stand in the module above, the grammar in `template`.

use std::collections::BTreeMap;

use super::error::ExpandError;
use super::template::{self, Part, Source, Spelling, foreign, split};
use super::{EnvLookup, SecretLookup};
use crate::model::{Http, Stdio};

pub(super) struct Pass<'a> {
    pub env: &'a EnvLookup<'a>,
    pub secret: &'a SecretLookup<'a>,
    pub came_in: Vec<String>,
    pub windows: bool,
}

impl Pass<'_> {
    pub(super) fn stdio(&mut self, stdio: &Stdio) -> Result<Stdio, ExpandError> {
        let Stdio { command, args, env, cwd, sandbox } = stdio;
        no_placeholder("command", command)?;
        let command = self.path("command", command)?;
        let mut filled_args = Vec::with_capacity(args.len());
        for (at, text) in args.iter().enumerate() {
            filled_args.push(self.text(&format!("args[{at}]"), text)?);
        }
        let env = self.table("env", env)?;
        let cwd = match cwd {
            Some(text) => {
                no_placeholder("cwd", text)?;
                Some(self.path("cwd", text)?)
            }
            None => None,
        };
        Ok(Stdio { command, args: filled_args, env, cwd, sandbox: *sandbox })
    }

    pub(super) fn http(&mut self, http: &Http) -> Result<Http, ExpandError> {
        let Http { url, headers, oauth } = http;
        no_placeholder("url", url)?;
        let url = self.text("url", url)?;
        let usable = url::Url::parse(&url).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())
        });
        if !usable {
            return Err(ExpandError::Unusable { field: "url".into(), reason: "is no http or https address" });
        }
        let headers = self.table("headers", headers)?;
        for (name, value) in &headers {
            if value.contains(|c: char| c.is_control() && c != '\t') {
                let reason = "holds a line break or another control character";
                return Err(ExpandError::Unusable { field: format!("headers.{name}"), reason });
            }
        }
        Ok(Http { url, headers, oauth: oauth.clone() })
    }

    fn table(
        &mut self,
        table: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, ExpandError> {
        let mut filled = BTreeMap::new();
        for (name, text) in texts {
            let field = format!("{table}.{name}");
            no_placeholder(&field, text)?;
            filled.insert(name.clone(), self.text(&field, text)?);
        }
        Ok(filled)
    }

    /// A path: a `~` that the file holds at its start is the home folder.
    fn path(&mut self, field: &str, text: &str) -> Result<String, ExpandError> {
        let path = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
                let home = if self.windows { "USERPROFILE" } else { "HOME" };
                let Some(home) = (self.env)(home).filter(|home| !home.is_empty()) else {
                    return Err(ExpandError::Unset { field: field.into(), variable: home.into() });
                };
                home + &self.text(field, rest)?
            }
            Some(_) => {
                let end = text.find(['/', '\\']).unwrap_or(text.len());
                return Err(ExpandError::Tilde { field: field.into(), text: text[..end].into() });
            }
            None => self.text(field, text)?,
        };
        if path.trim().is_empty() {
            return Err(ExpandError::Unusable { field: field.into(), reason: "is empty" });
        }
        Ok(path)
    }

    pub(super) fn text(&mut self, field: &str, text: &str) -> Result<String, ExpandError> {
        let parts = split(text).map_err(|bad| ExpandError::Reference {
            field: field.into(),
            text: bad.text,
            reason: bad.reason,
        })?;
        let mut filled = String::with_capacity(text.len());
        for part in parts {
            match part {
                Part::Text(text) if self.windows && field == "command" => {
                    filled.push_str(&self.percent(text));
                }
                Part::Text(text) => filled.push_str(text),
                Part::Reference(reference) => match self.value(field, reference.source, reference.name)? {
                    Some(value) if !(value.is_empty() && reference.default.is_some()) => {
                        filled.push_str(&self.note(value));
                    }
                    _ => match reference.default {
                        Some(default) => filled.push_str(default),
                        None => return Err(missing(field, reference.source, reference.name)),
                    },
                },
            }
        }
        if filled.contains('\0') {
            return Err(ExpandError::Unusable { field: field.into(), reason: "holds the character U+0000" });
        }
        Ok(filled)
    }

    fn value(&self, field: &str, source: Source, name: &str) -> Result<Option<String>, ExpandError> {
        match source {
            Source::Env => Ok((self.env)(name)),
            Source::Secret => (self.secret)(name).map_err(|source| ExpandError::Store {
                field: field.into(),
                secret: name.into(),
                source,
            }),
        }
    }

    /// `%NAME%` where the variable is set, by the rule of Windows' own command line; the rest stays.
    fn percent(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let named = template::percent(rest).and_then(|end| Some((end, (self.env)(&rest[1..end - 1])?)));
            match named {
                Some((end, value)) => {
                    filled.push_str(&self.note(value));
                    rest = &rest[end..];
                }
                None => {
                    filled.push('%');
                    rest = &rest[1..];
                }
            }
        }
        filled + rest
    }

    fn note(&mut self, value: String) -> String {
        if !value.is_empty() {
            self.came_in.push(value.clone());
        }
        value
    }
}

fn missing(field: &str, source: Source, name: &str) -> ExpandError {
    match source {
        Source::Env => ExpandError::Unset { field: field.into(), variable: name.into() },
        Source::Secret => ExpandError::NoSecret { field: field.into(), secret: name.into() },
    }
}

fn no_placeholder(field: &str, text: &str) -> Result<(), ExpandError> {
    match foreign(text).into_iter().find(|(spelling, _)| *spelling == Spelling::Placeholder) {
        Some((_, text)) => Err(ExpandError::Placeholder { field: field.into(), text: text.into() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_windows_percent_variables_of_the_command_are_filled_in_where_they_are_set() {
        let env = |name: &str| match name {
            "APPDATA" => Some(r"C:\a ${X}%USERPROFILE%".to_owned()),
            "USERPROFILE" => Some(r"C:\u".to_owned()),
            _ => None,
        };
        let stdio = |command: &str| Stdio {
            command: command.into(),
            args: vec!["%USERPROFILE%".into(), "100%".into()],
            env: BTreeMap::new(),
            cwd: None,
            sandbox: true,
        };
        let filled = |command: &str| {
            let mut pass = Pass { env: &env, secret: &|_| Ok(None), came_in: Vec::new(), windows: true };
            pass.stdio(&stdio(command)).unwrap()
        };
        assert_eq!(filled(r"%APPDATA%\npm\x.cmd").command, r"C:\a ${X}%USERPROFILE%\npm\x.cmd");
        assert_eq!(filled(r"%NOT_SET%\100%\%%").command, r"%NOT_SET%\100%\%%");
        assert_eq!(filled(r"~\bin\srv.exe").command, r"C:\u\bin\srv.exe");
        assert_eq!(filled("srv").args, ["%USERPROFILE%", "100%"]);
    }
}
