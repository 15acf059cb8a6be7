//! How long settings with 500 servers take to read and to edit: `cargo bench -p patchbay-config`.
//!
//! Time on the processor, so that other programs do not count; and the file lies in memory (`/dev/shm`), so that no disk
//! does. Fails where a mean is beyond its limit. Run as a test it goes through once, without limits.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a measurement speaks to a terminal and takes real time"
)]

use std::{
    fmt::Write as _,
    path::Path,
    sync::LazyLock,
    time::{Duration, Instant},
};

use patchbay_config::{ConfigSnapshot, Edit, Home, SettingsStore, edit_bytes};

const SERVERS: usize = 500;

fn settings() -> String {
    let mut text = String::from("# settings\n[mcp]\ntool_names = \"plain\"\n");
    for i in 0..SERVERS {
        let _ = write!(
            text,
            "\n# server {i}\n[[mcp.servers]]\nname = \"server-{i}\"\ncommand = \"/usr/bin/npx\"\n\
             args = [\"-y\", \"@scope/package-{i}\", \"--flag\"] # pinned\nauto_approve = false\ntimeout_seconds = 1_20\n\
             [mcp.servers.env]\nTOKEN = \"${{secret:token}}\"\nHOME_DIR = '/home/x'\n"
        );
    }
    text
}

/// How long this program ran on a processor; where the system does not say, how long it is that it was started.
fn on_processor() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// The mean time of many runs on the processor, printed beside its limit and the shortest time by the clock.
fn measure(what: &str, limit_ms: u64, mut run: impl FnMut(usize)) -> bool {
    let measured = std::env::args().any(|arg| arg == "--bench");
    let runs = if measured { 400 } else { 1 };
    let start = on_processor();
    let mut least = Duration::MAX;
    for i in 0..runs {
        let start = Instant::now();
        run(i);
        least = least.min(start.elapsed());
    }
    let mean = (on_processor() - start) / u32::try_from(runs).unwrap_or(1);
    println!(
        "{what:<52} mean {mean:>9.2?} of processor, least {least:>9.2?} by the clock, limit {limit_ms} ms"
    );
    !measured || mean < Duration::from_millis(limit_ms)
}

fn main() {
    let text = settings();
    let file = Path::new("settings.toml");
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder for the file");
    let store = SettingsStore::new(&Home::resolve(Some(folder.path())).expect("a home"));
    std::fs::write(store.file(), &text).expect("the file can be written");
    println!("{SERVERS} servers, {} bytes", text.len());

    let toggle = |i: usize| Edit::Enable { name: "server-250".into(), enabled: i % 2 == 1 };
    let mut draft = ConfigSnapshot::parse(file, text.as_bytes())
        .expect("valid")
        .server("server-250")
        .expect("there")
        .to_draft();
    draft.args.push("--more".into());
    draft.env.insert("NEW".into(), "1".into());
    draft.timeout_seconds = Some(7);
    let replace = Edit::Replace { name: "server-250".into(), draft };
    let edit = |edit: &Edit| edit_bytes(file, text.as_bytes(), edit).expect("can be edited");

    let good = [
        measure("read and check", 10, |_| drop(ConfigSnapshot::parse(file, text.as_bytes()))),
        measure("one edit, in memory: switch a server", 5, |_| drop(edit(&toggle(0)))),
        measure("one edit, in memory: three values of a server", 5, |_| drop(edit(&replace))),
        measure("one edit, in memory: remove a server", 5, |_| {
            drop(edit(&Edit::Remove { name: "server-250".into() }))
        }),
        measure("one edit of the file, locked and replaced, no disk", 5, |i| {
            drop(store.edit(None, &toggle(i)).expect("can be edited"));
        }),
    ];
    assert!(good.iter().all(|good| *good), "slower than it may be");
}
