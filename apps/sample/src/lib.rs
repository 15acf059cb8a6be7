//! The sample server: a small MCP server with three harmless tools, so that Patchbay can be tried with nothing
//! else installed. It stands on standard input and output and ends when its input does.
//!
//! The hosts run it as `sample-server`, a child process like any other server's. `line` bounds what is read,
//! `protocol` answers one message, `tools` holds the tools; nothing here knows Patchbay.

mod line;
mod protocol;
mod tools;

use std::{
    io::{self, BufRead, Write},
    time::SystemTime,
};

use line::Line;

/// Serves on standard input and output until the input ends.
///
/// # Errors
/// When standard input can't be read or standard output can't be written.
pub fn run() -> io::Result<()> {
    match serve(io::stdin().lock(), io::stdout().lock(), SystemTime::now) {
        // The client went away without closing our input first: the same end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// Answers each line of `input` on `output`; `now` is the clock.
fn serve(mut input: impl BufRead, mut output: impl Write, now: impl Fn() -> SystemTime) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let answer = match line::read(&mut input, &mut buffer)? {
            Line::End => return Ok(()),
            Line::TooLong => Some(protocol::too_long()),
            Line::Whole if buffer.trim_ascii().is_empty() => None,
            Line::Whole => protocol::answer(&buffer, now()),
        };
        if let Some(answer) = answer {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    /// What the server answers to these lines, at 2026-02-28T23:59:59Z.
    fn talk(lines: &str) -> Vec<Value> {
        let mut output = Vec::new();
        serve(lines.as_bytes(), &mut output, || SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_323_199))
            .unwrap();
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn ask(method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params});
        let mut answers = talk(&format!("{request}\n"));
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    fn call(name: &str, arguments: &Value) -> Value {
        ask("tools/call", &json!({"name": name, "arguments": arguments}))["result"].take()
    }

    #[test]
    fn the_client_s_revision_is_taken_when_it_is_known_and_the_newest_offered_when_not() {
        let offered = |wanted: &str| {
            let params = json!({"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            ask("initialize", &params)["result"]["protocolVersion"].clone()
        };
        for known in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(offered(known), known);
        }
        for unknown in ["1999-01-01", "2099-01-01", ""] {
            assert_eq!(offered(unknown), "2025-11-25");
        }
    }

    #[test]
    fn a_session_from_handshake_to_end_of_input() {
        let answers = talk(concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            "\r\n\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"grüß\n\u0000"}}}"#,
        ));
        assert_eq!(answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(answers[0]["result"]["serverInfo"]["name"], "patchbay-sample");
        assert_eq!(answers[0]["result"]["capabilities"], json!({"tools": {}}));
        let tools = answers[1]["result"]["tools"].as_array().unwrap();
        assert_eq!(
            tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(),
            ["echo", "add", "time"]
        );
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false);
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            assert!(!tool["description"].as_str().unwrap().is_empty());
        }
        assert_eq!(answers[2]["result"]["content"], json!([{"type": "text", "text": "grüß\n\0"}]));
    }

    #[test]
    fn the_tools_do_what_they_say() {
        assert_eq!(call("add", &json!({"a": 2, "b": 40}))["structuredContent"], json!({"sum": 42}));
        assert_eq!(call("add", &json!({"a": 0.5, "b": -2}))["content"][0]["text"], "-1.5");
        assert_eq!(
            call("add", &json!({"a": i64::MAX, "b": 1}))["structuredContent"]["sum"],
            9_223_372_036_854_775_808.0
        );
        assert_eq!(call("time", &json!({}))["content"][0]["text"], "2026-02-28T23:59:59Z");
    }

    #[test]
    fn wrong_arguments_are_the_tool_s_own_error_and_name_the_argument() {
        for (tool, arguments, word) in [
            ("echo", json!({}), "text"),
            ("echo", json!({"text": 5}), "text"),
            ("echo", json!({"text": "x", "loud": true}), "loud"),
            ("add", json!({"a": 1}), "b"),
            ("add", json!({"a": 1e308, "b": 1e308}), "too large"),
            ("time", json!({"zone": "CET"}), "zone"),
        ] {
            let result = call(tool, &arguments);
            assert_eq!(result["isError"], true, "{tool} {arguments}");
            assert!(result["content"][0]["text"].as_str().unwrap().contains(word), "{result}");
        }
    }

    #[test]
    fn wrong_requests_get_the_protocol_s_errors() {
        let code = |answer: Value| answer["error"]["code"].clone();
        assert_eq!(code(ask("tools/call", &json!({"name": "rm"}))), -32602);
        assert_eq!(code(ask("tools/call", &json!({}))), -32602);
        assert_eq!(code(ask("tools/call", &json!({"name": "echo", "arguments": []}))), -32602);
        assert_eq!(code(ask("tools/list", &json!({"cursor": "x"}))), -32602);
        assert_eq!(code(ask("initialize", &json!({}))), -32602);
        assert_eq!(code(ask("server/discover", &json!({}))), -32601);
        assert_eq!(code(ask("resources/list", &json!({}))), -32601);
        assert_eq!(ask("ping", &json!({}))["result"], json!({}));
        for (line, id, code) in [
            ("{not json\n", Value::Null, -32700),
            ("\"text\"\n", Value::Null, -32600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", Value::Null, -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", Value::Null, -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}\n", json!(7), -32600),
            ("{\"id\":7,\"method\":\"ping\"}\n", json!(7), -32600),
        ] {
            let answers = talk(line);
            assert_eq!(
                (answers.len(), &answers[0]["id"], &answers[0]["error"]["code"]),
                (1, &id, &json!(code)),
                "{line}"
            );
        }
    }

    #[test]
    fn what_needs_no_answer_gets_none() {
        assert!(
            talk("\n  \n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{}}\n")
                .is_empty()
        );
        assert!(talk("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_refused_without_keeping_it_and_the_next_one_works() {
        let long = "x".repeat(line::LIMIT + 1);
        let answers = talk(&format!("{long}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n"));
        assert_eq!(
            (answers.len(), &answers[0]["error"]["code"], &answers[1]["result"]),
            (2, &json!(-32700), &json!({}))
        );
    }
}
