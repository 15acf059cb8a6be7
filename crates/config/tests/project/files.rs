//! Which files are read, in which order, and what stands while one is broken.

use patchbay_config::{ProjectFiles, TrustState};

use super::trust::store;
use super::{Folder, outline};

const GOOD: &str = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"srv\" },\n    \"b\": { \"url\": \"http://h/mcp\" }\n  }\n}\n";

#[test]
fn four_files_are_read_in_order_and_the_later_of_one_name_is_a_problem() {
    let folder = Folder::new();
    folder.put(
        ".agents/mcp_config.json",
        r#"{"mcpServers": {"x": {"command": "fourth"}, "four": {"command": "f"}}}"#,
    );
    folder.put(".mcp.json", r#"{"mcpServers": {"x": {"command": "third"}, "three": {"command": "t"}, "three": {"command": "u"}}}"#);
    folder.put(".patchbay/settings.toml", "[[mcp.servers]]\nname = \"x\"\ncommand = \"second\"\n[[mcp.servers]]\nname = \"two\"\ncommand = \"s\"\nargs = [\"a b\"]\n");
    folder.put(".patchbay/settings.local.toml", "[[mcp.servers]]\nname = \"x\"\ncommand = \"first\"\n");
    let project = folder.read();
    let dir = folder.path().display().to_string();
    let found: Vec<_> = outline(&project).iter().map(|line| line.replace(&dir, "")).collect();
    assert_eq!(
        found,
        [
            r#"x stdio "first" []"#,
            r#"two stdio "s" ["a b"]"#,
            r#"three stdio "t" []"#,
            r#"four stdio "f" []"#,
            "x INVALID name: the name is used already, in /.patchbay/settings.local.toml:2:8 (line 2)",
            "x INVALID name: the name is used already, in /.patchbay/settings.local.toml:2:8 (line 1)",
            "three INVALID name: the name is used already, in /.mcp.json:1:44 (line 1)",
            "x INVALID name: the name is used already, in /.patchbay/settings.local.toml:2:8 (line 1)",
        ]
    );
}

#[test]
fn an_invalid_entry_keeps_its_name_so_that_nothing_else_runs_under_it() {
    let folder = Folder::with_json(r#"{"mcpServers": {"x": {"command": "other"}}}"#);
    folder.put(".patchbay/settings.local.toml", "[[mcp.servers]]\nname = \"x\"\n");
    assert_eq!((folder.read().servers.len(), folder.read().invalid.len()), (0, 2));
}

#[test]
fn a_folder_without_files_is_a_project_without_servers() {
    let project = Folder::new().read();
    assert!(project.servers.is_empty() && project.problems().is_empty());
    assert!(ProjectFiles::new(std::path::Path::new("/nowhere/at/all")).is_err());
}

#[test]
fn an_empty_file_holds_nothing_and_is_no_problem() {
    let folder = Folder::with_json("");
    folder.put(".patchbay/settings.toml", "");
    folder.put(".agents/mcp_config.json", "\u{feff}\r\n ");
    assert!(folder.read().problems().is_empty(), "{:?}", folder.read().problems());
}

#[test]
fn comments_and_trailing_commas_are_read_and_the_file_is_not_written() {
    let text = "// for the team\n{\n \"mcpServers\": {\n /* demo */ \"a\": { \"command\": \"npx\", \"args\": [\"x@latest\", \"--note=http://no-comment\", ], },\n // \"b\": {\"command\": \"uvx\"},\n \"c\": { \"url\": \"https://c.example/mcp\" },\n },\n}\n";
    let folder = Folder::with_json(text);
    let project = folder.read();
    assert_eq!(
        outline(&project),
        [r#"a stdio "npx" ["x@latest", "--note=http://no-comment"]"#, "c http https://c.example/mcp {}"]
    );
    assert!(project.problems().is_empty());
    assert_eq!(std::fs::read_to_string(folder.path().join(".mcp.json")).unwrap(), text);
}

#[test]
fn of_a_broken_file_the_last_good_servers_stand_and_stay_trusted() {
    let folder = Folder::with_json(GOOD);
    let (store, _home) = store();
    let mut files = ProjectFiles::new(&folder.path()).unwrap();
    let project = files.read(false);
    let TrustState::Pending(request) = store.state(&project).unwrap() else { panic!("asks first") };
    store.trust(&project.dir, &request.digest).unwrap();

    let breaks = [
        GOOD.replace("    \"b\"", "    # note\n    \"b\""),
        GOOD[..GOOD.len() - 3].to_owned(),
        GOOD.replace("\"b\": {", "\"b\": ["),
    ];
    for (broken, line) in breaks.iter().zip([4, 1, 4]) {
        folder.put(".mcp.json", broken);
        let project = files.read(false);
        assert_eq!(outline(&project), [r#"a stdio "srv" []"#, "b http http://h/mcp {}"]);
        let [fault] = project.broken.as_slice() else { panic!("one broken file: {:?}", project.broken) };
        assert!(fault.place.file.ends_with(".mcp.json") && fault.place.column.is_some(), "{fault:?}");
        assert_eq!(fault.place.line, Some(line), "{fault:?}");
        assert_eq!(store.state(&project).unwrap(), TrustState::Trusted);
        assert!(
            ProjectFiles::new(&folder.path()).unwrap().read(false).servers.is_empty(),
            "nothing is taken from it"
        );
    }

    folder.put(".mcp.json", GOOD);
    assert!(files.read(false).broken.is_empty());
    std::fs::remove_file(folder.path().join(".mcp.json")).unwrap();
    assert!(files.read(false).servers.is_empty(), "a file that is gone is not a broken one");
}

#[test]
fn a_project_never_replaces_a_global_server() {
    let folder =
        Folder::with_json(r#"{"mcpServers": {"files": {"command": "evil"}, "own": {"command": "srv"}}}"#);
    let project = folder.read();
    let (usable, clashes) = project.beside(["files", "other"]);
    assert_eq!(usable.iter().map(|server| server.config.id.name.as_str()).collect::<Vec<_>>(), ["own"]);
    assert_eq!(
        (clashes.len(), clashes[0].name.as_deref(), clashes[0].place.line),
        (1, Some("files"), Some(1))
    );
}

#[test]
fn personal_settings_that_git_tracks_are_warned_about() {
    let folder = Folder::new();
    folder.put("sub/.patchbay/settings.local.toml", "");
    let warned = || {
        let project = super::read(&folder.path().join("sub"));
        project.warnings.iter().any(|text| text.contains("tracked by git"))
    };
    assert!(!warned());
    for (index, tracked) in [
        (include_bytes!("git/v2").as_slice(), true),
        (include_bytes!("git/v3"), true),
        (include_bytes!("git/v4"), true),
        (include_bytes!("git/v2-sha256"), true),
        (include_bytes!("git/v4-sha256"), true),
        (include_bytes!("git/v2-without"), false),
        (b"DIRC", false),
        (&include_bytes!("git/v2")[..150], false),
        (b"", false),
    ] {
        folder.put(".git/index", index);
        assert_eq!(warned(), tracked, "{} bytes", index.len());
    }
}

#[test]
fn a_work_tree_that_keeps_its_git_folder_elsewhere_is_followed() {
    let folder = Folder::new();
    folder.put("tree/sub/.patchbay/settings.local.toml", "");
    folder.put("tree/.git", "gitdir: ../store/worktrees/tree\n");
    folder.put("store/worktrees/tree/index", include_bytes!("git/v2"));
    let project = super::read(&folder.path().join("tree/sub"));
    assert!(project.warnings[0].contains("tracked by git"), "{:?}", project.warnings);
}
