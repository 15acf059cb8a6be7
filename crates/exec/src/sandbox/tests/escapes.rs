//! Ways out, each tried from inside.

use std::{
    fs::{self, File},
    os::{
        fd::{AsFd, AsRawFd},
        unix::{
            fs::{PermissionsExt, symlink},
            net::UnixDatagram,
        },
    },
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::json;

use super::house::{BOTH, House, PYTHON, start};
use crate::sandbox::{Backend, Mode, Probe, Resolved, confine, host_pid, poll, syscall};

/// Far beyond what anything here takes.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn links_into_blocked_places_lead_nowhere() {
    let house = House::new();
    let (home, work) = (house.home.display().to_string(), house.workspace.display().to_string());
    let key = format!("{home}/.ssh/id_ed25519");
    symlink(&key, house.workspace.join("innocent.txt")).unwrap();
    symlink(&house.home, house.workspace.join("up")).unwrap();
    fs::hard_link(&key, house.workspace.join("same.txt")).unwrap();
    fs::hard_link(house.workspace.join(".env"), house.workspace.join("sub/env.txt")).unwrap();
    for backend in BOTH {
        let sub = format!("{work}/free/{backend}");
        house.expect(
            backend,
            &[
                (json!(["read", format!("{work}/innocent.txt")]), "EACCES"),
                (json!(["read", format!("{work}/up/.ssh/id_ed25519")]), "EACCES"),
                (json!(["read", format!("{work}/same.txt")]), "EACCES"),
                (json!(["read", format!("{work}/sub/env.txt")]), "EACCES"),
                (json!(["make", sub]), "ok"),
                (json!(["through_link", key, format!("{sub}/link")]), "EACCES"),
                (json!(["through_link", format!("{work}/.env"), format!("{sub}/env")]), "EACCES"),
                (json!(["hard_link", key, format!("{sub}/hard")]), "refused"),
                (json!(["hard_link", format!("{work}/.env"), format!("{sub}/hard-env")]), "refused"),
                (json!(["hard_link", format!("{home}/.netrc"), format!("{sub}/hard-netrc")]), "refused"),
                (json!(["read", format!("/proc/self/root{key}")]), "EACCES"),
                (json!(["read", format!("/proc/self/cwd/../.ssh/id_ed25519")]), "EACCES"),
                (json!(["read", format!("/proc/thread-self/root{work}/.env")]), "EACCES"),
            ],
        );
    }
}

#[test]
fn a_link_planted_by_a_server_widens_nothing_at_the_next_start() {
    let mut house = House::new();
    let work = house.workspace.display().to_string();
    // A writable path below the workspace, turned into a link to the outside.
    symlink(&house.outside, house.workspace.join("out")).unwrap();
    house.inputs.writable_paths = vec!["out".into()];
    // Blocked names that lead to the system and to the workspace itself.
    symlink("/usr/bin", house.workspace.join("sub/.env.bin")).unwrap();
    symlink(&house.workspace, house.workspace.join("sub/.env.loop")).unwrap();
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["write", format!("{work}/out/there.txt")]), "refused"),
                (json!(["write", format!("{}/there.txt", house.outside.display())]), "refused"),
                (json!(["child", "/usr/bin/printf", "x"]), "ok x"),
                (json!(["write", format!("{work}/main.py")]), "ok"),
            ],
        );
    }
}

#[test]
fn other_processes_cannot_be_looked_into_traced_or_signalled() {
    let house = House::new();
    let key = house.home.join(".ssh/id_ed25519").display().to_string();
    // The owner, as the server would know it.
    let owner = std::process::id();
    let open = File::open(house.home.join(".netrc")).unwrap();
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["roots", key]), "refused"),
                (json!(["read", format!("/proc/{owner}/environ")]), "refused"),
                (json!(["read", format!("/proc/{owner}/root{key}")]), "refused"),
                (json!(["read", format!("/proc/{owner}/fd/{}", open.as_raw_fd())]), "refused"),
                (json!(["listing", format!("/proc/{owner}/cwd")]), "refused"),
                (json!(["read", format!("/proc/{owner}/maps")]), "refused"),
                (json!(["write", format!("/proc/{owner}/mem")]), "refused"),
                (json!(["trace", owner]), "refused"),
                (json!(["send_signal", owner]), "refused"),
            ],
        );
    }
    // In bubblewrap this would be its own init, outside it is the host's.
    house.expect(
        Backend::Landlock,
        &[(json!(["read", "/proc/1/environ"]), "refused"), (json!(["trace", 1]), "refused")],
    );
}

