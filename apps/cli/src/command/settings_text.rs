//! Settings as a person reads them: in the spelling of the file.

use patchbay_api::McpServerConfig;
use patchbay_config::Settings;
use serde_json::{Map, Value, json};

use crate::terminal::{Style, Terminal};
use crate::text;

/// A server as its entry in the file, without keys at their defaults. Secrets are masked already.
pub fn server_text(server: &McpServerConfig, terminal: &Terminal) -> String {
    // A structure of texts, lists and numbers always has a JSON form.
    let Ok(Value::Object(keys)) = serde_json::to_value(server) else { return String::new() };
    let mut lines = vec![terminal.paint(Style::Strong, "[[mcp.servers]]")];
    // The sandbox alone is on where nothing is said.
    let shown =
        |(key, value): &(&String, &Value)| says_something(value) || (*key == "sandbox" && !value.is_null());
    lines.extend(keys.iter().filter(shown).map(|(key, value)| line(key, value)));
    lines.join("\n")
}

/// The settings that are no servers, each key with the value in force.
pub fn settings_text(settings: &Settings, terminal: &Terminal) -> String {
    let mut tables = Vec::new();
    for (table, keys) in settings_value(settings) {
        let mut lines = vec![terminal.paint(Style::Strong, &format!("[{table}]"))];
        lines.extend(keys.as_object().into_iter().flatten().map(|(key, value)| line(key, value)));
        tables.push(lines.join("\n"));
    }
    tables.join("\n\n")
}

/// The settings that are no servers, as JSON with the file's key names.
pub fn settings_value(settings: &Settings) -> Map<String, Value> {
    // Taken apart, so that a new table cannot be forgotten.
    let Settings { mcp, permissions, sandbox, gateway, workspaces, tray, log, audit } = settings;
    let mut tables = Map::new();
    let mut table = |name: &str, keys: Value| _ = tables.insert(name.into(), keys);
    table("mcp", json!({ "tool_names": mcp.tool_names.word(), "legacy_sse": mcp.legacy_sse }));
    table(
        "permissions",
        json!({
            "mode": permissions.mode.word(),
            "allow": permissions.allow,
            "ask": permissions.ask,
            "deny": permissions.deny,
            "ask_timeout_seconds": permissions.ask_timeout_seconds,
        }),
    );
    table(
        "sandbox",
        json!({
            "mode": sandbox.mode.word(),
            "writable_paths": sandbox.writable_paths,
            "blocked_paths": sandbox.blocked_paths,
            "allow_network": sandbox.allow_network,
            "scrub_env": sandbox.scrub_env,
        }),
    );
    table("gateway", json!({ "port": gateway.port }));
    table("workspaces", json!({ "close_after_minutes": workspaces.close_after_minutes }));
    table("tray", json!({ "enabled": tray.enabled }));
    table("log", json!({ "level": log.level.word(), "retain_days": log.retain_days }));
    table("audit", json!({ "enabled": audit.enabled }));
    tables
}

/// Whether a key of a server differs from its default.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(keys) => !keys.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => true,
    }
}

fn line(key: &str, value: &Value) -> String {
    format!("{} = {}", bare_or_quoted(key), spelled(value))
}

/// A value as TOML spells it. JSON's escapes are TOML's too.
fn spelled(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spelled).collect::<Vec<_>>().join(", ")),
        Value::Object(keys) => {
            let pairs =
                keys.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| line(key, value));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => text::terminal_json(&other.to_string()),
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { text::terminal_json(&Value::from(key).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_reads_as_its_entry_in_the_file() {
        let server = McpServerConfig {
            name: "my \"server\"".into(),
            command: Some("npx".into()),
            args: ["-y", "a b", "\u{1b}[31m"].map(str::to_owned).into(),
            env: [("TOKEN".to_owned(), patchbay_api::MASK.to_owned())].into(),
            headers: [("X Y".to_owned(), "z".to_owned())].into(),
            sandbox: Some(false),
            timeout_seconds: Some(9),
            ..McpServerConfig::default()
        };
        let expected = r#"[[mcp.servers]]
name = "my \"server\""
command = "npx"
args = ["-y", "a b", "\u001b[31m"]
env = { TOKEN = "••••••••" }
headers = { "X Y" = "z" }
sandbox = false
timeout_seconds = 9"#;
        assert_eq!(server_text(&server, &Terminal::fixed(None, false)), expected);
    }

    #[test]
    fn every_known_key_is_shown() {
        let tables = settings_value(&Settings::default());
        for setting in patchbay_config::defaults::settings() {
            let Some((table, key)) = setting.key.split_once('.') else {
                panic!("{} is in no table", setting.key)
            };
            if key.starts_with("servers") {
                continue;
            }
            assert!(
                tables.get(table).is_some_and(|keys| keys.get(key).is_some()),
                "{} is not shown",
                setting.key
            );
        }
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        let text = settings_text(&Settings::default(), &Terminal::fixed(None, false));
        let file = std::path::Path::new("settings.toml");
        let read = patchbay_config::ConfigSnapshot::parse(file, text.as_bytes()).unwrap();
        assert_eq!(read.settings, Settings::default());
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    }
}
