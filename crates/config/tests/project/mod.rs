//! A project's files: what is read from them, what is not, and what they cannot do.

mod expansion;
mod files;
mod hostile;
mod policy;
mod shapes;
mod trust;
mod workspaces;

use std::path::{Path, PathBuf};

use patchbay_config::{Project, ProjectFiles, ServerConfig, Stdio, Transport};

/// A project folder for a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with one `.mcp.json`.
    fn with_json(text: &str) -> Self {
        let folder = Self::new();
        folder.put(".mcp.json", text);
        folder
    }

    /// A folder with one `.patchbay/settings.toml`.
    fn with_toml(text: &str) -> Self {
        let folder = Self::new();
        folder.put(".patchbay/settings.toml", text);
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn read(&self) -> Project {
        read(self.0.path())
    }
}

fn read(dir: &Path) -> Project {
    ProjectFiles::new(dir).unwrap().read(false)
}

/// Each server in one line, then each invalid entry in one line.
fn outline(project: &Project) -> Vec<String> {
    let servers = project.servers.iter().map(|server| line(&server.config));
    let invalid = project.invalid.iter().map(|entry| {
        let place = entry.place.line.map_or_else(String::new, |line| format!(" (line {line})"));
        format!(
            "{} INVALID {}: {}{place}",
            entry.name.as_deref().unwrap_or("?"),
            entry.field.as_deref().unwrap_or("-"),
            entry.reason
        )
    });
    servers.chain(invalid).collect()
}

fn line(config: &ServerConfig) -> String {
    let name = &config.id.name;
    match &config.transport {
        Transport::Stdio(Stdio { command, args, .. }) => format!("{name} stdio {command:?} {args:?}"),
        Transport::Http(http) => format!("{name} http {} {:?}", http.url, http.headers),
        Transport::Sse(http) => format!("{name} sse {} {:?}", http.url, http.headers),
    }
}
