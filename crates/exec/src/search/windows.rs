//! Programs on Windows: names without an ending, and what can stand behind them. The pure parts are tested
//! everywhere; the whole is not run here.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// What Windows takes where PATHEXT is not set.
const DEFAULT_ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// The files that a place without ending can mean, in order: itself where it has one of the endings, then the place
/// with each of them. A file without an ending is no program.
pub(super) fn candidates(place: &Path, pathext: Option<&OsStr>) -> Vec<PathBuf> {
    let endings =
        pathext.and_then(OsStr::to_str).filter(|endings| !endings.is_empty()).unwrap_or(DEFAULT_ENDINGS);
    let endings: Vec<&str> = endings.split(';').filter(|ending| ending.starts_with('.')).collect();
    let name = place.as_os_str().to_string_lossy().to_ascii_lowercase();
    let complete = endings.iter().any(|ending| name.ends_with(&ending.to_ascii_lowercase()));
    let with = |ending: &&str| {
        let mut whole = OsString::from(place);
        whole.push(ending.to_ascii_lowercase());
        PathBuf::from(whole)
    };
    complete.then(|| place.to_owned()).into_iter().chain(endings.iter().map(with)).collect()
}

/// Whether a program is a batch file, which only the command interpreter runs.
pub(super) fn is_batch(program: &Path) -> bool {
    program
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("cmd") || ending.eq_ignore_ascii_case("bat"))
}

/// What stands at a place. A shim as npm writes it is replaced by what it would start: no command interpreter, so
/// nothing in an argument can mean anything to it. Any other batch file is left to the standard library, which
/// quotes for the interpreter or refuses what cannot be quoted.
#[cfg(windows)]
pub(super) fn look(place: &Path, pathext: Option<&OsStr>) -> super::Candidate {
    use super::{Candidate, shim};
    for file in candidates(place, pathext) {
        if !file.is_file() {
            continue;
        }
        if is_batch(&file)
            && let Some(folder) = file.parent()
            && let Ok(text) = std::fs::read_to_string(&file)
            && let Some(target) = shim::target(&text, folder)
            && target.script.is_file()
        {
            let beside = target.beside.filter(|program| program.is_file());
            return Candidate::Usable(beside.unwrap_or(target.program), vec![target.script.into()]);
        }
        return Candidate::Usable(file, Vec::new());
    }
    Candidate::Absent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &str, pathext: Option<&str>) -> Vec<String> {
        let candidates = candidates(Path::new(place), pathext.map(OsStr::new));
        candidates.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn a_name_without_ending_means_the_endings_of_pathext_in_order() {
        assert_eq!(names("bin/npx", Some(".EXE;.CMD;junk;")), ["bin/npx.exe", "bin/npx.cmd"]);
        assert_eq!(names("npx", None), ["npx.com", "npx.exe", "npx.bat", "npx.cmd"]);
        assert_eq!(names("a.b/npx.1", Some(".EXE")), ["a.b/npx.1.exe"]);
    }

    #[test]
    fn a_name_with_an_ending_means_itself_first() {
        assert_eq!(names("Tool.Exe", Some(".EXE;.CMD")), ["Tool.Exe", "Tool.Exe.exe", "Tool.Exe.cmd"]);
        assert!(
            is_batch(Path::new("npx.CMD")) && is_batch(Path::new("x.bat")) && !is_batch(Path::new("x.exe"))
        );
    }
}
