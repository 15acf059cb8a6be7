//! The audit log: what stands in it, for how long, and what is never in it.

use std::{fs, path::Path};

use patchbay_api::{AgentId, Revision, ServerId, WorkspaceKey};
use patchbay_records::{
    Audit, AuditEvent, CallOutcome, DecisionReason, Limits, ProcessChange, SettingsAction, SignInChange,
    TrustChange,
};
use patchbay_secrets::Redactor;
use serde_json::Value;
use tempfile::TempDir;
use time::{Duration, OffsetDateTime, UtcOffset};

/// 2026-03-01T12:00:00.5Z.
pub fn noon() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(1_772_366_400_500_000_000).unwrap()
}

pub fn open(home: &Path, limits: Limits) -> Audit {
    Audit::open(home, Redactor::new(), limits, noon()).unwrap()
}

fn server(name: &str) -> ServerId {
    ServerId::global(name.try_into().unwrap())
}

pub fn call(tool: &str) -> AuditEvent {
    AuditEvent::Call {
        workspace: WorkspaceKey::none(),
        server: server("github"),
        tool: tool.into(),
        agent: AgentId { name: Some("codex".into()), sub_agent: false },
        outcome: CallOutcome::Ok,
        duration_ms: 12,
    }
}

fn denied(tool: &str) -> AuditEvent {
    AuditEvent::Decision {
        workspace: WorkspaceKey::none(),
        server: server("github"),
        tool: tool.into(),
        agent: AgentId::primary(),
        allowed: false,
        reason: DecisionReason::NoApprover,
        rule: None,
    }
}

fn text(home: &TempDir, day: &str) -> String {
    fs::read_to_string(home.path().join("audit").join(format!("{day}.jsonl"))).unwrap()
}

fn lines(home: &TempDir, day: &str) -> Vec<Value> {
    text(home, day).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn files(home: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(home.path().join("audit"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[expect(clippy::disallowed_methods, reason = "a test sets up files as other days would have left them")]
fn put(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
}

#[test]
fn every_event_is_one_line_of_json() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits::default());
    for event in [
        call("search"),
        denied("rm"),
        AuditEvent::SignIn {
            server: server("gh"),
            change: SignInChange::Failed,
            cause: Some("refused".into()),
        },
        AuditEvent::Trust { path: "/p".into(), digest: Some("d".into()), change: TrustChange::Given },
        AuditEvent::SettingsChange {
            file: "/s".into(),
            revision: Revision::of(b""),
            action: SettingsAction::ServerAdded,
            server: Some("gh".into()),
        },
        AuditEvent::Process {
            workspace: WorkspaceKey::none(),
            server: server("gh"),
            pid: Some(7),
            change: ProcessChange::Ended,
            cause: Some("exit code 1".into()),
        },
        AuditEvent::Owner { pid: 1, change: ProcessChange::Started },
    ] {
        audit.record(noon(), event);
    }
    drop(audit);
    let time = r#"{"time":"2026-03-01T12:00:00.500Z","event":"#;
    let github = r#""workspace":"none","server":{"scope":"global","name":"github"}"#;
    let expected = [
        format!(
            r#"{time}"call",{github},"tool":"search","agent":{{"name":"codex","sub_agent":false}},"outcome":"ok","duration_ms":12}}"#
        ),
        format!(
            r#"{time}"decision",{github},"tool":"rm","agent":{{"name":null,"sub_agent":false}},"allowed":false,"reason":"no-approver"}}"#
        ),
        format!(
            r#"{time}"sign-in","server":{{"scope":"global","name":"gh"}},"change":"failed","cause":"refused"}}"#
        ),
        format!(r#"{time}"trust","path":"/p","digest":"d","change":"given"}}"#),
        format!(
            r#"{time}"settings-change","file":"/s","revision":"{}","action":"server-added","server":"gh"}}"#,
            Revision::of(b"").as_str()
        ),
        format!(
            r#"{time}"process","workspace":"none","server":{{"scope":"global","name":"gh"}},"pid":7,"change":"ended","cause":"exit code 1"}}"#
        ),
        format!(r#"{time}"owner","pid":1,"change":"started"}}"#),
    ];
    assert_eq!(text(&home, "2026-03-01").lines().collect::<Vec<_>>(), expected);
}

#[test]
fn each_utc_day_has_its_file() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits::default());
    let east = UtcOffset::from_hms(5, 30, 0).unwrap();
    audit.record(noon(), call("a"));
    // Already tomorrow there, still today in UTC.
    audit.record((noon() + Duration::hours(10)).to_offset(east), call("b"));
    audit.record(noon() + Duration::hours(12), call("c"));
    audit.flush().unwrap();
    assert_eq!(files(&home), ["2026-03-01.jsonl", "2026-03-02.jsonl"]);
    assert_eq!((lines(&home, "2026-03-01").len(), lines(&home, "2026-03-02").len()), (2, 1));
}

#[test]
fn a_log_goes_on_where_it_ended_and_a_torn_line_spoils_no_other() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits::default());
    audit.record(noon(), call("a"));
    drop(audit);
    let path = home.path().join("audit/2026-03-01.jsonl");
    let first = fs::read(&path).unwrap();
    put(&path, &[first.as_slice(), b"{\"time\":\"20"].concat());
    let audit = open(home.path(), Limits::default());
    audit.record(noon(), call("b"));
    drop(audit);
    let text = text(&home, "2026-03-01");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(text.as_bytes().starts_with(&first), "nothing before is changed");
    assert!(lines[2].contains("\"tool\":\"b\"") && serde_json::from_str::<Value>(lines[2]).is_ok());
}

