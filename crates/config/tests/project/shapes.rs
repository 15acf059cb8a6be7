//! The shapes and spellings in which people write servers (MCP-04, MCP-44).

use patchbay_config::{ProjectFiles, Transport};

use super::{Folder, outline};

#[test]
fn the_common_shape_is_read_with_its_variables_as_written() {
    let folder = Folder::with_json(
        r#"{
  "mcpServers": {
    "notes": {
      "command": "uvx",
      "args": ["notes-server", "${ROOT:-.}", "drafts and ideas"],
      "env": { "LEVEL": "${LEVEL:-info}", "KEY": "${NOTES_KEY}" },
      "cwd": "sub dir"
    },
    "issues": { "type": "http", "url": "${BASE:-https://issues.example}/mcp", "headers": { "Authorization": "Bearer ${T}" } },
    "old": { "type": "sse", "url": "http://127.0.0.1:8931/sse" },
    "nested": { "transport": { "type": "http", "url": "http://localhost:8002/mcp", "headers": { "x-team": "${TEAM}" } } }
  }
}"#,
    );
    let project = folder.read();
    assert_eq!(
        outline(&project),
        [
            r#"notes stdio "uvx" ["notes-server", "${ROOT:-.}", "drafts and ideas"]"#,
            r#"issues http ${BASE:-https://issues.example}/mcp {"Authorization": "Bearer ${T}"}"#,
            r#"nested http http://localhost:8002/mcp {"x-team": "${TEAM}"}"#,
            r#"old INVALID type: is skipped: its type is "sse", the old HTTP with server-sent events (line 10)"#,
        ]
    );
    let Transport::Stdio(notes) = &project.servers[0].config.transport else { panic!("stdio") };
    assert_eq!(notes.env["KEY"], "${NOTES_KEY}");
    assert_eq!(notes.cwd.as_deref(), Some("sub dir"));
    assert!(project.warnings.is_empty(), "{:?}", project.warnings);
}

#[test]
fn an_sse_entry_is_read_where_the_user_allows_the_old_transport() {
    let folder =
        Folder::with_json(r#"{"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}}}"#);
    let mut files = ProjectFiles::new(&folder.path()).unwrap();
    assert_eq!(outline(&files.read(true)), ["old sse http://127.0.0.1:1/sse {}"]);
    assert_eq!(files.read(false).servers.len(), 0);
    let toml = Folder::with_toml(
        "[mcp]\nlegacy_sse = true\n[[mcp.servers]]\nname = 'old'\ntype = 'sse'\nurl = 'http://h/sse'\n",
    );
    assert_eq!(toml.read().servers.len(), 0, "a project cannot allow it to itself");
}

#[test]
fn every_spelling_of_a_transport_is_read_and_every_other_is_named() {
    let folder = Folder::with_json(
        r#"{"mcpServers": {
  "a": { "type": "http", "url": "http://h/mcp" },
  "b": { "type": "streamable-http", "url": "http://h/mcp" },
  "c": { "type": "streamableHttp", "url": "http://h/mcp" },
  "d": { "type": "streamable_http", "url": "http://h/mcp" },
  "e": { "type": "HTTP", "url": "http://h/mcp" },
  "f": { "type": "remote", "url": "http://h/mcp" },
  "g": { "transport": "streamable-http", "url": "http://h/mcp" },
  "h": { "transportType": "stdio", "command": "srv" },
  "i": { "type": "sse", "url": "http://h/sse" },
  "j": { "url": "http://h/mcp" },
  "k": { "url": "http://h/sse" },
  "l": { "command": "srv", "args": [] },
  "m": { "type": "local", "command": ["srv", "--stdio", "a b"] },
  "n": { "type": "websocket", "url": "ws://h" },
  "o": { "type": "stdio", "url": "http://h/mcp" },
  "p": { "command": "srv", "url": "http://h/mcp" },
  "q": { "type": "stdio" },
  "r": { "type": "http", "transport": { "type": "stdio" }, "url": "http://h/mcp" },
  "s": { "type": "http", "command": "srv" },
  "t": { "type": 3, "command": "srv" }
}}"#,
    );
    let mut files = ProjectFiles::new(&folder.path()).unwrap();
    assert_eq!(
        outline(&files.read(false)),
        [
            "a http http://h/mcp {}",
            "b http http://h/mcp {}",
            "c http http://h/mcp {}",
            "d http http://h/mcp {}",
            "e http http://h/mcp {}",
            "f http http://h/mcp {}",
            "g http http://h/mcp {}",
            r#"h stdio "srv" []"#,
            "j http http://h/mcp {}",
            "k http http://h/sse {}",
            r#"l stdio "srv" []"#,
            r#"m stdio "srv" ["--stdio", "a b"]"#,
            r#"i INVALID type: is skipped: its type is "sse", the old HTTP with server-sent events (line 10)"#,
            r#"n INVALID type: the type "websocket" is not known: use "stdio", "http" or "sse" (line 15)"#,
            r#"o INVALID type: the type does not fit a server with a url: leave it out or write "http" (line 16)"#,
            "p INVALID url: has both a command and a url (line 17)",
            "q INVALID command: has neither a command nor a url (line 18)",
            "r INVALID type: names two different types (line 19)",
            r#"s INVALID type: the type does not fit a server with a command: leave it out or write "stdio" (line 20)"#,
            "t INVALID type: type must be text in quotes, not a whole number (line 21)",
        ]
    );
    assert_eq!(files.read(true).servers.len(), 13);
}

