//! Folders and files that only their owner can read. On Windows the home's access list is what keeps others out;
//! that part was not run here.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Creates a folder with mode 0700, or takes others' access from one that is there.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    close_to_others(&File::open(folder)?, 0o700)
}

/// Opens a file for appending, with mode 0600.
pub(crate) fn open_append(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(file)?;
    close_to_others(&file, 0o600)?;
    Ok(file)
}

#[cfg(unix)]
fn close_to_others(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn close_to_others(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}
