//! `mcp add`: its options, and the settings of a server that they make.

use std::collections::BTreeMap;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use patchbay_api::{ApiError, ErrorCode, McpServerConfig, TransportKind};

const EXAMPLES: &str = "\
Examples:
  patchbay mcp add time uvx mcp-server-time --local-timezone Europe/Berlin
  patchbay mcp add db npx -y db-server --env 'DB_URL=${secret:DB_URL}'
  patchbay mcp add docs https://mcp.example.com/mcp \\
      --header 'Authorization: Bearer ${secret:DOCS}'
  patchbay mcp add odd -- my-server --env staging

The options above may stand before or after the name and the command. After the command, an option that is not \
among them is an argument of the server (--json, --config and --help too); after `--`, everything is.";

/// `patchbay mcp add`
#[derive(Debug, Args)]
#[command(
    override_usage = "patchbay mcp add [OPTIONS] <NAME> <COMMAND | URL> [ARGS]...",
    after_help = EXAMPLES,
    after_long_help = EXAMPLES
)]
pub struct Add {
    /// A name of your choice that no other server has
    pub name: String,
    /// The program to start, or the http(s) address of a server
    #[arg(value_name = "COMMAND | URL")]
    pub command: String,
    /// Arguments of the program
    pub args: Vec<String>,
    /// Variable of the server's environment; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<Variable>,
    /// HTTP header sent to the server; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<Header>,
    /// Offer its tools as PREFIX__tool
    #[arg(long)]
    pub prefix: Option<String>,
    /// Agents that are offered its tools, `*` for all [default: the primary agent]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// Folder that it runs in [default: the project's]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// How it is reached [default: stdio for a command, http for an address]
    #[arg(long)]
    pub r#type: Option<Kind>,
    /// Limit of one call [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,
    /// Run it outside the sandbox
    #[arg(long)]
    pub no_sandbox: bool,
    /// Make its calls without asking
    #[arg(long)]
    pub auto_approve: bool,
    /// Add it switched off
    #[arg(long)]
    pub disabled: bool,
    /// Names of the tools that may be used, `*` for any text [default: all]
    #[arg(long, value_name = "GLOBS")]
    pub tools: Vec<Globs>,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A program, by its standard input and output
    Stdio,
    /// Streamable HTTP
    Http,
    /// The old HTTP with server-sent events
    Sse,
}

impl From<Kind> for TransportKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Stdio => Self::Stdio,
            Kind::Http => Self::Http,
            Kind::Sse => Self::Sse,
        }
    }
}

/// `NAME=VALUE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable(String, String);

impl FromStr for Variable {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self(name.into(), value.into())),
            // The text may be a secret that was put in the wrong place: it is not repeated.
            _ => Err("it must have the form NAME=VALUE"),
        }
    }
}

/// `NAME: VALUE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header(String, String);

impl FromStr for Header {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok(Self(name.trim().into(), value.trim().into()))
            }
            _ => Err("it must have the form 'NAME: VALUE'"),
        }
    }
}

/// Globs between commas; a comma inside braces or brackets belongs to its glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Globs(Vec<String>);

impl FromStr for Globs {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut globs, mut depth) = (vec![String::new()], 0_usize);
        for c in text.chars() {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    globs.push(String::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = globs.last_mut() {
                last.push(c);
            }
        }
        globs.iter_mut().for_each(|glob| *glob = glob.trim().to_owned());
        globs.retain(|glob| !glob.is_empty());
        Ok(Self(globs))
    }
}

impl Add {
    /// The settings that the command line asks for. Whether they can be a server is checked where they are written.
    ///
    /// # Errors
    /// What only the command line can say wrongly: options of the other kind of server, a name given twice.
    pub fn into_draft(self) -> Result<McpServerConfig, ApiError> {
        let address = self.is_address()?;
        self.check_kind(address)?;
        let Self { name, command, args, env, header, prefix, agents, cwd, r#type, timeout, .. } = self;
        let mut draft = McpServerConfig {
            name,
            args,
            env: unique("env", env.into_iter().map(|Variable(name, value)| (name, value)))?,
            headers: unique("header", header.into_iter().map(|Header(name, value)| (name, value)))?,
            prefix,
            agents: agents
                .into_iter()
                .map(|agent| agent.trim().to_owned())
                .filter(|agent| !agent.is_empty())
                .collect(),
            cwd,
            r#type: r#type.map(Into::into),
            timeout_seconds: timeout,
            sandbox: self.no_sandbox.then_some(false),
            auto_approve: self.auto_approve,
            disabled: self.disabled,
            tools: self.tools.into_iter().flat_map(|Globs(globs)| globs).collect(),
            ..McpServerConfig::default()
        };
        *if address { &mut draft.url } else { &mut draft.command } = Some(command);
        Ok(draft)
    }

    /// Whether COMMAND is an address: by its scheme, unless `--type` says it.
    fn is_address(&self) -> Result<bool, ApiError> {
        let scheme = self.command.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        match (self.r#type, scheme.as_deref()) {
            (Some(Kind::Http | Kind::Sse), _) | (None, Some("http" | "https")) => Ok(true),
            (Some(Kind::Stdio), _) | (None, None) => Ok(false),
            // A scheme is letters, digits, `+`, `-` and `.`; anything else before `://` is part of a program's path.
            (None, Some(scheme))
                if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) =>
            {
                Err(wrong(
                    "command",
                    format!(
                        "{scheme}:// is no address of an MCP server; it must begin with https:// or http://"
                    ),
                )
                .hint("if it is a program, add --type stdio"))
            }
            (None, Some(_)) => Ok(false),
        }
    }

