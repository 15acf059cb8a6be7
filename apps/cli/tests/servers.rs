//! `tools` and `call` without an owner: a server is started for the command and gone after it.

use serde_json::json;

use crate::support::{Place, Server, send_signal, wait_for};

fn place() -> (Place, Server) {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    let settings = server.entry("one", "auto_approve = true\nprefix = \"p\"\n")
        + &server.entry("off", "disabled = true");
    crate::support::write(&place.settings(), &settings);
    (place, server)
}

#[test]
fn tools_says_what_is_offered_and_why_the_rest_is_not_and_leaves_nothing_running() {
    let (place, server) = place();
    let out = place.ok(&["tools"]);
    assert!(out.starts_with("one  3 tools\n  p__echo (echo)  Says it.\n  p__hang (hang)\n"), "{out}");
    assert!(out.contains("off  nothing offered\n"), "{out}");
    assert_eq!(server.pids().len(), 1);
    assert!(server.stopped_in_order());
    let view = place.json(&["tools", "--agent", "codex", "--sub-agent"]);
    assert_eq!(view["agent"], json!({ "name": "codex", "sub_agent": true }));
    assert_eq!(view["servers"][0]["tools"], json!([]));
    assert!(view["servers"][0]["withheld"].is_string(), "{view}");
}

#[test]
fn a_call_prints_the_text_of_its_result_and_json_the_servers_own_bytes() {
    let (place, server) = place();
    let out = place.ok(&["call", "one", "echo", r#"{"x": 1}"#]);
    let pid = server.pids()[0];
    assert_eq!(out, format!("said by {pid} word\n"));
    let out = place.ok(&["call", "one", "echo", "--json"]);
    let pid = server.pids()[1];
    assert_eq!(
        out,
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"said by {pid} \\u001b[31mword\"}}]}}\n")
    );
    let ended = place.run_with(&["call", "one", "echo", "-"], "{}");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(server.stopped_in_order());
}

#[test]
fn each_way_in_which_a_call_fails_has_its_exit_code() {
    let (place, server) = place();
    let failed = place.run(&["call", "one", "fail"]);
    assert_eq!((failed.code, failed.out.as_str()), (Some(1), "no luck\n"));
    assert!(failed.err.contains("the tool reported an error"), "{}", failed.err);
    assert!(place.fails(2, &["call", "one", "echo", "[1]"]).contains("next: write them in braces"));
    assert!(place.fails(3, &["call", "nobody", "echo"]).contains("nobody"));
    assert!(place.fails(3, &["call", "one", "missing"]).contains("missing"));
    place.ok(&["mcp", "enable", "off"]);
    let started = server.pids().len();
    let told = place.fails(4, &["call", "off", "echo"]);
    assert!(told.contains("off"), "{told}");
    assert_eq!(
        server.events().iter().filter(|event| *event == "call").count(),
        0,
        "it was called all the same"
    );
    assert!(server.pids().len() <= started + 1);
    place.ok(&["mcp", "add", "none", "no-such-program-anywhere", "--auto-approve"]);
    let told = place.fails(6, &["call", "none", "echo"]);
    assert!(told.contains("no-such-program-anywhere"), "{told}");
    server.wait_until_gone();
}

#[test]
fn ctrl_c_in_a_call_stops_its_server() {
    let (place, server) = place();
    let mut child = place.command(&["call", "one", "hang"]).spawn().unwrap();
    server.wait_for("hang", 1);
    send_signal("-INT", child.id());
    let status = wait_for("the end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    assert!(server.stopped_in_order());
}

#[test]
fn the_bundled_sample_server_can_be_added_and_called() {
    let place = Place::empty();
    let program = env!("CARGO_BIN_EXE_patchbay");
    place.ok(&["mcp", "add", "sample", program, "sample-server", "--auto-approve", "--no-sandbox"]);
    assert_eq!(place.ok(&["call", "sample", "echo", r#"{"text": "hi"}"#]), "hi\n");
}
