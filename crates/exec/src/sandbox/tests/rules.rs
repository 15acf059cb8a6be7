//! What the policy gives and denies.

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::unix::fs::symlink,
};

use serde_json::{Value, json};

use super::house::{BOTH, House, PYTHON};
use crate::{
    ExecError,
    sandbox::{Backend, Mode, Policy, explain},
};

#[test]
fn blocked_places_can_be_neither_read_nor_written_nor_listed() {
    let house = House::new();
    let (home, work) = (house.home.display(), house.workspace.display());
    for backend in BOTH {
        let refused = |action: &str, path: String| (json!([action, path]), "EACCES");
        house.expect(
            backend,
            &[
                refused("read", format!("{home}/.ssh/id_ed25519")),
                refused("write", format!("{home}/.ssh/id_ed25519")),
                refused("write", format!("{home}/.ssh/authorized_keys")),
                refused("listing", format!("{home}/.ssh")),
                refused("read", format!("{home}/.netrc")),
                refused("read", format!("{work}/.env")),
                refused("write", format!("{work}/.env")),
                refused("read", format!("{work}/sub/server.key")),
                refused("read", format!("{}/token", house.patchbay.display())),
                refused("listing", format!("{}", house.patchbay.display())),
                (json!(["chmod_and_read", format!("{home}/.ssh/id_ed25519")]), "refused"),
                (json!(["chmod_and_read", format!("{home}/.ssh")]), "refused"),
                (json!(["chmod_and_read", format!("{work}/.env")]), "refused"),
                (json!(["remove", format!("{work}/.env")]), "refused"),
                (json!(["rename", format!("{work}/.env"), format!("{work}/sub/env")]), "refused"),
                (json!(["rename", format!("{work}/.env"), format!("{work}/env")]), "refused"),
            ],
        );
        assert_eq!(fs::read_to_string(house.workspace.join(".env")).unwrap(), "SECRET=1");
    }
}

#[test]
fn the_workspace_temp_folders_caches_and_writable_paths_are_written() {
    let mut house = House::new();
    let extra = house.root.path().join("extra");
    house.inputs.writable_paths = vec![extra.to_str().unwrap().into(), "~/.tool/cache".into()];
    let (home, work) = (&house.home, &house.workspace);
    for backend in BOTH {
        let paths = [
            work.join("main.py"),
            work.join(format!("free/{backend}.txt")),
            house.temp.join("x"),
            home.join(".cache/launch"),
            home.join(".npm/x"),
            home.join(".local/share/uv/x"),
            extra.join("x"),
            home.join(".tool/cache/x"),
        ];
        house.expect(backend, &paths.map(|path| (json!(["write", path]), "ok")));
    }
}

#[test]
fn everything_else_is_read_only() {
    let house = House::new();
    let there = house.outside.join("there.txt");
    for (backend, error) in [(Backend::Bubblewrap, "EROFS"), (Backend::Landlock, "EACCES")] {
        let unwritable = [
            house.home.join("notes.txt"),
            house.home.join(".bashrc"),
            there.clone(),
            house.outside.join("new.txt"),
        ];
        house.expect(backend, &unwritable.map(|path| (json!(["write", path]), error)));
        house.expect(
            backend,
            &[
                (json!(["read", there]), "ok there"),
                (json!(["read", house.home.join("notes.txt")]), "ok notes"),
                (json!(["make", house.outside.join("folder")]), "refused"),
                (json!(["remove", there]), "refused"),
                (json!(["rename", there, house.workspace.join("free/x")]), "refused"),
                (json!(["write", "/etc/patchbay-was-here"]), "refused"),
                (json!(["open_to_write", "/proc/sys/kernel/core_pattern"]), "refused"),
                (json!(["open_to_write", "/proc/sysrq-trigger"]), "refused"),
                (json!(["open_to_write", "/sys/kernel/mm/transparent_hugepage/enabled"]), "refused"),
            ],
        );
    }
}

#[test]
fn a_disk_that_is_all_writable_keeps_what_is_blocked_and_the_systems_switches() {
    let mut house = House::new();
    house.inputs.writable_paths = vec!["/".into()];
    let (home, work) = (house.home.display().to_string(), house.workspace.display().to_string());
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["write", format!("{}/there.txt", house.outside.display())]), "ok"),
                (json!(["read", format!("{home}/.ssh/id_ed25519")]), "EACCES"),
                (json!(["write", format!("{work}/.env")]), "EACCES"),
                (json!(["open_to_write", "/proc/sys/kernel/core_pattern"]), "refused"),
                (json!(["open_to_write", "/sys/kernel/mm/transparent_hugepage/enabled"]), "refused"),
                (json!(["unix", "/run/docker.sock"]), "refused"),
                (json!(["environment", "SSH_AUTH_SOCK"]), "ok unset"),
            ],
        );
    }
}

