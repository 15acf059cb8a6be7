//! What is blocked on this disk, now: blocked paths and names, other names of blocked files, and the sockets that
//! lead to other programs. Also what has appeared since a server started.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use globset::{GlobSet, GlobSetBuilder};

use super::{
    plan::kind,
    policy::{Place, Policy},
    walk::{Walk, passed_over},
};

/// A path that a server can neither read nor write.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Closed {
    /// Without links.
    pub path: PathBuf,
    /// What stands there.
    pub kind: Kind,
}

/// What stands at a closed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Folder,
    /// A folder with nothing but sockets in it.
    Sockets,
    File,
    Socket,
}

/// A blocked entry that was found.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// By the name that the settings block.
    pub named: PathBuf,
    /// Where it really is.
    pub closed: Closed,
    /// Its device and inode: a file that was replaced is another one.
    pub identity: (u64, u64),
}

/// Blocked entries that can be held in one start; each costs a mount, and bubblewrap takes so many arguments.
pub(crate) const MOST: usize = 1000;

/// What one look found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub entries: Vec<Entry>,
    /// The first folder that was not looked through.
    pub stopped_at: Option<PathBuf>,
    /// Whether there is more than can be held. A server that made thousands of blocked names must not thereby open
    /// those that were there.
    pub too_many: bool,
}

/// Finds what the policy blocks.
pub(crate) fn look(policy: &Policy) -> Look {
    let mut walk = Walk::default();
    let names = names(policy);
    let mut roots: Vec<&Path> = policy.scopes().collect();
    roots.sort_unstable();
    roots.dedup_by(|root, before| root.starts_with(*before));
    for root in roots {
        walk.below(root, usize::MAX, &mut |entry| names.is_match(entry.file_name()), &passed_over);
    }
    walk.below(&policy.host.home, 1, &mut |entry| names.is_match(entry.file_name()), &passed_over);
    for blocked in &policy.blocked {
        if let Place::Below { base, glob } = &blocked.place {
            let matcher = glob.compile_matcher();
            walk.below(base, usize::MAX, &mut |entry| matcher.is_match(entry.path()), &|_| false);
        }
    }
    let by_name = walk.found.iter().filter_map(|path| entry(path, Some(policy)));
    let by_path = policy.blocked.iter().filter_map(|blocked| match &blocked.place {
        Place::Path(path) => entry(path, None),
        Place::Name(_) | Place::Below { .. } => None,
    });
    let mut entries: Vec<Entry> = by_path.chain(by_name).collect();
    entries.extend(other_names(policy, &entries, &mut walk));
    Look { too_many: entries.len() > MOST, entries, stopped_at: walk.stopped_at }
}

/// The doors that exist, and every socket that somebody listens on outside the project's own folders.
pub(crate) fn doors(policy: &Policy) -> Vec<Closed> {
    let fixed = policy.host.doors.iter().filter_map(|door| door_at(door));
    let listening = fs::read_to_string(&policy.host.socket_table).unwrap_or_default();
    let sockets =
        listening_paths(&listening).filter(|path| !policy.is_own(path)).filter_map(|path| entry(&path, None));
    let sockets = sockets.map(|entry| entry.closed).filter(|closed| closed.kind == Kind::Socket);
    fixed.chain(sockets.take(MOST)).collect()
}

fn door_at(path: &Path) -> Option<Closed> {
    let closed = entry(path, None)?.closed;
    let is_socket = |entry: fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_socket());
    let only_sockets = closed.kind == Kind::Folder
        && fs::read_dir(&closed.path)
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_socket)));
    Some(if only_sockets { Closed { kind: Kind::Sockets, ..closed } } else { closed })
}

/// The paths in the kernel's table of Unix sockets that accept connections.
fn listening_paths(table: &str) -> impl Iterator<Item = PathBuf> {
    const ACCEPTS: u32 = 1 << 16;
    table.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
        let path = fields.nth(3)?;
        (flags & ACCEPTS != 0 && path.starts_with('/')).then(|| PathBuf::from(path))
    })
}

