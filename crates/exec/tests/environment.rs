//! What a server gets: its command found, its arguments, its environment, its folder.

use std::{ffi::OsString, os::unix::ffi::OsStringExt};

use patchbay_exec::{ExecError, Launch, Process};
use tokio::io::AsyncReadExt;

use crate::support::{Lab, QUICK, in_time, variables};

async fn output(lab: &Lab, launch: Launch) -> Vec<u8> {
    let mut process = lab.exec.spawn(launch).await.unwrap();
    let mut stdout = process.take_stdout().unwrap();
    process.close_input();
    let mut output = Vec::new();
    stdout.read_to_end(&mut output).await.unwrap();
    assert_eq!(in_time(process.stop(QUICK)).await.code, Some(0));
    output
}

#[tokio::test]
async fn arguments_arrive_byte_for_byte_also_empty_ones_and_in_a_folder_with_spaces() {
    let lab = Lab::new();
    let server = lab.write("My Tools/srv", "#!/bin/sh\nexec cat /proc/$$/cmdline\n");
    let args = [
        "--cfg",
        "a b.json",
        "--empty",
        "",
        "--json",
        r#"{"a": "x & y"}"#,
        "two\nlines",
        "$(id) `id` %PATH% ^ \\",
        "ü\u{202e}",
    ];
    let output = output(&lab, lab.launch(server.to_str().unwrap(), &args)).await;
    // `exec` keeps the process, so that the arguments are those that `cat` was given; the script's stand before.
    let direct =
        lab.launch("/bin/sh", &[&["-c", "tr '\\0' '\\1' < /proc/$$/cmdline; :", "srv"], &args[..]].concat());
    let direct = crate::environment::output(&lab, direct).await;
    let words: Vec<&[u8]> = direct.split(|&byte| byte == 1).skip(4).collect();
    let wanted: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).chain([&b""[..]]).collect();
    assert_eq!(words, wanted);
    assert!(output.starts_with(b"cat\0/proc/"), "{output:?}");
}

#[tokio::test]
async fn the_environment_is_the_owners_less_what_is_scrubbed_plus_the_servers_own() {
    let raw = OsString::from_vec(b"\xff\xfe".to_vec());
    let lab = Lab::with(|options| {
        let pairs = [
            ("AWS_SECRET_ACCESS_KEY", "k"),
            ("OPENAI_API_KEY", "k"),
            ("GITHUB_TOKEN", "k"),
            ("SSH_AUTH_SOCK", "/s"),
            ("HTTPS_PROXY", "http://p"),
            ("LANG", "C"),
            ("PATCHBAY_HOME", "/h"),
            ("PATH", "/usr/bin:/bin:/x"),
        ];
        options.env = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        options.env.push(("RAW".into(), raw.clone()));
    });
    let mut launch = lab.launch("env", &["-0"]);
    launch.env = vec![
        ("GITHUB_TOKEN".into(), "own".into()),
        ("EMPTY".into(), String::new()),
        ("EQ".into(), "a=b\nc".into()),
    ];
    launch.scrub_env =
        ["*_API_KEY", "*_TOKEN", "*_ACCESS_KEY", "SSH_AUTH_SOCK", "PATCHBAY_*"].map(String::from).into();
    let output = output(&lab, launch).await;
    let (text, raw): (Vec<&[u8]>, Vec<&[u8]>) =
        output.split(|&byte| byte == 0).partition(|pair| !pair.starts_with(b"RAW="));
    let env: Vec<(String, String)> = variables(&text.join(&0)).into_iter().collect();
    let wanted = [
        ("EMPTY", ""),
        ("EQ", "a=b\nc"),
        ("GITHUB_TOKEN", "own"),
        ("HTTPS_PROXY", "http://p"),
        ("LANG", "C"),
        ("PATH", "/usr/bin:/bin:/x"),
    ];
    assert_eq!(env, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(raw, [b"RAW=\xff\xfe"]);
}

#[tokio::test]
async fn a_server_runs_in_its_folder() {
    let lab = Lab::new();
    let mut launch = lab.launch("/bin/pwd", &["-P"]);
    let folder = lab.write("sub/x", "").parent().unwrap().canonicalize().unwrap();
    launch.cwd = folder.clone();
    assert_eq!(output(&lab, launch).await, format!("{}\n", folder.display()).as_bytes());
}

async fn refused(lab: &Lab, launch: Launch) -> ExecError {
    lab.exec.spawn(launch).await.map(|process: Process| process.pid()).unwrap_err()
}

#[tokio::test]
async fn what_cannot_start_says_why_and_leaves_no_process() {
    let lab = Lab::with(|options| options.env.push(("SHELL".into(), "/opt/unknown-shell".into())));
    let error = refused(&lab, lab.launch("no-such-server", &[])).await;
    let unknown = "the login shell `/opt/unknown-shell` is of a kind that cannot be asked for its PATH";
    assert_eq!(
        error.to_string(),
        format!(
            "server `test`: the command `no-such-server` was not found; searched /usr/bin, /bin, /patchbay-tests ({unknown})"
        )
    );
    assert!(error.hint().unwrap().contains("`no-such-server`"));

    let mut launch = lab.launch("/bin/true", &[]);
    launch.cwd = lab.path().join("gone");
    assert!(refused(&lab, launch).await.to_string().contains(lab.path().join("gone").to_str().unwrap()));

    let mut launch = lab.launch("/bin/true", &["x"]);
    launch.args.push("y".repeat(4 << 20));
    assert!(refused(&lab, launch).await.to_string().contains("failed: Argument list too long"));
    in_time(lab.exec.drained()).await;
}
