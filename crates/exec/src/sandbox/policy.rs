//! What a sandboxed server may do: one value that every back end is made from. Pure: nothing here looks at the
//! disk; [`super::plan`] does, when a server starts.

use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder};

use super::host::Host;
use crate::ExecError;

/// How much a sandbox is insisted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// A server starts only inside a working back end, where this system has any; what the back end cannot hold
    /// is named in the state.
    #[default]
    Auto,
    /// As `Auto`, on every system, and anything that cannot be held is a refusal too.
    Required,
    /// No sandbox.
    Off,
}

/// What a policy is made of: settings as they were written, and facts of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// `[sandbox] mode`.
    pub mode: Mode,
    /// The workspace's folder; `None` for a server without one.
    pub workspace: Option<PathBuf>,
    /// The server's working folder.
    pub cwd: PathBuf,
    /// Patchbay's own home: blocked.
    pub patchbay_home: PathBuf,
    /// `[sandbox] writable_paths`; `~` is the user's home, a relative path starts at the workspace.
    pub writable_paths: Vec<String>,
    /// `[sandbox] blocked_paths`; as above, and a name without a slash (such as `.env*`) is meant at any depth
    /// of the workspace, the writable paths and the working folder (unless that holds the whole home), and
    /// directly in the home folder.
    pub blocked_paths: Vec<String>,
    /// `[sandbox] allow_network`.
    pub allow_network: bool,
    /// Homes, temp folders, caches and the sockets of the desktop session.
    pub host: Host,
}

/// What a server may do: read everything, write the workspace, temp folders, caches and the paths that were asked
/// for, neither read nor write what is blocked, and use the network or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub(crate) mode: Mode,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    /// `[sandbox] writable_paths`, absolute.
    pub(crate) extra: Vec<PathBuf>,
    pub(crate) blocked: Vec<Blocked>,
    pub(crate) allow_network: bool,
    pub(crate) host: Host,
}

/// One blocked place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// As it was written, or what it is.
    pub text: String,
    /// What it covers.
    pub place: Place,
}

/// What one entry of the blocked paths covers; whatever lies below is covered too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// This path.
    Path(PathBuf),
    /// Every entry of this name within the scope of names.
    Name(Glob),
    /// Every path below the base that the glob fits.
    Below { base: PathBuf, glob: Glob },
}

/// What a policy says of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<'a> {
    /// Neither read nor written: the entry that says so.
    Blocked(&'a Blocked),
    /// A door to the session or to other programs, shut whatever the settings say.
    Shut,
    /// Read and written.
    Writable,
    /// Read only.
    ReadOnly,
}

impl Policy {
    /// Checks and joins the inputs; `server` is named in errors.
    ///
    /// # Errors
    /// [`ExecError::Value`] where a path or pattern cannot be understood, and [`ExecError::Sandbox`] where the
    /// workspace or the working folder is itself blocked.
    pub fn new(server: &str, inputs: Inputs) -> Result<Self, ExecError> {
        let Inputs {
            mode,
            workspace,
            cwd,
            patchbay_home,
            writable_paths,
            blocked_paths,
            allow_network,
            host,
        } = inputs;
        let start = workspace.clone().unwrap_or_else(|| cwd.clone());
        let absolute = |text: &str| absolute(text, &host.home, &start);
        let value = |key: &str, text: &str, reason: String| ExecError::Value {
            server: server.into(),
            field: format!("`[sandbox] {key}`, entry `{}`,", text.escape_debug()),
            reason,
        };
        let mut extra = Vec::with_capacity(writable_paths.len());
        for text in &writable_paths {
            extra.push(absolute(text).map_err(|reason| value("writable_paths", text, reason))?);
        }
        let mut blocked =
            vec![Blocked { text: "Patchbay's own home".into(), place: Place::Path(patchbay_home) }];
        for text in &blocked_paths {
            let place = place(text, &absolute).map_err(|reason| value("blocked_paths", text, reason))?;
            blocked.push(Blocked { text: text.clone(), place });
        }
        let policy = Self { mode, workspace, cwd, extra, blocked, allow_network, host };
        policy.check_own_folders(server)?;
        Ok(policy)
    }

