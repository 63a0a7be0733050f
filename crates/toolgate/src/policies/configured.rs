//! Rules that the user's settings amount to: `[web]`, `[servers]` and `[mcp]` in `config.toml`.

use std::path::Path;
use std::sync::Arc;

use toolgate_policy::name::ToolPattern;
use toolgate_policy::pattern::{Condition, DomainPattern, Operator};
use toolgate_policy::rule::{Origin, Priority, Rule, Tier};
use toolgate_policy::{Decision, Risk};

use crate::config::Config;

/// What a blocked domain counts, as much as `deny` in `[permissions]` of a policy file.
const BLOCKED: u16 = 600;

/// The rules that settings amount to. What they allow gives way to every policy file of the
/// user's; what they block holds against rules that allow more than the one domain.
pub(super) fn rules(config: &Config, file: &Path) -> Vec<Rule> {
    let web = &config.web;
    let source: Arc<str> = file.display().to_string().into();
    let rule = |at: usize, decision: Decision, priority: Priority, name: String| {
        let line = config.line_of(at);
        let origin = Origin { source: Arc::clone(&source), line, tier: Tier::User };
        let fetch = vec![ToolPattern::Exact("web_fetch".to_owned())];
        let mut rule = Rule::about(fetch, decision, priority, origin);
        rule.name = Some(name.into());
        rule
    };
    let mut rules = Vec::new();
    for domain in &web.blocked_domains {
        let name = format!("web blocks {}", domain.get_ref().0);
        let priority = Priority::in_tier(Tier::User, BLOCKED);
        let mut blocked = rule(domain.span().start, Decision::Deny, priority, name);
        blocked.matcher.domains.push(DomainPattern::with_subdomains(&domain.get_ref().0));
        rules.push(blocked);
    }
    for domain in &web.allowed_domains {
        let name = format!("web allows {}", domain.get_ref().0);
        let mut allowed =
            rule(domain.span().start, Decision::Allow, Priority::CONFIGURED_HOST, name);
        allowed.matcher.domains.push(DomainPattern::with_subdomains(&domain.get_ref().0));
        allowed.risk = Some(Risk::Low);
        rules.push(allowed);
    }
    for host in &web.private_hosts {
        let private = &host.get_ref().0;
        let name = format!("web allows {private}");
        let mut allowed = rule(host.span().start, Decision::Allow, Priority::CONFIGURED_HOST, name);
        // Which port is meant is the tool's to check: rules know none.
        allowed.matcher.domains.push(DomainPattern::parse(private.host()));
        rules.push(allowed);
    }
    if let Some(https) = web.auto_approve_https.as_ref().filter(|https| *https.get_ref()) {
        let name = "web allows https".to_owned();
        let mut allowed =
            rule(https.span().start, Decision::Allow, Priority::CONFIGURED_HTTPS, name);
        let operator = Operator::StartsWith("https://".to_owned());
        allowed.matcher.conditions.push(Condition { param: "url".to_owned(), operator });
        rules.push(allowed);
    }
    rules.extend(of_servers(config, &source));
    rules
}

/// What the user's policy files ask about or deny holds for servers that the settings trust, too:
/// such rules count at least as much as what the settings say about a tool.
pub(super) fn heed_restrictions(rules: &mut [Rule]) {
    for rule in rules.iter_mut() {
        let of_servers = rule.tools.iter().any(|tool| matches!(tool, ToolPattern::Server { .. }));
        if rule.decision != Decision::Allow && of_servers && rule.origin.tier == Tier::User {
            rule.priority = rule.priority.max(Priority::SERVER_RESTRICTED);
        }
    }
}

/// What the settings say about servers and their tools.
fn of_servers(config: &Config, source: &Arc<str>) -> Vec<Rule> {
    let rule = |tools: &str, line: usize, decision: Decision, priority: Priority, name: String| {
        let origin = Origin { source: Arc::clone(source), line, tier: Tier::User };
        // What no tool can be called needs no rule.
        let pattern = ToolPattern::parse(tools).ok()?;
        let mut rule = Rule::about(vec![pattern], decision, priority, origin);
        rule.name = Some(name.into());
        Some(rule)
    };
    let mut rules = Vec::new();
    for (server, settings) in &config.servers {
        let line = config.line_of_server(server);
        if settings.trust {
            let name = format!("server {server} is trusted");
            let all = format!("mcp__{server}__*");
            rules.extend(rule(&all, line, Decision::Allow, Priority::SERVER_TRUSTED, name));
        }
        for (tool, decision) in &settings.tools {
            let name = format!("{tool} of server {server}");
            let one = format!("mcp__{server}__{tool}");
            rules.extend(rule(&one, line, *decision, Priority::SERVER_TOOL, name));
        }
    }
    for (servers, decision, priority) in [
        (&config.mcp.allowed, Decision::Allow, Priority::SERVER_ALLOWED),
        (&config.mcp.excluded, Decision::Deny, Priority::SERVER_EXCLUDED),
    ] {
        for server in servers {
            let verb = if decision == Decision::Allow { "allowed" } else { "excluded" };
            let name = format!("server {server} is {verb}");
            rules.extend(rule(&format!("mcp__{server}__*"), 1, decision, priority, name));
        }
    }
    rules
}
