//! Reading one file that somebody else may have put there: bounded, regular files only, never waiting.
//!
//! What the bytes mean is decided elsewhere.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Why a file cannot be read, although something stands at its place.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is a folder, a pipe, a device or a socket.
    #[error("it is no regular file")]
    NotAFile,
    /// It is larger than anyone's settings.
    #[error("it is larger than {} KiB", .0 / 1024)]
    TooLarge(usize),
    /// A symbolic link leads out of the project.
    #[error("it leads out of the project, to {}", .0.display())]
    Outside(PathBuf),
    /// A symbolic link leads nowhere.
    #[error("it is a link that leads nowhere")]
    Dangling,
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The content of a regular file of at most `limit` bytes; `None` where there is none. Follows links.
///
/// # Errors
/// Something else stands there, it is too large, or the system refuses.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, SourceError> {
    let Some(mut file) = open(path)? else {
        return Ok(None);
    };
    let mut content = Vec::new();
    // One byte more than allowed tells a file that is too large, whatever its metadata says.
    (&mut file).take(limit as u64 + 1).read_to_end(&mut content)?;
    if content.len() > limit { Err(SourceError::TooLarge(limit)) } else { Ok(Some(content)) }
}

/// As [`read`], for `relative` in the folder `root` (canonical); a link that leaves the folder is refused.
///
/// # Errors
/// As [`read`], and where the path leads out of `root` or nowhere.
pub(crate) fn read_within(
    root: &Path,
    relative: &Path,
    limit: usize,
) -> Result<Option<Vec<u8>>, SourceError> {
    match within(root, relative)? {
        Some(path) => read(&path, limit),
        None => Ok(None),
    }
}

/// The canonical path of something in a folder; `None` where there is nothing.
fn within(root: &Path, relative: &Path) -> Result<Option<PathBuf>, SourceError> {
    let path = root.join(relative);
    if present(path.symlink_metadata())?.is_none() {
        return Ok(None);
    }
    match path.canonicalize() {
        Ok(target) if target.starts_with(root) => Ok(Some(target)),
        Ok(target) => Err(SourceError::Outside(target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(SourceError::Dangling),
        Err(error) => Err(error.into()),
    }
}

/// Opens a regular file for reading; `None` where there is nothing.
///
/// # Errors
/// Something else than a regular file stands there, or the system refuses.
pub(crate) fn open(path: &Path) -> Result<Option<File>, SourceError> {
    // Looked at before it is opened: opening a device can already do something.
    match present(path.metadata())? {
        None => return Ok(None),
        Some(metadata) if !metadata.is_file() => return Err(SourceError::NotAFile),
        Some(_) => {}
    }
    let mut options = OpenOptions::new();
    options.read(true);
    never_wait(&mut options);
    let file = options.open(path)?;
    // Looked at again: a pipe may have taken its place in between.
    if file.metadata()?.is_file() { Ok(Some(file)) } else { Err(SourceError::NotAFile) }
}

/// A path through something that is no folder names nothing either.
fn present(metadata: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match metadata {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn never_wait(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
}

#[cfg(not(unix))]
fn never_wait(_: &mut OpenOptions) {}
