//! Lines to messages and back, as odd as real programs write them.

use patchbay_wire::{
    Id, Message, Noise, RpcError, batch, broken_response, decode, error, notification, request, response,
};
use serde_json::{Value, value::RawValue};

/// A message in a few words, for comparing.
fn told(line: impl AsRef<[u8]>) -> String {
    match decode(line.as_ref()) {
        Ok(Message::Request { id, method, params }) => {
            format!("request {id} {method} {}", params.map_or("-", RawValue::get))
        }
        Ok(Message::Notification { method, params }) => {
            format!("notification {method} {}", params.map_or("-", RawValue::get))
        }
        Ok(Message::Response { id, outcome: Ok(result) }) => format!("result {id} {result}"),
        Ok(Message::Response { id, outcome: Err(error) }) => {
            format!(
                "error {id} {} {:?} {}",
                error.code,
                error.message,
                error.data.as_deref().map_or("-", RawValue::get)
            )
        }
        Err(noise) => format!("noise {noise}"),
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[test]
fn the_three_kinds_of_messages_are_told_apart() {
    assert_eq!(
        told(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a" : 1e400}}"#),
        r#"request 7 tools/call {"a" : 1e400}"#
    );
    assert_eq!(told(r#"{"id":"x","method":"ping","params":null}"#), r#"request "x" ping -"#);
    assert_eq!(
        told(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        "notification notifications/initialized -"
    );
    assert_eq!(told(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#), "result 0 {}");
    assert_eq!(
        told(r#"{"id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#),
        r#"error 1 -32601 "no" [1]"#
    );
}

#[test]
fn ids_of_responses_match_in_any_spelling() {
    for (spelled, id) in [
        ("2", Id::Number(2)),
        ("\"2\"", Id::Number(2)),
        ("2.0", Id::Number(2)),
        ("4294967296", Id::Number(1 << 32)),
        ("\"two\"", Id::Text("two".into())),
        ("1.5", Id::Other("1.5".into())),
        ("-1", Id::Other("-1".into())),
    ] {
        match decode(format!(r#"{{"id":{spelled},"result":1}}"#).as_bytes()) {
            Ok(Message::Response { id: found, .. }) => assert_eq!(found, id, "{spelled}"),
            other => panic!("{spelled}: {other:?}"),
        }
    }
}

#[test]
fn ids_of_requests_stay_as_they_are() {
    assert_eq!(told(r#"{"id":"2","method":"m"}"#), r#"request "2" m -"#);
    assert_eq!(Id::exact(&raw("\"2\"")), Some(Id::Text("2".into())));
    assert_eq!(Id::exact(&raw("2")), Some(Id::Number(2)));
    assert_eq!(Id::exact(&raw("[2]")), None);
    assert_eq!(
        told(r#"{"id":{"a":1},"method":"m"}"#),
        "noise JSON, but no JSON-RPC message: its id is neither a number nor a string"
    );
}

#[test]
fn an_id_of_null_makes_a_notification_only_of_what_is_named_one() {
    assert_eq!(
        told(r#"{"id":null,"method":"notifications/progress"}"#),
        "notification notifications/progress -"
    );
    assert_eq!(told(r#"{"id":null,"method":"tools/list"}"#), "request null tools/list -");
}

#[test]
fn malformed_errors_still_fail_their_call() {
    assert_eq!(told(r#"{"id":1,"error":{"code":"-32000","message":"x"}}"#), r#"error 1 -32000 "x" -"#);
    assert_eq!(
        told(r#"{"id":1,"error":{"code":"ENOENT","message":"no file"}}"#),
        r#"error 1 -32603 "ENOENT: no file" -"#
    );
    assert_eq!(
        told(r#"{"id":1,"error":{"code":-9007199254740993,"message":"x"}}"#),
        r#"error 1 -9007199254740993 "x" -"#
    );
    assert_eq!(told(r#"{"id":1,"error":{"code":-32000.0,"message":7}}"#), r#"error 1 -32000 "7" -"#);
    assert_eq!(
        told(r#"{"id":1,"error":{"message":null}}"#),
        r#"error 1 -32603 "the other side answered an error without a message" -"#
    );
    assert_eq!(told(r#"{"id":1,"error":"boom"}"#), r#"error 1 -32603 "boom" -"#);
    assert_eq!(
        told(r#"{"id":1,"error":true}"#),
        r#"error 1 -32603 "the other side answered an error without a message: true" -"#
    );
    assert_eq!(told(r#"{"id":1,"result":{"a":1},"error":null}"#), r#"result 1 {"a":1}"#);
    assert_eq!(told(r#"{"id":1,"result":null,"error":{"code":1,"message":"m"}}"#), r#"error 1 1 "m" -"#);
    assert_eq!(
        told(r#"{"error":{"code":-32700,"message":"Parse error"},"id":null}"#),
        r#"error null -32700 "Parse error" -"#
    );
    assert_eq!(
        told(r#"{"error":{"code":-32700,"message":"Parse error"}}"#),
        r#"error null -32700 "Parse error" -"#
    );
    assert_eq!(told(r#"{"id":1,"result":null}"#), "result 1 null");
}

#[test]
fn what_is_no_message_is_told_in_words() {
    for (line, noise) in [
        ("", "an empty line"),
        ("  \t ", "an empty line"),
        ("Starting…", "not JSON"),
        ("\u{1b}[32mready\u{1b}[0m", "not JSON"),
        ("{not json", "not JSON"),
        ("[INFO] up", "not JSON"),
        ("{\"id\":1,\"result\":NaN}", "not JSON"),
        ("[1,2]", "a JSON array (a batch)"),
        ("42", "JSON, but no JSON-RPC message: it is no object"),
        ("{}", "JSON, but no JSON-RPC message: it has no method, no result and no error"),
        ("{\"method\":5}", "JSON, but no JSON-RPC message: its method is no string"),
        ("{\"result\":5}", "JSON, but no JSON-RPC message: a result without an id"),
        ("{\"id\":1,\"result\":1}{\"id\":2,\"result\":1}", "not JSON"),
    ] {
        assert_eq!(told(line), format!("noise {noise}"), "{line}");
    }
    assert_eq!(told(b"caf\xFF"), "noise not valid UTF-8");
    assert_eq!(told(b"{\"id\":1,\"result\":\"\xFF\"}"), "noise not valid UTF-8");
}

#[test]
fn a_message_after_a_progress_bar_or_a_byte_order_mark_is_found() {
    let message = r#"{"id":1,"result":"ok"}"#;
    for before in
        ["\u{feff}", " 10%\r 50%\r", "\r", "█░\r\u{1b}[2K\u{1b}[1G", "{half\r", "[1,2]\r", "\u{feff} 1%\r"]
    {
        assert_eq!(told(format!("{before}{message}")), "result 1 \"ok\"", "{before:?}");
    }
    assert_eq!(told(format!("{message}\r100%")), "result 1 \"ok\"", "the bar comes after it");
    assert_eq!(
        told([b"\xDB\xDB 9%\r", message.as_bytes()].concat()),
        "result 1 \"ok\"",
        "the bar is no UTF-8"
    );
    assert_eq!(
        told(format!("sent: {message}")),
        "noise not JSON",
        "a log line that quotes a message is none"
    );
    assert_eq!(told("{\"id\":1,\r\"result\":{}}"), "result 1 {}", "a return may be white space");
}

#[test]
fn depth_size_and_repeated_keys_do_no_harm() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(told(format!(r#"{{"id":1,"x":{deep},"result":{deep}}}"#)), format!("result 1 {deep}"));
    assert_eq!(told(r#"{"id":1,"id":2,"result":1,"result":2}"#), "result 2 2");
    assert_eq!(told(r#"{"i\u0064":3,"result":4}"#), "result 3 4");
    assert_eq!(
        told(r#"{"id":1,"result":"\ud800"}"#),
        "result 1 \"\\ud800\"",
        "half a character passes through"
    );
}

#[test]
fn the_id_of_a_response_that_cannot_be_read_is_made_out() {
    let id = |line: &[u8]| broken_response(line).map(|id| id.to_string());
    assert_eq!(id(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xFF\"}").as_deref(), Some("7"));
    assert_eq!(id(b"{\"result\":{\"x\":NaN},\"id\":\"8\"}").as_deref(), Some("8"));
    assert_eq!(id(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"content\":[").as_deref(), Some("9"));
    assert_eq!(id(b"caf\xFF {\"id\":9,\"error\":1}").as_deref(), Some("9"));
    assert_eq!(id(b"{\"id\":1,\"method\":\"x\",\"params\":NaN}"), None, "a request is no response");
    assert_eq!(id(b"{\"id\":1}"), None);
    assert_eq!(id(b"{\"id\":null,\"result\":NaN}"), None);
    assert_eq!(id(b"\xFF"), None);
}

#[test]
fn a_batch_comes_apart_into_its_messages() {
    let line = r#" [ {"id":1,"method":"ping"}, {"method":"notifications/initialized"}, 3 ]"#;
    assert_eq!(told(line), "noise a JSON array (a batch)");
    let items: Vec<String> = batch(line.as_bytes()).unwrap().iter().map(|item| told(item.get())).collect();
    assert_eq!(items[..2], ["request 1 ping -", "notification notifications/initialized -"]);
    assert!(items[2].starts_with("noise"));
    assert_eq!(batch(b"{}").unwrap_err(), Noise::NotJson);
}

#[test]
fn messages_are_written_as_one_line() {
    let pretty = raw("{\n  \"a\": [1.0,\r\n 2],\n  \"b\": \"line\\nbreak\"\n}");
    let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
    assert_eq!(
        text(request(4_294_967_296, "tools/call", Some(&pretty))),
        "{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":{   \"a\": [1.0,   2],   \"b\": \"line\\nbreak\" }}\n"
    );
    assert_eq!(text(request(0, "ping", None)), "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n");
    assert_eq!(
        text(notification("a\"b\n", Some(&raw("[]")))),
        "{\"jsonrpc\":\"2.0\",\"method\":\"a\\\"b\\n\",\"params\":[]}\n"
    );
    assert_eq!(
        text(response(&raw("\"x\""), &raw("1e2"))),
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":1e2}\n"
    );
    let failure = RpcError { code: -32_601, message: "no \"x\"\n".into(), data: Some(raw("{ }")) };
    assert_eq!(
        text(error(Some(&raw("5")), &failure)),
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32601,\"message\":\"no \\\"x\\\"\\n\",\"data\":{ }}}\n"
    );
    assert_eq!(
        text(error(None, &RpcError::new(i64::MIN, ""))),
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-9223372036854775808,\"message\":\"\"}}\n"
    );
}

#[test]
fn what_is_written_reads_back_with_the_same_meaning() {
    let params = raw("{\n\"n\": 12345678901234567890123,\n\"s\": \"a\\u0000b\"}");
    let line = request(u64::MAX, "m", Some(&params));
    assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
    let Ok(Message::Request { id, method, params: Some(found) }) = decode(&line) else {
        panic!("not a request")
    };
    assert_eq!((id.get(), &*method), ("18446744073709551615", "m"));
    assert_eq!(
        serde_json::from_str::<Value>(found.get()).unwrap(),
        serde_json::from_str::<Value>(params.get()).unwrap()
    );
    assert!(found.get().contains("12345678901234567890123"));
}
