//! Requests on their way: who waits for which id.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::LaneError;

/// The first id of the raw road; smaller ones are rmcp's.
const FIRST: u64 = 1 << 32;

type Outcome = Result<Box<RawValue>, LaneError>;

/// The open requests of a connection. Once closed, every request fails with the reason.
#[derive(Debug)]
pub(crate) struct Pending {
    next: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    waiting: HashMap<u64, oneshot::Sender<Outcome>>,
    closed: Option<String>,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self { next: AtomicU64::new(FIRST), open: Mutex::default() }
    }

    /// A fresh id.
    pub(crate) fn id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Registers a fresh request; fails when the connection has ended.
    pub(crate) fn register(&self) -> Result<(u64, oneshot::Receiver<Outcome>), LaneError> {
        let id = self.id();
        let (sender, receiver) = oneshot::channel();
        let mut open = self.lock();
        if let Some(reason) = &open.closed {
            return Err(LaneError::Closed(reason.clone()));
        }
        open.waiting.insert(id, sender);
        Ok((id, receiver))
    }

    /// Hands an answer to whoever waits; `false` when nobody does (late, doubled, or not of this road).
    pub(crate) fn settle(&self, id: u64, outcome: Outcome) -> bool {
        let waiting = self.lock().waiting.remove(&id);
        waiting.is_some_and(|sender| sender.send(outcome).is_ok())
    }

    /// Gives a request up; `true` when it was still open.
    pub(crate) fn forget(&self, id: u64) -> bool {
        self.lock().waiting.remove(&id).is_some()
    }

    /// Ends everything: nobody waits for a connection that is gone. The first reason stays.
    pub(crate) fn close(&self, reason: &str) {
        let mut open = self.lock();
        let reason = open.closed.get_or_insert_with(|| reason.to_owned()).clone();
        for (_, sender) in open.waiting.drain() {
            // Whoever stopped waiting needs no answer.
            let _ = sender.send(Err(LaneError::Closed(reason.clone())));
        }
    }

    /// Whether an id belongs to the raw road.
    pub(crate) fn owns(id: u64) -> bool {
        id >= FIRST
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
