//! `patchbay serve`: the owner without a desktop.

use patchbay_api::{ApiError, ErrorCode, OwnerKind};
use patchbay_control::{Client, ControlError};
use patchbay_hub::{HostRequest, Hub};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::context::Context;
use crate::exit::Exit;
use crate::signal::interrupted;
use crate::text;

/// Holds the servers until a signal, or until a guest asks it to end.
///
/// # Errors
/// Another owner runs, the settings are wrong (MCP-01), or the socket cannot be set up.
pub async fn run(context: &mut Context) -> Result<Exit, ApiError> {
    let (requests, mut inbox) = mpsc::channel(4);
    let mut options = context.hub_options(OwnerKind::Serve, true)?;
    options.host = Some(requests);
    context.home.ensure().map_err(|error| error.to_api())?;
    // The log of a running owner is not touched: this process is about to be refused.
    let log = if let Ok(None) = patchbay_hub::owner_pid(&context.home) { context.log() } else { None };
    let hub = Hub::open(context.home.clone(), context.redactor.clone(), options).await;
    let hub = hub.map_err(|error| error.to_api())?;
    let mut serving = JoinSet::new();
    serving.spawn(patchbay_control::serve(hub.clone()));
    let result = tokio::select! {
        result = hold(context, &mut inbox) => result,
        ended = serving.join_next() => Err(gave_up(ended)),
        () = interrupted() => Ok(Exit::Done),
    };
    let stopped = async {
        hub.stop().await;
        while serving.join_next().await.is_some() {}
    };
    // Asked a second time, the process ends at once; the guards end its servers.
    tokio::select! {
        () = stopped => {}
        () = interrupted() => return Ok(Exit::Interrupted),
    }
    drop(log);
    result
}

/// Says that it is ready, then waits until a guest wants it to end.
async fn hold(context: &mut Context, inbox: &mut mpsc::Receiver<HostRequest>) -> Result<Exit, ApiError> {
    // The first guest is this process itself: only who has been answered can say that it listens.
    Client::connect(&context.home).await.map_err(|error| error.to_api())?;
    let (home, pid) = (context.home.dir().display().to_string(), std::process::id());
    let socket = patchbay_control::socket(&context.home).display().to_string();
    if context.output.json {
        context.output.raw_json(&json!({ "home": home, "pid": pid, "socket": socket }).to_string());
    } else {
        let line = format!(
            "Patchbay holds the servers of {home} (process {pid}) and listens on {socket}; Ctrl-C ends it"
        );
        context.output.line(&text::one_line(&line));
    }
    context.output.flush()?;
    while let Some(request) = inbox.recv().await {
        if request == HostRequest::Quit {
            break;
        }
    }
    Ok(Exit::Done)
}

/// The socket ended before anybody asked.
fn gave_up(ended: Option<Result<Result<(), ControlError>, tokio::task::JoinError>>) -> ApiError {
    match ended {
        Some(Ok(Err(error))) => error.to_api(),
        Some(Err(error)) => {
            ApiError::new(ErrorCode::Internal, format!("the socket's task broke off: {error}"))
        }
        Some(Ok(Ok(()))) | None => {
            ApiError::new(ErrorCode::Internal, "the socket was closed without being asked")
        }
    }
}
