//! The digest of what a project's files would run or loosen. Equal content has an equal digest, however it is
//! spelled, ordered and spread over the files.

use std::collections::{BTreeMap, BTreeSet};

use patchbay_api::{HealthCheck, Oauth, Revision, TransportKind};
use serde::Serialize;

use crate::model::{Http, ServerConfig, Stdio, Transport};
use crate::project::Project;

/// What trust is given to. The order of its fields is part of the digest; a field that is added later is left out
/// of it while it has its default, or everyone is asked again.
#[derive(Serialize)]
struct Content<'p> {
    format: u8,
    servers: BTreeMap<&'p str, Server<'p>>,
    allow: BTreeSet<&'p str>,
    writable_paths: BTreeSet<&'p str>,
}

#[derive(Serialize)]
struct Server<'p> {
    reach: Reach<'p>,
    tools: &'p [String],
    auto_approve: bool,
    prefix: Option<&'p str>,
    agents: &'p [String],
    timeout_ms: u128,
    max_ms: Option<u128>,
    disabled: bool,
    health_check: &'p HealthCheck,
    always_allow: &'p [String],
}

#[derive(Serialize)]
enum Reach<'p> {
    Stdio {
        command: &'p str,
        args: &'p [String],
        env: &'p BTreeMap<String, String>,
        cwd: Option<&'p str>,
        sandbox: bool,
    },
    Web {
        kind: TransportKind,
        url: &'p str,
        headers: &'p BTreeMap<String, String>,
        oauth: &'p Oauth,
    },
}

/// SHA-256 of the trust-relevant content, as 64 hex digits; `None` where there is nothing that needs trust.
pub(crate) fn digest(project: &Project) -> Option<String> {
    if project.servers.is_empty() && project.loosening.is_empty() {
        return None;
    }
    let content = Content {
        format: 1,
        servers: project
            .servers
            .iter()
            .map(|server| (server.config.id.name.as_str(), canonical(&server.config)))
            .collect(),
        allow: project.loosening.allow.iter().map(String::as_str).collect(),
        writable_paths: project.loosening.writable_paths.iter().map(String::as_str).collect(),
    };
    // Texts and numbers under text keys always serialise; an empty digest would still match nothing.
    let bytes = serde_json::to_vec(&content).ok()?;
    Some(Revision::of(&bytes).as_str().to_owned())
}

/// Takes every field apart, so that a new one cannot be forgotten.
fn canonical(config: &ServerConfig) -> Server<'_> {
    let ServerConfig {
        id: _,
        transport,
        tools,
        auto_approve,
        prefix,
        agents,
        timeout,
        max,
        disabled,
        health_check,
        always_allow,
    } = config;
    let reach = match transport {
        Transport::Stdio(Stdio { command, args, env, cwd, sandbox }) => {
            Reach::Stdio { command, args, env, cwd: cwd.as_deref(), sandbox: *sandbox }
        }
        Transport::Http(Http { url, headers, oauth }) | Transport::Sse(Http { url, headers, oauth }) => {
            Reach::Web { kind: transport.kind(), url, headers, oauth }
        }
    };
    Server {
        reach,
        tools,
        auto_approve: *auto_approve,
        prefix: prefix.as_deref(),
        agents,
        timeout_ms: timeout.as_millis(),
        max_ms: max.map(|max| max.as_millis()),
        disabled: *disabled,
        health_check,
        always_allow,
    }
}
