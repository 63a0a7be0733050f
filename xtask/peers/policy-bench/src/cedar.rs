//! The engine of `cedar-policy`.
//!
//! It reads no shell, so a line is read for it, and each command is a request.

use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use cedar_policy::{
    Authorizer, Context, Decision as Answer, Entities, EntityUid, PolicySet, Request,
    RestrictedExpression,
};
use toolgate_policy::Decision;

use crate::engine::{Dialect, Engine, Split};
use crate::workload::{About, Call, Kind, Rule};

pub const CEDAR: Dialect = Dialect { name: "cedar-policy", write, load };

struct Cedar {
    policies: PolicySet,
    authorizer: Authorizer,
    entities: Entities,
    plain: Vec<Split<Request>>,
    shell: Vec<Split<Request>>,
}

fn write(rules: &[Rule]) -> String {
    let policy = |rule: &Rule| {
        let effect = if rule.decision == Decision::Deny { "forbid" } else { "permit" };
        let condition = match &rule.about {
            About::Everything => String::new(),
            About::Folder(folder) => format!(" when {{ context.path like \"{folder}/*\" }}"),
            About::Words(words) => format!(" when {{ context.command like \"{words} *\" }}"),
        };
        let tool = &rule.tool;
        format!("{effect} (principal, action == Action::\"{tool}\", resource){condition};\n")
    };
    rules.iter().map(policy).collect()
}

fn load(text: &str) -> Result<Box<dyn Engine>> {
    Ok(Box::new(Cedar {
        policies: PolicySet::from_str(text)?,
        authorizer: Authorizer::new(),
        entities: Entities::empty(),
        plain: Vec::new(),
        shell: Vec::new(),
    }))
}

impl Engine for Cedar {
    fn prepare(&mut self, kind: Kind, calls: &[Call]) {
        let requests = calls
            .iter()
            .map(|call| Split::new(call, requests(call).expect("calls are well formed")));
        match kind {
            Kind::Plain => self.plain = requests.collect(),
            Kind::Shell => self.shell = requests.collect(),
        }
    }

    fn decide(&mut self, kind: Kind, take: &mut dyn FnMut(Decision)) -> Result<()> {
        let calls = match kind {
            Kind::Plain => &self.plain,
            Kind::Shell => &self.shell,
        };
        for call in calls {
            take(call.strictest(|request| self.ask(request))?);
        }
        Ok(())
    }
}

impl Cedar {
    /// Where no policy has a say, cedar denies for no reason: that is our question.
    fn ask(&self, request: &Request) -> Result<Decision> {
        let response = self.authorizer.is_authorized(request, &self.policies, &self.entities);
        if let Some(error) = response.diagnostics().errors().next() {
            bail!("cedar: {error}");
        }
        Ok(match response.decision() {
            Answer::Allow => Decision::Allow,
            Answer::Deny if response.diagnostics().reason().next().is_none() => Decision::Ask,
            Answer::Deny => Decision::Deny,
        })
    }
}

fn requests(call: &Call) -> Result<Vec<Request>> {
    let text = |text: String| RestrictedExpression::new_string(text);
    if call.line.is_none() {
        let path = call.path.iter().map(|path| ("path".to_owned(), text(path.clone())));
        return Ok(vec![request(&call.tool, path.collect())?]);
    }
    // A blank at the end saves each rule a second comparison.
    let commands = call.commands.iter().map(|command| {
        request(&call.tool, vec![("command".to_owned(), text(format!("{command} ")))])
    });
    commands.collect()
}

fn request(tool: &str, context: Vec<(String, RestrictedExpression)>) -> Result<Request> {
    let id = |text: String| EntityUid::from_str(&text).context("an id");
    Ok(Request::new(
        id("User::\"agent\"".to_owned())?,
        id(format!("Action::\"{tool}\""))?,
        id("Workspace::\"project\"".to_owned())?,
        Context::from_pairs(context)?,
        None,
    )?)
}
