//! The owner-only file: what is kept, and what is never done to it.

use std::{fs, path::Path};

use patchbay_api::{Scope, WorkspaceKey};
use patchbay_secrets::{Secret, SecretError, SecretStore};
use tempfile::TempDir;

fn home() -> (TempDir, SecretStore) {
    let home = tempfile::tempdir().unwrap();
    let store = SecretStore::file(home.path());
    (home, store)
}

fn value(store: &SecretStore, scope: &Scope, name: &str) -> Option<String> {
    store.get(scope, name).unwrap().map(|secret| secret.expose().to_owned())
}

fn file(home: &TempDir) -> String {
    fs::read_to_string(home.path().join("secrets.json")).unwrap()
}

#[test]
fn a_secret_is_kept_replaced_listed_and_forgotten() {
    let (home, store) = home();
    let global = Scope::Global;
    assert_eq!(value(&store, &global, "TOKEN"), None);
    assert!(!home.path().join("secrets.json").exists(), "reading creates nothing");
    store.set(&global, "TOKEN", &Secret::from("one")).unwrap();
    store.set(&global, "A", &Secret::from("line\nbreak \"quoted\" é")).unwrap();
    store.set(&global, "TOKEN", &Secret::from("two")).unwrap();
    assert_eq!(value(&store, &global, "TOKEN").as_deref(), Some("two"));
    assert_eq!(value(&store, &global, "A").as_deref(), Some("line\nbreak \"quoted\" é"));
    assert_eq!(store.names(&global).unwrap(), ["A", "TOKEN"]);
    assert!(store.remove(&global, "TOKEN").unwrap());
    assert!(!store.remove(&global, "TOKEN").unwrap());
    assert_eq!(store.names(&global).unwrap(), ["A"]);
}

#[test]
fn a_project_has_secrets_of_its_own() {
    let (_home, store) = home();
    let [one, two] = ["/one", "/two"].map(|path| Scope::Project(WorkspaceKey::of(Path::new(path))));
    store.set(&Scope::Global, "TOKEN", &Secret::from("global")).unwrap();
    store.set(&one, "TOKEN", &Secret::from("of one")).unwrap();
    assert_eq!(value(&store, &one, "TOKEN").as_deref(), Some("of one"));
    assert_eq!(value(&store, &two, "TOKEN"), None);
    assert!(store.remove(&one, "TOKEN").unwrap());
    assert_eq!(value(&store, &Scope::Global, "TOKEN").as_deref(), Some("global"));
}

#[test]
fn a_large_sign_in_comes_back_whole_and_leaves_nothing_when_it_shrinks() {
    let (home, store) = home();
    let name = "mcp-oauth-global-my server 服务器";
    let large = format!("{{\"access\":\"{}\",\"refresh\":\"{}\"}}", "A".repeat(3 << 10), "R".repeat(3 << 10));
    store.set(&Scope::Global, name, &Secret::from(large.as_str())).unwrap();
    assert_eq!(value(&store, &Scope::Global, name), Some(large));
    let small = "S".repeat(500);
    store.set(&Scope::Global, name, &Secret::from(small.as_str())).unwrap();
    assert_eq!(value(&store, &Scope::Global, name), Some(small));
    assert!(file(&home).len() < 700 && !file(&home).contains("AAA"));
    store.remove(&Scope::Global, name).unwrap();
    assert_eq!(file(&home), "{\n  \"version\": 1,\n  \"secrets\": {}\n}\n");
    let names: Vec<_> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "no temporary file stays: {names:?}");
}

