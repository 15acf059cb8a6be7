//! Facts of the host that policies are made of: the user's home, temp folders, the caches of launchers, and the
//! doors that lead out of any sandbox (sockets of the desktop session, of the keyring, of agents and of container
//! engines). Pure but for [`Host::current`].

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::policy::lexical;

/// The user's folders and the session's sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The user's home.
    pub home: PathBuf,
    /// Folders for temporary files.
    pub temp: Vec<PathBuf>,
    /// Folders where launchers such as npx and uvx keep what they fetched.
    pub caches: Vec<PathBuf>,
    /// Sockets and folders that are shut in every sandbox.
    pub doors: Vec<PathBuf>,
    /// Where the kernel lists Unix sockets: what somebody listens on outside the project's own folders is shut too.
    pub socket_table: PathBuf,
}

/// Variables that lead to a door; servers in a sandbox do not get them. Without `DISPLAY`, browsers run headless
/// instead of failing.
pub(crate) const DOOR_VARIABLES: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "XDG_RUNTIME_DIR",
    "WAYLAND_DISPLAY",
    "DISPLAY",
];

/// Caches below the home folder that are made when they are missing, so that a first start works.
pub(crate) const MADE_CACHES: &[&str] = &[".cache", ".npm", ".local/share/uv"];

/// Further caches below the home folder, writable where they exist.
const CACHES: &[&str] =
    &[".local/share/pnpm", ".yarn/berry/cache", ".bun/install/cache", "go/pkg/mod", "Library/Caches"];

/// Variables that move a cache.
const CACHE_VARIABLES: &[&str] = &[
    "XDG_CACHE_HOME",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "PIP_CACHE_DIR",
    "DENO_DIR",
    "BUN_INSTALL_CACHE_DIR",
];

/// Doors below the home folder: keyrings, and sockets of container engines and of agents.
const HOME_DOORS: &[&str] = &[
    ".local/share/keyrings",
    ".local/share/kwalletd",
    "Library/Keychains",
    ".docker/run",
    ".docker/desktop",
    ".colima",
    ".orbstack/run",
    ".1password",
    ".bitwarden-ssh-agent.sock",
];

impl Host {
    /// Folders of sockets and run-time state that no sandbox shows, but for single files and folders of them.
    pub(crate) const HIDDEN: &'static [&'static str] = &["/run", "/var/run"];

    /// What of the hidden folders is shown: removable disks and, on some systems, the programs themselves.
    pub(crate) const SHOWN: &'static [&'static str] =
        &["/run/media", "/run/current-system", "/run/booted-system", "/run/opengl-driver"];

    /// Reads the owner's environment through `variable`.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = lexical(&folder("HOME").unwrap_or_else(|| PathBuf::from("/")));
        // A temp folder that holds the home would make everything writable.
        let usable = |path: &PathBuf| !home.starts_with(path);
        let mut temp = vec![PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
        temp.extend(folder("TMPDIR").map(|path| lexical(&path)));
        temp.retain(usable);
        let mut caches: Vec<PathBuf> =
            MADE_CACHES.iter().chain(CACHES).map(|cache| home.join(cache)).collect();
        caches.extend(CACHE_VARIABLES.iter().filter_map(|name| folder(name)).map(|path| lexical(&path)));
        caches.retain(usable);
        let mut doors: Vec<PathBuf> = HOME_DOORS.iter().map(|door| home.join(door)).collect();
        doors.push("/tmp/.X11-unix".into());
        doors.extend(
            ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GNOME_KEYRING_CONTROL"].into_iter().filter_map(folder),
        );
        let addresses =
            ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST"];
        let addresses = addresses.into_iter().filter_map(&variable);
        doors.extend(
            addresses.filter_map(|address| address.into_string().ok()).flat_map(|address| sockets(&address)),
        );
        doors.retain(|door| !home.starts_with(door));
        Self { home, temp, caches, doors, socket_table: "/proc/net/unix".into() }
    }

    /// The host of this process.
    #[must_use]
    pub fn current() -> Self {
        Self::new(|name| std::env::var_os(name))
    }
}

/// The socket paths of a D-Bus or container engine address (`unix:path=/a,guid=1;unix:path=/b`, `unix:///a`).
fn sockets(address: &str) -> Vec<PathBuf> {
    let one = |part: &str| {
        let rest = part.trim().strip_prefix("unix:")?;
        let path = match rest.strip_prefix("//") {
            Some(path) => path,
            None => rest.split(',').find_map(|pair| pair.strip_prefix("path="))?,
        };
        Some(lexical(Path::new(path))).filter(|path| path.is_absolute() && path.parent().is_some())
    };
    address.split(';').filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(variables: &[(&str, &str)]) -> Host {
        Host::new(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn addresses_of_the_session_become_doors() {
        let host = host(&[
            ("HOME", "/home/ada"),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                "unix:path=/run/user/7/bus,guid=1;unix:abstract=/tmp/x;unix:path=/a/../b",
            ),
            ("DOCKER_HOST", "unix:///home/ada/engine.sock"),
            ("CONTAINER_HOST", "tcp://1.2.3.4:5"),
        ]);
        for door in ["/run/user/7/bus", "/b", "/home/ada/engine.sock"] {
            assert!(host.doors.contains(&door.into()), "{door} is missing in {:?}", host.doors);
        }
        assert!(host.doors.iter().all(|door| door.is_absolute() && door.parent().is_some()));
    }

    #[test]
    fn a_cache_or_temp_folder_that_holds_the_home_is_not_made_writable() {
        let host = host(&[
            ("HOME", "/home/ada"),
            ("TMPDIR", "/home"),
            ("XDG_CACHE_HOME", "/"),
            ("UV_CACHE_DIR", "x"),
        ]);
        assert_eq!(host.temp, [Path::new("/tmp"), Path::new("/var/tmp")]);
        assert!(host.caches.iter().all(|cache| cache.starts_with("/home/ada/")), "{:?}", host.caches);
    }
}
