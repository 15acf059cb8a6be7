//! Secrets: kept from standard input, handed to the server that refers to them, never shown.

use crate::support::{Place, Server, write};

#[test]
fn a_secret_is_read_from_standard_input_reaches_its_server_and_is_never_shown() {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    let entry = server.entry("one", "auto_approve = true").replace("\"word\"", "\"${secret:WORD}\"");
    write(&place.settings(), &entry);
    let told = place.fails(6, &["call", "one", "echo"]);
    assert!(told.contains("WORD"), "{told}");
    let kept = place.run_with(&["secret", "set", "WORD"], "TESTSECRET\n");
    assert_eq!(kept.code, Some(0), "{}", kept.err);
    assert!(kept.out.contains("${secret:WORD}") && !kept.out.contains("TESTSECRET"), "{}", kept.out);
    assert_eq!(place.ok(&["secret", "list"]), "Secret  For\nWORD    your settings\n");
    let out = place.ok(&["call", "one", "echo", "--json"]);
    assert!(out.contains("TESTSECRET"), "the server did not get it: {out}");
    assert_eq!(place.ok(&["secret", "remove", "WORD"]), "Forgot WORD\n");
    assert!(place.fails(3, &["secret", "remove", "WORD"]).contains("WORD"));
}

#[test]
fn a_projects_secrets_are_its_own() {
    let place = Place::with("");
    place.run_with(&["secret", "set", "A", "--project"], "x-value");
    let list = place.json(&["secret", "list"]);
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["scope"].as_str().unwrap().len(), 16);
    assert!(place.fails(3, &["secret", "remove", "A"]).contains("no secret called A"));
    assert_eq!(place.ok(&["secret", "remove", "A", "--project"]), "Forgot A\n");
}

#[test]
fn an_empty_value_or_a_name_that_cannot_be_referred_to_is_refused() {
    let place = Place::with("");
    assert_eq!(place.run_with(&["secret", "set", "A"], "\n").code, Some(2));
    assert_eq!(place.run_with(&["secret", "set", "A B"], "value").code, Some(2));
    assert_eq!(place.run_with(&["secret", "set", "A", "value"], "value").code, Some(2));
    assert_eq!(place.ok(&["secret", "list"]), "No secrets yet. Keep one: patchbay secret set NAME\n");
}
