//! The task beside every server: drains stderr, passes orders to the guard, tells how the server ended, and returns
//! when nothing is left of it.

use std::{io, time::Duration};

use tokio::{
    net::unix::pipe,
    process::Child,
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    Exit, ServerLog,
    family::Family,
    guard::{self, Link, Message},
    process::{Order, Progress},
    record::Record,
};

/// Bytes of stderr read at once.
const CHUNK: usize = 16 * 1024;
/// Bytes of stderr taken before anything else is looked at again; what a pipe holds at most.
const BURST: usize = 1024 * 1024;
/// How long the family of a guard that was killed may take to end.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long a guard may take to kill everything. One that was stopped would never.
const GUARD_LIMIT: Duration = Duration::from_secs(2);

/// Everything that belongs to one running server on the owner's side, but its pipes for the protocol.
pub(crate) struct Supervisor {
    pub guard: Child,
    pub link: Link,
    pub stderr: Option<pipe::Receiver>,
    pub orders: mpsc::UnboundedReceiver<Order>,
    pub progress: watch::Sender<Progress>,
    pub log: ServerLog,
    pub family: Option<Family>,
    pub record: Option<Record>,
    /// Between SIGTERM and SIGKILL for what a server leaves behind that ends by itself.
    pub leftover_grace: Duration,
}

/// How far the steps have come.
#[derive(Default)]
struct Steps {
    /// Whether a stop decides about them.
    stopping: bool,
    termed: bool,
    kill_at: Option<Instant>,
    /// When the guard is done without, after it was told to kill.
    give_up_at: Option<Instant>,
    deserted: bool,
}

impl Supervisor {
    /// Runs until nothing is left of the server.
    pub(crate) async fn run(mut self) {
        let mut steps = Steps::default();
        loop {
            let (kill_at, give_up_at) = (steps.kill_at, steps.give_up_at);
            tokio::select! {
                message = self.link.next() => match message {
                    Some(Message::Exited(status)) => self.ended(status, &mut steps),
                    Some(Message::Started(_)) => {}
                    None => break,
                },
                order = self.orders.recv(), if !steps.deserted => self.take(order, &mut steps),
                () = at(kill_at) => self.kill(&mut steps),
                () = at(give_up_at) => {
                    self.log.note("its guard does not answer; its processes are ended without it");
                    break;
                }
                () = readable(self.stderr.as_ref()) => self.read_stderr(),
            }
        }
        self.finish(steps.give_up_at.is_some_and(|at| at <= Instant::now())).await;
    }

    fn take(&mut self, order: Option<Order>, steps: &mut Steps) {
        match order {
            Some(Order::Stopping) => (steps.stopping, steps.kill_at) = (true, None),
            Some(Order::Term) => self.term(steps),
            Some(Order::Kill) => self.kill(steps),
            None => {
                steps.deserted = true;
                self.kill(steps);
            }
        }
    }

    /// SIGTERM, once: some programs take a second one for an order to drop everything.
    fn term(&self, steps: &mut Steps) {
        if !std::mem::replace(&mut steps.termed, true) {
            self.link.order(guard::TERM);
        }
    }

    fn kill(&self, steps: &mut Steps) {
        steps.kill_at = None;
        steps.give_up_at = steps.give_up_at.or(Some(Instant::now() + GUARD_LIMIT));
        self.link.order(guard::KILL);
    }

    /// The server's own process has ended, by itself or not. What it left behind is ended too.
    fn ended(&mut self, status: i32, steps: &mut Steps) {
        self.read_stderr();
        self.publish(exit_of(status));
        if !steps.stopping && !steps.deserted {
            self.term(steps);
            steps.kill_at = Some(Instant::now() + self.leftover_grace);
        }
    }

    /// The guard has ended: because nothing is left, or by force. Or it does not answer.
    async fn finish(mut self, given_up: bool) {
        let clean = !given_up && self.reap_guard().await;
        if !clean {
            self.end_family().await;
            self.reap_guard().await;
        }
        self.read_stderr();
        self.log.stderr_end();
        if let Some(Err(error)) = self.record.take().map(Record::remove) {
            self.log.note(&format!("its record could not be removed: {error}"));
        }
        self.progress.send_modify(|progress| {
            let lost = Exit { code: None, signal: None, guard_lost: true };
            progress.exit = progress.exit.or(Some(lost));
            progress.gone = true;
        });
    }

    /// Whether the guard ended as it does when nothing is left.
    async fn reap_guard(&mut self) -> bool {
        let ended = timeout(END_LIMIT, self.guard.wait()).await;
        if ended.is_err()
            && let Err(error) = self.guard.start_kill()
        {
            self.log.note(&format!("its guard could not be ended: {error}"));
        }
        matches!(ended, Ok(Ok(status)) if status.success())
    }

    async fn end_family(&self) {
        let Some(family) = self.family else { return };
        match tokio::task::spawn_blocking(move || family.end(END_LIMIT)).await {
            Ok(Ok((true, _))) => {}
            Ok(Ok((false, _))) => self.log.note("some processes of this server could not be ended"),
            Ok(Err(error)) => self.log.note(&format!("its processes could not be listed: {error}")),
            // The runtime is going down, and the owner with it.
            Err(_) => {}
        }
    }

    fn publish(&self, exit: Exit) {
        self.progress.send_modify(|progress| progress.exit = Some(exit));
    }

    /// Takes what is there of stderr, without waiting.
    fn read_stderr(&mut self) {
        let Some(stderr) = &self.stderr else { return };
        let mut chunk = vec![0; CHUNK];
        let mut taken = 0;
        while taken < BURST {
            match stderr.try_read(&mut chunk) {
                Ok(0) => return self.stderr = None,
                Ok(count) => {
                    taken += count;
                    self.log.stderr(&chunk[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    self.log.note(&format!("stderr could not be read: {error}"));
                    return self.stderr = None;
                }
            }
        }
    }
}

/// Waits until a time comes; for ever where none is set.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits until stderr has something; for ever where it is closed.
async fn readable(stderr: Option<&pipe::Receiver>) {
    match stderr {
        // An error comes up again in the read that follows.
        Some(stderr) => drop(stderr.readable().await),
        None => std::future::pending().await,
    }
}

fn exit_of(status: i32) -> Exit {
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    Exit { code, signal, guard_lost: false }
}
