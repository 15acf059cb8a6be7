//! What servers write to stderr: always taken, never kept beyond measure.

use std::{fs, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    task::JoinSet,
    time::Instant,
};

use crate::{
    owner::Owner,
    support::{Lab, Pid, QUICK, in_time, until},
};

#[tokio::test]
async fn a_server_that_floods_stderr_before_and_during_calls_answers_them_all() {
    let lab = Lab::new();
    let script = "yes 'loading 42 %' | head -c 1048576 | tr '\\n' '\\r' >&2; echo ready; \
        while read call; do head -c 262144 /dev/zero | tr '\\0' x >&2; echo \"answer $call\"; done; echo bye >&2";
    let launch = lab.script(script);
    let log = launch.log.clone();
    let mut process = lab.exec.spawn(launch).await.unwrap();
    let mut stdin = process.take_stdin().unwrap();
    let mut lines = BufReader::new(process.take_stdout().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "ready");
    for call in 0..100 {
        stdin.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), format!("answer {call}"));
    }
    let shown = log.lines(10);
    assert_eq!(shown.len(), 1, "one line that never ends");
    assert!(shown[0].text.len() < 5000 && shown[0].text.ends_with("more bytes cut)"));
    assert_eq!(in_time(process.stop(QUICK)).await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_last_words_of_a_server_that_dies_are_there_when_its_end_is_told() {
    let lab = Lab::new();
    for round in 0..20 {
        let noise = "head -c 50000 /dev/zero | tr '\\0' '\\n' >&2";
        let launch = lab.script(&format!("{noise}; printf 'fatal: {round}' >&2; exit 1"));
        let log = launch.log.clone();
        let process = lab.exec.spawn(launch).await.unwrap();
        let server = Pid::now(process.pid().cast_signed());
        // The one thread that could take the words is kept busy until the news of the end is there too.
        let mut busy = JoinSet::new();
        busy.spawn(async move {
            while server.is_some_and(|server| !server.reaped()) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert_eq!(in_time(process.exited()).await.code, Some(1));
        assert_eq!(log.lines(1).pop().map(|line| line.text), Some(format!("fatal: {round}")));
        in_time(process.stop(QUICK)).await;
    }
}

fn memory(owner: Pid, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", owner.pid)).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Processor time that a process has used.
fn busy(pid: Pid) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.pid)).unwrap();
    let words = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
    let ticks: u64 = words.skip(11).take(2).map(|word| word.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * ticks)
}

#[tokio::test]
async fn a_gibibyte_of_noise_leaves_the_owners_memory_flat() {
    let lab = Lab::new();
    // Sixteen mebibytes each, said over and over.
    let text = "a line of noise that says nothing at all, again and again\n".repeat((16 << 20) / 58 + 1);
    let flood = |name: &str, end: &str| {
        lab.write(&format!("{name}.noise"), &text.replace('\n', end));
        format!("for n in $(seq 22); do cat {name}.noise; done >&2; echo done > {name}; exec sleep 1000")
    };
    let started = Instant::now();
    let scripts = [flood("lines", "\n"), flood("returns", "\r"), flood("endless", "_")];
    let owner = Owner::start(&lab, &scripts).await;
    let process = owner.pid();
    let before = memory(process, "VmRSS");
    for name in ["lines", "returns", "endless"] {
        let path = lab.path().join(name);
        let patience = Duration::from_secs(240);
        tokio::time::timeout(patience, async {
            while !path.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
    }
    let peak = memory(process, "VmHWM");
    let (took, busy) = (started.elapsed(), busy(process));
    println!(
        "1 GiB of noise: {took:?}, {busy:?} of the owner's; memory {before} KiB before, {peak} KiB at its peak"
    );
    assert!(peak < before + 8 * 1024, "{before} KiB grew to {peak} KiB");
    let servers = owner.servers.clone();
    drop(owner);
    until("all ends", || servers.iter().all(|server| !server.alive()).then_some(())).await;
}

#[tokio::test]
async fn servers_that_closed_their_pipes_and_stay_cost_nothing() {
    let lab = Lab::new();
    let script = |n: usize| format!("exec <&- >&- 2>&-; echo $$ > idle-{n}; exec sleep 1000");
    let owner = Owner::start(&lab, &[0, 1, 2, 3].map(script)).await;
    for n in 0..4 {
        lab.file(&format!("idle-{n}")).await;
    }
    let guards: Vec<_> = owner.servers.iter().map(|server| server.parent()).collect();
    let all = || guards.iter().map(|guard| busy(*guard)).sum::<Duration>() + busy(owner.pid());
    // Longer than the guards take to give their memory back.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = all();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let used = all() - before;
    assert!(used < Duration::from_millis(50), "{used:?} of processor time in a second of nothing");
    let servers = owner.servers.clone();
    drop(owner);
    until("all ends", || servers.iter().all(|server| !server.alive()).then_some(())).await;
}
