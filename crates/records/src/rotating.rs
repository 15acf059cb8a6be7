//! A log file that is put aside when it is full: `patchbay.log`, `patchbay.1.log` and so on, newest first.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::files;

/// Longest file, in bytes.
const LONGEST: u64 = 4 << 20;
/// Files that are kept beside the current one.
const KEPT: u32 = 4;

/// Collects lines, and appends them to the current file at each flush.
#[derive(Debug)]
pub(crate) struct RotatingFile {
    folder: PathBuf,
    longest: u64,
    retain: Duration,
    buffer: Vec<u8>,
}

impl RotatingFile {
    pub fn open(folder: &Path, retain_days: u32) -> io::Result<Self> {
        let retain = Duration::from_secs(u64::from(retain_days) * 24 * 60 * 60);
        let file = Self { folder: folder.to_owned(), longest: LONGEST, retain, buffer: Vec::new() };
        files::create_folder(folder)?;
        files::open_append(&file.path(0))?;
        file.remove_old(SystemTime::now())?;
        Ok(file)
    }

    fn path(&self, number: u32) -> PathBuf {
        match number {
            0 => self.folder.join("patchbay.log"),
            _ => self.folder.join(format!("patchbay.{number}.log")),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "files that are put aside keep their content; nothing is replaced"
    )]
    fn rotate(&self) -> io::Result<()> {
        remove(&self.path(KEPT))?;
        for number in (0..KEPT).rev() {
            match fs::rename(self.path(number), self.path(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.remove_old(SystemTime::now())
    }

    /// Removes files put aside that nobody has written to for the time that logs are kept.
    fn remove_old(&self, now: SystemTime) -> io::Result<()> {
        for number in 1..=KEPT {
            let path = self.path(number);
            let Ok(written) = fs::metadata(&path).and_then(|file| file.modified()) else {
                continue;
            };
            if now.duration_since(written).is_ok_and(|age| age > self.retain) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    fn current(&self) -> io::Result<File> {
        let open = || files::open_append(&self.path(0));
        open().or_else(|_| files::create_folder(&self.folder).and_then(|()| open()))
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Appends what was collected. What the disk refuses is given up: a log must not grow in memory.
    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.buffer);
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let mut file = self.current()?;
            let length = file.metadata()?.len();
            let room = usize::try_from(self.longest.saturating_sub(length)).unwrap_or(usize::MAX);
            let fits = if rest.len() <= room { rest.len() } else { memrchr_line(&rest[..room]) };
            if fits == 0 && length > 0 {
                self.rotate()?;
                continue;
            }
            // A single line that is longer than a file gets one of its own.
            let fits = if fits == 0 {
                rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |end| end + 1)
            } else {
                fits
            };
            file.write_all(&rest[..fits])?;
            rest = &rest[fits..];
        }
        Ok(())
    }
}

/// The length up to and with the last line end.
fn memrchr_line(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(folder: &Path) -> RotatingFile {
        RotatingFile { longest: 10, ..RotatingFile::open(folder, 7).unwrap() }
    }

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    fn pair(name: &str, content: &str) -> (String, String) {
        (name.to_owned(), content.to_owned())
    }

    #[test]
    fn full_files_are_put_aside_between_lines_and_the_oldest_goes() {
        let home = tempfile::tempdir().unwrap();
        let mut file = small(home.path());
        for line in ["1234\n5678\n", "abc\n", "a line longer than a file\nx\n", "2\n3\n4\n5\n6\n", "last\n"] {
            file.write_all(line.as_bytes()).unwrap();
            file.flush().unwrap();
        }
        let expected = [
            pair("patchbay.1.log", "x\n2\n3\n4\n5\n"),
            pair("patchbay.2.log", "a line longer than a file\n"),
            pair("patchbay.3.log", "abc\n"),
            pair("patchbay.4.log", "1234\n5678\n"),
            pair("patchbay.log", "6\nlast\n"),
        ];
        assert_eq!(contents(home.path()), expected);
        file.write_all(b"one more file\n").unwrap();
        file.flush().unwrap();
        assert_eq!(contents(home.path()).len(), 5, "the oldest has gone");
        assert!(!contents(home.path()).iter().any(|(_, content)| content.starts_with("1234")));
    }

    #[test]
    fn files_put_aside_go_when_they_are_too_old() {
        let home = tempfile::tempdir().unwrap();
        let mut file = small(home.path());
        file.write_all(b"123456789\n123456789\n").unwrap();
        file.flush().unwrap();
        let day = Duration::from_secs(24 * 60 * 60);
        file.remove_old(SystemTime::now() + 6 * day).unwrap();
        assert_eq!(contents(home.path()).len(), 2);
        file.remove_old(SystemTime::now() + 8 * day).unwrap();
        assert_eq!(contents(home.path()), [pair("patchbay.log", "123456789\n")]);
    }

    #[test]
    fn a_log_that_was_removed_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("log");
        let mut file = small(&folder);
        fs::remove_dir_all(&folder).unwrap();
        file.write_all(b"back\n").unwrap();
        file.flush().unwrap();
        assert_eq!(contents(&folder), [pair("patchbay.log", "back\n")]);
    }
}
