//! `patchbay mcp`: the servers of the settings.

use patchbay_api::{
    ApiError, ConfigState, ErrorCode, GetSnapshot, ListMcpServerConfigs, McpServerConfig, RemoveMcpServer,
    SaveMcpServer, ServerSummary, SetMcpServerEnabled,
};
use patchbay_secrets::looks_secret;

use super::settings_text::server_text;
use super::{note_invalid, on_road, tell_problems};
use crate::args::Mcp;
use crate::context::Context;
use crate::exit::Exit;
use crate::road::{Need, Road};
use crate::table::Table;
use crate::terminal::Style;
use crate::{text, words};

/// Does a command of the group.
///
/// # Errors
/// The settings cannot be read, or not be changed in this way.
pub async fn run(context: &mut Context, command: Mcp) -> Result<Exit, ApiError> {
    match command {
        Mcp::Add(add) => {
            // What only the command line can say wrongly is refused before anything is opened.
            let draft = add.into_draft()?;
            on_road(context, Need::Settings, async |context, road| self::add(context, road, draft).await)
                .await
        }
        Mcp::List => on_road(context, Need::Settings, list).await,
        Mcp::Get(server) => {
            on_road(context, Need::Settings, async |context, road| get(context, road, &server.name).await)
                .await
        }
        Mcp::Remove(server) => {
            on_road(context, Need::Settings, async |context, road| remove(context, road, server.name).await)
                .await
        }
        Mcp::Enable(server) => {
            on_road(context, Need::Settings, async |context, road| {
                switch(context, road, server.name, true).await
            })
            .await
        }
        Mcp::Disable(server) => {
            on_road(context, Need::Settings, async |context, road| {
                switch(context, road, server.name, false).await
            })
            .await
        }
    }
}

async fn add(context: &mut Context, road: &Road, draft: McpServerConfig) -> Result<Exit, ApiError> {
    let (name, exposed) = (draft.name.clone(), exposed(&draft));
    let change = road.call(SaveMcpServer { base: None, replaces: None, draft }).await?;
    if context.output.json {
        context.output.value(&change)?;
        return Ok(Exit::Done);
    }
    let config = config(road).await?;
    let line = config.servers.iter().rfind(|server| named(server, &name)).map(|server| server.line.clone());
    context.output.line(&text::one_line(&format!("Added {name}: {}", line.unwrap_or_default())));
    if !exposed.is_empty() {
        context.output.warn(&format!("{} stands readable in {}", exposed.join(" and "), config.file));
        let advice = "keep it with `patchbay secret set NAME` and write ${secret:NAME} in its place";
        context.output.place_and_hint(None, Some(advice));
    }
    Ok(Exit::Done)
}

/// The names of values that look like secrets and would stand in the file.
fn exposed(draft: &McpServerConfig) -> Vec<String> {
    let values = draft.env.iter().chain(&draft.headers);
    values
        .filter(|(name, value)| !value.contains("${") && looks_secret(name, value))
        .map(|(name, _)| name.clone())
        .collect()
}

async fn list(context: &mut Context, road: &Road) -> Result<Exit, ApiError> {
    let config = config(road).await?;
    let exit = if config.broken.is_some() { Exit::Wrong } else { Exit::Done };
    if context.output.json {
        context.output.value(&config)?;
        return Ok(exit);
    }
    let mut table = Table::new(&["Server", "State", "Type", "Command or address"]);
    for server in &config.servers {
        let name = server.name.as_ref().map(ToString::to_string);
        let name = name.or_else(|| server.invalid.as_ref().and_then(|invalid| invalid.name.clone()));
        let (style, state) = match (&server.invalid, server.enabled) {
            (Some(_), _) => (Style::Bad, "invalid"),
            (None, true) => (Style::Good, "enabled"),
            (None, false) => (Style::Faint, "disabled"),
        };
        let name = name.unwrap_or_else(|| "(no name)".into());
        let kind = words::transport(server.transport);
        table.row([
            (Style::Strong, name.as_str()),
            (style, state),
            (Style::Plain, kind),
            (Style::Plain, &server.line),
        ]);
        server.invalid.iter().for_each(|invalid| note_invalid(&mut table, invalid));
    }
    if table.is_empty() {
        context.output.line(&format!("No servers in {} yet.", text::one_line(&config.file)));
        context
            .output
            .line("Add one: patchbay mcp add NAME COMMAND [ARGS]… (patchbay mcp add --help shows examples)");
    } else {
        context.output.table(&table);
    }
    tell_problems(context, &config);
    Ok(exit)
}

async fn get(context: &mut Context, road: &Road, name: &str) -> Result<Exit, ApiError> {
    let configs = road.call(ListMcpServerConfigs {}).await?;
    if let Some(server) = configs.servers.iter().find(|server| server.name == name) {
        if context.output.json {
            context.output.value(server)?;
        } else {
            context.output.line(&server_text(server, &context.output.terminal));
        }
        return Ok(Exit::Done);
    }
    let config = config(road).await?;
    let invalid = config.servers.into_iter().filter_map(|server| server.invalid);
    if let Some(invalid) = invalid.into_iter().find(|invalid| invalid.name.as_deref() == Some(name)) {
        let mut error =
            ApiError::new(ErrorCode::Invalid, format!("server \"{name}\" is invalid: {}", invalid.reason));
        (error.place, error.field, error.hint) = (Some(invalid.place), invalid.field, invalid.hint);
        return Err(error.server(name));
    }
    if let Some(broken) = config.broken {
        let message = format!("the settings file is not in force: {}", broken.reason);
        return Err(ApiError::new(ErrorCode::Invalid, message).place(broken.place));
    }
    let message = format!("there is no server called \"{name}\" in {}", config.file);
    Err(ApiError::new(ErrorCode::McpServerNotFound, message)
        .server(name)
        .hint("`patchbay mcp list` shows the names"))
}

async fn remove(context: &mut Context, road: &Road, name: String) -> Result<Exit, ApiError> {
    let change = road.call(RemoveMcpServer { base: None, name: name.clone() }).await?;
    if context.output.json {
        context.output.value(&change)?;
    } else {
        context.output.line(&text::one_line(&format!("Removed {name}")));
    }
    Ok(Exit::Done)
}

async fn switch(context: &mut Context, road: &Road, name: String, enabled: bool) -> Result<Exit, ApiError> {
    let change = road.call(SetMcpServerEnabled { name: name.clone(), enabled }).await?;
    if context.output.json {
        context.output.value(&change)?;
    } else {
        let done = if enabled { "Enabled" } else { "Disabled" };
        context.output.line(&text::one_line(&format!("{done} {name}")));
    }
    Ok(Exit::Done)
}

async fn config(road: &Road) -> Result<ConfigState, ApiError> {
    Ok(road.call(GetSnapshot {}).await?.config)
}

fn named(server: &ServerSummary, name: &str) -> bool {
    server.name.as_ref().is_some_and(|known| known.as_str() == name)
}
