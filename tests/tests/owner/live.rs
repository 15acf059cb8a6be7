//! Settings apply while running: by a command, by an editor, by a project's file; wrong ones change nothing.

use patchbay_api::{
    ErrorCode, ListMcpServerConfigs, RemoveMcpServer, SaveMcpServer, ServerState, SetMcpServerEnabled,
};
use patchbay_tests::{Fake, alive};
use serde_json::json;
use tempfile::TempDir;

use super::{Owner, entry, state, status, tools, write};

/// Two servers that run, and the folder of their scripts.
async fn two() -> (Owner, Fake, Fake, patchbay_hub::Lease, TempDir) {
    let scripts = TempDir::new().unwrap();
    let (a, b) = (Fake::new(scripts.path(), "a", json!({})), Fake::new(scripts.path(), "b", json!({})));
    let owner = Owner::start(&(entry("a", &a) + &entry("b", &b))).await;
    let lease = owner.lease().await;
    assert_eq!(tools(&owner, &lease).await.len(), 5, "the second one's names are taken by the first");
    (owner, a, b, lease, scripts)
}

#[tokio::test]
async fn switching_a_server_off_ends_it_alone_and_leaves_the_file_as_it_was_when_switched_on_again() {
    let (owner, a, b, lease, _scripts) = two().await;
    let (before, pid_b) = (owner.settings(), status(&lease, "b").pid);
    owner.call(SetMcpServerEnabled { name: "a".into(), enabled: false }).await.unwrap();
    assert!(owner.settings().contains("disabled = true"));
    owner.until("a to end", |snapshot| snapshot.config.servers[0].state == Some(ServerState::Disabled)).await;
    assert!(!alive(&a.events_of("start")[0]) && alive(&b.events_of("start")[0]));
    assert_eq!(status(&lease, "b").pid, pid_b);
    owner.call(SetMcpServerEnabled { name: "a".into(), enabled: true }).await.unwrap();
    owner.until("a to be idle", |snapshot| snapshot.config.servers[0].state == Some(ServerState::Idle)).await;
    assert_eq!(owner.settings(), before);
    owner.stop().await;
}

#[tokio::test]
async fn an_editors_save_reaches_running_servers_and_unrelated_ones_keep_their_process() {
    let (owner, a, b, lease, _scripts) = two().await;
    let pid_b = status(&lease, "b").pid;
    let began = tokio::time::Instant::now();
    owner.save(&owner.settings().replacen(
        "sandbox = false\n",
        "sandbox = false\nenv = { NEW = \"1\" }\n",
        1,
    ));
    owner.until("a to stop", |snapshot| snapshot.config.servers[0].state == Some(ServerState::Idle)).await;
    // Read off a real file system and a real process: the promise is one second, most of which the stop may take.
    eprintln!("an edit reached the server after {:?}", began.elapsed());
    assert!(tools(&owner, &lease).await.contains(&"echo".to_owned()));
    let starts = a.events_of("start");
    assert_eq!((starts.len(), starts[1]["env"]["NEW"].as_str()), (2, Some("1")));
    assert_eq!((b.events_of("start").len(), status(&lease, "b").pid), (1, pid_b));
    owner.stop().await;
}

#[tokio::test]
async fn a_file_that_does_not_parse_keeps_the_last_good_state_and_is_reported_with_its_place() {
    let (owner, a, _, lease, _scripts) = two().await;
    let good = owner.settings();
    let broken = good.clone() + "[[mcp.servers]]\nname = \"c\ncommand = \"x\"\n";
    owner.save(&broken);
    let snapshot = owner.until("the report", |snapshot| snapshot.config.broken.is_some()).await;
    let place = snapshot.config.broken.clone().unwrap().place;
    assert_eq!(place.line, Some(u32::try_from(good.lines().count()).unwrap() + 2));
    assert_eq!((snapshot.config.servers.len(), state(&lease, "a")), (2, ServerState::Connected));
    let error = owner.call(SetMcpServerEnabled { name: "a".into(), enabled: false }).await.unwrap_err();
    assert!(error.place.is_some());
    assert_eq!(owner.settings(), broken, "a file that does not parse is never written");
    owner.save(&good);
    owner.until("the file to be good again", |snapshot| snapshot.config.broken.is_none()).await;
    assert_eq!(a.events_of("start").len(), 1);
    owner.stop().await;
}

