//! From an entry as written to a server that can be run, or to the one reason why not (MCP-01, MCP-02).
//! The checks of single values stand in `field`.

mod field;

use std::time::Duration;

use patchbay_api::{HealthCheck, Oauth, ServerId, ServerName, TransportKind};

pub(crate) use field::Field;

use crate::{
    defaults::TIMEOUT_SECONDS,
    model::{Http, ServerConfig, Stdio, Transport},
    node::{Node, Span, Value},
    raw::{Problem, RawServer},
};

impl TryFrom<RawServer> for ServerConfig {
    type Error = Problem;

    /// Takes every field apart, so that a new key cannot be forgotten.
    fn try_from(raw: RawServer) -> Result<Self, Problem> {
        let label = raw.name.as_ref().and_then(Node::as_str).map(ToOwned::to_owned);
        checked(raw).map_err(|problem| Problem { name: label, ..problem })
    }
}

fn checked(raw: RawServer) -> Result<ServerConfig, Problem> {
    let RawServer {
        scope,
        span,
        name,
        command,
        args,
        env,
        cwd,
        url,
        transport,
        headers,
        tools,
        auto_approve,
        sandbox,
        prefix,
        agents,
        timeout_seconds,
        max_seconds,
        disabled,
        health_check,
        oauth,
        always_allow,
        unknown: _,
    } = raw;
    let name = server_name(name, &span)?;
    let stdio = RawStdio { command, args, env, cwd, sandbox };
    let http = RawHttp { url, headers, oauth };
    Ok(ServerConfig {
        id: ServerId { scope, name },
        transport: checked_transport(transport, stdio, http, &span)?,
        tools: Field::of("tools", tools).globs()?,
        auto_approve: Field::of("auto_approve", auto_approve).bool()?.unwrap_or(false),
        prefix: Field::of("prefix", prefix).some_text()?,
        agents: Field::of("agents", agents).texts()?,
        timeout: seconds(Field::of("timeout_seconds", timeout_seconds).whole(1)?.unwrap_or(TIMEOUT_SECONDS)),
        max: Field::of("max_seconds", max_seconds).whole(1)?.map(seconds),
        disabled: Field::of("disabled", disabled).bool()?.unwrap_or(false),
        health_check: checked_health(health_check)?,
        always_allow: Field::of("always_allow", always_allow).texts()?,
    })
}

struct RawStdio {
    command: Option<Node>,
    args: Option<Node>,
    env: Option<Node>,
    cwd: Option<Node>,
    sandbox: Option<Node>,
}

struct RawHttp {
    url: Option<Node>,
    headers: Option<Node>,
    oauth: Option<Node>,
}

fn seconds(value: u32) -> Duration {
    Duration::from_secs(u64::from(value))
}

fn server_name(name: Option<Node>, entry: &Span) -> Result<ServerName, Problem> {
    let at = name.as_ref().map_or(entry, |node| &node.span).clone();
    let Some(text) = Field::of("name", name).text()? else {
        return Err(problem("name", "a server needs a name", entry, "Add a line such as name = \"files\"."));
    };
    ServerName::try_from(text)
        .map_err(|error| problem("name", &error.to_string(), &at, "Give it another name."))
}

fn checked_transport(
    kind: Option<Node>,
    stdio: RawStdio,
    http: RawHttp,
    entry: &Span,
) -> Result<Transport, Problem> {
    let at = kind.as_ref().map_or(entry, |node| &node.span).clone();
    let misfit = |fits: &str, has: &str| {
        let reason = format!("the type does not fit a server with {has}: leave it out or write \"{fits}\"");
        Err(problem("type", &reason, &at, "Correct or delete this line."))
    };
    if stdio.command.is_some()
        && let Some(span) = http.url.as_ref().map(|url| url.span.clone())
    {
        Field::of("command", stdio.command).some_text()?;
        Field::of("url", http.url).some_text()?;
        let hint = "Keep the one that is meant and delete the other.";
        return Err(problem("url", "has both a command and a url", &span, hint));
    }
    match (Field::of("type", kind).transport()?, stdio.command.is_some(), http.url.is_some()) {
        (_, false, false) => {
            Err(problem("command", "has neither a command nor a url", entry, "Add the one that is meant."))
        }
        (None | Some(TransportKind::Stdio), true, _) => checked_stdio(stdio).map(Transport::Stdio),
        (Some(TransportKind::Sse), false, true) => checked_http(http).map(Transport::Sse),
        (None | Some(TransportKind::Http), false, true) => checked_http(http).map(Transport::Http),
        (Some(_), true, _) => misfit("stdio", "a command"),
        (Some(_), false, _) => misfit("http", "a url"),
    }
}

