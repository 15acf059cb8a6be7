//! Filling in the variables of a server's settings, when it starts.
//!
//! Owns the rules; values come from the caller's two lookups, so nothing here reads the environment or a store.
//!
//! - `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${env:NAME:-default}` and `${secret:NAME}` are filled in in
//!   command, args, env, cwd, url and the values of headers. One pass: what comes in is not looked at again. A default holds
//!   where the variable is unset or empty. Whatever else begins with `${` is an error, never sent as it stands.
//! - `$NAME`, `$5`, `{env:NAME}` and `%NAME%` stay as they are; [`ServerConfig::warnings`] names them. On Windows
//!   `%NAME%` is filled in in `command`, where the variable is set.
//! - `{{NAME}}` is a place left to fill in by hand: an error, except in `args`, where templates are data.
//! - `~`, alone or before a separator, at the start of `command` and `cwd` is the home folder. Before a name it is
//!   an error. In other fields, and in what a variable brings, it is text.

mod error;
mod template;

use std::collections::BTreeMap;

pub use error::{ExpandError, LookupError};
use template::{Part, foreign, split};
pub use template::{Source, Spelling};

use crate::model::{Http, ServerConfig, Stdio, Transport};

/// Looks up a variable of the environment.
pub type EnvLookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Looks up a secret by name; `None` where there is none.
pub type SecretLookup<'a> = dyn Fn(&str) -> Result<Option<String>, LookupError> + 'a;

/// A transport with its values filled in. `Debug` shows none of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    /// How to reach the server now. Must never be written to a file.
    pub transport: Transport,
    /// The values that came in, for the redactor: each once, none empty.
    pub secrets: Vec<String>,
}

impl std::fmt::Debug for Expanded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expanded")
            .field("transport", &self.transport.kind())
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

/// A variable or secret that a server's settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    /// Where its value would come from.
    pub source: Source,
    /// Its name.
    pub name: String,
    /// The field that it stands in.
    pub field: String,
}

/// Something in the settings that looks like another program's variable and is taken as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignVariable {
    /// The field that it stands in.
    pub field: String,
    /// What is written.
    pub text: String,
    /// How it is spelled.
    pub spelling: Spelling,
}

impl std::fmt::Display for ForeignVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            field,
            text,
            spelling,
        } = self;
        match spelling {
            Spelling::Placeholder => {
                write!(f, "{field} holds {text}: is it a place to be filled in by hand?")
            }
            _ => write!(
                f,
                "{field} holds {text}, which is taken as text: variables are written ${{NAME}}"
            ),
        }
    }
}

impl ServerConfig {
    /// Fills in the variables of the transport.
    ///
    /// # Errors
    /// The first field that cannot be filled in, with the variable.
    pub fn expand(&self, env: &EnvLookup<'_>, secret: &SecretLookup<'_>) -> Result<Expanded, ExpandError> {
        self.transport.expand(env, secret)
    }

    /// The variables and secrets that would be handed to the server, in the order of its fields. Looks nothing up.
    #[must_use]
    pub fn variables(&self) -> Vec<VariableUse> {
        let mut uses = Vec::new();
        for (field, text) in self.transport.fields() {
            for part in split(text).unwrap_or_default() {
                if let Part::Reference(reference) = part {
                    let name = reference.name.to_owned();
                    uses.push(VariableUse {
                        source: reference.source,
                        name,
                        field: field.clone(),
                    });
                }
            }
        }
        uses
    }

    /// What looks like a variable of another program and is not filled in.
    #[must_use]
    pub fn warnings(&self) -> Vec<ForeignVariable> {
        let mut warnings = Vec::new();
        for (field, text) in self.transport.fields() {
            for (spelling, text) in foreign(text) {
                let filled = cfg!(windows) && spelling == Spelling::Percent && field == "command";
                if !filled {
                    warnings.push(ForeignVariable {
                        field: field.clone(),
                        text: text.to_owned(),
                        spelling,
                    });
                }
            }
        }
        warnings
    }
}

impl Transport {
    /// As [`ServerConfig::expand`].
    ///
    /// # Errors
    /// As there.
    pub fn expand(&self, env: &EnvLookup<'_>, secret: &SecretLookup<'_>) -> Result<Expanded, ExpandError> {
        let mut pass = Pass {
            env,
            secret,
            came_in: Vec::new(),
            windows: cfg!(windows),
        };
        let transport = match self {
            Self::Stdio(stdio) => Self::Stdio(pass.stdio(stdio)?),
            Self::Http(http) => Self::Http(pass.http(http)?),
            Self::Sse(http) => Self::Sse(pass.http(http)?),
        };
        pass.came_in.sort();
        pass.came_in.dedup();
        Ok(Expanded {
            transport,
            secrets: pass.came_in,
        })
    }

