//! The guest's side: a typed client over the owner's socket.

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{Method, Request, StatusCode, header};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use patchbay_api::{ApiError, Command, ErrorCode, Hello, Snapshot, WorkspaceKey};
use patchbay_config::Home;
use patchbay_secrets::Secret;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

pub use crate::hello::AgentHello;
use crate::hello::{HELLO_HEADER, WORKSPACE_HEADER, json_header};
use crate::{ControlError, MAX_BODY, VERSION, VERSION_HEADER, listener, place, token};

/// The longest line of the stream of snapshots, in bytes.
const MAX_SNAPSHOT: usize = 16 << 20;

/// A guest of the running owner. Cheap to clone; each request has a connection of its own.
#[derive(Debug, Clone)]
pub struct Client {
    socket: Arc<PathBuf>,
    token: Secret,
}

impl Client {
    /// Finds the owner of a home and shakes hands; `None` when no owner runs.
    ///
    /// # Errors
    /// An owner runs but does not answer, or refuses this guest (another version, another user).
    pub async fn connect(home: &Home) -> Result<Option<Self>, ControlError> {
        let Some(pid) = patchbay_hub::owner_pid(home)? else { return Ok(None) };
        let socket = place::socket(home);
        let silent = |reason: String| ControlError::Silent { pid, path: place::socket(home), reason };
        // An owner that has just taken its lock is about to listen.
        let mut tries = 0;
        loop {
            let attempt = async {
                let client = Self { socket: Arc::new(socket.clone()), token: token::read(home)? };
                match client.call(&Hello { version: VERSION.into() }).await {
                    Ok(_) => Ok(client),
                    // A new owner renewed the token after it was read here.
                    Err(error) if error.code == ErrorCode::Unauthorized && client.is_stale(home) => {
                        Err(broke(&error).into())
                    }
                    Err(error) => Err(error.into()),
                }
            };
            match attempt.await {
                Ok(client) => return Ok(Some(client)),
                Err(ControlError::Refused(error)) if error.code != ErrorCode::Io => return Err(error.into()),
                Err(error) if tries >= 50 => return Err(silent(error.to_string())),
                Err(_) => {}
            }
            tries += 1;
            tokio::time::sleep(std::time::Duration::from_millis(100.min(5 << tries.min(5)))).await;
            if patchbay_hub::owner_pid(home)?.is_none() {
                return Ok(None);
            }
        }
    }

    /// Whether the home has another token by now.
    fn is_stale(&self, home: &Home) -> bool {
        !token::read(home).is_ok_and(|now| token::same(&now, self.token.expose()))
    }

