//! A job object, and the start of a process within it.

#![expect(unsafe_code, reason = "system calls; every block says why it is sound")]

use std::{
    io,
    os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle},
};

use windows_sys::Win32::{
    Foundation::INVALID_HANDLE_VALUE,
    System::{
        Diagnostics::ToolHelp::{
            CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
        },
        JobObjects::{
            AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
            JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
            JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
            QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
        },
        Threading::{OpenThread, ResumeThread, THREAD_SUSPEND_RESUME},
    },
};

/// A job whose processes end with its handle. No child inherits the handle.
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: neither attributes nor a name are passed; a handle that is not null is ours.
        let job = unsafe {
            let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            Self(OwnedHandle::from_raw_handle(handle))
        };
        // SAFETY: zero is a valid value of every field.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { std::mem::zeroed() };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = size_of_val(&limits) as u32;
        // SAFETY: the limits are valid for the size passed.
        check(unsafe {
            SetInformationJobObject(
                job.handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        })?;
        Ok(job)
    }

    /// Takes a suspended process in and lets it run: whatever it starts is in the job too.
    pub(super) fn adopt(&self, process: RawHandle, pid: u32) -> io::Result<()> {
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.handle(), process) })?;
        resume(pid)
    }

    /// Ends every process of the job.
    pub(super) fn end(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        check(unsafe { TerminateJobObject(self.handle(), 1) })
    }

    /// How many of its processes run.
    pub(super) fn running(&self) -> io::Result<u32> {
        // SAFETY: zero is a valid value of every field.
        let mut told: JOBOBJECT_BASIC_ACCOUNTING_INFORMATION = unsafe { std::mem::zeroed() };
        let size = size_of_val(&told) as u32;
        // SAFETY: the place is valid for the size passed; the returned length is not asked for.
        check(unsafe {
            QueryInformationJobObject(
                self.handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut told).cast(),
                size,
                std::ptr::null_mut(),
            )
        })?;
        Ok(told.ActiveProcesses)
    }

    fn handle(&self) -> RawHandle {
        self.0.as_raw_handle()
    }
}

/// Lets the one thread of a suspended process run; the standard library keeps no handle of it.
fn resume(pid: u32) -> io::Result<()> {
    // SAFETY: takes numbers; a handle that is valid is ours.
    let snapshot = unsafe {
        let handle = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    // SAFETY: zero is a valid value of every field.
    let mut entry: THREADENTRY32 = unsafe { std::mem::zeroed() };
    entry.dwSize = size_of_val(&entry) as u32;
    // SAFETY: the snapshot is open and the entry tells its size.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        if entry.th32OwnerProcessID == pid {
            return resume_thread(entry.th32ThreadID);
        }
        // SAFETY: as above.
        more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Err(io::ErrorKind::NotFound.into())
}

fn resume_thread(id: u32) -> io::Result<()> {
    // SAFETY: takes numbers; a handle that is not null is ours.
    let thread = unsafe {
        let handle = OpenThread(THREAD_SUSPEND_RESUME, 0, id);
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    // SAFETY: the handle is open.
    let before = unsafe { ResumeThread(thread.as_raw_handle()) };
    if before == u32::MAX { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
