//! Behaviour of the secrets room: the store, the redactor, the writer, and the masks of the settings.
#![expect(clippy::unwrap_used, reason = "a test may stop anywhere")]

mod masking;
mod redaction;
mod store;
mod writing;
