//! The connection to a child process: one task reads its stdout, one writes its stdin.

use std::sync::Arc;

use bytes::Bytes;
use patchbay_exec::ServerLog;
use patchbay_wire::{Id, Line, Lines, Message, RpcError};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::pending::Pending;
use super::{LaneError, MAX_MESSAGE};

/// Lines on their way to the server; a full queue makes senders wait.
const QUEUE: usize = 256;
/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// The raw road over a child's pipes.
#[derive(Debug)]
pub(crate) struct StdioLane {
    pending: Arc<Pending>,
    outgoing: mpsc::Sender<Bytes>,
    ended: watch::Receiver<Option<String>>,
    /// Reader and writer; they end with the lane.
    _tasks: JoinSet<()>,
}

impl StdioLane {
    /// Takes the child's pipes; gives the lane and rmcp's end of the same connection.
    pub(crate) fn new<R, W>(stdout: R, stdin: W, log: ServerLog) -> (Self, RmcpPipe)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let pending = Arc::new(Pending::new());
        let (outgoing, lines) = mpsc::channel(QUEUE);
        let (to_rmcp, incoming) = mpsc::channel(QUEUE);
        let (end, ended) = watch::channel(None);
        let mut tasks = JoinSet::new();
        let reader = Reader { pending: Arc::clone(&pending), to_rmcp, log };
        tasks.spawn(async move {
            let reason = reader.run(stdout).await;
            reader.pending.close(&reason);
            end.send_replace(Some(reason));
        });
        tasks.spawn(write(stdin, lines));
        let pipe = RmcpPipe { outgoing: Some(outgoing.clone()), incoming };
        (Self { pending, outgoing, ended, _tasks: tasks }, pipe)
    }

    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Box<RawValue>, LaneError> {
        let (id, answer) = self.pending.register()?;
        let cancel = CancelOnDrop { lane: self, id };
        let line = Bytes::from(patchbay_wire::request(id, method, params));
        if self.outgoing.send(line).await.is_err() {
            return Err(LaneError::Closed(self.reason()));
        }
        let outcome = answer.await.unwrap_or_else(|_| Err(LaneError::Closed(self.reason())));
        drop(cancel);
        outcome
    }

    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the connection was closed".into(),
        }
    }

    fn reason(&self) -> String {
        self.ended.borrow().clone().unwrap_or_else(|| "the server closed its input".into())
    }
}

/// Tells the server that nobody waits for the answer any more.
struct CancelOnDrop<'a> {
    lane: &'a StdioLane,
    id: u64,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.lane.pending.forget(self.id) {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"the caller stopped waiting"}}"#, self.id);
        if let Ok(params) = RawValue::from_string(params) {
            let line = patchbay_wire::notification("notifications/cancelled", Some(&params));
            // A full queue means that the server reads nothing: it would not read this either.
            let _ = self.lane.outgoing.try_send(Bytes::from(line));
        }
    }
}

/// Writes what is queued, as much as there is with one flush. Dropping it closes the server's input.
async fn write<W: AsyncWrite + Unpin>(mut stdin: W, mut lines: mpsc::Receiver<Bytes>) {
    while let Some(line) = lines.recv().await {
        let mut written = stdin.write_all(&line).await;
        while let (Ok(()), Ok(line)) = (&written, lines.try_recv()) {
            written = stdin.write_all(&line).await;
        }
        if written.is_err() || stdin.flush().await.is_err() {
            // The server closed its input. Its output tells why; queued requests fail as the queue closes.
            return;
        }
    }
}

struct Reader {
    pending: Arc<Pending>,
    to_rmcp: mpsc::Sender<ServerJsonRpcMessage>,
    log: ServerLog,
}

impl Reader {
    /// Reads until the output ends; gives the reason.
    async fn run<R: AsyncRead + Unpin>(&self, mut stdout: R) -> String {
        let mut lines = Lines::new(MAX_MESSAGE);
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match stdout.read(&mut chunk).await {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => return format!("reading the server's output failed: {error}"),
            };
            let (mut for_rmcp, mut too_long) = (Vec::new(), None);
            lines.push(&chunk[..read], &mut |line| self.take(&line, &mut for_rmcp, &mut too_long));
            if let Some(reason) = too_long {
                return reason;
            }
            self.forward(for_rmcp).await;
        }
        let (mut for_rmcp, mut too_long) = (Vec::new(), None);
        lines.finish(&mut |line| self.take(&line, &mut for_rmcp, &mut too_long));
        self.forward(for_rmcp).await;
        too_long.unwrap_or_else(|| "the server closed its output".into())
    }

    async fn forward(&self, messages: Vec<ServerJsonRpcMessage>) {
        for message in messages {
            // A closed queue: rmcp's session is over; the raw road goes on until the process ends.
            let _ = self.to_rmcp.send(message).await;
        }
    }

    fn take(&self, line: &Line<'_>, for_rmcp: &mut Vec<ServerJsonRpcMessage>, too_long: &mut Option<String>) {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong { limit } => {
                *too_long = Some(format!("the server wrote a line of more than {} MiB", limit >> 20));
                return;
            }
        };
        match patchbay_wire::decode(bytes) {
            Ok(Message::Response { id: Id::Number(id), outcome }) if id_of(id).is_some_and(Pending::owns) => {
                let id = id_of(id).unwrap_or_default();
                self.pending.settle(id, outcome.map(ToOwned::to_owned).map_err(LaneError::Rpc));
            }
            Ok(message) => match for_rmcp_from(&message) {
                Some(message) => for_rmcp.push(message),
                None => self.log.noise(bytes),
            },
            Err(noise) => {
                self.log.noise(bytes);
                // An answer that cannot be read fails its call now, not at the time limit.
                if let Some(Id::Number(id)) = patchbay_wire::broken_response(bytes) {
                    let reason = format!("the server's answer cannot be read: {noise}");
                    self.pending.settle(id, Err(LaneError::Protocol(reason)));
                }
            }
        }
    }
}

fn id_of(id: impl TryInto<u64>) -> Option<u64> {
    id.try_into().ok()
}

/// Decodes what is rmcp's: answers to its own requests, and the server's requests and notifications.
fn for_rmcp_from(message: &Message<'_>) -> Option<ServerJsonRpcMessage> {
    let line = match message {
        Message::Request { id, method, params } => {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{}}}"#,
                quote(method),
                object(*params)
            )
        }
        Message::Notification { method, params } => {
            format!(r#"{{"jsonrpc":"2.0","method":{},"params":{}}}"#, quote(method), object(*params))
        }
        Message::Response { id, outcome: Ok(result) } => {
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id_json(id))
        }
        Message::Response { id, outcome: Err(error) } => {
            let RpcError { code, message, .. } = error;
            let code = i32::try_from(*code).unwrap_or(-32603);
            format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{}}}}}"#,
                id_json(id),
                quote(message)
            )
        }
    };
    serde_json::from_str(&line).ok()
}

fn id_json(id: &Id) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => quote(text),
        Id::Null => "null".into(),
        Id::Other(text) => text.clone(),
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn object(params: Option<&RawValue>) -> &str {
    params.map_or("{}", RawValue::get)
}

/// rmcp's end of the connection.
pub(crate) struct RmcpPipe {
    outgoing: Option<mpsc::Sender<Bytes>>,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl Transport<RoleClient> for RmcpPipe {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            outgoing.ok_or_else(closed)?.send(Bytes::from(line)).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outgoing = None;
        Ok(())
    }
}
