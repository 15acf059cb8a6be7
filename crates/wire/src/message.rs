//! The parts of a JSON-RPC message, and what a line can be instead of one.

use std::{borrow::Cow, fmt};

use serde_json::value::RawValue;

/// JSON-RPC's code for a fault inside the other side; stands where an error gives no usable code.
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// One message, borrowing from its line.
#[derive(Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request {
        /// The sender's id: a number or a string, to be sent back as it is.
        id: &'a RawValue,
        /// The method.
        method: Cow<'a, str>,
        /// Its parameters; `None` also for `null`.
        params: Option<&'a RawValue>,
    },
    /// Wants no answer.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// Its parameters; `None` also for `null`.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours.
    Response {
        /// The request's id. A string of digits counts as the number.
        id: Id,
        /// The result, or the error.
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// A request's id, for comparing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number that is not negative, in any spelling (`2`, `2.0`).
    Number(u64),
    /// A string.
    Text(String),
    /// `null`, or none: an error that says not which request it is about.
    Null,
    /// Any other number, as it is spelled.
    Other(String),
}

impl Id {
    /// Reads the id of an agent's request: a string of digits is a string. `None` where it is no valid id.
    #[must_use]
    pub fn exact(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => crate::scan::text(text).map(|text| Self::Text(text.into_owned())),
            b'-' | b'0'..=b'9' => {
                Some(whole(text).map_or_else(|| Self::Other(text.to_owned()), Self::Number))
            }
            b'n' => Some(Self::Null),
            _ => None,
        }
    }

    /// Reads the id of a response to a request of ours. Our ids are numbers, and some servers send them back as strings.
    #[must_use]
    pub fn lenient(raw: &RawValue) -> Option<Self> {
        match Self::exact(raw)? {
            Self::Text(text) => Some(text.parse().map_or(Self::Text(text), Self::Number)),
            id => Some(id),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Null => f.write_str("null"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

fn whole(text: &str) -> Option<u64> {
    /// Up to here every whole number has a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: whole and in range"
    )]
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

/// An error that the other side answered.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// Its code; -32603 where it gave none that is a number.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// Whatever else it said.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// What a line is when it is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Noise {
    /// Nothing but white space.
    #[error("an empty line")]
    Empty,
    /// Text that is not JSON, such as a banner or a log line.
    #[error("not JSON")]
    NotJson,
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8")]
    InvalidUtf8,
    /// A JSON array: a JSON-RPC batch, to be taken apart by [`crate::batch`] where the protocol revision has them.
    #[error("a JSON array (a batch)")]
    Batch,
    /// JSON, but no JSON-RPC message; says why.
    #[error("JSON, but no JSON-RPC message: {0}")]
    NotRpc(&'static str),
}

/// Why the parameters or the result of a call cannot be read or edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// An object was expected.
    #[error("{0} must be a JSON object")]
    NotAnObject(&'static str),
    /// `tools/call` without a name.
    #[error("`name` is missing or is not a string")]
    NoName,
    /// One of the keys that decide about a call comes twice, or in two spellings: readers would not agree on its value.
    #[error("`{0}` is ambiguous: it is there more than once, or in another case")]
    Ambiguous(&'static str),
    /// The value to put in is not JSON.
    #[error("the new value of `{0}` is not JSON")]
    NotJson(&'static str),
}
