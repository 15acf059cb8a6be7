//! Everything of the settings file but the servers: typed, with defaults filled in.

use crate::{
    check::Field,
    defaults,
    node::{Node, Span, Value},
    raw::Problem,
};

/// The settings that are no servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// `[mcp]`
    pub mcp: McpSettings,
    /// `[permissions]`
    pub permissions: PermissionSettings,
    /// `[sandbox]`
    pub sandbox: SandboxSettings,
    /// `[gateway]`
    pub gateway: GatewaySettings,
    /// `[workspaces]`
    pub workspaces: WorkspaceSettings,
    /// `[tray]`
    pub tray: TraySettings,
    /// `[log]`
    pub log: LogSettings,
    /// `[audit]`
    pub audit: AuditSettings,
}

/// `[mcp]`, less the servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpSettings {
    /// How tools are called towards agents.
    pub tool_names: ToolNames,
    /// Whether a project's servers may speak the old HTTP with server-sent events.
    pub legacy_sse: bool,
}

/// `[permissions]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionSettings {
    /// What holds where no rule decides.
    pub mode: PermissionMode,
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
    /// Seconds that a question waits.
    pub ask_timeout_seconds: u32,
}

/// `[sandbox]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether there must be one.
    pub mode: SandboxMode,
    /// Folders that may be written, beyond the workspace.
    pub writable_paths: Vec<String>,
    /// What can be neither read nor written.
    pub blocked_paths: Vec<String>,
    /// Whether servers reach the network.
    pub allow_network: bool,
    /// Globs of the variables that servers do not inherit.
    pub scrub_env: Vec<String>,
}

/// `[gateway]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Its port on the loopback interface; 0: any free one.
    pub port: u16,
}

/// `[workspaces]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSettings {
    /// Minutes until an unused workspace closes.
    pub close_after_minutes: u32,
}

/// `[tray]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraySettings {
    /// Whether the desktop app shows its icon there.
    pub enabled: bool,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The least level that is written.
    pub level: LogLevel,
    /// Days that it is kept.
    pub retain_days: u32,
}

/// `[audit]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether calls, decisions and changes are recorded.
    pub enabled: bool,
}

/// Declares an enum of words, in the file's spelling; the first is the default.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident = $first_word:literal, $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name { $(#[$first_doc])* #[default] $first, $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every word with its meaning.
            pub const ALL: &'static [(&'static str, Self)] = &[($first_word, Self::$first), $(($word, Self::$variant)),*];

            /// The word in the file.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { Self::$first => $first_word, $(Self::$variant => $word),* }
            }
        }
    };
}

words! {
    /// How tools are called towards agents.
    ToolNames {
        /// By the tool's own name, behind the server's prefix.
        Plain = "plain",
        /// Every tool as `mcp__<server>__<tool>`.
        Namespaced = "namespaced",
    }
}

words! {
    /// What holds for a call where no rule decides.
    PermissionMode {
        /// Ask.
        Default = "default",
        /// Refuse every tool: the agent plans only.
        Plan = "plan",
        /// Refuse every tool.
        ReadOnly = "read-only",
        /// Deny instead of asking.
        DontAsk = "dont-ask",
        /// Allow; needs an active sandbox.
        Bypass = "bypass",
    }
}

words! {
    /// Whether servers must run in the OS sandbox.
    SandboxMode {
        /// In the sandbox; without a working one a server does not start, where the system could have one.
        Auto = "auto",
        /// In the sandbox or not at all.
        Required = "required",
        /// Without.
        Off = "off",
    }
}

words! {
    /// The least level that the diagnostic log takes.
    LogLevel {
        /// What a person may want to know.
        Info = "info",
        /// Failures only.
        Error = "error",
        /// Failures and what may become one.
        Warn = "warn",
        /// What a developer may want to know.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
}

impl Default for PermissionSettings {
    fn default() -> Self {
        Self {
            mode: PermissionMode::default(),
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            ask_timeout_seconds: defaults::ASK_TIMEOUT_SECONDS,
        }
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Self {
            mode: SandboxMode::default(),
            writable_paths: Vec::new(),
            blocked_paths: owned(defaults::BLOCKED_PATHS),
            allow_network: true,
            scrub_env: owned(defaults::SCRUB_ENV),
        }
    }
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self { port: defaults::GATEWAY_PORT }
    }
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self { close_after_minutes: defaults::CLOSE_AFTER_MINUTES }
    }
}

