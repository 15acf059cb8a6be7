//! The owner's local socket: how guests (window, tray of another owner, command line, relays) reach the hub.
//!
//! HTTP/1.1 on a socket that only this user can open: `POST /v1/<command>` with JSON, `GET /v1/events` as JSON lines,
//! `GET /v1/hold` that keeps a workspace open, `GET /v1/agent` upgraded to the raw lines of an agent's session. Every request carries the home's token, which a
//! sandboxed server cannot read, and our version.

mod client;
mod error;
mod hello;
mod listener;
mod place;
mod server;
mod token;

pub use client::{AgentHello, Client, Held};
pub use error::ControlError;
pub use place::socket;
pub use server::serve;

/// The header that carries a side's version.
pub(crate) const VERSION_HEADER: &str = "x-patchbay-version";
/// Our version; both sides must have the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The longest command and answer, in bytes: a tool's result may be large.
pub(crate) const MAX_BODY: usize = 80 << 20;
