//! Child processes of servers: how they are found, started, watched and ended.
//!
//! Owns the environment that a server gets, its process group, the guard that ends everything when the owner
//! ends, the OS sandbox, and the bounded log of what a server writes to stderr. Reading a server's stdout, the
//! protocol and the back-off of restarts live in the engine.

mod environment;
mod error;
mod exec;
mod exit;
#[cfg(unix)]
mod family;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod launch;
mod log;
#[cfg(unix)]
mod proc;
mod process;
#[cfg(unix)]
mod record;
pub mod sandbox;
mod search;
#[cfg(unix)]
mod shell;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod supervise;
#[cfg(windows)]
mod windows;

#[cfg(windows)]
use windows::{launch, record, shell};

pub use error::ExecError;
pub use exec::{Exec, ExecOptions, Launch};
pub use exit::Exit;
pub use log::{LogLine, LogSource, Redact, ServerLog};
pub use process::{Process, ServerStdin, StopSteps};
