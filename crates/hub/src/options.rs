//! What a host says when it opens a hub, and what a hub asks of its host.

use std::time::Duration;

use patchbay_api::OwnerKind;
use patchbay_exec::StopSteps;
use tokio::sync::mpsc;

/// How a host opens a hub.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// What kind of process it is. Only [`OwnerKind::Alone`] takes no lock.
    pub kind: OwnerKind,
    /// The program and arguments that run the bundled sample server.
    pub sample: (String, Vec<String>),
    /// The waits of the stop ladder.
    pub stop_steps: StopSteps,
    /// How often running servers are looked after for blocked files that appeared.
    pub look_every: Duration,
    /// Where requests that only the host can fulfil go; `None`: it fulfils none.
    pub host: Option<mpsc::Sender<HostRequest>>,
    /// Whether wrong settings at start are refused (MCP-01) or listed so that they can be put right.
    pub strict: bool,
}

/// Something that only the host can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRequest {
    /// Open the window or bring it to the front.
    OpenWindow,
    /// End the process in order.
    Quit,
}
