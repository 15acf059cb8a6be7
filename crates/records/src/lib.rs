//! What is written down: the audit log of who did what, and the diagnostic log. Both pass through the redactor, are
//! readable by their owner only, are bounded by age and size, and never make a call wait.
//!
//! Which events there are is said here; when one happens is told by the engine and the hub. Logs of the servers'
//! stderr live with the processes.

mod audit;
mod batches;
mod day_files;
mod error;
mod event;
mod files;
mod log;
mod panics;
mod rotating;
mod stamp;

pub use audit::{Audit, Limits};
pub use error::RecordsError;
pub use event::{
    AuditEvent, CallOutcome, DecisionReason, LossCause, ProcessChange, SettingsAction, SignInChange,
    TrustChange,
};
pub use log::{Clock, LogGuard, LogLevel, diagnostics, init};
pub use panics::redact_panics;
