//! What the gateway says itself: the handshake, lists, and failures of calls in the caller's terms.

use patchbay_engine::EngineError;
use patchbay_wire::RpcError;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// Revisions that an agent may shake hands in, newest last (MCP lifecycle).
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// JSON-RPC: the method does not exist.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the parameters are wrong.
pub(crate) const INVALID_PARAMS: i64 = -32602;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize {
    protocol_version: String,
}

/// The result of `initialize`: the agent's revision if we speak it, else our newest.
pub(crate) fn initialize(params: Option<&RawValue>) -> Result<Box<RawValue>, RpcError> {
    let asked: Initialize = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, "initialize needs a protocolVersion"))?;
    let newest = REVISIONS[REVISIONS.len() - 1];
    let version = REVISIONS.iter().find(|known| **known == asked.protocol_version).unwrap_or(&newest);
    raw(&json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "patchbay", "title": "Patchbay", "version": env!("CARGO_PKG_VERSION") },
    }))
}

/// The result of `tools/list`: the definitions as the servers wrote them, in one page.
pub(crate) fn tools(definitions: &[Box<RawValue>]) -> Result<Box<RawValue>, RpcError> {
    let mut text =
        String::with_capacity(16 + definitions.iter().map(|one| one.get().len() + 1).sum::<usize>());
    text.push_str(r#"{"tools":["#);
    for (at, definition) in definitions.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(definition.get());
    }
    text.push_str("]}");
    RawValue::from_string(text).map_err(internal)
}

/// An empty result.
pub(crate) fn empty() -> Result<Box<RawValue>, RpcError> {
    raw(&json!({}))
}

/// A failed call: the server's own errors pass as they are; ours are results that the model can read.
pub(crate) fn failure(error: &EngineError) -> Result<Box<RawValue>, RpcError> {
    match error {
        EngineError::Rpc { code, message, data, .. } => Err(RpcError {
            code: *code,
            message: message.clone(),
            data: data.clone().and_then(|data| RawValue::from_string(data).ok()),
        }),
        EngineError::NotOffered { .. } | EngineError::NoSuchTool { .. } | EngineError::Arguments { .. } => {
            Err(RpcError::new(INVALID_PARAMS, error.to_string()))
        }
        _ => {
            let text = match error.hint() {
                Some(hint) => format!("{error}\nNext step: {hint}"),
                None => error.to_string(),
            };
            raw(&json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
        }
    }
}

fn raw(value: &serde_json::Value) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(value).map_err(internal)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn internal(error: serde_json::Error) -> RpcError {
    RpcError::new(-32603, error.to_string())
}
