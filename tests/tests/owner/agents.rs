//! Agents' sessions: raw lines over any stream, each with its own names, ids and running calls.

use std::sync::Arc;
use std::time::Duration;

use patchbay_api::{AgentId, SetMcpServerEnabled};
use patchbay_gateway::Identity;
use patchbay_hub::Lease;
use patchbay_tests::{Fake, PATIENCE};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

use super::{Owner, entry};

struct Agent {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Agent {
    #[expect(clippy::disallowed_methods, reason = "awaited in `leave`")]
    async fn connect(owner: &Owner, lease: &Lease, agent: AgentId, reserved: &[&str]) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(far);
        let naming = owner.hub.naming(reserved.iter().map(ToString::to_string).collect());
        let manager = Arc::clone(lease.manager());
        let serving = tokio::spawn(patchbay_gateway::serve(
            reader,
            writer,
            manager,
            Identity { agent, naming },
            CancellationToken::new(),
        ));
        let (output, input) = tokio::io::split(near);
        let mut agent = Self { input, output: BufReader::new(output), serving };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = agent.request(&json!(1), "initialize", &hello).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        agent
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.output.read_line(&mut line))
            .await
            .expect("an answer in time")
            .unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn request(&mut self, id: &Value, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        self.line().await
    }

    async fn names(&mut self) -> Vec<String> {
        let list = self.request(&json!("list"), "tools/list", &json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn leave(self) {
        drop((self.input, self.output));
        self.serving.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn definitions_and_results_pass_as_the_server_wrote_them() {
    let scripts = TempDir::new().unwrap();
    let tool = json!({"name": "odd", "inputSchema": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, "x-vendor": {"n": 1.0}, "execution": {"taskSupport": "never"}});
    let result = json!({"content": [{"type": "text", "text": "ok", "x": null}], "messages": [], "big": 9_007_199_254_740_993_u64, "f": 1.0});
    let script = json!({"on": {"tools/list": [{"result": {"tools": [tool, {"name": "bad"}]}}], "tools/call": [{"result": result}]}});
    let fake = Fake::new(scripts.path(), "a", script);
    let owner = Owner::start(&(entry("a", &fake) + "prefix = \"p\"\n")).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    let list = agent.request(&json!(2), "tools/list", &json!({})).await;
    let mut wanted = tool.clone();
    wanted["name"] = "p__odd".into();
    assert_eq!(list["result"]["tools"], json!([wanted]));
    let params =
        json!({"name": "p__odd", "arguments": {"n": 1.50}, "_meta": {"progressToken": 7, "other": true}});
    let answer = agent.request(&json!("x-1"), "tools/call", &params).await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!("x-1"), &result));
    let sent = &fake.messages_of("tools/call")[0]["params"];
    assert_eq!(
        (&sent["name"], &sent["arguments"], &sent["_meta"]["other"]),
        (&json!("odd"), &json!({"n": 1.50}), &json!(true))
    );
    assert!(sent["_meta"].get("progressToken").is_none(), "the agent's token means nothing to the server");
    agent.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_first_list_waits_a_second_at_most_and_the_late_server_is_announced() {
    let scripts = TempDir::new().unwrap();
    let gate = scripts.path().join("go");
    let quick = Fake::new(scripts.path(), "quick", json!({}));
    let late =
        Fake::new(scripts.path(), "late", json!({"on": {"initialize": [{"wait_file": gate}, "reply"]}}));
    let owner = Owner::start(&(entry("quick", &quick) + &entry("late", &late) + "prefix = \"late\"\n")).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    let before = agent.names().await;
    assert!(before.contains(&"echo".into()) && !before.contains(&"late__echo".into()), "{before:?}");
    super::write(&gate, "");
    assert_eq!(agent.line().await["method"], "notifications/tools/list_changed");
    assert!(agent.names().await.contains(&"late__echo".into()));
    agent.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_name_stays_with_its_server_when_that_is_switched_off() {
    let scripts = TempDir::new().unwrap();
    let (a, b) = (Fake::new(scripts.path(), "a", json!({})), Fake::new(scripts.path(), "b", json!({})));
    let owner = Owner::start(&(entry("a", &a) + &entry("b", &b))).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    assert_eq!(agent.names().await.len(), 5);
    owner.call(SetMcpServerEnabled { name: "a".into(), enabled: false }).await.unwrap();
    assert_eq!(agent.line().await["method"], "notifications/tools/list_changed");
    assert_eq!(
        agent.names().await,
        Vec::<String>::new(),
        "the names of a are not given to b in this session"
    );
    let call = json!({"name": "echo", "arguments": {"text": "x"}});
    let answer = agent.request(&json!(3), "tools/call", &call).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("disabled"), "{answer}");
    assert_eq!(b.messages_of("tools/call").len(), 0, "nothing else runs in its place");
    let unknown = agent.request(&json!(4), "tools/call", &json!({"name": "ech", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    agent.leave().await;
    let mut fresh = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    assert_eq!(fresh.names().await.len(), 5, "another session is offered them from b");
    fresh.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn who_sees_what_follows_agents_and_reserved_names() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "a", json!({}));
    let owner = Owner::start(&(entry("a", &fake) + "agents = [\"codex\"]\n")).await;
    let lease = owner.lease().await;
    let named = AgentId { name: Some("codex".into()), sub_agent: true };
    let mut codex = Agent::connect(&owner, &lease, named, &["read", "write"]).await;
    assert_eq!(codex.names().await, ["echo", "surroundings", "connect"]);
    let mut other = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    assert_eq!(other.names().await, Vec::<String>::new());
    let answer = other.request(&json!(5), "tools/call", &json!({"name": "echo", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602);
    codex.leave().await;
    other.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server_and_gets_no_answer() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "a", json!({"on": {"tools/call": [{"background": ["hang"]}]}}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    agent.names().await;
    agent.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "echo", "arguments": {}}})).await;
    let began = fake.clone();
    tokio::task::spawn_blocking(move || {
        patchbay_tests::wait_for("the call", || began.messages_of("tools/call").pop())
    })
    .await
    .unwrap();
    agent
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}))
        .await;
    let told = fake.clone();
    let cancelled = tokio::task::spawn_blocking(move || {
        patchbay_tests::wait_for("the cancellation", || told.messages_of("notifications/cancelled").pop())
    });
    assert_eq!(cancelled.await.unwrap()["params"]["requestId"], fake.messages_of("tools/call")[0]["id"]);
    assert_eq!(
        agent.request(&json!(10), "ping", &json!({})).await,
        json!({"jsonrpc": "2.0", "id": 10, "result": {}})
    );
    agent.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_storm_of_list_changes_makes_few_lists() {
    let scripts = TempDir::new().unwrap();
    let changed = json!({"send": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}});
    let second = json!([{"name": "t2", "inputSchema": {"type": "object"}}]);
    let script = json!({"on": {"tools/call": ["reply", {"set_tools": second}, {"repeat": {"times": 50, "actions": [changed]}}]}});
    let fake = Fake::new(scripts.path(), "a", script);
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    agent.names().await;
    let call = json!({"name": "echo", "arguments": {"text": "x"}});
    assert_eq!(agent.request(&json!(3), "tools/call", &call).await["result"]["isError"], false);
    assert_eq!(agent.line().await["method"], "notifications/tools/list_changed");
    assert_eq!(agent.names().await, ["t2"]);
    tokio::time::timeout(Duration::from_secs(1), agent.line())
        .await
        .expect_err("one change is announced once");
    assert!(fake.messages_of("tools/list").len() <= 4, "{} lists", fake.messages_of("tools/list").len());
    agent.leave().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_call_of_a_remembered_name_waits_for_its_server_to_start() {
    let scripts = TempDir::new().unwrap();
    let gate = scripts.path().join("go");
    let late =
        Fake::new(scripts.path(), "late", json!({"on": {"initialize": [{"wait_file": gate}, "reply"]}}));
    let owner = Owner::start(&entry("late", &late)).await;
    let lease = owner.lease().await;
    let mut agent = Agent::connect(&owner, &lease, AgentId::primary(), &[]).await;
    assert_eq!(agent.names().await, Vec::<String>::new());
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    agent.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).await;
    super::write(&gate, "");
    let mut answer = agent.line().await;
    while answer["id"] != 2 {
        answer = agent.line().await;
    }
    assert_eq!(answer["result"]["content"][0]["text"], "x");
    agent.leave().await;
    owner.stop().await;
}