    fn check_kind(&self, address: bool) -> Result<(), ApiError> {
        let misfit = |option: &str, given: bool, kind: &str| {
            let message = format!("{option} has no meaning for a server with {kind}");
            if given { Err(wrong(option.trim_start_matches('-'), message)) } else { Ok(()) }
        };
        if !address {
            return misfit("--header", !self.header.is_empty(), "a command");
        }
        if let Some(first) = self.args.first() {
            return Err(wrong(
                "args",
                format!("an address takes no arguments, but there is {first:?} after it"),
            )
            .hint("quote the address if it holds spaces, and check the spelling of the options"));
        }
        misfit("--env", !self.env.is_empty(), "an address")?;
        misfit("--cwd", self.cwd.is_some(), "an address")?;
        misfit("--no-sandbox", self.no_sandbox, "an address")
    }
}

fn wrong(field: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Invalid, message).field(field)
}

fn unique(
    option: &str,
    pairs: impl Iterator<Item = (String, String)>,
) -> Result<BTreeMap<String, String>, ApiError> {
    let mut map = BTreeMap::new();
    for (name, value) in pairs {
        let again = format!("--{option} {name} is there twice");
        if map.insert(name, value).is_some() {
            return Err(wrong(option, again));
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command, Mcp};

    fn draft(line: &[&str]) -> Result<McpServerConfig, String> {
        let argv = ["patchbay", "mcp", "add"].iter().chain(line).map(Into::into).collect();
        let cli = Cli::try_parse_from(crate::argv::arrange(argv)).map_err(|error| error.to_string())?;
        let Command::Mcp(Mcp::Add(add)) = cli.command else { panic!("{line:?} is no `mcp add`") };
        add.into_draft().map_err(|error| error.message)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_option_becomes_its_key() {
        let line = [
            "--env",
            "A=1=2",
            "x",
            "--env=B=",
            "npx",
            "-y",
            "pkg",
            "--prefix",
            "p",
            "--agents",
            "a, b",
            "--cwd",
            "/w",
            "--type",
            "stdio",
            "--timeout",
            "9",
            "--no-sandbox",
            "--auto-approve",
            "--disabled",
            "--tools",
            "r_*,{a,b}",
            "--tools",
            "c",
        ];
        let expected = McpServerConfig {
            name: "x".into(),
            command: Some("npx".into()),
            args: texts(&["-y", "pkg"]),
            env: [("A", "1=2"), ("B", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            prefix: Some("p".into()),
            agents: texts(&["a", "b"]),
            cwd: Some("/w".into()),
            r#type: Some(TransportKind::Stdio),
            timeout_seconds: Some(9),
            sandbox: Some(false),
            auto_approve: true,
            disabled: true,
            tools: texts(&["r_*", "{a,b}", "c"]),
            ..McpServerConfig::default()
        };
        assert_eq!(draft(&line), Ok(expected));
    }

    #[test]
    fn an_address_is_known_by_its_scheme_or_by_the_type() {
        for (line, url) in [
            (&["x", "https://h/mcp"][..], Some("https://h/mcp")),
            (&["x", "HTTP://h"], Some("HTTP://h")),
            (&["x", "${BASE}/mcp", "--type", "http"], Some("${BASE}/mcp")),
            (&["x", "https://h", "--type", "sse"], Some("https://h")),
            (&["x", "https-server"], None),
            (&["x", "/opt/a://b/run"], None),
            (&["x", "ws://h", "--type", "stdio"], None),
        ] {
            let draft = draft(line).unwrap();
            assert_eq!(draft.url.as_deref(), url, "{line:?}");
            assert_eq!(draft.command.is_some(), url.is_none(), "{line:?}");
        }
        assert!(draft(&["x", "ws://h"]).unwrap_err().starts_with("ws:// is no address"));
    }

    #[test]
    fn headers_are_split_at_the_first_colon() {
        let draft =
            draft(&["x", "https://h", "--header", "Authorization: Bearer a:b", "--header=X-A:1"]).unwrap();
        let expected =
            [("Authorization", "Bearer a:b"), ("X-A", "1")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(draft.headers, expected.into());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        for (line, part) in [
            (&["x", "https://h", "arg"][..], "an address takes no arguments"),
            (&["x", "https://h", "--env", "A=1"], "--env has no meaning for a server with an address"),
            (&["x", "https://h", "--cwd", "/w"], "--cwd has no meaning"),
            (&["x", "https://h", "--no-sandbox"], "--no-sandbox has no meaning"),
            (&["x", "cmd", "--header", "A: b"], "--header has no meaning for a server with a command"),
            (&["x", "cmd", "--env", "A=1", "--env", "A=2"], "--env A is there twice"),
            (&["x", "cmd", "--env", "SECRET"], "NAME=VALUE"),
            (&["x", "cmd", "--env"], "a value is required for '--env"),
            (&["x", "cmd", "--timeout", "0"], "0 is not in 1.."),
            (&["x", "cmd", "--type", "ftp"], "invalid value 'ftp'"),
            (&["--colour", "x", "cmd"], "unexpected argument '--colour'"),
            (&["x"], "<COMMAND | URL>"),
            (&[], "required"),
        ] {
            let error = draft(line).unwrap_err();
            assert!(error.contains(part), "{line:?}: {error}");
        }
    }
}
