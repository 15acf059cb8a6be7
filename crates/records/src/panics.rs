//! What is said when the program itself fails: without secrets, on stderr and in the log.

use std::{
    io::{self, Write},
    panic,
    sync::Arc,
};

use patchbay_secrets::Redactor;

use crate::LogGuard;

/// From now on, a panic's message goes through the redactor, to stderr and as an error to the log. With `log`, that is
/// written before the panic goes on: it may end the process.
pub fn redact_panics(redactor: Redactor, log: Option<&LogGuard>) {
    let batches = log.map(|log| Arc::clone(&log.batches));
    panic::set_hook(Box::new(move |panic| {
        let message = panic.to_string();
        let message = redactor.redact(&message);
        tracing::error!("{message}");
        // There is no one left to tell when stderr is gone.
        let _ = writeln!(io::stderr(), "{message}");
        if let Some(batches) = &batches {
            // A log that cannot be written does not make a failure worse.
            let _ = batches.flush();
        }
    }));
}
