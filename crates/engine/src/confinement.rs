//! How the servers of a workspace are held: what of the environment they get, and the sandbox.

use std::path::Path;

use patchbay_exec::ExecError;
use patchbay_exec::sandbox::{self, Inputs, Policy};

/// What holds the stdio servers of one workspace; made by the owner from its settings and the project's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Confinement {
    /// Globs of variables that servers do not inherit.
    pub scrub_env: Vec<String>,
    /// What the sandbox's policy is made of, but for the server's own folder; `None`: no sandbox is wanted.
    pub sandbox: Option<Inputs>,
}

impl Confinement {
    /// The policy for one server that works in `cwd`.
    pub(crate) fn policy(&self, server: &str, cwd: &Path) -> Result<Option<Policy>, ExecError> {
        let inputs = self.sandbox.clone().map(|inputs| Inputs { cwd: cwd.to_owned(), ..inputs });
        inputs.map(|inputs| Policy::new(server, inputs)).transpose()
    }
}

/// What the sandbox has to do with what a server wrote last, where it has.
pub(crate) fn explain(policy: Option<&Policy>, tail: &[String]) -> Option<String> {
    sandbox::explain(policy?, tail).map(|denial| denial.to_string())
}