#[test]
fn a_file_that_cannot_be_understood_is_an_error_and_stays_as_it_is() {
    for (content, words) in [
        ("{\"version\":1,\"secrets\":{\"global\":{\"TOKEN\":\"TESTSECRET1\"", "line 1, column"),
        ("", "line 1, column 0"),
        ("{\"version\":1,\"secrets\":{\"global\":{\"TOKEN\":5}}}", "is not what Patchbay writes"),
        ("{\"version\":1,\"secrets\":{\"global\":\"TESTSECRET1\"}}", "is not what Patchbay writes"),
        ("{\"version\":1,\"secrets\":{},\"more\":1}", "is not what Patchbay writes"),
        ("{\"version\":2,\"vault\":\"TESTSECRET1\"}", "has version 2"),
    ] {
        let (home, store) = home();
        let path = home.path().join("secrets.json");
        put(&path, content);
        let set = store.set(&Scope::Global, "NEW", &Secret::from("x")).unwrap_err();
        for error in
            [set, store.get(&Scope::Global, "TOKEN").unwrap_err(), store.names(&Scope::Global).unwrap_err()]
        {
            let message = format!("{error} {error:?} {:?}", error.hint());
            assert!(message.contains(words) && message.contains("secrets.json"), "{message}");
            assert!(!message.contains("TESTSECRET1"), "{message}");
        }
        store.remove(&Scope::Global, "TOKEN").unwrap_err();
        assert_eq!(file(&home), content);
    }
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let (home, store) = home();
    put(&home.path().join(".secrets-AbC123"), "{\"version\":1,");
    store.set(&Scope::Global, "TOKEN", &Secret::from("value")).unwrap();
    assert!(!home.path().join(".secrets-AbC123").exists());
}

#[test]
fn names_and_values_are_bounded() {
    let (home, store) = home();
    let set = |name: &str, value: &str| store.set(&Scope::Global, name, &Secret::from(value));
    for name in ["", "a\nb", "a\0", &"x".repeat(513)] {
        assert!(matches!(set(name, "v"), Err(SecretError::Name { .. })), "{name:?}");
    }
    assert!(matches!(set("a", &"x".repeat((1 << 20) + 1)), Err(SecretError::TooLong { .. })));
    assert!(!home.path().join("secrets.json").exists());
    set("a", &"x".repeat(1 << 20)).unwrap();
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let (_home, store) = home();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = store.clone();
            scope.spawn(move || {
                for turn in 0..10 {
                    store.set(&Scope::Global, &format!("{writer}-{turn}"), &Secret::from("value")).unwrap();
                }
            });
        }
    });
    assert_eq!(store.names(&Scope::Global).unwrap().len(), 80);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn only_the_owner_can_read_the_file() {
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("new/home");
        let store = SecretStore::file(&home);
        store.set(&Scope::Global, "TOKEN", &Secret::from("value")).unwrap();
        assert_eq!(mode(&home), 0o700);
        assert_eq!(mode(&home.join("secrets.json")), 0o600);
        assert_eq!(mode(&home.join("secrets.lock")), 0o600);
    }

    #[test]
    fn a_file_that_others_could_read_is_closed_to_them() {
        let (home, store) = home();
        let path = home.path().join("secrets.json");
        put(&path, "{\"version\":1,\"secrets\":{\"global\":{\"TOKEN\":\"value\"}}}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(value(&store, &Scope::Global, "TOKEN").as_deref(), Some("value"));
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_stays_a_link() {
        let (home, store) = home();
        let elsewhere = tempfile::tempdir().unwrap();
        put(&elsewhere.path().join("real.json"), "{\"version\":1,\"secrets\":{}}");
        symlink(elsewhere.path().join("real.json"), home.path().join("secrets.json")).unwrap();
        store.set(&Scope::Global, "TOKEN", &Secret::from("value")).unwrap();
        assert!(fs::symlink_metadata(home.path().join("secrets.json")).unwrap().is_symlink());
        assert!(fs::read_to_string(elsewhere.path().join("real.json")).unwrap().contains("TOKEN"));
    }

    #[test]
    fn a_home_that_cannot_be_written_is_named_and_nothing_is_lost() {
        let (home, store) = home();
        store.set(&Scope::Global, "TOKEN", &Secret::from("value")).unwrap();
        // A folder in the file's place fails for every user, root as well.
        let blocked = home.path().join("blocked");
        put(&blocked, "a file where the home should be");
        let error =
            SecretStore::file(&blocked).set(&Scope::Global, "TOKEN", &Secret::from("value")).unwrap_err();
        assert!(
            error.to_string().contains("blocked") && std::error::Error::source(&error).is_some(),
            "{error}"
        );
        assert_eq!(value(&store, &Scope::Global, "TOKEN").as_deref(), Some("value"));
    }
}

#[expect(clippy::disallowed_methods, reason = "a test sets up the file as another program would")]
fn put(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
}
