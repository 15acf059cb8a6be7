//! Identities. A server is never a bare string: its name and its scope belong together.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Longest name of a server, in characters.
const MAX_NAME: usize = 200;

/// Why a text is no valid id; says which rule it breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId(pub &'static str);

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidId {}

/// A server's name as it stands in the settings: any text of 1 to 200 characters without control characters.
///
/// Files may hold names that the form would refuse (spaces, other scripts); everything works with them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "specta", specta(transparent))]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServerName {
    type Error = InvalidId;

    fn try_from(name: String) -> Result<Self, InvalidId> {
        if name.trim().is_empty() {
            return Err(InvalidId("a server's name must not be empty"));
        }
        if name.chars().count() > MAX_NAME {
            return Err(InvalidId("a server's name has at most 200 characters"));
        }
        if name.chars().any(char::is_control) {
            return Err(InvalidId("a server's name must not hold control characters"));
        }
        Ok(Self(name))
    }
}

impl TryFrom<&str> for ServerName {
    type Error = InvalidId;

    fn try_from(name: &str) -> Result<Self, InvalidId> {
        Self::try_from(name.to_owned())
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An open project folder, by the first 16 hex digits of the SHA-256 of its canonical path;
/// `none` stands for the workspace without a folder, which has the global servers only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
#[cfg_attr(feature = "specta", specta(transparent))]
pub struct WorkspaceKey(String);

impl WorkspaceKey {
    /// The key of a canonical path.
    #[must_use]
    pub fn of(canonical: &std::path::Path) -> Self {
        let mut key = hex(&Sha256::digest(canonical.as_os_str().as_encoded_bytes()));
        key.truncate(16);
        Self(key)
    }

    /// The workspace without a folder.
    #[must_use]
    pub fn none() -> Self {
        Self("none".into())
    }

    /// The key as text: 16 hex digits, or `none`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whose a server is: everybody's (the global settings), or one project's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// Of the global settings.
    Global,
    /// Of the files of the project at this path.
    Project(WorkspaceKey),
}

impl Scope {
    /// The scope as one word for keys in the secret store: `global` or 16 hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Global => "global",
            Self::Project(key) => key.as_str(),
        }
    }
}

/// A server's identity everywhere: secrets, sign-ins, approvals, processes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ServerId {
    /// Whose it is.
    pub scope: Scope,
    /// Its name within the scope.
    pub name: ServerName,
}

impl ServerId {
    /// A server of the global settings.
    #[must_use]
    pub fn global(name: ServerName) -> Self {
        Self { scope: Scope::Global, name }
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// The name under which an agent connects (`patchbay connect --agent NAME`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct AgentId {
    /// The agent's name; `None` where it gave none.
    pub name: Option<String>,
    /// Whether it is a sub-agent: it sees only servers whose `agents` has `*` or its name (MCP-02).
    pub sub_agent: bool,
}

impl AgentId {
    /// The primary agent without a name.
    #[must_use]
    pub fn primary() -> Self {
        Self { name: None, sub_agent: false }
    }

    /// Whether a server with this `agents` list is offered to the agent (MCP-02).
    #[must_use]
    pub fn sees(&self, agents: &[String]) -> bool {
        (agents.is_empty() && !self.sub_agent)
            || agents.iter().any(|a| a == "*" || Some(a) == self.name.as_ref())
    }
}

/// The version of a file's content: the SHA-256 of its bytes in hex. Equal content has an equal revision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
#[cfg_attr(feature = "specta", specta(transparent))]
pub struct Revision(String);

impl Revision {
    /// The revision of these bytes.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(hex(&Sha256::digest(content)))
    }

    /// The revision as 64 hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A question at the desk, for as long as the owner runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
#[cfg_attr(feature = "specta", specta(transparent))]
pub struct QuestionId(pub u32);

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_any_visible_text_of_bounded_length() {
        for good in ["fs", "we\"ird", "a.b", "我的服务器", "..", "my server"] {
            assert!(ServerName::try_from(good).is_ok(), "{good}");
        }
        for bad in ["", "  ", "a\nb", &"x".repeat(201)] {
            assert!(ServerName::try_from(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_sub_agent_sees_only_servers_that_name_it_or_all() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let primary = AgentId { name: Some("codex".into()), sub_agent: false };
        let sub = AgentId { name: Some("codex".into()), sub_agent: true };
        assert!(primary.sees(&[]) && !sub.sees(&[]));
        assert!(primary.sees(&list(&["*"])) && sub.sees(&list(&["*"])));
        assert!(primary.sees(&list(&["codex"])) && sub.sees(&list(&["codex"])));
        assert!(!primary.sees(&list(&["claude"])) && !sub.sees(&list(&["claude"])));
    }

    #[test]
    fn revisions_follow_the_content() {
        assert_eq!(Revision::of(b"a"), Revision::of(b"a"));
        assert_ne!(Revision::of(b"a"), Revision::of(b"b"));
        assert_eq!(Revision::of(b"").as_str().len(), 64);
    }
}
