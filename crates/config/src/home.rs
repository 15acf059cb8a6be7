//! The folder that holds everything Patchbay keeps, and how it is found. What the files hold is said elsewhere.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::error::{ConfigError, IoContext as _};

/// Patchbay's own folder: settings, trust, approvals, logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Finds the home: the `--config` folder, else `$PATCHBAY_HOME`, else the system's folder for settings.
    /// Creates nothing. Only a relative `--config` is taken from the current folder.
    ///
    /// # Errors
    /// [`ConfigError::NoHome`] where none of the three gives an absolute folder.
    pub fn resolve(flag: Option<&Path>) -> Result<Self, ConfigError> {
        match flag {
            Some(dir) => {
                let dir = std::path::absolute(dir).at("find", dir)?;
                Ok(Self { dir })
            }
            None => from_environment(|name| std::env::var_os(name).filter(|value| !value.is_empty())),
        }
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The global settings file.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.dir.join("settings.toml")
    }

    /// The file whose lock makes one writer of the settings.
    #[must_use]
    pub fn settings_lock(&self) -> PathBuf {
        self.dir.join("settings.lock")
    }

    /// The file whose lock makes one owner of the home.
    #[must_use]
    pub fn owner_lock(&self) -> PathBuf {
        self.dir.join("owner.lock")
    }

    /// Creates the folder where it is missing, for its user alone (0700). An existing one stays as it is.
    ///
    /// # Errors
    /// [`ConfigError::Io`] naming the folder.
    pub fn ensure(&self) -> Result<(), ConfigError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.dir).at("create the folder", &self.dir)
    }
}

fn from_environment(var: impl Fn(&str) -> Option<OsString>) -> Result<Home, ConfigError> {
    if let Some(dir) = var("PATCHBAY_HOME").map(PathBuf::from) {
        if dir.is_absolute() {
            return Ok(Home { dir });
        }
        return Err(ConfigError::NoHome {
            reason: format!("PATCHBAY_HOME is not an absolute path: {}", dir.display()),
        });
    }
    system_folder(&var)
        .filter(|dir| dir.is_absolute())
        .map(|dir| Home { dir })
        .ok_or_else(|| ConfigError::NoHome { reason: "the user's home folder is not set".into() })
}

#[cfg(target_os = "macos")]
fn system_folder(var: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(PathBuf::from(var("HOME")?).join("Library/Application Support/Patchbay"))
}

#[cfg(windows)]
fn system_folder(var: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(PathBuf::from(var("APPDATA")?).join("Patchbay"))
}

#[cfg(not(any(target_os = "macos", windows)))]
fn system_folder(var: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative XDG_CONFIG_HOME counts as unset (XDG Base Directory Specification).
    let config = var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    Some(match config {
        Some(dir) => dir.join("patchbay"),
        None => PathBuf::from(var("HOME")?).join(".config/patchbay"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(vars: &[(&str, &str)]) -> Result<Home, ConfigError> {
        from_environment(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
    }

    #[test]
    fn the_variable_comes_before_the_systems_folder() {
        let found = home(&[("PATCHBAY_HOME", "/p"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]).unwrap();
        assert_eq!(found.settings(), Path::new("/p/settings.toml"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_takes_the_xdg_folder_where_it_is_absolute() {
        assert_eq!(
            home(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]).unwrap().dir(),
            Path::new("/x/patchbay")
        );
        assert_eq!(
            home(&[("XDG_CONFIG_HOME", "x"), ("HOME", "/h")]).unwrap().dir(),
            Path::new("/h/.config/patchbay")
        );
    }

    #[test]
    fn without_an_absolute_folder_it_says_what_is_missing() {
        assert!(matches!(home(&[]), Err(ConfigError::NoHome { .. })));
        let error = home(&[("PATCHBAY_HOME", "rel"), ("HOME", "/h")]).unwrap_err();
        assert!(error.to_string().contains("PATCHBAY_HOME"), "{error}");
    }

    #[test]
    fn the_flag_comes_first_and_may_be_relative() {
        let home = Home::resolve(Some(Path::new("some/dir"))).unwrap();
        assert_eq!(home.dir(), std::env::current_dir().unwrap().join("some/dir"));
    }

    #[cfg(unix)]
    #[test]
    fn a_new_home_is_for_its_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(&temp.path().join("a/b"))).unwrap();
        home.ensure().unwrap();
        home.ensure().unwrap();
        for dir in [home.dir(), home.dir().parent().unwrap()] {
            assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
