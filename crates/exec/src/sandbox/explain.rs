//! From what a server wrote to the setting that denied it. A server in a sandbox only sees an error number; this
//! finds the path or host in its last words, asks the policy, and names the setting.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::policy::{Policy, Verdict, lexical};

/// Something that the sandbox denied a server. Shown as whole sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The path or host.
    pub target: String,
    /// The settings key that denies it.
    pub setting: &'static str,
    /// How to allow just that, or what to do instead.
    pub hint: String,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The sandbox denied `{}` ({}). {}", self.target.escape_debug(), self.setting, self.hint)
    }
}

const WRITABLE: &str = "[sandbox] writable_paths";
const BLOCKED: &str = "[sandbox] blocked_paths";
const NETWORK: &str = "[sandbox] allow_network";
const SANDBOX: &str = "sandbox";

/// How a line fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// Permission.
    Denied,
    /// Written where only reading is possible.
    ReadOnly,
    /// Something is not there.
    Missing,
    /// The network.
    Network,
}

const WORDS: &[(Failure, &[&str])] = &[
    (Failure::ReadOnly, &["Read-only file system", "EROFS", "os error 30"]),
    (
        Failure::Network,
        &[
            "ENETUNREACH",
            "Network is unreachable",
            "network is unreachable",
            "EAI_AGAIN",
            "ENOTFOUND",
            "Temporary failure in name resolution",
            "Name or service not known",
            "Could not resolve host",
            "getaddrinfo",
            "dns error",
            "ECONNREFUSED",
            "Connection refused",
            "connect EACCES",
            "connect EPERM",
        ],
    ),
    (
        Failure::Denied,
        &[
            "Permission denied",
            "permission denied",
            "EACCES",
            "EPERM",
            "Operation not permitted",
            "os error 13",
            "os error 1)",
        ],
    ),
    (Failure::Missing, &["No such file or directory", "ENOENT", "os error 2)"]),
];

/// Longest part of a line, and most lines, that are looked at.
const LINE: usize = 4096;
const LINES: usize = 200;

/// A path that a line may speak of.
#[derive(Debug)]
struct Mention {
    path: PathBuf,
    /// Whether it is surely a path; a bare word is one only if it is blocked.
    sure: bool,
}

impl Mention {
    fn denied(&self, policy: &Policy, failure: Failure) -> Option<Denial> {
        let blocked = matches!(policy.verdict(&self.path), Verdict::Blocked(_));
        if self.sure || blocked { denied_path(policy, failure, &self.path) } else { None }
    }
}

/// Finds the last thing in a server's stderr that its sandbox denied. Looks at the disk only to tell the sandbox's
/// refusal from the system's own.
#[must_use]
pub fn explain(policy: &Policy, stderr_tail: &[String]) -> Option<Denial> {
    let lines = || stderr_tail.iter().rev().take(LINES).map(|line| cut(line));
    lines().find_map(|line| {
        let failure = fails(line)?;
        let of_path = paths(line, policy).into_iter().find_map(|path| path.denied(policy, failure));
        of_path.or_else(|| denied_network(policy, failure, line, lines)).or_else(|| own_failure(line))
    })
}

/// The sandbox could not be built for this server.
fn own_failure(line: &str) -> Option<Denial> {
    let what = line.strip_prefix(super::LAUNCHER_SAYS)?;
    let hint =
        "bubblewrap could not start this server. If that stays so, set `sandbox = false` in its entry.";
    Some(Denial { target: what.into(), setting: SANDBOX, hint: hint.into() })
}

fn fails(line: &str) -> Option<Failure> {
    let fits = |words: &[&str]| words.iter().any(|word| line.contains(word));
    WORDS.iter().find(|(_, words)| fits(words)).map(|(failure, _)| *failure)
}

