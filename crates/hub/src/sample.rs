//! The bundled sample server as an entry of the settings: something that works with nothing else installed.

use patchbay_api::McpServerConfig;

/// Its name in the settings.
const NAME: &str = "sample";

/// The entry, under the first name that is free.
pub(crate) fn entry(command: &(String, Vec<String>), taken: impl Fn(&str) -> bool) -> McpServerConfig {
    let mut name = NAME.to_owned();
    let mut number = 2;
    while taken(&name) {
        name = format!("{NAME}-{number}");
        number += 1;
    }
    let (command, args) = command.clone();
    McpServerConfig { name, command: Some(command), args, auto_approve: true, ..McpServerConfig::default() }
}