#[test]
fn doors_of_the_session_are_shut() {
    let mut house = House::new();
    let name = format!("patchbay-door-{}", std::process::id());
    house.listen_abstract(&name);
    let sockets =
        ["bus", "ssh-agent", "keyring/control", "docker.sock"].map(|socket| house.session.join(socket));
    fs::create_dir_all(house.session.join("keyring")).unwrap();
    sockets.iter().for_each(|socket| house.listen(socket));
    let datagrams = house.session.join("notify");
    let _receiver = UnixDatagram::bind(&datagrams).unwrap();
    let control = house.patchbay.join("control.sock");
    house.listen(&control);
    // An agent that another session started, and a container engine's socket in the home.
    let strays = [house.temp.join("agent.1"), house.home.join("engine.sock")];
    strays.iter().for_each(|socket| house.listen(socket));
    for backend in BOTH {
        let mut cases: Vec<_> = sockets
            .iter()
            .chain(&strays)
            .chain([&control])
            .map(|socket| (json!(["unix", socket]), "refused"))
            .collect();
        cases.push((json!(["unix_abstract", name]), "refused"));
        cases.push((json!(["unix", "/run/docker.sock"]), "refused"));
        cases.push((json!(["unix", "/var/run/docker.sock"]), "refused"));
        cases.push((json!(["unix_by_pair", datagrams]), "refused"));
        cases.push((json!(["listing", house.session]), "refused"));
        for variable in ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "XDG_RUNTIME_DIR"] {
            cases.push((json!(["environment", variable]), "ok unset"));
        }
        house.expect(backend, &cases);
    }
}

#[test]
fn a_door_in_another_users_private_folder_does_not_keep_a_server_from_starting() {
    let mut house = House::new();
    let private = house.root.path().join("private");
    fs::create_dir(&private).unwrap();
    house.listen(&private.join("agent"));
    // Root gives the folder away; another user can only shut itself out.
    if std::os::unix::fs::chown(&private, Some(65534), Some(65534)).is_ok() {
        fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    } else {
        fs::set_permissions(&private, fs::Permissions::from_mode(0o000)).unwrap();
    }
    for backend in BOTH {
        house.expect(backend, &[(json!(["unix", private.join("agent")]), "refused")]);
    }
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_socket_of_the_projects_own_stays_usable_in_bubblewrap() {
    let mut house = House::new();
    let socket = house.workspace.join("database.sock");
    house.listen(&socket);
    house.expect(Backend::Bubblewrap, &[(json!(["unix", socket]), "ok")]);
}

#[test]
fn no_capability_is_left_to_undo_the_sandbox() {
    let house = House::new();
    let key = house.home.join(".ssh/id_ed25519").display().to_string();
    let ssh = house.home.join(".ssh").display().to_string();
    let none = "ok 0000000000000000";
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["status", "CapEff"]), none),
                (json!(["status", "CapPrm"]), none),
                (json!(["status", "CapInh"]), none),
                (json!(["status", "CapAmb"]), none),
                (json!(["status", "NoNewPrivs"]), "ok 1"),
                (json!(["status", "Seccomp"]), "ok 2"),
                (json!(["new_user_namespace"]), "refused"),
                (json!(["child", "/usr/bin/unshare", "-Urm", "/bin/cat", key]), "refused"),
                (json!(["child", "/bin/umount", ssh]), "refused"),
                (json!(["syscall", libc::SYS_mount]), "EPERM"),
                (json!(["syscall", libc::SYS_umount2]), "EPERM"),
                (json!(["syscall", libc::SYS_keyctl]), "EPERM"),
                (json!(["syscall", libc::SYS_add_key]), "EPERM"),
                (json!(["syscall", libc::SYS_setns]), "EPERM"),
                (json!(["syscall", libc::SYS_bpf]), "EPERM"),
                (json!(["syscall", libc::SYS_io_uring_setup]), "ENOSYS"),
                // The same call by its x32 number.
                (json!(["syscall", libc::SYS_socket | 0x4000_0000]), "EPERM"),
            ],
        );
    }
}

#[test]
fn nothing_is_inherited_but_the_three_streams() {
    let house = House::new();
    // The back ends' own descriptors must not stay either.
    for backend in BOTH {
        house.expect(backend, &[(json!(["descriptors"]), "ok ")]);
    }
}