    /// How much a sandbox is insisted on.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The folders where a blocked name without a slash counts at any depth. One that holds the whole home (or the
    /// system) is none: certificates everywhere have such names.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &Path> {
        let folders = self.workspace.iter().chain([&self.cwd]).chain(&self.extra);
        folders.map(PathBuf::as_path).filter(|folder| !self.host.home.starts_with(folder))
    }

    /// Whether a path lies in the workspace or a writable path of the settings: sockets there belong to the project.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.workspace.iter().chain(&self.extra).any(|root| path.starts_with(root))
    }

    /// Every folder (or file) that may be written, as asked: the workspace first, then writable paths, temp
    /// folders and caches.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        let host = &self.host;
        self.workspace.iter().chain(&self.extra).chain(&host.temp).chain(&host.caches).map(PathBuf::as_path)
    }

    /// What the policy says of a path, by its words alone: links are not followed.
    pub(crate) fn verdict(&self, path: &Path) -> Verdict<'_> {
        if let Some(entry) = self.blocked.iter().find(|entry| self.covers(&entry.place, path)) {
            return Verdict::Blocked(entry);
        }
        if self.writable().any(|root| path.starts_with(root)) {
            // A socket of the session may stand in a temp folder.
            return if self.host.doors.iter().any(|door| path.starts_with(door)) {
                Verdict::Shut
            } else {
                Verdict::Writable
            };
        }
        let hidden = Host::HIDDEN.iter().map(Path::new);
        let doors = self.host.doors.iter().map(PathBuf::as_path);
        if hidden.chain(doors).any(|door| path.starts_with(door)) { Verdict::Shut } else { Verdict::ReadOnly }
    }

    fn covers(&self, place: &Place, path: &Path) -> bool {
        match place {
            Place::Path(blocked) => path.starts_with(blocked),
            Place::Below { base, glob } => {
                let matcher = glob.compile_matcher();
                path.starts_with(base)
                    && path.ancestors().take_while(|at| *at != base).any(|at| matcher.is_match(at))
            }
            Place::Name(glob) => {
                let matcher = glob.compile_matcher();
                let at_home = (path.parent() == Some(&self.host.home)).then_some(self.host.home.as_path());
                self.scopes().chain(at_home).filter_map(|scope| path.strip_prefix(scope).ok()).any(|rest| {
                    rest.components()
                        .any(|part| matches!(part, Component::Normal(name) if matcher.is_match(name)))
                })
            }
        }
    }

    fn check_own_folders(&self, server: &str) -> Result<(), ExecError> {
        for (what, folder) in [("workspace", self.workspace.as_ref()), ("working folder", Some(&self.cwd))] {
            let Some(folder) = folder else { continue };
            let blocked = self.blocked.iter().find(|entry| match &entry.place {
                Place::Path(path) => folder.starts_with(path),
                Place::Below { .. } => self.covers(&entry.place, folder),
                Place::Name(_) => false,
            });
            if let Some(entry) = blocked {
                return Err(ExecError::Sandbox {
                    server: server.into(),
                    reason: format!(
                        "its {what} `{}` lies in a blocked path (`{}`)",
                        folder.display(),
                        entry.text
                    ),
                    hint: Some(
                        "Choose another folder, or take the entry out of `[sandbox] blocked_paths`.".into(),
                    ),
                });
            }
        }
        Ok(())
    }
}

/// Reads one entry of the blocked paths.
fn place(text: &str, absolute: &dyn Fn(&str) -> Result<PathBuf, String>) -> Result<Place, String> {
    let is_glob = |part: &str| part.contains(['*', '?', '[', '{']);
    if !text.contains('/') && !text.starts_with('~') && !matches!(text, "" | "." | "..") {
        return glob(text).map(Place::Name);
    }
    let path = absolute(text)?;
    let whole = path.to_str().ok_or("is no UTF-8 text with the home folder put in")?;
    if !is_glob(text) {
        return Ok(Place::Path(path));
    }
    let literal = |part: &Component<'_>| !is_glob(&part.as_os_str().to_string_lossy());
    let base: PathBuf = path.components().take_while(literal).collect();
    Ok(Place::Below { base, glob: glob(whole)? })
}

fn glob(text: &str) -> Result<Glob, String> {
    if text.contains('\0') {
        return Err("holds a NUL character".into());
    }
    GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("is no pattern: {}", error.kind()))
}

