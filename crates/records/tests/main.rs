//! Behaviour of the records: the audit log and the diagnostic log.
#![expect(clippy::unwrap_used, reason = "a test may stop anywhere")]

mod audit;
mod diagnostics;
#[cfg(unix)]
mod owner_only;
