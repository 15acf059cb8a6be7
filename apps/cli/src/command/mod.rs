//! What each command does. Each file has one group; here is which is which, and how a command ends its road.

mod call;
mod config;
mod doctor;
mod findings;
mod mcp;
mod secret;
mod serve;
mod server;
mod settings_text;
mod status;
mod tools;
mod trust;

use patchbay_api::{ApiError, ConfigState, InvalidServer};

use crate::args::{Cli, Command};
use crate::connect;
use crate::context::Context;
use crate::exit::Exit;
use crate::road::{Need, Road};
use crate::signal::interrupted;
use crate::table::Table;
use crate::terminal::Style;

/// Does a command.
///
/// # Errors
/// Why it could not be done.
pub async fn run(context: &mut Context, command: Command) -> Result<Exit, ApiError> {
    match command {
        Command::Mcp(command) => mcp::run(context, command).await,
        Command::Status => status::run(context).await,
        Command::Tools(agent) => tools::run(context, agent.id()).await,
        Command::Call(call) => call::run(context, call).await,
        Command::Restart(server) => server::restart(context, &server.name).await,
        Command::Log(log) => server::log(context, &log).await,
        Command::Trust(trust) => trust::run(context, trust).await,
        Command::Secret(secret) => secret::run(context, secret).await,
        Command::Config(command) => config::run(context, &command).await,
        Command::Doctor(doctor) => doctor::run(context, doctor.online).await,
        Command::Serve => serve::run(context).await,
        Command::Connect(connect) => connect::run(context, connect).await,
        Command::Completions { shell } => Ok(completions(context, shell)),
        // Done by `main`, before anything is started for the others.
        Command::SampleServer => Ok(Exit::Done),
    }
}

/// Does work on the road that it needs. However it ends, Ctrl-C too, what was started is stopped.
async fn on_road<F>(context: &mut Context, need: Need, work: F) -> Result<Exit, ApiError>
where
    F: AsyncFnOnce(&mut Context, &Road) -> Result<Exit, ApiError>,
{
    let road = Road::open(context, need).await?;
    let result = tokio::select! {
        result = work(context, &road) => result,
        () = interrupted() => Ok(Exit::Interrupted),
    };
    // Asked a second time, the process ends at once; the guards end its servers.
    tokio::select! {
        () = road.close() => result,
        () = interrupted() => Ok(Exit::Interrupted),
    }
}

/// Tells what is wrong or odd in the settings beside the servers.
fn tell_problems(context: &Context, config: &ConfigState) {
    if context.output.json {
        return;
    }
    if let Some(broken) = &config.broken {
        let message = format!("the settings file is not in force: {}", broken.reason);
        context.output.aside(Style::Bad, "error", &message);
        context.output.place_and_hint(
            Some(&broken.place.to_string()),
            Some("correct this place of the file and save it"),
        );
    }
    config.warnings.iter().for_each(|warning| context.output.warn(warning));
}

/// Says under the last row of a table what is wrong with an entry, and where.
fn note_invalid(table: &mut Table, invalid: &InvalidServer) {
    table.note(Style::Bad, &invalid.reason);
    table.place(&invalid.place.to_string());
    if let Some(hint) = &invalid.hint {
        table.note(Style::Plain, &format!("next: {hint}"));
    }
}

fn completions(context: &mut Context, shell: clap_complete::Shell) -> Exit {
    let mut command = <Cli as clap::CommandFactory>::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "patchbay", &mut script);
    context.output.line(String::from_utf8_lossy(&script).trim_end());
    Exit::Done
}
