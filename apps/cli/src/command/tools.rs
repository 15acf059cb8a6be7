//! `patchbay tools`: which servers and tools an agent is offered, and why not the others (MCP-40).

use std::convert::Infallible;
use std::time::Duration;

use patchbay_api::{
    AgentId, AgentView, ApiError, ListMcpServers, ListTools, ServerState, ServerTools, WorkspaceKey,
};

use super::on_road;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Output;
use crate::road::{Need, Road};
use crate::table::Table;
use crate::terminal::Style;
use crate::text;

/// The longest description that is shown; --json shows all of it.
const DESCRIPTION: usize = 160;
/// After this time a person is told what is waited for.
const SLOW: Duration = Duration::from_secs(2);

/// Shows what an agent is offered.
///
/// # Errors
/// The workspace cannot be opened; without an owner, the settings are wrong.
pub async fn run(context: &mut Context, agent: AgentId) -> Result<Exit, ApiError> {
    on_road(context, Need::Servers, async |context, road| {
        let workspace = road.workspace(context).await?;
        let listing = road.call(ListTools { workspace: workspace.key.clone(), agent });
        let view = tokio::select! {
            view = listing => view?,
            never = tell_who_is_slow(context, road, workspace.key.clone()) => match never {},
        };
        if context.output.json {
            context.output.value(&view)?;
        } else {
            show(&mut context.output, &view);
        }
        Ok(Exit::Done)
    })
    .await
}

/// Tells a waiting person once which servers are still starting.
async fn tell_who_is_slow(context: &Context, road: &Road, workspace: WorkspaceKey) -> Infallible {
    tokio::time::sleep(SLOW).await;
    if context.output.aside.interactive {
        // Only a word in between; the listing itself tells of failures.
        let servers = road.call(ListMcpServers { workspace }).await.unwrap_or_default();
        let starting = servers.iter().filter(|server| server.state == ServerState::Connecting);
        let names: Vec<_> = starting.map(|server| server.id.name.as_str()).collect();
        if !names.is_empty() {
            context.output.aside(Style::Faint, "still starting", &names.join(", "));
        }
    }
    std::future::pending().await
}

fn show(output: &mut Output, view: &AgentView) {
    if view.servers.is_empty() {
        output.line("No servers are configured here. Add one: patchbay mcp add NAME COMMAND [ARGS]…");
    }
    for (at, server) in view.servers.iter().enumerate() {
        if at > 0 {
            output.line("");
        }
        server_tools(output, server);
    }
}

fn server_tools(output: &mut Output, server: &ServerTools) {
    let name = output.terminal.paint(Style::Strong, &text::one_line(server.id.name.as_str()));
    match (&server.withheld, server.tools.len()) {
        (Some(_), _) => output.line(&format!("{name}  nothing offered")),
        (None, 1) => output.line(&format!("{name}  1 tool")),
        (None, count) => output.line(&format!("{name}  {count} tools")),
    }
    if let Some(why) = &server.withheld {
        output.paragraph(Style::Warning, 2, why);
    }
    let mut table = Table::indented(2);
    for tool in &server.tools {
        let shown = if tool.name == tool.original {
            tool.name.clone()
        } else {
            format!("{} ({})", tool.name, tool.original)
        };
        table.row([(Style::Plain, shown), (Style::Faint, text::first_line(&tool.description, DESCRIPTION))]);
    }
    output.table(&table);
    for tool in &server.hidden {
        let name = if tool.original.is_empty() { "a tool without a name" } else { &tool.original };
        output.paragraph(Style::Warning, 2, &format!("left out: {name}: {}", tool.reason));
    }
}
