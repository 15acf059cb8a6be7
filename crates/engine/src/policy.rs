//! Who may call what: a pure decision from mode, rules and the server's own setting.

use globset::Glob;
use patchbay_config::{PermissionMode, PermissionSettings};

/// What the policy says of one call, and why; the reason goes to the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow(Reason),
    /// It may not.
    Deny {
        /// What decided.
        reason: Reason,
        /// The rule that decided, where one did.
        rule: Option<String>,
        /// Why, for the caller, and what would allow it.
        text: String,
    },
}

/// Why a call was allowed or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The mode decides.
    Mode,
    /// A rule of `[permissions]` decides.
    Rule,
    /// The server has `auto_approve`.
    AutoApprove,
    /// A person would have to be asked, and nobody can be.
    NoApprover,
}

/// Decides on the call of `tool` of `server`: modes that act on nothing first, then deny > ask > auto-approval.
///
/// There is no approver yet, so whatever would be asked is denied: closed rather than open. For the same reason
/// `allow` rules and mode `bypass` grant nothing.
#[must_use]
pub fn decide(permissions: &PermissionSettings, server: &str, tool: &str, auto_approve: bool) -> Decision {
    if let PermissionMode::Plan | PermissionMode::ReadOnly = permissions.mode {
        let text = format!(
            "the tool {tool} of the MCP server {server} is refused: mode {:?} runs no tools",
            permissions.mode.word()
        );
        return Decision::Deny { reason: Reason::Mode, rule: None, text };
    }
    if let Some(rule) = permissions.deny.iter().find(|rule| matches(rule, server, tool)) {
        let text = format!("the tool {tool} of the MCP server {server} is denied by the rule {rule}");
        return Decision::Deny { reason: Reason::Rule, rule: Some(rule.clone()), text };
    }
    if let Some(rule) = permissions.ask.iter().find(|rule| matches(rule, server, tool)) {
        let text = format!(
            "the tool {tool} of the MCP server {server} must be approved by a person (rule {rule}), and nobody can be asked here"
        );
        return Decision::Deny { reason: Reason::NoApprover, rule: Some(rule.clone()), text };
    }
    if auto_approve {
        return Decision::Allow(Reason::AutoApprove);
    }
    let text = format!(
        "the tool {tool} of the MCP server {server} is denied: it must be approved by a person, and nobody can be asked yet. \
         To run this server's tools without asking, set auto_approve = true for it (Settings › MCP servers, or the settings file)"
    );
    Decision::Deny { reason: Reason::NoApprover, rule: None, text }
}

/// Whether a rule `mcp(<server>:<tool glob>)` is about this tool. A rule that cannot be read matches everything:
/// it can only tighten here, so failing closed is the safe reading.
fn matches(rule: &str, server: &str, tool: &str) -> bool {
    let Some(body) = rule.trim().strip_prefix("mcp(").and_then(|rest| rest.strip_suffix(')')) else {
        return !rule.contains('(');
    };
    // A server's name may hold colons, a tool glob seldom does: the last one divides.
    let (name, pattern) = body.rsplit_once(':').unwrap_or((body, "*"));
    let glob = |pattern: &str, text: &str| {
        Glob::new(pattern).map_or(true, |glob| glob.compile_matcher().is_match(text))
    };
    glob(name, server) && glob(pattern, tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(deny: &[&str], ask: &[&str]) -> PermissionSettings {
        let own = |rules: &[&str]| rules.iter().map(ToString::to_string).collect();
        PermissionSettings { deny: own(deny), ask: own(ask), ..PermissionSettings::default() }
    }

    fn reason(permissions: &PermissionSettings, auto_approve: bool) -> Result<Reason, Reason> {
        match decide(permissions, "git:hub", "push_all", auto_approve) {
            Decision::Allow(reason) => Ok(reason),
            Decision::Deny { reason, .. } => Err(reason),
        }
    }

    #[test]
    fn without_auto_approval_everything_is_denied_and_says_what_would_allow_it() {
        assert_eq!(reason(&rules(&[], &[]), false), Err(Reason::NoApprover));
        let Decision::Deny { text, .. } = decide(&rules(&[], &[]), "fs", "read", false) else {
            panic!("allowed")
        };
        assert!(text.contains("auto_approve = true"), "{text}");
    }

    #[test]
    fn rules_stand_above_auto_approval() {
        assert_eq!(reason(&rules(&[], &[]), true), Ok(Reason::AutoApprove));
        assert_eq!(reason(&rules(&["mcp(git:hub:push*)"], &[]), true), Err(Reason::Rule));
        assert_eq!(reason(&rules(&[], &["mcp(*:push_all)"]), true), Err(Reason::NoApprover));
        assert_eq!(reason(&rules(&["mcp(other:*)"], &["mcp(git:hub:pull)"]), true), Ok(Reason::AutoApprove));
    }

    #[test]
    fn plan_and_read_only_refuse_first() {
        for mode in [PermissionMode::Plan, PermissionMode::ReadOnly] {
            let permissions = PermissionSettings { mode, ..rules(&[], &[]) };
            assert_eq!(reason(&permissions, true), Err(Reason::Mode));
        }
    }

    #[test]
    fn a_rule_that_cannot_be_read_closes() {
        assert_eq!(reason(&rules(&["mcp(git:hub:[)"], &[]), true), Err(Reason::Rule));
    }
}