/// The blocked names without a slash, as one set.
fn names(policy: &Policy) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for blocked in &policy.blocked {
        if let Place::Name(glob) = &blocked.place {
            set.add(glob.clone());
        }
    }
    // Each of them was compiled when the policy was made.
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Follows links to where a path really is. A link that was found by its name may have been put there by a server:
/// it shuts nothing outside the user's own folders, and no folder that the server runs in.
fn entry(path: &Path, found_for: Option<&Policy>) -> Option<Entry> {
    let real = fs::canonicalize(path).ok()?;
    if let Some(policy) = found_for.filter(|_| real != path) {
        let own = policy.scopes().chain([policy.host.home.as_path()]).any(|root| real.starts_with(root));
        if !own || policy.scopes().any(|root| root.starts_with(&real)) {
            return None;
        }
    }
    let found = fs::symlink_metadata(&real).ok()?;
    let closed = Closed { kind: kind(&real)?, path: real };
    Some(Entry { named: path.to_path_buf(), closed, identity: (found.dev(), found.ino()) })
}

/// Hard links: other names, in folders that servers write, of files that are blocked. Looked for only where a
/// blocked file has more than one name.
fn other_names(policy: &Policy, entries: &[Entry], walk: &mut Walk) -> Vec<Entry> {
    let mut wanted = BTreeSet::new();
    let mut note = |path: &Path| {
        if let Ok(found) = fs::symlink_metadata(path)
            && found.is_file()
            && found.nlink() > 1
        {
            wanted.insert((found.dev(), found.ino()));
        }
    };
    for entry in entries {
        note(&entry.closed.path);
        if entry.closed.kind == Kind::Folder {
            let mut inside = Walk::with_budget(1000);
            inside.below(&entry.closed.path, 3, &mut |entry| entry.path().is_file(), &|_| false);
            inside.found.iter().for_each(|path| note(path));
        }
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let before = walk.found.len();
    let mut same = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.metadata().is_ok_and(|found| wanted.contains(&(found.dev(), found.ino())))
    };
    for root in policy.scopes().chain(policy.host.temp.iter().map(PathBuf::as_path)) {
        walk.below(root, usize::MAX, &mut same, &|_| false);
    }
    walk.found[before..].iter().filter_map(|path| entry(path, None)).collect()
}

/// What a running server was started with, to notice blocked names that appear later.
#[derive(Debug, Clone)]
pub struct Held {
    policy: Policy,
    known: BTreeMap<PathBuf, (u64, u64)>,
}

impl Held {
    pub(crate) fn new(policy: &Policy, found: &[Entry]) -> Self {
        let known = found.iter().map(|entry| (entry.named.clone(), entry.identity)).collect();
        Self { policy: policy.clone(), known }
    }

    /// Blocked names that have appeared (or were replaced by another file) since the start or since the last call:
    /// the server may be able to reach them until its next start. Blocking: a bounded walk.
    pub fn appeared(&mut self) -> Vec<PathBuf> {
        let mut new = Vec::new();
        for entry in look(&self.policy).entries {
            if self.known.insert(entry.named.clone(), entry.identity) != Some(entry.identity) {
                new.push(entry.named);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::sandbox::{Host, Inputs, Mode};

    #[test]
    fn every_socket_that_somebody_listens_on_is_a_door_but_the_projects_own() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let work = root.join("work");
        fs::create_dir(&work).unwrap();
        let [stray, own] = [root.join("stray.sock"), work.join("own.sock")];
        let _listeners = [&stray, &own].map(|path| UnixListener::bind(path).unwrap());
        let inputs = Inputs {
            mode: Mode::Auto,
            workspace: Some(work.clone()),
            cwd: work,
            patchbay_home: root.join("home"),
            writable_paths: Vec::new(),
            blocked_paths: Vec::new(),
            allow_network: true,
            host: Host::new(|_| None),
        };
        let doors = doors(&Policy::new("s", inputs).unwrap());
        assert!(doors.contains(&Closed { path: stray, kind: Kind::Socket }), "{doors:?}");
        assert!(doors.iter().all(|door| door.path != own), "{doors:?}");
    }

    #[test]
    fn only_listening_path_sockets_are_read_from_the_kernels_table() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000: 00000002 00000000 00010000 0001 01 37653 /run/user/7/bus\n\
            0000: 00000003 00000000 00000000 0001 03 37654 /run/user/7/bus\n\
            0000: 00000002 00000000 00010000 0001 01 37655 @/tmp/.X11-unix/X0\n\
            0000: 00000002 00000000 00010000 0001 01 37656\n\
            broken\n";
        assert_eq!(listening_paths(table).collect::<Vec<_>>(), [Path::new("/run/user/7/bus")]);
    }
}
