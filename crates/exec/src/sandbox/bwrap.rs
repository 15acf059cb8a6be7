//! bubblewrap: a plan as its arguments, and what is started around a server. The server sees the host's files
//! read-only under its own mounts, in its own user, process, IPC and host name namespaces.
//!
//! Three processes stand in a row: bubblewrap, the init of the process namespace, the server. SIGTERM must go to
//! the last; the death of any ends those below it.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read},
    os::fd::{AsFd, AsRawFd, OwnedFd},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    time::Duration,
};

use patchbay_api::SandboxState;

use super::{
    Confined, Hook, Resolved,
    closed::Kind,
    landlock,
    plan::Plan,
    poll::{Deadline, readable},
    seccomp::{self, Sockets},
    syscall,
};

/// How many launchers stand above the server.
const LAUNCHERS: u8 = 2;

/// A bubblewrap that works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bubblewrap {
    /// Where it is.
    pub program: PathBuf,
    /// What it says of itself, such as `bubblewrap 0.8.0`.
    pub version: String,
}

/// Shuts further user namespaces, which the filter does too; from 0.8 on.
const NO_USER_NAMESPACES: &str = "--disable-userns";

/// Isolation that does not depend on the plan. Capabilities are dropped by name because bubblewrap keeps root's.
const ALWAYS: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
];

/// The plan as arguments. Order matters: a later mount lies over an earlier one.
pub(crate) fn arguments(plan: &Plan) -> Vec<OsString> {
    let mut out: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    let mut add = |parts: &[&OsStr]| out.extend(parts.iter().map(OsString::from));
    let word = OsStr::new;
    if !plan.network {
        add(&[word("--unshare-net")]);
    }
    let root = plan.writable.iter().find(|path| path.parent().is_none());
    add(&[word(if root.is_some() { "--bind" } else { "--ro-bind" }), word("/"), word("/")]);
    // Root owns the system's switches in /proc/sys and its like, also without capabilities.
    add(&[word("--dev"), word("/dev"), word("--proc"), word("/proc"), word("--remount-ro"), word("/proc")]);
    if root.is_some() {
        add(&[word("--ro-bind"), word("/sys"), word("/sys")]);
    }
    for path in &plan.hidden {
        add(&[word("--tmpfs"), path.as_os_str()]);
    }
    for path in &plan.shown {
        add(&[word("--ro-bind"), path.as_os_str(), path.as_os_str()]);
    }
    for path in plan.writable.iter().filter(|path| Some(*path) != root) {
        add(&[word("--bind"), path.as_os_str(), path.as_os_str()]);
    }
    for closed in &plan.closed {
        let path = closed.path.as_os_str();
        match closed.kind {
            Kind::Folder | Kind::Sockets => {
                add(&[word("--perms"), word("0000"), word("--tmpfs"), path, word("--remount-ro"), path]);
            }
            // Without device access on its mount, the null device cannot be opened at all.
            Kind::File | Kind::Socket => add(&[word("--ro-bind"), word("/dev/null"), path]),
        }
    }
    for path in &plan.hidden {
        add(&[word("--remount-ro"), path.as_os_str()]);
    }
    add(&[word("--chdir"), plan.cwd.as_os_str()]);
    out
}

/// What the kernel and bubblewrap together leave open.
pub(crate) fn gaps(plan: &Plan) -> Vec<String> {
    let shared = plan.network && !landlock::scopes_sockets();
    let abstract_sockets =
        "abstract sockets of other programs: this kernel cannot close them while the network is shared";
    plan.gaps.iter().cloned().chain(shared.then(|| abstract_sockets.into())).collect()
}

impl Bubblewrap {
    fn knows_no_user_namespaces(&self) -> bool {
        let numbers = self.version.rsplit(' ').next().unwrap_or_default();
        let mut numbers = numbers.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (0, 8)
    }

    /// The command around a server, with the descriptors that it reads.
    pub(crate) fn confine(&self, plan: &Plan, command: Resolved) -> io::Result<Confined> {
        let sockets = Sockets { internet: true, unix: true };
        let filter = syscall::nameless_file(&seccomp::bytes(&seccomp::filter(sockets)))?;
        let (info, told) = io::pipe()?;
        let (info, told) = (OwnedFd::from(info), OwnedFd::from(told));
        let mut options = arguments(plan);
        if self.knows_no_user_namespaces() {
            options.push(NO_USER_NAMESPACES.into());
        }
        options.extend(["--seccomp".into(), filter.as_raw_fd().to_string().into()]);
        options.extend(["--info-fd".into(), told.as_raw_fd().to_string().into()]);
        let options: Vec<u8> =
            options.iter().flat_map(|option| [option.as_bytes(), b"\0"].concat()).collect();
        let options = syscall::nameless_file(&options)?;
        let mut args: Vec<OsString> =
            vec!["--args".into(), options.as_raw_fd().to_string().into(), "--".into()];
        args.push(command.program.into_os_string());
        args.extend(command.args);
        // A namespace of its own has its own abstract sockets.
        let scope = if plan.network { landlock::socket_scope()? } else { None };
        let hook: Hook = Box::new(move || {
            syscall::leave_keyring()?;
            let Some(scope) = &scope else { return Ok(()) };
            syscall::no_new_privileges()?;
            syscall::landlock_restrict(scope.as_fd())
        });
        let state = SandboxState { active: true, label: self.version.clone(), gaps: gaps(plan) };
        Ok(Confined {
            command: Resolved { program: self.program.clone(), args, ..command },
            keep: vec![filter, told, options],
            hook: Some(hook),
            info: Some(info),
            launchers: LAUNCHERS,
            state,
            held: None,
        })
    }
}

