//! Seatbelt, the sandbox of macOS: a plan as a profile for `sandbox-exec`. The text is tested on every Unix; not run
//! here on macOS. Unlike the Linux back ends it holds blocked names that appear later, too.

use std::{fmt::Write, path::Path};

use super::{closed::Kind, plan::Plan};

/// Where the system keeps the program.
#[cfg(target_os = "macos")]
const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// What no server reaches, whatever the plan: other processes, the keychain, launch services and session services.
const ALWAYS: &str = r#"(version 1)
(allow default)
(deny process-info* (target others))
(deny mach-priv-task-port)
(deny signal (target others))
(allow signal (target same-sandbox))
(deny mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.securityd.xpc")
  (global-name "com.apple.secd")
  (global-name "com.apple.coreservices.appleevents")
  (global-name "com.apple.coreservices.launchservicesd")
  (global-name "com.apple.lsd.open"))
(deny appleevent-send)
(deny job-creation)
(deny network-outbound (remote unix-socket))
(deny file-write*)
(allow file-write* file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))
"#;

/// The plan as a profile; the last rule that fits decides.
pub(crate) fn profile(plan: &Plan) -> String {
    let mut out = String::from(ALWAYS);
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = out.write_fmt(text);
        out.push('\n');
    };
    if !plan.network {
        line(format_args!("(deny network*)"));
    }
    for path in &plan.writable {
        line(format_args!("(allow file-write* (subpath {}))", quoted(path)));
    }
    // Sockets of the project's own folders may be used.
    for path in &plan.own {
        line(format_args!("(allow network-outbound (remote unix-socket (subpath {})))", quoted(path)));
    }
    for closed in &plan.closed {
        let path = quoted(&closed.path);
        match closed.kind {
            Kind::Folder | Kind::Sockets => {
                line(format_args!("(deny file-read* file-write* (subpath {path}))"));
            }
            Kind::File => line(format_args!("(deny file-read* file-write* (literal {path}))")),
            Kind::Socket => line(format_args!(
                "(deny file-read* file-write* (literal {path}))\n(deny network-outbound (remote unix-socket (path-literal {path})))"
            )),
        }
    }
    for (scope, glob) in &plan.names {
        line(format_args!("(deny file-read* file-write* (regex #\"{}\"))", regex(scope, glob)));
    }
    out
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

/// A regular expression for a name at any depth of a folder, and all below it.
fn regex(scope: &Path, glob: &str) -> String {
    let mut out = String::from("^");
    scope.to_string_lossy().trim_end_matches('/').chars().for_each(|c| literal(&mut out, c));
    out.push_str("/(.*/)?");
    let (mut in_class, mut in_choice) = (false, false);
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            _ if in_class => out.push(c),
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => {
                in_class = true;
                out.push('[');
                if chars.next_if(|c| matches!(c, '!' | '^')).is_some() {
                    out.push('^');
                }
            }
            '{' => {
                in_choice = true;
                out.push('(');
            }
            '}' if in_choice => {
                in_choice = false;
                out.push(')');
            }
            ',' if in_choice => out.push('|'),
            '\\' => chars.next().into_iter().for_each(|c| literal(&mut out, c)),
            other => literal(&mut out, other),
        }
    }
    out.push_str("(/.*)?$");
    out
}

/// One character that means itself. A quote cannot stand in this kind of string.
fn literal(out: &mut String, c: char) {
    match c {
        '"' => out.push('.'),
        '.' | '^' | '$' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '\\' => {
            out.push('\\');
            out.push(c);
        }
        _ => out.push(c),
    }
}

/// Puts a command into Seatbelt.
#[cfg(target_os = "macos")]
pub(crate) fn confine(plan: &Plan, command: super::Resolved) -> super::Confined {
    let mut args: Vec<std::ffi::OsString> = vec!["-p".into(), profile(plan).into()];
    args.push(command.program.clone().into_os_string());
    args.extend(command.args.iter().cloned());
    let command = super::Resolved { program: PROGRAM.into(), args, ..command };
    let mut confined = super::Confined::bare(command, "Seatbelt");
    confined.state.active = true;
    confined.state.gaps.clone_from(&plan.gaps);
    confined
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::sandbox::closed::Closed;

    fn plan(network: bool) -> Plan {
        let folder = |path: &str, kind| Closed { path: path.into(), kind };
        Plan {
            writable: vec!["/Users/ada/work".into(), "/private/tmp".into()],
            own: vec!["/Users/ada/work".into()],
            hidden: Vec::new(),
            shown: Vec::new(),
            closed: vec![
                folder("/Users/ada/.netrc", Kind::File),
                folder("/Users/ada/.ssh", Kind::Folder),
                folder("/private/tmp/a \"b\".sock", Kind::Socket),
            ],
            names: vec![("/Users/ada/work".into(), ".env*".into())],
            network,
            cwd: PathBuf::from("/Users/ada/work"),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn a_profile_denies_after_it_allows() {
        let text = profile(&plan(true));
        let rest = text.strip_prefix(ALWAYS).unwrap();
        let expected = r##"(allow file-write* (subpath "/Users/ada/work"))
(allow file-write* (subpath "/private/tmp"))
(allow network-outbound (remote unix-socket (subpath "/Users/ada/work")))
(deny file-read* file-write* (literal "/Users/ada/.netrc"))
(deny file-read* file-write* (subpath "/Users/ada/.ssh"))
(deny file-read* file-write* (literal "/private/tmp/a \"b\".sock"))
(deny network-outbound (remote unix-socket (path-literal "/private/tmp/a \"b\".sock")))
(deny file-read* file-write* (regex #"^/Users/ada/work/(.*/)?\.env[^/]*(/.*)?$"))
"##;
        assert_eq!(rest, expected);
    }

    #[test]
    fn a_profile_without_network_denies_all_of_it() {
        assert!(profile(&plan(false)).contains("\n(deny network*)\n"));
        assert!(!profile(&plan(true)).contains("\n(deny network*)\n"));
    }

    #[test]
    fn a_glob_becomes_a_regular_expression() {
        let of = |glob: &str| regex(Path::new("/a.b"), glob);
        assert_eq!(of("*.{pem,key}"), r"^/a\.b/(.*/)?[^/]*\.(pem|key)(/.*)?$");
        assert_eq!(of("id_[!a-z]?"), r"^/a\.b/(.*/)?id_[^a-z][^/](/.*)?$");
        assert_eq!(of(r"a\*+"), r"^/a\.b/(.*/)?a\*\+(/.*)?$");
        assert_eq!(regex(Path::new("/"), "x"), "^/(.*/)?x(/.*)?$");
    }
}
