//! A project's files: which servers it has, what it tightens, what it wants to loosen, and what is wrong with it.
//!
//! Reading starts nothing, connects to nothing, expands nothing and writes nothing. Whether the project is trusted
//! is `trust`'s. Each file is bounded and must be a regular file inside the project.

mod entry;
mod file;
mod git;
mod policy;
pub(crate) mod source;
mod workspace;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use patchbay_api::{BrokenFile, InvalidServer, Place, Scope, WorkspaceKey};

use crate::error::{ConfigError, IoContext as _};
use crate::jsonc;
use crate::model::{ServerConfig, Transport};
use file::{Entry, FileContent, Format, shown};
pub use policy::{Loosening, Tightening};
use source::SourceError;
pub use workspace::workspace_of;

/// The user's own settings of a project.
const LOCAL: &str = ".patchbay/settings.local.toml";

/// A project's files, in the order in which they are read (MCP-04).
const FILES: [(&str, Format); 4] = [
    (LOCAL, Format::Toml),
    (".patchbay/settings.toml", Format::Toml),
    (".mcp.json", Format::Json),
    (".agents/mcp_config.json", Format::Json),
];

/// The files of one project, with the last good content of each.
#[derive(Debug)]
pub struct ProjectFiles {
    dir: PathBuf,
    scope: Scope,
    kept: [Option<Arc<FileContent>>; FILES.len()],
}

impl ProjectFiles {
    /// The files of the project in this folder. Reads none yet.
    ///
    /// # Errors
    /// Where there is no such folder.
    pub fn new(dir: &Path) -> Result<Self, ConfigError> {
        let dir = dir.canonicalize().at("open the folder", dir)?;
        let scope = Scope::Project(WorkspaceKey::of(&dir));
        Ok(Self { dir, scope, kept: [const { None }; FILES.len()] })
    }

    /// The project's canonical folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the files would stand: what a watch has to look at.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        FILES.iter().map(|(name, _)| self.dir.join(name)).collect()
    }

    /// Reads the files as they are now. Of one that cannot be read or does not parse, the last good content
    /// stands. `legacy_sse` is the user's `[mcp] legacy_sse` (MCP-44). Blocks.
    pub fn read(&mut self, legacy_sse: bool) -> Project {
        let bytes = FILES.map(|(name, _)| source::read_within(&self.dir, Path::new(name), jsonc::MAX_BYTES));
        let local = matches!(bytes[0], Ok(Some(_)));
        let mut project = self.take(bytes, legacy_sse);
        if local && git::tracks(&self.dir, Path::new(LOCAL)) {
            let file = self.dir.join(LOCAL);
            let advice = "is tracked by git, though it is meant for you alone: git rm --cached, and add it to .gitignore";
            project.warnings.push(format!("{}: {advice}", file.display()));
        }
        project
    }

    /// As [`Self::read`], with these contents in place of what the disk holds; in the order of [`Self::paths`].
    pub fn read_contents(&mut self, contents: [Option<Vec<u8>>; FILES.len()], legacy_sse: bool) -> Project {
        self.take(contents.map(Ok), legacy_sse)
    }

    fn take(
        &mut self,
        bytes: [Result<Option<Vec<u8>>, SourceError>; FILES.len()],
        legacy_sse: bool,
    ) -> Project {
        let mut project = Project::empty(&self.dir);
        for (((name, format), kept), bytes) in FILES.iter().zip(&mut self.kept).zip(bytes) {
            match parse(&self.dir.join(name), *format, bytes, &self.scope) {
                Ok(content) => *kept = content.map(Arc::new),
                Err(fault) => project.broken.push(fault),
            }
        }
        let mut names = HashMap::new();
        for ((name, _), content) in FILES.iter().zip(&self.kept) {
            if let Some(content) = content {
                project.take(&self.dir.join(name), content, legacy_sse, &mut names);
            }
        }
        project
    }
}

fn parse(
    file: &Path,
    format: Format,
    bytes: Result<Option<Vec<u8>>, SourceError>,
    scope: &Scope,
) -> Result<Option<FileContent>, BrokenFile> {
    match bytes {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => file::parse(file, format, &bytes, scope).map(Some),
        Err(error) => {
            let place = Place { file: file.display().to_string(), line: None, column: None };
            Err(BrokenFile { reason: format!("cannot be read: {}", shown(&error.to_string())), place })
        }
    }
}

