//! The owner's side: one generic route for every command, the stream of snapshots, agents' sessions.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hyper_util::rt::TokioIo;
use patchbay_api::{
    AddSampleServer, AnswerQuestion, ApiError, CallTool, Command, DescribeTrust, ErrorCode, GetSnapshot,
    Hello, ListMcpServerConfigs, ListMcpServers, ListTools, OpenWindow, OpenWorkspace, Quit, RemoveMcpServer,
    RestartMcpServer, RevokeTrust, SaveMcpServer, ServerLog, SetMcpServerEnabled, Trust,
};
use patchbay_gateway::Identity;
use patchbay_hub::{Handle, Hub, Lease};
use patchbay_secrets::Secret;
use tokio_util::task::TaskTracker;

use crate::hello::{AgentHello, HELLO_HEADER, WORKSPACE_HEADER, read_header};
use crate::listener::{self, Peer};
use crate::{ControlError, MAX_BODY, VERSION, VERSION_HEADER, place, token};

#[derive(Clone)]
struct Owner {
    hub: Hub,
    token: Secret,
    sessions: TaskTracker,
}

/// Serves guests until the hub begins to stop; agents' sessions have ended when it returns.
///
/// # Errors
/// The socket or its token cannot be set up.
pub async fn serve(hub: Hub) -> Result<(), ControlError> {
    let token = token::renew(hub.home())?;
    let path = place::socket(hub.home());
    let (socket, _bound) = listener::bind(&path)?;
    let stopping = hub.stopping();
    let sessions = TaskTracker::new();
    let router = router(Owner { hub, token, sessions: sessions.clone() });
    let service = router.into_make_service_with_connect_info::<Peer>();
    let closing = stopping.clone();
    let serving =
        axum::serve(socket, service).with_graceful_shutdown(async move { closing.cancelled().await });
    let result =
        serving.await.map_err(|source| ControlError::Io { action: "serve", path: path.clone(), source });
    sessions.close();
    sessions.wait().await;
    result
}

fn router(owner: Owner) -> Router {
    Router::new()
        .merge(commands())
        .route("/v1/events", get(events))
        .route("/v1/hold", get(hold))
        .route("/v1/agent", get(agent))
        .layer(middleware::from_fn_with_state(owner.clone(), admit))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(owner)
}

fn commands() -> Router<Owner> {
    Router::new()
        .merge(route::<Hello>())
        .merge(route::<GetSnapshot>())
        .merge(route::<ListMcpServerConfigs>())
        .merge(route::<SaveMcpServer>())
        .merge(route::<RemoveMcpServer>())
        .merge(route::<SetMcpServerEnabled>())
        .merge(route::<AddSampleServer>())
        .merge(route::<OpenWorkspace>())
        .merge(route::<ListMcpServers>())
        .merge(route::<RestartMcpServer>())
        .merge(route::<ListTools>())
        .merge(route::<CallTool>())
        .merge(route::<ServerLog>())
        .merge(route::<AnswerQuestion>())
        .merge(route::<DescribeTrust>())
        .merge(route::<Trust>())
        .merge(route::<RevokeTrust>())
        .merge(route::<OpenWindow>())
        .merge(route::<Quit>())
}

/// The one way in which a command is served.
fn route<C: Command>() -> Router<Owner>
where
    Hub: Handle<C>,
{
    let handle = |State(owner): State<Owner>, Json(command): Json<C>| async move {
        match owner.hub.handle(command).await {
            Ok(answer) => Json(answer).into_response(),
            Err(error) => refusal(&error),
        }
    };
    Router::new().route(&format!("/v1/{}", C::NAME), post(handle))
}

fn refusal(error: &ApiError) -> Response {
    let status = match error.code {
        ErrorCode::NotFound | ErrorCode::McpServerNotFound => StatusCode::NOT_FOUND,
        ErrorCode::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::Denied => StatusCode::FORBIDDEN,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::VersionMismatch => StatusCode::UPGRADE_REQUIRED,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Io | ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, Json(error)).into_response()
}

