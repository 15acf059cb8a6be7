//! One file of lines per UTC day, appended to only; old days go by age and by size.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use time::{Date, Duration};

use crate::{Limits, RecordsError, error::failed, files, stamp};

const SUFFIX: &str = ".jsonl";

/// The folder of a log that has a file per day.
#[derive(Debug)]
pub(crate) struct DayFiles {
    folder: PathBuf,
    limits: Limits,
    /// The day on which old files were last looked for.
    pruned: Option<Date>,
}

impl DayFiles {
    pub fn new(folder: PathBuf, limits: Limits) -> Self {
        Self { folder, limits, pruned: None }
    }

    /// Creates the folder and removes what is too old or too much.
    pub fn open(&mut self, today: Date) -> Result<(), RecordsError> {
        files::create_folder(&self.folder).map_err(failed(&self.folder, "create the folder"))?;
        self.prune(today)
    }

    /// The length that the day's file has now, in bytes.
    pub fn length(&self, day: Date) -> u64 {
        fs::metadata(self.path(day)).map_or(0, |file| file.len())
    }

    /// How long the file of a day may grow: two fifths of everything. Older days have the rest, so that even a full
    /// day is not the first to go when the next one begins.
    pub fn longest(&self) -> u64 {
        self.limits.max_bytes / 5 * 2
    }

    /// How much older days may have together.
    fn older(&self) -> u64 {
        self.limits.max_bytes / 5 * 3
    }

    /// Appends whole lines. The file is opened anew each time, so that one that was removed comes back, and several
    /// processes can write to it.
    pub fn append(&mut self, day: Date, lines: &[u8]) -> Result<(), RecordsError> {
        if self.pruned.is_none_or(|pruned| pruned < day) {
            // What cannot be removed stays a day longer; that must not stop the new day.
            let _ = self.open(day);
        }
        let path = self.path(day);
        let mut file = self.open_append(&path).map_err(failed(&path, "open the file"))?;
        // Another writer's line may be half there for a moment: each looks and writes while the others wait.
        file.lock().map_err(failed(&path, "lock the file"))?;
        let torn = is_torn(&mut file).map_err(failed(&path, "read the file's end"))?;
        let repaired;
        let lines = if torn {
            repaired = [b"\n", lines].concat();
            &repaired
        } else {
            lines
        };
        file.write_all(lines).map_err(failed(&path, "append to the file"))
    }

    fn open_append(&self, path: &Path) -> io::Result<File> {
        files::open_append(path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                files::create_folder(&self.folder)?;
                files::open_append(path)
            }
            _ => Err(error),
        })
    }

    fn path(&self, day: Date) -> PathBuf {
        self.folder.join(stamp::day(day) + SUFFIX)
    }

    fn prune(&mut self, today: Date) -> Result<(), RecordsError> {
        self.pruned = Some(today);
        let oldest =
            today.checked_sub(Duration::days(i64::from(self.limits.retain_days))).unwrap_or(Date::MIN);
        let mut days = days(&self.folder).map_err(failed(&self.folder, "list the folder"))?;
        // Newest first, so that what goes for its size is the oldest.
        days.sort_by_key(|(day, _)| std::cmp::Reverse(*day));
        let mut total = 0;
        for (day, length) in days.into_iter().filter(|(day, _)| *day < today) {
            total += length;
            if day < oldest || total > self.older() {
                let path = self.path(day);
                fs::remove_file(&path).map_err(failed(&path, "remove the old file"))?;
            }
        }
        Ok(())
    }
}

/// The days that have a file, and its length. Other files in the folder are not ours.
fn days(folder: &Path) -> io::Result<Vec<(Date, u64)>> {
    let mut days = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(day) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)).and_then(stamp::parse_day)
        {
            days.push((day, entry.metadata()?.len()));
        }
    }
    Ok(days)
}

/// Whether the last line has no end: a write was cut off by a crash or a full disk.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