impl Default for TraySettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LogLevel::default(), retain_days: defaults::LOG_RETAIN_DAYS }
    }
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Settings {
    /// Reads the settings from a file's root table.
    ///
    /// # Errors
    /// The first value that its key cannot have. Nothing is guessed in its place: a wrong `deny` must not allow.
    pub fn read(root: &Node) -> Result<Self, Problem> {
        let usual = Self::default();
        let at = |key: &'static str| Key { key, node: find(root, key) };
        for table in ["mcp", "permissions", "sandbox", "gateway", "workspaces", "tray", "log", "audit"] {
            if let Some(node) = root.get(table).filter(|node| !matches!(node.value, Value::Table(_))) {
                Field::of(table, Some(node.clone())).table()?;
            }
        }
        Ok(Self {
            mcp: McpSettings {
                tool_names: at("mcp.tool_names").word(ToolNames::ALL, usual.mcp.tool_names)?,
                legacy_sse: at("mcp.legacy_sse").bool(usual.mcp.legacy_sse)?,
            },
            permissions: read_permissions(&at, usual.permissions)?,
            sandbox: read_sandbox(&at, usual.sandbox)?,
            gateway: GatewaySettings { port: at("gateway.port").port(usual.gateway.port)? },
            workspaces: WorkspaceSettings {
                close_after_minutes: at("workspaces.close_after_minutes")
                    .whole(0, usual.workspaces.close_after_minutes)?,
            },
            tray: TraySettings { enabled: at("tray.enabled").bool(usual.tray.enabled)? },
            log: LogSettings {
                level: at("log.level").word(LogLevel::ALL, usual.log.level)?,
                retain_days: at("log.retain_days").whole(1, usual.log.retain_days)?,
            },
            audit: AuditSettings { enabled: at("audit.enabled").bool(usual.audit.enabled)? },
        })
    }
}

fn read_permissions<'n>(
    at: &impl Fn(&'static str) -> Key<'n>,
    usual: PermissionSettings,
) -> Result<PermissionSettings, Problem> {
    Ok(PermissionSettings {
        mode: at("permissions.mode").word(PermissionMode::ALL, usual.mode)?,
        allow: at("permissions.allow").texts(usual.allow)?,
        ask: at("permissions.ask").texts(usual.ask)?,
        deny: at("permissions.deny").texts(usual.deny)?,
        ask_timeout_seconds: at("permissions.ask_timeout_seconds").whole(1, usual.ask_timeout_seconds)?,
    })
}

fn read_sandbox<'n>(
    at: &impl Fn(&'static str) -> Key<'n>,
    usual: SandboxSettings,
) -> Result<SandboxSettings, Problem> {
    Ok(SandboxSettings {
        mode: at("sandbox.mode").word(SandboxMode::ALL, usual.mode)?,
        writable_paths: at("sandbox.writable_paths").texts(usual.writable_paths)?,
        blocked_paths: at("sandbox.blocked_paths").texts(usual.blocked_paths)?,
        allow_network: at("sandbox.allow_network").bool(usual.allow_network)?,
        scrub_env: at("sandbox.scrub_env").texts(usual.scrub_env)?,
    })
}

/// The value of a key such as `log.level`.
fn find<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    key.split('.').try_fold(root, Node::get)
}

struct Key<'n> {
    key: &'static str,
    node: Option<&'n Node>,
}