/// `~` and relative paths made absolute, `.` and `..` taken out by their words.
fn absolute(text: &str, home: &Path, start: &Path) -> Result<PathBuf, String> {
    if text.is_empty() || text.contains('\0') {
        return Err("is empty or holds a NUL character".into());
    }
    let path = match text.strip_prefix('~') {
        Some("") => home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        Some(_) => return Err("names another user's home; write its full path".into()),
        None => start.join(text),
    };
    Ok(lexical(&path))
}

/// A path without `.` and `..`, by its words alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(blocked: &[&str], writable: &[&str]) -> Inputs {
        let variables =
            [("HOME", "/home/ada"), ("TMPDIR", "/scratch"), ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.2")];
        let host =
            Host::new(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()));
        Inputs {
            mode: Mode::Auto,
            workspace: Some("/home/ada/work".into()),
            cwd: "/home/ada/work/sub".into(),
            patchbay_home: "/home/ada/.config/patchbay".into(),
            writable_paths: writable.iter().map(|text| (*text).into()).collect(),
            blocked_paths: blocked.iter().map(|text| (*text).into()).collect(),
            allow_network: true,
            host,
        }
    }

    fn told(policy: &Policy, path: &str) -> String {
        match policy.verdict(Path::new(path)) {
            Verdict::Blocked(entry) => format!("blocked by {}", entry.text),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn every_path_has_a_verdict_and_what_is_blocked_wins() {
        let blocked = [".env*", "~/.ssh", "conf/*.secret", "keys", "/srv/vault/"];
        let policy = Policy::new("s", inputs(&blocked, &["/srv", "../shared", "~/.tool"])).unwrap();
        let cases = [
            ("/home/ada/work/src/main.rs", "Writable"),
            ("/home/ada/work/.env", "blocked by .env*"),
            ("/home/ada/work/a/b/.env.local/inner", "blocked by .env*"),
            ("/home/ada/.env", "blocked by .env*"),
            ("/home/ada/other/.env", "ReadOnly"),
            ("/home/ada/work/keys/k", "blocked by keys"),
            ("/home/ada/work/conf/a.secret", "blocked by conf/*.secret"),
            ("/home/ada/work/conf/sub/a.secret", "Writable"),
            ("/home/ada/.ssh/id", "blocked by ~/.ssh"),
            ("/home/ada/.sshd", "ReadOnly"),
            ("/home/ada/.config/patchbay/token", "blocked by Patchbay's own home"),
            ("/srv/data", "Writable"),
            ("/srv/.env", "blocked by .env*"),
            ("/srv/vault/x", "blocked by /srv/vault/"),
            ("/home/ada/shared/x", "Writable"),
            ("/home/ada/.tool/x", "Writable"),
            ("/home/ada/.cache/x", "Writable"),
            ("/home/ada/.npm/x", "Writable"),
            ("/scratch/x", "Writable"),
            ("/tmp/x", "Writable"),
            ("/tmp/ssh-1/agent.2", "Shut"),
            ("/run/docker.sock", "Shut"),
            ("/home/ada/.local/share/keyrings/login", "Shut"),
            ("/etc/hosts", "ReadOnly"),
        ];
        for (path, expected) in cases {
            assert_eq!(told(&policy, path), expected, "{path}");
        }
    }

    #[test]
    fn an_entry_that_cannot_be_understood_is_named() {
        for (blocked, writable, key) in [
            (["[a"].as_slice(), [].as_slice(), "`[sandbox] blocked_paths`, entry `[a`, is no pattern"),
            (&[""], &[], "`[sandbox] blocked_paths`, entry ``, is empty"),
            (&["a\0b"], &[], r"`[sandbox] blocked_paths`, entry `a\0b`, holds a NUL"),
            (&[], &["~bob/x"], "`[sandbox] writable_paths`, entry `~bob/x`, names another user's home"),
        ] {
            let error = Policy::new("files", inputs(blocked, writable)).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn a_server_whose_folders_are_blocked_is_refused() {
        for entry in ["~", "/", "/home/ada/wor?", "~/work"] {
            let error = Policy::new("files", inputs(&[entry], &[])).unwrap_err().to_string();
            assert!(error.contains(&format!("lies in a blocked path (`{entry}`)")), "{error}");
        }
    }
}
