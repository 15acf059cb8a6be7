//! What guests say of themselves in headers: JSON, so that any folder and any name fits.

use axum::http::HeaderMap;
use patchbay_api::{AgentId, ApiError, ErrorCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The header that carries an agent's hello.
pub(crate) const HELLO_HEADER: &str = "x-patchbay-agent";
/// The header that carries a workspace's folder.
pub(crate) const WORKSPACE_HEADER: &str = "x-patchbay-workspace";

/// Reads a header that [`json_header`] wrote.
pub(crate) fn read_header<T: DeserializeOwned>(headers: &HeaderMap, name: &str) -> Result<T, ApiError> {
    let text = headers.get(name).and_then(|value| value.to_str().ok());
    text.and_then(|text| serde_json::from_str(text).ok()).ok_or_else(|| {
        ApiError::new(ErrorCode::Invalid, format!("the header {name} is missing or cannot be read"))
    })
}

/// What an agent's relay says of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentHello {
    /// The folder of its workspace; `None`: the workspace without one.
    pub workspace: Option<String>,
    /// The agent.
    pub agent: AgentId,
    /// Names of its own tools, which no server may shadow.
    #[serde(default)]
    pub reserved: Vec<String>,
}

/// As a header's value: JSON with everything beyond ASCII escaped.
pub(crate) fn json_header(value: &impl Serialize) -> Result<String, ApiError> {
    let json = serde_json::to_string(value)
        .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
    let escaped = json.chars().map(|c| {
        let mut units = [0; 2];
        if c.is_ascii() {
            c.to_string()
        } else {
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
    });
    Ok(escaped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_hello_survives_the_header_in_any_script() {
        let hello = AgentHello {
            workspace: Some("/home/me/проект 🚀".into()),
            agent: AgentId { name: Some("é".into()), sub_agent: true },
            reserved: vec!["Read".into()],
        };
        let mut headers = HeaderMap::new();
        headers.insert(HELLO_HEADER, json_header(&hello).unwrap().parse().unwrap());
        let back = read_header::<AgentHello>(&headers, HELLO_HEADER).unwrap();
        assert_eq!(
            (back.workspace, back.agent, back.reserved),
            (hello.workspace, hello.agent, hello.reserved)
        );
    }
}