#[test]
fn the_pid_told_is_the_hosts_pid_of_the_server_itself() {
    let house = House::new();
    let confined = house.confine(Backend::Bubblewrap, "/bin/sleep", vec!["1000".into()]).unwrap();
    assert_eq!(confined.launchers, 2);
    let (mut child, info) = start(confined, Stdio::null());
    let pid = host_pid(info.unwrap(), LIMIT).unwrap();
    let end = syscall::process_end(pid).unwrap();
    let parents = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse::<u32>().unwrap()
    };
    let init = parents(pid);
    assert_eq!(parents(init), child.id());
    // Once the init waits for the server, it has asked to end with bubblewrap.
    let deadline = poll::Deadline::after(LIMIT);
    while fs::read_to_string(format!("/proc/{init}/wchan")).unwrap() != "do_wait" {
        assert!(!deadline.left().is_zero(), "the init does not wait");
        std::thread::yield_now();
    }
    // The death of bubblewrap ends the server.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(poll::readable(end.as_fd(), LIMIT).unwrap());
}

#[test]
fn a_launcher_that_fails_tells_no_pid() {
    let house = House::new();
    let confined = house.confine(Backend::Bubblewrap, "/nowhere/program", Vec::new()).unwrap();
    let (mut child, info) = start(confined, Stdio::null());
    assert!(!child.wait().unwrap().success());
    assert!(host_pid(info.unwrap(), LIMIT).is_err());
}

#[test]
fn everything_holds_for_an_unprivileged_user_too() {
    if fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).unwrap() != 0 {
        // Then every test here runs as one already.
        return;
    }
    let folder = tempfile::Builder::new().prefix("patchbay-user-").tempdir().unwrap();
    let program = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    // The other user may not reach the checkout.
    let uv = super::launchers::uv();
    for name in ["uv", "uvx"] {
        fs::copy(uv.with_file_name(name), folder.path().join(name)).unwrap();
    }
    std::os::unix::fs::chown(folder.path(), Some(65534), Some(65534)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("/usr/bin/setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["sandbox::tests::", "--test-threads=2"])
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .env("PATCHBAY_TEST_UV", folder.path().join("uv"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("test sandbox::tests::rules::"), "{text}");
}

/// Set where the test below runs itself again with user namespaces closed.
const CLOSED: &str = "PATCHBAY_TEST_CLOSED_NAMESPACES";

#[test]
fn where_user_namespaces_are_closed_landlock_takes_over_and_says_why() {
    let house = House::new();
    let probe = Probe::default();
    let label = probe.summary().label;
    if std::env::var_os(CLOSED).is_some() {
        assert!(label.starts_with("Landlock (bubblewrap: "), "{label}");
        let (key, args) = (house.home.join(".ssh/id_ed25519"), Vec::new());
        let command = house.confine(Backend::Landlock, "/bin/cat", args).unwrap().command;
        let command = Resolved { args: vec![key.into()], ..command };
        let output = super::house::run(confine(&probe, Some(&house.policy()), command).unwrap());
        assert!(!output.status.success() && output.stderr.contains("Permission denied"), "{output:?}");
        return;
    }
    assert_eq!(label, "bubblewrap");
    let name = "where_user_namespaces_are_closed_landlock_takes_over_and_says_why";
    let output = Command::new("/usr/bin/unshare")
        .args(["-Ur", "/bin/sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(CLOSED, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_door_folder_of_sockets_leaves_its_temp_folder_usable_in_landlock() {
    let mut house = House::new();
    let folder = house.temp.join("displays");
    fs::create_dir(&folder).unwrap();
    house.listen(&folder.join("X0"));
    house.inputs.host.doors.push(folder.clone());
    for backend in BOTH {
        house.expect(
            backend,
            &[
                (json!(["write", house.temp.join(format!("new-{backend}"))]), "ok"),
                (json!(["unix", folder.join("X0")]), "refused"),
            ],
        );
    }
}

#[test]
fn a_server_without_a_sandbox_says_so() {
    let mut house = House::new();
    let command = house.confine(Backend::Landlock, PYTHON, Vec::new()).unwrap().command;
    let bare = confine(house.probe(Backend::Landlock), None, command).unwrap();
    assert!(!bare.state.active && bare.state.label.contains("`sandbox = false`"), "{:?}", bare.state);
    house.inputs.mode = Mode::Off;
    let off = house.confine(Backend::Landlock, PYTHON, Vec::new()).unwrap();
    assert!(!off.state.active && off.state.label.contains("[sandbox] mode"), "{:?}", off.state);
}

#[test]
fn without_a_back_end_auto_does_not_start_and_says_what_can_be_done() {
    let house = House::new();
    let command = house.confine(Backend::Landlock, PYTHON, Vec::new()).unwrap().command;
    let none = Probe::of(vec![Backend::Seatbelt]);
    let error = confine(&none, Some(&house.policy()), command).err().unwrap();
    assert_eq!(error.to_string(), "server `intruder`: no sandbox works here (Seatbelt: it belongs to macOS)");
    let hint = error.hint().unwrap();
    assert!(hint.contains("Install bubblewrap") && hint.contains("`sandbox = false`"), "{hint}");
}
