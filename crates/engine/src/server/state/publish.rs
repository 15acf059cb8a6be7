//! What the actor shows of its state: the view that everyone else reads.

use patchbay_api::{ServerState, ServerStatus};
use tokio::time::Instant;

use super::super::{Desired, View};
use super::{Actor, ready, rest_reason, same_list};
use crate::connect::{Live, StartFailure};

impl Actor {
    pub(super) fn publish_rest(&self, cause: Option<String>) {
        let (state, cause) = match self.wanted() {
            Desired::Rest(_, state, reason) => (state, reason.or_else(|| Some(rest_reason(state).into()))),
            Desired::Run(_) | Desired::Gone => (ServerState::Idle, cause),
        };
        self.publish_state(state, cause, None);
    }

    pub(super) fn publish_failure(&self, failure: &StartFailure) {
        let state = if failure.needs_sign_in { ServerState::NeedsSignIn } else { ServerState::Failed };
        self.publish_state(state, Some(failure.cause.clone()), failure.hint.clone());
        let now = Instant::now();
        let until = self.backoff.until(now).map(|until| self.runtime.clock.at_ms(until));
        let tail = self.tail();
        self.publish(|status| (status.until_ms, status.log_tail) = (until, tail));
    }

    pub(super) fn publish_connected(&self, live: &Live) {
        let same = self
            .view
            .borrow()
            .ready
            .as_ref()
            .is_some_and(|ready| same_list(&ready.catalogue, &live.catalogue));
        let count = u32::try_from(live.catalogue.tools.len()).unwrap_or(u32::MAX);
        self.publish_state(ServerState::Connected, None, None);
        let ready = ready(live);
        self.update(|view| {
            view.status.tool_count = Some(count);
            view.status.pid = live.process.as_ref().map(patchbay_exec::Process::pid);
            view.status.sandbox = live.process.as_ref().map(|process| process.sandbox().clone());
            view.status.catalogue_revision += u32::from(!same);
            view.ready = Some(ready);
        });
    }

    pub(super) fn publish_state(&self, state: ServerState, cause: Option<String>, hint: Option<String>) {
        let now = self.runtime.clock.now_ms();
        let transport = self.wanted().config().map(|config| config.kind());
        self.update(|view| {
            let status = &mut view.status;
            if status.state != state {
                status.since_ms = now;
            }
            if !matches!(state, ServerState::Connected) {
                view.ready = None;
            }
            if !matches!(state, ServerState::Connected | ServerState::Stopping) {
                (status.pid, status.sandbox) = (None, None);
            }
            (status.state, status.cause, status.hint, status.until_ms) = (state, cause, hint, None);
            status.transport = transport.or(status.transport);
            status.log_tail.clear();
        });
    }

    pub(super) fn publish(&self, change: impl FnOnce(&mut ServerStatus)) {
        self.update(|view| change(&mut view.status));
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut View)) {
        self.view.send_modify(change);
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }
}
