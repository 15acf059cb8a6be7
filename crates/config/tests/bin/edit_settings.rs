//! Edits the settings of a home, for tests that need a process of their own: `edit_settings HOME add NAME COMMAND`, `remove NAME`, `enable NAME`,
//! `disable NAME`, `add-many PREFIX COUNT`, `toggle NAME`.
//!
//! The last two write over and over, with a line for each write that is done; the tests stop them anywhere.

#![expect(clippy::print_stdout, reason = "it tells the test how far it is")]

use std::path::Path;

use patchbay_api::McpServerConfig;
use patchbay_config::{ConfigError, Edit, Home, SettingsStore};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if let Err(error) = run(&args) {
        println!("error: {error}\n{}", error.hint().unwrap_or_default());
        std::process::exit(1);
    }
}

fn run(args: &[&str]) -> Result<(), ConfigError> {
    let [home, command @ ..] = args else { return usage() };
    let store = SettingsStore::new(&Home::resolve(Some(Path::new(home)))?);
    match command {
        ["add", name, program] => apply(&store, &add(name, program)),
        ["remove", name] => apply(&store, &Edit::Remove { name: (*name).into() }),
        ["enable", name] => apply(&store, &Edit::Enable { name: (*name).into(), enabled: true }),
        ["disable", name] => apply(&store, &Edit::Enable { name: (*name).into(), enabled: false }),
        ["add-many", prefix, count] => {
            let count = count.parse().unwrap_or(0_u32);
            (0..count).try_for_each(|i| apply(&store, &add(&format!("{prefix}-{i}"), "x")))
        }
        ["toggle", name] => {
            println!("ready");
            [true, false].into_iter().cycle().try_for_each(|enabled| {
                apply(&store, &Edit::Enable { name: (*name).into(), enabled: !enabled })
            })
        }
        _ => usage(),
    }
}

fn usage() -> Result<(), ConfigError> {
    println!("usage: edit_settings HOME COMMAND ...");
    Ok(())
}

fn add(name: &str, program: &str) -> Edit {
    Edit::Add(McpServerConfig {
        name: name.into(),
        command: Some(program.into()),
        ..McpServerConfig::default()
    })
}

fn apply(store: &SettingsStore, edit: &Edit) -> Result<(), ConfigError> {
    let snapshot = store.edit(None, edit)?;
    println!("{}", snapshot.revision.as_str());
    Ok(())
}
