//! Behaviour of the wire as its users see it: lines, messages, calls, and fuzzing of all three.
#![expect(clippy::unwrap_used, reason = "a test may stop anywhere")]

mod calls;
mod fuzz;
mod json;
mod lines;
mod messages;
