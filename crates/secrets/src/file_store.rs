//! Secrets in one owner-only JSON file: `secrets.json` in the home, mode 0600.
//!
//! Every change is a read, an edit and an atomic replacement under a file lock, so that several processes can use
//! one home. A file that cannot be understood is an error and is never written over. On Windows the folder's access
//! list is what keeps others out; that part was not run here.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::{Secret, SecretError};

const FILE: &str = "secrets.json";
const LOCK: &str = "secrets.lock";
const TEMPORARY: &str = ".secrets-";
const VERSION: u64 = 1;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 20;
const LOCK_WAIT: Duration = Duration::from_secs(10);
const LOCK_STEP: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
pub(crate) struct FileStore {
    home: PathBuf,
}

/// The file. Scopes and names are sorted, so that equal secrets make an equal file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u64,
    secrets: BTreeMap<String, BTreeMap<String, String>>,
}

impl Drop for Content {
    fn drop(&mut self) {
        self.secrets.values_mut().flat_map(BTreeMap::values_mut).for_each(Zeroize::zeroize);
    }
}

impl FileStore {
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    pub fn file(&self) -> PathBuf {
        self.home.join(FILE)
    }

    pub fn get(&self, scope: &str, name: &str) -> Result<Option<Secret>, SecretError> {
        let content = self.read()?;
        Ok(content
            .secrets
            .get(scope)
            .and_then(|names| names.get(name))
            .map(|value| Secret::from(value.as_str())))
    }

    pub fn names(&self, scope: &str) -> Result<Vec<String>, SecretError> {
        Ok(self.read()?.secrets.get(scope).map(|names| names.keys().cloned().collect()).unwrap_or_default())
    }

    pub fn set(&self, scope: &str, name: &str, value: &Secret) -> Result<(), SecretError> {
        let _lock = self.lock()?;
        let mut content = self.read()?;
        let names = content.secrets.entry(scope.to_owned()).or_default();
        if let Some(mut old) = names.insert(name.to_owned(), value.expose().to_owned()) {
            old.zeroize();
        }
        self.write(&content)
    }

    pub fn remove(&self, scope: &str, name: &str) -> Result<bool, SecretError> {
        let _lock = self.lock()?;
        let mut content = self.read()?;
        let Some(names) = content.secrets.get_mut(scope) else {
            return Ok(false);
        };
        let Some(mut old) = names.remove(name) else {
            return Ok(false);
        };
        old.zeroize();
        if names.is_empty() {
            content.secrets.remove(scope);
        }
        self.write(&content)?;
        Ok(true)
    }

    fn read(&self) -> Result<Content, SecretError> {
        let path = self.file();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Content { version: VERSION, secrets: BTreeMap::new() });
            }
            Err(error) => return Err(failed(&path, "open the secret store")(error)),
        };
        close_to_others(&file).map_err(failed(&path, "make the secret store readable by its owner only"))?;
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed(&path, "read the secret store"))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(SecretError::Corrupt {
                file: path,
                reason: format!("it is larger than {MAX_FILE} bytes"),
            });
        }
        parse(&bytes, &path)
    }

    fn write(&self, content: &Content) -> Result<(), SecretError> {
        let path = self.file();
        // Where the file is a link, what it points at is replaced.
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let folder = target.parent().unwrap_or(&self.home);
        let bytes = Zeroizing::new(serde_json::to_vec_pretty(content).map_err(|error| SecretError::Io {
            file: path.clone(),
            doing: "write the secret store",
            source: error.into(),
        })?);
        let write = || -> io::Result<()> {
            remove_leftovers(folder)?;
            // A temporary file has mode 0600 from its creation on.
            let mut temporary = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
            temporary.write_all(&bytes)?;
            temporary.write_all(b"\n")?;
            temporary.as_file().sync_all()?;
            temporary.persist(&target)?;
            sync_folder(folder)
        };
        write().map_err(failed(&path, "write the secret store"))
    }

    /// Keeps other processes from changing the file until the lock is dropped.
    fn lock(&self) -> Result<File, SecretError> {
        let path = self.home.join(LOCK);
        create_home(&self.home).map_err(failed(&self.home, "create the folder"))?;
        let file = owner_only().open(&path).map_err(failed(&path, "open the lock file"))?;
        for _ in 0..LOCK_WAIT.as_millis() / LOCK_STEP.as_millis() {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) => thread::sleep(LOCK_STEP),
                Err(fs::TryLockError::Error(error)) => {
                    return Err(failed(&path, "lock the secret store")(error));
                }
            }
        }
        Err(SecretError::Locked { file: path, seconds: LOCK_WAIT.as_secs() })
    }
}

fn parse(bytes: &[u8], path: &Path) -> Result<Content, SecretError> {
    // The parser's own words may quote a value; only the place is taken from them.
    let corrupt = |error: serde_json::Error| SecretError::Corrupt {
        file: path.to_owned(),
        reason: format!("line {}, column {} is not what Patchbay writes", error.line(), error.column()),
    };
    #[derive(Deserialize)]
    struct Head {
        version: u64,
    }
    let head: Head = serde_json::from_slice(bytes).map_err(corrupt)?;
    if head.version != VERSION {
        return Err(SecretError::Version { file: path.to_owned(), version: head.version });
    }
    serde_json::from_slice(bytes).map_err(corrupt)
}

fn failed(file: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> SecretError {
    let file = file.to_owned();
    move |source| SecretError::Io { file, doing, source }
}

/// Removes what a process that was killed in a write left: it holds secrets. Under the lock no such file is in use.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn create_home(home: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home)
}

#[cfg(not(unix))]
fn create_home(home: &Path) -> io::Result<()> {
    fs::create_dir_all(home)
}

#[cfg(unix)]
fn close_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn close_to_others(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
