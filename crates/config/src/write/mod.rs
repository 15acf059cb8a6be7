//! Replacing a whole file: the old content or the new one, never a mixture, and never somebody else's save.
//!
//! The new content goes into a temporary file beside the target, is synced, and changes places with the target. What
//! stood there is compared with what the change was made on, so that an editor's save in between is not lost. Who may
//! write when is settled in `lock`.

mod lock;
mod swap;

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tempfile::NamedTempFile;

pub(crate) use lock::Lock;

use crate::error::{ConfigError, IoContext as _};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Longest chain of links that is followed; the kernel's own bound on Linux.
const MAX_LINKS: usize = 40;
/// How old a temporary file must be to be taken for that of a writer that was killed.
const ABANDONED: Duration = Duration::from_secs(60);
const TEMP_SUFFIX: &str = ".patchbay-tmp";

/// What came of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// The file has the new content.
    Done,
    /// The file had other content than was expected, and still has it.
    Foreign,
}

/// The file that a path leads to through any links, whether it exists or not.
///
/// # Errors
/// Where a link cannot be read, or the links go in circles.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, ConfigError> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match target.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                let link = std::fs::read_link(&target).at("follow the link", &target)?;
                target = target.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(_) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(error).at("find", &target),
        }
    }
    Err(io::Error::other("too many links follow each other")).at("follow the link", path)
}

/// The content of a file; `None` where there is none.
///
/// # Errors
/// Where it cannot be read, is no ordinary file or too large.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let meta = match path.metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // A pipe or device would keep the reader waiting.
    if !meta.is_file() {
        return Err(io::Error::other("it is no ordinary file")).at("read", path);
    }
    let mut bytes = Vec::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { path: path.into(), bytes: bytes.len() as u64, limit: MAX_BYTES });
    }
    Ok(Some(bytes))
}

/// Gives a file new content where it still has the expected one; `None` expects no file. Mode and owner stay; a new
/// file is for its user alone. The path must lead to the file itself, not to a link.
///
/// # Errors
/// Where something cannot be written. The file then has its old content.
pub(crate) fn replace(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> Result<Replaced, ConfigError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let current = match expected {
        Some(_) => Some(writable(path)?),
        None => None,
    };
    let temp = fill_temp(path, folder, current.as_ref(), new)?;
    let replaced = match expected {
        Some(expected) => swap_in(temp, path, expected, new)?,
        None => create(temp, path)?,
    };
    sync_folder(folder)?;
    remove_abandoned(path, folder);
    Ok(replaced)
}

/// What is known of an existing file that may be written. Renaming would replace a read-only one all the same.
fn writable(path: &Path) -> Result<Metadata, ConfigError> {
    let file = OpenOptions::new().write(true).open(path).at("write", path)?;
    file.metadata().at("write", path)
}

fn temp_prefix(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

fn fill_temp(
    path: &Path,
    folder: &Path,
    old: Option<&Metadata>,
    new: &[u8],
) -> Result<NamedTempFile, ConfigError> {
    let prefix = temp_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMP_SUFFIX);
    // The error names the temporary file, which would mean nothing to its reader.
    let temp = builder.tempfile_in(folder).map_err(|e| e.kind().into()).at("create a file in", folder)?;
    if let Some(old) = old {
        keep_owner_and_mode(temp.as_file(), old).at("keep owner and mode of", path)?;
    }
    temp.as_file().write_all(new).at("write", path)?;
    temp.as_file().sync_all().at("write", path)?;
    Ok(temp)
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let new = file.metadata()?;
    let changed = |old: u32, new: u32| (old != new).then_some(old);
    let (uid, gid) = (changed(old.uid(), new.uid()), changed(old.gid(), new.gid()));
    if uid.is_some() || gid.is_some() {
        std::os::unix::fs::fchown(file, uid, gid)?;
    }
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_file: &File, _old: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Puts the new file where none is.
fn create(temp: NamedTempFile, path: &Path) -> Result<Replaced, ConfigError> {
    match temp.persist_noclobber(path) {
        Ok(_) => Ok(Replaced::Done),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Replaced::Foreign),
        Err(error) => Err(error.error).at("write", path),
    }
}

/// Lets the new file and the old one change places, and back again where the old one is not what was expected.
fn swap_in(temp: NamedTempFile, path: &Path, expected: &[u8], new: &[u8]) -> Result<Replaced, ConfigError> {
    match swap::exchange(temp.path(), path) {
        Ok(()) => {}
        Err(error) if swap::is_unsupported(&error) => return rename_over(temp, path, expected),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Replaced::Foreign),
        Err(error) => return Err(error).at("write", path),
    }
    let displaced = std::fs::read(temp.path());
    if displaced.as_ref().is_ok_and(|bytes| bytes == expected) {
        return Ok(Replaced::Done);
    }
    swap_back(temp, path, displaced, new)
}

