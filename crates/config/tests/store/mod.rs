//! The locked, atomic, versioned store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use patchbay_config::{StoreError, VersionedStore};

fn store() -> (VersionedStore<u32>, tempfile::TempDir) {
    let temp = tempfile::tempdir().unwrap();
    (VersionedStore::new(temp.path().join("facts.json"), 3), temp)
}

fn names(dir: &tempfile::TempDir) -> Vec<PathBuf> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}

#[test]
fn a_missing_file_is_empty_and_reading_creates_none() {
    let (store, dir) = store();
    assert_eq!(store.read().unwrap(), BTreeMap::new());
    assert_eq!(names(&dir), Vec::<PathBuf>::new());
}

#[test]
fn entries_are_written_sorted_with_their_version_for_the_user_alone() {
    let (store, dir) = store();
    store.update(|entries| entries.extend([("b".to_owned(), 2), ("a".to_owned(), 1)])).unwrap();
    let text = std::fs::read_to_string(store.file()).unwrap();
    assert_eq!(text, "{\n  \"version\": 3,\n  \"entries\": {\n    \"a\": 1,\n    \"b\": 2\n  }\n}\n");
    assert_eq!(names(&dir), [PathBuf::from("facts.json"), PathBuf::from("facts.lock")]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for name in names(&dir) {
            assert_eq!(
                dir.path().join(&name).metadata().unwrap().permissions().mode() & 0o777,
                0o600,
                "{}",
                name.display()
            );
        }
    }
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let (store, _dir) = store();
    store.update(|entries| entries.insert("a".into(), 1)).unwrap();
    // Another spelling of the same content would be written over if anything were.
    let text = "{\"version\":3,\"entries\":{\"a\":1}}";
    std::fs::write(store.file(), text).unwrap();
    assert_eq!(store.update(|entries| entries.insert("a".into(), 1)).unwrap(), Some(1));
    assert_eq!(std::fs::read_to_string(store.file()).unwrap(), text);
}

#[test]
fn a_corrupt_file_is_an_error_with_its_place_and_is_never_overwritten() {
    let (store, _dir) = store();
    for text in [
        "",
        "{",
        "null",
        "{\"version\": 3}",
        "{\"version\": 3, \"entries\": {\"a\": \"x\"}}",
        "{\"version\": 3, \"entries\": {}, \"more\": 1}",
        "{\"version\": \"3\", \"entries\": {}}",
        "{} {}",
    ] {
        std::fs::write(store.file(), text).unwrap();
        assert!(matches!(store.read(), Err(StoreError::Corrupt { .. })), "{text}");
        assert!(matches!(store.update(|entries| entries.clear()), Err(StoreError::Corrupt { .. })), "{text}");
        assert_eq!(std::fs::read_to_string(store.file()).unwrap(), text);
    }
    std::fs::write(store.file(), "{\n \"version\": 3,\n \"entries\": {\"a\": }\n}").unwrap();
    let error = store.read().unwrap_err();
    assert!(error.to_string().ends_with("facts.json, line 3, column 19: expected value"), "{error}");
}

#[test]
fn a_newer_version_is_an_error_that_says_so_whatever_its_shape() {
    let (store, _dir) = store();
    let text = "{\"version\": 4, \"entries\": [], \"shape\": \"other\"}";
    std::fs::write(store.file(), text).unwrap();
    assert!(matches!(store.update(|_| ()), Err(StoreError::Newer { found: 4, known: 3, .. })));
    assert_eq!(std::fs::read_to_string(store.file()).unwrap(), text);
}

#[test]
fn writers_side_by_side_lose_nothing() {
    let (store, _dir) = store();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            // A store of its own: the lock must hold between processes, which share no memory.
            let store = VersionedStore::<u32>::new(store.file().to_owned(), 3);
            scope.spawn(move || {
                for _ in 0..25 {
                    store
                        .update(|entries| *entries.entry(format!("{}", writer % 4)).or_default() += 1)
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(store.read().unwrap().into_values().collect::<Vec<_>>(), [50; 4]);
}

#[cfg(unix)]
#[test]
fn something_else_in_place_of_the_file_is_an_error() {
    let (store, _dir) = store();
    std::fs::create_dir(store.file()).unwrap();
    assert!(matches!(store.read(), Err(StoreError::Read { .. })));
    assert!(store.update(|entries| entries.clear()).is_err());
}
