//! A server as the engine takes it: checked, with every default filled in and every value still unexpanded.
//! How it is read stands in `check`, how it goes back into a form in `draft`.

use std::{collections::BTreeMap, fmt, time::Duration};

use patchbay_api::{HealthCheck, Oauth, ServerId, TransportKind};

/// The settings of one server. Equal settings need no restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its identity.
    pub id: ServerId,
    /// How it is reached.
    pub transport: Transport,
    /// Globs of the tools that may be used, by the server's own names; empty: all.
    pub tools: Vec<String>,
    /// Whether calls are made without asking.
    pub auto_approve: bool,
    /// Prefix of the tools' names.
    pub prefix: Option<String>,
    /// Agents that are offered the tools; empty: the primary one, `*`: all (MCP-02).
    pub agents: Vec<String>,
    /// Limit of one call.
    pub timeout: Duration,
    /// Absolute limit of one call that reports progress; `None`: progress does not extend `timeout`.
    pub max: Option<Duration>,
    /// Configured but not started.
    pub disabled: bool,
    /// Health check.
    pub health_check: HealthCheck,
    /// Kept and readable; grants nothing.
    pub always_allow: Vec<String>,
}

/// How a server is reached. Values stand as written: `${…}` is expanded when the server starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process, by its standard input and output.
    Stdio(Stdio),
    /// Streamable HTTP.
    Http(Http),
    /// The old HTTP with server-sent events.
    Sse(Http),
}

/// A child process. Its `Debug` shows no argument and no value of its environment.
#[derive(Clone, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments, exact to the byte.
    pub args: Vec<String>,
    /// Its environment, beyond what it inherits.
    pub env: BTreeMap<String, String>,
    /// Its working folder; `None`: the workspace's.
    pub cwd: Option<String>,
    /// Whether it runs in the OS sandbox.
    pub sandbox: bool,
}

/// A web address. Its `Debug` shows no header's value and nothing of the address that may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Http {
    /// The address.
    pub url: String,
    /// Headers of each request.
    pub headers: BTreeMap<String, String>,
    /// Sign-in.
    pub oauth: Oauth,
}

impl ServerConfig {
    /// The kind of its transport.
    #[must_use]
    pub fn kind(&self) -> TransportKind {
        self.transport.kind()
    }
}

impl Transport {
    /// Which of the three it is.
    #[must_use]
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Stdio(_) => TransportKind::Stdio,
            Self::Http(_) => TransportKind::Http,
            Self::Sse(_) => TransportKind::Sse,
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, args, env, cwd, sandbox } = self;
        f.debug_struct("Stdio")
            .field("command", command)
            .field("args", &args.len())
            .field("env", &env.keys())
            .field("cwd", cwd)
            .field("sandbox", sandbox)
            .finish()
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, headers, oauth } = self;
        f.debug_struct("Http")
            .field("url", &without_secrets(url))
            .field("headers", &headers.keys())
            .field("oauth", &oauth.provider)
            .finish()
    }
}

/// The address up to its query, without user information.
fn without_secrets(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or("");
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split('/').next().unwrap_or("");
            let start = authority.rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[start..])
        }
        None => bare.rsplit('@').next().unwrap_or("").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_holds_no_secret() {
        let values = BTreeMap::from([("TOKEN".to_owned(), "SECRET1".to_owned())]);
        let stdio = Stdio {
            command: "npx".into(),
            args: vec!["--key=SECRET2".into()],
            env: values.clone(),
            cwd: None,
            sandbox: true,
        };
        let http =
            Http { url: "https://u:SECRET3@h/p?k=SECRET4".into(), headers: values, oauth: Oauth::default() };
        let shown = format!("{stdio:?} {http:?}");
        assert!(!shown.contains("SECRET"), "{shown}");
        assert!(shown.contains("TOKEN") && shown.contains("https://h/p"), "{shown}");
    }
}
