//! Guests on the local socket: who is let in, and what they see.

use futures_util::StreamExt as _;
use patchbay_api::{ErrorCode, GetSnapshot, ListMcpServers, OwnerKind};
use patchbay_config::Home;
use patchbay_control::{AgentHello, Client};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use super::Owner;

async fn served() -> (Owner, Client, JoinSet<()>) {
    let owner = Owner::start("").await;
    let hub = owner.hub.clone();
    let mut serving = JoinSet::new();
    serving.spawn(async move { patchbay_control::serve(hub).await.unwrap() });
    let home = Home::resolve(Some(&owner.folder.path().join("home"))).unwrap();
    let client = Client::connect(&home).await.unwrap().expect("an owner");
    (owner, client, serving)
}

async fn raw(owner: &Owner, head: &str) -> String {
    let mut stream = UnixStream::connect(owner.folder.path().join("home/control.sock")).await.unwrap();
    stream
        .write_all(format!("{head}Host: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}").as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn only_a_guest_with_the_token_and_of_the_same_version_is_let_in() {
    let (owner, client, serving) = served().await;
    let token = std::fs::read_to_string(owner.folder.path().join("home/control.token")).unwrap();
    let post = "POST /v1/snapshot HTTP/1.1\r\nContent-Type: application/json\r\n";
    let version = concat!("x-patchbay-version: ", env!("CARGO_PKG_VERSION"), "\r\n");
    for (head, status) in [
        (format!("{post}{version}"), "401"),
        (format!("{post}{version}Authorization: Bearer {}\r\n", "0".repeat(64)), "401"),
        (format!("{post}x-patchbay-version: 0.0.0\r\nAuthorization: Bearer {token}\r\n"), "426"),
        (format!("{post}{version}Authorization: Bearer {token}\r\n"), "200"),
    ] {
        let answer = raw(&owner, &head).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    assert_eq!(client.call(&GetSnapshot {}).await.unwrap().owner.kind, OwnerKind::Desktop);
    let modes = ["control.sock", "control.token", "owner.lock"].map(|name| {
        let file = std::fs::metadata(owner.folder.path().join("home").join(name)).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777
    });
    assert_eq!(modes, [0o600; 3]);
    owner.stop().await;
    serving.join_all().await;
}

#[tokio::test]
async fn the_stream_gives_the_present_state_then_each_change_and_ends_with_the_owner() {
    let (owner, client, serving) = served().await;
    let mut snapshots = client.snapshots().await.unwrap();
    let first = snapshots.next().await.unwrap().unwrap();
    assert_eq!(first.config.servers, []);
    owner.save("[[mcp.servers]]\nname = \"new\"\ncommand = \"x\"\n");
    let second = snapshots.next().await.unwrap().unwrap();
    assert_eq!(second.config.servers.len(), 1);
    assert!(second.revision > first.revision);
    owner.stop().await;
    assert!(snapshots.next().await.is_none());
    serving.join_all().await;
}

#[tokio::test]
async fn a_held_workspace_has_a_user_until_the_guest_goes() {
    let (owner, client, serving) = served().await;
    let held = client.hold(None).await.unwrap();
    owner.until("one user", |snapshot| snapshot.workspaces.iter().any(|open| open.users == 1)).await;
    assert_eq!(client.call(&ListMcpServers { workspace: held.key.clone() }).await.unwrap(), []);
    drop(held);
    owner.until("no user", |snapshot| snapshot.workspaces.iter().any(|open| open.users == 0)).await;
    let error = client.hold(Some("/nowhere/at/all")).await.map(|_| ()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    owner.stop().await;
    serving.join_all().await;
}

#[tokio::test]
async fn an_agents_session_goes_over_the_socket_and_ends_with_the_owner() {
    let (owner, client, serving) = served().await;
    let hello = AgentHello { workspace: None, agent: patchbay_api::AgentId::primary(), reserved: vec![] };
    let (reader, mut writer) = tokio::io::split(client.agent(&hello).await.unwrap());
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    let answer: serde_json::Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    owner.stop().await;
    assert_eq!(lines.next_line().await.unwrap_or(None), None);
    serving.join_all().await;
}