impl Key<'_> {
    fn field(&self) -> Field<'_> {
        Field::of(self.key, self.node.cloned())
    }

    fn bool(&self, usual: bool) -> Result<bool, Problem> {
        Ok(self.field().bool()?.unwrap_or(usual))
    }

    fn whole(&self, least: u32, usual: u32) -> Result<u32, Problem> {
        Ok(self.field().whole(least)?.unwrap_or(usual))
    }

    fn port(&self, usual: u16) -> Result<u16, Problem> {
        Ok(self.field().port(0)?.unwrap_or(usual))
    }

    fn texts(&self, usual: Vec<String>) -> Result<Vec<String>, Problem> {
        if self.node.is_none() { Ok(usual) } else { self.field().texts() }
    }

    fn word<T: Copy>(&self, all: &[(&'static str, T)], usual: T) -> Result<T, Problem> {
        let Some(text) = self.field().text()? else { return Ok(usual) };
        if let Some((_, value)) = all.iter().find(|(word, _)| *word == text) {
            return Ok(*value);
        }
        let words: Vec<_> = all.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        Err(self.field().problem(format!("{} must be one of {}", self.key, words.join(", "))))
    }
}

/// Keys outside the servers that mean nothing, each with its full name.
pub(crate) fn unknown_keys(root: &Node) -> Vec<(String, Span)> {
    let known = defaults::settings();
    let is_table = |name: &str| known.iter().any(|s| s.key.split('.').next() == Some(name));
    let mut unknown = Vec::new();
    for (table, node) in crate::check::members(root) {
        if !is_table(&table.name) {
            unknown.push((table.name.clone(), table.span.clone()));
            continue;
        }
        let Value::Table(members) = &node.value else { continue };
        for (key, _) in members {
            let full = format!("{}.{}", table.name, key.name);
            if !known.iter().any(|setting| setting.key == full) {
                unknown.push((full, key.span.clone()));
            }
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::parse_toml;

    #[test]
    fn the_table_of_defaults_says_what_an_empty_file_gives() {
        for setting in defaults::settings() {
            let (Some(default), false) = (setting.default, setting.key.starts_with("mcp.servers")) else {
                continue;
            };
            let root = parse_toml(&format!("{} = {default}", setting.key)).unwrap();
            assert_eq!(Settings::read(&root), Ok(Settings::default()), "{}", setting.key);
            assert_eq!(unknown_keys(&root), [], "{}", setting.key);
        }
        assert_eq!(Settings::read(&parse_toml("").unwrap()), Ok(Settings::default()));
    }

    #[test]
    fn every_key_takes_effect_and_refuses_a_wrong_kind_by_name() {
        for setting in defaults::settings() {
            if setting.default.is_none() || setting.key.starts_with("mcp.servers") {
                continue;
            }
            let problem =
                Settings::read(&parse_toml(&format!("{} = 1.5", setting.key)).unwrap()).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some(setting.key));
        }
        let other = "mcp.tool_names = 'namespaced'\nmcp.legacy_sse = true\npermissions.mode = 'plan'\n\
            permissions.allow = ['a']\npermissions.ask = ['b']\npermissions.deny = ['c']\n\
            permissions.ask_timeout_seconds = 1\nsandbox.mode = 'off'\nsandbox.writable_paths = ['d']\n\
            sandbox.blocked_paths = ['e']\nsandbox.allow_network = false\nsandbox.scrub_env = ['f']\n\
            gateway.port = 0\nworkspaces.close_after_minutes = 0\ntray.enabled = false\nlog.level = 'trace'\n\
            log.retain_days = 1\naudit.enabled = false\n";
        let read = Settings::read(&parse_toml(other).unwrap()).unwrap();
        let texts = |text: &str| vec![text.to_owned()];
        let expected = Settings {
            mcp: McpSettings { tool_names: ToolNames::Namespaced, legacy_sse: true },
            permissions: PermissionSettings {
                mode: PermissionMode::Plan,
                allow: texts("a"),
                ask: texts("b"),
                deny: texts("c"),
                ask_timeout_seconds: 1,
            },
            sandbox: SandboxSettings {
                mode: SandboxMode::Off,
                writable_paths: texts("d"),
                blocked_paths: texts("e"),
                allow_network: false,
                scrub_env: texts("f"),
            },
            gateway: GatewaySettings { port: 0 },
            workspaces: WorkspaceSettings { close_after_minutes: 0 },
            tray: TraySettings { enabled: false },
            log: LogSettings { level: LogLevel::Trace, retain_days: 1 },
            audit: AuditSettings { enabled: false },
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn unknown_keys_are_named_in_full() {
        let root = parse_toml("colour = 1\n[log]\nlevle = 'x'\n[sandbx]\nmode = 'off'\n").unwrap();
        let names: Vec<_> = unknown_keys(&root).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["colour", "log.levle", "sandbx"]);
    }
}
