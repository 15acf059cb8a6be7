//! `patchbay`, the command line: a guest of the running owner, or a process that works alone.
//!
//! `args` says what can be asked, `argv` in which order, `command` does it over the one `road`, `connect` is an
//! agent's end. What is printed goes through `output`; nothing else writes to the terminal.

mod args;
mod argv;
mod command;
mod connect;
mod context;
mod exit;
mod output;
mod prompt;
mod road;
mod signal;
mod table;
mod terminal;
mod text;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use patchbay_api::{ApiError, ErrorCode};
use patchbay_config::Home;
use patchbay_secrets::Redactor;

use args::{Cli, Command};
use context::Context;
use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    let cli = parse();
    if matches!(cli.command, Command::SampleServer) {
        return sample_server();
    }
    let redactor = Redactor::new();
    patchbay_records::redact_panics(redactor.clone(), None);
    let output = Output::new(cli.global.json, cli.global.no_color);
    let mut context = match Home::resolve(cli.global.config.as_deref()) {
        Ok(home) => Context::new(home, &cli.global, output, redactor),
        Err(error) => return failed(&output, &error.to_api()),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = ApiError::new(ErrorCode::Io, format!("cannot start threads: {error}"));
            return failed(&context.output, &error);
        }
    };
    let result = runtime.block_on(command::run(&mut context, cli.command));
    // A thread may still wait for standard input; nothing else is left.
    runtime.shutdown_background();
    let written = context.output.flush();
    match result.and_then(|exit| written.map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(error) => failed(&context.output, &error),
    }
}

fn parse() -> Cli {
    let argv = argv::arrange(std::env::args_os().collect());
    // Help and usage errors are printed by clap, which knows NO_COLOR but not our option.
    let plain = argv.iter().any(|token| token == "--no-color");
    let colour = if plain { clap::ColorChoice::Never } else { clap::ColorChoice::Auto };
    let matches = Cli::command().color(colour).get_matches_from(argv);
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn failed(output: &Output, error: &ApiError) -> ExitCode {
    output.fail(error);
    Exit::from(error).into()
}

fn sample_server() -> ExitCode {
    match patchbay_sample::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error = ApiError::new(ErrorCode::Io, error.to_string());
            failed(&Output::new(false, false), &error)
        }
    }
}
