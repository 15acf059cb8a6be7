//! Reading the answer to one post: a JSON body or an event stream, bounded, in the server's own bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use patchbay_wire::{Id, Message, RpcError};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::value::RawValue;
use sse_stream::SseStream;

use super::http::closed;
use super::{LaneError, MAX_MESSAGE};

/// Gives the result for request `id`. Requests of the server on the same stream are refused through `aside`:
/// nothing was declared that it could ask for.
pub(super) async fn read(
    response: reqwest::Response,
    id: u64,
    in_session: bool,
    aside: impl Fn(Vec<u8>),
) -> Result<Box<RawValue>, LaneError> {
    match response.status() {
        StatusCode::UNAUTHORIZED => return Err(LaneError::NeedsSignIn),
        StatusCode::NOT_FOUND if in_session => return Err(LaneError::SessionLost),
        _ => {}
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/event-stream") && response.status().is_success() {
        return read_events(response, id, aside).await;
    }
    let (status, json) = (response.status(), kind.starts_with("application/json"));
    let body = bounded(response).await?;
    match patchbay_wire::decode(&body) {
        Ok(Message::Response { id: Id::Number(got), outcome }) if json && got == id => answer(outcome),
        Ok(Message::Response { outcome: Err(error), .. }) if json => Err(LaneError::Rpc(error)),
        _ if status.is_success() => Err(LaneError::Protocol(format!(
            "the server answered HTTP {status} without the result of the request"
        ))),
        _ => Err(LaneError::Protocol(format!("the server answered HTTP {status}"))),
    }
}

async fn bounded(response: reqwest::Response) -> Result<Vec<u8>, LaneError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| closed(&error))?;
        if body.len() + chunk.len() > MAX_MESSAGE {
            return Err(too_big());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn read_events(
    response: reqwest::Response,
    id: u64,
    aside: impl Fn(Vec<u8>),
) -> Result<Box<RawValue>, LaneError> {
    let since_event = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&since_event);
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk: Bytes = chunk.map_err(|error| std::io::Error::other(closed(&error)))?;
        if counter.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len() > MAX_MESSAGE {
            return Err(std::io::Error::other(too_big()));
        }
        Ok(chunk)
    });
    let mut events = SseStream::from_bytes_stream(bytes);
    while let Some(event) = events.next().await {
        since_event.store(0, Ordering::Relaxed);
        let event =
            event.map_err(|error| LaneError::Closed(format!("the answer's stream broke: {error}")))?;
        let Some(data) = event.data else { continue };
        match patchbay_wire::decode(data.as_bytes()) {
            Ok(Message::Response { id: Id::Number(got), outcome }) if got == id => return answer(outcome),
            Ok(Message::Request { id, method, .. }) => aside(refuse(id, &method)),
            // Notifications and what is no message at all do not decide this request.
            _ => {}
        }
    }
    Err(LaneError::Closed("the answer's stream ended without a result".into()))
}

fn answer(outcome: Result<&RawValue, RpcError>) -> Result<Box<RawValue>, LaneError> {
    outcome.map(ToOwned::to_owned).map_err(LaneError::Rpc)
}

fn refuse(id: &RawValue, method: &str) -> Vec<u8> {
    if method == "ping"
        && let Ok(empty) = RawValue::from_string("{}".into())
    {
        return patchbay_wire::response(id, &empty);
    }
    patchbay_wire::error(Some(id), &RpcError::new(-32601, format!("{method} is not offered by this client")))
}

fn too_big() -> LaneError {
    LaneError::Protocol(format!("the server's answer is larger than {} MiB", MAX_MESSAGE >> 20))
}
