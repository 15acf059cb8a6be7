//! The desktop: as owner it holds servers, tray and gateway and never makes a web view; as window
//! (`--window`, started by the owner) it shows the web view and is a guest.
//!
//! No rules inside: what is done for a command is `hub`'s, what the tray shows is `patchbay-tray`'s.

#![cfg_attr(windows, windows_subsystem = "windows")]

mod args;
mod bridge;
mod desktop;
mod owner;
mod tray;
mod tray_host;
mod window;
mod window_process;

use std::process::ExitCode;

use args::Role;

fn main() -> ExitCode {
    let result = match args::parse(std::env::args_os().skip(1)) {
        Ok(Role::Owner { config, hidden }) => owner::run(config.as_deref(), hidden),
        Ok(Role::Window { config, settings }) => window::run(config.as_deref(), settings),
        Ok(Role::Sample) => patchbay_sample::run().map_err(Into::into),
        Ok(Role::Print(text)) => {
            #[expect(clippy::print_stdout, reason = "--help and --version answer on standard output")]
            {
                println!("{text}");
            }
            Ok(())
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the place where a start that failed says why")]
            {
                eprintln!("patchbay-desktop: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
