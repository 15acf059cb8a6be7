//! Finds the program of a command: along PATH, with what a script needs to run.

mod path;
#[cfg(unix)]
mod script;
#[cfg(any(windows, test))]
mod shim;
#[cfg(any(windows, test))]
mod windows;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

pub(crate) use path::{is_bare, merge};

use crate::{
    ExecError, Launch,
    environment::{self, PATH},
    sandbox::Resolved,
};

/// What the login shell said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellPath {
    /// Its PATH; `None` where it could not be read.
    pub path: Option<OsString>,
    /// What went wrong, in words.
    pub note: Option<String>,
}

/// Why a command could not be resolved.
pub(crate) enum Miss {
    /// It, or the interpreter of its script, is in none of the folders: more folders may help.
    NotFound(ExecError),
    /// More folders will not help.
    Final(ExecError),
}

/// What a look at one file says.
pub(crate) enum Candidate {
    /// Nothing there.
    Absent,
    /// It is there and cannot be run, and why.
    #[cfg_attr(windows, expect(dead_code, reason = "there every file can be tried"))]
    Unusable(String),
    /// It can be run: with this program, and these arguments before the configured ones.
    Usable(PathBuf, Vec<OsString>),
}

/// Resolves a launch against the owner's environment, with `path` in place of its PATH. Blocking.
pub(crate) fn resolve(
    owner: &[(OsString, OsString)],
    path: Option<&OsStr>,
    launch: &Launch,
) -> Result<Resolved, Miss> {
    environment::check_texts(launch).map_err(Miss::Final)?;
    let env = environment::build(owner, path, launch).map_err(Miss::Final)?;
    let cwd = check_cwd(launch).map_err(Miss::Final)?;
    // The server's own PATH first; what it lacks may still be found where the owner looks.
    let own = environment::get(&env, PATH);
    let others = path.or_else(|| environment::get(owner, PATH));
    let mut folders = path::folders(own.unwrap_or_default());
    folders.extend(path::folders(others.unwrap_or_default()));
    path::unique(&mut folders);
    let (program, before) = find(launch, &cwd, &folders, &env)?;
    check_interpreter(launch, &program, &cwd, own.unwrap_or_default())?;
    let args = before.into_iter().chain(launch.args.iter().map(OsString::from)).collect();
    Ok(Resolved { server: launch.server.clone(), program, args, env, cwd })
}

/// The server's folder, as an absolute path that stays right when the process has changed into it.
fn check_cwd(launch: &Launch) -> Result<PathBuf, ExecError> {
    let failed = |source| ExecError::Cwd { server: launch.server.clone(), path: launch.cwd.clone(), source };
    let cwd = std::path::absolute(&launch.cwd).map_err(failed)?;
    if std::fs::metadata(&cwd).map_err(failed)?.is_dir() {
        Ok(cwd)
    } else {
        Err(failed(std::io::ErrorKind::NotADirectory.into()))
    }
}

fn find(
    launch: &Launch,
    cwd: &Path,
    folders: &[PathBuf],
    env: &[(OsString, OsString)],
) -> Result<(PathBuf, Vec<OsString>), Miss> {
    let command = Path::new(&launch.program);
    let places =
        if command.components().nth(1).is_some() || launch.program.ends_with(std::path::MAIN_SEPARATOR) {
            // A path, not a name; a relative one starts from the server's folder.
            vec![cwd.join(command)]
        } else {
            folders.iter().map(|folder| folder.join(command)).collect()
        };
    let mut unusable = None;
    for place in &places {
        match look(place, env) {
            Candidate::Usable(program, before) => return Ok((program, before)),
            Candidate::Unusable(reason) => unusable = unusable.or(Some((place.clone(), reason))),
            Candidate::Absent => {}
        }
    }
    if let Some((path, reason)) = unusable {
        return Err(Miss::Final(ExecError::NotExecutable { server: launch.server.clone(), path, reason }));
    }
    let searched = places.iter().filter_map(|place| place.parent()).map(Path::to_owned).collect();
    let (server, command) = (launch.server.clone(), launch.program.clone());
    Err(Miss::NotFound(ExecError::NotFound { server, command, searched, note: None }))
}

#[cfg(unix)]
fn look(place: &Path, _env: &[(OsString, OsString)]) -> Candidate {
    script::look(place)
}

#[cfg(windows)]
fn look(place: &Path, env: &[(OsString, OsString)]) -> Candidate {
    windows::look(place, environment::get(env, "PATHEXT"))
}

/// A script whose interpreter is missing would fail with words that name neither.
fn check_interpreter(launch: &Launch, program: &Path, cwd: &Path, path: &OsStr) -> Result<(), Miss> {
    #[cfg(unix)]
    if let Some(missing) = script::missing_interpreter(program, cwd, path) {
        let server = launch.server.clone();
        return Err(match missing {
            script::Missing::File(interpreter) => Miss::Final(ExecError::NotExecutable {
                server,
                path: program.to_owned(),
                reason: format!("its interpreter `{}` does not exist", interpreter.display()),
            }),
            script::Missing::Command(command) => Miss::NotFound(ExecError::NotFound {
                server,
                command,
                searched: path::folders(path),
                note: Some(format!("the script `{}` needs it", program.display())),
            }),
        });
    }
    #[cfg(windows)]
    let _ = (launch, program, cwd, path);
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
