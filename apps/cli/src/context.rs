//! What every command starts from: the home, the workspace, what to hide, and where to print.

use std::path::{Path, PathBuf};

use patchbay_api::{ApiError, ErrorCode, OwnerKind};
use patchbay_config::{Home, SettingsStore, workspace_of};
use patchbay_exec::StopSteps;
use patchbay_hub::HubOptions;
use patchbay_records::LogGuard;
use patchbay_secrets::Redactor;

use crate::args::Global;
use crate::output::Output;

/// What every command starts from.
pub struct Context {
    /// Patchbay's folder.
    pub home: Home,
    /// The secrets of this process.
    pub redactor: Redactor,
    /// Where to print.
    pub output: Output,
    workspace: Option<PathBuf>,
}

impl Context {
    /// For the options of this command line. Touches nothing.
    pub fn new(home: Home, global: &Global, output: Output, redactor: Redactor) -> Self {
        Self { home, redactor, output, workspace: global.workspace.clone() }
    }

    /// The command's workspace: `--workspace`, else the project that the current folder is in. `None`: global servers
    /// only.
    ///
    /// # Errors
    /// The folder does not exist, or its path cannot be written as text.
    pub fn workspace(&self) -> Result<Option<String>, ApiError> {
        match &self.workspace {
            Some(dir) => folder(dir).map(Some),
            None => {
                let here = std::env::current_dir().map_err(|error| {
                    ApiError::new(ErrorCode::Io, format!("cannot tell the current folder: {error}"))
                        .hint("go to a folder that exists, or name one with --workspace DIR")
                })?;
                let user = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
                workspace_of(&here, &user).map(|dir| as_text(&dir)).transpose()
            }
        }
    }

    /// How this process opens a hub.
    ///
    /// # Errors
    /// This program's own path cannot be told.
    pub fn hub_options(&self, kind: OwnerKind, strict: bool) -> Result<HubOptions, ApiError> {
        let program = std::env::current_exe().map_err(|error| {
            ApiError::new(ErrorCode::Io, format!("cannot tell where this program is: {error}"))
        })?;
        let sample = (as_text(&program)?, vec!["sample-server".to_owned()]);
        let (stop_steps, look_every) = (StopSteps::default(), patchbay_hub::LOOK_EVERY);
        Ok(HubOptions { kind, sample, stop_steps, look_every, host: None, strict })
    }

    /// Opens the diagnostic log, for commands that run servers themselves. Without it they work all the same.
    pub fn log(&self) -> Option<LogGuard> {
        let settings =
            SettingsStore::new(&self.home).read().map(|snapshot| snapshot.settings.log).unwrap_or_default();
        // The words of the settings are those of the log.
        let level = settings.level.word().parse().unwrap_or_default();
        match patchbay_records::init(self.home.dir(), level, self.redactor.clone(), settings.retain_days) {
            Ok(guard) => {
                patchbay_records::redact_panics(self.redactor.clone(), Some(&guard));
                Some(guard)
            }
            Err(error) => {
                self.output.warn(&format!("there will be no log of this command: {error}"));
                None
            }
        }
    }
}

/// An existing folder's canonical path as text.
///
/// # Errors
/// It does not exist, is no folder, or its path cannot be written as text.
pub fn folder(dir: &Path) -> Result<String, ApiError> {
    let canonical = dir.canonicalize().map_err(|error| {
        let code =
            if error.kind() == std::io::ErrorKind::NotFound { ErrorCode::NotFound } else { ErrorCode::Io };
        ApiError::new(code, format!("cannot open the folder {}: {error}", dir.display()))
    })?;
    if !canonical.is_dir() {
        return Err(ApiError::new(ErrorCode::Invalid, format!("{} is not a folder", dir.display())));
    }
    as_text(&canonical)
}

fn as_text(path: &Path) -> Result<String, ApiError> {
    path.to_str().map(ToOwned::to_owned).ok_or_else(|| {
        ApiError::new(ErrorCode::Invalid, format!("the path {} is not valid text", path.display()))
    })
}
