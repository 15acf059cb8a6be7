//! Behaviour of the settings, project files, trust and watching, through the public interface.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation is a failed test")]
#![expect(clippy::disallowed_methods, reason = "files of the tests")]
#![allow(
    clippy::type_complexity,
    clippy::too_many_lines,
    clippy::needless_pass_by_value,
    clippy::needless_borrows_for_generic_args,
    reason = "generated documents and tables of cases, each used once"
)]

mod fuzz;
mod project;
mod settings;
mod store;
mod watch;
