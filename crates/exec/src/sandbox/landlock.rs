//! Landlock with a system call filter: what is left where user namespaces are closed. A plan becomes a list of
//! grants; what is granted nothing is shut.
//!
//! Grants reach down a tree and cannot be taken back below, so a folder that holds something shut is not granted
//! itself: its other entries are, one by one. Hence such a folder cannot be listed (where a shut folder lies below)
//! and nothing new can be made directly in it. Landlock says nothing of `stat`, `chmod`, `chown`, `utime` and
//! `setxattr`; Unix sockets are refused altogether, because their paths are no files to it either.

use std::{
    fs, io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    Scope,
};
use patchbay_api::SandboxState;

use super::{
    Confined, Hook, Resolved,
    closed::Kind,
    plan::Plan,
    seccomp::{self, Sockets},
    syscall,
};

/// Grants made for one start. A folder with more entries beside something shut stays shut from there on.
const MAX_GRANTS: usize = 10_000;

/// Folders that are granted file by file or not at all.
const DEVICES: &str = "/dev";

/// Devices that every program may expect, and the folder of shared memory. Terminals are not among them: the user's
/// own could not be told from a server's.
const OPEN_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

/// Folders that writing never reaches, whatever is above them.
const NEVER_WRITTEN: &[&str] = &["/proc", "/sys"];

/// What is granted on a path and all below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grant {
    /// List folders.
    List,
    /// Read, run and list.
    Read,
    /// All of it.
    Write,
}

/// The grants of a plan, and what could not be granted as asked.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    pub list: Vec<(PathBuf, Grant)>,
    /// Writable folders that hold something shut, with the first such thing.
    pub carved: Vec<(PathBuf, PathBuf)>,
    /// The first folder whose entries were too many.
    pub stopped_at: Option<PathBuf>,
}

impl Grants {
    /// Looks at the disk and lists what is granted.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut grants = Self::default();
        let closed = plan.closed.iter().filter(|closed| !matches!(closed.kind, Kind::Socket | Kind::Sockets));
        let closed: Vec<(&Path, Kind)> = closed.map(|closed| (closed.path.as_path(), closed.kind)).collect();
        let hidden = plan.hidden.iter().map(|path| (path.as_path(), Kind::Folder));
        let devices = (Path::new(DEVICES), Kind::Folder);
        let shut: Vec<_> = closed.iter().copied().chain(hidden).chain([devices]).collect();
        grants.split(Path::new("/"), &shut, Grant::Read);
        for path in &plan.shown {
            grants.split(path, &closed, Grant::Read);
        }
        grants.list.extend(OPEN_DEVICES.iter().map(|device| (PathBuf::from(device), Grant::Write)));
        for root in &plan.writable {
            let never = NEVER_WRITTEN.iter().map(|path| (Path::new(path), Kind::Folder));
            let outside = shut.iter().copied().chain(never).filter(|(path, _)| !root.starts_with(path));
            let shut: Vec<_> = closed.iter().copied().chain(outside).collect();
            if let Some((inside, _)) = closed.iter().find(|(path, _)| path.starts_with(root)) {
                grants.carved.push((inside.parent().unwrap_or(root).to_path_buf(), inside.to_path_buf()));
            }
            grants.split(root, &shut, Grant::Write);
        }
        grants
    }

    /// Grants `at`, or its parts where something below it is shut.
    fn split(&mut self, at: &Path, shut: &[(&Path, Kind)], grant: Grant) {
        if self.stopped_at.is_some() || shut.iter().any(|(path, _)| at.starts_with(path)) {
            return;
        }
        let below: Vec<_> = shut.iter().copied().filter(|(path, _)| path.starts_with(at)).collect();
        if below.is_empty() {
            return self.add(at, grant);
        }
        if below.iter().all(|(_, kind)| *kind != Kind::Folder) {
            self.add(at, Grant::List);
        }
        for entry in fs::read_dir(at).into_iter().flatten().filter_map(Result::ok) {
            // A link is granted nothing: what it leads to is granted where it is.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.split(&entry.path(), &below, grant);
            }
        }
    }

    fn add(&mut self, at: &Path, grant: Grant) {
        if self.list.len() < MAX_GRANTS {
            self.list.push((at.to_path_buf(), grant));
        } else {
            self.stopped_at.get_or_insert_with(|| at.parent().unwrap_or(at).to_path_buf());
        }
    }

    /// What of the plan this kernel's Landlock cannot hold.
    fn gaps(&self, plan: &Plan, abi: i32) -> Vec<String> {
        let mut gaps = plan.gaps.clone();
        gaps.extend(self.carved.iter().map(|(folder, inside)| {
            let (folder, inside) = (folder.display(), inside.display());
            format!(
                "`{folder}` is writable and holds the blocked `{inside}`, which Landlock cannot take out of a \
                 writable folder: nothing new can be made directly in `{folder}`"
            )
        }));
        gaps.extend(self.stopped_at.iter().map(|folder| {
            format!("reading `{}`: it has too many entries beside a blocked one", folder.display())
        }));
        gaps.push(
            "names, sizes and times of blocked files can be asked for; modes, owners and times of the user's files \
             can be changed anywhere; shared memory of the user's programs can be read; folders above a blocked \
             folder cannot be listed"
                .into(),
        );
        let since = [
            (3, "files can be cut short anywhere"),
            (5, "devices that are open already can be controlled"),
            (6, "signals can be sent to the user's other processes"),
        ];
        let missing = since.iter().filter(|(version, _)| abi < *version);
        gaps.extend(
            missing
                .map(|(_, what)| format!("{what}: this kernel's Landlock (version {abi}) does not cover it")),
        );
        gaps
    }
}

