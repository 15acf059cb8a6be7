//! One workspace's servers: the desired set against the running one, lists, calls, the end.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use indexmap::IndexMap;
use patchbay_api::{AgentId, ServerId, ServerState, ServerStatus, WorkspaceKey};
use patchbay_config::{PermissionSettings, ServerConfig};
use patchbay_exec::StopSteps;
use patchbay_records::AuditEvent;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::connect::Site;
use crate::exposure::{self, Naming, Offer, Offered, Target};
use crate::server::{Desired, Order, Ready, Server, connect};
use crate::{Confinement, EngineError, Runtime};

/// A server that the settings name, as one workspace takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Its settings.
    pub config: Arc<ServerConfig>,
    /// `None`: it may run; else the state that it rests in, and why.
    pub rest: Option<(ServerState, Option<String>)>,
}

/// Everything that the settings say about one workspace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DesiredSet {
    /// Its servers in the order of the settings: global, then the project's.
    pub servers: Vec<Wanted>,
    /// Mode and rules.
    pub permissions: PermissionSettings,
    /// What holds its processes.
    pub confinement: Confinement,
}

/// The servers of one workspace.
pub struct Manager {
    key: WorkspaceKey,
    cwd: PathBuf,
    stop_steps: StopSteps,
    runtime: Runtime,
    changed: watch::Sender<u32>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    servers: IndexMap<ServerId, Server>,
    permissions: PermissionSettings,
    confinement: Arc<Confinement>,
    /// Servers that were taken out and may still be ending.
    leaving: HashMap<ServerId, JoinHandle<()>>,
}

impl Manager {
    /// A workspace without servers. `cwd` is where its processes run.
    #[must_use]
    pub fn new(key: WorkspaceKey, cwd: PathBuf, runtime: Runtime, stop_steps: StopSteps) -> Self {
        let (changed, _) = watch::channel(0);
        Self { key, cwd, stop_steps, runtime, changed, inner: Mutex::default() }
    }

    /// Which workspace it is.
    #[must_use]
    pub fn key(&self) -> &WorkspaceKey {
        &self.key
    }

