//! Servers behind a web address: reached when they come up, reached again when they come back.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use patchbay_api::ServerState;
use patchbay_tests::{Fake, program, wait_for};
use serde_json::json;
use tempfile::TempDir;

use super::{Owner, call, state, status, tools};

/// A server on this port that ends with the value.
struct Site(Child);

impl Site {
    #[expect(clippy::disallowed_methods, reason = "the test is the server's host here")]
    fn start(folder: &Path, port: u16, number: usize) -> (Self, Fake) {
        let fake = Fake::new(folder, &format!("http-{number}"), json!({"port": port, "sessions": true}));
        let child =
            Command::new(program("fake_http")).args(fake.args()).stdin(Stdio::piped()).spawn().unwrap();
        let _ = fake.wait_for("start", 1);
        (Self(child), fake)
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        wait_for("the end of the fake", || self.0.try_wait().unwrap());
    }
}

/// A port that nobody listens on now.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn a_remote_server_is_reached_by_itself_once_it_is_up_and_again_after_it_was_restarted() {
    let folder = TempDir::new().unwrap();
    let port = free_port();
    let settings = format!(
        "[[mcp.servers]]\nname = \"r\"\nurl = \"http://127.0.0.1:{port}/mcp\"\nauto_approve = true\n"
    );
    let owner = Owner::start(&settings).await;
    let lease = owner.lease().await;
    assert_eq!(tools(&owner, &lease).await, Vec::<String>::new());
    let failed = status(&lease, "r");
    assert_eq!(failed.state, ServerState::Failed);
    assert!(failed.until_ms.is_some() && failed.hint.is_some(), "it says when it is tried again: {failed:?}");

    let (site, _) = Site::start(folder.path(), port, 1);
    let connected = |snapshot: &patchbay_api::Snapshot| {
        snapshot
            .workspaces
            .iter()
            .flat_map(|open| &open.servers)
            .any(|one| one.state == ServerState::Connected)
    };
    owner.until("the server to be reached, with nobody asking", connected).await;
    assert_eq!(
        call(&owner, &lease, "r", "echo", r#"{"text":"1"}"#).await.unwrap()["content"][0]["text"],
        "1"
    );

    site.end();
    let (site, fake) = Site::start(folder.path(), port, 2);
    let again = || call(&owner, &lease, "r", "echo", r#"{"text":"2"}"#);
    // Where the old connection breaks under the call, nobody knows whether it ran: it fails, and is not sent twice.
    let answer = match again().await {
        Ok(answer) => answer,
        Err(error) => {
            assert!(error.message.contains("broke off"), "{}", error.message);
            again().await.unwrap()
        }
    };
    assert_eq!(answer["content"][0]["text"], "2", "the new process knows no session: one new handshake");
    let requests = fake.events_of("request");
    let shaken = requests.iter().filter(|request| request["message"]["method"] == "initialize").count();
    assert_eq!(shaken, 1);
    assert_eq!(state(&lease, "r"), ServerState::Connected);
    owner.stop().await;
    site.end();
}