#[test]
fn every_key_of_an_address_is_read_and_contradictions_are_not_guessed_away() {
    let folder = Folder::with_json(
        r#"{"mcpServers": {
  "http-url": { "httpUrl": "https://h.example/mcp", "headers": { "Authorization": "Bearer $TOKEN" }, "timeout": 30000, "trust": true },
  "plain-sse": { "url": "https://h.example/sse" },
  "both": { "url": "https://old.example/sse", "httpUrl": "https://h.example/mcp" },
  "server-url": { "serverUrl": "https://h.example/mcp", "headers": { "x-api-key": "PUT_IT_HERE" } },
  "capital": { "serverURL": "https://h.example/mcp/", "oauth": { "clientId": "abc", "flow": "x" } },
  "query": { "serverUrl": "https://h.example/sse?token=PUT_IT_HERE" },
  "user": { "url": "https://user:PUT_IT_HERE@h.example/mcp" },
  "bridge": { "command": "npx", "args": ["-y", "some-bridge", "https://h.example/mcp", "--header", "Authorization: Bearer ${TOKEN}"] },
  "places": { "url": "https://{{HOST}}/mcp/${PROJECT}", "headers": { "X-A": "${env:T}", "X-B": "{env:T}", "X-C": "%TOKEN%", "X-D": "price $5" } },
  "two": { "url": "https://a.example/mcp", "serverUrl": "https://b.example/mcp" },
  "same": { "url": "https://a.example/mcp", "serverUrl": "https://a.example/mcp" },
  "ftp": { "url": "ftp://a.example/mcp" }
}}"#,
    );
    let project = folder.read();
    assert_eq!(
        outline(&project),
        [
            r#"http-url http https://h.example/mcp {"Authorization": "Bearer $TOKEN"}"#,
            "plain-sse http https://h.example/sse {}",
            "both http https://h.example/mcp {}",
            r#"server-url http https://h.example/mcp {"x-api-key": "PUT_IT_HERE"}"#,
            "capital http https://h.example/mcp/ {}",
            "query http https://h.example/sse?token=PUT_IT_HERE {}",
            "user http https://user:PUT_IT_HERE@h.example/mcp {}",
            r#"bridge stdio "npx" ["-y", "some-bridge", "https://h.example/mcp", "--header", "Authorization: Bearer ${TOKEN}"]"#,
            r#"places http https://{{HOST}}/mcp/${PROJECT} {"X-A": "${env:T}", "X-B": "{env:T}", "X-C": "%TOKEN%", "X-D": "price $5"}"#,
            "same http https://a.example/mcp {}",
            "two INVALID serverUrl: url and serverUrl name two different addresses (line 11)",
            "ftp INVALID url: url must begin with http:// or https:// (line 13)",
        ]
    );
    assert_eq!(
        unplaced(&project.warnings),
        [
            r#"2:102: server "http-url": timeout is not read, as programs differ over its unit: write timeout_seconds"#,
            r#"2:120: server "http-url": trust is not taken from a project: only you decide what is trusted"#,
            r#"2:3: server "http-url": headers.Authorization holds $TOKEN, which is taken as text: variables are written ${NAME}"#,
            r#"4:20: server "both": url is not used: httpUrl stands beside it and comes first"#,
            r#"6:85: server "capital": oauth.flow is not known; it has no effect"#,
            r#"10:3: server "places": url holds {{HOST}}: is it a place to be filled in by hand?"#,
            r#"10:3: server "places": headers.X-B holds {env:T}, which is taken as text: variables are written ${NAME}"#,
            r#"10:3: server "places": headers.X-C holds %TOKEN%, which is taken as text: variables are written ${NAME}"#,
        ]
    );
    let Transport::Http(capital) = &project.servers[4].config.transport else { panic!("http") };
    assert_eq!(capital.oauth.client_id.as_deref(), Some("abc"));
}

