//! One writer at a time: a lock file, held by an open file and so given up by a process that dies.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    time::Duration,
};

use crate::error::{ConfigError, IoContext as _};

/// How long another writer is waited for. Writers hold the lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, waiting for another writer for a while.
    ///
    /// # Errors
    /// [`ConfigError::Busy`] where another writer does not finish.
    pub(crate) fn acquire(path: &Path) -> Result<Self, ConfigError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).at("open", path)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if waited < PATIENCE => {
                    std::thread::sleep(PAUSE);
                    waited += PAUSE;
                }
                Err(TryLockError::WouldBlock) => return Err(ConfigError::Busy { path: path.into() }),
                Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
            }
        }
    }
}
