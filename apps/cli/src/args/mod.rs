//! The command line as clap reads it: commands, options and their help. What the commands do lives in `command`;
//! the free order of the options of `mcp add` is `argv`'s.

mod add;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use patchbay_api::AgentId;

pub use add::Add;

use crate::exit;

const EXAMPLES: &str = "\
Examples:
  patchbay mcp add files npx -y @modelcontextprotocol/server-filesystem ~/notes
  patchbay mcp add docs https://mcp.example.com/mcp
  patchbay tools                       start the servers and see what they offer
  patchbay call files list_directory '{\"path\": \"/home/me/notes\"}'
  patchbay connect --agent my-agent    what an agent starts to reach all of them";

/// Manages MCP servers in one place and offers their tools to every agent.
///
/// An MCP server is a program (or a web address) that gives an agent tools. You add servers here once; an agent
/// needs a single entry, `patchbay connect`, to reach them all. While the desktop app or `patchbay serve` runs, it
/// holds the servers and every command talks to it; otherwise a command works by itself and leaves nothing running.
#[derive(Debug, Parser)]
#[command(
    name = "patchbay",
    version,
    after_help = format!("{EXAMPLES}\n\n{}", exit::TABLE),
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::TABLE),
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 110
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Folder of the settings [default: $PATCHBAY_HOME, else the system's own]
    #[arg(long, value_name = "DIR", global = true)]
    pub config: Option<PathBuf>,
    /// Project folder [default: the nearest upwards with .patchbay, .mcp.json, .agents or .git]
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,
    /// Print JSON, also for errors (on standard error)
    #[arg(long, global = true)]
    pub json: bool,
    /// Print without colours; NO_COLOR does the same
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add, change and list the servers of your settings
    #[command(subcommand, arg_required_else_help = true)]
    Mcp(Mcp),
    /// Show every server with its state
    Status,
    /// Show which tools an agent is offered, and why others are not
    ///
    /// Starts the servers that it is about. Without an owner they are stopped again at the end.
    Tools(Agent),
    /// Call one tool and print its result
    Call(Call),
    /// Stop a server; it starts afresh at its next use
    Restart(Named),
    /// Print the last lines that a server wrote to its standard error
    Log(Log),
    /// Show what a project's files would run, and allow it
    ///
    /// A project can bring servers of its own (.patchbay/settings.toml, .mcp.json, .agents/mcp_config.json). None of
    /// them is started before you have seen it and agreed. Your answer holds for exactly this content in this folder.
    Trust(Trust),
    /// Keep passwords and tokens out of the settings
    ///
    /// Settings refer to a secret as ${secret:NAME}, in the command, arguments, environment, address and headers.
    #[command(subcommand, arg_required_else_help = true)]
    Secret(Secret),
    /// Show the settings in force, or where they are
    #[command(subcommand, arg_required_else_help = true)]
    Config(Config),
    /// Look for what keeps servers from working
    Doctor(Doctor),
    /// Hold the servers without a desktop, until Ctrl-C
    Serve,
    /// Be the MCP server that an agent starts, with the tools of all servers
    ///
    /// Put this into the agent's own list of MCP servers, as command `patchbay` with the argument `connect`. It speaks
    /// the protocol on standard input and output. With an owner running the agent shares its servers; without one this process holds them until the agent ends it. An
    /// owner that goes away is waited for; if none comes back, this process goes on alone.
    Connect(Connect),
    /// Print a script that completes commands in your shell
    ///
    /// For example: patchbay completions bash > ~/.local/share/bash-completion/completions/patchbay
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Be the bundled sample server
    #[command(hide = true)]
    SampleServer,
}

/// `patchbay mcp …`
#[derive(Debug, Subcommand)]
pub enum Mcp {
    /// Add a server
    Add(Box<Add>),
    /// List the servers of your settings
    List,
    /// Show one server's settings, secrets masked
    Get(Named),
    /// Remove a server
    Remove(Named),
    /// Switch a server on
    Enable(Named),
    /// Switch a server off; its settings stay
    Disable(Named),
}

/// A server by its name.
#[derive(Debug, Args)]
pub struct Named {
    /// The server's name
    #[arg(value_name = "SERVER")]
    pub name: String,
}

/// An agent as it names itself.
#[derive(Debug, Args)]
pub struct Agent {
    /// The agent's name, as in a server's `agents`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// It is a sub-agent: it sees only servers whose `agents` has `*` or its name
    #[arg(long)]
    pub sub_agent: bool,
}

impl Agent {
    /// The identity.
    pub fn id(&self) -> AgentId {
        AgentId { name: self.agent.clone(), sub_agent: self.sub_agent }
    }
}

/// `patchbay call`
#[derive(Debug, Args)]
pub struct Call {
    /// The server's name
    pub server: String,
    /// The server's own name of the tool
    pub tool: String,
    /// The arguments as a JSON object; `-` reads them from standard input
    #[arg(default_value = "{}", value_name = "JSON", hide_default_value = true)]
    pub arguments: String,
}

/// `patchbay log`
#[derive(Debug, Args)]
pub struct Log {
    /// The server's name
    pub server: String,
    /// How many lines at most
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 100)]
    pub lines: usize,
}

/// `patchbay trust`
#[derive(Debug, Args)]
pub struct Trust {
    /// Take the trust in this folder back
    #[arg(long, conflicts_with = "digest")]
    pub revoke: bool,
    /// Agree without a question if the content still has this digest (--json shows it)
    #[arg(long, value_name = "SHA256")]
    pub digest: Option<String>,
    /// The project folder [default: the workspace]
    pub dir: Option<PathBuf>,
}

/// `patchbay secret …`
#[derive(Debug, Subcommand)]
pub enum Secret {
    /// Keep a secret: asks for the value, or reads it from standard input
    ///
    /// The value is never an argument, where other programs could read it.
    Set(SecretName),
    /// List the names of the secrets, never their values
    List,
    /// Forget a secret
    Remove(SecretName),
}

/// A secret by its name.
#[derive(Debug, Args)]
pub struct SecretName {
    /// Its name, as in ${secret:NAME}
    pub name: String,
    /// For the files of the project alone, instead of your own settings
    #[arg(long)]
    pub project: bool,
}

/// `patchbay config …`
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print every setting with the value in force, secrets masked
    Show,
    /// Print where the settings file is
    Path,
}

/// `patchbay doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Connect to every server as well, and count its tools
    #[arg(long)]
    pub online: bool,
}

/// `patchbay connect`
#[derive(Debug, Args)]
pub struct Connect {
    /// The agent.
    #[command(flatten)]
    pub agent: Agent,
    /// Name of a tool that the agent has itself, and no server may take; repeatable
    #[arg(long, value_name = "NAME")]
    pub reserved: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn walk(command: &clap::Command, path: &str, seen: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        assert!(
            command.get_about().is_some_and(|about| !about.to_string().is_empty()),
            "{path} has no about text"
        );
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{path}: {} has no help", argument.get_id());
        }
        seen.push(path.trim_start().to_owned());
        command.get_subcommands().for_each(|inner| walk(inner, &path, seen));
    }

    #[test]
    fn every_command_and_every_argument_is_explained() {
        let mut command = Cli::command();
        command.build();
        let mut seen = Vec::new();
        walk(&command, "", &mut seen);
        assert!(seen.iter().any(|path| path == "patchbay mcp add"), "{seen:?}");
        Cli::command().debug_assert();
    }
}
