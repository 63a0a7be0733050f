//! Forms that a client shows to a person, here to a program in a person's place.

use serde_json::{Value, json};

use super::checks::approvers;
use super::model::Script;
use super::scene::Scene;
use crate::mcp_approvals::read_the_question;
use crate::mcp_client;

/// A client that another program drives, as editors do.
pub(super) struct Driven {
    pub(super) messages: mcp_client::Client,
    /// Finds the next form; its id and what it says.
    pub(super) form: fn(&mut mcp_client::Client) -> (Value, String),
    /// Puts an answer to a form into a message.
    pub(super) answer: fn(&Value, &Value) -> Value,
    /// Waits for the end of the conversation.
    pub(super) end: fn(&mut mcp_client::Client),
}

/// Checks that the answers of a person count, both yes and no.
pub(super) fn count(drive: fn(&Scene) -> Driven) {
    let edit = |replacement: &str| {
        let edit = json!({ "target": "old", "replacement": replacement });
        ("edit_file", json!({ "path": "a.txt", "edits": [edit] }))
    };
    let script: Script =
        vec![("read_file", json!({ "path": "a.txt" })), edit("refused"), edit("new")];
    let Some(scene) = Scene::new(script) else { return };
    scene.toolgate.write("a.txt", "old\n");
    let mut driven = drive(&scene);

    let (id, question) = (driven.form)(&mut driven.messages);
    assert!(question.starts_with("May this run? Edit a.txt"), "{question}");
    assert!(question.contains("│ +refused"), "{question}");
    read_the_question();
    driven.messages.send(&(driven.answer)(&id, &json!({ "action": "decline" })));
    let (id, question) = (driven.form)(&mut driven.messages);
    assert!(question.contains("│ +new"), "{question}");
    let once = json!({ "action": "accept", "content": { "decision": "once" } });
    driven.messages.send(&(driven.answer)(&id, &once));
    (driven.end)(&mut driven.messages);

    let refused = scene.model.request_after(2).result(1);
    assert!(refused.contains("Error (ApprovalDenied)"), "{refused}");
    assert_eq!(scene.toolgate.read("a.txt").unwrap(), "new\n");
    assert_eq!(approvers(&scene.toolgate), ["an MCP client", "an MCP client"]);
}
