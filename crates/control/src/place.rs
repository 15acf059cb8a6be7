//! Where the socket stands: in the home, or, where that path is too long for a socket, in the runtime folder.

use std::path::{Path, PathBuf};

use patchbay_api::WorkspaceKey;
use patchbay_config::Home;

/// The longest path that every system takes for a socket, in bytes (macOS: 104 with its end mark).
const MAX_PATH: usize = 100;

/// Where the owner of this home listens.
#[must_use]
pub fn socket(home: &Home) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    choose(home.dir(), &runtime)
}

fn choose(home: &Path, runtime: &Path) -> PathBuf {
    let near = home.join("control.sock");
    if near.as_os_str().len() <= MAX_PATH {
        return near;
    }
    // Named after the home, so that every guest finds the same one. A stranger who stands there first learns
    // nothing: the owner replaces a dead socket, and guests check whose process answers.
    runtime.join(format!("patchbay-{}.sock", WorkspaceKey::of(home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_stands_in_the_home_unless_the_path_is_too_long() {
        assert_eq!(choose(Path::new("/h"), Path::new("/run/user/1")), Path::new("/h/control.sock"));
        let long = PathBuf::from("/".to_owned() + &"x".repeat(120));
        let far = choose(&long, Path::new("/run/user/1"));
        assert!(far.starts_with("/run/user/1") && far.as_os_str().len() <= MAX_PATH, "{}", far.display());
        assert_ne!(far, choose(&long.join("y"), Path::new("/run/user/1")));
    }
}
