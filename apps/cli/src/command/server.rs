//! `patchbay restart` and `patchbay log`: one running server.

use patchbay_api::{ApiError, ErrorCode, RestartMcpServer, ServerLog};

use super::on_road;
use crate::args::Log;
use crate::context::Context;
use crate::exit::Exit;
use crate::road::{Need, Road};
use crate::text;

/// Stops a server; it starts afresh at its next use.
///
/// # Errors
/// No owner runs, or no such server does.
pub async fn restart(context: &mut Context, name: &str) -> Result<Exit, ApiError> {
    on_road(context, Need::Settings, async |context, road| {
        let workspace = road.workspace(context).await?;
        let server = road.server(&workspace, name).await?.id;
        owned(road, "restart")?;
        road.call(RestartMcpServer { workspace: workspace.key.clone(), server }).await?;
        if context.output.json {
            context.output.value(&())?;
        } else {
            context
                .output
                .line(&text::one_line(&format!("Stopped {name}; it starts afresh at its next use")));
        }
        Ok(Exit::Done)
    })
    .await
}

/// Prints the last lines that a server wrote to its standard error.
///
/// # Errors
/// No owner runs, or there is no such server.
pub async fn log(context: &mut Context, log: &Log) -> Result<Exit, ApiError> {
    on_road(context, Need::Settings, async |context, road| {
        let workspace = road.workspace(context).await?;
        let server = road.server(&workspace, &log.server).await?.id;
        owned(road, "show the log of")?;
        let mut lines = road.call(ServerLog { workspace: workspace.key.clone(), server }).await?;
        lines.drain(..lines.len().saturating_sub(log.lines));
        if context.output.json {
            context.output.value(&lines)?;
        } else {
            lines.iter().for_each(|line| context.output.line(&text::clean(line)));
        }
        Ok(Exit::Done)
    })
    .await
}

/// Only an owner holds servers from one command to the next.
fn owned(road: &Road, what: &str) -> Result<(), ApiError> {
    if road.has_owner() {
        return Ok(());
    }
    let message = format!("no Patchbay runs that holds servers, so there is none to {what}");
    let hint = "start the desktop app, or `patchbay serve` in another terminal";
    Err(ApiError::new(ErrorCode::Unavailable, message).hint(hint))
}
