//! A running server as its owner holds it: its pipes, its end, and the steps of stopping it.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use patchbay_api::SandboxState;
use tokio::{
    io::AsyncWrite,
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, watch},
};

use crate::Exit;

/// How long a server is given after each step of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSteps {
    /// From the end of its input to SIGTERM.
    pub input: Duration,
    /// From SIGTERM to SIGKILL.
    pub term: Duration,
    /// From SIGKILL until the wait is given up; a process that the kernel holds cannot be waited for.
    pub kill: Duration,
}

impl Default for StopSteps {
    /// Five seconds each (MCP-11).
    fn default() -> Self {
        let step = Duration::from_secs(5);
        Self { input: step, term: step, kill: step }
    }
}

/// What a process's task is asked to do to everything that belongs to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// From here on the steps are this side's; else what a server leaves behind is ended by its task.
    Stopping,
    /// Send SIGTERM.
    Term,
    /// Send SIGKILL until nothing is left.
    Kill,
}

/// How far a server has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    /// The end of the server's own process.
    pub exit: Option<Exit>,
    /// Whether nothing that it started is left either.
    pub gone: bool,
}

/// A running server. Dropping it kills the server and everything that it started: the last resort.
#[derive(Debug)]
pub struct Process {
    pub(crate) pid: u32,
    pub(crate) started_at: SystemTime,
    pub(crate) sandbox: SandboxState,
    #[cfg(unix)]
    pub(crate) held: Option<Arc<Mutex<crate::sandbox::Held>>>,
    pub(crate) stdin: Arc<StdinPipe>,
    pub(crate) stdin_taken: bool,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) orders: mpsc::UnboundedSender<Order>,
}

impl Process {
    /// The server's process id as the host counts, also for a server in a PID namespace of its own.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When it was started.
    #[must_use]
    pub fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// What holds it.
    #[must_use]
    pub fn sandbox(&self) -> &SandboxState {
        &self.sandbox
    }

    /// Its standard input, once. [`Process::stop`] and [`Process::close_input`] close it under the taker's hands:
    /// a write then fails with `BrokenPipe`, also one that is waiting. Dropping it closes it too.
    pub fn take_stdin(&mut self) -> Option<ServerStdin> {
        (!std::mem::replace(&mut self.stdin_taken, true))
            .then(|| ServerStdin { pipe: Arc::clone(&self.stdin) })
    }

    /// Its standard output, once. Nothing else reads it.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Waits for the end of the server's own process, however it comes. Each call gives a future of its own, which
    /// may outlive this value. What the server wrote to stderr until then stands in its log.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + 'static + use<> {
        let mut progress = self.progress.clone();
        async move { exit(&mut progress).await }
    }

    /// How the server's own process ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.progress.borrow().exit
    }

    /// Closes the server's standard input: the polite request to end.
    pub fn close_input(&self) {
        self.stdin.close();
    }

    /// Ends the server and everything that it started: closes its input, then SIGTERM, then SIGKILL, waiting after
    /// each step as `steps` says (MCP-11). Once the server's own process has ended, what it left behind gets the
    /// rest of the steps at once. Returns when nothing is left, or `steps.kill` after SIGKILL.
    pub async fn stop(mut self, steps: StopSteps) -> Exit {
        self.order(Order::Stopping);
        self.close_input();
        drop(self.stdout.take());
        let mut progress = self.progress.clone();
        if within(steps.input, exit(&mut progress)).await.is_none() || !progress.borrow().gone {
            self.order(Order::Term);
            if within(steps.term, gone(&mut progress)).await.is_none() {
                self.order(Order::Kill);
                within(steps.kill, gone(&mut progress)).await;
            }
        }
        let ended = progress.borrow().exit;
        ended.unwrap_or(Exit { code: None, signal: None, guard_lost: false })
    }

    /// Blocked names that have appeared since the start or since the last call, which its sandbox holds only from its
    /// next start. Empty for a server without one.
    #[cfg(unix)]
    pub async fn newly_blocked(&self) -> Vec<std::path::PathBuf> {
        let Some(held) = self.held.clone() else {
            return Vec::new();
        };
        let look = move || held.lock().unwrap_or_else(PoisonError::into_inner).appeared();
        // It fails only with the runtime's end, when nobody needs the answer.
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// Looks every `every` for blocked names that have appeared, and resolves to the first that did; see
    /// [`Process::newly_blocked`]. Never resolves for a server without a sandbox.
    pub fn blocked_appear(
        &self,
        every: Duration,
    ) -> impl Future<Output = Vec<std::path::PathBuf>> + Send + 'static + use<> {
        #[cfg(unix)]
        let held = self.held.clone();
        async move {
            #[cfg(unix)]
            if let Some(held) = held {
                loop {
                    tokio::time::sleep(every).await;
                    let held = Arc::clone(&held);
                    let look = move || held.lock().unwrap_or_else(PoisonError::into_inner).appeared();
                    match tokio::task::spawn_blocking(look).await {
                        Ok(new) if !new.is_empty() => return new,
                        _ => {}
                    }
                }
            }
            std::future::pending().await
        }
    }

    /// Ends everything without asking and waits until it is gone, for a bounded time.
    #[cfg(unix)]
    pub(crate) async fn kill(&self) {
        self.order(Order::Kill);
        within(StopSteps::default().kill, gone(&mut self.progress.clone())).await;
    }

    fn order(&self, order: Order) {
        // The task that takes orders ends when nothing is left to order about.
        let _ = self.orders.send(order);
    }
}

async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, future).await.ok()
}

async fn exit(progress: &mut watch::Receiver<Progress>) -> Exit {
    let lost = Exit { code: None, signal: None, guard_lost: true };
    match progress.wait_for(|progress| progress.exit.is_some()).await {
        Ok(progress) => progress.exit.unwrap_or(lost),
        Err(_) => lost,
    }
}

async fn gone(progress: &mut watch::Receiver<Progress>) {
    // An error means that the task has ended, which it does only with the runtime.
    let _ = progress.wait_for(|progress| progress.gone).await;
}

/// A server's standard input, which its [`Process`] can close at any time.
#[derive(Debug)]
pub struct ServerStdin {
    pipe: Arc<StdinPipe>,
}

/// The pipe, shared by the writer and the one who may close it.
#[derive(Debug)]
pub(crate) struct StdinPipe {
    state: Mutex<StdinState>,
}

#[derive(Debug)]
struct StdinState {
    pipe: Option<ChildStdin>,
    /// The writer that waits for room; woken when the pipe is closed.
    waiting: Option<Waker>,
}

impl StdinPipe {
    pub(crate) fn new(pipe: Option<ChildStdin>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(StdinState { pipe, waiting: None }) })
    }

    fn close(&self) {
        let (pipe, waiting) = {
            let mut state = self.lock();
            (state.pipe.take(), state.waiting.take())
        };
        drop(pipe);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, StdinState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut ChildStdin>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut state = self.lock();
        let Some(pipe) = &mut state.pipe else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let polled = act(Pin::new(pipe), cx);
        if polled.is_pending() {
            state.waiting = Some(cx.waker().clone());
        }
        polled
    }
}

impl AsyncWrite for ServerStdin {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.pipe.poll(cx, |pipe, cx| pipe.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.pipe.poll(cx, |pipe, cx| pipe.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe holds nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for ServerStdin {
    fn drop(&mut self) {
        self.pipe.close();
    }
}
