//! `mcp` and `config`: the servers of the settings, what is shown of them, and wrong settings.

use serde_json::json;

use crate::support::{Place, write};

#[test]
fn a_server_is_added_shown_switched_and_removed() {
    let place = Place::empty();
    assert!(place.ok(&["mcp", "list"]).starts_with("No servers in "));
    let out = place.ok(&[
        "mcp", "add", "files", "--env", "A=1", "npx", "-y", "pkg", "--prefix", "f", "--json", "--", "--env",
        "B=2",
    ]);
    assert_eq!(out, "Added files: npx -y pkg --json --env B=2\n");
    assert_eq!(place.json(&["mcp", "get", "files"])["args"], json!(["-y", "pkg", "--json", "--env", "B=2"]));
    assert_eq!(
        place.ok(&["mcp", "list"]),
        "Server  State    Type   Command or address\n\
         files   enabled  stdio  npx -y pkg --json --env B=2\n"
    );
    assert_eq!(place.ok(&["mcp", "disable", "files"]), "Disabled files\n");
    assert!(place.ok(&["mcp", "list"]).contains("files   disabled  stdio"));
    assert!(place.text().contains("disabled = true"));
    assert_eq!(place.ok(&["mcp", "enable", "files"]), "Enabled files\n");
    assert_eq!(place.ok(&["mcp", "remove", "files"]), "Removed files\n");
    assert!(!place.text().contains("files"));
}

#[test]
fn a_name_in_use_is_refused_and_an_unknown_one_is_not_found() {
    let place = Place::with("[[mcp.servers]]\nname = \"x\"\ncommand = \"one\"\n");
    let before = place.text();
    let told = place.fails(2, &["mcp", "add", "x", "two"]);
    assert!(told.contains("\"x\" exists already") && told.contains("settings.toml:2:"), "{told}");
    for command in ["get", "remove", "enable", "disable"] {
        assert!(place.fails(3, &["mcp", command, "nobody"]).contains("\"nobody\""), "{command}");
    }
    assert_eq!(place.text(), before);
}

#[test]
fn secrets_in_the_settings_are_never_shown() {
    let settings = "[[mcp.servers]]\nname = \"a\"\ncommand = \"run\"\nargs = [\"--token\", \"TESTSECRET1\"]\n\
        env = { PASSWORD = \"TESTSECRET2\", PLAIN = \"${HOME}\" }\n\n\
        [[mcp.servers]]\nname = \"b\"\nurl = \"https://u:TESTSECRET3@h.example/mcp?api_key=TESTSECRET4\"\n\
        headers = { Authorization = \"Bearer TESTSECRET5\" }\n\n\
        [[mcp.servers]]\nname = \"c\"\nenv = { KEY = \"TESTSECRET6\" }\n";
    let place = Place::with(settings);
    for args in [
        &["mcp", "list"][..],
        &["mcp", "get", "a"],
        &["mcp", "get", "b"],
        &["config", "show"],
        &["doctor"],
        &["status"],
    ] {
        for args in [args.to_vec(), [args, &["--json"]].concat()] {
            let ended = place.run(&args);
            let all = ended.out + &ended.err;
            assert!(!all.contains("TESTSECRET"), "{args:?}: {all}");
        }
    }
    let shown = place.ok(&["mcp", "get", "a"]);
    assert!(shown.contains("PASSWORD = \"••••••••\"") && shown.contains("PLAIN = \"${HOME}\""), "{shown}");
    let told = place.run(&["mcp", "add", "d", "x", "--env", "API_TOKEN=TESTSECRET7"]);
    assert!(!told.out.contains("TESTSECRET"), "{}", told.out);
    assert!(
        told.err.contains("API_TOKEN stands readable") && !told.err.contains("TESTSECRET"),
        "{}",
        told.err
    );
}

const WRONG: &str = "[[mcp.servers]]\nname = \"good\"\ncommand = \"sh\"\n\n[[mcp.servers]]\nname = \"bad\"\n";

