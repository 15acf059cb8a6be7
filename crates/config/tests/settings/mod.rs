//! The global settings file: reading, edits in place, writing.

mod document;
mod faults;
mod forms;
mod fuzz;
mod grammar;
mod kills;
mod oracle;
mod program;
mod random;
mod reading;
mod writes;

use std::path::Path;

use patchbay_api::McpServerConfig;
use patchbay_config::{ConfigError, ConfigSnapshot, Edit, Entry, edit_bytes};

/// Reads a settings text.
fn read(text: &str) -> ConfigSnapshot {
    ConfigSnapshot::parse(Path::new("settings.toml"), text.as_bytes()).unwrap()
}

/// The text after an edit.
fn edited(text: &str, edit: &Edit) -> Result<String, ConfigError> {
    edit_bytes(Path::new("settings.toml"), text.as_bytes(), edit).map(|(text, _)| text)
}

/// A server with a command.
fn stdio(name: &str, command: &str) -> McpServerConfig {
    McpServerConfig { name: name.into(), command: Some(command.into()), ..McpServerConfig::default() }
}

/// A server with an address.
fn http(name: &str, url: &str) -> McpServerConfig {
    McpServerConfig { name: name.into(), url: Some(url.into()), ..McpServerConfig::default() }
}

fn remove(name: &str) -> Edit {
    Edit::Remove { name: name.into() }
}

fn enable(name: &str, enabled: bool) -> Edit {
    Edit::Enable { name: name.into(), enabled }
}

/// The draft of a server as the file has it.
fn draft(text: &str, name: &str) -> McpServerConfig {
    read(text).server(name).unwrap_or_else(|| panic!("no valid {name} in\n{text}")).to_draft()
}

/// Gives a server other settings.
fn replaced(text: &str, name: &str, change: impl FnOnce(&mut McpServerConfig)) -> String {
    let mut draft = draft(text, name);
    change(&mut draft);
    edited(text, &Edit::Replace { name: name.into(), draft })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Names of the valid servers, and reasons of the others.
fn listed(snapshot: &ConfigSnapshot) -> Vec<String> {
    let each = |entry: &Entry| match entry {
        Entry::Valid(server) => server.id.name.to_string(),
        Entry::Invalid(invalid) => {
            let line = invalid.place.line.unwrap_or_default();
            format!("{line} {}: {}", invalid.name.as_deref().unwrap_or("?"), invalid.reason)
        }
    };
    snapshot.servers.iter().map(each).collect()
}
