//! A scripted MCP server on standard input and output that can misbehave on purpose, and writes down all that
//! happens to it.
//!
//! `fake_server --script FILE` or `fake_server --json TEXT`; further arguments are only written down. Without either
//! it is a well-behaved server. `script` says what a script may say, `server` does it, `process` holds signals and
//! descendants; the library's `fixture` holds what it shares with `fake_http`.

mod process;
mod script;
mod server;

use std::{io, sync::Arc};

use patchbay_tests::fixture::{
    reactions::Reactions,
    record::{Record, surroundings},
};
use script::Script;
use server::Server;

fn main() -> io::Result<()> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == "--descendant" => process::descendant(rest),
        _ => serve(&args),
    }
}

fn serve(args: &[String]) -> io::Result<()> {
    let mut script = script(args)?;
    let record = Record(script.record.clone());
    let run = record.count("start");
    record.add("start", surroundings())?;
    let reactions = Reactions::new(&mut script.on, &mut script.runs, run);
    let server = Server::new(script, reactions, record);
    let terminated = Arc::clone(&server);
    process::catch_sigterm(move || {
        if terminated.terminated().is_err() {
            std::process::exit(97);
        }
    });
    process::limit_lifetime();
    server.serve()
}

fn script(args: &[String]) -> io::Result<Script> {
    let text = match args {
        [flag, file, ..] if flag == "--script" => std::fs::read_to_string(file)?,
        [flag, text, ..] if flag == "--json" => text.clone(),
        _ => "{}".to_owned(),
    };
    serde_json::from_str(&text).map_err(io::Error::other)
}
