//! What a project's settings say besides servers: what tightens, what loosens, and what a project has no say in.

use std::collections::HashSet;

use crate::check::members;
use crate::node::{Node, Value};
use crate::raw::Problem;
use crate::settings::{PermissionMode, SandboxMode, Settings};

use super::entry::Remark;

/// What holds without trust, because it only makes things stricter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tightening {
    /// Rules that deny.
    pub deny: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// A mode; the stricter of it and the user's holds.
    pub mode: Option<PermissionMode>,
    /// A limit for questions, in seconds; the lower holds.
    pub ask_timeout_seconds: Option<u32>,
    /// A limit for unused workspaces, in minutes; the lower holds.
    pub close_after_minutes: Option<u32>,
    /// How far the sandbox is asked for; the stricter holds.
    pub sandbox: Option<SandboxMode>,
    /// More paths that sandboxed servers cannot use.
    pub blocked_paths: Vec<String>,
    /// More variables that servers do not inherit.
    pub scrub_env: Vec<String>,
    /// Whether the network is closed.
    pub no_network: bool,
}

/// What holds only once the project is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loosening {
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Folders that sandboxed servers may write.
    pub writable_paths: Vec<String>,
}

impl Tightening {
    /// Makes the settings as strict as both ask for.
    pub fn apply(&self, settings: &mut Settings) {
        let Self {
            deny,
            ask,
            mode,
            ask_timeout_seconds,
            close_after_minutes,
            sandbox,
            blocked_paths,
            scrub_env,
            no_network,
        } = self;
        let permissions = &mut settings.permissions;
        add(&mut permissions.deny, deny);
        add(&mut permissions.ask, ask);
        if let Some(mode) = mode.filter(|mode| mode_rank(*mode) > mode_rank(permissions.mode)) {
            permissions.mode = mode;
        }
        lower(&mut permissions.ask_timeout_seconds, *ask_timeout_seconds);
        lower(&mut settings.workspaces.close_after_minutes, *close_after_minutes);
        if let Some(mode) = sandbox.filter(|mode| sandbox_rank(*mode) > sandbox_rank(settings.sandbox.mode)) {
            settings.sandbox.mode = mode;
        }
        add(&mut settings.sandbox.blocked_paths, blocked_paths);
        add(&mut settings.sandbox.scrub_env, scrub_env);
        settings.sandbox.allow_network &= !no_network;
    }

    /// Adds what another file of the project asks for.
    pub(super) fn join(&mut self, other: &Self) {
        let Self {
            deny,
            ask,
            mode,
            ask_timeout_seconds,
            close_after_minutes,
            sandbox,
            blocked_paths,
            scrub_env,
            no_network,
        } = other;
        add(&mut self.deny, deny);
        add(&mut self.ask, ask);
        self.mode = stricter(self.mode, *mode, mode_rank);
        self.ask_timeout_seconds = least(self.ask_timeout_seconds, *ask_timeout_seconds);
        self.close_after_minutes = least(self.close_after_minutes, *close_after_minutes);
        self.sandbox = stricter(self.sandbox, *sandbox, sandbox_rank);
        add(&mut self.blocked_paths, blocked_paths);
        add(&mut self.scrub_env, scrub_env);
        self.no_network |= no_network;
    }
}

impl Loosening {
    /// Loosens the settings. Only for a project that is trusted.
    pub fn apply(&self, settings: &mut Settings) {
        let Self { allow, writable_paths } = self;
        add(&mut settings.permissions.allow, allow);
        add(&mut settings.sandbox.writable_paths, writable_paths);
    }

    /// Whether it loosens nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { allow, writable_paths } = self;
        allow.is_empty() && writable_paths.is_empty()
    }

    /// Adds what another file of the project asks for.
    pub(super) fn join(&mut self, other: &Self) {
        let Self { allow, writable_paths } = other;
        add(&mut self.allow, allow);
        add(&mut self.writable_paths, writable_paths);
    }
}

/// Reads a project's settings; the remarks name what is not taken from a project.
pub(super) fn read(root: &Node) -> Result<(Tightening, Loosening, Vec<Remark>), Problem> {
    let settings = Settings::read(root)?;
    let mut tightening = written(root, &settings);
    let mut remarks = foreign_tables(root);
    remarks.extend(refuse_loosening(root, &settings, &mut tightening));
    let loosening =
        Loosening { allow: settings.permissions.allow, writable_paths: settings.sandbox.writable_paths };
    Ok((tightening, loosening, remarks))
}