fn cut(line: &str) -> &str {
    let end = (0..=LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    &line[..end]
}

fn denied_path(policy: &Policy, failure: Failure, path: &Path) -> Option<Denial> {
    let target = path.display().to_string();
    match (policy.verdict(path), failure) {
        (Verdict::Writable | Verdict::ReadOnly, Failure::Network) => other_socket(policy, path),
        (Verdict::Blocked(_), Failure::Network) => None,
        (Verdict::Blocked(entry), Failure::Denied | Failure::ReadOnly) => Some(Denial {
            hint: format!(
                "`{}` is blocked for every server in a sandbox. If this one needs it, take it out of {BLOCKED}, or set \
                 `sandbox = false` in the server's entry.",
                entry.text
            ),
            setting: BLOCKED,
            target,
        }),
        (Verdict::Shut, _) => Some(Denial {
            hint: "Sockets of the session and run-time folders are closed to servers in a sandbox. If this one needs \
                   them, set `sandbox = false` in its entry."
                .into(),
            setting: SANDBOX,
            target,
        }),
        (Verdict::ReadOnly, Failure::Denied | Failure::ReadOnly) if could_write(path) => {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            let hint = format!("To let servers write there, add \"{}\" to {WRITABLE}.", folder.display());
            Some(Denial { target, setting: WRITABLE, hint })
        }
        (Verdict::Writable, Failure::Denied) => crowded(policy, path),
        (Verdict::ReadOnly | Verdict::Writable | Verdict::Blocked(_), _) => None,
    }
}

/// A socket of another program, that the sandbox shuts or shows as something else.
fn other_socket(policy: &Policy, path: &Path) -> Option<Denial> {
    #[cfg(unix)]
    let is_socket = super::plan::kind(path) == Some(super::closed::Kind::Socket);
    #[cfg(not(unix))]
    let is_socket = false;
    let folder = path.parent()?.display();
    (is_socket && !policy.is_own(path)).then(|| Denial {
        target: path.display().to_string(),
        setting: WRITABLE,
        hint: format!(
            "Sockets of other programs are closed to servers in a sandbox. To open this one, add \"{folder}\" to \
             {WRITABLE} (with bubblewrap), or set `sandbox = false` in the server's entry."
        ),
    })
}

/// Where Landlock holds a blocked name in a writable folder, nothing new can be made beside it.
fn crowded(policy: &Policy, path: &Path) -> Option<Denial> {
    let folder = path.parent()?;
    if path.symlink_metadata().is_ok() || !could_write(path) {
        return None;
    }
    let entries = folder.read_dir().ok()?.take(10_000).filter_map(Result::ok);
    let blocked = entries
        .map(|entry| entry.path())
        .find(|entry| matches!(policy.verdict(entry), Verdict::Blocked(_)))?;
    let (folder, blocked) = (folder.display(), blocked.display());
    Some(Denial {
        target: path.display().to_string(),
        setting: BLOCKED,
        hint: format!(
            "Without bubblewrap nothing new can be made directly in `{folder}`, because it holds the blocked \
             `{blocked}`: install bubblewrap, or move that file."
        ),
    })
}

/// Whether the owner itself could write a path, or make it: what the system denies anyway, no setting allows.
fn could_write(path: &Path) -> bool {
    let existing = path.ancestors().find(|at| at.symlink_metadata().is_ok());
    #[cfg(unix)]
    return existing.is_some_and(super::poll::writable);
    #[cfg(not(unix))]
    existing.is_some()
}

fn denied_network<'a, I>(
    policy: &Policy,
    failure: Failure,
    line: &str,
    tail: impl Fn() -> I,
) -> Option<Denial>
where
    I: Iterator<Item = &'a str>,
{
    // Python tells of a refused socket without saying what it was for; the lines before do.
    let speaks_of_network =
        |line: &str| ["socket.py", "connect", "urlopen", "http.client"].iter().any(|w| line.contains(w));
    let fits = match failure {
        Failure::Network => true,
        Failure::Denied => speaks_of_network(line) || tail().any(speaks_of_network),
        Failure::ReadOnly | Failure::Missing => false,
    };
    let target = || host(line).or_else(|| tail().filter(|line| fails(line).is_some()).find_map(host));
    (fits && !policy.allow_network).then(|| Denial {
        target: target().unwrap_or_else(|| "the network".into()),
        setting: NETWORK,
        hint: format!(
            "Servers in a sandbox have no network while {NETWORK} is false. Set it to true, or set `sandbox = false` in \
             this server's entry."
        ),
    })
}

/// The host that a line names: of a web address, before a port, or after the name of the failed call.
fn host(line: &str) -> Option<String> {
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let clean = |text: &str| {
        let end = text.find(|c| !is_host(c)).unwrap_or(text.len());
        let host = text[..end].trim_matches([':', '.']);
        (!host.is_empty() && host.len() <= 253).then(|| host.to_owned())
    };
    if let Some((_, rest)) = line.split_once("://") {
        return clean(rest.rsplit_once('@').map_or(rest, |(_, host)| host));
    }
    for word in
        ["EAI_AGAIN", "ENOTFOUND", "ENETUNREACH", "ECONNREFUSED", "EACCES", "EPERM", "resolve host:", "host="]
    {
        let found =
            line.split_once(word).and_then(|(_, rest)| clean(rest.trim_start_matches([' ', '\'', '"'])));
        if let Some(host) = found.filter(|host| host.contains(['.', ':']) || host.contains("localhost")) {
            return Some(host);
        }
    }
    None
}

