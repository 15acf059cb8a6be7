//! The listening socket and who connects to it: one small interface a system.

#[cfg(unix)]
pub(crate) use unix::{Peer, bind, connect};

#[cfg(unix)]
mod unix {
    use std::path::{Path, PathBuf};

    use axum::extract::connect_info::Connected;
    use axum::serve::IncomingStream;
    use tokio::net::{UnixListener, UnixStream};

    use crate::ControlError;

    /// Who is at the other end, as the system says.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Peer {
        uid: Option<u32>,
    }

    impl Peer {
        /// Whether it is this process's own user.
        pub(crate) fn is_me(self) -> bool {
            self.uid == Some(me())
        }
    }

    impl Connected<IncomingStream<'_, UnixListener>> for Peer {
        fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
            Self { uid: stream.io().peer_cred().ok().map(|peer| peer.uid()) }
        }
    }

    /// The socket file; removed with the owner.
    pub(crate) struct Bound {
        path: PathBuf,
    }

    impl Drop for Bound {
        fn drop(&mut self) {
            // A file that is gone already is what is wanted; another failure leaves a dead socket for the next owner.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Listens at `path`, for this user alone. The caller holds the owner's lock, so an old socket there is dead.
    pub(crate) fn bind(path: &Path) -> Result<(UnixListener, Bound), ControlError> {
        let failed = |action| move |source| ControlError::Io { action, path: path.to_owned(), source };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed("replace")(error));
            }
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(failed("listen on"))?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, mode).map_err(failed("protect"))?;
        Ok((listener, Bound { path: path.to_owned() }))
    }

    /// Connects to the owner; a socket of another user is no owner of ours.
    pub(crate) async fn connect(path: &Path) -> std::io::Result<UnixStream> {
        let stream = UnixStream::connect(path).await?;
        if stream.peer_cred()?.uid() == me() {
            return Ok(stream);
        }
        Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "the socket belongs to another user"))
    }

    fn me() -> u32 {
        #[expect(unsafe_code, reason = "no safe wrapper in std")]
        // SAFETY: geteuid has no preconditions and cannot fail.
        unsafe {
            libc::geteuid()
        }
    }
}
