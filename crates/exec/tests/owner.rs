//! Nothing outlives the owner, by whatever cause it ends.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::Instant,
};

use crate::support::{Doomed, Lab, Pid, stubborn, until};

/// What the owner's end may take to become the end of everything.
const LIMIT: Duration = Duration::from_secs(1);

/// A process that owns servers; killed when the test lets go of it.
pub struct Owner {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    pub servers: Vec<Pid>,
}

impl Owner {
    #[expect(clippy::disallowed_methods, reason = "the owner itself")]
    pub async fn start(lab: &Lab, scripts: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exec-test-owner"));
        command.arg(lab.path()).args(scripts).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut owner = Self { child, stdin, lines, servers: Vec::new() };
        for _ in scripts {
            let pid = owner.line().await.parse().unwrap();
            owner.servers.push(Pid::now(pid).unwrap());
        }
        assert_eq!(owner.line().await, "ready");
        owner
    }

    async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().unwrap()
    }

    pub async fn say(&mut self, word: &str) {
        self.stdin.write_all(format!("{word}\n").as_bytes()).await.unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::now(self.child.id().unwrap().cast_signed()).unwrap()
    }

    pub fn signal(&self, signal: i32) {
        self.pid().signal(signal);
    }

    pub async fn ended(&mut self) {
        self.child.wait().await.unwrap();
    }
}

/// Three stubborn trees under one owner: every process of them.
async fn trees(lab: &Lab) -> (Owner, Vec<Pid>) {
    let trees = ["a", "b", "c"].map(stubborn);
    let scripts: Vec<String> = trees.iter().map(|(script, _)| script.clone()).collect();
    let owner = Owner::start(lab, &scripts).await;
    let mut pids = Vec::new();
    for (_, names) in &trees {
        pids.extend(lab.pids(names).await);
    }
    pids.extend(owner.servers.iter().map(|server| server.parent()));
    assert!(pids.iter().all(|pid| pid.alive()));
    (owner, pids)
}

async fn gone(pids: &[Pid]) -> Duration {
    let started = Instant::now();
    until("everything ends", || pids.iter().all(|pid| !pid.alive()).then_some(())).await;
    started.elapsed()
}

#[tokio::test]
async fn sigterm_lets_the_owner_stop_everything_in_order() {
    let lab = Lab::new();
    let (mut owner, pids) = trees(&lab).await;
    owner.signal(libc::SIGTERM);
    owner.ended().await;
    assert!(pids.iter().all(|pid| pid.reaped()), "something was left when the owner had ended");
    let records = std::fs::read_dir(lab.path()).unwrap().flatten();
    assert_eq!(records.filter(|entry| entry.path().extension().is_some_and(|end| end == "run")).count(), 0);
}

#[tokio::test]
async fn the_kill_of_the_owner_ends_everything_within_a_second() {
    let lab = Lab::new();
    let (mut owner, pids) = trees(&lab).await;
    owner.signal(libc::SIGKILL);
    let took = gone(&pids).await;
    owner.ended().await;
    println!("all of {} processes gone {took:?} after SIGKILL of the owner", pids.len());
    assert!(took < LIMIT, "{took:?}");
}

#[tokio::test]
async fn a_crash_of_the_owner_ends_everything_within_a_second() {
    let lab = Lab::new();
    let (mut owner, pids) = trees(&lab).await;
    owner.say("crash").await;
    owner.ended().await;
    let took = gone(&pids).await;
    assert!(took < LIMIT, "{took:?}");
}

#[tokio::test]
async fn a_stray_copy_of_the_owner_that_holds_its_descriptors_does_not_keep_servers_alive() {
    let lab = Lab::new();
    let (mut owner, pids) = trees(&lab).await;
    owner.say("leak").await;
    let copy = Doomed(Pid::now(owner.line().await.parse().unwrap()).unwrap());
    owner.signal(libc::SIGKILL);
    let took = gone(&pids).await;
    owner.ended().await;
    assert!(copy.0.alive() && took < LIMIT, "{took:?}");
}

#[tokio::test]
async fn an_owner_that_is_killed_at_any_moment_of_its_starts_leaves_nothing() {
    let lab = Lab::new();
    for delay in 0..6 {
        let names: Vec<String> = (0..4).map(|n| format!("{delay}-{n}")).collect();
        let scripts: Vec<String> =
            names.iter().map(|name| format!("echo $$ > {name}; exec sleep 1000")).collect();
        let owner = Owner::start(&lab, &scripts);
        // Dropped, and so killed, somewhere among the starts, each round at another place.
        let _ = tokio::time::timeout(Duration::from_millis(2 * delay), owner).await;
        let in_lab = || {
            let pids = names.iter().filter_map(|name| std::fs::read_to_string(lab.path().join(name)).ok());
            pids.filter_map(|pid| Pid::now(pid.trim().parse().ok()?)).any(Pid::alive)
        };
        until("everything ends", || (!in_lab()).then_some(())).await;
    }
}

#[test]
fn servers_end_with_the_runtime_of_their_owner_also_when_the_process_goes_on() {
    let lab = Lab::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (process, pids) = runtime.block_on(async {
        let (script, names) = stubborn("x");
        (lab.spawn(&script).await, lab.pids(&names).await)
    });
    runtime.shutdown_background();
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    waiting.block_on(gone(&pids));
    assert_eq!(process.exit(), None);
}

#[test]
fn a_server_lives_on_when_the_thread_that_started_it_retires() {
    let lab = Lab::new();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime
        .enable_all()
        .thread_name("starter")
        .thread_keep_alive(Duration::from_millis(1))
        .build()
        .unwrap();
    runtime.block_on(async {
        let process = lab.spawn("echo $$ > up; exec sleep 1000").await;
        let server = lab.pid("up").await;
        let starters = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
            names.filter(|name| name.trim() == "starter").count()
        };
        until("the thread retires", || (starters() == 0).then_some(())).await;
        // Were it tied to the thread, it would have been sent its signal before the thread was gone.
        assert!(server.alive() && process.exit().is_none());
        process.stop(crate::support::QUICK).await;
    });
}
