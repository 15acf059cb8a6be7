//! Standard input and output without a thread in between, where the system allows it: an agent's calls go through
//! here, and each hand-over to a thread costs more than the rest of the relay. Pipes take the thread on macOS and
//! Windows, which is not run here.

use tokio::io::{AsyncRead, AsyncWrite};

/// Where the agent's lines come from.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// Where lines for the agent go.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input. Must be called within the runtime.
pub fn input() -> Input {
    #[cfg(unix)]
    if let Some(input) = direct::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

/// Standard output. Must be called within the runtime.
pub fn output() -> Output {
    #[cfg(unix)]
    if let Some(output) = direct::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod direct {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::FileTypeExt as _;
    use std::os::unix::net;

    use tokio::net::{UnixStream, unix::pipe};

    use super::{Input, Output};

    /// What kind of stream a descriptor is.
    enum Kind {
        Pipe,
        Socket(OwnedFd),
    }

    fn kind(stream: impl AsFd) -> io::Result<Option<Kind>> {
        let file = File::from(stream.as_fd().try_clone_to_owned()?);
        let kind = file.metadata()?.file_type();
        Ok(if kind.is_fifo() {
            Some(Kind::Pipe)
        } else if kind.is_socket() {
            Some(Kind::Socket(file.into()))
        } else {
            None
        })
    }

    pub(super) fn input() -> Option<Input> {
        match kind(io::stdin()).ok()?? {
            Kind::Pipe => {
                let pipe = reopened("/proc/self/fd/0", |path| pipe::OpenOptions::new().open_receiver(path))?;
                Some(Box::new(pipe))
            }
            Kind::Socket(socket) => Some(Box::new(own(socket)?)),
        }
    }

    pub(super) fn output() -> Option<Output> {
        match kind(io::stdout()).ok()?? {
            Kind::Pipe => {
                let pipe = reopened("/proc/self/fd/1", |path| pipe::OpenOptions::new().open_sender(path))?;
                Some(Box::new(pipe))
            }
            Kind::Socket(socket) => Some(Box::new(own(socket)?)),
        }
    }

    /// A pipe's end, opened anew: the flag for not waiting would otherwise hold for everyone who shares the old one.
    /// Only Linux has such paths.
    fn reopened<T>(path: &str, open: impl FnOnce(&str) -> io::Result<T>) -> Option<T> {
        if cfg!(target_os = "linux") { open(path).ok() } else { None }
    }

    /// A socket cannot be opened anew. The agent made it for this process alone: its own end is another one.
    fn own(socket: OwnedFd) -> Option<UnixStream> {
        let stream = net::UnixStream::from(socket);
        // A socket of another kind is left to the thread.
        stream.local_addr().ok()?;
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }
}
