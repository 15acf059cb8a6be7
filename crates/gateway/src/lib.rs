//! The MCP server that agents talk to: one session per connection, over any pair of byte streams.
//!
//! Owns what an agent's session is (its revision, its names, its running calls). What a call needs before it may
//! run, and the servers behind it, are the engine's.

mod answer;
mod session;

pub use session::{Identity, serve};
