//! Sandboxed servers as their owner holds them. What the sandbox itself denies is proven beside its source.

use std::{fs, os::fd::AsRawFd, path::PathBuf};

use patchbay_exec::{
    Launch, StopSteps,
    sandbox::{Host, Inputs, Mode, Policy},
};

use crate::support::{Lab, PATIENCE, Pid, QUICK, stubborn, until};

/// A script in a sandbox whose workspace is the lab.
fn sandboxed(lab: &Lab, script: &str) -> Launch {
    let mut host = Host::new(|name| (name == "HOME").then(|| "/nonexistent".into()));
    host.temp.clear();
    host.caches.clear();
    let inputs = Inputs {
        mode: Mode::Auto,
        workspace: Some(lab.path().into()),
        cwd: lab.path().into(),
        patchbay_home: "/nonexistent/patchbay".into(),
        writable_paths: Vec::new(),
        blocked_paths: vec![".env*".into()],
        allow_network: true,
        host,
    };
    let policy = Policy::new("test", inputs).unwrap();
    Launch { sandbox: Some(policy), ..lab.script(script) }
}

/// The processes that work in a folder, as the host sees them.
fn working_in(lab: &Lab) -> Vec<Pid> {
    let here = lab.path().canonicalize().unwrap();
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let works_here = |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == here);
    pids.filter(works_here).filter_map(Pid::now).filter(|pid| pid.alive()).collect()
}

#[tokio::test]
async fn a_sandboxed_server_is_known_by_the_hosts_pid_and_gets_its_time_to_end() {
    let lab = Lab::new();
    let script = "trap 'echo bye > bye; exit 7' TERM; echo up > up; sleep 1000 & wait";
    let process = lab.exec.spawn(sandboxed(&lab, script)).await.unwrap();
    assert!(process.sandbox().active, "{:?}", process.sandbox());
    lab.file("up").await;
    let command = fs::read_to_string(format!("/proc/{}/cmdline", process.pid())).unwrap();
    assert!(command.starts_with("/bin/sh\0-c\0trap"), "{command}");
    let exit = process.stop(StopSteps { term: PATIENCE, ..QUICK }).await;
    assert_eq!((exit.code, exit.signal), (Some(7), None));
    assert_eq!(lab.file("bye").await, "bye\n");
    until("the end of all", || working_in(&lab).is_empty().then_some(())).await;
}

#[tokio::test]
async fn nothing_in_a_sandbox_outlives_its_server() {
    let lab = Lab::new();
    let (script, names) = stubborn("tree");
    let process = lab.exec.spawn(sandboxed(&lab, &script)).await.unwrap();
    for name in &names {
        lab.file(name).await;
    }
    assert!(working_in(&lab).len() >= names.len());
    process.stop(QUICK).await;
    assert_eq!(working_in(&lab), []);
}

#[tokio::test]
async fn a_sandboxed_server_that_ends_at_once_tells_its_own_exit() {
    let lab = Lab::new();
    for _ in 0..10 {
        let process = lab.exec.spawn(sandboxed(&lab, "exit 3")).await.unwrap();
        assert_eq!(process.exited().await.code, Some(3));
    }
}

#[tokio::test]
async fn a_sandboxed_server_inherits_no_descriptor() {
    let lab = Lab::new();
    let secret = fs::File::open(lab.write("secret", "x")).unwrap();
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: changes one flag of one descriptor.
    unsafe {
        libc::fcntl(secret.as_raw_fd(), libc::F_SETFD, 0)
    };
    let script = "readlink /proc/self/fd/* > fds; echo done > ready";
    let _process = lab.exec.spawn(sandboxed(&lab, script)).await.unwrap();
    lab.file("ready").await;
    let told = fs::read_to_string(lab.path().join("fds")).unwrap();
    // Its three streams, of which stdout is the file.
    assert!(!told.contains("secret") && !told.contains("memfd"), "{told}");
    assert_eq!(told.lines().count(), 3, "{told}");
}

#[tokio::test]
async fn a_blocked_name_that_appears_is_told() {
    let lab = Lab::new();
    let process = lab.exec.spawn(sandboxed(&lab, "read line")).await.unwrap();
    assert_eq!(process.newly_blocked().await, Vec::<PathBuf>::new());
    let late = lab.write(".env.local", "SECRET=1");
    assert_eq!(process.newly_blocked().await, [late]);
    assert_eq!(process.newly_blocked().await, Vec::<PathBuf>::new());
}
