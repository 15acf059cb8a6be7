//! The guard itself: what it is, what it costs, and what happens when it is hit.

use std::{fs, time::Duration};

use patchbay_exec::{Exit, Process};
use tokio::{task::JoinSet, time::Instant};

use crate::support::{Doomed, Lab, PATIENCE, Pid, QUICK, in_time, stubborn, until};

fn guard(process: &Process) -> Pid {
    Pid::now(process.pid().cast_signed()).unwrap().parent()
}

fn status(pid: Pid, key: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.pid)).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_once(':').unwrap().1.trim().to_owned()
}

/// Private memory in KiB.
fn private(pid: Pid) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", pid.pid)).unwrap();
    let lines = rollup.lines().filter(|line| line.starts_with("Private_"));
    lines.map(|line| line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn the_owner_ends_the_tree_of_a_guard_that_was_killed_and_says_so() {
    let lab = Lab::new();
    let (script, names) = stubborn("x");
    let process = lab.spawn(&script).await;
    let pids = lab.pids(&names).await;
    let (guard, exited) = (guard(&process), process.exited());
    guard.signal(libc::SIGKILL);
    assert_eq!(in_time(exited).await, Exit { code: None, signal: None, guard_lost: true });
    let tree = &pids[..3];
    assert!(tree.iter().all(|pid| !pid.alive()), "{tree:?}");
    // The stated limit: a daemon that left group and session belongs to nobody once the guard has gone.
    pids[3].signal(libc::SIGKILL);
    in_time(process.stop(QUICK)).await;
    in_time(lab.exec.drained()).await;
    assert!(guard.reaped());
}

#[tokio::test]
async fn a_guard_that_was_stopped_does_not_keep_its_tree_alive() {
    let lab = Lab::new();
    let (script, names) = stubborn("x");
    let process = lab.spawn(&script).await;
    let pids = lab.pids(&names).await;
    let guard = Doomed(guard(&process));
    guard.0.signal(libc::SIGSTOP);
    let exit = in_time(process.stop(QUICK)).await;
    assert_eq!(exit, Exit { code: None, signal: None, guard_lost: true });
    assert!(pids.iter().all(|pid| !pid.alive()) && guard.0.reaped(), "{pids:?}");
}

#[tokio::test]
async fn leftovers_end_also_when_the_guard_is_killed_after_the_server_has_ended() {
    let lab = Lab::with(|options| options.leftover_grace = PATIENCE);
    let script = "trap '' TERM; sh -c 'echo $$ > deaf; exec sleep 1000' & while [ ! -s deaf ]; do sleep 0.01; done; exit 4";
    let process = lab.spawn(script).await;
    let deaf = lab.pid("deaf").await;
    assert_eq!(in_time(process.exited()).await.code, Some(4));
    // Orphans come to the guard.
    deaf.parent().signal(libc::SIGKILL);
    until("the leftover ends", || (!deaf.alive()).then_some(())).await;
    assert_eq!(in_time(process.stop(QUICK)).await.code, Some(4));
}

#[tokio::test]
async fn a_guard_that_is_asked_to_end_ends_its_server_first() {
    let lab = Lab::new();
    let process = lab
        .spawn("trap 'echo term > got; exit 5' TERM; echo $$ > up; while :; do sleep 1000 & wait; done")
        .await;
    lab.file("up").await;
    guard(&process).signal(libc::SIGTERM);
    assert_eq!(in_time(process.exited()).await, Exit { code: Some(5), signal: None, guard_lost: false });
    lab.file("got").await;
    in_time(process.stop(QUICK)).await;
}

#[tokio::test]
async fn the_server_inherits_three_descriptors_and_clean_signals() {
    let lab = Lab::new();
    let leaked = fs::File::open("/dev/null").unwrap();
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: no memory is passed.
    let leaked = unsafe { libc::dup(std::os::fd::AsRawFd::as_raw_fd(&leaked)) };
    assert!(leaked > 2);
    let process = lab.spawn("ls -l /proc/$$/fd > fds; echo $$ > up; exec sleep 1000").await;
    let pid = lab.pid("up").await;
    let fds = fs::read_to_string(lab.path().join("fds")).unwrap();
    let names: Vec<&str> =
        fds.lines().filter_map(|line| line.split(" -> ").next()?.split(' ').next_back()).collect();
    // The shell itself holds the script's output open while `ls` runs, as no descriptor but 1 and its copy.
    assert!(
        names.iter().filter(|name| name.parse::<i32>().is_ok_and(|fd| fd > 2 && fd != 10)).count() == 0,
        "{fds}"
    );
    for key in ["SigBlk", "SigIgn"] {
        assert_eq!(status(pid, key), "0000000000000000", "{key}");
    }
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.pid)).unwrap();
    let words: Vec<i32> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_ascii_whitespace()
        .skip(1)
        .take(4)
        .map(|w| w.parse().unwrap())
        .collect();
    assert_eq!(
        words,
        [guard(&process).pid, pid.pid, guard(&process).pid, 0],
        "parent, group, session, terminal"
    );
    in_time(process.stop(QUICK)).await;
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: the descriptor was made above and is closed once.
    unsafe {
        libc::close(leaked);
    }
}

#[tokio::test]
async fn a_guard_has_its_own_name_three_descriptors_and_next_to_no_memory() {
    let lab = Lab::new();
    // Memory of the owner that the guard must not keep.
    let mut ballast = vec![1_u8; 32 << 20];
    let process = lab.spawn("exec sleep 1000").await;
    let guard = guard(&process);
    until("its name", || (status(guard, "Name") == "patchbay-guard").then_some(())).await;
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", guard.pid)).unwrap();
    assert_eq!(arguments.trim_end_matches('\0'), "patchbay-guard");
    // What the owner writes now would be kept as it was by a guard that still has it.
    ballast.fill(2);
    let kept = until("its memory", || Some(private(guard)).filter(|&kept| kept < 512)).await;
    assert_eq!(fs::read_dir(format!("/proc/{}/fd", guard.pid)).unwrap().count(), 3);
    assert_eq!(fs::read_link(format!("/proc/{}/cwd", guard.pid)).unwrap().to_str(), Some("/"));
    assert_eq!(status(guard, "Threads"), "1");
    println!("a guard keeps {kept} KiB of private memory");
    assert!(guard.alive());
    in_time(process.stop(QUICK)).await;
    assert_eq!(ballast[1 << 20], 2);
}

#[tokio::test]
async fn a_start_takes_milliseconds_also_many_side_by_side() {
    let lab = Lab::new();
    const ROUNDS: u32 = 20;
    let mut took = Duration::ZERO;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let process = lab.exec.spawn(lab.launch("/bin/cat", &[])).await.unwrap();
        took += started.elapsed();
        in_time(process.stop(QUICK)).await;
    }
    let started = Instant::now();
    let mut starts = JoinSet::new();
    for _ in 0..ROUNDS {
        let (exec, launch) = (lab.exec.clone(), lab.launch("/bin/cat", &[]));
        starts.spawn(async move { exec.spawn(launch).await.unwrap() });
    }
    let processes = starts.join_all().await;
    let together = started.elapsed();
    println!("one start: {:?}; {ROUNDS} side by side: {together:?}", took / ROUNDS);
    assert!(took / ROUNDS < PATIENCE / 100);
    let mut stops: JoinSet<_> = processes.into_iter().map(|process| process.stop(QUICK)).collect();
    while let Some(exit) = stops.join_next().await {
        assert_eq!(exit.unwrap().code, Some(0));
    }
}