/// Lets in whoever is this user, knows the token and is of our version.
async fn admit(
    State(owner): State<Owner>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let given = text(header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    if !peer.is_me() || !given.is_some_and(|given| token::same(&owner.token, given)) {
        let message = "the owner of this home takes only guests of the same user that can read its token";
        return refusal(&ApiError::new(ErrorCode::Unauthorized, message));
    }
    if text(VERSION_HEADER) != Some(VERSION) {
        let message = format!(
            "the running Patchbay is version {VERSION}, this one is {}",
            text(VERSION_HEADER).unwrap_or("unknown")
        );
        return refusal(
            &ApiError::new(ErrorCode::VersionMismatch, message)
                .hint("end the running one and start it again"),
        );
    }
    next.run(request).await
}

/// Snapshots as JSON lines, each whole; the first at once.
async fn events(State(owner): State<Owner>) -> Response {
    let stopping = owner.hub.stopping();
    let mut snapshots = owner.hub.snapshots();
    snapshots.mark_changed();
    let lines = stream::unfold((snapshots, stopping), |(mut snapshots, stopping)| async move {
        tokio::select! {
            changed = snapshots.changed() => changed.ok()?,
            () = stopping.cancelled() => return None,
        }
        let snapshot = Arc::clone(&snapshots.borrow_and_update());
        let mut line = serde_json::to_vec(&*snapshot).ok()?;
        line.push(b'\n');
        Some((Ok::<_, Infallible>(Bytes::from(line)), (snapshots, stopping)))
    });
    Body::from_stream(lines).into_response()
}

/// Keeps a workspace open for as long as the connection stands; its key is the only line.
async fn hold(State(owner): State<Owner>, headers: HeaderMap) -> Response {
    let opened = async {
        let path: Option<String> = read_header(&headers, WORKSPACE_HEADER)?;
        owner.hub.lease(path.as_deref().map(Path::new)).await
    };
    let lease = match opened.await {
        Ok(lease) => lease,
        Err(error) => return refusal(&error),
    };
    let mut line = serde_json::Value::from(lease.key().as_str()).to_string();
    line.push('\n');
    let first = stream::once(std::future::ready(Ok::<_, Infallible>(Bytes::from(line))));
    let stopping = owner.hub.stopping();
    let rest = stream::once(async move {
        stopping.cancelled().await;
        drop(lease);
        Ok(Bytes::new())
    });
    Body::from_stream(first.chain(rest)).into_response()
}

/// An agent's session on the raw connection; the workspace stays open with it.
async fn agent(State(owner): State<Owner>, headers: HeaderMap, request: Request) -> Response {
    match begin_agent(&owner, &headers).await {
        Ok((lease, hello)) => {
            let sessions = owner.sessions.clone();
            sessions.spawn(run_agent(owner, lease, hello, request));
            let upgrade = [(header::CONNECTION, "upgrade"), (header::UPGRADE, "patchbay-agent")];
            (StatusCode::SWITCHING_PROTOCOLS, upgrade).into_response()
        }
        Err(error) => refusal(&error),
    }
}

async fn begin_agent(owner: &Owner, headers: &HeaderMap) -> Result<(Lease, AgentHello), ApiError> {
    let hello: AgentHello = read_header(headers, HELLO_HEADER)?;
    let lease = owner.hub.lease(hello.workspace.as_deref().map(Path::new)).await?;
    Ok((lease, hello))
}

async fn run_agent(owner: Owner, lease: Lease, hello: AgentHello, request: Request) {
    let upgraded = match hyper::upgrade::on(request).await {
        Ok(upgraded) => TokioIo::new(upgraded),
        Err(error) => return tracing::warn!(%error, "an agent's connection was not upgraded"),
    };
    let (reader, writer) = tokio::io::split(upgraded);
    let identity = Identity { agent: hello.agent, naming: owner.hub.naming(hello.reserved) };
    let session =
        patchbay_gateway::serve(reader, writer, Arc::clone(lease.manager()), identity, owner.hub.stopping());
    if let Err(error) = session.await {
        tracing::info!(%error, "an agent's session broke off");
    }
}
