//! A policy as it falls out on this disk, now: which real paths are writable, which are shut, and what could not be
//! looked through. Every path in a plan exists and is without links, so that back ends need not follow any.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{
    closed::{self, Closed, Held, Kind, Look},
    host::{Host, MADE_CACHES},
    policy::{Place, Policy},
};

/// What the back ends work from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Folders and files that may be written; none below another.
    pub writable: Vec<PathBuf>,
    /// The workspace and the writable paths of the settings: sockets in them belong to the project.
    pub own: Vec<PathBuf>,
    /// Folders of run-time state that are not shown.
    pub hidden: Vec<PathBuf>,
    /// What of them is shown after all, read-only.
    pub shown: Vec<PathBuf>,
    /// What can be neither read nor written; none below another.
    pub closed: Vec<Closed>,
    /// Blocked names and the folders where they count, for a back end that can hold names instead of files.
    pub names: Vec<(PathBuf, String)>,
    /// Whether the host's network may be used.
    pub network: bool,
    /// The working folder.
    pub cwd: PathBuf,
    /// What of the policy no back end can hold on this disk, in words.
    pub gaps: Vec<String>,
}

impl Plan {
    /// Looks at the disk; makes missing caches and writable paths. The error says in words why the server's own
    /// folders cannot be used.
    pub(crate) fn new(policy: &Policy) -> Result<(Self, Held), String> {
        let mut gaps = Vec::new();
        make_folders(policy, &mut gaps);
        let writable = writable(policy);
        let cwd = fs::canonicalize(&policy.cwd).map_err(|error| {
            format!("its working folder `{}` cannot be used: {error}", policy.cwd.display())
        })?;
        let hidden = hidden();
        let shown = shown(&hidden);
        let look = closed::look(policy);
        if look.too_many {
            return Err(format!("more than {} blocked files are in its folders", closed::MOST));
        }
        gaps.extend(unseen(policy, &look));
        let held = Held::new(policy, &look.entries);
        let mut closed: BTreeSet<Closed> = look.entries.into_iter().map(|entry| entry.closed).collect();
        closed.extend(closed::doors(policy));
        closed.retain(|closed| {
            in_sight(&closed.path, &hidden, shown.iter().chain(&writable)) && reachable(&closed.path)
        });
        let closed = topmost(closed);
        if let Some(entry) = closed.iter().find(|entry| cwd.starts_with(&entry.path)) {
            let entry = entry.path.display();
            return Err(format!("its working folder `{}` lies in a blocked path (`{entry}`)", cwd.display()));
        }
        let own = policy.workspace.iter().chain(&policy.extra);
        let own = own.filter_map(|path| fs::canonicalize(path).ok()).collect();
        let (names, network) = (names(policy), policy.allow_network);
        Ok((Self { writable, own, hidden, shown, closed, names, network, cwd, gaps }, held))
    }

    /// What a back end is tried with: nothing writable, nothing blocked.
    pub(crate) fn trial(network: bool) -> Self {
        let hidden = hidden();
        let shown = shown(&hidden);
        Self {
            writable: Vec::new(),
            own: Vec::new(),
            hidden,
            shown,
            closed: Vec::new(),
            names: Vec::new(),
            network,
            cwd: PathBuf::from("/"),
            gaps: Vec::new(),
        }
    }
}

/// Makes the caches and writable paths that are missing, so that what a launcher is allowed to make exists.
fn make_folders(policy: &Policy, gaps: &mut Vec<String>) {
    let make = |folder: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let home = &policy.host.home;
    for cache in
        MADE_CACHES.iter().map(|cache| home.join(cache)).filter(|cache| policy.host.caches.contains(cache))
    {
        // Without it the launcher's own error tells more than ours would.
        let _ = make(&cache);
    }
    for path in policy.extra.iter().filter(|path| path.symlink_metadata().is_err()) {
        if let Err(error) = make(path) {
            gaps.push(format!("writing `{}`: it is missing and cannot be made ({error})", path.display()));
        }
    }
}