#[test]
fn windows_paths_arrive_byte_for_byte_and_unix_rules_leave_them_alone() {
    let text = "\u{feff}{\r\n\"mcpServers\": {\r\n\
        \"full\": { \"command\": \"C:\\\\Program Files\\\\node\\\\node.exe\", \"args\": [\"C:\\\\a user\\\\index.js\", \"D:\\\\R&D (1)\\\\\"] },\r\n\
        \"unc\": { \"command\": \"\\\\\\\\host\\\\tools\\\\srv.exe\", \"cwd\": \"\\\\\\\\host\\\\a share\" },\r\n\
        \"percent\": { \"command\": \"%APPDATA%\\\\npm\\\\x.cmd\", \"args\": [\"%USERPROFILE%\\\\x\", \"100%\"] },\r\n\
        \"tilde\": { \"command\": \"~/bin/srv\", \"args\": [\"~/data\", \"$HOME/data\"], \"cwd\": \"~\" }\r\n}\r\n}\r\n";
    let project = Folder::with_json(text).read();
    assert_eq!(
        outline(&project),
        [
            r#"full stdio "C:\\Program Files\\node\\node.exe" ["C:\\a user\\index.js", "D:\\R&D (1)\\"]"#,
            r#"unc stdio "\\\\host\\tools\\srv.exe" []"#,
            r#"percent stdio "%APPDATA%\\npm\\x.cmd" ["%USERPROFILE%\\x", "100%"]"#,
            r#"tilde stdio "~/bin/srv" ["~/data", "$HOME/data"]"#,
        ]
    );
    let place = &project.servers[3].place;
    assert_eq!((place.line, place.column), (Some(6), Some(1)));
}

