//! The window's process: started when the window is wanted, told to come to the front, ended with the owner.
//!
//! It is a process of its own so that a crash of the web engine takes no server down, and because a process that
//! ever made a web view never gives its memory back.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};

/// How long a window that is told to end may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Starts and ends the window.
pub(crate) struct WindowProcess {
    home: PathBuf,
    program: PathBuf,
    running: Option<(Child, Option<ChildStdin>)>,
}

impl WindowProcess {
    pub(crate) fn new(home: &Path, program: PathBuf) -> Self {
        Self { home: home.to_owned(), program, running: None }
    }

    /// Opens the window, or brings the open one to the front.
    pub(crate) fn open(&mut self, settings: bool) -> std::io::Result<()> {
        if let Some((_, Some(input))) = &mut self.running {
            let line: &[u8] = if settings { b"settings\n" } else { b"front\n" };
            // A pipe takes these few bytes at once; a window that has just ended is noticed by its end.
            let mut writing = std::pin::pin!(input.write_all(line));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = writing.as_mut().poll(&mut context);
            return Ok(());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the window is this very program, and is awaited in `closed`"
        )]
        let mut command = tokio::process::Command::new(&self.program);
        command.arg("--window").arg("--config").arg(&self.home);
        if settings {
            command.arg("--settings");
        }
        let mut child = command.stdin(Stdio::piped()).kill_on_drop(true).spawn()?;
        let input = child.stdin.take();
        self.running = Some((child, input));
        Ok(())
    }

    /// Resolves when the window's process has ended; never while there is none.
    pub(crate) async fn closed(&mut self) {
        let Some((child, _)) = &mut self.running else { return std::future::pending().await };
        match child.wait().await {
            Ok(status) if status.success() => {}
            Ok(status) => tracing::warn!(%status, "the window's process ended badly"),
            Err(error) => tracing::warn!(%error, "the window's process cannot be waited for"),
        }
        self.running = None;
    }

    /// Ends the window: its input closes, which it takes as the owner's end; then by force.
    pub(crate) async fn close(&mut self) {
        let Some((mut child, input)) = self.running.take() else { return };
        drop(input);
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err()
            && let Err(error) = child.kill().await
        {
            tracing::warn!(%error, "the window's process cannot be ended");
        }
    }
}
