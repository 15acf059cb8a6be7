//! Whether a tray can be shown here at all, found out before it is needed: the toolkit would abort or stay silent.

/// Whether the library that draws the tray can be loaded. Without it the toolkit aborts the process.
#[cfg(target_os = "linux")]
pub(crate) fn library_present() -> bool {
    ["libayatana-appindicator3.so.1", "libappindicator3.so.1"].iter().any(|name| loadable(name))
}

#[cfg(target_os = "linux")]
fn loadable(name: &str) -> bool {
    let Ok(name) = std::ffi::CString::new(name) else { return false };
    #[expect(unsafe_code, reason = "asks the loader for the library that the tray would load itself")]
    // SAFETY: the name is a valid C string, and this library's initialisers are those that the tray runs anyway.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    !handle.is_null()
}

/// Whether somebody shows trays on this session now.
#[cfg(target_os = "linux")]
pub(crate) async fn present() -> bool {
    tokio::task::spawn_blocking(ask_bus).await.unwrap_or(false)
}

#[cfg(target_os = "linux")]
fn ask_bus() -> bool {
    use gio::prelude::ToVariant as _;
    let Ok(bus) = gio::bus_get_sync(gio::BusType::Session, gio::Cancellable::NONE) else { return false };
    let answer = bus.call_sync(
        Some("org.freedesktop.DBus"),
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus",
        "NameHasOwner",
        Some(&("org.kde.StatusNotifierWatcher",).to_variant()),
        None,
        gio::DBusCallFlags::NONE,
        2_000,
        gio::Cancellable::NONE,
    );
    answer.ok().and_then(|answer| answer.get::<(bool,)>()).is_some_and(|(owned,)| owned)
}

/// The tray is part of the system here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn library_present() -> bool {
    true
}

/// The tray is part of the system here.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn present() -> bool {
    true
}