#[test]
fn secrets_are_taken_out_and_the_line_stays_json() {
    let home = tempfile::tempdir().unwrap();
    let redactor = Redactor::new();
    redactor.learn("TEST\"SECRET\\1");
    let audit = Audit::open(home.path(), redactor, Limits::default(), noon()).unwrap();
    audit.record(noon(), call("x TEST\"SECRET\\1 y"));
    audit.record(noon(), call("ghp_0123456789abcdefghijABCDEFGHIJ012345"));
    audit.record(noon(), call("-----BEGIN PRIVATE KEY-----\nMIIE"));
    audit.record(noon(), call("VEVTVCJTRUNSRVRcMQ"));
    drop(audit);
    let tools: Vec<_> =
        lines(&home, "2026-03-01").iter().map(|line| line["tool"].as_str().unwrap().to_owned()).collect();
    assert_eq!(tools[..3], ["x [redacted] y", "[redacted]", "[redacted]"]);
    assert!(tools[3].starts_with("[redacted]") && tools[3].len() <= "[redacted]".len() + 1, "{}", tools[3]);
}

#[test]
fn a_text_from_outside_is_cut() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits::default());
    audit.record(noon(), call(&"é".repeat(1 << 20)));
    audit.record(noon(), call("line\nbreak"));
    drop(audit);
    let lines = lines(&home, "2026-03-01");
    assert_eq!(lines[0]["tool"].as_str().unwrap().chars().count(), 513);
    assert_eq!(lines[1]["tool"], "line\nbreak");
    assert_eq!(lines.len(), 2);
}

#[test]
fn old_days_go_by_age_and_nothing_else_does() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    fs::create_dir(&folder).unwrap();
    for name in [
        "2026-02-27.jsonl",
        "2026-02-26.jsonl",
        "2025-01-01.jsonl",
        "2025-01-01.txt",
        "notes.jsonl",
        "2026-09-09.jsonl",
    ] {
        put(&folder.join(name), b"{}\n");
    }
    let audit = open(home.path(), Limits { retain_days: 2, ..Limits::default() });
    assert_eq!(files(&home), ["2025-01-01.txt", "2026-02-27.jsonl", "2026-09-09.jsonl", "notes.jsonl"]);
    // The day after, the next one goes, with the first event of that day.
    audit.record(noon() + Duration::days(1), call("a"));
    audit.flush().unwrap();
    assert_eq!(files(&home), ["2025-01-01.txt", "2026-03-02.jsonl", "2026-09-09.jsonl", "notes.jsonl"]);
}

