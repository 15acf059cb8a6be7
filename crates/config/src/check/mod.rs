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
    let name = server_name(name.as_ref(), &span)?;
    let stdio = RawStdio { command, args, env, cwd, sandbox };
    let http = RawHttp { url, headers, oauth };
    Ok(ServerConfig {
        id: ServerId { scope, name },
        transport: checked_transport(transport.as_ref(), &stdio, &http, &span)?,
        tools: Field::of("tools", tools.as_ref()).globs()?,
        auto_approve: Field::of("auto_approve", auto_approve.as_ref()).bool()?.unwrap_or(false),
        prefix: Field::of("prefix", prefix.as_ref()).some_text()?,
        agents: Field::of("agents", agents.as_ref()).texts()?,
        timeout: seconds(Field::of("timeout_seconds", timeout_seconds.as_ref()).whole(1)?.unwrap_or(TIMEOUT_SECONDS)),
        max: Field::of("max_seconds", max_seconds.as_ref()).whole(1)?.map(seconds),
        disabled: Field::of("disabled", disabled.as_ref()).bool()?.unwrap_or(false),
        health_check: checked_health(health_check.as_ref())?,
        always_allow: Field::of("always_allow", always_allow.as_ref()).texts()?,
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

fn server_name(name: Option<&Node>, entry: &Span) -> Result<ServerName, Problem> {
    let field = Field::of("name", name);
    let Some(text) = field.text()? else {
        return Err(problem("name", "a server needs a name", entry, "Add a line such as name = \"files\"."));
    };
    ServerName::try_from(text).map_err(|error| field.problem(error.to_string()))
}

fn checked_transport(
    kind: Option<&Node>,
    stdio: &RawStdio,
    http: &RawHttp,
    entry: &Span,
) -> Result<Transport, Problem> {
    let command = Field::of("command", stdio.command.as_ref()).some_text()?;
    let url = Field::of("url", http.url.as_ref()).some_text()?;
    let kind = Field::of("type", kind);
    let wanted = kind.transport()?;
    let (has_command, has_url) = (command.is_some(), url.is_some());
    match (command, url) {
        (Some(_), Some(_)) => {
            let at = http.url.as_ref().map_or(entry, |node| &node.span);
            Err(problem("url", "has both a command and a url", at, "Keep the one that is meant and delete the other."))
        }
        (None, None) => {
            Err(problem("command", "has neither a command nor a url", entry, "Add the one that is meant."))
        }
        (Some(command), None) if matches!(wanted, None | Some(TransportKind::Stdio)) => {
            checked_stdio(command, stdio).map(Transport::Stdio)
        }
        (None, Some(url)) if wanted == Some(TransportKind::Sse) => checked_http(url, http).map(Transport::Sse),
        (None, Some(url)) if matches!(wanted, None | Some(TransportKind::Http)) => {
            checked_http(url, http).map(Transport::Http)
        }
        _ => {
            debug_assert!(has_command != has_url);
            let fits = if has_command { "stdio" } else { "http" };
            let has = if has_command { "a command" } else { "a url" };
            Err(kind.problem(format!("the type does not fit a server with {has}: leave it out or write \"{fits}\"")))
        }
    }
}

fn checked_stdio(command: String, raw: &RawStdio) -> Result<Stdio, Problem> {
    let RawStdio { command: _, args, env, cwd, sandbox } = raw;
    Ok(Stdio {
        command: Field::of("command", raw.command.as_ref()).without_nul(command)?,
        args: Field::of("args", args.as_ref()).args()?,
        env: Field::of("env", env.as_ref()).env()?,
        cwd: Field::of("cwd", cwd.as_ref()).some_text()?,
        sandbox: Field::of("sandbox", sandbox.as_ref()).bool()?.unwrap_or(true),
    })
}

fn checked_http(url: String, raw: &RawHttp) -> Result<Http, Problem> {
    let RawHttp { url: node, headers, oauth } = raw;
    Ok(Http {
        url: Field::of("url", node.as_ref()).address(url)?,
        headers: Field::of("headers", headers.as_ref()).headers()?,
        oauth: checked_oauth(oauth.as_ref())?,
    })
}

fn checked_health(node: Option<&Node>) -> Result<HealthCheck, Problem> {
    let default = HealthCheck::default();
    let Some(table) = Field::of("health_check", node).table()? else { return Ok(default) };
    let [mut enabled, mut interval_ms, mut timeout_ms, mut failures] = [None; 4];
    for (key, node) in table {
        match key.name.as_str() {
            "enabled" => enabled = Field::of("health_check.enabled", Some(node)).bool()?.map(u32::from),
            "interval_ms" => interval_ms = Field::of("health_check.interval_ms", Some(node)).whole(1)?,
            "timeout_ms" => timeout_ms = Field::of("health_check.timeout_ms", Some(node)).whole(1)?,
            "failures" => failures = Field::of("health_check.failures", Some(node)).whole(1)?,
            _ => {}
        }
    }
    Ok(HealthCheck {
        enabled: enabled.map_or(default.enabled, |on| on != 0),
        interval_ms: interval_ms.unwrap_or(default.interval_ms),
        timeout_ms: timeout_ms.unwrap_or(default.timeout_ms),
        failures: failures.unwrap_or(default.failures),
    })
}

fn checked_oauth(node: Option<&Node>) -> Result<Oauth, Problem> {
    let mut oauth = Oauth::default();
    let Some(table) = Field::of("oauth", node).table()? else { return Ok(oauth) };
    for (key, node) in table {
        let path = format!("oauth.{}", key.name);
        let field = Field::of(&path, Some(node));
        match key.name.as_str() {
            "provider" => oauth.provider = field.some_text()?,
            "client_id" => oauth.client_id = field.some_text()?,
            "client_secret" => oauth.client_secret = field.secret_reference()?,
            "enabled" => oauth.enabled = field.bool()?.unwrap_or(true),
            "scopes" => oauth.scopes = field.texts()?,
            "redirect_port" => oauth.redirect_port = field.port()?,
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
