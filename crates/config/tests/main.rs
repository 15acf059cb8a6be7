//! Behaviour of the settings, project files, trust and watching, through the public interface.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation is a failed test")]
#![expect(clippy::disallowed_methods, reason = "files of the tests")]
#![allow(clippy::type_complexity, reason = "shapes of generated documents, each used once")]

mod fuzz;
mod project;
mod settings;
mod store;
mod watch;
