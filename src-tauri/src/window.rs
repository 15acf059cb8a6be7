//! The window's process: the web view, the bridge, and nothing else. It ends when the owner does.

use std::io::BufRead as _;
use std::path::Path;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use patchbay_config::Home;
use patchbay_control::Client;
use tauri::{AppHandle, Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder};
use tauri_specta::Event as _;

use crate::bridge::{self, Bridge, OwnerLost, ShowSettings, SnapshotChanged};

/// Shows the window until it is closed or the owner ends.
pub(crate) fn run(config: Option<&Path>, settings: bool) -> anyhow::Result<()> {
    let home = Home::resolve(config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let client = runtime.block_on(Client::connect(&home))?;
    let client = client.context("no Patchbay runs for this home; start patchbay-desktop")?;
    let builder = bridge::builder();
    let handler = builder.invoke_handler();
    let app = tauri::Builder::default()
        .manage(Bridge::new(client.clone()))
        .invoke_handler(handler)
        .setup(move |app| {
            builder.mount_events(app);
            let page = if settings { "index.html#/settings" } else { "index.html" };
            build_window(app.handle(), page)?;
            tauri::async_runtime::spawn(follow(app.handle().clone(), client));
            let handle = app.handle().clone();
            std::thread::Builder::new().name("owner".into()).spawn(move || obey(&handle))?;
            Ok(())
        })
        .build(tauri::generate_context!())
        .context("making the window")?;
    let code = app.run_return(|_, _| {});
    anyhow::ensure!(code == 0, "the window ended with code {code}");
    Ok(())
}

fn build_window(app: &AppHandle, page: &str) -> tauri::Result<WebviewWindow> {
    WebviewWindowBuilder::new(app, "main", WebviewUrl::App(page.into()))
        .title("Patchbay")
        .inner_size(1040.0, 720.0)
        .min_inner_size(640.0, 480.0)
        // Servers' text is shown here: nothing in it may lead anywhere else.
        .on_navigation(|url| matches!(url.scheme(), "tauri" | "about") || url.host_str() == Some("tauri.localhost"))
        .build()
}

/// Hands the owner's snapshots to the page; the window ends with their stream.
async fn follow(app: AppHandle, client: Client) {
    match client.snapshots().await {
        Ok(mut snapshots) => {
            while let Some(Ok(snapshot)) = snapshots.next().await {
                if let Err(error) = (SnapshotChanged { snapshot }).emit(&app) {
                    tracing::warn!(%error, "the page was not told of a change");
                }
            }
        }
        Err(error) => tracing::warn!(%error, "the owner's changes cannot be followed"),
    }
    // A page that still listens says so; the process ends either way.
    let _ = OwnerLost {}.emit(&app);
    app.exit(0);
}

/// What the owner writes to our standard input: come to the front, show the settings. Its end is the owner's end.
fn obey(app: &AppHandle) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line == "settings" && (ShowSettings {}).emit(app).is_err() {
            tracing::warn!("the page was not told to show the settings");
        }
        if let Some(window) = app.get_webview_window("main") {
            let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
            if let Err(error) = shown {
                tracing::warn!(%error, "the window cannot be brought to the front");
            }
        }
    }
    app.exit(0);
}
