//! Behaviour across rooms, and the borders between them. One program, so that it links once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "all of it is tests, the functions that they share too"
)]

mod borders;
#[cfg(unix)]
mod fake;
mod fake_http;
#[cfg(unix)]
mod owner;
mod settings;
mod text;
