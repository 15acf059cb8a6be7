//! Servers start at their first use, once, side by side; end with the owner; and start again after a crash.

use std::time::Duration;

use patchbay_api::{ErrorCode, RestartMcpServer, ServerState};
use patchbay_tests::{Fake, alive};
use serde_json::json;
use tempfile::TempDir;

use super::{Owner, call, entry, state, status, tools};

fn fake(folder: &TempDir, name: &str, script: serde_json::Value) -> Fake {
    Fake::new(folder.path(), name, script)
}

#[tokio::test]
async fn a_server_is_idle_without_a_process_until_its_tools_are_first_listed() {
    let scripts = TempDir::new().unwrap();
    let fake = fake(&scripts, "a", json!({}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    assert_eq!((state(&lease, "a"), fake.events().len()), (ServerState::Idle, 0));

    assert!(tools(&owner, &lease).await.contains(&"echo".to_owned()));
    let (shown, started) = (status(&lease, "a"), fake.events_of("start"));
    assert_eq!(shown.state, ServerState::Connected);
    assert_eq!((shown.pid.map(u64::from), shown.tool_count), (started[0]["pid"].as_u64(), Some(5)));

    owner.stop().await;
    assert!(!alive(&started[0]), "nothing outlives the owner");
}

#[tokio::test]
async fn concurrent_first_uses_start_a_server_once() {
    let scripts = TempDir::new().unwrap();
    let fake = fake(&scripts, "a", json!({}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    let uses = (0..8).map(|at| {
        let (owner, lease) = (&owner, &lease);
        async move {
            if at % 2 == 0 {
                tools(owner, lease).await.len()
            } else {
                usize::from(call(owner, lease, "a", "echo", r#"{"text":"x"}"#).await.is_ok())
            }
        }
    });
    let answers = futures_util::future::join_all(uses).await;
    assert_eq!(answers, [5, 1, 5, 1, 5, 1, 5, 1]);
    assert_eq!(fake.events_of("start").len(), 1);
    owner.stop().await;
}

#[tokio::test]
async fn a_dead_or_silent_server_takes_nothing_from_the_others() {
    let scripts = TempDir::new().unwrap();
    let good = fake(&scripts, "good", json!({}));
    let silent = fake(&scripts, "silent", json!({"on": {"initialize": ["hang"]}}));
    let dead = fake(
        &scripts,
        "dead",
        json!({"on": {"start": [{"raw": {"to": "stderr", "text": "no licence\n"}}, {"exit": 3}]}}),
    );
    let settings = [entry("good", &good), entry("silent", &silent), entry("dead", &dead)].concat();
    let owner = Owner::start(&settings).await;
    let lease = owner.lease().await;
    let naming = owner.hub.naming(Vec::new());
    let agent = patchbay_api::AgentId::primary();
    let (patience, none) = (Some(Duration::from_secs(10)), std::collections::HashMap::new());
    let listing = lease.manager().offer(&agent, &naming, &none, patience);
    let dead_settled = owner.until("the dead one", |snapshot| {
        snapshot.workspaces.iter().flat_map(|open| &open.servers).any(|one| one.state == ServerState::Failed)
    });
    let working = owner.until("the good one", |snapshot| {
        snapshot
            .workspaces
            .iter()
            .flat_map(|open| &open.servers)
            .any(|one| one.state == ServerState::Connected)
    });
    tokio::select! {
        _ = listing => {}
        _ = async { tokio::join!(dead_settled, working) } => {}
    }
    let failed = status(&lease, "dead");
    let cause = failed.cause.unwrap();
    assert!(cause.contains('3'), "the exit code is told: {cause}");
    assert!(failed.log_tail[0].ends_with("no licence"), "{:?}", failed.log_tail);
    assert_eq!(state(&lease, "silent"), ServerState::Connecting);
    assert_eq!(
        call(&owner, &lease, "good", "echo", r#"{"text":"hi"}"#).await.unwrap()["content"][0]["text"],
        "hi"
    );
    owner.stop().await;
    assert!(
        silent.events_of("start").iter().all(|event| !alive(event)),
        "also what was still starting has ended"
    );
}

#[tokio::test]
async fn a_call_in_flight_fails_at_once_when_its_server_ends_and_the_next_one_restarts_it() {
    let scripts = TempDir::new().unwrap();
    let crash = json!([{"raw": {"to": "stderr", "text": "out of memory\n"}}, {"exit": 9}]);
    let fake = fake(&scripts, "a", json!({"runs": [{"tools/call": crash}, {}]}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    let error = call(&owner, &lease, "a", "echo", r#"{"text":"x"}"#).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unavailable);
    assert!(error.message.contains('9') && error.message.contains("out of memory"), "{}", error.message);
    assert_eq!(
        call(&owner, &lease, "a", "echo", r#"{"text":"again"}"#).await.unwrap()["content"][0]["text"],
        "again"
    );
    assert_eq!(fake.events_of("start").len(), 2);
    owner.stop().await;
}

#[tokio::test]
async fn a_server_that_ends_at_once_each_time_is_made_to_wait_and_says_until_when() {
    let scripts = TempDir::new().unwrap();
    let fake = fake(&scripts, "a", json!({"on": {"start": [{"exit": 1}]}}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    for _ in 0..12 {
        call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    }
    assert!(fake.events_of("start").len() <= 5, "{} starts", fake.events_of("start").len());
    assert!(status(&lease, "a").until_ms.is_some());
    let error = call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    assert!(error.hint.unwrap().contains("may start again in"));
    let server = status(&lease, "a").id;
    owner.call(RestartMcpServer { workspace: lease.key().clone(), server }).await.unwrap();
    let before = fake.events_of("start").len();
    call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    assert_eq!(fake.events_of("start").len(), before + 1, "a restart by hand starts it at once");
    owner.stop().await;
}

#[tokio::test]
async fn noise_on_standard_output_ends_nothing() {
    let scripts = TempDir::new().unwrap();
    let noise = |text: &str| json!({"raw": {"to": "stdout", "text": text}});
    let script = json!({"on": {
        "start": [noise("Starting…\n\u{1b}[32mgreen\u{1b}[0m\n\n{not json}\n[1,2]\n"), {"hex": {"to": "stdout", "bytes": "ff0a"}}],
        "tools/call": [noise("10%\r50%\r"), "reply"],
    }});
    let fake = fake(&scripts, "a", script);
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    assert_eq!(
        call(&owner, &lease, "a", "echo", r#"{"text":"hi"}"#).await.unwrap()["content"][0]["text"],
        "hi"
    );
    let server = status(&lease, "a").id;
    let log = owner
        .call(patchbay_api::ServerLog { workspace: lease.key().clone(), server })
        .await
        .unwrap()
        .join("\n");
    assert!(log.contains("Starting…") && log.contains("not json"), "{log}");
    owner.stop().await;
}

#[tokio::test]
async fn a_call_ends_at_the_servers_limit_and_the_server_is_told() {
    let scripts = TempDir::new().unwrap();
    let fake = fake(&scripts, "a", json!({"on": {"tools/call": [{"background": ["hang"]}]}}));
    let owner = Owner::start(&(entry("a", &fake) + "timeout_seconds = 1\n")).await;
    let lease = owner.lease().await;
    let error = call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Timeout);
    assert!(error.message.contains("echo") && error.message.contains("1 s"), "{}", error.message);
    let lines = tokio::task::spawn_blocking(move || {
        patchbay_tests::wait_for("the cancellation", || {
            fake.messages_of("notifications/cancelled").pop().map(|one| (one, fake.messages_of("tools/call")))
        })
    });
    let (cancelled, calls) = lines.await.unwrap();
    assert_eq!(cancelled["params"]["requestId"], calls[0]["id"]);
    owner.stop().await;
}

#[tokio::test]
async fn without_auto_approval_a_call_is_denied_before_anything_starts() {
    let scripts = TempDir::new().unwrap();
    let fake = fake(&scripts, "a", json!({}));
    let owner = Owner::start(&entry("a", &fake).replace("auto_approve = true", "")).await;
    let lease = owner.lease().await;
    let error = call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    assert_eq!((error.code, fake.events().len()), (ErrorCode::Denied, 0));
    assert!(error.message.contains("auto_approve"), "{}", error.message);
    owner.stop().await;
}

#[tokio::test]
async fn a_second_owner_of_a_home_is_refused_and_told_the_firsts_pid() {
    let owner = Owner::start("").await;
    let Err(error) =
        super::open(&owner.folder.path().join("home"), patchbay_api::OwnerKind::Serve).await.map(|_| ())
    else {
        panic!("two owners")
    };
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    owner.stop().await;
}

#[tokio::test]
async fn one_that_shakes_hands_and_ends_each_time_is_made_to_wait_and_disturbs_nobody() {
    let scripts = TempDir::new().unwrap();
    let flapping = fake(&scripts, "flapping", json!({"on": {"tools/list": ["reply", {"exit": 0}]}}));
    let good = fake(&scripts, "good", json!({}));
    let owner =
        Owner::start(&(entry("flapping", &flapping) + "prefix = \"f\"\n" + &entry("good", &good))).await;
    let lease = owner.lease().await;
    tools(&owner, &lease).await;
    let pid = status(&lease, "good").pid;
    for _ in 0..12 {
        // Each use finds it dead or starts it: either way the other server answers.
        let _ = call(&owner, &lease, "flapping", "echo", r#"{"text":"x"}"#).await;
        tools(&owner, &lease).await;
    }
    assert!(flapping.events_of("start").len() <= 6, "{} starts", flapping.events_of("start").len());
    assert_eq!((status(&lease, "good").pid, good.events_of("start").len()), (pid, 1));
    owner.stop().await;
}

#[tokio::test]
async fn many_servers_that_never_answer_keep_no_other_from_starting() {
    let scripts = TempDir::new().unwrap();
    let hung: Vec<_> = (0..9)
        .map(|at| fake(&scripts, &format!("hung{at}"), json!({"on": {"initialize": ["hang"]}})))
        .collect();
    let good = fake(&scripts, "good", json!({}));
    let mut settings: String =
        hung.iter().enumerate().map(|(at, fake)| entry(&format!("h{at}"), fake)).collect();
    settings.push_str(&entry("good", &good));
    let owner = Owner::start(&settings).await;
    let lease = owner.lease().await;
    let (naming, none) = (owner.hub.naming(Vec::new()), std::collections::HashMap::new());
    let agent = patchbay_api::AgentId::primary();
    let listing = lease.manager().offer(&agent, &naming, &none, None);
    let connected = owner.until("the good one", |snapshot| {
        snapshot
            .workspaces
            .iter()
            .flat_map(|open| &open.servers)
            .any(|one| one.state == ServerState::Connected)
    });
    tokio::select! {
        _ = listing => panic!("a server that never answers has settled"),
        _ = connected => {}
    }
    owner.stop().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_call_at_once_and_the_next_works() {
    let scripts = TempDir::new().unwrap();
    // {"jsonrpc":"2.0","id":…,"result":"<byte ff>"}
    let broken = json!([{"raw": {"to": "stdout", "text": "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\""}}, {"hex": {"to": "stdout", "bytes": "ff227d0a"}}]);
    let fake = fake(&scripts, "a", json!({"on": {"tools/call:echo": broken}}));
    let owner = Owner::start(&entry("a", &fake)).await;
    let lease = owner.lease().await;
    let error = call(&owner, &lease, "a", "echo", "{}").await.unwrap_err();
    assert!(error.message.contains("cannot be read"), "{}", error.message);
    assert!(call(&owner, &lease, "a", "surroundings", "{}").await.is_ok());
    owner.stop().await;
}
