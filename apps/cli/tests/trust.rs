//! A project's servers: nothing of them runs before a person has agreed to exactly what they are.

use serde_json::json;

use crate::support::{Place, Server, write};

fn place() -> (Place, Server) {
    let place = Place::with("");
    let server = Server::new(&place.project(), "one");
    let entry = json!({ "mcpServers": { "theirs": {
        "command": "sh", "args": [server.script()],
        "env": { "RECORD": server.record(), "LD_PRELOAD": "/evil.so", "LEAK": "${HOME}" },
    } } });
    write(&place.settings(), "[sandbox]\nmode = \"off\"\n[permissions]\nallow = [\"mcp(theirs:*)\"]\n");
    write(&place.project().join(".mcp.json"), &entry.to_string());
    (place, server)
}

#[test]
fn nothing_of_a_project_runs_before_it_is_trusted_and_a_change_asks_again() {
    let (place, server) = place();
    assert!(place.ok(&["status"]).contains("theirs  pending trust"));
    place.ok(&["tools"]);
    assert!(server.events().is_empty());

    let shown = place.run(&["trust"]);
    assert_eq!(shown.code, Some(4), "{}", shown.err);
    let script = format!("argument    {}", server.script().display());
    for words in [
        "server theirs (stdio)",
        "runs        sh",
        script.as_str(),
        "variable    LD_PRELOAD=/evil.so",
        "foreign code",
        "hands over  your HOME to sh",
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let digest = place.json(&["trust"])["request"]["digest"].as_str().unwrap().to_owned();
    assert!(shown.err.contains(&digest), "{}", shown.err);
    assert!(server.events().is_empty());

    let wrong = "0".repeat(64);
    assert!(place.fails(5, &["trust", "--digest", &wrong]).contains("no longer what was shown"));
    assert!(place.ok(&["trust", "--digest", &digest]).contains("is trusted as it is now"));
    assert!(place.ok(&["trust"]).contains("is trusted as it is now"));
    assert!(place.ok(&["tools"]).contains("theirs  3 tools"));
    server.wait_until_gone();

    let file = place.project().join(".mcp.json");
    let changed = std::fs::read_to_string(&file).unwrap().replace("/evil.so", "/other.so");
    write(&file, &changed);
    assert!(place.ok(&["status"]).contains("theirs  pending trust"));
    assert!(place.run(&["trust"]).out.contains("it has changed"));
}

#[test]
fn trust_can_be_taken_back_also_of_a_folder_named() {
    let (place, server) = place();
    let project = place.project();
    let project = project.to_str().unwrap();
    assert!(place.fails(3, &["trust", "--revoke", project]).contains("was not trusted"));
    let digest = place.json(&["trust", project])["request"]["digest"].as_str().unwrap().to_owned();
    place.ok(&["trust", "--digest", &digest, project]);
    assert!(place.ok(&["trust", "--revoke", project]).contains("is not trusted any more"));
    place.ok(&["tools"]);
    assert!(server.events().is_empty());
}

#[test]
fn a_running_owner_takes_the_answer_at_once() {
    let (place, server) = place();
    let owner = place.serve();
    place.ok(&["tools"]);
    assert!(server.events().is_empty());
    let digest = place.json(&["trust"])["request"]["digest"].as_str().unwrap().to_owned();
    place.ok(&["trust", "--digest", &digest]);
    assert!(place.ok(&["tools"]).contains("theirs  3 tools"));
    place.ok(&["trust", "--revoke"]);
    server.wait_until_gone();
    assert_eq!(owner.end("-TERM"), Some(0));
}