/// The paths that a line may speak of, the surest first: quoted, after a colon, and any word that starts like one.
fn paths(line: &str, policy: &Policy) -> Vec<Mention> {
    let mut out = Vec::new();
    let mut add = |text: &str, relative: Option<bool>| {
        let text = text.trim().trim_end_matches([',', '.', ';', ')', ':']);
        let (path, sure) = match (text.strip_prefix("~/"), relative) {
            (Some(rest), _) => (policy.host.home.join(rest), true),
            (None, _) if text.starts_with('/') => (PathBuf::from(text), true),
            (None, Some(sure)) if !text.is_empty() => (policy.cwd.join(text), sure),
            (None, _) => return,
        };
        out.push(Mention { path: lexical(&path), sure });
    };
    for quote in ['\'', '"', '`'] {
        line.split(quote).skip(1).step_by(2).for_each(|part| add(part, Some(part.contains(['/', '.']))));
    }
    // The last first: before it often stands the name of the program that complains.
    for part in line.rsplit(": ") {
        add(part, Some(false));
        // `cannot create /a b/c: …`: from the slash to the colon.
        for start in [" /", " ~/"] {
            part.find(start).into_iter().for_each(|at| add(&part[at + 1..], None));
        }
    }
    line.rsplit([' ', '\t', '(', '=', '\'', '"']).for_each(|word| add(word, None));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Host, Inputs, Mode};

    fn policy(allow_network: bool) -> Policy {
        let inputs = Inputs {
            mode: Mode::Auto,
            workspace: Some("/nowhere/ada/work".into()),
            cwd: "/nowhere/ada/work".into(),
            patchbay_home: "/nowhere/ada/.config/patchbay".into(),
            writable_paths: Vec::new(),
            blocked_paths: vec![".env*".into(), "~/.ssh".into()],
            allow_network,
            host: Host::new(|name| (name == "HOME").then(|| "/nowhere/ada".into())),
        };
        Policy::new("s", inputs).unwrap()
    }

    fn told(allow_network: bool, tail: &[&str]) -> Option<(String, &'static str)> {
        let tail: Vec<String> = tail.iter().map(|line| (*line).into()).collect();
        explain(&policy(allow_network), &tail).map(|denial| (denial.target, denial.setting))
    }

    #[test]
    fn the_path_is_found_in_the_words_of_shells_node_python_and_rust() {
        let key = "/nowhere/ada/.ssh/id";
        for line in [
            "cat: /nowhere/ada/.ssh/id: Permission denied",
            "sh: 1: cannot open /nowhere/ada/.ssh/id: Permission denied",
            "Error: EACCES: permission denied, open '/nowhere/ada/.ssh/id'",
            "PermissionError: [Errno 13] Permission denied: '/nowhere/ada/.ssh/id'",
            "thread 'main' panicked: \"/nowhere/ada/.ssh/id\": Permission denied (os error 13)",
            "open ~/.ssh/id: permission denied",
            "failed path=/nowhere/ada/work/../.ssh/id error=EACCES",
        ] {
            assert_eq!(told(true, &["first", line, "last"]), Some((key.into(), BLOCKED)), "{line}");
        }
    }

    #[test]
    fn a_host_is_found_only_when_the_network_is_denied() {
        for (line, host) in [
            ("Error: getaddrinfo EAI_AGAIN packages.example.test", "packages.example.test"),
            ("Error: connect ECONNREFUSED 10.0.0.1:443", "10.0.0.1:443"),
            ("curl: (6) Could not resolve host: example.test", "example.test"),
            ("error sending request for url (https://u:p@pypi.test/simple): dns error", "pypi.test"),
            ("OSError: [Errno 101] Network is unreachable", "the network"),
        ] {
            assert_eq!(told(false, &[line]), Some((host.into(), NETWORK)), "{line}");
            assert_eq!(told(true, &[line]), None, "{line}");
        }
    }

    #[test]
    fn what_the_sandbox_did_not_deny_is_not_blamed_on_it() {
        for line in [
            "listening",
            "Error: ENOENT: no such file or directory, open '/nowhere/ada/work/x.json'",
            "Permission denied (publickey).",
            "TypeError: cannot read /nowhere/ada/.ssh/id",
        ] {
            assert_eq!(told(true, &[line]), None, "{line}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_socket_of_another_program_is_told_from_one_that_is_not_there() {
        let root = tempfile::tempdir().unwrap();
        let socket = root.path().join("database.sock");
        let line = format!("Error: connect ECONNREFUSED {}", socket.display());
        assert_eq!(told(true, &[&line]), None);
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(told(true, &[&line]), Some((socket.display().to_string(), WRITABLE)));
    }

    #[test]
    fn doors_and_the_sandboxs_own_failure_lead_to_the_servers_own_switch() {
        let socket = ("/run/docker.sock".to_owned(), SANDBOX);
        assert_eq!(told(true, &["connect ENOENT /run/docker.sock"]), Some(socket));
        let own = "setting up uid map: Permission denied".to_owned();
        assert_eq!(told(true, &["bwrap: setting up uid map: Permission denied"]), Some((own, SANDBOX)));
    }

    #[test]
    fn hostile_output_is_looked_at_within_bounds() {
        let long = format!("{}'/nowhere/ada/.ssh/id' EACCES", "é".repeat(LINE));
        assert_eq!(told(true, &[&long]), None);
        let mut many = vec!["cat: /nowhere/ada/.ssh/id: Permission denied"];
        many.extend(std::iter::repeat_n("x", LINES));
        assert_eq!(told(true, &many), None);
    }
}
