//! What the menu shows and what its clicks mean, for snapshots made by hand.

use patchbay_api::{ConfigState, InvalidServer, OwnerInfo, OwnerKind, Place, Revision, TransportKind};

use super::*;

fn server(name: &str, enabled: bool, state: Option<ServerState>) -> ServerSummary {
    ServerSummary {
        name: Some(name.try_into().unwrap()),
        enabled,
        transport: Some(TransportKind::Stdio),
        line: "x".into(),
        invalid: None,
        state,
        cause: None,
    }
}

fn invalid(name: &str) -> ServerSummary {
    let place = Place { file: "f".into(), line: Some(1), column: None };
    let reason = InvalidServer { name: None, field: None, reason: "r".into(), hint: None, place };
    ServerSummary { invalid: Some(reason), ..server(name, false, Some(ServerState::Invalid)) }
}

fn snapshot(servers: Vec<ServerSummary>) -> Snapshot {
    let owner = OwnerInfo { pid: 1, kind: OwnerKind::Desktop, version: "0".into(), home: "/h".into() };
    let config = ConfigState {
        revision: Revision::of(b""),
        file: "f".into(),
        broken: None,
        servers,
        warnings: vec![],
    };
    Snapshot { revision: 1, owner, config, workspaces: vec![], questions: vec![] }
}

fn entries(snapshot: &Snapshot) -> Vec<Item> {
    let submenu = menu(snapshot, None).items.into_iter().find_map(|item| match item {
        Item::Submenu { items, .. } => Some(items),
        _ => None,
    });
    submenu.unwrap()
}

#[test]
fn each_global_server_is_a_check_item_with_its_literal_name() {
    let snapshot = snapshot(vec![server("R&D _x_", true, None), server("off", false, None), invalid("bad")]);
    let check = |id: &str, text: &str, checked, enabled| Item::Check {
        id: id.into(),
        text: text.into(),
        checked,
        enabled,
    };
    assert_eq!(
        entries(&snapshot),
        [
            check("server:R&D _x_", "R&D _x_", true, true),
            check("server:off", "off", false, true),
            check("server:bad", "bad (invalid)", false, false),
        ]
    );
}

#[test]
fn with_no_server_a_note_says_where_to_add_them() {
    assert!(
        matches!(&entries(&snapshot(vec![]))[..], [Item::Note { text, .. }] if text.contains("Settings"))
    );
}

#[test]
fn a_click_turns_a_server_to_what_it_is_not_and_an_invalid_one_to_nothing() {
    let snapshot = snapshot(vec![server("a", true, None), server("b", false, None), invalid("c")]);
    let set = |name: &str, enabled| Some(Action::SetServer { name: name.into(), enabled });
    assert_eq!(action(&snapshot, "server:a"), set("a", false));
    assert_eq!(action(&snapshot, "server:b"), set("b", true));
    assert_eq!(action(&snapshot, "server:c"), None);
    assert_eq!(action(&snapshot, "server:gone"), None);
    assert_eq!(action(&snapshot, "quit"), Some(Action::Quit));
}

#[test]
fn the_state_line_counts_what_matters() {
    let states = [Some(ServerState::Connected), Some(ServerState::Failed), None];
    let mut servers: Vec<_> =
        states.into_iter().enumerate().map(|(at, state)| server(&at.to_string(), true, state)).collect();
    servers.push(invalid("z"));
    assert_eq!(state_line(&snapshot(servers)), "3 of 4 servers on, 1 connected, 1 failed, 1 invalid");
    assert_eq!(state_line(&snapshot(vec![])), "No servers yet");
}

#[test]
fn ids_are_unique_and_long_names_are_cut() {
    let long = "x".repeat(200);
    let snapshot = snapshot(vec![server("a", true, None), invalid("a"), server(&long, true, None)]);
    let items = entries(&snapshot);
    assert_eq!(items.len(), 2);
    assert!(
        matches!(&items[1], Item::Check { text, .. } if text.chars().count() == 60 && text.ends_with('…'))
    );
}

#[test]
fn a_click_that_failed_says_why_and_questions_are_counted() {
    let texts = |menu: Menu| -> Vec<String> {
        let texts = menu.items.into_iter().filter_map(|item| match item {
            Item::Note { text, .. } | Item::Button { text, .. } | Item::Submenu { text, .. } => Some(text),
            _ => None,
        });
        texts.collect()
    };
    let shown = texts(menu(&snapshot(vec![]), Some("cannot switch a: the file is read-only")));
    assert_eq!(
        shown,
        [
            "No servers yet",
            "cannot switch a: the file is read-only",
            "Open Patchbay",
            "MCP servers",
            "Settings…",
            "Quit"
        ]
    );
    assert_eq!(
        (questions(0), questions(1), questions(2)),
        (None, Some("1 question waits for you".into()), Some("2 questions wait for you".into()))
    );
}
