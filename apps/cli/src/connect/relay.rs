//! An agent's lines to the owner and back, over any number of owners.

use std::cell::RefCell;
use std::io;
use std::pin::pin;
use std::time::Duration;

use patchbay_api::{ApiError, ErrorCode};
use patchbay_control::{AgentHello, Client, ControlError};
use patchbay_wire::{DEFAULT_LIMIT, Line, Lines};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::alone::Alone;
use super::session::{Session, Verdict};
use super::stdio;
use crate::context::Context;
use crate::exit::Exit;
use crate::signal::interrupted;

/// How long an owner that has gone is waited for before the relay goes on alone.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks for an owner.
const LOOK: Duration = Duration::from_millis(100);
/// How long a new owner may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long an owner may take to end after the agent has.
const FAREWELL: Duration = Duration::from_secs(5);
/// The longest line either way, in bytes: the longest of a server, and what the owner puts around it.
const MAX_LINE: usize = DEFAULT_LIMIT + (64 << 10);
/// What is read at once.
const CHUNK: usize = 64 << 10;
/// What an agent may send while it has no owner; more waits on its side.
const MAX_WAITING: usize = 1 << 20;

/// The owner's end of the agent's session.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}
type Link = Box<dyn Stream>;

/// How the time with one owner ended.
#[derive(Debug)]
enum End {
    /// The agent closed its end.
    AgentGone,
    /// The owner closed its end, or its stream failed.
    OwnerGone,
    /// The session cannot go on.
    Failed(ApiError),
}

/// What the agent sends, in whole lines.
struct Agent<R> {
    input: R,
    lines: Lines,
    chunk: Vec<u8>,
    /// Lines that no owner has been told yet.
    waiting: Vec<u8>,
}

/// Relays until the agent ends.
///
/// # Errors
/// The owner refuses the agent; when it has gone, the settings are wrong; the agent's streams fail.
pub async fn run(context: &mut Context, client: &Client, hello: AgentHello) -> Result<Exit, ApiError> {
    let mut alone = None;
    let result = tokio::select! {
        result = relay(context, client, hello, &mut alone) => result,
        () = interrupted() => Ok(Exit::Interrupted),
    };
    if let Some(alone) = alone {
        tokio::select! {
            () = Alone::close(alone) => {}
            () = interrupted() => return Ok(Exit::Interrupted),
        }
    }
    result
}

async fn relay(
    context: &Context,
    client: &Client,
    hello: AgentHello,
    alone: &mut Option<Alone>,
) -> Result<Exit, ApiError> {
    let mut link: Link = Box::new(client.agent(&hello).await?);
    let (mut agent, mut output) = (Agent::new(stdio::input()), stdio::output());
    let session = RefCell::new(Session::default());
    loop {
        match carry(&mut agent, &mut output, link, &session).await {
            End::AgentGone => return Ok(Exit::Done),
            End::Failed(error) => return Err(error),
            End::OwnerGone => {}
        }
        let answers = session.borrow_mut().lost();
        if let Err(error) = send(&mut output, &answers).await {
            return agent_failed(&error);
        }
        context.output.warn("the running Patchbay has ended; waiting for another one");
        link = tokio::select! {
            next = next_link(context, &hello, alone) => next?,
            waited = agent.wait() => return waited.map_or_else(|error| agent_failed(&error), |()| Ok(Exit::Done)),
        };
    }
}

/// Carries lines both ways until one side ends.
async fn carry<R, W>(agent: &mut Agent<R>, output: &mut W, link: Link, session: &RefCell<Session>) -> End
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (reader, writer) = tokio::io::split(link);
    let resumed = Notify::new();
    let mut up = pin!(to_owner(agent, writer, session, &resumed));
    let mut down = pin!(to_agent(reader, output, session, &resumed));
    let end = tokio::select! {
        end = &mut down => return end,
        end = &mut up => end,
    };
    // What the owner has answered already still goes out.
    match (end, timeout(FAREWELL, down).await) {
        (End::Failed(error), _) | (_, Ok(End::Failed(error))) => End::Failed(error),
        (End::AgentGone, _) | (_, Ok(End::AgentGone)) => End::AgentGone,
        (End::OwnerGone, _) => End::OwnerGone,
    }
}

async fn to_owner<R: AsyncRead + Unpin>(
    agent: &mut Agent<R>,
    mut writer: WriteHalf<Link>,
    session: &RefCell<Session>,
    resumed: &Notify,
) -> End {
    let greeting = session.borrow_mut().greeting();
    if send(&mut writer, &greeting).await.is_err() {
        return End::OwnerGone;
    }
    if session.borrow().resuming() && timeout(HANDSHAKE, resumed.notified()).await.is_err() {
        return End::OwnerGone;
    }
    let mut lines = session.borrow().rest();
    loop {
        if send(&mut writer, &lines).await.is_err() {
            return End::OwnerGone;
        }
        lines.clear();
        if agent.waiting.is_empty() {
            match agent.fill().await {
                Ok(true) => {}
                Ok(false) => {
                    // An owner that has gone as well needs no farewell.
                    let _ = writer.shutdown().await;
                    return End::AgentGone;
                }
                Err(error) => return agent_failed(&error).map_or_else(End::Failed, |_| End::AgentGone),
            }
        }
        std::mem::swap(&mut lines, &mut agent.waiting);
        let mut session = session.borrow_mut();
        lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .for_each(|line| session.agent_said(line));
    }
}