#[test]
fn old_days_go_by_size_the_oldest_first() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("audit");
    fs::create_dir(&folder).unwrap();
    for name in ["2026-02-25.jsonl", "2026-02-26.jsonl", "2026-02-27.jsonl", "2026-03-01.jsonl"] {
        put(&folder.join(name), &[b'x'; 500]);
    }
    let _audit = open(home.path(), Limits { retain_days: 30, max_bytes: 2000 });
    assert_eq!(files(&home), ["2026-02-26.jsonl", "2026-02-27.jsonl", "2026-03-01.jsonl"]);
}

#[test]
fn a_flood_of_calls_is_bounded_and_leaves_room_for_decisions() {
    let home = tempfile::tempdir().unwrap();
    let limits = Limits { retain_days: 30, max_bytes: 40_000 };
    let audit = open(home.path(), limits);
    for _ in 0..500 {
        audit.record(noon(), call("flood"));
    }
    audit.record(noon(), denied("rm"));
    drop(audit);
    let all = lines(&home, "2026-03-01");
    let written = all.iter().filter(|line| line["event"] == "call").count() as u64;
    let lost: u64 =
        all.iter().filter(|line| line["event"] == "lost").map(|line| line["count"].as_u64().unwrap()).sum();
    assert_eq!(written + lost, 500, "every call is written or counted");
    assert!(all.iter().any(|line| line["event"] == "decision" && line["tool"] == "rm"));
    assert!(all.iter().filter(|line| line["event"] == "lost").all(|line| line["cause"] == "size-limit"));
    assert!(text(&home, "2026-03-01").len() < 17_000);

    // A new day has room again.
    let audit = open(home.path(), limits);
    audit.record(noon() + Duration::days(1), call("next"));
    drop(audit);
    assert_eq!(lines(&home, "2026-03-02").len(), 1);
}

#[test]
fn a_flood_of_denials_is_bounded_too() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits { retain_days: 30, max_bytes: 40_000 });
    for _ in 0..500 {
        audit.record(noon(), denied("flood"));
    }
    audit.record(noon() + Duration::days(1), call("next"));
    drop(audit);
    assert!(text(&home, "2026-03-01").len() < 17_000);
    let next = lines(&home, "2026-03-02");
    assert_eq!((&next[0]["event"], &next[0]["cause"]), (&Value::from("lost"), &Value::from("size-limit")));
    assert_eq!(next[1]["tool"], "next");
}

#[test]
fn what_the_disk_refuses_is_told_and_counted() {
    let home = tempfile::tempdir().unwrap();
    let audit = open(home.path(), Limits::default());
    let folder = home.path().join("audit");
    fs::remove_dir(&folder).unwrap();
    // A file in the folder's place stops every user, root as well.
    put(&folder, b"");
    audit.record(noon(), call("a"));
    audit.record(noon(), call("b"));
    audit.flush().unwrap();
    let failure = audit.failure().unwrap();
    assert!(failure.contains("audit/2026-03-01.jsonl") && failure.contains(": "), "{failure}");

    fs::remove_file(&folder).unwrap();
    audit.record(noon(), call("c"));
    audit.flush().unwrap();
    assert_eq!(audit.failure(), None);
    let lines = lines(&home, "2026-03-01");
    assert_eq!((&lines[0]["count"], &lines[0]["cause"]), (&Value::from(2), &Value::from("write-failed")));
    assert_eq!(lines[1]["tool"], "c");
}

#[test]
fn two_writers_of_one_home_keep_their_lines_whole() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = home.path();
            scope.spawn(move || {
                let audit = open(path, Limits::default());
                for turn in 0..200 {
                    audit.record(noon(), call(&format!("{writer}-{turn}")));
                    if turn % 20 == 0 {
                        audit.flush().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(lines(&home, "2026-03-01").len(), 800);
}

#[test]
fn a_log_that_is_off_keeps_nothing() {
    let home = tempfile::tempdir().unwrap();
    let audit = Audit::off();
    audit.record(noon(), call("a"));
    audit.flush().unwrap();
    drop(audit);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}
