//! The HTTP fake does what its script says.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use patchbay_tests::{Fake, program, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Site {
    child: Child,
    fake: Fake,
    port: u16,
    _folder: TempDir,
}

#[expect(clippy::disallowed_methods, reason = "the test is the server's host here")]
fn start(script: Value) -> Site {
    let folder = TempDir::new().unwrap();
    let fake = Fake::new(folder.path(), "http", script);
    let mut command = Command::new(program("fake_http"));
    let child = command.args(fake.args()).stdin(Stdio::piped()).spawn().unwrap();
    let port = fake.wait_for("start", 1)[0]["port"].as_u64().unwrap();
    Site { child, fake, port: u16::try_from(port).unwrap(), _folder: folder }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.child.stdin = None;
        // It ends with its input; the kill is for a fake that doesn't.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for("the end of the fake", || self.child.try_wait().unwrap());
        }));
        if ended.is_err() {
            let _ = self.child.kill();
        }
    }
}

impl Site {
    /// Everything that comes back to one request, up to the end of the connection or of the announced body.
    fn ask(&self, method: &str, headers: &str, message: &Value) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = message.to_string();
        let head =
            format!("{method} /mcp HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(&self, headers: &str, method: &str) -> String {
        self.ask("POST", headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}))
    }
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn without_a_script_it_answers_in_json_and_writes_every_request_down() {
    let site = start(json!({}));
    assert_eq!(body(&site.post("x-mark: 7\r\n", "tools/list"))["result"]["tools"][0]["name"], "echo");
    assert!(
        site.ask("POST", "", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .contains(" 202 ")
    );
    assert!(site.ask("GET", "", &Value::Null).contains(" 405 "));
    let requests = site.fake.events_of("request");
    assert_eq!(requests.len(), 3);
    assert_eq!(
        (&requests[0]["headers"]["x-mark"], &requests[0]["message"]["method"]),
        (&json!("7"), &json!("tools/list"))
    );
}

#[test]
fn sessions_are_given_out_checked_ended_and_forgotten() {
    let site = start(json!({"sessions": true, "on": {"ping": ["forget_sessions", "reply"]}}));
    assert!(site.post("", "initialize").contains("mcp-session-id: session-1\r\n"));
    assert!(site.post("", "tools/list").contains(" 404 "));
    assert!(site.post("mcp-session-id: session-1\r\n", "tools/list").contains(" 200 "));
    assert!(site.ask("DELETE", "mcp-session-id: session-1\r\n", &Value::Null).contains(" 200 "));
    assert!(site.post("mcp-session-id: session-1\r\n", "tools/list").contains(" 404 "));
    assert!(site.post("", "initialize").contains("mcp-session-id: session-2\r\n"));
    assert!(site.post("mcp-session-id: session-2\r\n", "ping").contains(" 404 "));
}

#[test]
fn statuses_streams_and_broken_connections_are_scripted() {
    let site = start(json!({"on": {
        "ping": {"turns": [
            [{"respond": {"status": 503, "headers": {"retry-after": "1"}, "body": "id {id}"}}],
            ["close"],
            ["reply_sse"],
            [{"begin": {"status": 200, "headers": {"content-type": "text/event-stream"}}},
             {"write": "data: "}, "write_reply", {"write": "\r\n\r\n"}],
        ]},
    }}));
    let refused = site.post("", "ping");
    assert!(
        refused.starts_with("HTTP/1.1 503 ")
            && refused.contains("retry-after: 1\r\n")
            && refused.ends_with("id 1")
    );
    assert_eq!(site.post("", "ping"), "");
    assert!(site.post("", "ping").ends_with("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"));
    let streamed = site.post("", "ping");
    assert!(streamed.contains("connection: close\r\n"), "{streamed}");
    assert!(streamed.ends_with("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n"), "{streamed}");
}
