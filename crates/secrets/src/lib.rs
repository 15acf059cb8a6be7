//! Secrets: the type that holds one, the store that keeps them, and everything that keeps them out of sight.
//!
//! What people see of a server's settings goes through [`mask`] and comes back through [`unmask`]; what is written to
//! logs goes through a [`Redactor`]. Which values are secrets of a running server, and when a reference is expanded,
//! is decided by the settings and the engine; they tell the redactor.

mod error;
mod file_store;
mod forms;
mod known;
mod looks;
mod mask;
mod redactor;
mod secret;
mod shapes;
mod spans;
mod store;
mod unmask;
mod writer;

pub use error::SecretError;
pub use looks::{is_reference, looks_secret};
pub use mask::{mask, mask_url};
pub use redactor::{REDACTED, Redactor};
pub use secret::Secret;
pub use store::SecretStore;
pub use unmask::unmask;
pub use writer::RedactingWriter;
