//! Starting one server: expand its settings, start or reach it, shake hands, list its tools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use patchbay_api::SandboxState;
use patchbay_config::{Http, ServerConfig, Stdio, Transport};
use patchbay_exec::sandbox::Policy;
use patchbay_exec::{ExecError, Exit, Launch, Process, ServerLog, StopSteps};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rmcp::service::ClientInitializeError;
use tokio::sync::Notify;

use crate::catalogue::Catalogue;
use crate::confinement::explain;
use crate::connection::{
    HttpLane, Lane, LaneError, PeerFacts, RmcpSession, StdioLane, ToolsChanged, shake_hands,
};
use crate::error::NO_SIGN_IN;
use crate::{Confinement, Runtime};

/// Limit of the handshake. The first start of an `npx` or `uvx` server downloads its packages.
const HANDSHAKE: Duration = Duration::from_secs(120);
/// A process that closed its output and ends within this time ended once, not twice.
const SAME_END: Duration = Duration::from_millis(500);
/// Limit of listing one server's tools (MCP-20).
const LISTING: Duration = Duration::from_secs(30);

/// Where a server runs: its workspace, as far as the engine knows it.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) cwd: PathBuf,
    pub(crate) confinement: Arc<Confinement>,
    pub(crate) stop_steps: StopSteps,
}

/// A server that works.
pub(crate) struct Live {
    pub(crate) lane: Arc<Lane>,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) tools_changed: ToolsChanged,
    pub(crate) process: Option<Process>,
    /// Resolves when blocked files appeared that its sandbox does not hold yet.
    pub(crate) blocked: BoxFuture<'static, Vec<PathBuf>>,
    facts: PeerFacts,
    session: RmcpSession,
}

/// Why a server did not start.
#[derive(Debug, Clone)]
pub(crate) struct StartFailure {
    pub(crate) cause: String,
    pub(crate) hint: Option<String>,
    pub(crate) needs_sign_in: bool,
}

impl StartFailure {
    fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), hint: None, needs_sign_in: false }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What is known of a start while it runs.
pub(crate) trait Progress: Send {
    /// The child process exists.
    fn started(&mut self, pid: u32, sandbox: &SandboxState);
}

/// Starts a server and lists its tools.
pub(crate) async fn connect(
    config: &ServerConfig,
    site: &Site,
    runtime: &Runtime,
    log: &ServerLog,
    progress: &mut dyn Progress,
) -> Result<Live, StartFailure> {
    let secret = |name: &str| (runtime.secrets)(&config.id.scope, name).map_err(Into::into);
    let expanded = config
        .expand(&|name| (runtime.env)(name), &secret)
        .map_err(|error| StartFailure::new(error.to_string()).hint(error.hint()))?;
    runtime.redactor.learn_all(expanded.secrets.iter().map(String::as_str));
    match expanded.transport {
        Transport::Stdio(stdio) => connect_stdio(config, stdio, site, runtime, log, progress).await,
        Transport::Http(http) => connect_http(config, &http, runtime).await,
        Transport::Sse(_) => Err(StartFailure::new(
            "the old HTTP with server-sent events (type = \"sse\") is not spoken by this version",
        )
        .hint("use the server's streamable HTTP address (type = \"http\") if it has one")),
    }
}

