//! Every key of the global settings file with its default, once. Readers take their defaults and the list of
//! known keys from here; a test holds the documentation (`settings.md`) against it.

use patchbay_api::{HealthCheck, Oauth};

/// The limit of one call, in seconds.
pub const TIMEOUT_SECONDS: u32 = 300;
/// Minutes until an unused workspace closes.
pub const CLOSE_AFTER_MINUTES: u32 = 10;
/// Seconds that a question waits for a person before it counts as denied.
pub const ASK_TIMEOUT_SECONDS: u32 = 120;
/// The gateway's port on the loopback interface; 0 takes any free one.
pub const GATEWAY_PORT: u16 = 7420;
/// Days that the diagnostic log is kept.
pub const LOG_RETAIN_DAYS: u32 = 7;

/// What sandboxed servers can neither read nor write, besides Patchbay's own home.
pub const BLOCKED_PATHS: &[&str] = &[
    ".env*",
    "*.pem",
    "*.key",
    "~/.ssh",
    "~/.aws",
    "~/.gnupg",
    "~/.config/gcloud",
    "~/.azure",
    "~/.kube",
    "~/.docker/config.json",
    "~/.netrc",
];

/// Variables that servers do not inherit.
pub const SCRUB_ENV: &[&str] = &[
    "*_API_KEY",
    "*_API_TOKEN",
    "*_TOKEN",
    "*_SECRET",
    "*_SECRET_KEY",
    "*_ACCESS_KEY",
    "*_PASSWORD",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SSH_AUTH_SOCK",
    "PATCHBAY_*",
];

/// A key of the file and what holds where it is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its full name; a server's keys begin with `mcp.servers.`.
    pub key: &'static str,
    /// Its default as the file would spell it; `None`: nothing, or a rule that the documentation gives.
    pub default: Option<String>,
}

/// Every key that means something.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let mut all = global();
    all.extend(server());
    all
}

/// The default of a server's key, as the file would spell it; `None` where there is none.
pub(crate) fn server_default(key: &str) -> Option<String> {
    server().into_iter().find(|setting| setting.key.strip_prefix("mcp.servers.") == Some(key))?.default
}

fn key(key: &'static str, default: &impl ToString) -> Setting {
    Setting { key, default: Some(default.to_string()) }
}

fn bare(key: &'static str) -> Setting {
    Setting { key, default: None }
}

fn list(texts: &[&str]) -> String {
    let quoted: Vec<_> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

fn global() -> Vec<Setting> {
    vec![
        bare("mcp.servers"),
        key("mcp.tool_names", &"\"plain\""),
        key("mcp.legacy_sse", &false),
        key("permissions.mode", &"\"default\""),
        key("permissions.allow", &"[]"),
        key("permissions.ask", &"[]"),
        key("permissions.deny", &"[]"),
        key("permissions.ask_timeout_seconds", &ASK_TIMEOUT_SECONDS),
        key("sandbox.mode", &"\"auto\""),
        key("sandbox.writable_paths", &"[]"),
        key("sandbox.blocked_paths", &list(BLOCKED_PATHS)),
        key("sandbox.allow_network", &true),
        key("sandbox.scrub_env", &list(SCRUB_ENV)),
        key("gateway.port", &GATEWAY_PORT),
        key("workspaces.close_after_minutes", &CLOSE_AFTER_MINUTES),
        key("tray.enabled", &true),
        key("log.level", &"\"info\""),
        key("log.retain_days", &LOG_RETAIN_DAYS),
        key("audit.enabled", &true),
    ]
}

fn server() -> Vec<Setting> {
    let health = HealthCheck::default();
    let oauth = Oauth::default();
    vec![
        bare("mcp.servers.name"),
        bare("mcp.servers.type"),
        bare("mcp.servers.command"),
        key("mcp.servers.args", &"[]"),
        key("mcp.servers.env", &"{}"),
        bare("mcp.servers.cwd"),
        key("mcp.servers.sandbox", &true),
        bare("mcp.servers.url"),
        key("mcp.servers.headers", &"{}"),
        key("mcp.servers.tools", &"[]"),
        key("mcp.servers.auto_approve", &false),
        bare("mcp.servers.prefix"),
        key("mcp.servers.agents", &"[]"),
        key("mcp.servers.timeout_seconds", &TIMEOUT_SECONDS),
        bare("mcp.servers.max_seconds"),
        key("mcp.servers.disabled", &false),
        key("mcp.servers.always_allow", &"[]"),
        key("mcp.servers.health_check.enabled", &health.enabled),
        key("mcp.servers.health_check.interval_ms", &health.interval_ms),
        key("mcp.servers.health_check.timeout_ms", &health.timeout_ms),
        key("mcp.servers.health_check.failures", &health.failures),
        bare("mcp.servers.oauth.provider"),
        bare("mcp.servers.oauth.client_id"),
        bare("mcp.servers.oauth.client_secret"),
        key("mcp.servers.oauth.enabled", &oauth.enabled),
        key("mcp.servers.oauth.scopes", &"[]"),
        bare("mcp.servers.oauth.redirect_port"),
    ]
}