    /// Every text that is filled in, with the name of its field.
    pub(crate) fn fields(&self) -> Vec<(String, &str)> {
        fn keyed<'t>(
            table: &str,
            texts: &'t BTreeMap<String, String>,
        ) -> impl Iterator<Item = (String, &'t str)> {
            texts
                .iter()
                .map(move |(name, text)| (format!("{table}.{name}"), text.as_str()))
        }
        match self {
            Self::Stdio(Stdio {
                command,
                args,
                env,
                cwd,
                sandbox: _,
            }) => {
                let mut fields = vec![("command".to_owned(), command.as_str())];
                fields.extend(
                    args.iter()
                        .enumerate()
                        .map(|(at, text)| (format!("args[{at}]"), text.as_str())),
                );
                fields.extend(keyed("env", env));
                fields.extend(cwd.iter().map(|text| ("cwd".to_owned(), text.as_str())));
                fields
            }
            Self::Http(Http {
                url,
                headers,
                oauth: _,
            })
            | Self::Sse(Http {
                url,
                headers,
                oauth: _,
            }) => {
                let mut fields = vec![("url".to_owned(), url.as_str())];
                fields.extend(keyed("headers", headers));
                fields
            }
        }
    }
}

/// Fills in one text outside a transport, such as a reference to a client secret.
///
/// # Errors
/// As [`ServerConfig::expand`].
pub fn expand_text(
    field: &str,
    text: &str,
    env: &EnvLookup<'_>,
    secret: &SecretLookup<'_>,
) -> Result<String, ExpandError> {
    Pass {
        env,
        secret,
        came_in: Vec::new(),
        windows: cfg!(windows),
    }
    .text(field, text)
}

struct Pass<'a> {
    env: &'a EnvLookup<'a>,
    secret: &'a SecretLookup<'a>,
    came_in: Vec<String>,
    windows: bool,
}

impl Pass<'_> {
    fn stdio(&mut self, stdio: &Stdio) -> Result<Stdio, ExpandError> {
        let Stdio {
            command,
            args,
            env,
            cwd,
            sandbox,
        } = stdio;
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
        Ok(Stdio {
            command,
            args: filled_args,
            env,
            cwd,
            sandbox: *sandbox,
        })
    }

    fn http(&mut self, http: &Http) -> Result<Http, ExpandError> {
        let Http { url, headers, oauth } = http;
        no_placeholder("url", url)?;
        let url = self.text("url", url)?;
        let usable = url::Url::parse(&url).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())
        });
        if !usable {
            return Err(ExpandError::Unusable {
                field: "url".into(),
                reason: "is no http or https address",
            });
        }
        let headers = self.table("headers", headers)?;
        for (name, value) in &headers {
            if value.contains(|c: char| c.is_control() && c != '\t') {
                let reason = "holds a line break or another control character";
                return Err(ExpandError::Unusable {
                    field: format!("headers.{name}"),
                    reason,
                });
            }
        }
        Ok(Http {
            url,
            headers,
            oauth: oauth.clone(),
        })
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
                    return Err(ExpandError::Unset {
                        field: field.into(),
                        variable: home.into(),
                    });
                };
                home + &self.text(field, rest)?
            }
            Some(_) => {
                let end = text.find(['/', '\\']).unwrap_or(text.len());
                return Err(ExpandError::Tilde {
                    field: field.into(),
                    text: text[..end].into(),
                });
            }
            None => self.text(field, text)?,
        };
        if path.trim().is_empty() {
            return Err(ExpandError::Unusable {
                field: field.into(),
                reason: "is empty",
            });
        }
        Ok(path)
    }

    fn text(&mut self, field: &str, text: &str) -> Result<String, ExpandError> {
        let parts = split(text).map_err(|bad| ExpandError::Reference {
            field: field.into(),
            text: bad.text,
            reason: bad.reason,
        })?;
        let mut filled = String::with_capacity(text.len());
        for part in parts {
            match part {
                Part::Text(text) if self.windows && field == "command" => {
                    filled.push_str(&self.percent(text))
                }
                Part::Text(text) => filled.push_str(text),
                Part::Reference(reference) => match self.value(field, reference.source, reference.name)? {
                    Some(value) if !(value.is_empty() && reference.default.is_some()) => {
                        filled.push_str(&self.note(value))
                    }
                    _ => match reference.default {
                        Some(default) => filled.push_str(default),
                        None => return Err(missing(field, reference.source, reference.name)),
                    },
                },
            }
        }
        if filled.contains('\0') {
            return Err(ExpandError::Unusable {
                field: field.into(),
                reason: "holds the character U+0000",
            });
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
        Source::Env => ExpandError::Unset {
            field: field.into(),
            variable: name.into(),
        },
        Source::Secret => ExpandError::NoSecret {
            field: field.into(),
            secret: name.into(),
        },
    }
}

fn no_placeholder(field: &str, text: &str) -> Result<(), ExpandError> {
    match foreign(text)
        .into_iter()
        .find(|(spelling, _)| *spelling == Spelling::Placeholder)
    {
        Some((_, text)) => Err(ExpandError::Placeholder {
            field: field.into(),
            text: text.into(),
        }),
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
            let mut pass = Pass {
                env: &env,
                secret: &|_| Ok(None),
                came_in: Vec::new(),
                windows: true,
            };
            pass.stdio(&stdio(command)).unwrap()
        };
        assert_eq!(
            filled(r"%APPDATA%\npm\x.cmd").command,
            r"C:\a ${X}%USERPROFILE%\npm\x.cmd"
        );
        assert_eq!(filled(r"%NOT_SET%\100%\%%").command, r"%NOT_SET%\100%\%%");
        assert_eq!(filled(r"~\bin\srv.exe").command, r"C:\u\bin\srv.exe");
        assert_eq!(filled("srv").args, ["%USERPROFILE%", "100%"]);
    }
}