async fn connect_stdio(
    config: &ServerConfig,
    stdio: Stdio,
    site: &Site,
    runtime: &Runtime,
    log: &ServerLog,
    progress: &mut dyn Progress,
) -> Result<Live, StartFailure> {
    let cwd = stdio.cwd.as_ref().map_or_else(|| site.cwd.clone(), |cwd| site.cwd.join(cwd));
    let policy =
        if stdio.sandbox { site.confinement.policy(config.id.name.as_str(), &cwd) } else { Ok(None) };
    let policy = policy.map_err(|error| cannot_start(&error))?;
    let launch = Launch {
        server: config.id.name.to_string(),
        program: stdio.command,
        args: stdio.args,
        env: stdio.env.into_iter().collect(),
        scrub_env: site.confinement.scrub_env.clone(),
        sandbox: policy.clone(),
        cwd,
        log: log.clone(),
    };
    let mut process = runtime.exec.spawn(launch).await.map_err(|error| cannot_start(&error))?;
    progress.started(process.pid(), process.sandbox());
    let (Some(stdin), Some(stdout)) = (process.take_stdin(), process.take_stdout()) else {
        return Err(StartFailure::new("the process has no standard input and output"));
    };
    let (lane, pipe) = StdioLane::new(stdout, stdin, log.clone());
    let tools_changed = Arc::new(Notify::new());
    let handshake = tokio::time::timeout(HANDSHAKE, shake_hands(pipe, Arc::clone(&tools_changed)));
    let exited = process.exited();
    let shaken = tokio::select! {
        shaken = handshake => shaken.map_err(|_| slow(HANDSHAKE)),
        exit = exited => Err(gone(&exit)),
    };
    let result = match shaken {
        Ok(Ok((session, facts))) => list(Lane::Stdio(lane), session, facts, tools_changed).await,
        Ok(Err(error)) => Err(refused(&error)),
        Err(failure) => Err(failure),
    };
    match result {
        Ok(live) => Ok(Live {
            blocked: Box::pin(process.blocked_appear(runtime.look_every)),
            process: Some(process),
            ..live
        }),
        Err(failure) => Err(end_after(process, failure, site, policy.as_ref(), log).await),
    }
}

/// Ends the process of a start that failed, and says of it what its end tells.
async fn end_after(
    process: Process,
    mut failure: StartFailure,
    site: &Site,
    policy: Option<&Policy>,
    log: &ServerLog,
) -> StartFailure {
    // The end of the pipe is often seen before the end of the process, which tells more.
    let ended_by_itself = tokio::time::timeout(SAME_END, process.exited()).await.ok();
    process.stop(site.stop_steps).await;
    if let Some(exit) = ended_by_itself {
        failure.cause = gone(&exit).cause;
    }
    if failure.hint.is_none() {
        failure.hint = explain(policy, &log.tail(20));
    }
    failure
}

async fn connect_http(config: &ServerConfig, http: &Http, runtime: &Runtime) -> Result<Live, StartFailure> {
    let headers = headers(http)?;
    let client = runtime.http().map_err(|error| StartFailure::new(error.to_string()))?;
    let (lane, transport) = HttpLane::new(client, &http.url, headers);
    let tools_changed = Arc::new(Notify::new());
    let shaken = tokio::time::timeout(HANDSHAKE, shake_hands(transport, Arc::clone(&tools_changed))).await;
    let (session, facts) = match shaken {
        Ok(Ok(shaken)) => shaken,
        Ok(Err(error)) if asks_for_sign_in(&error) => return Err(sign_in(config)),
        Ok(Err(error)) => return Err(refused(&error)),
        Err(_) => return Err(slow(HANDSHAKE)),
    };
    lane.agreed(&facts.protocol);
    list(Lane::Http(lane), session, facts, tools_changed).await
}

fn headers(http: &Http) -> Result<HeaderMap, StartFailure> {
    let mut map = HeaderMap::new();
    for (name, value) in &http.headers {
        let pair = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
        let Some((header, value)) = pair else {
            return Err(StartFailure::new(format!(
                "the header {name} cannot be sent: its name or value is not valid in HTTP"
            ))
            .hint("correct it in the server's settings (headers)"));
        };
        map.insert(header, value);
    }
    Ok(map)
}

async fn list(
    lane: Lane,
    session: RmcpSession,
    facts: PeerFacts,
    tools_changed: ToolsChanged,
) -> Result<Live, StartFailure> {
    let catalogue = fetch(&lane, facts.has_tools).await?;
    let (lane, catalogue) = (Arc::new(lane), Arc::new(catalogue));
    Ok(Live {
        lane,
        catalogue,
        tools_changed,
        process: None,
        blocked: Box::pin(std::future::pending()),
        facts,
        session,
    })
}

