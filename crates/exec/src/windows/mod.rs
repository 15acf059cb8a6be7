//! Processes on Windows: a job object in the place of group and guard. Type-checked; not run here.
//!
//! The kernel ends everything in a job when its last handle closes, so nothing outlives the owner by whatever cause
//! it ends, and nothing has to be recorded. There is no SIGTERM: a server is asked by the end of its input, then ended.

mod job;
pub(crate) mod launch;
pub(crate) mod record;
pub(crate) mod shell;
