//! Which tools an agent is offered, and under which names. Pure: catalogues and settings in, an offer out.

use std::collections::HashMap;
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use patchbay_api::{AgentId, AgentView, HiddenTool, ServerId, ServerTools, ToolSummary, WorkspaceKey};
use patchbay_config::{ServerConfig, ToolNames};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::catalogue::Catalogue;

/// Longest name that model APIs take.
const MAX_NAME: usize = 64;
/// Names that are the gateway's own, in both spellings.
const RESERVED: [&str; 4] =
    ["list_mcp_resources", "read_mcp_resource", "ListMcpResources", "ReadMcpResource"];

/// One server as the offer is made from it.
pub struct Offered {
    /// Its settings.
    pub config: Arc<ServerConfig>,
    /// Its tools, or why it has none to offer now.
    pub catalogue: Result<Arc<Catalogue>, String>,
}

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The server.
    pub server: ServerId,
    /// Its own name for the tool.
    pub tool: String,
}

/// What one agent is offered.
#[derive(Debug)]
pub struct Offer {
    /// The definitions to send, with the names that the agent sees.
    pub tools: Vec<Box<RawValue>>,
    /// Where each name leads.
    pub targets: HashMap<String, Target>,
    /// The same for people, with what is left out and why (MCP-40).
    pub view: AgentView,
}

/// How names are made for an agent.
#[derive(Debug, Clone)]
pub struct Naming {
    /// Plain names or `mcp__<server>__<tool>`.
    pub style: ToolNames,
    /// The agent's own tools, which no server may shadow.
    pub reserved: Vec<String>,
}

/// Makes an agent's offer from the servers in the order of the settings: the first of a name wins (MCP-20).
///
/// `sticky` holds what the agent was offered before in its session: such a name stays with its server.
#[must_use]
pub fn offer(
    workspace: WorkspaceKey,
    agent: &AgentId,
    servers: &[Offered],
    naming: &Naming,
    sticky: &HashMap<String, Target>,
) -> Offer {
    let view = AgentView { workspace, agent: agent.clone(), servers: Vec::new() };
    let mut offer = Offer { tools: Vec::new(), targets: HashMap::new(), view };
    for server in servers {
        let part = offer_server(agent, server, naming, sticky, &mut offer);
        offer.view.servers.push(part);
    }
    offer
}

fn offer_server(
    agent: &AgentId,
    server: &Offered,
    naming: &Naming,
    sticky: &HashMap<String, Target>,
    offer: &mut Offer,
) -> ServerTools {
    let config = &server.config;
    let mut part =
        ServerTools { id: config.id.clone(), withheld: None, tools: Vec::new(), hidden: Vec::new() };
    if !agent.sees(&config.agents) {
        part.withheld = Some("its settings offer it to other agents only (agents)".into());
        return part;
    }
    let catalogue = match &server.catalogue {
        Ok(catalogue) => catalogue,
        Err(reason) => {
            part.withheld = Some(reason.clone());
            return part;
        }
    };
    let dropped = catalogue.dropped.iter();
    part.hidden.extend(
        dropped.map(|(original, reason)| HiddenTool { original: original.clone(), reason: reason.clone() }),
    );
    let allowed = globs(&config.tools);
    for tool in &catalogue.tools {
        let hide = |reason: String| HiddenTool { original: tool.name.clone(), reason };
        if allowed.as_ref().is_some_and(|allowed| !allowed.is_match(&tool.name)) {
            part.hidden.push(hide("it is not in the server's list of tools (tools)".into()));
            continue;
        }
        let name = effective_name(config, &tool.name, naming.style);
        if let Err(reason) = free(&name, &config.id, naming, sticky, &offer.targets) {
            part.hidden.push(hide(reason));
            continue;
        }
        let renamed =
            if name == tool.name { Ok(tool.definition.clone()) } else { rename(&tool.definition, &name) };
        let Ok(definition) = renamed else {
            part.hidden.push(hide(format!("it cannot be renamed to {name}")));
            continue;
        };
        offer.targets.insert(name.clone(), Target { server: config.id.clone(), tool: tool.name.clone() });
        offer.tools.push(definition);
        part.tools.push(ToolSummary {
            name,
            original: tool.name.clone(),
            description: tool.description.clone(),
        });
    }
    part
}

/// Whether a name may be given to this server's tool; else why not.
fn free(
    name: &str,
    server: &ServerId,
    naming: &Naming,
    sticky: &HashMap<String, Target>,
    taken: &HashMap<String, Target>,
) -> Result<(), String> {
    if RESERVED.contains(&name) || naming.reserved.iter().any(|reserved| reserved == name) {
        return Err(format!(
            "the agent has a tool of its own named {name}; a prefix for the server gives another name"
        ));
    }
    if let Some(other) = taken.get(name) {
        return Err(format!("the name {name} is taken by {} of the server {}", other.tool, other.server));
    }
    match sticky.get(name) {
        Some(owner) if owner.server != *server => {
            Err(format!("the name {name} belongs to the server {} for this agent's session", owner.server))
        }
        _ => Ok(()),
    }
}

fn rename(definition: &RawValue, name: &str) -> Result<Box<RawValue>, patchbay_wire::WireError> {
    patchbay_wire::set(definition, "name", Some(&serde_json::Value::from(name).to_string()))
}

/// Globs of the allow-list; `None`: everything. A glob that cannot be read matches nothing but its own text.
fn globs(patterns: &[String]) -> Option<GlobSet> {
    if patterns.is_empty() {
        return None;
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = Glob::new(pattern).or_else(|_| Glob::new(&globset::escape(pattern))) {
            set.add(glob);
        }
    }
    Some(set.build().unwrap_or_default())
}

/// The name that an agent sees: prefixed or namespaced, in `[A-Za-z0-9_-]`, at most 64 long.
#[must_use]
pub fn effective_name(config: &ServerConfig, tool: &str, style: ToolNames) -> String {
    let full = match (style, &config.prefix) {
        (ToolNames::Namespaced, _) => format!("mcp__{}__{tool}", config.id.name),
        (ToolNames::Plain, Some(prefix)) if !prefix.is_empty() => format!("{prefix}__{tool}"),
        (ToolNames::Plain, _) => tool.to_owned(),
    };
    normalise(&full)
}

/// Maps a name to what every model API takes. What is lost is kept apart by a tail of the whole name's hash: for
/// names that are cut, and for names of other scripts, which would all become the same underscores.
fn normalise(full: &str) -> String {
    let mut lossy = false;
    let mut name = String::with_capacity(full.len());
    for c in full.chars() {
        lossy |= !c.is_ascii();
        name.push(if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' });
    }
    if name.len() <= MAX_NAME && !lossy {
        return name;
    }
    let hash = Sha256::digest(full.as_bytes());
    let tail: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    name.truncate(MAX_NAME - tail.len() - 1);
    format!("{name}_{tail}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_fit_every_model_api_and_stay_apart() {
        let long = "enterprise-observability-platform-production__".to_owned() + &"x".repeat(59);
        let names =
            [format!("{long}a"), format!("{long}b"), "查询".into(), "检索".into(), "ok-name_1".into()];
        let made: Vec<String> = names.iter().map(|name| normalise(name)).collect();
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), names.len(), "{made:?}");
        for name in &made {
            assert!(
                name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                "{name}"
            );
        }
        assert_eq!(made[4], "ok-name_1");
        assert_eq!(normalise("a.b/c d"), "a_b_c_d");
    }
}
