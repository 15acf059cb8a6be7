//! The question about a project: everything that a person must see before it may run. Looks nothing up, starts
//! nothing, resolves no name.

use patchbay_api::{Leak, TrustRequest, TrustServer};

use super::loaders::is_loader;
use super::visible::{unseen, visible};
use crate::expand::Source;
use crate::model::{Http, Stdio, Transport};
use crate::project::{Project, ProjectServer};

/// The question; `changed` tells whether other content was trusted at this path.
pub(super) fn request(project: &Project, digest: String, changed: bool) -> TrustRequest {
    let show = |texts: &[String]| texts.iter().map(|text| visible(text)).collect();
    TrustRequest {
        path: visible(&project.dir.to_string_lossy()),
        digest,
        files: project.trusted_files().iter().map(|file| visible(&file.to_string_lossy())).collect(),
        servers: project.servers.iter().map(describe).collect(),
        allow: show(&project.loosening.allow),
        writable_paths: show(&project.loosening.writable_paths),
        changed,
    }
}

fn describe(server: &ProjectServer) -> TrustServer {
    let shown = |texts: &std::collections::BTreeMap<String, String>| {
        texts.iter().map(|(name, value)| (visible(name), visible(value))).collect::<Vec<_>>()
    };
    let config = &server.config;
    let (command, cwd, env, headers, loaders) = match &config.transport {
        Transport::Stdio(Stdio { command, args, env, cwd, sandbox: _ }) => {
            let line = std::iter::once(command).chain(args).map(|text| visible(text)).collect();
            let loaders = env.keys().filter(|name| is_loader(name)).map(|name| visible(name)).collect();
            (line, cwd.as_deref().map(visible), shown(env), Vec::new(), loaders)
        }
        Transport::Http(Http { url, headers, oauth: _ })
        | Transport::Sse(Http { url, headers, oauth: _ }) => {
            (vec![visible(url)], None, Vec::new(), shown(headers), Vec::new())
        }
    };
    TrustServer {
        name: visible(config.id.name.as_str()),
        file: visible(&server.file.to_string_lossy()),
        transport: config.kind(),
        command,
        cwd,
        env,
        headers,
        leaks: leaks(server),
        loaders,
        unsandboxed: server.asks_unsandboxed,
        suspicious: suspicious(server),
    }
}

fn leaks(server: &ProjectServer) -> Vec<Leak> {
    let config = &server.config;
    let to = receiver(&config.transport);
    let mut leaks: Vec<Leak> = (config.variables().into_iter())
        .map(|variable| {
            let name = match variable.source {
                Source::Env => variable.name,
                Source::Secret => format!("secret:{}", visible(&variable.name)),
            };
            Leak { name, field: visible(&variable.field), to: to.clone() }
        })
        .collect();
    if let Transport::Http(http) | Transport::Sse(http) = &config.transport
        && let Some(reference) = &http.oauth.client_secret
    {
        let name = reference.trim_start_matches("${").trim_end_matches('}');
        leaks.push(Leak { name: visible(name), field: "oauth.client_secret".into(), to });
    }
    leaks
}

/// The program or host that gets what a server is given.
fn receiver(transport: &Transport) -> String {
    match transport {
        Transport::Stdio(stdio) => visible(&stdio.command),
        Transport::Http(http) | Transport::Sse(http) => host(&http.url).unwrap_or_else(|| visible(&http.url)),
    }
}

/// The host (and port) of an address, where no variable has a say in it.
fn host(url: &str) -> Option<String> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '\\', '?', '#']).map_or(url.len(), |length| start + length);
    if url[..end].contains("${") {
        return None;
    }
    let parsed = url::Url::parse(&url[..end]).ok()?;
    let host = parsed.host_str().filter(|host| !host.is_empty())?;
    Some(parsed.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Where in a server's settings something stands that cannot be seen: `args[2]: U+202E (reorders text)`.
fn suspicious(server: &ProjectServer) -> Vec<String> {
    let transport = &server.config.transport;
    let mut found = Vec::new();
    let mut look = |field: &str, text: &str| {
        found.extend(unseen(text).into_iter().map(|mark| format!("{}: {mark}", visible(field))));
    };
    look("name", server.config.id.name.as_str());
    for (field, text) in transport.fields() {
        // Keys of env and headers are part of the field's name.
        if field.contains('.') {
            look("name of a variable or header", &field);
        }
        look(&field, text);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_only_where_no_variable_decides_it() {
        assert_eq!(host("https://mcp.example.com/mcp?k=${K}").as_deref(), Some("mcp.example.com"));
        assert_eq!(host("http://127.0.0.1:8931/${P}").as_deref(), Some("127.0.0.1:8931"));
        assert_eq!(host("https://user:${PW}@h.example/").as_deref(), None);
        assert_eq!(host("https://good.example\\@evil.example/").as_deref(), Some("good.example"));
        assert_eq!(host("https://bücher.example/").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(host("${BASE:-https://mcp.example.com}/mcp"), None);
        assert_eq!(host("https://${TENANT}.example.com/mcp"), None);
    }
}
