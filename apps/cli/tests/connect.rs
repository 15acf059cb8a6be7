//! `connect`: an agent's end, with an owner, without one, and when the owner goes away.

use serde_json::json;

use crate::support::{Agent, Place, Server, alive, wait_for, write};

fn place() -> (Place, Server) {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    write(&place.settings(), &server.entry("one", "auto_approve = true"));
    (place, server)
}

fn call(tool: &str) -> serde_json::Value {
    json!({ "name": tool, "arguments": {} })
}

#[test]
fn alone_it_holds_the_servers_until_the_agent_ends() {
    let (place, server) = place();
    let mut agent = Agent::open(&place, &[]);
    assert!(server.events().is_empty(), "a server was started before it was needed");
    assert_eq!(agent.tools(1), ["echo", "hang", "fail"]);
    let answer = agent.ask(2, "tools/call", &call("echo"));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("said by"), "{answer}");
    agent.request(3, "tools/call", &call("hang"));
    server.wait_for("hang", 1);
    assert_eq!(agent.end(), Some(0));
    assert!(server.stopped_in_order());
}

#[test]
fn the_agents_name_and_its_own_tools_shape_what_it_is_offered() {
    let (place, server) = place();
    write(&place.settings(), &server.entry("one", "agents = [\"codex\"]\n"));
    let mut agent = Agent::open(&place, &[]);
    assert!(agent.tools(1).is_empty());
    assert_eq!(agent.end(), Some(0));
    let mut agent =
        Agent::open(&place, &["--agent", "codex", "--sub-agent", "--reserved", "hang", "--reserved", "fail"]);
    assert_eq!(agent.tools(1), ["echo"]);
    assert_eq!(agent.end(), Some(0));
}

#[test]
fn a_signal_ends_it_and_its_servers() {
    let (place, server) = place();
    let mut agent = Agent::open(&place, &[]);
    agent.tools(1);
    assert_eq!(agent.signal("-TERM"), Some(130));
    assert!(server.stopped_in_order());
}

#[test]
fn with_an_owner_agents_share_its_servers_and_their_end_leaves_them_running() {
    let (place, server) = place();
    let owner = place.serve();
    let (mut first, mut second) = (Agent::open(&place, &[]), Agent::open(&place, &["--agent", "b"]));
    assert_eq!(first.tools(1), ["echo", "hang", "fail"]);
    assert_eq!(second.tools(1), ["echo", "hang", "fail"]);
    first.ask(2, "tools/call", &call("echo"));
    second.ask(2, "tools/call", &call("echo"));
    assert_eq!(first.end(), Some(0));
    assert_eq!(second.end(), Some(0));
    assert_eq!(server.pids().len(), 1);
    assert!(alive(server.pids()[0]));
    assert_eq!(owner.end("-TERM"), Some(0));
    server.wait_until_gone();
}

#[test]
fn an_owner_that_goes_away_fails_running_calls_and_the_next_one_takes_over() {
    let (place, server) = place();
    let owner = place.serve();
    let mut agent = Agent::open(&place, &[]);
    agent.tools(1);
    agent.request(2, "tools/call", &call("hang"));
    server.wait_for("hang", 1);
    assert_eq!(owner.end("-KILL"), None);
    let answer = agent.answer(2);
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("has ended"), "{answer}");
    // What is asked meanwhile waits for the next owner.
    agent.request(3, "tools/list", &json!({}));
    let owner = place.serve();
    let news = agent.next();
    assert_eq!(news["method"], "notifications/tools/list_changed", "{news}");
    assert_eq!(agent.answer(3)["result"]["tools"].as_array().unwrap().len(), 3);
    agent.ask(4, "tools/call", &call("echo"));
    let shown = place.json(&["status"]);
    assert_eq!(shown["workspaces"][0]["servers"][0]["pid"], server.pids()[1], "the new owner holds it");
    assert_eq!(agent.end(), Some(0));
    assert_eq!(owner.end("-TERM"), Some(0));
    server.wait_until_gone();
}

#[test]
fn when_no_owner_comes_back_the_relay_goes_on_alone() {
    let (place, server) = place();
    let owner = place.serve();
    let mut agent = Agent::open(&place, &[]);
    agent.tools(1);
    assert_eq!(owner.end("-TERM"), Some(0));
    agent.wait_for_words("waiting for another one");
    agent.request(2, "tools/call", &call("echo"));
    agent.wait_for_words("holds the servers of this agent itself");
    assert!(agent.answer(2)["result"].is_object());
    let pid = *server.pids().last().unwrap();
    assert!(alive(pid));
    assert_eq!(agent.end(), Some(0));
    assert!(server.stopped_in_order());
}

#[test]
fn an_agent_that_ends_while_it_has_no_owner_is_let_go_at_once() {
    let (place, _server) = place();
    let owner = place.serve();
    let mut agent = Agent::open(&place, &[]);
    agent.tools(1);
    assert_eq!(owner.end("-TERM"), Some(0));
    agent.wait_for_words("waiting for another one");
    assert_eq!(agent.end(), Some(0));
}

#[test]
fn standard_streams_that_are_files_work_as_well() {
    let (place, server) = place();
    let input = place.home().join("input");
    write(
        &input,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n",
    );
    let mut child = place.command(&["connect"]).stdin(std::fs::File::open(&input).unwrap()).spawn().unwrap();
    let status = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert!(server.events().is_empty());
}

#[test]
fn a_socket_as_standard_input_and_output_works_as_well() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::fd::OwnedFd;
    let (place, server) = place();
    let (mut near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    let far = || OwnedFd::from(far.try_clone().unwrap());
    let mut child = place.command(&["connect"]).stdin(far()).stdout(far()).spawn().unwrap();
    writeln!(near, r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#).unwrap();
    let mut line = String::new();
    BufReader::new(near.try_clone().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"echo\""), "{line}");
    near.shutdown(std::net::Shutdown::Write).unwrap();
    let status = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    server.wait_until_gone();
}
