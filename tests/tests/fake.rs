//! The fake server does what its script says: a fixture that doesn't would make other tests pass for nothing.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use patchbay_tests::{Fake, alive, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    fake: Fake,
    folder: TempDir,
}

#[expect(clippy::disallowed_methods, reason = "the test is the server's host here")]
fn start(script: impl FnOnce(&TempDir) -> Value) -> Talk {
    let folder = TempDir::new().unwrap();
    let fake = Fake::new(folder.path(), "fake", script(&folder));
    let mut child = Command::new(Fake::command())
        .args(fake.args())
        .args(["a b", ""])
        .env("FAKE_MARK", "1")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
    Talk { child, input, output, fake, folder }
}

impl Talk {
    fn send(&mut self, id: u32, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn end(&mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn without_a_script_it_is_a_well_behaved_server_that_writes_down_its_surroundings() {
    let mut talk = start(|_| json!({}));
    talk.send(1, "initialize", &json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(talk.answer()["result"]["protocolVersion"], "2025-06-18");
    talk.send(2, "server/discover", &json!({}));
    assert_eq!(talk.answer()["error"]["code"], -32601);
    talk.send(3, "tools/call", &json!({"name": "echo", "arguments": {"text": "x"}}));
    assert_eq!(talk.answer()["result"]["content"][0]["text"], "x");
    let fake = talk.fake.clone();
    let (id, cwd) = (talk.child.id(), talk.folder.path().canonicalize().unwrap());
    assert_eq!(talk.end(), Some(0));
    let start = &fake.events_of("start")[0];
    assert_eq!(
        (&start["argv"][3], &start["argv"][4], &start["env"]["FAKE_MARK"]),
        (&json!("a b"), &json!(""), &json!("1"))
    );
    assert_eq!((&start["pid"], &start["cwd"]), (&json!(id), &json!(cwd)));
    assert_eq!(
        start["fds"].as_object().unwrap().keys().filter(|fd| fd.parse::<u32>().unwrap() < 3).count(),
        3
    );
    let methods: Vec<_> = fake.messages().iter().map(|message| message["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "server/discover", "tools/call"]);
    assert_eq!((fake.events_of("eof").len(), fake.events_of("exit").len()), (1, 1));
}

#[test]
fn a_script_says_what_happens_at_the_first_and_at_later_times_and_in_later_processes() {
    let mut talk = start(|_| {
        json!({
            "on": {"ping": {"turns": [[{"error": {"code": 1, "message": "no"}}], ["reply"]]}},
            "runs": [{"tools/list": [{"exit": 7}]}, {}],
        })
    });
    for expected in [true, false, false] {
        talk.send(1, "ping", &json!({}));
        assert_eq!(talk.answer().get("error").is_some(), expected);
    }
    talk.send(2, "tools/list", &json!({}));
    assert_eq!(talk.line(), "");
    assert_eq!(talk.child.wait().unwrap().code(), Some(7));
    assert_eq!(talk.fake.events_of("exit")[0]["code"], 7);
}

#[test]
fn noise_raw_bytes_and_floods_come_out_exactly() {
    let mut talk = start(|_| {
        json!({"on": {
            "start": [{"raw": {"to": "stdout", "text": "bar\r"}}, {"hex": {"to": "stdout", "bytes": "ff fe 0a"}}],
            "ping": [{"raw": {"to": "stdout", "text": "{\"id\":{id}}\n"}}, {"fill": {"to": "stderr", "text": "x", "bytes": 200_000}}],
        }})
    });
    let mut start = [0; 7];
    talk.output.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"bar\r\xff\xfe\n");
    let mut errors = talk.child.stderr.take().unwrap();
    let drained = std::thread::spawn(move || errors.read_to_end(&mut Vec::new()).unwrap());
    talk.send(5, "ping", &json!({}));
    assert_eq!(talk.line(), "{\"id\":5}\n");
    assert_eq!(talk.end(), Some(0));
    assert!(drained.join().unwrap() >= 200_000);
}

#[test]
fn an_answer_can_wait_for_a_file_while_others_are_given() {
    let mut talk = start(|folder| {
        let (go, reached) = (folder.path().join("go"), folder.path().join("reached"));
        json!({"on": {"tools/call:slow": [{"background": [{"touch": reached}, {"wait_file": go}, {"result": {}}]}]}})
    });
    talk.send(1, "tools/call", &json!({"name": "slow"}));
    talk.send(2, "ping", &json!({}));
    assert_eq!(talk.answer()["id"], 2);
    let (go, reached) = (talk.folder.path().join("go"), talk.folder.path().join("reached"));
    wait_for("the call's start", || reached.exists().then_some(()));
    std::os::unix::fs::symlink(&reached, go).unwrap();
    assert_eq!(talk.answer()["id"], 1);
}

#[test]
fn progress_uses_the_token_of_the_request_and_stays_away_without_one() {
    let mut talk = start(|_| json!({"on": {"tools/call": [{"progress": {"progress": 1}}, "reply"]}}));
    talk.send(1, "tools/call", &json!({"name": "echo", "_meta": {"progressToken": "t"}}));
    assert_eq!(talk.answer()["params"], json!({"progress": 1, "progressToken": "t"}));
    assert_eq!(talk.answer()["id"], 1);
    talk.send(2, "tools/call", &json!({"name": "echo"}));
    assert_eq!(talk.answer()["id"], 2);
}

#[test]
fn it_can_close_its_output_outlive_the_end_of_its_input_and_ignore_sigterm() {
    let mut talk =
        start(|_| json!({"ignore_sigterm": true, "on": {"ping": [{"close": "stdout"}], "eof": ["hang"]}}));
    talk.send(1, "ping", &json!({}));
    assert_eq!(talk.line(), "");
    talk.input = None;
    let _ = talk.fake.wait_for("eof", 1);
    terminate(talk.child.id());
    let _ = talk.fake.wait_for("sigterm", 1);
    assert_eq!(talk.child.try_wait().unwrap(), None);
}

#[test]
fn sigterm_ends_it_as_it_ends_other_programs() {
    use std::os::unix::process::ExitStatusExt;

    let mut talk = start(|_| json!({}));
    let _ = talk.fake.wait_for("start", 1);
    terminate(talk.child.id());
    assert_eq!(talk.child.wait().unwrap().signal(), Some(15));
    assert_eq!(talk.fake.events_of("sigterm").len(), 1);
}

#[test]
fn its_descendants_live_on_without_it() {
    let mut talk = start(|_| {
        json!({"on": {"start": [
            {"spawn": {"ignore_sigterm": true}},
            {"spawn": {"daemon": true}},
        ]}})
    });
    talk.send(1, "ping", &json!({}));
    assert_eq!(talk.answer()["id"], 1);
    let fake = talk.fake.clone();
    let descendants = fake.events_of("descendant");
    assert_eq!(
        descendants.iter().map(|event| event["role"].clone()).collect::<Vec<_>>(),
        ["child", "daemon"]
    );
    assert!(alive(&fake.events_of("start")[0]));
    assert_eq!(talk.end(), Some(0));
    assert!(!alive(&fake.events_of("start")[0]));
    assert!(descendants.iter().all(alive));
    for event in &descendants {
        let pid = i32::try_from(event["pid"].as_i64().unwrap()).unwrap();
        signal(pid, libc::SIGKILL);
        wait_for("its end", || (!alive(event)).then_some(()));
    }
}

#[test]
fn a_word_that_scripts_do_not_have_fails_the_start() {
    let mut talk = start(|_| json!({"on": {"ping": [{"replay": {}}]}}));
    assert_eq!(talk.child.wait().unwrap().code(), Some(1));
}

fn terminate(pid: u32) {
    signal(i32::try_from(pid).unwrap(), libc::SIGTERM);
}

#[expect(unsafe_code, reason = "kill")]
fn signal(pid: i32, signal: i32) {
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}
