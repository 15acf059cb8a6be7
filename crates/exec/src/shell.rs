//! The login shell's PATH: what its user's start-up files make of it, for an owner that was started from a dock.
//!
//! A start-up file can find `PATCHBAY_READS_PATH` in its environment and leave out what is slow.

use std::{
    ffi::{CStr, OsStr, OsString},
    hash::{BuildHasher, RandomState},
    io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{io::AsyncReadExt, time::timeout};

use crate::{
    environment,
    sandbox::Resolved,
    search::{ShellPath, merge},
    start::{self, Started},
};

/// Told to the start-up files.
const NOTICE: &str = "PATCHBAY_READS_PATH";
/// Bytes of banners that are read at most.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// How long the shell may take to be gone, once it has been killed.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Asks the login shell, within the limit. Never fails: a shell that hangs or is unknown is a note.
pub(crate) async fn read(env: &[(OsString, OsString)], limit: Duration) -> ShellPath {
    let shell = login_shell(env);
    let Some(ways) = ways(&shell) else {
        let note =
            format!("the login shell `{}` is of a kind that cannot be asked for its PATH", shell.display());
        return ShellPath { path: None, note: Some(note) };
    };
    let asked = ways.iter().map(|options| ask(&shell, options, env, limit));
    let mut read = ShellPath::default();
    for answer in join_all(asked).await {
        match answer {
            Ok(path) => read.path = Some(read.path.map_or(path.clone(), |first| append(&first, &path))),
            Err(error) => read.note = Some(words(&shell, &error, limit)),
        }
    }
    read
}

/// How a kind of shell is started so that it reads what its user wrote; `None` for an unknown kind. bash reads its
/// `.bashrc` only where it is no login shell.
fn ways(shell: &Path) -> Option<&'static [&'static [&'static str]]> {
    match shell.file_name()?.to_str()? {
        "bash" => Some(&[&["-l", "-i", "-c"], &["-i", "-c"]]),
        "zsh" | "fish" | "ksh" | "mksh" | "sh" | "dash" | "ash" => Some(&[&["-l", "-i", "-c"]]),
        _ => None,
    }
}

fn words(shell: &Path, error: &io::Error, limit: Duration) -> String {
    let shell = shell.display();
    match error.kind() {
        io::ErrorKind::TimedOut => format!(
            "the login shell `{shell}` did not tell its PATH within {} s; its start-up files may wait for something",
            limit.as_secs_f32()
        ),
        _ => format!("the login shell `{shell}` could not be asked for its PATH: {error}"),
    }
}

fn append(first: &OsStr, second: &OsStr) -> OsString {
    let mut both = first.to_owned();
    both.push(":");
    both.push(second);
    merge(None, &both)
}

/// `SHELL`, else what the user database says, else `sh`.
fn login_shell(env: &[(OsString, OsString)]) -> PathBuf {
    let named = environment::get(env, "SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute());
    named.or_else(database_shell).unwrap_or_else(|| "/bin/sh".into())
}

fn database_shell() -> Option<PathBuf> {
    let mut space = vec![0; 16 * 1024];
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: zero is a valid value of every field; the entry, the space (with its size) and the result outlive the
    // call, and the shell's text lives in the space, where it is NUL-terminated.
    let shell = unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        libc::getpwuid_r(libc::getuid(), &raw mut entry, space.as_mut_ptr(), space.len(), &raw mut found);
        (!found.is_null() && !entry.pw_shell.is_null())
            .then(|| CStr::from_ptr(entry.pw_shell).to_bytes().to_vec())
    };
    shell.map(OsString::from_vec).map(PathBuf::from).filter(|shell| shell.is_absolute())
}

async fn ask(
    shell: &Path,
    options: &[&str],
    env: &[(OsString, OsString)],
    limit: Duration,
) -> io::Result<OsString> {
    let mark = format!("{:016x}", RandomState::new().hash_one(0));
    // The marks stand in two pieces in the command, so that a shell that shows its command does not show them.
    let command = format!("printf '\\n%s%s%s\\n' 'patchbay''{mark}' \"$PATH\" 'patchbay''{mark}'");
    let args = options.iter().map(OsString::from).chain([command.into()]).collect();
    let mut env = env.to_vec();
    env.push((NOTICE.into(), "1".into()));
    if environment::get(&env, "TERM").is_none() {
        env.push(("TERM".into(), "dumb".into()));
    }
    let home = environment::get(&env, "HOME").map(PathBuf::from).filter(|home| home.is_dir());
    let cwd = home.unwrap_or_else(|| "/".into());
    let resolved = Resolved { server: "login shell".into(), program: shell.into(), args, env, cwd };
    let output = output(resolved, limit, format!("patchbay{mark}").as_bytes()).await?;
    Ok(OsString::from_vec(output))
}

/// Runs a command under a guard and returns what it prints between two marks; everything is ended then.
async fn output(command: Resolved, limit: Duration, mark: &[u8]) -> io::Result<Vec<u8>> {
    let started = tokio::task::spawn_blocking(move || start::bare(&command)).await?;
    let Started { mut guard, link, .. } = started?;
    drop(guard.stdin.take());
    let read = timeout(limit, between(&mut guard, mark)).await;
    // The guard ends what is left; a shell's children included.
    drop(link);
    if timeout(END_LIMIT, guard.wait()).await.is_err() {
        guard.start_kill()?;
    }
    read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn between(guard: &mut tokio::process::Child, mark: &[u8]) -> io::Result<Vec<u8>> {
    let (Some(mut stdout), Some(mut stderr)) = (guard.stdout.take(), guard.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (mut output, mut chunk, mut waste) = (Vec::new(), [0; 4096], [0; 4096]);
    let mut complains = true;
    loop {
        tokio::select! {
            count = stdout.read(&mut chunk) => {
                let count = count?;
                output.extend_from_slice(&chunk[..count]);
                if let Some(found) = marked(&output, mark) {
                    return Ok(found.to_vec());
                }
                if count == 0 || output.len() > OUTPUT_LIMIT {
                    return Err(io::Error::other("it did not print it"));
                }
            }
            count = stderr.read(&mut waste), if complains => complains = count? > 0,
        }
    }
}

/// What stands between two marks.
fn marked<'a>(output: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let position = |bytes: &[u8]| memchr::memmem::find(bytes, mark);
    let after = &output[position(output)? + mark.len()..];
    Some(&after[..position(after)?]).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_between_the_marks_whatever_is_around() {
        assert_eq!(marked(b"Welcome!\nMM/a:/b\xffMM\nbye", b"MM"), Some(&b"/a:/b\xff"[..]));
        assert_eq!(marked(b"MM/a:/b", b"MM"), None);
        assert_eq!(marked(b"MMMM", b"MM"), None);
    }

    #[test]
    fn the_shell_is_the_one_of_the_environment_or_of_the_user() {
        let env = |shell: &str| vec![(OsString::from("SHELL"), OsString::from(shell))];
        assert_eq!(login_shell(&env("/opt/fish")), Path::new("/opt/fish"));
        assert!(login_shell(&env("relative")).is_absolute());
        assert!(login_shell(&[]).is_absolute());
        assert!(ways(Path::new("/opt/nu")).is_none());
    }
}
