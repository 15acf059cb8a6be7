//! The owner's process: tray, window process, signals, and the one road on which everything ends.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use patchbay_api::Snapshot;
use patchbay_hub::HostRequest;
use tauri::{AppHandle, RunEvent};
use tokio::sync::{mpsc, watch};

use crate::desktop::{Desktop, Start};
use crate::tray::{self, Click, Tray};
use crate::tray_host;
use crate::window_process::WindowProcess;

/// Runs until quit.
pub(crate) fn run(config: Option<&Path>, hidden: bool) -> anyhow::Result<()> {
    check_display()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let (host, requests) = mpsc::channel(16);
    let start = runtime.block_on(Desktop::start(config, host.clone()))?;
    let Start::Running { desktop, home, snapshots, mut tasks, log } = start else { return Ok(()) };
    let (clicks, clicked) = mpsc::channel(64);
    let app = tauri::Builder::default()
        .build(tauri::generate_context!())
        .context("starting the desktop's event loop")?;
    let tray = if tray_host::library_present() { Some(Tray::new(app.handle(), clicks)?) } else { None };
    let window = WindowProcess::new(home.dir(), std::env::current_exe()?);
    let conductor = Conductor {
        app: app.handle().clone(),
        desktop: desktop.clone(),
        window,
        tray,
        snapshots,
        reachable: false,
    };
    let ending = runtime.spawn(conductor.run(requests, clicked, hidden));
    let code = app.run_return(|_, event| {
        if let RunEvent::ExitRequested { code: None, api, .. } = event {
            // The last window closed, or none ever was: the tray goes on.
            api.prevent_exit();
        }
    });
    runtime.block_on(async {
        // Also when the display went away: what runs is ended in order.
        desktop.stop().await;
        tasks.shutdown().await;
        ending.abort();
    });
    drop(log);
    anyhow::ensure!(code == 0, "the desktop's event loop ended with code {code}");
    Ok(())
}

fn check_display() -> anyhow::Result<()> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let display = !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    anyhow::ensure!(display, "there is no display here; `patchbay serve` owns the servers without one");
    Ok(())
}

/// The one task that decides what the desktop does next.
struct Conductor {
    app: AppHandle,
    desktop: Desktop,
    window: WindowProcess,
    tray: Option<Tray>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    /// Whether a tray host showed our icon when last asked: without one, a closed window cannot be opened again.
    reachable: bool,
}

impl Conductor {
    async fn run(
        mut self,
        mut requests: mpsc::Receiver<HostRequest>,
        mut clicks: mpsc::Receiver<Click>,
        hidden: bool,
    ) {
        self.reachable = self.tray.is_some() && tray_host::present().await;
        if !hidden || !self.reachable {
            self.open_window(false);
        }
        let mut terminate = signals();
        // The stream tells of changes at once; the tick is for whatever it might have missed.
        let mut tick = tokio::time::interval(tray::POLL);
        loop {
            let quit = tokio::select! {
                request = requests.recv() => match request {
                    Some(HostRequest::OpenWindow) => self.open_window(false),
                    Some(HostRequest::Quit) | None => true,
                },
                Some(click) = clicks.recv() => self.clicked(click).await,
                changed = self.snapshots.changed() => changed.is_err() || self.redraw(),
                _ = tick.tick() => self.redraw(),
                () = self.window.closed() => self.window_closed().await,
                _ = terminate.recv() => true,
            };
            if quit {
                break;
            }
        }
        self.window.close().await;
        self.desktop.stop().await;
        self.app.exit(0);
    }

    fn redraw(&mut self) -> bool {
        if let Some(tray) = &mut self.tray {
            tray.show(&self.snapshots.borrow_and_update());
        }
        false
    }

    fn open_window(&mut self, settings: bool) -> bool {
        if let Err(error) = self.window.open(settings) {
            tracing::error!(%error, "the window cannot be opened");
            self.problem(&format!("The window cannot be opened: {error}"));
        }
        false
    }

    async fn clicked(&mut self, click: Click) -> bool {
        use patchbay_tray::Action;
        let snapshot = Arc::clone(&self.snapshots.borrow());
        match patchbay_tray::action(&snapshot, &click.id) {
            Some(Action::Open) => self.open_window(false),
            Some(Action::Settings) => self.open_window(true),
            Some(Action::Quit) => true,
            Some(Action::SetServer { name, enabled }) => {
                let command = patchbay_api::SetMcpServerEnabled { name: name.clone(), enabled };
                let result = self.desktop.call(command).await;
                if let Some(tray) = &mut self.tray {
                    let problem = result.err().map(|error| format!("{name} was not switched: {error}"));
                    tray.settle(&self.snapshots.borrow(), &click.id, problem);
                }
                false
            }
            None => {
                if let Some(tray) = &mut self.tray {
                    tray.settle(&snapshot, &click.id, None);
                }
                false
            }
        }
    }

    fn problem(&mut self, text: &str) {
        if let Some(tray) = &mut self.tray {
            tray.settle(&self.snapshots.borrow(), "", Some(text.to_owned()));
        }
    }

    /// The window is gone. Without a tray nobody could reach us any more: end, rather than run on unseen.
    async fn window_closed(&mut self) -> bool {
        self.reachable = self.tray.is_some() && tray_host::present().await;
        if !self.reachable {
            tracing::info!("the window was closed and there is no tray: ending");
        }
        !self.reachable
    }
}

/// Ends of the session and of impatient users, as one stream.
fn signals() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
            match signal(kind) {
                Ok(mut stream) => {
                    let sender = sender.clone();
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "lives as long as the process; there is nothing to wait for"
                    )]
                    tokio::spawn(async move {
                        while stream.recv().await.is_some() {
                            if sender.send(()).await.is_err() {
                                return;
                            }
                        }
                    });
                }
                Err(error) => tracing::warn!(%error, "a signal cannot be watched"),
            }
        }
    }
    #[cfg(windows)]
    {
        #[expect(
            clippy::disallowed_methods,
            reason = "lives as long as the process; there is nothing to wait for"
        )]
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                let _ = sender.send(()).await;
            }
        });
    }
    receiver
}
