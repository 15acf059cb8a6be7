//! Trust in projects: the question at the desk, and the commands that give and take it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use patchbay_api::{
    Answer, ApiError, DescribeTrust, ErrorCode, OwnerKind, QuestionKind, RevokeTrust, Trust, TrustAnswer,
    TrustRequest,
};
use patchbay_config::{Project, StoreError, TrustState, TrustStore};
use patchbay_records::{AuditEvent, TrustChange};
use tokio::task::AbortHandle;

use crate::workspace::{Workspace, blocking, open_project};
use crate::{Handle, Hub, Shared};

/// The question about one workspace, while it is open.
#[derive(Default)]
pub(crate) struct Asking {
    asked: Mutex<Option<(String, AbortHandle)>>,
}

impl Asking {
    /// Asks about what is pending now; a question about other content is withdrawn, the same is not asked twice.
    pub(crate) fn about(
        &self,
        shared: &Arc<Shared>,
        workspace: &Arc<Workspace>,
        pending: Option<TrustRequest>,
    ) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*asked, &pending) {
            (Some((digest, _)), Some(request)) if *digest == request.digest => return,
            _ => {}
        }
        if let Some((_, question)) = asked.take() {
            question.abort();
        }
        // A command that works alone has nobody who could answer: `patchbay trust` decides there.
        let Some(request) = pending.filter(|_| shared.options.kind != OwnerKind::Alone) else { return };
        let digest = request.digest.clone();
        let asking = ask(Arc::downgrade(shared), Arc::downgrade(workspace), request, shared.stopping.clone());
        let task = shared.tasks.spawn(asking);
        *asked = Some((digest, task.abort_handle()));
    }

    /// Withdraws the question: the workspace closes.
    pub(crate) fn withdraw(&self) {
        if let Some((_, question)) = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
            question.abort();
        }
    }
}

async fn ask(
    shared: std::sync::Weak<Shared>,
    workspace: std::sync::Weak<Workspace>,
    request: TrustRequest,
    stopping: tokio_util::sync::CancellationToken,
) {
    let Some((desk, key)) = shared
        .upgrade()
        .zip(workspace.upgrade())
        .map(|(shared, workspace)| (shared.desk.clone(), workspace.manager.key().clone()))
    else {
        return;
    };
    let digest = request.digest.clone();
    let answer = tokio::select! {
        answer = desk.ask(key, QuestionKind::Trust { request }) => answer,
        () = stopping.cancelled() => return,
    };
    let Some((shared, workspace)) = shared.upgrade().zip(workspace.upgrade()) else { return };
    let Some(path) = workspace.path.clone() else { return };
    match answer {
        Some(Answer::Allow) => {
            if let Err(error) = give(&shared, path, digest).await {
                tracing::error!(%error, "trust could not be remembered");
            }
        }
        Some(Answer::Deny) => record(&shared, &path, Some(digest), TrustChange::Refused),
        None => {}
    }
}

/// Remembers trust in this content, and lets the workspace take it.
async fn give(shared: &Arc<Shared>, path: std::path::PathBuf, digest: String) -> Result<(), ApiError> {
    let (store, folder, content) = (TrustStore::new(&shared.home), path.clone(), digest.clone());
    blocking(move || store.trust(&folder, &content)).await?.map_err(|error| failed(&error))?;
    record(shared, &path, Some(digest), TrustChange::Given);
    shared.refresh_folder(&path).await
}

fn record(shared: &Shared, path: &Path, digest: Option<String>, change: TrustChange) {
    let event = AuditEvent::Trust { path: path.display().to_string(), digest, change };
    shared.audit(event);
}

fn failed(error: &StoreError) -> ApiError {
    let mut api = ApiError::new(ErrorCode::Io, error.to_string());
    api.hint = error.hint();
    api
}

/// The project in a folder as it stands now, and whether it is trusted.
async fn look(shared: &Arc<Shared>, path: String) -> Result<(Project, TrustState), ApiError> {
    let legacy_sse = shared.global.now().0.settings.mcp.legacy_sse;
    let store = TrustStore::new(&shared.home);
    blocking(move || {
        let mut files = open_project(Path::new(&path))?;
        let project = files.read(legacy_sse);
        let state = store.state(&project).map_err(|error| failed(&error))?;
        Ok((project, state))
    })
    .await?
}

impl Handle<DescribeTrust> for Hub {
    async fn handle(&self, command: DescribeTrust) -> Result<TrustAnswer, ApiError> {
        let (_, state) = look(&self.shared, command.path).await?;
        Ok(match state {
            TrustState::NotNeeded => TrustAnswer { request: None, trusted: false },
            TrustState::Trusted => TrustAnswer { request: None, trusted: true },
            TrustState::Pending(request) => TrustAnswer { request: Some(*request), trusted: false },
        })
    }
}

impl Handle<Trust> for Hub {
    async fn handle(&self, command: Trust) -> Result<(), ApiError> {
        let (project, state) = look(&self.shared, command.path).await?;
        match state {
            TrustState::Pending(request) if request.digest == command.digest => {
                give(&self.shared, project.dir, command.digest).await
            }
            TrustState::Trusted => Ok(()),
            TrustState::NotNeeded | TrustState::Pending(_) => {
                let message = "the project's files are no longer what was shown";
                Err(ApiError::new(ErrorCode::Conflict, message)
                    .hint("look at them again before you trust them"))
            }
        }
    }
}

impl Handle<RevokeTrust> for Hub {
    async fn handle(&self, command: RevokeTrust) -> Result<(), ApiError> {
        let path = Path::new(&command.path);
        // A folder that is gone can still be forgotten, by the path that it had.
        let path = tokio::fs::canonicalize(path).await.unwrap_or_else(|_| path.to_owned());
        let (store, folder) = (TrustStore::new(&self.shared.home), path.clone());
        let known = blocking(move || store.revoke(&folder)).await?.map_err(|error| failed(&error))?;
        if !known {
            return Err(ApiError::new(ErrorCode::NotFound, format!("{} was not trusted", path.display())));
        }
        record(&self.shared, &path, None, TrustChange::TakenBack);
        self.shared.refresh_folder(&path).await
    }
}
