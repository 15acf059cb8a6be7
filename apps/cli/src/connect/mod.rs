//! `patchbay connect`: the MCP server that one agent starts. Nothing but the protocol goes to standard output.
//!
//! With an owner it is a relay (`relay`, and `session` for what is remembered of the agent); without one it holds the
//! servers itself (`alone`). A relay whose owner goes away fails the calls that were running, waits
//! [`relay::PATIENCE`] for an owner, and after that goes on alone until the agent ends.

mod alone;
mod answer;
mod relay;
mod session;
mod stdio;

use std::io::IsTerminal as _;

use patchbay_api::ApiError;
use patchbay_control::{AgentHello, Client};

use crate::args::Connect;
use crate::context::Context;
use crate::exit::Exit;
use crate::terminal::Style;

/// Serves one agent until it closes standard input.
///
/// # Errors
/// The owner refuses; without one, the settings are wrong (MCP-01); standard input or output fail.
pub async fn run(context: &mut Context, connect: Connect) -> Result<Exit, ApiError> {
    if std::io::stdin().is_terminal() {
        let message = "this is the end that an agent talks to; `patchbay tools` shows the same to a person";
        context.output.aside(Style::Plain, "note", message);
    }
    let hello =
        AgentHello { workspace: context.workspace()?, agent: connect.agent.id(), reserved: connect.reserved };
    match Client::connect(&context.home).await.map_err(|error| error.to_api())? {
        Some(client) => relay::run(context, &client, hello).await,
        None => alone::run(context, hello).await,
    }
}
