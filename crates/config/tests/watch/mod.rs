//! Watching: every way of saving is noticed once and soon, and our own writes are not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use patchbay_api::Revision;
use patchbay_config::{Change, Content, Watch};
use tokio::time::{Instant, timeout};

/// Long enough for a busy machine; a change that is not told fails the test after it.
const LIMIT: Duration = Duration::from_secs(10);

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }
}

async fn next(watch: &mut Watch) -> Change {
    timeout(LIMIT, watch.changed()).await.expect("a change must be told")
}

fn holds(text: &str) -> Content {
    Content::Revision(Revision::of(text.as_bytes()))
}

/// Waits until the file is told to hold this. A save in place may be told of half-way first.
async fn expect(watch: &mut Watch, file: &Path, content: Content) {
    let started = Instant::now();
    loop {
        let change = next(watch).await;
        assert_eq!(change.file, file);
        if change.content == content {
            break;
        }
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "told only after {took:?}");
}

async fn watching(files: &[&Path]) -> Watch {
    let mut watch = Watch::new();
    watch.set(files.iter().map(|file| file.to_path_buf())).await;
    assert_eq!(watch.polling(), None, "this system can watch");
    watch
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

/// As most programs save: a file beside it, renamed over it.
fn rename_over(file: &Path, text: &str) {
    let beside = file.with_extension("tmp~");
    write(&beside, text);
    std::fs::rename(&beside, file).unwrap();
}

#[tokio::test]
async fn every_way_of_saving_is_noticed() {
    let place = Place::new();
    let file = place.path("settings.toml");
    write(&file, "0");
    let mut watch = watching(&[&file]).await;

    write(&file, "in place");
    expect(&mut watch, &file, holds("in place")).await;

    rename_over(&file, "renamed over");
    expect(&mut watch, &file, holds("renamed over")).await;

    std::fs::remove_file(&file).unwrap();
    expect(&mut watch, &file, Content::Missing).await;
    write(&file, "created");
    expect(&mut watch, &file, holds("created")).await;

    std::fs::remove_file(&file).unwrap();
    write(&file, "deleted and created at once");
    expect(&mut watch, &file, holds("deleted and created at once")).await;

    // As vim does with a backup: the old one is moved away, a new one is written.
    std::fs::rename(&file, place.path("settings.toml~")).unwrap();
    write(&file, "moved away and written");
    expect(&mut watch, &file, holds("moved away and written")).await;

    let mut append = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    std::io::Write::write_all(&mut append, b"!").unwrap();
    expect(&mut watch, &file, holds("moved away and written!")).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_watched_where_it_leads_and_where_it_is_turned() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let (link, one, two) =
        (place.path("home/settings.toml"), place.path("dotfiles/one"), place.path("other/two"));
    for file in [&link, &one, &two] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    write(&one, "one");
    write(&two, "two");
    symlink("../dotfiles/one", &link).unwrap();
    let mut watch = watching(&[&link]).await;

    write(&one, "one in place");
    expect(&mut watch, &link, holds("one in place")).await;
    rename_over(&one, "one renamed over");
    expect(&mut watch, &link, holds("one renamed over")).await;

    symlink(&two, place.path("home/new")).unwrap();
    std::fs::rename(place.path("home/new"), &link).unwrap();
    expect(&mut watch, &link, holds("two")).await;
    write(&two, "two in place");
    expect(&mut watch, &link, holds("two in place")).await;

    // A folder on the way that is a link, and is turned.
    let through = place.path("way/file");
    std::fs::create_dir_all(place.path("a")).unwrap();
    std::fs::create_dir_all(place.path("b")).unwrap();
    write(&place.path("a/file"), "a");
    write(&place.path("b/file"), "b");
    symlink("a", place.path("way")).unwrap();
    watch.set([through.clone()]).await;
    std::fs::remove_file(place.path("way")).unwrap();
    symlink("b", place.path("way")).unwrap();
    expect(&mut watch, &through, holds("b")).await;
    write(&place.path("b/file"), "b2");
    expect(&mut watch, &through, holds("b2")).await;
}

#[tokio::test]
async fn folders_that_come_later_are_watched_when_they_come() {
    let place = Place::new();
    let file = place.path("project/.patchbay/settings.toml");
    let mut watch = watching(&[&file]).await;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    write(&file, "first");
    expect(&mut watch, &file, holds("first")).await;
    write(&file, "second");
    expect(&mut watch, &file, holds("second")).await;

    // The folder goes and another one comes in its place, at once.
    for round in 0..3 {
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        write(&file, &format!("new folder {round}"));
        expect(&mut watch, &file, holds(&format!("new folder {round}"))).await;
        write(&file, &format!("again {round}"));
        expect(&mut watch, &file, holds(&format!("again {round}"))).await;
    }

    // A folder that was filled elsewhere is moved over it.
    std::fs::rename(place.path("project"), place.path("old")).unwrap();
    expect(&mut watch, &file, Content::Missing).await;
    write(&place.path("old/.patchbay/settings.toml"), "moved back");
    std::fs::rename(place.path("old"), place.path("project")).unwrap();
    expect(&mut watch, &file, holds("moved back")).await;
}

#[tokio::test]
async fn our_own_writes_are_not_told_and_others_of_the_same_file_are() {
    let place = Place::new();
    let (ours, other) = (place.path("settings.toml"), place.path("other.json"));
    write(&ours, "0");
    write(&other, "0");
    let mut watch = watching(&[&ours, &other]).await;
    let own = watch.own_writes();
    for round in 0..5 {
        let text = format!("ours {round}");
        let write_it = || {
            rename_over(&ours, &text);
            Ok::<_, std::io::Error>(Revision::of(text.as_bytes()))
        };
        own.write(&ours, write_it).unwrap();
        // The next change that is told is this one: ours was passed over.
        write(&other, &format!("theirs {round}"));
        loop {
            let change = next(&mut watch).await;
            assert_eq!(change.file, other);
            if change.content == holds(&format!("theirs {round}")) {
                break;
            }
        }
    }
    write(&ours, "theirs");
    expect(&mut watch, &ours, holds("theirs")).await;
    // Back to what we wrote last, and then to what they wrote: both are theirs.
    write(&ours, "ours 4");
    expect(&mut watch, &ours, holds("ours 4")).await;

    // A write that fails leaves what is known as it was.
    assert!(own.write(&ours, || Err::<Revision, _>("disk full")).is_err());
    write(&ours, "after");
    expect(&mut watch, &ours, holds("after")).await;
}

#[tokio::test]
async fn a_save_of_the_same_content_and_neighbours_are_not_told() {
    let place = Place::new();
    let file = place.path("settings.toml");
    write(&file, "same");
    let mut watch = watching(&[&file]).await;
    rename_over(&file, "same");
    for n in 0..50 {
        write(&place.path(&format!("neighbour{n}")), "x");
    }
    write(&file, "other");
    expect(&mut watch, &file, holds("other")).await;
    assert!(timeout(Duration::from_millis(300), watch.changed()).await.is_err(), "nothing more to tell");
}

#[tokio::test]
async fn many_saves_in_a_row_end_with_the_last_content_and_few_notices() {
    let place = Place::new();
    let file = place.path("settings.toml");
    write(&file, "0");
    let mut watch = watching(&[&file]).await;
    for n in 1..=500 {
        rename_over(&file, &n.to_string());
    }
    let mut notices = 1;
    while next(&mut watch).await.content != holds("500") {
        notices += 1;
    }
    assert!(notices <= 100, "{notices} notices for one burst");
}

#[tokio::test]
async fn files_are_added_and_taken_away_while_it_watches() {
    let place = Place::new();
    let (one, two) = (place.path("a/one"), place.path("b/two"));
    for file in [&one, &two] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(file, "0");
    }
    let mut watch = watching(&[&one]).await;
    write(&two, "before");
    // What changed on a file that is watched already is told although the set changes meanwhile.
    write(&one, "1");
    watch.set([one.clone(), two.clone()]).await;
    expect(&mut watch, &one, holds("1")).await;
    write(&two, "2");
    expect(&mut watch, &two, holds("2")).await;
    watch.set([two.clone()]).await;
    write(&one, "3");
    write(&two, "4");
    expect(&mut watch, &two, holds("4")).await;
}

#[tokio::test]
async fn waiting_that_is_given_up_loses_no_change() {
    let place = Place::new();
    let file = place.path("settings.toml");
    write(&file, "0");
    let mut watch = watching(&[&file]).await;
    write(&file, "1");
    let told = async {
        loop {
            // Shorter than the debounce: no single call can see it through.
            if let Ok(change) = timeout(Duration::from_millis(3), watch.changed()).await
                && change.content == holds("1")
            {
                return;
            }
        }
    };
    timeout(LIMIT, told).await.expect("the change is told to a later call");
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_place_of_the_file_is_told_and_not_waited_for() {
    let place = Place::new();
    let file = place.path("settings.toml");
    write(&file, "0");
    let mut watch = watching(&[&file]).await;
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    loop {
        if let Content::Unreadable(why) = next(&mut watch).await.content {
            assert_eq!(why, "it is no regular file");
            break;
        }
    }
}