/// Gives the file what was displaced. A save that comes in meanwhile is newer, and wins.
fn swap_back(
    temp: NamedTempFile,
    path: &Path,
    displaced: io::Result<Vec<u8>>,
    new: &[u8],
) -> Result<Replaced, ConfigError> {
    let mut put = new.to_vec();
    let mut holding = displaced;
    loop {
        let moved = swap::exchange(temp.path(), path);
        if let Err(error) = moved {
            // The displaced content must not go with the temporary file.
            let kept = temp.into_temp_path().keep().map_err(|error| error.error).at("keep", path)?;
            return Err(error).at("restore what was saved meanwhile, now kept as", kept);
        }
        let next = std::fs::read(temp.path());
        if next.as_ref().map_or(true, |next| *next == put) {
            return holding.map(|_| Replaced::Foreign).at("read", path);
        }
        put = holding.unwrap_or_default();
        holding = next;
    }
}

/// For file systems that cannot exchange files: looks once more, then renames.
fn rename_over(temp: NamedTempFile, path: &Path, expected: &[u8]) -> Result<Replaced, ConfigError> {
    if read(path)?.as_deref() != Some(expected) {
        return Ok(Replaced::Foreign);
    }
    temp.persist(path).map(|_| Replaced::Done).map_err(|error| error.error).at("write", path)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> Result<(), ConfigError> {
    File::open(folder).and_then(|folder| folder.sync_all()).at("sync the folder", folder)
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> Result<(), ConfigError> {
    Ok(())
}

/// Removes what killed writers left. Nothing depends on it, so a failure is no failure of the write.
fn remove_abandoned(path: &Path, folder: &Path) {
    let prefix = temp_prefix(path);
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(TEMP_SUFFIX));
        if ours && is_old(&entry) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn is_old(entry: &std::fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|meta| meta.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > ABANDONED))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "files of the tests")]

    use super::*;

    fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.toml");
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    fn content(path: &Path) -> (String, usize) {
        let entries = path.parent().unwrap().read_dir().unwrap().count();
        (std::fs::read_to_string(path).unwrap(), entries)
    }

    #[test]
    fn content_that_was_not_expected_stays() {
        let (_folder, path) = file("foreign");
        assert_eq!(replace(&path, Some(b"expected"), b"new").unwrap(), Replaced::Foreign);
        assert_eq!(replace(&path, None, b"new").unwrap(), Replaced::Foreign);
        assert_eq!(content(&path), ("foreign".into(), 1));
        assert_eq!(replace(&path, Some(b"foreign"), b"new").unwrap(), Replaced::Done);
        assert_eq!(content(&path), ("new".into(), 1));
    }

    #[test]
    fn a_file_that_went_away_is_not_written_anew() {
        let (_folder, path) = file("x");
        let temp = fill_temp(&path, path.parent().unwrap(), None, b"new").unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(swap_in(temp, &path, b"x", b"new").unwrap(), Replaced::Foreign);
        assert!(!path.exists());
    }

    #[test]
    fn of_two_saves_that_come_in_meanwhile_the_newer_stays() {
        let (folder, path) = file("newest");
        let mut temp = NamedTempFile::new_in(folder.path()).unwrap();
        temp.write_all(b"displaced").unwrap();
        let replaced = swap_back(temp, &path, Ok(b"displaced".to_vec()), b"ours").unwrap();
        assert_eq!((replaced, content(&path)), (Replaced::Foreign, ("newest".into(), 1)));
    }

    #[test]
    fn where_files_cannot_be_exchanged_they_are_renamed() {
        let (_folder, path) = file("old");
        let temp = |text: &[u8]| fill_temp(&path, path.parent().unwrap(), None, text).unwrap();
        assert_eq!(rename_over(temp(b"new"), &path, b"other").unwrap(), Replaced::Foreign);
        assert_eq!(content(&path), ("old".into(), 1));
        assert_eq!(rename_over(temp(b"new"), &path, b"old").unwrap(), Replaced::Done);
        assert_eq!(content(&path), ("new".into(), 1));
    }

    #[test]
    fn too_large_a_file_is_not_read() {
        let (_folder, path) = file("");
        File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(matches!(read(&path), Err(ConfigError::TooLarge { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_instead_of_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        #[expect(unsafe_code, reason = "no safe interface to mkfifo")]
        // SAFETY: the pointer is to a string with a final zero that lives for the call.
        let made = unsafe { libc::mkfifo(name.as_ptr(), 0o600) };
        assert_eq!(made, 0);
        assert!(read(&path).unwrap_err().to_string().contains("no ordinary file"));
    }
}
