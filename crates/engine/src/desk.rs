//! The one desk for questions to a person. Whoever needs a decision asks here; window, tray and terminal answer.

use std::sync::{Arc, Mutex, PoisonError};

use patchbay_api::{Answer, Question, QuestionId, QuestionKind, WorkspaceKey};
use tokio::sync::{oneshot, watch};

use crate::Clock;

/// Holds the open questions. The first answer wins; dropping the asker's future withdraws the question.
#[derive(Debug, Clone)]
pub struct Desk {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    open: Mutex<Open>,
    changed: watch::Sender<u32>,
}

#[derive(Debug, Default)]
struct Open {
    last: u32,
    questions: Vec<(Question, oneshot::Sender<Answer>)>,
}

impl Desk {
    /// An empty desk.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let (changed, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { clock, open: Mutex::default(), changed }) }
    }

    /// Puts a question and waits for its answer; `None` when it was withdrawn from the other side (at the stop).
    pub async fn ask(&self, workspace: WorkspaceKey, kind: QuestionKind) -> Option<Answer> {
        let (sender, answer) = oneshot::channel();
        let id = self.with(|open| {
            open.last += 1;
            let id = QuestionId(open.last);
            let question = Question { id, workspace, since_ms: self.shared.clock.now_ms(), kind };
            open.questions.push((question, sender));
            id
        });
        let _withdraw = Withdraw { desk: self, id };
        answer.await.ok()
    }

    /// Answers a question; `false` when it is not open any more.
    #[must_use]
    pub fn answer(&self, id: QuestionId, answer: Answer) -> bool {
        let asked = self.with(|open| {
            let at = open.questions.iter().position(|(question, _)| question.id == id)?;
            Some(open.questions.remove(at).1)
        });
        asked.is_some_and(|sender| sender.send(answer).is_ok())
    }

    /// Withdraws all open questions: the owner stops.
    pub fn close(&self) {
        self.with(|open| open.questions.clear());
    }

    /// The open questions, oldest first.
    #[must_use]
    pub fn open(&self) -> Vec<Question> {
        self.lock().questions.iter().map(|(question, _)| question.clone()).collect()
    }

    /// Changes whenever a question comes or goes.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u32> {
        self.shared.changed.subscribe()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        let result = act(&mut self.lock());
        self.shared.changed.send_modify(|count| *count = count.wrapping_add(1));
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Withdraw<'a> {
    desk: &'a Desk,
    id: QuestionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if self.desk.lock().questions.iter().any(|(question, _)| question.id == self.id) {
            self.desk.with(|open| open.questions.retain(|(question, _)| question.id != self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use patchbay_api::TrustRequest;

    use super::*;

    fn trust() -> QuestionKind {
        QuestionKind::Trust {
            request: TrustRequest {
                path: "/p".into(),
                digest: "d".into(),
                files: vec![],
                servers: vec![],
                allow: vec![],
                writable_paths: vec![],
                changed: false,
            },
        }
    }

    #[tokio::test]
    async fn the_first_answer_wins_and_the_question_goes() {
        let desk = Desk::new(Clock::system());
        let asked = desk.ask(WorkspaceKey::none(), trust());
        let answering = async {
            let id = desk.open()[0].id;
            assert!(desk.answer(id, Answer::Allow));
            assert!(!desk.answer(id, Answer::Deny));
        };
        let (answer, ()) = tokio::join!(asked, answering);
        assert_eq!((answer, desk.open()), (Some(Answer::Allow), vec![]));
    }

    #[tokio::test]
    async fn dropping_the_asker_withdraws_the_question() {
        let desk = Desk::new(Clock::system());
        {
            let asked = desk.ask(WorkspaceKey::none(), trust());
            tokio::pin!(asked);
            assert!(futures_util::poll!(&mut asked).is_pending());
            assert_eq!(desk.open().len(), 1);
        }
        assert_eq!(desk.open(), vec![]);
    }

    #[tokio::test]
    async fn a_stop_withdraws_everything() {
        let desk = Desk::new(Clock::system());
        let asked = desk.ask(WorkspaceKey::none(), trust());
        let (answer, ()) = tokio::join!(asked, async { desk.close() });
        assert_eq!(answer, None);
    }
}