async fn fetch(lane: &Lane, has_tools: bool) -> Result<Catalogue, StartFailure> {
    if !has_tools {
        return Ok(Catalogue::default());
    }
    match tokio::time::timeout(LISTING, Catalogue::fetch(lane)).await {
        Ok(Ok(catalogue)) => Ok(catalogue),
        Ok(Err(LaneError::Closed(reason))) => Err(StartFailure::new(reason)),
        Ok(Err(error)) => Err(StartFailure::new(format!("listing its tools failed: {error}"))),
        Err(_) => Err(StartFailure::new(format!("listing its tools took more than {} s", LISTING.as_secs()))),
    }
}

impl Live {
    /// Lists the tools again, after a change was announced.
    pub(crate) fn relist(&self) -> impl Future<Output = Result<Catalogue, StartFailure>> + Send + 'static {
        let (lane, has_tools) = (Arc::clone(&self.lane), self.facts.has_tools);
        async move { fetch(&lane, has_tools).await }
    }

    /// Ends session and process in order: goodbye to the server, its input closed, then the ladder.
    pub(crate) async fn stop(self, steps: StopSteps) {
        let Self { lane, process, mut session, .. } = self;
        // An HTTP session is deleted at the server here; 2 s are enough for that or for nothing.
        if let Err(error) = session.close_with_timeout(Duration::from_secs(2)).await {
            tracing::debug!(%error, "closing a session");
        }
        drop(lane);
        if let Some(process) = process {
            process.stop(steps).await;
        }
    }
}

/// Resolves when the server ended by itself, with the reason.
pub(crate) async fn ended(process: Option<&Process>, lane: &Lane) -> String {
    match process {
        None => lane.ended().await,
        Some(process) => tokio::select! {
            exit = process.exited() => gone(&exit).cause,
            // A server without output is of no use, even if its process goes on.
            reason = lane.ended() => match tokio::time::timeout(SAME_END, process.exited()).await {
                Ok(exit) => gone(&exit).cause,
                Err(_) => reason,
            },
        },
    }
}

fn cannot_start(error: &ExecError) -> StartFailure {
    StartFailure { hint: error.hint(), ..StartFailure::new(error.to_string()) }
}

fn gone(exit: &Exit) -> StartFailure {
    StartFailure::new(format!("the process ended: {exit}"))
}

fn slow(limit: Duration) -> StartFailure {
    StartFailure::new(format!("it did not answer the handshake within {} s", limit.as_secs()))
}

fn refused(error: &ClientInitializeError) -> StartFailure {
    use ClientInitializeError as E;
    StartFailure::new(match error {
        E::ConnectionClosed(_) => "it closed the connection during the handshake".to_owned(),
        E::JsonRpcError(error) => format!("it refused the handshake: {}", error.message),
        E::ExpectedInitResponse(_) | E::ExpectedInitResult(_) | E::ConflictInitResponseId(..) => {
            "its answer to the handshake is not of the protocol".to_owned()
        }
        E::NoCompatibleProtocolVersion { server_supported, .. } => {
            format!("it speaks only protocol revisions unknown here: {server_supported:?}")
        }
        other => format!("the handshake failed: {}", chain(other)),
    })
}

/// The error with all its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

fn asks_for_sign_in(error: &ClientInitializeError) -> bool {
    error.is_authorization_required() || chain(error).contains("HTTP 401")
}

fn sign_in(config: &ServerConfig) -> StartFailure {
    let cause = "it asks for a sign-in (HTTP 401)";
    // `oauth.enabled = false` offers no sign-in: a 401 is then a failure like any other.
    let needs_sign_in = matches!(&config.transport, Transport::Http(http) if http.oauth.enabled);
    StartFailure { needs_sign_in, ..StartFailure::new(cause) }.hint(NO_SIGN_IN)
}
