//! The way without the system's notices, which a test cannot ask the real system for.
#![expect(clippy::disallowed_methods, reason = "files of the tests")]

use super::*;

/// Watches a number of folders, then has no more watches, as a system with its watches used up.
struct Exhausted(usize);

impl Backend for Exhausted {
    fn watch(&mut self, _: &Path) -> notify::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| notify::Error::new(notify::ErrorKind::MaxFilesWatch))?;
        Ok(())
    }

    fn unwatch(&mut self, _: &Path) {}
}

async fn is_told_within_a_second(watch: &mut Watch, file: &Path) {
    std::fs::write(file, "new").unwrap();
    let change =
        tokio::time::timeout(Duration::from_secs(1), watch.changed()).await.expect("told within a second");
    assert_eq!(change, Change { file: file.to_owned(), content: Content::Revision(Revision::of(b"new")) });
}

#[tokio::test]
async fn where_the_system_has_no_more_watches_files_are_compared_at_intervals() {
    for watches in 0..2 {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("dir/file");
        std::fs::create_dir(temp.path().join("dir")).unwrap();
        let mut watch = Watch::with_backend(Arc::default(), Ok(Box::new(Exhausted(watches))));
        watch.set([file.clone()]).await;
        assert_eq!(watch.polling(), Some(POLL_INTERVAL));
        is_told_within_a_second(&mut watch, &file).await;
    }
}

#[tokio::test]
async fn where_the_system_cannot_watch_at_all_files_are_compared_at_intervals() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    let mut watch = Watch::with_backend(Arc::default(), Err(notify::Error::generic("no inotify")));
    watch.set([file.clone()]).await;
    assert_eq!(watch.polling(), Some(POLL_INTERVAL));
    is_told_within_a_second(&mut watch, &file).await;
}

#[tokio::test]
async fn lost_notices_make_everything_looked_at_again() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    let bell = Arc::new(Bell::default());
    let mut watch = Watch::with_backend(Arc::clone(&bell), Ok(Box::new(Exhausted(100))));
    watch.set([file.clone()]).await;
    // This backend tells nothing by itself: only the word that notices were lost can show the change.
    let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    bell.hear(&Ok(lost));
    is_told_within_a_second(&mut watch, &file).await;
}

#[test]
fn reading_a_file_or_touching_another_rings_no_bell() {
    let (dir, file) = (PathBuf::from("/d"), PathBuf::from("/d/f"));
    let bell = Bell::default();
    bell.attend(std::iter::once(file.clone()), &HashSet::from([dir.clone()]));
    let event = |kind, path: &Path| Ok(notify::Event::new(kind).add_path(path.to_owned()));
    use notify::EventKind::{Access, Create, Modify, Remove};
    use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};
    let rings = |event: notify::Result<notify::Event>| {
        bell.silence();
        bell.hear(&event);
        bell.is_rung()
    };
    assert!(!rings(event(Access(AccessKind::Open(AccessMode::Any)), &file)));
    assert!(!rings(event(Access(AccessKind::Close(AccessMode::Read)), &file)));
    assert!(!rings(event(Modify(ModifyKind::Any), Path::new("/d/g"))));
    assert!(rings(event(Access(AccessKind::Close(AccessMode::Write)), &file)));
    assert!(rings(event(Modify(ModifyKind::Any), &file)));
    assert!(rings(event(Create(CreateKind::File), &file)));
    assert_eq!(bell.stale(), Some(HashSet::new()));
    assert!(rings(event(Remove(RemoveKind::Folder), &dir)));
    assert_eq!(bell.stale(), Some(HashSet::from([dir])));
    assert!(rings(Err(notify::Error::generic("overflow"))));
    assert_eq!(bell.stale(), None);
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_told_as_gone() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    std::fs::write(&file, "old").unwrap();
    let mut known = Known::from([(file.clone(), Seen::default())]);
    let start = Instant::now();
    let mut look = |after: Duration| {
        let compared = differing(&mut known, start + after);
        (compared.changes.into_iter().map(|change| change.content).collect::<Vec<_>>(), compared.waiting)
    };
    assert_eq!(look(Duration::ZERO), (vec![], false));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(look(DEBOUNCE), (vec![], true));
    std::fs::write(&file, "new").unwrap();
    assert_eq!(look(DEBOUNCE * 2), (vec![Content::Revision(Revision::of(b"new"))], false));
    std::fs::remove_file(&file).unwrap();
    let gone = DEBOUNCE * 3;
    assert_eq!(look(gone), (vec![], true));
    assert_eq!(look(gone + GONE_AFTER - DEBOUNCE), (vec![], true));
    assert_eq!(look(gone + GONE_AFTER), (vec![Content::Missing], false));
    assert_eq!(look(gone + GONE_AFTER * 2), (vec![], false));
}
