//! `patchbay config`: the settings file, what it says and where it is.

use patchbay_api::{ApiError, ErrorCode, GetSnapshot, InvalidServer, McpServerConfig};
use patchbay_config::{ConfigSnapshot, Entry, SettingsStore};
use patchbay_control::Client;
use patchbay_secrets::mask;
use serde_json::json;

use super::settings_text::{server_text, settings_text, settings_value};
use crate::args::Config;
use crate::context::Context;
use crate::exit::Exit;
use crate::terminal::Style;
use crate::text;

/// Does a command of the group.
///
/// # Errors
/// The file cannot be read as settings.
pub async fn run(context: &mut Context, command: &Config) -> Result<Exit, ApiError> {
    match command {
        Config::Path => path(context),
        Config::Show => {
            let snapshot = SettingsStore::new(&context.home).read().map_err(|error| error.to_api())?;
            show(context, &snapshot)?;
            tell_if_not_in_force(context).await;
            Ok(Exit::Done)
        }
    }
}

fn path(context: &mut Context) -> Result<Exit, ApiError> {
    let (home, file) =
        (context.home.dir().display().to_string(), context.home.settings().display().to_string());
    if context.output.json {
        context.output.value(&json!({ "home": home, "settings": file }))?;
    } else {
        context.output.line(&text::one_line(&file));
    }
    Ok(Exit::Done)
}

fn show(context: &mut Context, snapshot: &ConfigSnapshot) -> Result<(), ApiError> {
    let (mut servers, mut invalid): (Vec<McpServerConfig>, Vec<&InvalidServer>) = (Vec::new(), Vec::new());
    for entry in &snapshot.servers {
        match entry {
            Entry::Valid(config) => {
                let draft = config.to_draft();
                context.redactor.learn_server(&draft);
                servers.push(mask(&draft, &context.redactor));
            }
            Entry::Invalid(entry) => invalid.push(entry),
        }
    }
    if context.output.json {
        let file = snapshot.file.display().to_string();
        let settings = settings_value(&snapshot.settings);
        let warnings = &snapshot.warnings;
        return context.output.value(
            &json!({ "file": file, "settings": settings, "servers": servers, "invalid": invalid, "warnings": warnings }),
        );
    }
    let terminal = context.output.terminal;
    let file =
        terminal.paint(Style::Faint, &format!("# {}", text::one_line(&snapshot.file.display().to_string())));
    let mut parts = vec![file, settings_text(&snapshot.settings, &terminal)];
    parts.extend(servers.iter().map(|server| server_text(server, &terminal)));
    let all = context.redactor.redact(&parts.join("\n\n")).into_owned();
    context.output.line(&all);
    for entry in invalid {
        let name = entry.name.as_deref().unwrap_or("(no name)");
        context.output.warn(&format!("server \"{name}\" is invalid: {}", entry.reason));
        context.output.place_and_hint(Some(&entry.place.to_string()), entry.hint.as_deref());
    }
    snapshot.warnings.iter().for_each(|warning| context.output.warn(warning));
    Ok(())
}

/// A running owner may hold on to an older state of the file.
async fn tell_if_not_in_force(context: &Context) {
    let broken = match Client::connect(&context.home).await {
        Ok(Some(client)) => client.call(&GetSnapshot {}).await.map(|snapshot| snapshot.config.broken),
        Ok(None) => Ok(None),
        Err(error) => Err(error.to_api()),
    };
    match broken {
        Ok(None) => {}
        Ok(Some(broken)) => {
            context.output.warn(&format!("the running Patchbay does not take this file: {}", broken.reason));
            context.output.place_and_hint(Some(&broken.place.to_string()), None);
        }
        Err(error) if error.code == ErrorCode::Unavailable => context.output.warn(&error.message),
        Err(error) => {
            context.output.warn(&format!("whether this file is in force cannot be told: {}", error.message))
        }
    }
}
