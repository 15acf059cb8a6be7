//! What a project may tighten, what it may loosen once trusted, and what it has no say in.

use patchbay_config::{PermissionMode, SandboxMode, Settings, TrustState};

use super::Folder;
use super::trust::store;

const EVERYTHING: &str = r#"
[permissions]
mode = "bypass"
allow = ["mcp(a:*)"]
ask = ["mcp(b:*)"]
deny = ["mcp(c:drop*)"]
ask_timeout_seconds = 30
[sandbox]
mode = "off"
writable_paths = ["/tmp/x"]
blocked_paths = ["secrets/", "!~/.ssh"]
allow_network = true
scrub_env = ["MY_*", "!PATCHBAY_*"]
[workspaces]
close_after_minutes = 600
[gateway]
port = 1
[log]
level = "error"
retain_days = 9999
[audit]
enabled = false
[tray]
enabled = false
[mcp]
tool_names = "namespaced"
legacy_sse = true
[[mcp.servers]]
name = "s"
command = "srv"
auto_approve = true
always_allow = ["x"]
sandbox = false
colour = "red"
"#;

#[test]
fn what_is_never_taken_from_a_project_is_ignored_and_named_with_file_and_key() {
    let folder = Folder::with_toml(EVERYTHING);
    let project = folder.read();
    let file = folder.path().join(".patchbay/settings.toml").display().to_string();
    assert!(project.warnings.iter().all(|text| text.starts_with(&file)), "{:?}", project.warnings);
    let warnings: Vec<_> = project.warnings.iter().map(|text| text[file.len() + 1..].to_owned()).collect();
    assert_eq!(
        warnings,
        [
            "17:1: gateway.port is not taken from a project: it belongs in your own settings",
            "19:1: log.level is not taken from a project: it belongs in your own settings",
            "20:1: log.retain_days is not taken from a project: it belongs in your own settings",
            "22:1: audit.enabled is not taken from a project: it belongs in your own settings",
            "24:1: tray.enabled is not taken from a project: it belongs in your own settings",
            "26:1: mcp.tool_names is not taken from a project: it belongs in your own settings",
            "27:1: mcp.legacy_sse is not taken from a project: it belongs in your own settings",
            r#"3:8: permissions.mode "bypass" is not taken from a project"#,
            r#"9:8: sandbox.mode "off" is not taken from a project: its servers stay in the sandbox"#,
            "12:17: sandbox.allow_network true is not taken from a project: the user's setting holds",
            "11:17: sandbox.blocked_paths can only add from a project: patterns with ! are left out",
            "13:13: sandbox.scrub_env can only add from a project: patterns with ! are left out",
            r#"31:16: server "s": auto_approve is not taken from a project: only you decide what runs without asking"#,
            r#"32:16: server "s": always_allow is not taken from a project; it grants nothing"#,
            r#"33:11: server "s": sandbox = false is not taken from a project: the server stays in the sandbox"#,
            r#"34:1: server "s": colour is not known; it has no effect"#,
        ]
    );
}

#[test]
fn what_is_never_taken_from_a_project_has_no_effect_even_when_it_is_trusted() {
    let project = Folder::with_toml(EVERYTHING).read();
    let usual = Settings::default();
    let mut settings = usual.clone();
    project.tightening.apply(&mut settings);
    project.loosening.apply(&mut settings);
    assert_eq!(settings.permissions.mode, PermissionMode::Default);
    assert_eq!(settings.sandbox.mode, SandboxMode::Auto);
    assert!(usual.sandbox.blocked_paths.iter().all(|path| settings.sandbox.blocked_paths.contains(path)));
    assert!(usual.sandbox.scrub_env.iter().all(|glob| settings.sandbox.scrub_env.contains(glob)));
    assert_eq!((settings.gateway, settings.log, settings.audit), (usual.gateway, usual.log, usual.audit));
    assert_eq!((settings.mcp, settings.tray, settings.workspaces), (usual.mcp, usual.tray, usual.workspaces));
    let server = &project.servers[0].config;
    assert!(!server.auto_approve && server.always_allow.is_empty());
}

#[test]
fn what_tightens_holds_without_trust_and_what_loosens_does_not() {
    let folder = Folder::with_toml(EVERYTHING);
    let project = folder.read();
    assert!(matches!(store().0.state(&project), Ok(TrustState::Pending(_))));
    let mut settings = Settings::default();
    project.tightening.apply(&mut settings);
    assert_eq!(
        (settings.permissions.deny.as_slice(), settings.permissions.ask.as_slice()),
        (["mcp(c:drop*)".to_owned()].as_slice(), ["mcp(b:*)".to_owned()].as_slice())
    );
    assert_eq!(settings.permissions.ask_timeout_seconds, 30);
    assert!(
        settings.sandbox.blocked_paths.contains(&"secrets/".to_owned())
            && settings.sandbox.scrub_env.contains(&"MY_*".to_owned())
    );
    assert!(settings.permissions.allow.is_empty() && settings.sandbox.writable_paths.is_empty());
    project.loosening.apply(&mut settings);
    assert_eq!((settings.permissions.allow.len(), settings.sandbox.writable_paths.len()), (1, 1));
}

#[test]
fn the_stricter_of_two_always_holds() {
    let strict = Folder::with_toml(
        "[permissions]\nmode = 'dont-ask'\nask_timeout_seconds = 500\n[sandbox]\nmode = 'auto'\nallow_network = false\n[workspaces]\nclose_after_minutes = 3\n",
    );
    strict.put(".patchbay/settings.local.toml", "[permissions]\nmode = 'read-only'\n[sandbox]\nmode = 'required'\n[workspaces]\nclose_after_minutes = 5\n");
    let project = strict.read();
    let applied = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        project.tightening.apply(&mut settings);
        (
            settings.permissions.mode,
            settings.sandbox.mode,
            settings.sandbox.allow_network,
            settings.permissions.ask_timeout_seconds,
            settings.workspaces.close_after_minutes,
        )
    };
    assert_eq!(applied(|_| {}), (PermissionMode::ReadOnly, SandboxMode::Required, false, 120, 3));
    let mine = applied(|settings| {
        settings.permissions.mode = PermissionMode::Plan;
        settings.workspaces.close_after_minutes = 1;
    });
    assert_eq!(mine, (PermissionMode::Plan, SandboxMode::Required, false, 120, 1));
}

#[test]
fn a_project_that_only_tightens_needs_no_trust() {
    let project = Folder::with_toml("[permissions]\ndeny = ['mcp(*:*)']\n").read();
    assert_eq!(store().0.state(&project).unwrap(), TrustState::NotNeeded);
}

#[test]
fn a_value_that_cannot_be_makes_the_file_broken_with_its_line() {
    let project =
        Folder::with_toml("[permissions]\ndeny = 'mcp(*:*)'\n[[mcp.servers]]\nname = 's'\ncommand = 'srv'\n")
            .read();
    assert!(project.servers.is_empty());
    let [fault] = project.broken.as_slice() else { panic!("{:?}", project.broken) };
    assert_eq!(fault.place.line, Some(2));
    assert!(fault.reason.contains("permissions.deny"), "{}", fault.reason);
}
