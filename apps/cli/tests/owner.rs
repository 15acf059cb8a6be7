//! `serve`, and every command as a guest of it.

use serde_json::json;

use crate::support::{Place, Server, wait_for};

fn place() -> (Place, Server) {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    crate::support::write(&place.settings(), &server.entry("one", "auto_approve = true"));
    (place, server)
}

#[test]
fn commands_share_the_owners_server_and_its_end_takes_the_server_along() {
    let (place, server) = place();
    let owner = place.serve();
    assert!(place.ok(&["status"]).contains(&format!("`patchbay serve` runs (process {})", owner.pid())));
    assert!(place.ok(&["status"]).contains("one     idle"));
    assert!(place.ok(&["tools"]).starts_with("one  3 tools\n"));
    place.ok(&["call", "one", "echo"]);
    place.ok(&["call", "one", "echo"]);
    let pids = server.pids();
    assert_eq!(pids.len(), 1, "each command started its own server");
    let status = place.json(&["status"]);
    assert_eq!(status["owner"]["pid"], owner.pid());
    let shown = &status["workspaces"][0]["servers"][0];
    assert_eq!(
        (&shown["state"], &shown["pid"], &shown["toolCount"]),
        (&json!("connected"), &json!(pids[0]), &json!(3))
    );
    let log = place.ok(&["log", "one"]);
    assert!(log.ends_with(" hello from stderr\n") && log.lines().count() == 1, "{log}");
    assert!(place.ok(&["restart", "one"]).starts_with("Stopped one"));
    place.ok(&["tools"]);
    assert_eq!(server.pids().len(), 2);
    assert_eq!(owner.end("-TERM"), Some(0));
    assert!(server.stopped_in_order());
    assert!(place.ok(&["status"]).contains("No Patchbay runs"));
}

#[test]
fn edits_by_a_guest_reach_running_servers_and_a_name_in_use_is_refused() {
    let (place, server) = place();
    let owner = place.serve();
    place.ok(&["tools"]);
    assert!(place.fails(2, &["mcp", "add", "one", "x"]).contains("exists already"));
    place.ok(&["mcp", "disable", "one"]);
    server.wait_until_gone();
    assert!(place.ok(&["status"]).contains("one     disabled: configured, not started"));
    place.ok(&["mcp", "remove", "one"]);
    assert!(place.ok(&["status"]).contains("No servers are configured here"));
    assert_eq!(owner.end("-INT"), Some(0));
}

#[test]
fn a_second_owner_is_refused_and_told_the_first_ones_pid() {
    let (place, _server) = place();
    let owner = place.serve();
    let told = place.fails(5, &["serve"]);
    assert!(told.contains(&owner.pid().to_string()), "{told}");
    assert_eq!(owner.end("-TERM"), Some(0));
}

#[test]
fn serve_says_in_one_line_what_it_holds() {
    use std::io::BufRead as _;
    let (place, _server) = place();
    let mut child = place.command(&["serve"]).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (home, pid) = (place.home(), child.id());
    let (home, socket) = (home.display(), home.join("control.sock"));
    let socket = socket.display();
    assert_eq!(
        line,
        format!(
            "Patchbay holds the servers of {home} (process {pid}) and listens on {socket}; Ctrl-C ends it\n"
        )
    );
    crate::support::send_signal("-INT", child.id());
    assert_eq!(wait_for("its end", || child.try_wait().unwrap()).code(), Some(0));
}

#[test]
fn what_needs_an_owner_says_so_without_one() {
    let (place, _server) = place();
    for command in ["restart", "log"] {
        let told = place.fails(6, &[command, "one"]);
        assert!(told.contains("patchbay serve"), "{told}");
        assert!(place.fails(3, &[command, "nobody"]).contains("nobody"));
    }
}
