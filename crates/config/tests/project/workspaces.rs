//! Which folder a command without a workspace means.

use patchbay_config::workspace_of;

use super::Folder;

#[test]
fn the_nearest_marked_folder_upwards_is_the_workspace() {
    for marker in [".patchbay", ".mcp.json", ".agents", ".git"] {
        let folder = Folder::new();
        let (home, top) = (folder.path().join("home"), folder.path().join("home/code/top"));
        let deep = top.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(workspace_of(&deep, &home), Some(deep.clone()), "unmarked: the folder itself");
        std::fs::write(top.join(marker), "").unwrap();
        assert_eq!(workspace_of(&deep, &home), Some(top.clone()), "{marker}");
        std::fs::create_dir(top.join("a").join(marker)).unwrap();
        assert_eq!(workspace_of(&deep, &home), Some(top.join("a")), "{marker}: the nearest");
    }
}

#[test]
fn the_home_folder_and_the_root_are_no_workspaces() {
    let folder = Folder::new();
    let home = folder.path();
    assert_eq!(workspace_of(&home, &home), None);
    assert_eq!(workspace_of(std::path::Path::new("/"), &home), None);
    let below = home.join("notes");
    std::fs::create_dir(&below).unwrap();
    assert_eq!(workspace_of(&below, &home), Some(below.clone()));
    std::fs::create_dir(home.join(".git")).unwrap();
    assert_eq!(workspace_of(&below, &home), None, "a marked home stands for no project");
}

#[cfg(unix)]
#[test]
fn a_link_to_the_home_folder_is_the_home_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    assert_eq!(workspace_of(&folder.path().join("link"), &folder.path().join("real")), None);
}
