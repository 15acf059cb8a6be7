//! What the server's process executes, made ready before the fork: the child must not allocate.

use std::{
    ffi::{CString, NulError, OsStr, OsString, c_char},
    io,
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// Runs a program that is a script without a first line that names its interpreter.
const SH: &std::ffi::CStr = c"/bin/sh";

/// Program, arguments and environment as the kernel takes them.
pub(super) struct Image {
    /// `/bin/sh`, the program, its arguments: from the second on they are the program's own.
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    /// What the pointers point into.
    _texts: Vec<CString>,
}

#[expect(unsafe_code, reason = "pointers to texts that the value owns")]
// SAFETY: the pointers point into the heap memory of texts that live as long as the value and are never changed.
unsafe impl Send for Image {}
#[expect(unsafe_code, reason = "pointers to texts that the value owns")]
// SAFETY: as above; there is no way to change anything through a shared reference.
unsafe impl Sync for Image {}

impl Image {
    pub(super) fn new(program: &Path, args: &[OsString], env: &[(OsString, OsString)]) -> io::Result<Self> {
        let text = |text: &OsStr| CString::new(text.as_bytes());
        let pair = |(name, value): &(OsString, OsString)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
        };
        let words =
            std::iter::once(program.as_os_str()).chain(args.iter().map(OsString::as_os_str)).map(text);
        let words: Vec<CString> = words.collect::<Result<_, NulError>>()?;
        let pairs: Vec<CString> = env.iter().map(pair).collect::<Result<_, NulError>>()?;
        let argv = std::iter::once(SH.as_ptr()).chain(pointers(&words)).collect();
        let envp = pointers(&pairs).collect();
        Ok(Self { argv, envp, _texts: words.into_iter().chain(pairs).collect() })
    }

    /// Becomes the program; returns the error's number where that fails. Async-signal-safe.
    pub(super) fn execute(&self) -> i32 {
        let Some(own @ [program, ..]) = self.argv.get(1..) else {
            return libc::EINVAL;
        };
        #[expect(unsafe_code, reason = "system call")]
        // SAFETY: both lists end with null and their texts with NUL; all outlive the call, which keeps nothing.
        unsafe {
            libc::execve(*program, own.as_ptr(), self.envp.as_ptr());
            if errno() == libc::ENOEXEC {
                libc::execve(SH.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
                return libc::ENOEXEC;
            }
        }
        errno()
    }
}

/// The list ends with null.
fn pointers(texts: &[CString]) -> impl Iterator<Item = *const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()])
}

pub(super) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
