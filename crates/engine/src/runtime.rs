//! What all workspaces of an owner share: the way to start processes, to reach servers, to record and to redact.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use patchbay_api::Scope;
use patchbay_exec::Exec;
use patchbay_records::Audit;
use patchbay_secrets::Redactor;
use tokio::sync::Semaphore;

use crate::Clock;

/// Starts that may run at once over all workspaces.
const STARTS: usize = 8;
/// How often running sandboxed servers are looked after for blocked files that appeared.
///
/// A look walks through the workspace: often enough to be told, seldom enough to cost nothing.
pub const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Looks a variable of the user's environment up.
pub type EnvLookup = dyn Fn(&str) -> Option<String> + Send + Sync;
/// Looks a secret up in the scope of a server; the error says why the store cannot answer.
pub type SecretLookup = dyn Fn(&Scope, &str) -> Result<Option<String>, String> + Send + Sync;

/// No HTTP client can be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up HTTP: {0}")]
pub(crate) struct HttpUnavailable(#[from] reqwest::Error);

/// The shared parts. One per owner, cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    /// Starts child processes.
    pub exec: Exec,
    /// Hides secrets in what is shown and recorded.
    pub redactor: Redactor,
    /// The audit log.
    pub audit: Audit,
    /// The wall clock.
    pub clock: Clock,
    /// How often running sandboxed servers are looked after; [`LOOK_EVERY`] unless a test is in a hurry.
    pub look_every: Duration,
    http: Arc<OnceLock<reqwest::Client>>,
    pub(crate) starts: Arc<Semaphore>,
    pub(crate) env: Arc<EnvLookup>,
    pub(crate) secrets: Arc<SecretLookup>,
}

impl Runtime {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        exec: Exec,
        redactor: Redactor,
        audit: Audit,
        env: Arc<EnvLookup>,
        secrets: Arc<SecretLookup>,
    ) -> Self {
        let (http, starts) = (Arc::default(), Arc::new(Semaphore::new(STARTS)));
        let (clock, look_every) = (Clock::system(), LOOK_EVERY);
        Self { exec, redactor, audit, clock, look_every, http, starts, env, secrets }
    }

    /// The HTTP client, made at its first use: it reads every certificate of the system.
    ///
    /// # Errors
    /// It cannot be set up (no usable TLS on this machine).
    pub(crate) fn http(&self) -> Result<reqwest::Client, HttpUnavailable> {
        if let Some(client) = self.http.get() {
            return Ok(client.clone());
        }
        let client = reqwest::Client::builder()
            // A redirect to another origin would carry the server's headers to a stranger.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .user_agent(concat!("patchbay/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(self.http.get_or_init(|| client).clone())
    }
}
