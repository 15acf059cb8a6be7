//! The store of the global settings: reading them, and changing one server at a time.

use std::path::{Path, PathBuf};

use patchbay_api::{McpServerConfig, Revision};

use crate::{
    edit,
    error::ConfigError,
    home::Home,
    read::{self, ConfigSnapshot},
    write::{self, Lock, Replaced},
};

/// How often an edit starts anew because somebody else saved the file meanwhile.
const MAX_ATTEMPTS: usize = 20;

/// The global settings file.
#[derive(Debug, Clone)]
pub struct SettingsStore {
    home: Home,
    file: PathBuf,
}

/// One change of the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Adds a server behind the others.
    Add(McpServerConfig),
    /// Gives a server the settings of a draft, and its name too.
    Replace {
        /// The server.
        name: String,
        /// What it shall be.
        draft: McpServerConfig,
    },
    /// Takes a server away, with its sub-tables and the comment above it.
    Remove {
        /// The server.
        name: String,
    },
    /// Switches a server on or off.
    Enable {
        /// The server.
        name: String,
        /// Whether it shall be on.
        enabled: bool,
    },
}

impl SettingsStore {
    /// The settings of this home. Touches nothing yet.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self { home: home.clone(), file: home.settings() }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// Where it cannot be read, is no TOML, or a key outside the servers has a wrong value.
    pub fn read(&self) -> Result<ConfigSnapshot, ConfigError> {
        ConfigSnapshot::parse(&self.file, &write::read(&self.file)?.unwrap_or_default())
    }

    /// Makes one change in place, on whatever the file says now, or only on the revision `base`. Creates the home
    /// and the file where they are missing. A link stays a link: what it leads to is changed.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] where the file is no longer that revision; else what is wrong with the file, with
    /// the edit, or with writing. The file is then as it was.
    pub fn edit(&self, base: Option<&Revision>, edit: &Edit) -> Result<ConfigSnapshot, ConfigError> {
        self.home.ensure()?;
        let _lock = Lock::acquire(&self.home.settings_lock())?;
        let target = write::resolve(&self.file)?;
        for _ in 0..MAX_ATTEMPTS {
            let old = write::read(&target)?;
            let bytes = old.as_deref().unwrap_or_default();
            if base.is_some_and(|base| *base != Revision::of(bytes)) {
                break;
            }
            let (new, snapshot) = edit_bytes(&self.file, bytes, edit)?;
            let unchanged = new.as_bytes() == bytes;
            if unchanged || write::replace(&target, old.as_deref(), new.as_bytes())? == Replaced::Done {
                return Ok(snapshot);
            }
        }
        Err(ConfigError::Conflict { file: self.file.clone() })
    }
}

/// The text that an edit makes of a settings file's content, and what it says then. Writes nothing; `file` names the
/// file in messages.
///
/// # Errors
/// What is wrong with the content or with the edit.
pub fn edit_bytes(file: &Path, bytes: &[u8], edit: &Edit) -> Result<(String, ConfigSnapshot), ConfigError> {
    let text = read::utf8(file, bytes)?;
    edit::edited(file, text, edit)
}
