//! What a text says, by another parser; and what a server's table amounts to, by rules written down anew.

use std::collections::BTreeMap;

use patchbay_api::{McpServerConfig, TransportKind};
use toml_oracle::Value;

pub type Table = BTreeMap<String, Value>;

/// The root table of a text.
pub fn parse(text: &str) -> Result<Table, String> {
    match text.trim_start_matches('\u{feff}').parse::<Value>() {
        Ok(Value::Table(table)) => {
            Ok(table.into_iter().map(|(key, value)| (key, comparable(value))).collect())
        }
        Ok(other) => Err(format!("no table: {other}")),
        Err(error) => Err(error.to_string()),
    }
}

/// NaN is equal to itself here, and zero has a sign.
fn comparable(value: Value) -> Value {
    match value {
        Value::Float(number) => Value::String(format!("float {number:?}")),
        Value::Array(items) => Value::Array(items.into_iter().map(comparable).collect()),
        Value::Table(table) => {
            Value::Table(table.into_iter().map(|(key, value)| (key, comparable(value))).collect())
        }
        other => other,
    }
}

/// The tables of the servers, and everything else.
pub fn split(mut root: Table) -> (Vec<Table>, Table) {
    let mut servers = Vec::new();
    if let Some(Value::Table(mcp)) = root.get_mut("mcp") {
        if let Some(Value::Array(all)) = mcp.remove("servers") {
            servers = all.into_iter().map(|server| server.try_into().unwrap()).collect();
        }
        if mcp.is_empty() {
            root.remove("mcp");
        }
    }
    (servers, root)
}

/// Keys that mean something for a server of this kind.
fn means(key: &str, web: bool) -> bool {
    match key {
        "command" | "args" | "env" | "cwd" | "sandbox" => !web,
        "url" | "headers" | "oauth" => web,
        "name" | "type" | "tools" | "auto_approve" | "prefix" | "agents" | "timeout_seconds"
        | "max_seconds" | "disabled" | "health_check" | "always_allow" => true,
        _ => false,
    }
}

/// What a server's table amounts to: its effect, with defaults left out, and what has none.
pub fn effect(server: &Table) -> (Table, Table) {
    let web = server.contains_key("url");
    let mut effect = Table::new();
    let mut rest = Table::new();
    for (key, value) in server {
        if !means(key, web) {
            match value {
                Value::Table(members) if key == "oauth" => {
                    rest.extend(
                        members.iter().map(|(member, value)| (format!("{key}.{member}"), value.clone())),
                    );
                }
                value => drop(rest.insert(key.clone(), value.clone())),
            }
            continue;
        }
        match value {
            Value::Table(members) if key == "health_check" || key == "oauth" => {
                for (member, value) in members {
                    let path = format!("{key}.{member}");
                    match known_default(&path) {
                        None => drop(rest.insert(path, value.clone())),
                        Some(usual) if usual.as_ref() == Some(value) => {}
                        Some(_) => drop(effect.insert(path, value.clone())),
                    }
                }
            }
            Value::Table(members) if members.is_empty() => {}
            value => {
                let usual = known_default(key).flatten();
                let inferred = key == "type" && value.as_str() != Some("sse");
                if usual.as_ref() != Some(value) && !inferred {
                    effect.insert(key.clone(), value.clone());
                }
            }
        }
    }
    (effect, rest)
}

/// A key's default, if it has one; `None` for a key that is not known.
fn known_default(path: &str) -> Option<Option<Value>> {
    let whole = |number: i64| Some(Some(Value::Integer(number)));
    match path {
        "args" | "tools" | "agents" | "always_allow" | "oauth.scopes" => Some(Some(Value::Array(Vec::new()))),
        "auto_approve" | "disabled" | "health_check.enabled" => Some(Some(Value::Boolean(false))),
        "sandbox" | "oauth.enabled" => Some(Some(Value::Boolean(true))),
        "timeout_seconds" => whole(300),
        "health_check.interval_ms" => whole(30_000),
        "health_check.timeout_ms" => whole(10_000),
        "health_check.failures" => whole(3),
        "oauth.provider" | "oauth.client_id" | "oauth.client_secret" | "oauth.redirect_port" => Some(None),
        path if !path.contains('.') => Some(None),
        _ => None,
    }
}

/// The effect that a draft asks for.
pub fn wanted(draft: &McpServerConfig) -> Table {
    let text = |text: &String| Value::String(text.clone());
    let texts = |all: &[String]| Value::Array(all.iter().map(text).collect());
    let map = |all: &BTreeMap<String, String>| {
        Value::Table(all.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))).collect())
    };
    let mut table = Table::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    let whole = |number: u32| Value::Integer(i64::from(number));
    set("name", Some(text(&draft.name)));
    set("command", draft.command.as_ref().map(text));
    set("args", Some(texts(&draft.args)));
    set("env", Some(map(&draft.env)));
    set("cwd", draft.cwd.as_ref().map(text));
    set("url", draft.url.as_ref().map(text));
    set("type", (draft.r#type == Some(TransportKind::Sse)).then(|| Value::String("sse".into())));
    set("headers", Some(map(&draft.headers)));
    set("tools", Some(texts(&draft.tools)));
    set("auto_approve", Some(Value::Boolean(draft.auto_approve)));
    set("sandbox", draft.sandbox.map(Value::Boolean));
    set("prefix", draft.prefix.as_ref().map(text));
    set("agents", Some(texts(&draft.agents)));
    set("timeout_seconds", draft.timeout_seconds.map(whole));
    set("max_seconds", draft.max_seconds.map(whole));
    set("disabled", Some(Value::Boolean(draft.disabled)));
    set("always_allow", Some(texts(&draft.always_allow)));
    set(
        "health_check",
        draft.health_check.as_ref().map(|health| {
            let mut table = toml_oracle::value::Table::new();
            table.insert("enabled".into(), Value::Boolean(health.enabled));
            table.insert("interval_ms".into(), whole(health.interval_ms));
            table.insert("timeout_ms".into(), whole(health.timeout_ms));
            table.insert("failures".into(), whole(health.failures));
            Value::Table(table)
        }),
    );
    set(
        "oauth",
        draft.oauth.as_ref().map(|oauth| {
            let mut table = toml_oracle::value::Table::new();
            for (key, value) in [
                ("provider", &oauth.provider),
                ("client_id", &oauth.client_id),
                ("client_secret", &oauth.client_secret),
            ] {
                if let Some(value) = value {
                    table.insert(key.into(), text(value));
                }
            }
            table.insert("enabled".into(), Value::Boolean(oauth.enabled));
            table.insert("scopes".into(), texts(&oauth.scopes));
            if let Some(port) = oauth.redirect_port {
                table.insert("redirect_port".into(), whole(u32::from(port)));
            }
            Value::Table(table)
        }),
    );
    effect(&table).0
}
