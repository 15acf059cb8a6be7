//! A desktop's tray for tests: a StatusNotifierWatcher on the session bus and a reader of the items' menus.
//!
//! Commands are JSON lines on standard input, each answered by one JSON line: `{"ok": …}` or `{"error": "…"}`.
//! - `{"cmd":"wait-item"}`: waits for an item, answers its bus name, id, title, status and icon;
//! - `{"cmd":"wait-gone"}`: waits until no item is left;
//! - `{"cmd":"menu"}`: the newest item's menu as a tree, mnemonics taken out of the labels;
//! - `{"cmd":"click","path":["MCP servers","everything"]}`: clicks the entry at these labels;
//! - `{"cmd":"counts"}`: registrations and changes of the menu seen so far;
//! - `{"cmd":"wait-change","after":N}`: waits until more than N changes of the menu were seen;
//! - `{"cmd":"release"}` and `{"cmd":"own"}`: the desktop's tray goes away, and comes back.
//!
//! Waiting commands take `timeout_ms` (10000). It ends with its input. `watcher` is the bus side, `menu` the tree.

mod menu;
mod watcher;

use std::{
    error::Error,
    io::{self, BufRead, Write},
};

use serde::Deserialize;
use serde_json::{Value, json};

use watcher::Tray;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    cmd: String,
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    after: u64,
    #[serde(default = "patience")]
    timeout_ms: u64,
}

fn patience() -> u64 {
    10_000
}

fn main() -> Result<(), Box<dyn Error>> {
    let tray = Tray::start()?;
    let mut output = io::stdout();
    writeln!(output, "{}", json!({"ok": "ready"}))?;
    for line in io::stdin().lock().lines() {
        let answer = match answer(&tray, &line?) {
            Ok(value) => json!({"ok": value}),
            Err(error) => json!({"error": error.to_string()}),
        };
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

fn answer(tray: &Tray, line: &str) -> Result<Value, Box<dyn Error>> {
    let request: Request = serde_json::from_str(line)?;
    match request.cmd.as_str() {
        "wait-item" => tray.wait_item(request.timeout_ms),
        "wait-gone" => tray.wait_gone(request.timeout_ms),
        "menu" => {
            let (revision, root) = menu::read(tray)?;
            Ok(json!({"revision": revision, "items": root.children}))
        }
        "click" => menu::click(tray, &request.path),
        "counts" => Ok(tray.counts()),
        "wait-change" => tray.wait_change(request.after, request.timeout_ms),
        "release" => tray.release(),
        "own" => tray.own(),
        other => Err(format!("no command {other}").into()),
    }
}