/// What bubblewrap writes to its info descriptor: one small object with the pid of the namespace's init.
fn init_pid(told: &[u8]) -> Option<u32> {
    let told = std::str::from_utf8(told).ok()?;
    let (_, rest) = told.split_once("\"child-pid\"")?;
    let digits = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// Reads the pid of the server itself, as the host numbers it: what bubblewrap tells is the namespace's init, whose
/// first child the server is. Blocking, at most `limit`.
///
/// # Errors
/// Where bubblewrap ended before or said nothing in time.
pub(crate) fn server_pid(info: OwnedFd, limit: Duration) -> io::Result<u32> {
    const SPAN: Duration = Duration::from_millis(1);
    const MOST_BYTES: usize = 4096;
    let deadline = Deadline::after(limit);
    let mut info = fs::File::from(info);
    let mut told = Vec::new();
    let init = loop {
        if let Some(pid) = init_pid(&told) {
            break pid;
        }
        let mut part = [0; 256];
        if !readable(info.as_fd(), deadline.left())? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match info.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => told.extend_from_slice(&part[..read]),
        }
        if told.len() > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    };
    let ended = syscall::process_end(init)?;
    let children = format!("/proc/{init}/task/{init}/children");
    loop {
        let first =
            fs::read_to_string(&children)?.split_ascii_whitespace().next().and_then(|pid| pid.parse().ok());
        if let Some(pid) = first {
            return Ok(pid);
        }
        // Nothing tells of a fork; the wait is for the init's end and only paces the looks.
        if readable(ended.as_fd(), SPAN)? || deadline.left().is_zero() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::closed::Closed;

    fn plan() -> Plan {
        let closed = |path: &str, kind| Closed { path: path.into(), kind };
        Plan {
            writable: vec!["/home/ada/.cache".into(), "/home/ada/work".into()],
            hidden: vec!["/run".into()],
            shown: vec!["/run/systemd/resolve".into()],
            closed: vec![closed("/home/ada/.ssh", Kind::Folder), closed("/home/ada/work/.env", Kind::File)],
            cwd: "/home/ada/work".into(),
            ..Plan::trial(false)
        }
    }

    #[test]
    fn what_is_closed_is_mounted_over_what_is_writable() {
        let words = |plan: &Plan| arguments(plan).join(OsStr::new(" ")).into_string().unwrap();
        let expected = "--unshare-net --ro-bind / / --dev /dev --proc /proc --remount-ro /proc --tmpfs /run \
            --ro-bind /run/systemd/resolve /run/systemd/resolve \
            --bind /home/ada/.cache /home/ada/.cache --bind /home/ada/work /home/ada/work \
            --perms 0000 --tmpfs /home/ada/.ssh --remount-ro /home/ada/.ssh \
            --ro-bind /dev/null /home/ada/work/.env --remount-ro /run --chdir /home/ada/work";
        assert_eq!(words(&plan()), format!("{} {expected}", ALWAYS.join(" ")));
        let open = words(&Plan { network: true, writable: vec!["/".into()], ..plan() });
        assert!(!open.contains("--unshare-net") && open.contains("--bind / / --dev /dev"), "{open}");
        assert_eq!(open.matches(" / /").count(), 1);
    }

    #[test]
    fn an_older_bubblewrap_is_not_asked_for_what_it_does_not_know() {
        let knows = |version: &str| {
            Bubblewrap { program: "/usr/bin/bwrap".into(), version: version.into() }
                .knows_no_user_namespaces()
        };
        assert!(knows("bubblewrap 0.8.0") && knows("bubblewrap 0.11.0") && knows("bubblewrap 1.0"));
        assert!(!knows("bubblewrap 0.6.1") && !knows("bubblewrap built from source"));
    }

    #[test]
    fn the_pid_is_read_from_whole_answers_only() {
        assert_eq!(init_pid(b"{\n    \"child-pid\": 4321\n}\n"), Some(4321));
        assert_eq!(init_pid(b"{\"child-pid\":7,\"net-namespace\": 5}"), Some(7));
        for part in [
            "",
            "{\n    \"child-p",
            "{ \"child-pid\": 43",
            "{ \"child-pid\": x }",
            "{ \"child-pid\": 99999999999 }",
        ] {
            assert_eq!(init_pid(part.as_bytes()), None, "{part}");
        }
    }
}
