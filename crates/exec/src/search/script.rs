//! Programs and scripts on Unix.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{Candidate, path};

/// What the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;

/// What a script needs and does not find.
pub(super) enum Missing {
    /// The interpreter that it names by path.
    File(PathBuf),
    /// The command that `env` shall find for it.
    Command(String),
}

/// Whether a file can be run by this process.
pub(super) fn look(place: &Path) -> Candidate {
    match std::fs::metadata(place) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Candidate::Unusable("permission denied".into())
        }
        Err(_) => Candidate::Absent,
        Ok(metadata) if metadata.is_dir() => Candidate::Unusable("it is a folder".into()),
        Ok(_) if !executable(place) => Candidate::Unusable("it is not marked as executable".into()),
        Ok(_) => Candidate::Usable(place.to_owned(), Vec::new()),
    }
}

fn executable(place: &Path) -> bool {
    let Ok(place) = CString::new(place.as_os_str().as_bytes()) else {
        return false;
    };
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: the path is NUL-terminated and outlives the call.
    unsafe {
        libc::access(place.as_ptr(), libc::X_OK) == 0
    }
}

/// What the script `program` needs and would not find with this folder and PATH; `None` where nothing is missing or
/// it is no script.
pub(super) fn missing_interpreter(program: &Path, cwd: &Path, path: &OsStr) -> Option<Missing> {
    let mut line = Vec::new();
    File::open(program).ok()?.take(FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?.trim_ascii();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let interpreter = cwd.join(OsStr::from_bytes(words.next()?));
    if !interpreter.exists() {
        return Some(Missing::File(interpreter));
    }
    if interpreter.file_name()? != "env" {
        return None;
    }
    // `env -S tool args`, `env VAR=value tool`: the first word that is neither option nor assignment.
    let tool = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    let tool = OsStr::from_bytes(tool);
    let found = tool.as_bytes().contains(&b'/')
        || path::folders(path).iter().any(|folder| executable(&folder.join(tool)));
    (!found).then(|| Missing::Command(tool.to_string_lossy().into_owned()))
}