#[test]
fn without_network_nothing_outside_is_reached() {
    let mut house = House::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp, udp) = (listener.local_addr().unwrap().port(), datagrams.local_addr().unwrap().port());
    let cases = [(json!(["tcp", tcp]), "ok"), (json!(["udp", udp]), "ok"), (json!(["own_loopback"]), "ok")];
    for backend in BOTH {
        house.expect(backend, &cases);
    }
    for _ in BOTH {
        assert_eq!(datagrams.recv(&mut [0; 8]).unwrap(), 3);
    }
    house.inputs.allow_network = false;
    let (refused, sent, loopback) = ("refused", "ok", "ok");
    house.expect(
        Backend::Bubblewrap,
        &[
            (json!(["tcp", tcp]), "ECONNREFUSED"),
            // Into the namespace's own loopback, where nobody listens.
            (json!(["udp", udp]), sent),
            (json!(["own_loopback"]), loopback),
            (json!(["family", libc::AF_VSOCK]), refused),
        ],
    );
    house.expect(
        Backend::Landlock,
        &[
            (json!(["tcp", tcp]), "EACCES"),
            (json!(["udp", udp]), "EACCES"),
            (json!(["family", libc::AF_INET6]), "EACCES"),
            (json!(["family", libc::AF_VSOCK]), refused),
            (json!(["pair"]), "ok x"),
        ],
    );
    datagrams.set_nonblocking(true).unwrap();
    assert!(datagrams.recv(&mut [0; 8]).is_err(), "a datagram got out");
}

#[test]
fn a_name_blocked_by_the_settings_is_held_wherever_it_stands() {
    let mut house = House::new();
    let deep = house.workspace.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(house.workspace.join("private/inner")).unwrap();
    fs::create_dir_all(house.workspace.join("node_modules/certs")).unwrap();
    for (path, text) in [
        ("a/b/c/.env.production", "1"),
        ("a/b/c/tls.pem", "2"),
        ("private/inner/x", "3"),
        ("conf/one.secret.yaml", "4"),
        ("conf/two.yaml", "5"),
        ("node_modules/certs/cacert.pem", "6"),
    ] {
        fs::create_dir_all(house.workspace.join(path).parent().unwrap()).unwrap();
        fs::write(house.workspace.join(path), text).unwrap();
    }
    fs::write(house.home.join(".envrc"), "7").unwrap();
    house.inputs.blocked_paths.extend(["private".into(), "conf/*.secret.yaml".into()]);
    let work = house.workspace.display().to_string();
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["read", format!("{work}/a/b/c/.env.production")]), "EACCES"),
                (json!(["read", format!("{work}/a/b/c/tls.pem")]), "EACCES"),
                (json!(["read", format!("{work}/private/inner/x")]), "EACCES"),
                (json!(["listing", format!("{work}/private")]), "EACCES"),
                (json!(["read", format!("{work}/conf/one.secret.yaml")]), "EACCES"),
                (json!(["read", format!("{work}/conf/two.yaml")]), "ok 5"),
                (json!(["read", format!("{work}/node_modules/certs/cacert.pem")]), "ok 6"),
                (json!(["read", format!("{}/.envrc", house.home.display())]), "EACCES"),
            ],
        );
    }
}

#[test]
fn a_blocked_name_that_appears_later_is_told_once_and_held_from_the_next_start() {
    let house = House::new();
    let late = house.workspace.join("sub/.env.local");
    for backend in BOTH {
        let mut held = house.confine(backend, "/bin/true", Vec::new()).unwrap().held.unwrap();
        assert_eq!(held.appeared(), Vec::<std::path::PathBuf>::new());
        fs::write(&late, "LATE=1").unwrap();
        // As an editor saves: another file in its place.
        fs::write(house.workspace.join("new"), "SECRET=2").unwrap();
        fs::rename(house.workspace.join("new"), house.workspace.join(".env")).unwrap();
        let mut appeared = held.appeared();
        appeared.sort();
        assert_eq!(appeared, [house.workspace.join(".env"), late.clone()]);
        assert_eq!(held.appeared(), Vec::<std::path::PathBuf>::new());
        house.expect(
            backend,
            &[(json!(["read", late]), "EACCES"), (json!(["read", house.workspace.join(".env")]), "EACCES")],
        );
        fs::remove_file(&late).unwrap();
    }
}

#[test]
fn what_landlock_cannot_hold_is_named_and_required_then_refuses() {
    let mut house = House::new();
    let bubblewrap = house.confine(Backend::Bubblewrap, "/bin/true", Vec::new()).unwrap().state;
    assert!(bubblewrap.label.starts_with("bubblewrap "), "{bubblewrap:?}");
    assert_eq!(bubblewrap.gaps, Vec::<String>::new());
    let landlock = house.confine(Backend::Landlock, "/bin/true", Vec::new()).unwrap().state;
    assert!(landlock.active && landlock.label.starts_with("Landlock (version "), "{landlock:?}");
    let env = house.workspace.join(".env").display().to_string();
    assert!(landlock.gaps[0].contains(&env), "{landlock:?}");
    house.inputs.mode = Mode::Required;
    assert!(house.confine(Backend::Bubblewrap, "/bin/true", Vec::new()).is_ok());
    let Err(ExecError::Sandbox { reason, hint, .. }) =
        house.confine(Backend::Landlock, "/bin/true", Vec::new())
    else {
        panic!("Landlock was taken for enough");
    };
    assert!(reason.contains(&env), "{reason}");
    assert!(hint.unwrap().contains("bubblewrap"));
}

