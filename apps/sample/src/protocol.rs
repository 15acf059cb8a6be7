//! Answers one JSON-RPC message of the protocol. What the tools do is in `tools`.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::{line::LIMIT, tools};

/// The revisions spoken, newest first; all of them begin with `initialize`.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// JSON-RPC's error codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// A failure of a request, as JSON-RPC states it.
struct Refusal {
    code: i32,
    message: String,
}

fn refuse(code: i32, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into() }
}

/// The answer to a line that was too long to read.
pub fn too_long() -> Value {
    error(&Value::Null, &refuse(PARSE_ERROR, format!("a message has at most {LIMIT} bytes")))
}

/// The answer to one line, if it needs one.
pub fn answer(line: &[u8], now: SystemTime) -> Option<Value> {
    let message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(_) => {
            return Some(error(&Value::Null, &refuse(INVALID_REQUEST, "a message is one JSON object")));
        }
        Err(why) => {
            return Some(error(&Value::Null, &refuse(PARSE_ERROR, format!("not JSON: {why}"))));
        }
    };
    if !message.contains_key("method") && (message.contains_key("result") || message.contains_key("error")) {
        return None; // an answer to a question that this server never asks
    }
    let id = match message.get("id") {
        None => return None, // a notification
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        Some(_) => {
            return Some(error(&Value::Null, &refuse(INVALID_REQUEST, "an id is a string or a number")));
        }
    };
    Some(match request(&message, now) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(refusal) => error(&id, &refusal),
    })
}

fn error(id: &Value, refusal: &Refusal) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": refusal.code, "message": refusal.message}})
}

fn request(message: &Map<String, Value>, now: SystemTime) -> Result<Value, Refusal> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refuse(INVALID_REQUEST, "`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        return Err(refuse(INVALID_REQUEST, "`method` must be a string"));
    };
    let none = Map::new();
    let params = match message.get("params") {
        None => &none,
        Some(Value::Object(params)) => params,
        Some(_) => return Err(refuse(INVALID_PARAMS, "`params` must be an object")),
    };
    match method {
        "initialize" => initialize(params),
        "ping" => Ok(json!({})),
        "tools/list" => list(params),
        "tools/call" => call(params, now),
        _ => Err(refuse(METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
    }
}

fn initialize(params: &Map<String, Value>) -> Result<Value, Refusal> {
    let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(refuse(INVALID_PARAMS, "`protocolVersion` must be a string"));
    };
    let revision = REVISIONS.into_iter().find(|&known| known == wanted).unwrap_or(REVISIONS[0]);
    Ok(json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "patchbay-sample", "title": "Patchbay sample", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "Three harmless tools to try things out with: echo a text, add two numbers, tell the time.",
    }))
}

fn list(params: &Map<String, Value>) -> Result<Value, Refusal> {
    if params.contains_key("cursor") {
        return Err(refuse(INVALID_PARAMS, "unknown cursor: all tools are on the first page"));
    }
    Ok(json!({"tools": tools::definitions()}))
}

/// Wrong arguments are the tool's own error, which a model can read and mend (revision 2025-11-25, tools).
fn call(params: &Map<String, Value>, now: SystemTime) -> Result<Value, Refusal> {
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(refuse(INVALID_PARAMS, "`name` must be a string"));
    };
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(refuse(INVALID_PARAMS, "`arguments` must be an object")),
    };
    match tools::call(name, arguments, now) {
        None => Err(refuse(INVALID_PARAMS, format!("unknown tool `{name}`"))),
        Some(Ok(result)) => Ok(result),
        Some(Err(why)) => Ok(json!({"content": [{"type": "text", "text": why}], "isError": true})),
    }
}
