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
mod pass;
mod template;

use std::collections::BTreeMap;

pub use error::{ExpandError, LookupError};
use pass::Pass;
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
        let Self { field, text, spelling } = self;
        match spelling {
            Spelling::Placeholder => {
                write!(f, "{field} holds {text}: is it a place to be filled in by hand?")
            }
            _ => write!(f, "{field} holds {text}, which is taken as text: variables are written ${{NAME}}"),
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
                    uses.push(VariableUse { source: reference.source, name, field: field.clone() });
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
                    warnings.push(ForeignVariable { field: field.clone(), text: text.to_owned(), spelling });
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
        let mut pass = Pass { env, secret, came_in: Vec::new(), windows: cfg!(windows) };
        let transport = match self {
            Self::Stdio(stdio) => Self::Stdio(pass.stdio(stdio)?),
            Self::Http(http) => Self::Http(pass.http(http)?),
            Self::Sse(http) => Self::Sse(pass.http(http)?),
        };
        pass.came_in.sort();
        pass.came_in.dedup();
        Ok(Expanded { transport, secrets: pass.came_in })
    }

    /// Every text that is filled in, with the name of its field.
    pub(crate) fn fields(&self) -> Vec<(String, &str)> {
        fn keyed<'t>(
            table: &str,
            texts: &'t BTreeMap<String, String>,
        ) -> impl Iterator<Item = (String, &'t str)> {
            texts.iter().map(move |(name, text)| (format!("{table}.{name}"), text.as_str()))
        }
        match self {
            Self::Stdio(Stdio { command, args, env, cwd, sandbox: _ }) => {
                let mut fields = vec![("command".to_owned(), command.as_str())];
                fields
                    .extend(args.iter().enumerate().map(|(at, text)| (format!("args[{at}]"), text.as_str())));
                fields.extend(keyed("env", env));
                fields.extend(cwd.iter().map(|text| ("cwd".to_owned(), text.as_str())));
                fields
            }
            Self::Http(Http { url, headers, oauth: _ }) | Self::Sse(Http { url, headers, oauth: _ }) => {
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
    Pass { env, secret, came_in: Vec::new(), windows: cfg!(windows) }.text(field, text)
}
