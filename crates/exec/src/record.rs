//! The record of running servers: one small file each in the home's run folder, so that a later owner can end what
//! neither this owner nor a guard could, because both were killed.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    ExecError,
    family::Family,
    proc::{self, Identity},
};

/// First line of every record.
const HEAD: &str = "patchbay server 1";
/// What the files' names end with.
const SUFFIX: &str = "run";
/// Bytes of a record that are read.
const LIMIT: u64 = 4096;
/// A record that makes no sense is left alone this long: it may be half written.
const HALF_WRITTEN: Duration = Duration::from_secs(60);
/// How long the leftovers of one server may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// One server's record on disk.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
}

impl Record {
    /// Writes the record of a running server.
    pub(crate) fn write(dir: &Path, server: &str, family: &Family) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let path = dir.join(format!("{}-{}.{SUFFIX}", family.owner.pid, family.guard.pid));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options.open(&path)?.write_all(text(server, family).as_bytes())?;
        Ok(Self { path })
    }

    /// Removes it, once nothing is left of the server.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

fn text(server: &str, family: &Family) -> String {
    let line = |name: &str, id: Identity| format!("{name} {} {}\n", id.pid, id.start);
    let ids = [("owner", family.owner), ("guard", family.guard), ("server", family.server)];
    let ids: String = ids.into_iter().map(|(name, id)| line(name, id)).collect();
    format!("{HEAD}\nera {}\n{ids}name {}\n", proc::era(), server.escape_debug())
}

/// The era, the family and the server's name of a record.
fn parse(text: &str) -> Option<(&str, Family, &str)> {
    let mut lines = text.lines();
    (lines.next()? == HEAD).then_some(())?;
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let era = field("era")?;
    let mut id = |name: &str| {
        let (pid, start) = field(name)?.split_once(' ')?;
        let pid = pid.parse().ok().filter(|&pid: &i32| pid > 1)?;
        Some(Identity { pid, start: start.parse().ok()? })
    };
    let family = Family { owner: id("owner")?, guard: id("guard")?, server: id("server")? };
    Some((era, family, field("name")?))
}

/// Ends what the records of owners that have gone name, and removes those records. Blocking. The names of the
/// servers of which something was still running.
pub(crate) fn reap(dir: &Path) -> Result<Vec<String>, ExecError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ExecError::Record { path, source }
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(dir)(error)),
    };
    let (mut ended, mut first_failure) = (Vec::new(), None);
    for entry in entries {
        let path = entry.map_err(failed(dir))?.path();
        if path.extension().is_some_and(|extension| extension == SUFFIX) {
            match reap_one(&path) {
                Ok(name) => ended.extend(name),
                // The others' leftovers must not stay because of this one.
                Err(error) => first_failure = first_failure.or(Some(failed(&path)(error))),
            }
        }
    }
    first_failure.map_or(Ok(ended), Err)
}

fn reap_one(path: &Path) -> io::Result<Option<String>> {
    let mut text = Vec::new();
    let mut options = OpenOptions::new();
    // Never waits, whatever lies there.
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    file.take(LIMIT).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let Some((era, family, name)) = parse(&text) else {
        return if age > HALF_WRITTEN { fs::remove_file(path).map(|()| None) } else { Ok(None) };
    };
    let own = proc::era();
    if era != own {
        // Another boot: they are gone. Another PID namespace of this boot: its numbers mean nothing here.
        let (boot, own_boot) = (era.split(' ').next(), own.split(' ').next());
        return if boot == own_boot { Ok(None) } else { fs::remove_file(path).map(|()| None) };
    }
    if family.owner.alive() {
        return Ok(None);
    }
    let (gone, killed) = family.end(END_LIMIT)?;
    if gone {
        fs::remove_file(path)?;
    }
    Ok((killed > 0).then(|| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family() -> Family {
        let id = |pid, start| Identity { pid, start };
        Family { owner: id(10, 1), guard: id(20, 2), server: id(30, 3) }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_whatever_the_name() {
        let text = text("my\n\"server\"", &family());
        let (era, read, name) = parse(&text).unwrap();
        assert_eq!((era, read, name), (proc::era().as_str(), family(), r#"my\n\"server\""#));
    }

    #[test]
    fn nonsense_and_process_one_are_no_record() {
        for broken in ["", "patchbay server 1\n", "patchbay server 2\nera x\n"] {
            assert!(parse(broken).is_none(), "{broken}");
        }
        assert!(parse(&text("x", &family()).replace("server 30", "server 1")).is_none());
        assert!(parse(&text("x", &family()).replace("guard 20", "guard -1")).is_none());
    }
}
