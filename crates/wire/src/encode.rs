//! Messages to lines: one line each, ended by `\n`.

use memchr::memchr2;
use serde_json::value::RawValue;

use crate::RpcError;

/// A request of ours.
#[must_use]
pub fn request(id: u64, method: &str, params: Option<&RawValue>) -> Vec<u8> {
    let mut line = request_head(id, method, params.map_or(0, |params| params.get().len()));
    if let Some(params) = params {
        line.extend_from_slice(b",\"params\":");
        push_raw(&mut line, params.get());
    }
    end(line)
}

/// A notification.
#[must_use]
pub fn notification(method: &str, params: Option<&RawValue>) -> Vec<u8> {
    let mut line = with_capacity(method.len() + params.map_or(0, |params| params.get().len()));
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    push_text(&mut line, method);
    if let Some(params) = params {
        line.extend_from_slice(b",\"params\":");
        push_raw(&mut line, params.get());
    }
    end(line)
}

/// The answer to the request with this id.
#[must_use]
pub fn response(id: &RawValue, result: &RawValue) -> Vec<u8> {
    let mut line = with_capacity(id.get().len() + result.get().len());
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    push_raw(&mut line, id.get());
    line.extend_from_slice(b",\"result\":");
    push_raw(&mut line, result.get());
    end(line)
}

/// The failure of the request with this id; `None` where the request's id could not be read.
#[must_use]
pub fn error(id: Option<&RawValue>, error: &RpcError) -> Vec<u8> {
    let data = error.data.as_deref().map(RawValue::get);
    let mut line = with_capacity(error.message.len() + data.map_or(0, str::len));
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    push_raw(&mut line, id.map_or("null", RawValue::get));
    line.extend_from_slice(b",\"error\":{\"code\":");
    push_number(&mut line, error.code < 0, error.code.unsigned_abs());
    line.extend_from_slice(b",\"message\":");
    push_text(&mut line, &error.message);
    if let Some(data) = data {
        line.extend_from_slice(b",\"data\":");
        push_raw(&mut line, data);
    }
    line.push(b'}');
    end(line)
}

/// A request up to its parameters.
pub(crate) fn request_head(id: u64, method: &str, params_len: usize) -> Vec<u8> {
    let mut line = with_capacity(method.len() + params_len);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    push_number(&mut line, false, id);
    line.extend_from_slice(b",\"method\":");
    push_text(&mut line, method);
    line
}

/// Closes the message and its line.
pub(crate) fn end(mut line: Vec<u8>) -> Vec<u8> {
    line.extend_from_slice(b"}\n");
    line
}

/// Appends JSON text as one line. A line break can only be white space there: in strings it is escaped.
pub(crate) fn push_raw(line: &mut Vec<u8>, json: &str) {
    let mut rest = json.as_bytes();
    while let Some(at) = memchr2(b'\n', b'\r', rest) {
        line.extend_from_slice(&rest[..at]);
        line.push(b' ');
        rest = &rest[at + 1..];
    }
    line.extend_from_slice(rest);
}

/// Appends a text as a JSON string.
pub(crate) fn push_text(line: &mut Vec<u8>, text: &str) {
    // Writing to memory cannot fail, and a text is always valid JSON.
    let _ = serde_json::to_writer(line, text);
}

fn push_number(line: &mut Vec<u8>, negative: bool, mut number: u64) {
    if negative {
        line.push(b'-');
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

fn with_capacity(variable: usize) -> Vec<u8> {
    Vec::with_capacity(variable + 96)
}
