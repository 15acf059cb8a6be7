//! A bounded queue in front of one writing thread. Handing over costs a lock and no system call while the thread is
//! at work: it collects for a moment, then writes everything at once.

use std::{
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::RecordsError;

/// How long the thread collects before it writes.
const WINDOW: Duration = Duration::from_millis(100);
/// How long a flush waits for the disk.
const FLUSH: Duration = Duration::from_secs(5);

/// The side that hands over. Dropping it writes what is queued and ends the thread.
#[derive(Debug)]
pub(crate) struct Batches<T> {
    what: &'static str,
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// There is something for the thread to do.
    work: Condvar,
    /// The thread has written.
    written: Condvar,
}

#[derive(Debug)]
struct State<T> {
    queue: Vec<T>,
    weight: usize,
    /// Items that found no room since the last batch.
    dropped: u64,
    /// Items that ever found no room.
    lost: u64,
    /// How many were ever queued, and how many of them are done.
    queued: u64,
    done: u64,
    hurry: bool,
    closed: bool,
}

impl<T: Send + 'static> Batches<T> {
    /// Starts the thread. `write` gets the items of a batch and the number of those that found no room before it;
    /// `capacity` is the most that may wait, in units of the weight.
    pub fn start(
        what: &'static str,
        capacity: usize,
        mut write: impl FnMut(Vec<T>, u64) + Send + 'static,
    ) -> Result<Self, RecordsError> {
        let state = State {
            queue: Vec::new(),
            weight: 0,
            dropped: 0,
            lost: 0,
            queued: 0,
            done: 0,
            hurry: false,
            closed: false,
        };
        let shared = Arc::new(Shared {
            capacity,
            state: Mutex::new(state),
            work: Condvar::new(),
            written: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(format!("patchbay {what}"))
            .spawn(move || while of_thread.write_next(&mut write) {})
            .map_err(|source| RecordsError::Thread { what, source })?;
        Ok(Self { what, shared, thread: Some(thread) })
    }

    /// Queues an item, or counts it as dropped where there is no room. Never waits for the disk.
    pub fn push(&self, item: T, weight: usize, hurry: bool) {
        let mut state = self.shared.lock();
        if state.closed || state.weight + weight > self.shared.capacity {
            state.dropped += 1;
            state.lost += 1;
            return;
        }
        let idle = state.queue.is_empty();
        state.queue.push(item);
        state.weight += weight;
        state.queued += 1;
        let wake = idle || (hurry && !state.hurry);
        state.hurry |= hurry;
        drop(state);
        if wake {
            self.shared.work.notify_one();
        }
    }

    /// Waits until everything queued before is written, for at most five seconds.
    pub fn flush(&self) -> Result<(), RecordsError> {
        let mut state = self.shared.lock();
        let wanted = state.queued;
        state.hurry = true;
        self.shared.work.notify_one();
        let (_state, waited) = self
            .shared
            .written
            .wait_timeout_while(state, FLUSH, |state| state.done < wanted)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(RecordsError::Slow { what: self.what, seconds: FLUSH.as_secs() });
        }
        Ok(())
    }

    /// How many items ever found no room.
    pub fn lost(&self) -> u64 {
        self.shared.lock().lost
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for items, lets them gather, writes them. `false`: closed and everything is written.
    fn write_next(&self, write: &mut impl FnMut(Vec<T>, u64)) -> bool {
        let idle = |state: &mut State<T>| state.queue.is_empty() && !state.closed;
        let state = self.work.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        let gather = |state: &mut State<T>| !state.hurry && !state.closed;
        let (mut state, _) =
            self.work.wait_timeout_while(state, WINDOW, gather).unwrap_or_else(PoisonError::into_inner);
        let batch = mem::take(&mut state.queue);
        let count = batch.len() as u64;
        let dropped = mem::take(&mut state.dropped);
        state.weight = 0;
        state.hurry = false;
        let last = state.closed;
        drop(state);
        write(batch, dropped);
        self.lock().done += count;
        self.written.notify_all();
        !last
    }
}

impl<T> Drop for Batches<T> {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so by itself; there is nothing left to write.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// The items of a batch, and how many were dropped before it.
    type Batch = (Vec<u32>, u64);

    /// A queue whose thread tells of each batch as soon as it has taken it, then waits for a permit.
    fn held(capacity: usize) -> (Batches<u32>, mpsc::Sender<()>, mpsc::Receiver<Batch>) {
        let (permit, permits) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let batches = Batches::start("test", capacity, move |items, dropped| {
            tell.send((items, dropped)).unwrap();
            permits.recv().unwrap();
        });
        (batches.unwrap(), permit, told)
    }

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let (batches, permit, told) = held(4);
        batches.push(0, 1, true);
        assert_eq!(told.recv().unwrap(), (vec![0], 0));
        // The thread is held; who hands over goes on.
        (1..10).for_each(|item| batches.push(item, 1, false));
        assert_eq!(batches.lost(), 5);
        permit.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), (vec![1, 2, 3, 4], 5));
        batches.push(99, 1, false);
        (0..2).for_each(|_| permit.send(()).unwrap());
        batches.flush().unwrap();
        assert_eq!(told.recv().unwrap(), (vec![99], 0));
        assert_eq!(batches.lost(), 5);
        permit.send(()).unwrap();
    }

    #[test]
    fn dropping_the_queue_writes_what_is_in_it() {
        let (batches, permit, told) = held(100);
        (0..10).for_each(|item| batches.push(item, 1, false));
        (0..3).for_each(|_| permit.send(()).unwrap());
        drop(batches);
        let written: Vec<_> = told.iter().flat_map(|(batch, _)| batch).collect();
        assert_eq!(written, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn many_items_are_written_in_few_batches() {
        let (batches, permit, told) = held(1_000_000);
        (0..1000).for_each(|_| permit.send(()).unwrap());
        (0..10_000).for_each(|item| batches.push(item, 1, false));
        drop(batches);
        let sizes: Vec<_> = told.iter().map(|(batch, _)| batch.len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 10_000);
        assert!(sizes.len() < 100, "{sizes:?}");
    }
}