#[test]
fn a_workspace_that_holds_the_home_says_that_its_depths_are_not_looked_through() {
    let mut house = House::new();
    (house.inputs.workspace, house.inputs.cwd) = (Some(house.home.clone()), house.home.clone());
    fs::write(house.home.join(".env"), "SECRET=1").unwrap();
    for backend in BOTH {
        let state = house.confine(backend, "/bin/true", Vec::new()).unwrap().state;
        assert!(state.gaps[0].starts_with("blocked names below"), "{state:?}");
        house.expect(backend, &[(json!(["read", house.home.join(".env")]), "EACCES")]);
    }
}

#[test]
fn a_workspace_that_is_itself_blocked_is_refused() {
    let mut house = House::new();
    let link = house.home.join("link");
    symlink(&house.patchbay, &link).unwrap();
    house.inputs.workspace = Some(house.patchbay.clone());
    assert!(matches!(Policy::new("s", house.inputs.clone()), Err(ExecError::Sandbox { .. })));
    (house.inputs.workspace, house.inputs.cwd) = (Some(link.clone()), link);
    for backend in BOTH {
        assert!(matches!(house.confine(backend, "/bin/true", Vec::new()), Err(ExecError::Sandbox { .. })));
    }
}

/// A command and what it is about.
type Case = (&'static str, Vec<String>);

fn node(code: &str) -> Case {
    ("/usr/bin/node", vec!["-e".into(), code.into()])
}

fn shell(code: &str) -> Case {
    ("/bin/sh", vec!["-c".into(), code.into()])
}

/// The intruder as a program that fails with a traceback.
fn python(house: &House, step: &Value) -> Case {
    let script = house.root.path().join("intruder.py");
    (PYTHON, vec![script.to_str().unwrap().into(), "traceback".into(), json!([step]).to_string()])
}

/// Lets a command fail in each back end and explains what it wrote.
fn explained(
    house: &House,
    (program, args): &Case,
    backends: &[Backend],
) -> Vec<(String, &'static str, String)> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let one = |backend: &Backend| {
        let output = house.run(*backend, program, &args);
        assert!(!output.status.success(), "{backend}: {args:?} worked");
        let denial = explain(&house.policy(), &output.stderr_lines());
        let denial = denial.unwrap_or_else(|| panic!("{backend}: not explained: {}", output.stderr));
        (denial.target, denial.setting, denial.hint)
    };
    backends.iter().map(one).collect()
}

#[test]
fn what_a_server_writes_about_a_path_leads_to_the_path_and_its_setting() {
    let house = House::new();
    let outside = house.outside.join("new.txt").display().to_string();
    let env = house.workspace.join(".env").display().to_string();
    let cases = [
        (python(&house, &json!(["write", outside])), &outside, "[sandbox] writable_paths"),
        (
            node(&format!("require('fs').writeFileSync({outside:?}, '')")),
            &outside,
            "[sandbox] writable_paths",
        ),
        (shell(&format!("echo x > '{outside}'")), &outside, "[sandbox] writable_paths"),
        (python(&house, &json!(["read", env])), &env, "[sandbox] blocked_paths"),
        (node("require('fs').readFileSync('.env')"), &env, "[sandbox] blocked_paths"),
        (shell("cat .env"), &env, "[sandbox] blocked_paths"),
    ];
    for (case, target, setting) in &cases {
        for (found, by, _) in explained(&house, case, &BOTH) {
            assert_eq!((&found, by), (*target, *setting), "{case:?}");
        }
    }
}

#[test]
fn what_a_server_writes_about_the_network_leads_to_the_host_and_its_setting() {
    let mut house = House::new();
    house.inputs.allow_network = false;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let cases = [
        (node(&format!("require('net').connect({port}, '127.0.0.1')")), "127.0.0.1:"),
        (node("fetch('http://example.test/')"), "example.test"),
        (python(&house, &json!(["tcp", port])), "the network"),
    ];
    for (case, target) in &cases {
        for (found, by, _) in explained(&house, case, &BOTH) {
            assert!(found.starts_with(target), "{found} of {case:?}");
            assert_eq!(by, "[sandbox] allow_network");
        }
    }
}

#[test]
fn what_landlock_denies_beside_a_blocked_name_is_explained_by_it() {
    let house = House::new();
    let fresh = house.workspace.join("fresh.txt").display().to_string();
    let told = explained(&house, &shell(&format!("echo x > {fresh}")), &[Backend::Landlock]);
    let (target, setting, hint) = &told[0];
    assert_eq!((target, *setting), (&fresh, "[sandbox] blocked_paths"));
    assert!(hint.contains(house.workspace.join(".env").to_str().unwrap()), "{hint}");
}
