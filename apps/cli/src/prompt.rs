//! Questions to the person at the terminal. They stand on standard error, so that results can be piped away.

use std::io::{self, BufRead as _, Write as _};

use patchbay_api::{ApiError, ErrorCode};
use patchbay_secrets::Secret;

use crate::signal::interrupted;

/// Asks for a value that is not shown while it is typed.
///
/// # Errors
/// The terminal cannot hide what is typed, or the person broke off.
pub async fn hidden(question: &str) -> Result<Secret, ApiError> {
    let echo = Echo::off()?;
    let answer = line(question).await;
    drop(echo);
    // The line break of the person was hidden as well.
    say("\n");
    answer.map(Secret::from)
}

/// Asks a yes-or-no question; anything but a yes is a no.
///
/// # Errors
/// Standard input cannot be read, or the person broke off.
pub async fn confirm(question: &str) -> Result<bool, ApiError> {
    let answer = line(&format!("{question} [y/N] ")).await?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

async fn line(question: &str) -> Result<String, ApiError> {
    say(question);
    // Not on this thread: the signal that breaks off must get through.
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let broke_off = || ApiError::new(ErrorCode::Denied, "broken off; nothing was changed");
    let line = tokio::select! {
        line = reading => line.map_err(|_| broke_off())?,
        () = interrupted() => return Err(broke_off()),
    };
    let line =
        line.map_err(|error| ApiError::new(ErrorCode::Io, format!("cannot read the answer: {error}")))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn say(text: &str) {
    let mut out = io::stderr().lock();
    // Without standard error the question is not seen, and the answer is a no.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Keeps the terminal from showing what is typed, for as long as it lives.
#[cfg(unix)]
struct Echo(rustix::termios::Termios);

#[cfg(unix)]
impl Echo {
    fn off() -> Result<Self, ApiError> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let cannot = |error| ApiError::new(ErrorCode::Io, format!("cannot hide what is typed here: {error}"));
        let before = tcgetattr(io::stdin()).map_err(cannot)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).map_err(cannot)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for Echo {
    fn drop(&mut self) {
        // A terminal that has gone shows nothing any more.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Flush, &self.0);
    }
}

/// Windows: a terminal is not told to hide what is typed; values come from a pipe only. Not run here.
#[cfg(not(unix))]
struct Echo;

#[cfg(not(unix))]
impl Echo {
    fn off() -> Result<Self, ApiError> {
        let message = "this system's terminal cannot hide what is typed";
        Err(ApiError::new(ErrorCode::Unavailable, message)
            .hint("hand the value over by a pipe: … | patchbay secret set NAME"))
    }
}