/// The real writable paths. One that lies below another is left out before links are followed: a server could have
/// put a link there that leads anywhere.
fn writable(policy: &Policy) -> Vec<PathBuf> {
    let asked: BTreeSet<&Path> = policy.writable().collect();
    let top = |path: &&&Path| !asked.iter().any(|other| other != *path && path.starts_with(other));
    let real: BTreeSet<PathBuf> =
        asked.iter().filter(top).filter_map(|path| fs::canonicalize(path).ok()).collect();
    let below = |path: &&PathBuf| !real.iter().any(|other| other != *path && path.starts_with(other));
    real.iter().filter(below).cloned().collect()
}

/// Blocked names that are not looked for everywhere, in words.
fn unseen(policy: &Policy, look: &Look) -> impl Iterator<Item = String> {
    let below = |folder: &Path, why: &str| format!("blocked names below `{}`: {why}", folder.display());
    let too_large =
        look.stopped_at.as_deref().map(|folder| below(folder, "there is too much to look through"));
    let holds_home = policy.workspace.as_deref().filter(|folder| policy.host.home.starts_with(folder));
    let holds_home =
        holds_home.map(|folder| below(folder, "a workspace that holds the home is not looked through"));
    too_large.into_iter().chain(holds_home)
}

/// Whether a path is seen at all: not in a hidden folder, unless what is shown or writable there brings it back.
fn in_sight<'a>(path: &Path, hidden: &[PathBuf], mut opened: impl Iterator<Item = &'a PathBuf>) -> bool {
    let Some(folder) = hidden.iter().find(|folder| path.starts_with(folder)) else {
        return true;
    };
    opened.any(|root| path.starts_with(root) && (root.starts_with(folder) || folder.starts_with(root)))
}

/// Whether a server can come to a path at all. Root can, until its sandbox takes its capabilities: what lies in another
/// user's private folder is out of reach then, also for a mount.
fn reachable(path: &Path) -> bool {
    const ROOT: u32 = 0;
    let open = |folder: &Path| {
        let Ok(found) = fs::metadata(folder) else {
            return false;
        };
        let by_group = found.gid() == ROOT && found.mode() & 0o010 != 0;
        found.uid() == ROOT || by_group || found.mode() & 0o001 != 0
    };
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == ROOT);
    !is_root || path.ancestors().skip(1).all(open)
}

/// Each blocked name with each real folder where it counts.
fn names(policy: &Policy) -> Vec<(PathBuf, String)> {
    let scopes: BTreeSet<PathBuf> =
        policy.scopes().filter_map(|scope| fs::canonicalize(scope).ok()).collect();
    let names = policy.blocked.iter().filter_map(|blocked| match &blocked.place {
        Place::Name(glob) => Some(glob.glob()),
        Place::Path(_) | Place::Below { .. } => None,
    });
    names.flat_map(|name| scopes.iter().map(move |scope| (scope.clone(), name.into()))).collect()
}

/// The hidden folders that this system has; a link among them leads to another.
fn hidden() -> Vec<PathBuf> {
    let real = |path: &&&str| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    Host::HIDDEN.iter().filter(real).map(PathBuf::from).collect()
}

/// What is shown of them: besides the fixed places the folder of the file that names the resolvers, which often lives
/// there; the folder and not the file, because the file is replaced when the network changes.
fn shown(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let resolvers = fs::canonicalize("/etc/resolv.conf").ok();
    let resolvers = resolvers.map(|file| match file.parent() {
        Some(folder) if !hidden.iter().any(|hidden| hidden == folder) => folder.to_path_buf(),
        _ => file,
    });
    let fixed = Host::SHOWN.iter().map(PathBuf::from).filter(|path| path.exists());
    let within = |path: &PathBuf| hidden.iter().any(|folder| path.starts_with(folder));
    fixed.chain(resolvers).filter(within).collect()
}

/// Leaves out what lies below a closed folder: in the order of paths it follows its folder at once.
fn topmost(closed: BTreeSet<Closed>) -> Vec<Closed> {
    let mut top: Vec<Closed> = Vec::with_capacity(closed.len());
    for entry in closed {
        let covers = |last: &Closed| {
            last.path == entry.path
                || matches!(last.kind, Kind::Folder | Kind::Sockets) && entry.path.starts_with(&last.path)
        };
        if !top.last().is_some_and(covers) {
            top.push(entry);
        }
    }
    top
}

/// What kind of thing stands at a path without links.
pub(crate) fn kind(path: &Path) -> Option<Kind> {
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    Some(match kind {
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_socket() => Kind::Socket,
        _ => Kind::File,
    })
}
