//! A project's files run nothing before a person said yes to exactly this content at this path.

use patchbay_api::{
    Answer, AnswerQuestion, DescribeTrust, QuestionKind, RevokeTrust, ServerState, Trust, TrustRequest,
};
use patchbay_tests::Fake;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Owner, state, tools, write};

fn mcp_json(fake: &Fake, extra: &str) -> Value {
    let mut args = fake.args();
    args.push(extra.to_owned());
    json!({"mcpServers": {"local": {"command": Fake::command(), "args": args, "env": {"KEY": "${PATCHBAY_TEST_UNSET:-none}"}}}})
}

async fn question(owner: &Owner) -> (patchbay_api::QuestionId, TrustRequest) {
    let snapshot = owner.until("the question", |snapshot| !snapshot.questions.is_empty()).await;
    let question = snapshot.questions[0].clone();
    let QuestionKind::Trust { request } = question.kind;
    (question.id, request)
}

#[tokio::test]
async fn nothing_runs_before_the_answer_and_the_question_shows_every_argument() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "local", json!({}));
    let owner = Owner::start("[sandbox]\nmode = \"off\"\n").await;
    let (_, lease) = owner.project(&mcp_json(&fake, "a \u{202e}b")).await;
    assert_eq!(state(&lease, "local"), ServerState::PendingTrust);
    assert_eq!(tools(&owner, &lease).await, Vec::<String>::new());
    let (id, request) = question(&owner).await;
    let shown = &request.servers[0];
    assert_eq!(shown.command.len(), 4);
    assert!(shown.command[3].contains("202E") && !shown.suspicious.is_empty(), "{shown:?}");
    assert_eq!(shown.leaks[0].name, "PATCHBAY_TEST_UNSET");
    assert_eq!(fake.events().len(), 0);

    owner.call(AnswerQuestion { question: id, answer: Answer::Allow }).await.unwrap();
    owner
        .until("trust to be taken", |snapshot| {
            snapshot
                .workspaces
                .iter()
                .flat_map(|open| &open.servers)
                .any(|server| server.state == ServerState::Idle)
        })
        .await;
    assert_eq!(tools(&owner, &lease).await.len(), 5);
    assert_eq!(fake.events_of("start")[0]["env"]["KEY"], "none");
    owner.stop().await;
}

#[tokio::test]
async fn a_no_stays_a_no_and_an_edit_asks_again() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "local", json!({}));
    let owner = Owner::start("").await;
    let (project, lease) = owner.project(&mcp_json(&fake, "one")).await;
    let (id, first) = question(&owner).await;
    owner.call(AnswerQuestion { question: id, answer: Answer::Deny }).await.unwrap();
    owner.until("the question to go", |snapshot| snapshot.questions.is_empty()).await;
    assert_eq!(state(&lease, "local"), ServerState::PendingTrust);
    write(&project.join(".mcp.json"), &mcp_json(&fake, "two").to_string());
    let (_, second) = question(&owner).await;
    assert_ne!(first.digest, second.digest);
    assert_eq!(fake.events().len(), 0);
    owner.stop().await;
}

#[tokio::test]
async fn trust_holds_for_this_content_at_this_path_and_can_be_taken_back() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "local", json!({}));
    let owner = Owner::start("[sandbox]\nmode = \"off\"\n").await;
    let (project, lease) = owner.project(&mcp_json(&fake, "x")).await;
    let path = project.display().to_string();
    let wanted = owner.call(DescribeTrust { path: path.clone() }).await.unwrap().request.unwrap();
    let stale = Trust { path: path.clone(), digest: "0".repeat(64) };
    owner.call(stale).await.unwrap_err();
    owner.call(Trust { path: path.clone(), digest: wanted.digest.clone() }).await.unwrap();
    owner
        .until("trust to be taken", |snapshot| {
            snapshot
                .workspaces
                .iter()
                .flat_map(|open| &open.servers)
                .all(|server| server.state == ServerState::Idle)
        })
        .await;
    owner.until("the question to be withdrawn", |snapshot| snapshot.questions.is_empty()).await;

    let other = owner.folder.path().join("elsewhere");
    write(&other.join(".mcp.json"), &mcp_json(&fake, "x").to_string());
    let elsewhere = owner.hub.lease(Some(&other)).await.unwrap();
    assert_eq!(
        state(&elsewhere, "local"),
        ServerState::PendingTrust,
        "the same content elsewhere asks again"
    );

    assert_eq!(tools(&owner, &lease).await.len(), 5);
    owner.call(RevokeTrust { path }).await.unwrap();
    owner
        .until("the server to stop", |snapshot| {
            snapshot
                .workspaces
                .iter()
                .flat_map(|open| &open.servers)
                .all(|server| server.state == ServerState::PendingTrust)
        })
        .await;
    assert!(!patchbay_tests::alive(&fake.events_of("start")[0]));
    owner.stop().await;
}

#[tokio::test]
async fn a_project_never_replaces_a_global_server() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "mine", json!({}));
    let owner = Owner::start(&super::entry("local", &fake)).await;
    let (_, lease) = owner.project(&json!({"mcpServers": {"local": {"command": "evil"}}})).await;
    assert_eq!(lease.manager().statuses().len(), 1);
    assert_eq!(tools(&owner, &lease).await.len(), 5);
    let snapshot = owner
        .until("the problem", |snapshot| snapshot.workspaces.iter().any(|open| !open.problems.is_empty()))
        .await;
    assert!(snapshot.workspaces[0].problems[0].contains("local"));
    owner.stop().await;
}

#[tokio::test]
async fn a_blocked_file_that_appears_while_a_server_runs_is_named_in_its_state() {
    let scripts = TempDir::new().unwrap();
    let fake = Fake::new(scripts.path(), "held", json!({}));
    let owner = Owner::start(&super::entry("held", &fake).replace("sandbox = false\n", "")).await;
    let (project, lease) = owner.project(&json!({})).await;
    assert_eq!(tools(&owner, &lease).await.len(), 5);
    assert!(super::status(&lease, "held").sandbox.unwrap().active);
    write(&project.join(".env"), "KEY=1");
    let named = |snapshot: &patchbay_api::Snapshot| {
        let servers = snapshot.workspaces.iter().flat_map(|open| &open.servers);
        servers
            .filter_map(|server| server.sandbox.as_ref())
            .any(|held| held.gaps.iter().any(|gap| gap.contains(".env")))
    };
    owner.until("the gap to be named", named).await;
    let read = |path: &std::path::Path| json!({"path": path}).to_string();
    let file = project.join(".env");
    let server = super::status(&lease, "held").id;
    owner.call(patchbay_api::RestartMcpServer { workspace: lease.key().clone(), server }).await.unwrap();
    let answer = super::call(&owner, &lease, "held", "read", &read(&file)).await.unwrap();
    assert_eq!(answer["isError"], true, "it is held from the next start: {answer}");
    owner.stop().await;
}