/// A project as its files describe it.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its canonical folder.
    pub dir: PathBuf,
    /// Its usable servers in the order of the files.
    pub servers: Vec<ProjectServer>,
    /// Entries that cannot be used.
    pub invalid: Vec<InvalidServer>,
    /// What else is odd: one sentence each, with file and line.
    pub warnings: Vec<String>,
    /// Files of which nothing new is taken.
    pub broken: Vec<BrokenFile>,
    /// What holds without trust.
    pub tightening: Tightening,
    /// What holds only with trust.
    pub loosening: Loosening,
    relevant: Vec<PathBuf>,
}

/// A server of a project.
#[derive(Debug, Clone)]
pub struct ProjectServer {
    /// Its settings. Never approves by itself and never leaves the sandbox.
    pub config: Arc<ServerConfig>,
    /// The file that it stands in.
    pub file: PathBuf,
    /// Where in it.
    pub place: Place,
    /// Whether the file asks to run it outside the sandbox.
    pub asks_unsandboxed: bool,
}

impl Project {
    fn empty(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            servers: Vec::new(),
            invalid: Vec::new(),
            warnings: Vec::new(),
            broken: Vec::new(),
            tightening: Tightening::default(),
            loosening: Loosening::default(),
            relevant: Vec::new(),
        }
    }

    /// The workspace's key.
    #[must_use]
    pub fn key(&self) -> WorkspaceKey {
        WorkspaceKey::of(&self.dir)
    }

    /// The servers that can stand beside the global ones of these names, and as problems those that cannot: a
    /// project never replaces a global server.
    pub fn beside<'g>(
        &self,
        global: impl IntoIterator<Item = &'g str>,
    ) -> (Vec<&ProjectServer>, Vec<InvalidServer>) {
        let global: HashSet<&str> = global.into_iter().collect();
        let (clashing, usable): (Vec<_>, Vec<_>) =
            self.servers.iter().partition(|server| global.contains(server.config.id.name.as_str()));
        let clashes = clashing.into_iter().map(|server| InvalidServer {
            name: Some(shown(server.config.id.name.as_str())),
            field: Some("name".into()),
            reason: "the global settings have a server of this name, which a project cannot replace".into(),
            hint: Some("Rename one of the two.".into()),
            place: server.place.clone(),
        });
        (usable, clashes.collect())
    }

    /// All problems of the files, one sentence each: broken files, invalid entries, warnings.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|file| format!("{}: {}", file.place, file.reason));
        let invalid = self.invalid.iter().map(|entry| {
            let name = entry.name.as_deref().unwrap_or("(no name)");
            format!("{}: server \"{name}\": {}", entry.place, entry.reason)
        });
        broken.chain(invalid).chain(self.warnings.iter().cloned()).collect()
    }

    /// The files with something that needs trust.
    pub(crate) fn trusted_files(&self) -> &[PathBuf] {
        &self.relevant
    }

    fn take(
        &mut self,
        file: &Path,
        content: &FileContent,
        legacy_sse: bool,
        names: &mut HashMap<String, Place>,
    ) {
        let before = self.servers.len();
        for entry in &content.entries {
            match admit(entry, legacy_sse, names) {
                Ok(config) => self.servers.push(ProjectServer {
                    config,
                    file: file.to_owned(),
                    place: entry.place.clone(),
                    asks_unsandboxed: entry.asks_unsandboxed,
                }),
                Err(invalid) => self.invalid.push(invalid),
            }
        }
        self.warnings.extend(content.warnings.iter().cloned());
        self.tightening.join(&content.tightening);
        self.loosening.join(&content.loosening);
        if self.servers.len() > before || !content.loosening.is_empty() {
            self.relevant.push(file.to_owned());
        }
    }
}

/// The server of an entry, where no earlier one has its name and a project may have one of its kind.
fn admit(
    entry: &Entry,
    legacy_sse: bool,
    names: &mut HashMap<String, Place>,
) -> Result<Arc<ServerConfig>, InvalidServer> {
    let problem = |field: &str, reason: String, hint: &str| InvalidServer {
        name: entry.name.as_deref().map(shown),
        field: Some(field.into()),
        reason,
        hint: Some(hint.into()),
        place: entry.place.clone(),
    };
    if let Some(name) = &entry.name {
        if let Some(first) = names.get(name) {
            let reason = format!("the name is used already, in {first}");
            return Err(problem("name", reason, "Give each server a name of its own."));
        }
        names.insert(name.clone(), entry.place.clone());
    }
    let server = entry.server.as_ref().map_err(Clone::clone)?;
    if matches!(server.transport, Transport::Sse(_)) && !legacy_sse {
        let reason = "is skipped: its type is \"sse\", the old HTTP with server-sent events";
        let hint = "Use the server's streamable HTTP address, or set legacy_sse = true under [mcp] in your own settings.";
        return Err(problem("type", reason.into(), hint));
    }
    Ok(Arc::clone(server))
}