async fn to_agent<W: AsyncWrite + Unpin>(
    mut reader: ReadHalf<Link>,
    output: &mut W,
    session: &RefCell<Session>,
    resumed: &Notify,
) -> End {
    let (mut lines, mut chunk, mut out) = (Lines::new(MAX_LINE), vec![0; CHUNK], Vec::new());
    loop {
        let read = match reader.read(&mut chunk).await {
            Ok(read) if read > 0 => read,
            _ => return End::OwnerGone,
        };
        let (mut too_long, mut refused) = (false, None);
        lines.push(&chunk[..read], &mut |line| {
            let Line::Whole(line) = line else {
                too_long = true;
                return;
            };
            let verdict = session.borrow_mut().owner_said(line);
            match verdict {
                Verdict::Forward => out.extend(line.iter().chain(b"\n")),
                Verdict::Resumed(Ok(())) => {
                    out.extend(session.borrow().news());
                    resumed.notify_one();
                }
                Verdict::Resumed(Err(reason)) => refused = Some(reason),
            }
        });
        if let Err(error) = send(output, &out).await {
            return agent_failed(&error).map_or_else(End::Failed, |_| End::AgentGone);
        }
        out.clear();
        if let Some(reason) = refused {
            let message = format!("the Patchbay that runs now refuses this agent: {reason}");
            return End::Failed(ApiError::new(ErrorCode::Unavailable, message).hint("restart the agent"));
        }
        if too_long {
            return End::OwnerGone;
        }
    }
}

async fn send<W: AsyncWrite + Unpin>(writer: &mut W, lines: &[u8]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writer.write_all(lines).await?;
    writer.flush().await
}

impl<R: AsyncRead + Unpin> Agent<R> {
    fn new(input: R) -> Self {
        Self { input, lines: Lines::new(MAX_LINE), chunk: vec![0; CHUNK], waiting: Vec::new() }
    }

    /// Reads what is there; `false` at the end. Losing the future loses nothing that was read.
    async fn fill(&mut self) -> io::Result<bool> {
        let read = self.input.read(&mut self.chunk).await?;
        let (mut too_long, waiting) = (false, &mut self.waiting);
        self.lines.push(&self.chunk[..read], &mut |line| match line {
            Line::Whole(line) => waiting.extend(line.iter().chain(b"\n")),
            Line::TooLong { .. } => too_long = true,
        });
        if too_long {
            return Err(io::Error::other(format!(
                "the agent sent a line of more than {} MiB",
                MAX_LINE >> 20
            )));
        }
        Ok(read > 0)
    }

    /// Reads on without an owner, up to a limit, to notice the agent's end.
    async fn wait(&mut self) -> io::Result<()> {
        while self.waiting.len() < MAX_WAITING {
            if !self.fill().await? {
                return Ok(());
            }
        }
        std::future::pending().await
    }
}

/// The agent's streams fail: by its end, which is no failure, or otherwise.
fn agent_failed(error: &io::Error) -> Result<Exit, ApiError> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(Exit::Done);
    }
    Err(ApiError::new(ErrorCode::Io, format!("the agent's session broke off: {error}")))
}

/// The next owner's stream, or one of this process's own where none comes.
async fn next_link(
    context: &Context,
    hello: &AgentHello,
    alone: &mut Option<Alone>,
) -> Result<Link, ApiError> {
    if alone.is_some() {
        return Err(ApiError::new(
            ErrorCode::Internal,
            "the session with this process's own servers broke off",
        ));
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match reach(context, hello).await {
            Ok(Some(link)) => return Ok(link),
            Err(error) if error.code == ErrorCode::VersionMismatch || Instant::now() >= until => {
                return Err(error);
            }
            Ok(None) if Instant::now() >= until => break,
            Ok(None) | Err(_) => sleep(LOOK).await,
        }
    }
    context.output.warn("no other Patchbay runs; this process now holds the servers of this agent itself");
    Ok(Box::new(alone.insert(Alone::open(context, hello.clone()).await?).link()))
}

/// The owner's stream, if one runs.
async fn reach(context: &Context, hello: &AgentHello) -> Result<Option<Link>, ApiError> {
    match Client::connect(&context.home).await.map_err(|error: ControlError| error.to_api())? {
        Some(client) => Ok(Some(Box::new(client.agent(hello).await?))),
        None => Ok(None),
    }
}
