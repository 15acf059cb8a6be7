//! An owner for tests: starts the servers that it is told to, says so, and waits for its end.
//!
//! `exec-test-owner RUN_DIR SERVER...`, each server a shell script. On standard output: `guard SERVER` pids of each,
//! then `ready`. SIGTERM and the end of standard input stop it in order; the line `crash` makes it abort, and
//! `leak` makes it fork a child that does nothing but hold every descriptor, and tells its pid.

use std::{io::Write, path::PathBuf, time::Duration};

use patchbay_exec::{Exec, ExecOptions, Launch, Process, ServerLog, StopSteps};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines, Stdin},
    signal::unix::{Signal, SignalKind, signal},
    task::JoinSet,
};

/// See above.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let run_dir = PathBuf::from(args.next().ok_or("RUN_DIR is missing")?);
    let exec = Exec::new(ExecOptions { run_dir: Some(run_dir.clone()), ..ExecOptions::default() });
    let mut servers = Vec::new();
    for script in args {
        let mut process = exec.spawn(launch(&run_dir, script)).await?;
        let pipes = (process.take_stdin(), process.take_stdout());
        say(&process.pid().to_string())?;
        servers.push((process, pipes));
    }
    say("ready")?;
    wait(signal(SignalKind::terminate())?, BufReader::new(tokio::io::stdin()).lines()).await?;
    let step = Duration::from_millis(200);
    let steps = StopSteps { input: step, term: step, ..StopSteps::default() };
    let mut stops: JoinSet<_> =
        servers.into_iter().map(|(process, _)| Process::stop(process, steps)).collect();
    while stops.join_next().await.is_some() {}
    exec.drained().await;
    // The runtime would wait for the thread that reads standard input.
    std::process::exit(0)
}

fn launch(run_dir: &std::path::Path, script: String) -> Launch {
    Launch {
        server: "tree".into(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        env: Vec::new(),
        cwd: run_dir.to_owned(),
        scrub_env: Vec::new(),
        sandbox: None,
        log: ServerLog::default(),
    }
}

async fn wait(mut term: Signal, mut lines: Lines<BufReader<Stdin>>) -> std::io::Result<()> {
    loop {
        let line = tokio::select! {
            _ = term.recv() => return Ok(()),
            line = lines.next_line() => line?,
        };
        match line.as_deref() {
            Some("crash") => std::process::abort(),
            Some("leak") => say(&leak().to_string())?,
            _ => return Ok(()),
        }
    }
}

/// A copy of this process that holds its descriptors.
fn leak() -> i32 {
    #[expect(unsafe_code, reason = "system calls")]
    // SAFETY: the child makes async-signal-safe calls only, until it is killed.
    unsafe {
        match libc::fork() {
            0 => loop {
                libc::pause();
            },
            pid => pid,
        }
    }
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