fn checked_stdio(raw: RawStdio) -> Result<Stdio, Problem> {
    let RawStdio { command, args, env, cwd, sandbox } = raw;
    Ok(Stdio {
        command: Field::of("command", command).some_text()?.unwrap_or_default(),
        args: Field::of("args", args).args()?,
        env: Field::of("env", env).env()?,
        cwd: Field::of("cwd", cwd).some_text()?,
        sandbox: Field::of("sandbox", sandbox).bool()?.unwrap_or(true),
    })
}

fn checked_http(raw: RawHttp) -> Result<Http, Problem> {
    let RawHttp { url, headers, oauth } = raw;
    Ok(Http {
        url: Field::of("url", url).address()?.unwrap_or_default(),
        headers: Field::of("headers", headers).headers()?,
        oauth: checked_oauth(oauth)?,
    })
}

fn checked_health(node: Option<Node>) -> Result<HealthCheck, Problem> {
    let mut health = HealthCheck::default();
    for (key, node) in Field::of("health_check", node).table()?.unwrap_or_default() {
        let node = Some(node);
        match key.name.as_str() {
            "enabled" => set(&mut health.enabled, Field::of("health_check.enabled", node).bool()?),
            "interval_ms" => {
                set(&mut health.interval_ms, Field::of("health_check.interval_ms", node).whole(1)?)
            }
            "timeout_ms" => set(&mut health.timeout_ms, Field::of("health_check.timeout_ms", node).whole(1)?),
            "failures" => set(&mut health.failures, Field::of("health_check.failures", node).whole(1)?),
            _ => {}
        }
    }
    Ok(health)
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

fn checked_oauth(node: Option<Node>) -> Result<Oauth, Problem> {
    let mut oauth = Oauth::default();
    for (key, node) in Field::of("oauth", node).table()?.unwrap_or_default() {
        let path = format!("oauth.{}", key.name);
        let field = Field::of(&path, Some(node));
        match key.name.as_str() {
            "provider" => oauth.provider = field.some_text()?,
            "client_id" => oauth.client_id = field.some_text()?,
            "client_secret" => oauth.client_secret = field.secret_reference()?,
            "enabled" => set(&mut oauth.enabled, field.bool()?),
            "scopes" => oauth.scopes = field.texts()?,
            "redirect_port" => oauth.redirect_port = field.port(1)?,
            _ => {}
        }
    }
    Ok(oauth)
}

/// The members that `health_check` and `oauth` know.
pub(crate) fn known_member(table: &str, member: &str) -> bool {
    match table {
        "health_check" => ["enabled", "interval_ms", "timeout_ms", "failures"].contains(&member),
        "oauth" => {
            ["provider", "client_id", "client_secret", "enabled", "scopes", "redirect_port"].contains(&member)
        }
        _ => true,
    }
}

fn problem(field: &str, reason: &str, span: &Span, hint: &str) -> Problem {
    Problem {
        name: None,
        field: Some(field.into()),
        reason: reason.into(),
        hint: Some(hint.into()),
        span: span.clone(),
    }
}

/// The members of a table node.
pub(crate) fn members(node: &Node) -> &[(crate::node::Key, Node)] {
    match &node.value {
        Value::Table(members) => members,
        _ => &[],
    }
}
