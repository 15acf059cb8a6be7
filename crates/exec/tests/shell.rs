//! The login shell's PATH, for an owner that was started from a dock or a menu.

use std::{fs, path::Path, time::Duration};

use patchbay_exec::{Launch, Process};
use tokio::{task::JoinSet, time::Instant};

use crate::support::{Lab, QUICK, in_time, until};

/// A home whose start-up file `rc` is read by `shell`; the owner has this PATH, in which `~` is the home.
fn home(shell: &str, rc: &str, text: &str, path: &str, limit: Duration) -> Lab {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_owned();
    let lab = Lab::at(dir, |options| {
        let path = path.replace('~', home.to_str().unwrap());
        options.env =
            vec![("HOME".into(), home.into()), ("PATH".into(), path.into()), ("SHELL".into(), shell.into())];
        options.shell_limit = limit;
    });
    let banner = "echo asked >> $HOME/asked; echo 'Welcome! PATH=/wrong'; echo loud >&2; sleep 0.2";
    lab.write(rc, &text.replace("BANNER", banner));
    lab.write("tools/tool", "#!/bin/sh\necho \"$1\" > ran\nexec cat\n");
    lab.write("servers/mysrv", "#!/usr/bin/env tool\n");
    lab
}

fn asked(lab: &Lab) -> usize {
    fs::read_to_string(lab.path().join("asked")).map_or(0, |text| text.lines().count())
}

async fn starts(lab: &Lab, launch: Launch) {
    let process: Process = lab.exec.spawn(launch).await.unwrap();
    assert!(lab.file("ran").await.ends_with("servers/mysrv\n"));
    assert_eq!(in_time(process.stop(QUICK)).await.code, Some(0));
    fs::remove_file(lab.path().join("ran")).unwrap();
}

const BARE: &str = "/usr/bin:/bin";
const ENOUGH: Duration = Duration::from_secs(10);
const POSIX: &str = "BANNER\nexport PATH=\"$HOME/servers:$HOME/tools:$PATH\"\n";
const FISH: &str = "BANNER\nset -gx PATH $HOME/servers $HOME/tools $PATH\n";

#[tokio::test]
async fn a_command_and_the_tool_of_its_script_are_found_where_bash_zsh_and_fish_add_them() {
    for (shell, rc, text) in [
        ("/bin/bash", ".bash_profile", POSIX),
        ("/bin/bash", ".bashrc", POSIX),
        ("/bin/zsh", ".zshrc", POSIX),
        ("/bin/zsh", ".zprofile", POSIX),
        ("/usr/bin/fish", ".config/fish/config.fish", FISH),
        ("/bin/sh", ".profile", POSIX),
    ] {
        assert!(Path::new(shell).exists(), "{shell} is needed for this test");
        let lab = home(shell, rc, text, BARE, ENOUGH);
        starts(&lab, lab.launch("mysrv", &[])).await;
    }
}

#[tokio::test]
async fn the_shell_is_asked_once_for_all_starts() {
    let lab = home("/bin/zsh", ".zshrc", POSIX, BARE, ENOUGH);
    let mut starts = JoinSet::new();
    for _ in 0..4 {
        let (exec, launch) = (lab.exec.clone(), lab.launch("mysrv", &[]));
        starts.spawn(async move { exec.spawn(launch).await.unwrap().stop(QUICK).await });
    }
    lab.exec.prepare().await;
    starts.join_all().await;
    assert_eq!(asked(&lab), 1);
}

#[tokio::test]
async fn a_path_that_somebody_chose_is_enough_until_a_command_is_missing() {
    let lab = home("/bin/zsh", ".zshrc", POSIX, "~/chosen:/usr/bin:/bin", ENOUGH);
    lab.exec.prepare().await;
    lab.exec.spawn(lab.launch("cat", &[])).await.unwrap().stop(QUICK).await;
    assert_eq!(asked(&lab), 0);
    starts(&lab, lab.launch("mysrv", &[])).await;
    assert_eq!(asked(&lab), 1);
    // The command is found at once here; what its script needs is not.
    let script = lab.path().join("servers/mysrv");
    starts(&lab, lab.launch(script.to_str().unwrap(), &[])).await;
}

#[tokio::test]
async fn a_shell_that_hangs_costs_its_limit_once_is_ended_whole_and_is_named() {
    let rc = "trap '' TERM\nsh -c 'echo $$ > $HOME/hangs; exec sleep 1000'\n";
    let lab = home("/bin/bash", ".bash_profile", rc, BARE, Duration::from_millis(400));
    let started = Instant::now();
    let error = lab.exec.spawn(lab.launch("mysrv", &[])).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "server `test`: the command `mysrv` was not found; searched /usr/bin, /bin (the login shell `/bin/bash` did not \
         tell its PATH within 0.4 s; its start-up files may wait for something)"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
    let hanging: i32 = lab.file("hangs").await.trim().parse().unwrap();
    until("the shell's child ends", || crate::support::Pid::now(hanging).is_none().then_some(())).await;

    // What is found all the same starts, and its log says what is amiss.
    let launch = lab.launch("cat", &[]);
    let log = launch.log.clone();
    let process = lab.exec.spawn(launch).await.unwrap();
    assert!(
        log.tail(1)[0].contains("[patchbay] the login shell `/bin/bash` did not tell its PATH"),
        "{:?}",
        log.tail(1)
    );
    in_time(process.stop(QUICK)).await;
}