#[tokio::test]
async fn while_running_a_wrong_entry_changes_nothing_and_is_named() {
    let (owner, _, _, lease, _scripts) = two().await;
    let wrong = owner.settings() + "[[mcp.servers]]\nname = \"a\"\ncommand = \"twice\"\n";
    owner.save(&wrong);
    let snapshot = owner.until("the report", |snapshot| snapshot.config.broken.is_some()).await;
    assert_eq!((snapshot.config.servers.len(), state(&lease, "a")), (2, ServerState::Connected));
    assert!(snapshot.config.broken.clone().unwrap().reason.contains("name"));
    owner.stop().await;
}

#[tokio::test]
async fn the_desktop_starts_on_wrong_settings_lists_them_and_runs_the_good_ones() {
    let scripts = TempDir::new().unwrap();
    let good = Fake::new(scripts.path(), "good", json!({}));
    let bad = "[[mcp.servers]]\nname = \"neither\"\ntimeout_seconds = 5\n[[mcp.servers]]\nname = \"both\"\ncommand = \"x\"\nurl = \"http://127.0.0.1:1/\"\n";
    let settings = bad.to_owned() + &entry("good", &good);
    let owner = Owner::start(&settings).await;
    let lease = owner.lease().await;
    assert_eq!(tools(&owner, &lease).await.len(), 5);
    let snapshot = owner.hub.snapshots().borrow().clone();
    let lines: Vec<_> =
        snapshot.config.servers.iter().filter_map(|server| server.invalid.as_ref()?.place.line).collect();
    assert_eq!(lines.len(), 2);
    owner.call(SetMcpServerEnabled { name: "good".into(), enabled: false }).await.unwrap();
    assert!(owner.settings().starts_with(bad), "the wrong entries keep their text");
    owner.stop().await;

    let folder = TempDir::new().unwrap();
    write(&folder.path().join("settings.toml"), &settings);
    let Err(error) = super::open(folder.path(), patchbay_api::OwnerKind::Serve).await.map(|_| ()) else {
        panic!("started")
    };
    let error = error.to_api();
    assert!(error.message.contains("neither") && error.place.is_some(), "{error:?}");
}

#[tokio::test]
async fn secrets_come_to_guests_as_dots_and_go_back_unchanged() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "a", json!({}));
    let owner =
        Owner::start(&(entry("a", &fake) + "env = { API_TOKEN = \"TESTSECRET1\", PLAIN = \"${HOME}\" }\n"))
            .await;
    let before = owner.settings();
    let list = owner.call(ListMcpServerConfigs {}).await.unwrap();
    assert!(!serde_json::to_string(&list).unwrap().contains("TESTSECRET"));
    let mut draft = list.servers[0].clone();
    assert_eq!(draft.env["PLAIN"], "${HOME}", "a reference is shown as one");
    draft.timeout_seconds = Some(7);
    let save =
        SaveMcpServer { base: Some(list.revision.clone()), replaces: Some("a".into()), draft: draft.clone() };
    owner.call(save).await.unwrap();
    assert_eq!(
        owner.settings().replace("timeout_seconds = 7\n", ""),
        before,
        "only what differs was written"
    );
    let stale = SaveMcpServer { base: Some(list.revision), replaces: Some("a".into()), draft };
    assert_eq!(owner.call(stale).await.unwrap_err().code, ErrorCode::Conflict);
    owner.stop().await;
}

#[tokio::test]
async fn an_unknown_server_is_not_found_and_nothing_is_written() {
    let owner = Owner::start("# mine\n").await;
    let error = owner.call(RemoveMcpServer { base: None, name: "x".into() }).await.unwrap_err();
    assert_eq!((error.code, owner.settings().as_str()), (ErrorCode::McpServerNotFound, "# mine\n"));
    owner.stop().await;
}
