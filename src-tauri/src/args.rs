//! The few arguments of the desktop program.

use std::ffi::OsString;
use std::path::PathBuf;

const HELP: &str = "patchbay-desktop: the window and the tray of Patchbay

Usage: patchbay-desktop [--config DIR] [--hidden]

  --config DIR  the folder of the settings (default: $PATCHBAY_HOME, else the system's)
  --hidden      start in the tray, without opening the window
  --version     print the version

A second start brings the running one's window to the front. The command line is `patchbay`.";

/// What this process is to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The owner, or the tray of another owner.
    Owner { config: Option<PathBuf>, hidden: bool },
    /// The window.
    Window { config: Option<PathBuf>, settings: bool },
    /// The bundled sample server.
    Sample,
    /// Only says something.
    Print(String),
}

/// Reads the arguments, without the program's name.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> anyhow::Result<Role> {
    let (mut config, mut hidden, mut window, mut settings) = (None, false, false, false);
    let mut args = args.peekable();
    if args.peek().is_some_and(|first| first == "sample-server") {
        return Ok(Role::Sample);
    }
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--config") => {
                let dir = args.next().ok_or_else(|| anyhow::anyhow!("--config needs a folder"))?;
                config = Some(PathBuf::from(dir));
            }
            Some("--hidden") => hidden = true,
            Some("--window") => window = true,
            Some("--settings") => settings = true,
            Some("--help" | "-h") => return Ok(Role::Print(HELP.into())),
            Some("--version" | "-V") => {
                return Ok(Role::Print(concat!("patchbay-desktop ", env!("CARGO_PKG_VERSION")).into()));
            }
            _ => anyhow::bail!("unknown argument {}\n\n{HELP}", arg.display()),
        }
    }
    Ok(if window { Role::Window { config, settings } } else { Role::Owner { config, hidden } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(args: &[&str]) -> anyhow::Result<Role> {
        parse(args.iter().map(OsString::from))
    }

    #[test]
    fn the_role_follows_the_arguments() {
        assert_eq!(role(&[]).unwrap(), Role::Owner { config: None, hidden: false });
        let config = Some(PathBuf::from("/c"));
        assert_eq!(
            role(&["--hidden", "--config", "/c"]).unwrap(),
            Role::Owner { config: config.clone(), hidden: true }
        );
        assert_eq!(role(&["--window", "--config", "/c"]).unwrap(), Role::Window { config, settings: false });
        assert_eq!(role(&["sample-server"]).unwrap(), Role::Sample);
        assert!(role(&["--config"]).is_err() && role(&["--nonsense"]).is_err());
    }
}