    /// Does one command at the owner.
    ///
    /// # Errors
    /// The owner's refusal; [`ErrorCode::Io`] when it cannot be reached.
    pub async fn call<C: Command>(&self, command: &C) -> Result<C::Answer, ApiError> {
        let body = serde_json::to_vec(command).map_err(|error| internal(&error))?;
        let request = self
            .request(Method::POST, &format!("/v1/{}", C::NAME))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| internal(&error))?;
        let mut connection = JoinSet::new();
        let response = self.send(request, &mut connection).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_BODY)
            .collect()
            .await
            .map_err(|error| broke(&error))?
            .to_bytes();
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|error| internal(&error));
        }
        Err(refusal(status, &body))
    }

    /// The owner's snapshots, the present one first. The stream ends with the owner.
    ///
    /// # Errors
    /// The owner cannot be reached or refuses.
    pub async fn snapshots(
        &self,
    ) -> Result<impl Stream<Item = Result<Snapshot, ApiError>> + Send + use<>, ApiError> {
        let request = self
            .request(Method::GET, "/v1/events")
            .body(Full::default())
            .map_err(|error| internal(&error))?;
        let lines = self.lines(request).await?;
        Ok(stream::unfold(lines, |mut lines| async move { Some((lines.next().await?, lines)) }).boxed())
    }

    /// Opens a folder as a workspace (`None`: the workspace without one) and keeps it open until the answer is dropped.
    ///
    /// # Errors
    /// The owner cannot be reached, or the folder cannot be opened.
    pub async fn hold(&self, path: Option<&str>) -> Result<Held, ApiError> {
        let request = self
            .request(Method::GET, "/v1/hold")
            .header(WORKSPACE_HEADER, json_header(&path)?)
            .body(Full::default())
            .map_err(|error| internal(&error))?;
        let mut lines = self.lines(request).await?;
        let key = lines.next::<WorkspaceKey>().await.ok_or_else(|| broke(&"it ended"))??;
        Ok(Held { key, _lines: lines })
    }

    /// Sends a request whose answer is a stream of lines.
    async fn lines(&self, request: Request<Full<Bytes>>) -> Result<Lines, ApiError> {
        let mut connection = JoinSet::new();
        let response = self.send(request, &mut connection).await?;
        if response.status() == StatusCode::OK {
            return Ok(Lines { body: response.into_body(), buffer: Vec::new(), _connection: connection });
        }
        let status = response.status();
        let body =
            Limited::new(response.into_body(), MAX_BODY).collect().await.map_err(|error| broke(&error))?;
        Err(refusal(status, &body.to_bytes()))
    }

    /// Opens an agent's session: raw MCP lines both ways.
    ///
    /// # Errors
    /// The owner cannot be reached or refuses.
    pub async fn agent(
        &self,
        hello: &AgentHello,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>, ApiError> {
        let request = self
            .request(Method::GET, "/v1/agent")
            .header(HELLO_HEADER, json_header(hello)?)
            .header(header::CONNECTION, "upgrade")
            .header(header::UPGRADE, "patchbay-agent")
            .body(Full::default())
            .map_err(|error| internal(&error))?;
        let mut connection = JoinSet::new();
        let response = self.send(request, &mut connection).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let status = response.status();
            let body = Limited::new(response.into_body(), MAX_BODY)
                .collect()
                .await
                .map_err(|error| broke(&error))?;
            return Err(refusal(status, &body.to_bytes()));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|error| broke(&error))?;
        // The connection's task ends by itself once the upgraded stream is handed over.
        connection.detach_all();
        Ok(TokioIo::new(upgraded))
    }

    fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "patchbay")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.expose()))
            .header(VERSION_HEADER, VERSION)
    }

    /// Sends a request on a connection of its own, which `connection` drives.
    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        connection: &mut JoinSet<()>,
    ) -> Result<hyper::Response<Incoming>, ApiError> {
        let stream = listener::connect(&self.socket).await.map_err(|error| broke(&error))?;
        let (mut sender, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| broke(&error))?;
        connection.spawn(async move {
            if let Err(error) = driver.with_upgrades().await {
                tracing::debug!(%error, "a connection to the owner broke off");
            }
        });
        sender.send_request(request).await.map_err(|error| broke(&error))
    }
}

/// Keeps a workspace open for as long as it lives.
pub struct Held {
    /// The workspace.
    pub key: WorkspaceKey,
    _lines: Lines,
}

/// An answer that comes line by line, each a JSON value.
struct Lines {
    body: Incoming,
    buffer: Vec<u8>,
    _connection: JoinSet<()>,
}

impl Lines {
    async fn next<T: serde::de::DeserializeOwned>(&mut self) -> Option<Result<T, ApiError>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).map_err(|error| internal(&error)));
            }
            if self.buffer.len() > MAX_SNAPSHOT {
                return Some(Err(ApiError::new(ErrorCode::Internal, "the owner's snapshot is too large")));
            }
            match self.body.frame().await? {
                Ok(frame) => self.buffer.extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
                Err(error) => return Some(Err(broke(&error))),
            }
        }
    }
}

fn refusal(status: StatusCode, body: &[u8]) -> ApiError {
    serde_json::from_slice(body)
        .unwrap_or_else(|_| ApiError::new(ErrorCode::Internal, format!("the owner answered HTTP {status}")))
}

fn broke(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(ErrorCode::Io, format!("the running Patchbay cannot be reached: {error}"))
}

fn internal(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(ErrorCode::Internal, error.to_string())
}
