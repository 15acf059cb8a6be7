//! `patchbay status`: every server of the workspace with its state (MCP-40, MCP-41). Starts nothing.

use patchbay_api::{
    ApiError, GetSnapshot, InvalidServer, ListMcpServers, OwnerInfo, OwnerKind, ServerState, ServerStatus,
    Snapshot,
};

use super::{note_invalid, on_road, tell_problems};
use crate::context::Context;
use crate::exit::Exit;
use crate::road::{Need, Road};
use crate::table::Table;
use crate::terminal::Style;
use crate::{text, words};

/// Shows the states.
///
/// # Errors
/// The workspace cannot be opened.
pub async fn run(context: &mut Context) -> Result<Exit, ApiError> {
    on_road(context, Need::Settings, show).await
}

async fn show(context: &mut Context, road: &Road) -> Result<Exit, ApiError> {
    let open = road.workspace(context).await?;
    let servers = road.call(ListMcpServers { workspace: open.key.clone() }).await?;
    let mut snapshot = road.call(GetSnapshot {}).await?;
    snapshot.workspaces.retain(|workspace| workspace.key == open.key);
    if context.output.json {
        context.output.value(&snapshot)?;
        return Ok(Exit::Done);
    }
    head(context, &snapshot);
    let invalid: Vec<_> =
        snapshot.config.servers.iter().filter_map(|server| server.invalid.as_ref()).collect();
    if servers.is_empty() && invalid.is_empty() {
        context.output.line("No servers are configured here. Add one: patchbay mcp add NAME COMMAND [ARGS]…");
    } else {
        context.output.table(&table(&servers, &invalid));
    }
    tell_problems(context, &snapshot.config);
    for problem in snapshot.workspaces.iter().flat_map(|workspace| &workspace.problems) {
        context.output.warn(problem);
    }
    Ok(Exit::Done)
}

fn head(context: &mut Context, snapshot: &Snapshot) {
    let mut line = owner(&snapshot.owner);
    if let Some(path) = snapshot.workspaces.first().and_then(|workspace| workspace.path.as_deref()) {
        line = format!("{line} · {}", text::one_line(path));
    }
    context.output.paragraph(Style::Faint, 0, &line);
}

/// Who holds the servers, in words.
pub fn owner(owner: &OwnerInfo) -> String {
    match owner.kind {
        OwnerKind::Desktop => format!("The desktop app runs (process {})", owner.pid),
        OwnerKind::Serve => format!("`patchbay serve` runs (process {})", owner.pid),
        OwnerKind::Alone => "No Patchbay runs: servers start with a command and stop with it".into(),
    }
}

fn table(servers: &[ServerStatus], invalid: &[&InvalidServer]) -> Table {
    let mut table = Table::new(&["Server", "State", "Since", "Tools", "Process", "Sandbox"]);
    for server in servers {
        let (style, state) = words::status(server);
        let running = server.pid.is_some() || server.tool_count.is_some();
        let since = if running { words::since(server.since_ms) } else { String::new() };
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        let sandbox = server.sandbox.as_ref().map(|sandbox| sandbox.label.clone()).unwrap_or_default();
        table.row([
            (Style::Strong, server.id.name.as_str()),
            (style, &state),
            (Style::Plain, &since),
            (Style::Plain, &number(server.tool_count)),
            (Style::Plain, &number(server.pid)),
            (Style::Plain, &sandbox),
        ]);
        if let Some(cause) = &server.cause {
            table.note(style, cause);
        }
        for gap in server.sandbox.iter().flat_map(|sandbox| &sandbox.gaps) {
            table.note(Style::Warning, &format!("the sandbox cannot hold: {gap}"));
        }
        if let Some(hint) = &server.hint {
            table.note(Style::Plain, &format!("next: {hint}"));
        }
    }
    for entry in invalid {
        let (style, state) = words::state(ServerState::Invalid);
        table.row([(Style::Strong, entry.name.as_deref().unwrap_or("(no name)")), (style, state)]);
        note_invalid(&mut table, entry);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use patchbay_api::ServerId;

    use super::*;
    use crate::terminal::Terminal;

    #[test]
    fn a_disabled_server_is_configured_and_not_started_and_a_failed_one_says_what_to_do() {
        let server = |name: &str, state| ServerStatus {
            id: ServerId::global(name.try_into().unwrap()),
            transport: None,
            state,
            cause: None,
            hint: None,
            since_ms: 0,
            until_ms: None,
            pid: None,
            sandbox: None,
            tool_count: None,
            catalogue_revision: 0,
            log_tail: Vec::new(),
        };
        let mut failed = server("b", ServerState::Failed);
        (failed.cause, failed.hint) = (Some("npx was not found".into()), Some("install node".into()));
        let text =
            table(&[server("a", ServerState::Disabled), failed], &[]).render(&Terminal::fixed(None, false));
        assert_eq!(
            text,
            "Server  State\n\
             a       disabled: configured, not started\n\
             b       failed\n  \
               npx was not found\n  \
               next: install node\n"
        );
    }
}
