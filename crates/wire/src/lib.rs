//! MCP on the wire: splitting bytes into lines, reading a line as a JSON-RPC message, writing messages, and
//! replacing single values inside them while every other byte stays.
//!
//! Pure functions over bytes. What passes through stays a raw value: only the envelope is looked at. Reading from
//! and writing to a process or a socket lives in the engine and the gateway.

mod call;
mod decode;
mod encode;
mod lines;
mod message;
mod scan;
mod splice;

pub use call::{CallParams, ResultFlags, result_flags};
pub use decode::{batch, broken_response, decode};
pub use encode::{error, notification, request, response};
pub use lines::{DEFAULT_LIMIT, Line, Lines};
pub use message::{Id, Message, Noise, RpcError, WireError};
pub use splice::{Token, set, splice, spliced_request};
