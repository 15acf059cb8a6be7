//! The home's token: whoever can read it may be a guest. It stands in the folder that the sandbox blocks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use patchbay_config::Home;
use patchbay_secrets::Secret;
use subtle::ConstantTimeEq;

use crate::ControlError;

fn path(home: &Home) -> PathBuf {
    home.dir().join("control.token")
}

/// Makes a fresh token and writes it for guests to read; the last owner's is worth nothing then.
pub(crate) fn renew(home: &Home) -> Result<Secret, ControlError> {
    let path = path(home);
    let failed = |source| ControlError::Io { action: "write", path: path.clone(), source };
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| failed(std::io::Error::other(error)))?;
    let token = bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let mut file = tempfile::NamedTempFile::new_in(home.dir()).map_err(failed)?;
    file.write_all(token.as_bytes()).map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(Secret::from(token))
}

/// Reads the token as a guest.
pub(crate) fn read(home: &Home) -> Result<Secret, ControlError> {
    let path = path(home);
    let token =
        std::fs::read_to_string(&path).map_err(|source| ControlError::Io { action: "read", path, source })?;
    Ok(Secret::from(token))
}

/// Compares without telling by its time where two tokens differ.
pub(crate) fn same(token: &Secret, given: &str) -> bool {
    token.expose().as_bytes().ct_eq(given.as_bytes()).into()
}