#[test]
fn a_wrong_kind_of_value_is_named_with_its_field_and_line() {
    let folder = Folder::with_json(
        r#"{"mcpServers": {
  "args": { "command": "srv", "args": "--one --two" },
  "arg": { "command": "srv", "args": ["--port", 8080] },
  "env": { "command": "srv", "env": { "PORT": 8080 } },
  "null": { "command": "srv", "env": { "NOTHING": null } },
  "flag": { "command": "srv", "disabled": "true" },
  "enabled": { "command": "srv", "enabled": "false" },
  "number": { "command": 5 },
  "list": { "command": [] },
  "mixed": { "command": ["srv", 1] },
  "twice": { "command": ["srv"], "args": ["x"] },
  "headers": { "url": "http://h/", "headers": ["a"] },
  "break": { "url": "http://h/", "headers": { "A": "x\r\nB: y" } },
  "text": "npx srv",
  "": { "command": "srv" },
  "contradiction": { "command": "srv", "enabled": true, "disabled": true },
  "good": { "command": "srv", "enabled": false },
  "doubled": { "command": "srv", "env": { "A": "1", "A": "2" } }
}}"#,
    );
    let project = folder.read();
    assert_eq!(
        outline(&project),
        [
            r#"good stdio "srv" []"#,
            "args INVALID args: args must be a list of texts in square brackets, not text (line 2)",
            "arg INVALID args[1]: args[1] must be text in quotes, not a whole number (line 3)",
            "env INVALID env.PORT: env.PORT must be text in quotes, not a whole number (line 4)",
            "null INVALID env.NOTHING: env.NOTHING must be text in quotes, not null (line 5)",
            "flag INVALID disabled: disabled must be true or false without quotes, not text (line 6)",
            "enabled INVALID enabled: enabled must be true or false without quotes, not text (line 7)",
            "number INVALID command: command must be text in quotes, not a whole number (line 8)",
            "list INVALID command: command is an empty list (line 9)",
            "mixed INVALID command[1]: command[1] must be text in quotes, not a whole number (line 10)",
            "twice INVALID command: command is a list and args is there too: it is unclear which arguments are meant (line 11)",
            "headers INVALID headers: headers must be a table, not a list (line 12)",
            "break INVALID headers.A: headers.A holds a line break or another control character (line 13)",
            "text INVALID -: a server must be an object, not text (line 14)",
            " INVALID name: a server's name must not be empty (line 15)",
            "contradiction INVALID enabled: enabled and disabled contradict each other (line 16)",
            "doubled INVALID A: A stands in it twice (line 18)",
        ]
    );
    assert!(project.servers[0].config.disabled);
}

#[test]
fn keys_that_are_not_read_are_named_and_never_dropped_in_silence() {
    let folder = Folder::with_json(
        r#"{ "inputs": [], "mcpServers": { "s": {
  "command": "srv", "timeout": 60, "autoApprove": ["query"], "alwaysAllow": ["*"], "trust": true, "sandbox": false,
  "watchPaths": ["x"], "disabledTools": ["y"], "timeoutSeconds": 90, "name": "other", "transport": { "type": "stdio", "port": 1 }
} } }"#,
    );
    let project = folder.read();
    assert_eq!(
        unplaced(&project.warnings),
        [
            "1:3: inputs is not known; it has no effect",
            r#"2:21: server "s": timeout is not read, as programs differ over its unit: write timeout_seconds"#,
            r#"2:36: server "s": autoApprove is not taken from a project: only you decide what runs without asking"#,
            r#"2:62: server "s": alwaysAllow is not taken from a project: only you decide what runs without asking"#,
            r#"2:84: server "s": trust is not taken from a project: only you decide what is trusted"#,
            r#"3:3: server "s": watchPaths is not known; it has no effect"#,
            r#"3:24: server "s": disabledTools is not read: list the tools that may be used under tools, or write a deny rule"#,
            r#"3:70: server "s": name is not read: the name is the key in front of the entry"#,
            r#"3:119: server "s": transport.port is not known; it has no effect"#,
            r#"2:110: server "s": sandbox = false is not taken from a project: the server stays in the sandbox"#,
        ]
    );
    let server = &project.servers[0];
    assert!(!server.config.auto_approve && server.config.always_allow.is_empty() && server.asks_unsandboxed);
    assert_eq!(server.config.timeout.as_secs(), 90);
    let Transport::Stdio(stdio) = &server.config.transport else { panic!("stdio") };
    assert!(stdio.sandbox);
}

#[test]
fn the_key_of_another_program_is_pointed_out() {
    let project = Folder::with_json(r#"{"servers": {"a": {"command": "x"}}}"#).read();
    assert!(project.servers.is_empty());
    assert_eq!(
        unplaced(&project.warnings),
        ["1:2: servers is VS Code's key: here the servers stand under mcpServers"]
    );
}

/// Warnings without the path in front.
fn unplaced(warnings: &[String]) -> Vec<String> {
    warnings
        .iter()
        .map(|text| text.split_once(".mcp.json:").map_or(text.clone(), |(_, rest)| rest.to_owned()))
        .collect()
}
