//! The connection to a streamable HTTP server. rmcp shakes hands and holds the notification stream; what passes
//! through is posted here, in the same session, so that the bytes stay as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::value::RawValue;
use sse_stream::{Error as SseError, Sse};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::pending::Pending;
use super::{LaneError, MAX_MESSAGE, http_reply};

/// Limit of the small posts that nobody waits for: cancellations, refusals.
const ASIDE: Duration = Duration::from_secs(5);

/// The raw road of one HTTP session.
#[derive(Debug)]
pub(crate) struct HttpLane {
    post: Post,
    pending: Pending,
    lost: watch::Sender<Option<String>>,
    aside: TaskTracker,
}

/// What a post needs; shared with rmcp's end, which learns the session's id.
#[derive(Debug, Clone)]
pub(super) struct Post {
    client: reqwest::Client,
    url: Arc<str>,
    headers: HeaderMap,
    session: Arc<Mutex<Option<String>>>,
    protocol: Arc<OnceLock<String>>,
}

impl HttpLane {
    /// A lane to `url`; gives the transport for rmcp's handshake.
    pub(crate) fn new(
        client: reqwest::Client,
        url: &str,
        headers: HeaderMap,
    ) -> (Self, StreamableHttpClientTransport<Tap>) {
        let url: Arc<str> = url.into();
        let by_name: HashMap<HeaderName, HeaderValue> =
            headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let post = Post {
            client,
            url: Arc::clone(&url),
            headers,
            session: Arc::default(),
            protocol: Arc::default(),
        };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(by_name);
        config.max_json_response_size = MAX_MESSAGE;
        let transport = StreamableHttpClientTransport::with_client(Tap(post.clone()), config);
        let (lost, _) = watch::channel(None);
        (Self { post, pending: Pending::new(), lost, aside: TaskTracker::new() }, transport)
    }

    /// The revision agreed on; every later post carries it.
    pub(crate) fn agreed(&self, protocol: &str) {
        let _ = self.post.protocol.set(protocol.to_owned());
    }

    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Box<RawValue>, LaneError> {
        let id = self.pending.id();
        let cancel = CancelOnDrop { lane: self, id };
        let answer = self.exchange(id, patchbay_wire::request(id, method, params)).await;
        cancel.done();
        if let Err(LaneError::SessionLost) = &answer {
            self.lost.send_replace(Some("the server no longer knows the session".into()));
        }
        answer
    }

    async fn exchange(&self, id: u64, body: Vec<u8>) -> Result<Box<RawValue>, LaneError> {
        let in_session = self.post.session().is_some();
        let response = self.post.send(body).await.map_err(|error| closed(&error))?;
        http_reply::read(response, id, in_session, |refusal| self.aside(refusal)).await
    }

    pub(super) async fn ended(&self) -> String {
        let mut lost = self.lost.subscribe();
        match lost.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the connection was closed".into(),
        }
    }

    /// Posts something that nobody waits for; bounded in time, and ended with the runtime.
    fn aside(&self, body: Vec<u8>) {
        let post = self.post.clone();
        self.aside.spawn(async move {
            // What cannot be delivered here changes nothing for anybody.
            let _ = tokio::time::timeout(ASIDE, post.send(body)).await;
        });
    }
}

impl Post {
    fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn send(&self, body: Vec<u8>) -> Result<reqwest::Response, reqwest::Error> {
        let mut request = self
            .client
            .post(&*self.url)
            .headers(self.headers.clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(session) = self.session() {
            request = request.header("mcp-session-id", session);
        }
        if let Some(protocol) = self.protocol.get() {
            request = request.header("mcp-protocol-version", protocol);
        }
        request.body(body).send().await
    }
}

/// A failure on the road itself, in words that hold no address (it may hold secrets).
pub(super) fn closed(error: &reqwest::Error) -> LaneError {
    let mut words = if error.is_connect() {
        "cannot connect to the server".to_owned()
    } else if error.is_timeout() {
        "the server took too long".to_owned()
    } else {
        "the connection to the server broke".to_owned()
    };
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    LaneError::Closed(words)
}

/// Tells the server that nobody waits for the answer any more.
struct CancelOnDrop<'a> {
    lane: &'a HttpLane,
    id: u64,
}

impl CancelOnDrop<'_> {
    fn done(mut self) {
        self.id = 0;
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !Pending::owns(self.id) {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"the caller stopped waiting"}}"#, self.id);
        if let Ok(params) = RawValue::from_string(params) {
            self.lane.aside(patchbay_wire::notification("notifications/cancelled", Some(&params)));
        }
    }
}

/// rmcp's end: the plain client, watched for the session's id.
#[derive(Debug, Clone)]
pub(crate) struct Tap(Post);

impl Tap {
    fn learn(&self, response: &StreamableHttpPostResponse) {
        if let StreamableHttpPostResponse::Json(_, Some(id)) | StreamableHttpPostResponse::Sse(_, Some(id)) =
            response
        {
            *self.0.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
    }
}

type Outcome<T> = Result<T, StreamableHttpError<reqwest::Error>>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Tap {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<StreamableHttpPostResponse> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, auth, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Outcome<StreamableHttpPostResponse> {
        let client = &self.0.client;
        let response =
            client.post_message_with_response_limits(uri, message, session, auth, headers, limits).await?;
        self.learn(&response);
        Ok(response)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<()> {
        self.0.client.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<Events> {
        self.0.client.get_stream(uri, session, last_event, auth, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Outcome<Events> {
        let client = &self.0.client;
        client.get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, limit).await
    }
}
