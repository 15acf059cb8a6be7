//! How servers end: by themselves, by a stop, by being dropped.

use std::time::Duration;

use patchbay_exec::{Exit, StopSteps};
use tokio::{io::AsyncWriteExt, task::JoinSet, time::Instant};

use crate::support::{Lab, Pid, QUICK, in_time, stubborn, until};

/// Steps of which each is far longer than any test may take.
const PATIENT: StopSteps = StopSteps {
    input: Duration::from_secs(60),
    term: Duration::from_secs(60),
    kill: Duration::from_secs(60),
};

fn exit(code: Option<i32>, signal: Option<i32>) -> Exit {
    Exit { code, signal, guard_lost: false }
}

fn pid(process: &patchbay_exec::Process) -> Pid {
    Pid::now(process.pid().cast_signed()).unwrap()
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_is_sent_no_signal() {
    let lab = Lab::new();
    let process = lab.spawn("trap 'exit 9' TERM; cat >/dev/null; exit 7").await;
    assert_eq!(process.exit(), None);
    assert_eq!(in_time(process.stop(PATIENT)).await, exit(Some(7), None));
}

#[tokio::test]
async fn the_steps_of_a_stop_come_in_order_and_end_with_the_kill_of_the_whole_tree() {
    let lab = Lab::new();
    let script = "trap 'echo term >> steps' TERM; echo $$ > one; (trap '' TERM; echo up > two; exec sleep 1000) & \
        cat > /dev/null; echo input >> steps; while :; do sleep 1000 & wait; done";
    let process = lab.spawn(script).await;
    let pids = [pid(&process), lab.pid("one").await];
    lab.file("two").await;
    assert_eq!(in_time(process.stop(QUICK)).await, exit(None, Some(9)));
    assert_eq!(lab.file("steps").await, "input\nterm\n");
    assert!(pids.iter().all(|pid| pid.reaped()));
}

#[tokio::test]
async fn stopping_one_of_three_ends_its_tree_and_daemon_and_leaves_the_others_alone() {
    let lab = Lab::new();
    let mut servers = Vec::new();
    for name in ["a", "b", "c"] {
        let (script, names) = stubborn(name);
        servers.push((lab.spawn(&script).await, lab.pids(&names).await));
    }
    let (process, pids) = servers.remove(1);
    assert_eq!(in_time(process.stop(QUICK)).await, exit(None, Some(9)));
    assert!(pids.iter().all(|pid| pid.reaped()), "{pids:?}");
    for (process, pids) in &servers {
        assert!(pids.iter().all(|pid| pid.alive()) && process.exit().is_none());
    }
    for (process, pids) in servers {
        in_time(process.stop(QUICK)).await;
        assert!(pids.iter().all(|pid| pid.reaped()), "{pids:?}");
    }
}

#[tokio::test]
async fn what_a_leader_leaves_behind_gets_the_rest_of_the_steps_at_once() {
    let lab = Lab::new();
    let script = "(trap 'echo term > got' TERM; echo $$ > ready; while :; do sleep 1000 & wait; done) & \
        (trap '' TERM; sh -c 'echo $$ > deaf; exec sleep 1000') & cat > /dev/null";
    let process = lab.spawn(script).await;
    let deaf = lab.pid("deaf").await;
    lab.file("ready").await;
    let started = Instant::now();
    let steps = StopSteps { term: QUICK.term, ..PATIENT };
    assert_eq!(in_time(process.stop(steps)).await, exit(Some(0), None));
    assert!(started.elapsed() < PATIENT.input && deaf.reaped());
    assert_eq!(lab.file("got").await, "term\n");
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_reaped_at_once_and_its_leftovers_end_unasked() {
    let lab = Lab::new();
    let script = "(trap '' TERM; sh -c 'echo $$ > deaf; exec sleep 1000') & while [ ! -s deaf ]; do sleep 0.01; done; \
        echo $$ > leader; echo last words >&2; read line; exit 3";
    let launch = lab.script(script);
    let log = launch.log.clone();
    let process = lab.exec.spawn(launch).await.unwrap();
    let (leader, deaf) = (lab.pid("leader").await, lab.pid("deaf").await);
    let exited = process.exited();
    process.close_input();
    assert_eq!(in_time(exited).await, exit(Some(3), None));
    assert!(leader.reaped(), "the status was told before it was reaped");
    assert_eq!(log.lines(1)[0].text, "last words");
    until("the leftover ends", || deaf.reaped().then_some(())).await;
    assert_eq!(in_time(process.stop(PATIENT)).await, exit(Some(3), None));
}

#[tokio::test]
async fn leftovers_that_were_asked_to_end_are_not_asked_again_by_a_stop() {
    let lab = Lab::with(|options| options.leftover_grace = PATIENT.term);
    let script = "(trap 'echo term >> terms' TERM; echo $$ > ready; while :; do sleep 1000 & wait; done) & \
        while [ ! -s ready ]; do sleep 0.01; done; exit 3";
    let process = lab.spawn(script).await;
    assert_eq!(in_time(process.exited()).await, exit(Some(3), None));
    lab.file("terms").await;
    assert_eq!(in_time(process.stop(QUICK)).await, exit(Some(3), None));
    assert_eq!(lab.file("terms").await, "term\n");
}

#[tokio::test]
async fn many_stubborn_servers_stop_side_by_side() {
    let lab = Lab::new();
    let mut stops = JoinSet::new();
    let mut pids = Vec::new();
    for n in 0..8 {
        let (script, names) = stubborn(&n.to_string());
        let process = lab.spawn(&script).await;
        pids.extend(lab.pids(&names).await);
        stops.spawn(process.stop(StopSteps {
            input: Duration::from_secs(1),
            term: Duration::from_secs(1),
            ..QUICK
        }));
    }
    let started = Instant::now();
    while let Some(stopped) = stops.join_next().await {
        assert_eq!(stopped.unwrap().signal, Some(9));
    }
    assert!(started.elapsed() < Duration::from_secs(6), "took {:?}", started.elapsed());
    assert!(pids.iter().all(|pid| pid.reaped()));
}

#[tokio::test]
async fn dropping_a_process_kills_everything_and_the_last_task_ends() {
    let lab = Lab::new();
    let (script, names) = stubborn("x");
    let process = lab.spawn(&script).await;
    let pids = lab.pids(&names).await;
    let exited = process.exited();
    drop(process);
    assert_eq!(in_time(exited).await, exit(None, Some(9)));
    in_time(lab.exec.drained()).await;
    assert!(pids.iter().all(|pid| pid.reaped()));
}

#[tokio::test]
async fn a_start_or_a_stop_that_is_given_up_leaves_nothing() {
    let lab = Lab::new();
    let lock = "exec 9> lock; flock -n 9 || { echo taken > taken; exit 1; }; sleep 1000";
    for round in 0..6 {
        let spawn = lab.exec.spawn(lab.script(lock));
        if round % 2 == 0 {
            // Given up at some point of the start, a different one each time.
            let _ = tokio::time::timeout(Duration::from_micros(300 * round), spawn).await;
        } else {
            let process = spawn.await.unwrap();
            let _ = tokio::time::timeout(Duration::from_millis(round), process.stop(PATIENT)).await;
        }
        in_time(lab.exec.drained()).await;
    }
    let process = lab.spawn("flock -n 9 9> lock && echo free > free").await;
    lab.file("free").await;
    in_time(process.stop(QUICK)).await;
    assert!(!lab.path().join("taken").exists());
}

#[tokio::test]
async fn closing_the_input_fails_a_write_that_waits_and_ends_only_that_server() {
    let lab = Lab::new();
    // Started side by side: none may hold the end of another's pipe.
    let mut starts = JoinSet::new();
    for _ in 0..12 {
        let (exec, launch) = (lab.exec.clone(), lab.script("cat > /dev/null"));
        starts.spawn(async move { exec.spawn(launch).await.unwrap() });
    }
    let mut processes = starts.join_all().await;
    let mut deaf = lab.spawn("exec sleep 1000").await;
    let mut stdin = deaf.take_stdin().unwrap();
    assert!(deaf.take_stdin().is_none());
    let mut writers = JoinSet::new();
    writers.spawn(async move { stdin.write_all(&vec![b'x'; 1 << 20]).await });
    while let Some(process) = processes.pop() {
        process.close_input();
        assert_eq!(in_time(process.exited()).await, exit(Some(0), None));
        assert!(processes.iter().all(|other| other.exit().is_none()));
    }
    deaf.close_input();
    let written = in_time(writers.join_next()).await;
    assert_eq!(written.unwrap().unwrap().unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    in_time(deaf.stop(QUICK)).await;
}
