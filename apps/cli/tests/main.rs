//! The built program as people, scripts and agents meet it. What edits do to the bytes of the settings is tested in
//! the package of behaviour across rooms.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "all of it is tests, the functions that they share too")]

mod connect;
mod doctor;
mod help;
mod owner;
mod secret;
mod servers;
mod settings;
mod support;
mod trust;
