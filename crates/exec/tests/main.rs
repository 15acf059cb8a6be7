//! Real processes: how they start, what they get, and that every one of them ends.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop anywhere")]

mod end;
mod environment;
mod guard;
mod leftovers;
mod output;
mod owner;
mod sandbox;
mod shell;
mod support;