/// Puts a command under Landlock and the filter.
pub(crate) fn confine(plan: &Plan, command: Resolved) -> io::Result<Confined> {
    let version = syscall::landlock_version();
    let grants = Grants::new(plan);
    let ruleset = ruleset(&grants, version)?;
    let filter = seccomp::filter(Sockets { internet: plan.network, unix: false });
    let hook: Hook = Box::new(move || {
        syscall::leave_keyring()?;
        syscall::no_new_privileges()?;
        syscall::drop_capabilities()?;
        syscall::landlock_restrict(ruleset.as_fd())?;
        syscall::seccomp(&filter)
    });
    let label = format!("Landlock (version {version}) and seccomp");
    let state = SandboxState { active: true, label, gaps: grants.gaps(plan, version) };
    Ok(Confined { command, keep: Vec::new(), hook: Some(hook), info: None, launchers: 0, state, held: None })
}

/// Whether this kernel can keep a process from the abstract sockets of others.
pub(crate) fn scopes_sockets() -> bool {
    syscall::landlock_version() >= 6
}

/// A ruleset that shuts the abstract sockets of others and nothing else (so that mounts stay possible), where the
/// kernel has it.
pub(crate) fn socket_scope() -> io::Result<Option<OwnedFd>> {
    if !scopes_sockets() {
        return Ok(None);
    }
    let ruleset =
        Ruleset::default().scope(Scope::AbstractUnixSocket).map_err(other)?.create().map_err(other)?;
    Ok(ruleset.into())
}

fn ruleset(grants: &Grants, version: i32) -> io::Result<OwnedFd> {
    let abi = ABI::from(version);
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(abi)).map_err(other)?;
    if version >= 6 {
        ruleset = ruleset.scope(Scope::from_all(abi)).map_err(other)?;
    }
    let mut ruleset = ruleset.create().map_err(other)?;
    for (path, grant) in &grants.list {
        ruleset = add(ruleset, path, *grant, abi)?;
    }
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Adds one grant. What has gone meanwhile, cannot be reached or has become a link is granted nothing.
fn add(ruleset: RulesetCreated, path: &Path, grant: Grant, abi: ABI) -> io::Result<RulesetCreated> {
    let Ok(fd) = syscall::open_without_links(path) else {
        return Ok(ruleset);
    };
    let wanted: BitFlags<AccessFs> = match grant {
        Grant::List => AccessFs::ReadDir.into(),
        Grant::Read => AccessFs::from_read(abi),
        Grant::Write => AccessFs::from_all(abi) & !(AccessFs::MakeBlock | AccessFs::MakeChar),
    };
    ruleset.add_rule(PathBeneath::new(fd, wanted)).map_err(other)
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}