fn find<'n>(root: &'n Node, table: &str, key: &str) -> Option<&'n Node> {
    root.get(table).and_then(|table| table.get(key))
}

/// What the file itself says, without the defaults that fill a user's settings.
fn written(root: &Node, settings: &Settings) -> Tightening {
    let Settings { mcp: _, permissions, sandbox, gateway: _, workspaces, tray: _, log: _, audit: _ } =
        settings;
    let says = |table: &str, key: &str| find(root, table, key).is_some();
    let list = |key: &str, list: &Vec<String>| {
        if says("sandbox", key) { list.clone() } else { Vec::new() }
    };
    Tightening {
        deny: permissions.deny.clone(),
        ask: permissions.ask.clone(),
        mode: says("permissions", "mode").then_some(permissions.mode),
        ask_timeout_seconds: says("permissions", "ask_timeout_seconds")
            .then_some(permissions.ask_timeout_seconds),
        close_after_minutes: says("workspaces", "close_after_minutes")
            .then_some(workspaces.close_after_minutes),
        sandbox: says("sandbox", "mode").then_some(sandbox.mode),
        blocked_paths: list("blocked_paths", &sandbox.blocked_paths),
        scrub_env: list("scrub_env", &sandbox.scrub_env),
        no_network: !sandbox.allow_network,
    }
}

/// Takes out what would loosen, and names it.
fn refuse_loosening(root: &Node, settings: &Settings, tightening: &mut Tightening) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut refuse = |table: &str, key: &str, says: &str| {
        let at = find(root, table, key).map_or(0, |node| node.span.start);
        remarks.push(Remark { key: format!("{table}.{key}"), says: says.into(), at });
    };
    if tightening.mode == Some(PermissionMode::Bypass) {
        tightening.mode = None;
        refuse("permissions", "mode", "\"bypass\" is not taken from a project");
    }
    if tightening.sandbox == Some(SandboxMode::Off) {
        tightening.sandbox = None;
        refuse("sandbox", "mode", "\"off\" is not taken from a project: its servers stay in the sandbox");
    }
    if find(root, "sandbox", "allow_network").is_some() && settings.sandbox.allow_network {
        refuse("sandbox", "allow_network", "true is not taken from a project: the user's setting holds");
    }
    for (key, list) in
        [("blocked_paths", &mut tightening.blocked_paths), ("scrub_env", &mut tightening.scrub_env)]
    {
        let before = list.len();
        list.retain(|pattern| !pattern.starts_with('!'));
        if list.len() < before {
            refuse("sandbox", key, "can only add from a project: patterns with ! are left out");
        }
    }
    remarks
}

/// Keys of the user's that a project has no say in.
fn foreign_tables(root: &Node) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (table, node) in members(root) {
        let Value::Table(keys) = &node.value else { continue };
        for (key, _) in keys {
            let foreign = match table.name.as_str() {
                "gateway" | "tray" | "log" | "audit" => true,
                "mcp" => key.name != "servers",
                _ => false,
            };
            if foreign {
                let says = "is not taken from a project: it belongs in your own settings".to_owned();
                remarks.push(Remark {
                    key: format!("{}.{}", table.name, key.name),
                    says,
                    at: key.span.start,
                });
            }
        }
    }
    remarks
}

fn mode_rank(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::Bypass => 0,
        PermissionMode::Default => 1,
        PermissionMode::DontAsk => 2,
        PermissionMode::Plan | PermissionMode::ReadOnly => 3,
    }
}

fn sandbox_rank(mode: SandboxMode) -> u8 {
    match mode {
        SandboxMode::Off => 0,
        SandboxMode::Auto => 1,
        SandboxMode::Required => 2,
    }
}

fn stricter<T: Copy>(one: Option<T>, other: Option<T>, rank: fn(T) -> u8) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if rank(other) > rank(one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

fn least(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

fn lower(value: &mut u32, limit: Option<u32>) {
    *value = least(Some(*value), limit).unwrap_or(*value);
}

fn add(list: &mut Vec<String>, more: &[String]) {
    let mut known: HashSet<String> = list.iter().cloned().collect();
    list.extend(more.iter().filter(|text| known.insert((*text).clone())).cloned());
}
