//! The environment that a server gets: the owner's, scrubbed, with a better PATH, and the server's own on top.

use std::ffi::{OsStr, OsString};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{ExecError, Launch};

/// The name of the variable with the folders of commands.
pub(crate) const PATH: &str = "PATH";

/// The whole environment of a server. `path` replaces the owner's PATH; the server's own beats both.
pub(crate) fn build(
    owner: &[(OsString, OsString)],
    path: Option<&OsStr>,
    launch: &Launch,
) -> Result<Vec<(OsString, OsString)>, ExecError> {
    let scrub = globs(launch)?;
    let own = |name: &OsStr| launch.env.iter().any(|(own, _)| same_name(OsStr::new(own), name));
    let kept = |name: &OsStr| !own(name) && !scrub.is_match(name);
    let mut env: Vec<(OsString, OsString)> = owner.iter().filter(|(name, _)| kept(name)).cloned().collect();
    if let Some(path) = path
        && kept(OsStr::new(PATH))
    {
        env.retain(|(name, _)| !same_name(name, OsStr::new(PATH)));
        env.push((PATH.into(), path.into()));
    }
    for (name, value) in &launch.env {
        check_name(launch, name, value)?;
        env.retain(|(present, _)| !same_name(present, OsStr::new(name)));
        env.push((name.into(), value.into()));
    }
    Ok(env)
}

/// The value of a variable.
pub(crate) fn get<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter()
        .rev()
        .find(|(present, _)| same_name(present, OsStr::new(name)))
        .map(|(_, value)| value.as_os_str())
}

/// Refuses what cannot be handed to a process: NUL ends a text there.
pub(crate) fn check_texts(launch: &Launch) -> Result<(), ExecError> {
    if launch.program.is_empty() {
        return Err(wrong(launch, "command", "is empty"));
    }
    let args = launch.args.iter().enumerate().map(|(n, arg)| (format!("args[{n}]"), arg));
    let mut texts = std::iter::once(("command".to_owned(), &launch.program)).chain(args);
    match texts.find(|(_, text)| text.contains('\0')) {
        Some((field, _)) => {
            Err(wrong(launch, &field, "holds a NUL character, which no process can be given"))
        }
        None => Ok(()),
    }
}

fn check_name(launch: &Launch, name: &str, value: &str) -> Result<(), ExecError> {
    if name.is_empty() || name.contains(['=', '\0']) {
        let field = format!("env.{}", name.escape_debug());
        return Err(wrong(
            launch,
            &field,
            "is no name of a variable: it must not be empty or hold `=` or NUL",
        ));
    }
    if value.contains('\0') {
        return Err(wrong(
            launch,
            &format!("env.{name}"),
            "holds a NUL character, which no process can be given",
        ));
    }
    Ok(())
}

fn globs(launch: &Launch) -> Result<GlobSet, ExecError> {
    let mut set = GlobSetBuilder::new();
    for (n, glob) in launch.scrub_env.iter().enumerate() {
        let built = GlobBuilder::new(glob).case_insensitive(cfg!(windows)).build();
        set.add(built.map_err(|error| wrong(launch, &format!("scrub_env[{n}]"), &error.to_string()))?);
    }
    set.build().map_err(|error| wrong(launch, "scrub_env", &error.to_string()))
}

fn wrong(launch: &Launch, field: &str, reason: &str) -> ExecError {
    ExecError::Value { server: launch.server.clone(), field: field.into(), reason: reason.into() }
}

/// Names differ in case on Unix and do not on Windows.
fn same_name(a: &OsStr, b: &OsStr) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerLog;

    fn launch(env: &[(&str, &str)], scrub: &[&str]) -> Launch {
        Launch {
            server: "s".into(),
            program: "p".into(),
            args: Vec::new(),
            env: env.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            cwd: "/".into(),
            scrub_env: scrub.iter().map(|&glob| glob.into()).collect(),
            sandbox: None,
            log: ServerLog::default(),
        }
    }

    fn owner() -> Vec<(OsString, OsString)> {
        let pairs = [
            ("PATH", "/bin"),
            ("MY_API_KEY", "k"),
            ("SSH_AUTH_SOCK", "/s"),
            ("LANG", "C"),
            ("API_KEY_FILE", "f"),
        ];
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn built(path: Option<&str>, launch: &Launch) -> Vec<String> {
        let env = build(&owner(), path.map(OsStr::new), launch).unwrap();
        let mut env: Vec<String> =
            env.iter().map(|(n, v)| format!("{}={}", n.display(), v.display())).collect();
        env.sort();
        env
    }

    #[test]
    fn what_a_glob_matches_is_left_out_and_nothing_else() {
        let env = built(None, &launch(&[], &["*_API_KEY", "SSH_AUTH_SOCK"]));
        assert_eq!(env, ["API_KEY_FILE=f", "LANG=C", "PATH=/bin"]);
    }

    #[test]
    fn the_servers_own_variables_win_and_are_never_scrubbed() {
        let env = built(None, &launch(&[("MY_API_KEY", "own"), ("LANG", "de")], &["*_API_KEY"]));
        assert_eq!(env, ["API_KEY_FILE=f", "LANG=de", "MY_API_KEY=own", "PATH=/bin", "SSH_AUTH_SOCK=/s"]);
    }

    #[test]
    fn a_better_path_replaces_the_owners_but_not_the_servers() {
        assert!(built(Some("/opt:/bin"), &launch(&[], &[])).contains(&"PATH=/opt:/bin".to_owned()));
        assert!(
            built(Some("/opt:/bin"), &launch(&[("PATH", "/own")], &[])).contains(&"PATH=/own".to_owned())
        );
        assert!(!built(Some("/opt"), &launch(&[], &["PATH"])).iter().any(|pair| pair.starts_with("PATH=")));
    }

    #[test]
    fn a_value_that_no_process_can_be_given_is_named() {
        let error = |launch: &Launch| build(&[], None, launch).unwrap_err().to_string();
        assert_eq!(
            error(&launch(&[("A=B", "x")], &[])),
            "server `s`: env.A=B is no name of a variable: it must not be empty or hold `=` or NUL"
        );
        assert!(error(&launch(&[("A", "x\0y")], &[])).starts_with("server `s`: env.A holds a NUL"));
        assert!(error(&launch(&[], &["ok", "[broken"])).starts_with("server `s`: scrub_env[1] "));
        let mut nul = launch(&[], &[]);
        nul.args = vec!["fine".into(), "a\0b".into()];
        assert!(check_texts(&nul).unwrap_err().to_string().starts_with("server `s`: args[1] holds a NUL"));
    }
}
