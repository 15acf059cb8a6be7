//! Between a checked server and the form's draft of it, which has the file's key names.

use std::collections::BTreeMap;

use patchbay_api::{HealthCheck, McpServerConfig, Oauth, Scope, TransportKind};

use crate::{
    defaults::TIMEOUT_SECONDS,
    model::{Http, ServerConfig, Stdio, Transport},
    node::{Key, Node, Value},
    raw::RawServer,
};

impl ServerConfig {
    /// The server as a draft: values as the file has them, defaults left out. Secrets are not masked here.
    #[must_use]
    pub fn to_draft(&self) -> McpServerConfig {
        let Self {
            id,
            transport,
            tools,
            auto_approve,
            prefix,
            agents,
            timeout,
            max,
            disabled,
            health_check,
            always_allow,
        } = self;
        let secs = |time: &std::time::Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let mut draft = McpServerConfig {
            name: id.name.as_str().into(),
            tools: tools.clone(),
            auto_approve: *auto_approve,
            prefix: prefix.clone(),
            agents: agents.clone(),
            timeout_seconds: Some(secs(timeout)).filter(|secs| *secs != TIMEOUT_SECONDS),
            max_seconds: max.as_ref().map(secs),
            disabled: *disabled,
            health_check: Some(health_check.clone()).filter(|check| *check != HealthCheck::default()),
            always_allow: always_allow.clone(),
            ..McpServerConfig::default()
        };
        match transport {
            Transport::Stdio(stdio) => draft.set_stdio(stdio),
            Transport::Http(http) => draft.set_http(http),
            Transport::Sse(http) => {
                draft.set_http(http);
                draft.r#type = Some(TransportKind::Sse);
            }
        }
        draft
    }
}

trait Transports {
    fn set_stdio(&mut self, stdio: &Stdio);
    fn set_http(&mut self, http: &Http);
}

impl Transports for McpServerConfig {
    fn set_stdio(&mut self, stdio: &Stdio) {
        let Stdio { command, args, env, cwd, sandbox } = stdio.clone();
        self.command = Some(command);
        self.args = args;
        self.env = env;
        self.cwd = cwd;
        self.sandbox = Some(sandbox).filter(|on| !on);
    }

    fn set_http(&mut self, http: &Http) {
        let Http { url, headers, oauth } = http.clone();
        self.url = Some(url);
        self.headers = headers;
        self.oauth = Some(oauth).filter(|oauth| *oauth != Oauth::default());
    }
}

impl RawServer {
    /// The entry that a draft describes, to be checked like one of a file. What equals its default is left out.
    #[must_use]
    pub fn from_draft(scope: Scope, draft: &McpServerConfig) -> Self {
        let mut raw = Self::empty(scope, 0..0);
        for (key, value) in draft_values(draft) {
            if let Some(slot) = raw.slot(key) {
                *slot = Some(value);
            }
        }
        raw
    }
}

/// The keys that a draft sets, in the order in which a new entry has them.
pub(crate) fn draft_values(draft: &McpServerConfig) -> Vec<(&'static str, Node)> {
    let McpServerConfig {
        name,
        command,
        args,
        env,
        cwd,
        url,
        r#type,
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
    } = draft;
    let values = [
        ("name", Some(text(name))),
        ("type", r#type.map(|kind| text(kind_name(kind)))),
        ("command", command.as_deref().map(text)),
        ("args", texts(args)),
        ("cwd", cwd.as_deref().map(text)),
        ("url", url.as_deref().map(text)),
        ("sandbox", sandbox.map(boolean)),
        ("tools", texts(tools)),
        ("auto_approve", auto_approve.then(|| boolean(true))),
        ("prefix", prefix.as_deref().map(text)),
        ("agents", texts(agents)),
        ("timeout_seconds", timeout_seconds.map(whole)),
        ("max_seconds", max_seconds.map(whole)),
        ("disabled", disabled.then(|| boolean(true))),
        ("always_allow", texts(always_allow)),
        ("env", text_table(env)),
        ("headers", text_table(headers)),
        ("health_check", health_check.as_ref().and_then(health_table)),
        ("oauth", oauth.as_ref().and_then(oauth_table)),
    ];
    values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// The file's word for a transport.
pub(crate) fn kind_name(kind: TransportKind) -> &'static str {
    match kind {
        TransportKind::Stdio => "stdio",
        TransportKind::Http => "http",
        TransportKind::Sse => "sse",
    }
}

fn health_table(check: &HealthCheck) -> Option<Node> {
    let HealthCheck { enabled, interval_ms, timeout_ms, failures } = check;
    let default = HealthCheck::default();
    let number = |value: u32, usual: u32| (value != usual).then(|| whole(value));
    table([
        ("enabled", (*enabled != default.enabled).then(|| boolean(*enabled))),
        ("interval_ms", number(*interval_ms, default.interval_ms)),
        ("timeout_ms", number(*timeout_ms, default.timeout_ms)),
        ("failures", number(*failures, default.failures)),
    ])
}

fn oauth_table(oauth: &Oauth) -> Option<Node> {
    let Oauth { provider, client_id, client_secret, enabled, scopes, redirect_port } = oauth;
    table([
        ("provider", provider.as_deref().map(text)),
        ("client_id", client_id.as_deref().map(text)),
        ("client_secret", client_secret.as_deref().map(text)),
        ("enabled", (!enabled).then(|| boolean(false))),
        ("scopes", texts(scopes)),
        ("redirect_port", redirect_port.map(|port| whole(u32::from(port)))),
    ])
}

fn node(value: Value) -> Node {
    Node { value, span: 0..0 }
}

fn text(value: &str) -> Node {
    node(Value::String(value.into()))
}

fn boolean(value: bool) -> Node {
    node(Value::Bool(value))
}

fn whole(value: u32) -> Node {
    node(Value::Integer(i64::from(value)))
}

fn texts(values: &[String]) -> Option<Node> {
    (!values.is_empty()).then(|| node(Value::Array(values.iter().map(|value| text(value)).collect())))
}

fn text_table(values: &BTreeMap<String, String>) -> Option<Node> {
    table(values.iter().map(|(name, value)| (name.as_str(), Some(text(value)))))
}

/// A table of what is there; `None` where nothing is.
fn table<'k>(values: impl IntoIterator<Item = (&'k str, Option<Node>)>) -> Option<Node> {
    let members: Vec<_> = values
        .into_iter()
        .filter_map(|(name, value)| Some((Key { name: name.into(), span: 0..0 }, value?)))
        .collect();
    (!members.is_empty()).then(|| node(Value::Table(members)))
}