#[test]
fn wrong_settings_keep_servers_from_starting_and_can_be_put_right_from_here() {
    let place = Place::with(WRONG);
    for args in [&["serve"][..], &["connect"], &["tools"], &["call", "good", "x"]] {
        let told = place.fails(2, args);
        assert!(
            told.contains("\"bad\"") && told.contains("settings.toml:5:") && told.contains("command"),
            "{args:?}: {told}"
        );
    }
    for args in [&["mcp", "list"][..], &["status"], &["config", "show"]] {
        let ended = place.run(args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.err);
        let all = ended.out + &ended.err;
        assert!(
            all.contains("bad") && all.contains("invalid") && all.contains("settings.toml:5:"),
            "{args:?}: {all}"
        );
        assert!(all.contains("good"), "{args:?}: {all}");
    }
    let told = place.fails(2, &["mcp", "get", "bad"]);
    assert!(told.contains("settings.toml:5:"), "{told}");
    let doctor = place.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.out.contains("bad") && doctor.out.contains("settings.toml:5:"), "{}", doctor.out);
    assert_eq!(place.ok(&["mcp", "disable", "good"]), "Disabled good\n");
    assert_eq!(place.ok(&["mcp", "remove", "bad"]), "Removed bad\n");
    assert_eq!(place.ok(&["tools", "--json"]).find("bad"), None);
}

#[test]
fn a_file_that_does_not_parse_is_named_with_its_line_and_left_alone() {
    let place = Place::with("[[mcp.servers]]\nname = \"x\ncommand = \"y\"\n");
    let before = place.text();
    for args in [
        &["mcp", "list"][..],
        &["mcp", "add", "n", "c"],
        &["config", "show"],
        &["tools"],
        &["mcp", "get", "x"],
    ] {
        let told = place.fails(2, args);
        assert!(told.contains("settings.toml:2:"), "{args:?}: {told}");
    }
    assert!(place.run(&["doctor"]).out.contains("settings.toml:2:"));
    assert_eq!(place.text(), before);
}

#[test]
fn errors_are_json_where_json_is_wanted() {
    let place = Place::with(WRONG);
    let told = place.fails(2, &["tools", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (error["code"].as_str(), error["place"]["line"].as_u64()),
        (Some("INVALID"), Some(5)),
        "{error}"
    );
}

#[test]
fn every_list_is_json_on_request() {
    let place = Place::with("[[mcp.servers]]\nname = \"x\"\ncommand = \"sh\"\ndisabled = true\n");
    assert_eq!(place.json(&["mcp", "list"])["servers"][0]["name"], "x");
    assert_eq!(place.json(&["status"])["workspaces"][0]["servers"][0]["state"], "disabled");
    assert_eq!(place.json(&["tools"])["servers"][0]["id"]["name"], "x");
    assert_eq!(place.json(&["secret", "list"]), json!([]));
    assert_eq!(place.json(&["config", "show"])["servers"][0]["command"], "sh");
    assert_eq!(place.json(&["config", "path"])["settings"], place.settings().to_str().unwrap());
    assert!(place.json(&["doctor"]).as_array().unwrap().len() > 3);
    assert_eq!(place.json(&["trust"])["request"], json!(null));
}

#[test]
fn text_from_files_cannot_steer_the_terminal() {
    let place = Place::with(
        "[[mcp.servers]]\nname = \"x\\u202ey\"\ncommand = \"a\\u001b[31mb\"\nargs = [\"\\u009b2J\"]\n",
    );
    for args in
        [&["mcp", "list"][..], &["status"], &["config", "show"], &["doctor"], &["mcp", "get", "x\u{202e}y"]]
    {
        let ended = place.run(args);
        let all = ended.out + &ended.err;
        assert!(!all.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{args:?}: {all:?}");
    }
}

#[test]
fn config_path_follows_the_option_then_the_variable() {
    let place = Place::empty();
    assert_eq!(place.ok(&["config", "path"]), format!("{}\n", place.settings().display()));
    let other = place.project().join("other");
    let args = ["config", "path", "--config", "other"];
    assert_eq!(place.ok(&args), format!("{}\n", other.join("settings.toml").display()));
    assert!(!other.exists());
}

#[test]
fn the_workspace_is_the_nearest_marked_folder_upwards() {
    let place = Place::with("[[mcp.servers]]\nname = \"x\"\ncommand = \"sh\"\n");
    let inner = place.project().join("a/b");
    write(&inner.join("file"), "");
    let mut command = place.command(&["status", "--json"]);
    let output = command.current_dir(&inner).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let project = place.project().canonicalize().unwrap();
    assert_eq!(status["workspaces"][0]["path"], project.to_str().unwrap());
    let told = place.fails(3, &["status", "--workspace", "nowhere"]);
    assert!(told.contains("nowhere"), "{told}");
}
