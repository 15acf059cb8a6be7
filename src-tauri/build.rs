//! Prepares Tauri's context: configuration, capabilities, icon.

fn main() {
    tauri_build::build();
}