    /// Changes whenever a server's state or list does.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u32> {
        self.changed.subscribe()
    }

    /// Takes a new desired set (MCP-45): unchanged servers keep running, changed ones stop and start afresh at
    /// their next use, removed and resting ones stop, new ones wait for their first use. Waits for none of it.
    pub fn update(&self, desired: DesiredSet) {
        let mut inner = self.lock();
        inner.leaving.retain(|_, task| !task.is_finished());
        inner.permissions = desired.permissions;
        if *inner.confinement != desired.confinement {
            // Every process was started under the old one.
            inner.confinement = Arc::new(desired.confinement);
            let all = std::mem::take(&mut inner.servers);
            inner.leaving.extend(all.into_iter().map(|(id, server)| (id, server.leave())));
        }
        let mut old = std::mem::take(&mut inner.servers);
        for wanted in desired.servers {
            let id = wanted.config.id.clone();
            let config = Arc::clone(&wanted.config);
            let desired = match wanted.rest {
                None => Desired::Run(wanted.config),
                Some((state, reason)) => Desired::Rest(wanted.config, state, reason),
            };
            let server = match old.shift_remove(&id) {
                Some(server) => {
                    server.want(desired);
                    server
                }
                None => self.start_actor(&mut inner, &id, desired, &config),
            };
            inner.servers.insert(id, server);
        }
        inner.leaving.extend(old.into_iter().map(|(id, server)| (id, server.leave())));
        drop(inner);
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn start_actor(
        &self,
        inner: &mut Inner,
        id: &ServerId,
        desired: Desired,
        config: &ServerConfig,
    ) -> Server {
        let site = Site {
            cwd: self.cwd.clone(),
            confinement: Arc::clone(&inner.confinement),
            stop_steps: self.stop_steps,
        };
        let after = inner.leaving.remove(id);
        Server::new(desired, config, site, self.runtime.clone(), after, self.changed.clone())
    }

    /// Every server with its state, in the order of the settings (MCP-41). Starts nothing.
    #[must_use]
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.lock().servers.values().map(|server| server.view().status).collect()
    }

    /// The last lines of a server's stderr, oldest first, redacted.
    ///
    /// # Errors
    /// No such server.
    pub fn log(&self, id: &ServerId, lines: usize) -> Result<Vec<String>, EngineError> {
        let log = self.lock().servers.get(id).map(|server| server.log.clone()).ok_or_else(|| no_such(id))?;
        let mut tail = log.tail(lines);
        match log.noise_count() {
            0 => {}
            count => tail.push(format!(
                "({count} lines on its standard output were no messages; they stand above as noise)"
            )),
        }
        Ok(tail)
    }

    /// Connects every server that an agent sees (MCP-10), side by side, and makes its offer of what works within
    /// `patience`; what comes later is announced by [`Self::changes`].
    pub async fn offer(
        &self,
        agent: &AgentId,
        naming: &Naming,
        sticky: &HashMap<String, Target>,
        patience: Option<Duration>,
    ) -> Offer {
        let waits: Vec<_> = {
            let inner = self.lock();
            let seen = inner
                .servers
                .values()
                .filter(|server| wanted_by(server, agent) && server.ready_now().is_none());
            seen.map(Server::orders).collect()
        };
        let all = join_all(waits.into_iter().map(|orders| connect(orders, || no_such_name(""))));
        match patience {
            None => drop(all.await),
            // Starts go on without us; what settles later is announced.
            Some(patience) => drop(tokio::time::timeout(patience, all).await),
        }
        self.offer_now(agent, naming, sticky)
    }

    /// The offer of what works at this moment. Starts nothing.
    #[must_use]
    pub fn offer_now(&self, agent: &AgentId, naming: &Naming, sticky: &HashMap<String, Target>) -> Offer {
        let servers: Vec<Offered> = {
            let inner = self.lock();
            inner.servers.values().filter_map(offered).collect()
        };
        exposure::offer(self.key.clone(), agent, &servers, naming, sticky)
    }

    /// Stops a server; it starts afresh at its next use (MCP-47).
    ///
    /// # Errors
    /// No such server, or it was not running.
    pub async fn restart(&self, id: &ServerId) -> Result<(), EngineError> {
        let orders = self.lock().servers.get(id).map(Server::orders).ok_or_else(|| no_such(id))?;
        let (done, stopped) = oneshot::channel();
        orders.send(Order::Stop(done)).await.map_err(|_| no_such(id))?;
        match stopped.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(EngineError::NotRunning { server: id.clone() }),
            Err(_) => Err(no_such(id)),
        }
    }

    /// Finds a server by its name: the global one first, as in the settings.
    ///
    /// # Errors
    /// No server has this name.
    pub fn find(&self, name: &str) -> Result<ServerId, EngineError> {
        let inner = self.lock();
        inner.servers.keys().find(|id| id.name.as_str() == name).cloned().ok_or_else(|| no_such_name(name))
    }

    /// Ends everything, side by side; returns when nothing is left (MCP-12).
    pub async fn close(&self) {
        let tasks: Vec<JoinHandle<()>> = {
            let mut inner = self.lock();
            let mut tasks: Vec<_> = inner.leaving.drain().map(|(_, task)| task).collect();
            tasks.extend(std::mem::take(&mut inner.servers).into_values().map(Server::leave));
            tasks
        };
        for ended in join_all(tasks).await {
            if let Err(error) = ended {
                tracing::error!(%error, "a server's task broke off; its process went with it");
            }
        }
    }

    pub(crate) fn config(&self, id: &ServerId) -> Result<Arc<ServerConfig>, EngineError> {
        let desired = self.lock().servers.get(id).map(Server::desired);
        desired.as_ref().and_then(Desired::config).cloned().ok_or_else(|| no_such(id))
    }

    pub(crate) fn permissions(&self) -> PermissionSettings {
        self.lock().permissions.clone()
    }

    pub(crate) fn audit(&self, event: AuditEvent) {
        self.runtime.audit.record(self.runtime.clock.now_utc(), event);
    }

    /// The working connection of a server, started if need be.
    pub(crate) async fn ready(&self, id: &ServerId) -> Result<Ready, EngineError> {
        let orders = {
            let inner = self.lock();
            let server = inner.servers.get(id).ok_or_else(|| no_such(id))?;
            if let Some(ready) = server.ready_now() {
                return Ok(ready);
            }
            server.orders()
        };
        connect(orders, || no_such(id)).await
    }

    /// The connection that follows `old`, which was found dead.
    pub(crate) async fn ready_after(&self, id: &ServerId, old: &Ready) -> Result<Ready, EngineError> {
        loop {
            let ready = self.ready(id).await?;
            if !Arc::ptr_eq(&ready.lane, &old.lane) {
                return Ok(ready);
            }
            // The actor has not heard yet that the old one ended; its next view says so.
            let mut changes = self.changes();
            let now = self.lock().servers.get(id).and_then(Server::ready_now);
            let still_old = now.is_some_and(|now| Arc::ptr_eq(&now.lane, &old.lane));
            if still_old && changes.changed().await.is_err() {
                return Err(no_such(id));
            }
        }
    }

    /// The error of a call whose connection ended: with what the server's end tells, as soon as that is known.
    pub(crate) async fn broke_off(&self, id: &ServerId, reason: &str) -> EngineError {
        let mut changes = self.changes();
        let settled = async {
            loop {
                let view = self.lock().servers.get(id).map(Server::view)?;
                if view.status.state != ServerState::Connected {
                    return Some(view.status);
                }
                changes.changed().await.ok()?;
            }
        };
        // The end of the process is known within milliseconds of the end of its pipe; a call waits no longer.
        let status = tokio::time::timeout(Duration::from_secs(1), settled).await.ok().flatten();
        let mut cause = format!("the call broke off: {reason}");
        if let Some(status) = status.filter(|status| status.state == ServerState::Failed) {
            cause = format!("the call broke off: {}", status.cause.unwrap_or_else(|| reason.to_owned()));
            if !status.log_tail.is_empty() {
                cause = format!("{cause}\nIts last words:\n  {}", status.log_tail.join("\n  "));
            }
        }
        let hint = Some("the next call starts the server again".into());
        EngineError::Unavailable { server: id.clone(), cause, hint }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wanted_by(server: &Server, agent: &AgentId) -> bool {
    matches!(server.desired(), Desired::Run(config) if agent.sees(&config.agents))
}

fn offered(server: &Server) -> Option<Offered> {
    let (desired, view) = (server.desired(), server.view());
    let config = Arc::clone(desired.config()?);
    let catalogue = match (&desired, view.ready) {
        (Desired::Run(_), Some(ready)) => Ok(ready.catalogue),
        _ => Err(withheld(&view.status)),
    };
    Some(Offered { config, catalogue })
}

fn withheld(status: &ServerStatus) -> String {
    let state = match status.state {
        ServerState::Idle => "it has not been started yet",
        ServerState::Connecting => "it is still starting",
        ServerState::Stopping => "it is being stopped",
        _ => "it does not work",
    };
    status.cause.clone().unwrap_or_else(|| state.to_owned())
}

fn no_such(id: &ServerId) -> EngineError {
    no_such_name(id.name.as_str())
}

fn no_such_name(name: &str) -> EngineError {
    EngineError::NoSuchServer { name: name.to_owned() }
}
