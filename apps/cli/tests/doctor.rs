//! `doctor`: what keeps servers from working, found without starting one.

use crate::support::{Place, Server, write};

#[test]
fn it_names_a_missing_program_an_unset_variable_and_what_is_fine() {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    let settings = server.entry("fine", "")
        + "[[mcp.servers]]\nname = \"lost\"\ncommand = \"no-such-program-anywhere\"\n\
           [[mcp.servers]]\nname = \"unset\"\ncommand = \"sh\"\nenv = { A = \"${NO_SUCH_VARIABLE}\" }\n\
           [[mcp.servers]]\nname = \"off\"\ncommand = \"no-such-program-either\"\ndisabled = true\n";
    write(&place.settings(), &settings);
    let ended = place.run(&["doctor"]);
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    for words in
        ["problem  lost", "problem  unset", "NO_SUCH_VARIABLE", "no-such-program-anywhere", "ok       fine"]
    {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(!ended.out.contains("no-such-program-either"), "{}", ended.out);
    assert!(server.events().is_empty(), "it started a server");
    for name in ["lost", "unset"] {
        place.ok(&["mcp", "remove", name]);
    }
    let out = place.ok(&["doctor"]);
    assert!(out.contains("none runs; every command works by itself"), "{out}");
}

#[test]
fn online_it_connects_and_counts_tools() {
    let place = Place::empty();
    let server = Server::new(&place.home(), "one");
    write(&place.settings(), &server.entry("fine", ""));
    assert!(place.ok(&["doctor", "--online"]).contains("connected, 3 tools"));
    server.wait_until_gone();
}

#[test]
fn a_home_that_others_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with("");
    std::fs::set_permissions(place.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = place.ok(&["doctor"]);
    assert!(out.contains("can be read by other users") && out.contains("chmod 700"), "{out}");
}
