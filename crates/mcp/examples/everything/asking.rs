//! Tools that ask their client for something.

use rmcp::model::InputRequest;
use serde_json::{Value, json};
use toolgate_core::result::ToolResult;

use super::made_up::MadeUp;
use super::{caller, failed};

/// Every tool here.
pub(super) fn tools() -> Vec<MadeUp> {
    let people = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    vec![
        asks("test_sampling", "answer", |args| {
            sample(args["prompt"].as_str().unwrap_or_default(), 100)
        })
        .taking(text_argument("prompt")),
        asks("test_elicitation", "answer", move |args| {
            form(args["message"].as_str().unwrap_or_default(), &people, &["username", "email"])
        })
        .taking(text_argument("message")),
        asks("test_elicitation_sep1034_defaults", "answer", |_| form("Defaults", &defaults(), &[])),
        asks("test_elicitation_sep1330_enums", "answer", |_| form("Choices", &choices(), &[])),
        asks("test_streaming_elicitation", "user_name", |_| name_form()),
        asks("test_missing_capability", "answer", |_| sample("Hello", 10)),
        asks("test_input_required_result_elicitation", "user_name", |_| name_form()),
        asks("test_input_required_result_sampling", "capital_question", |_| {
            sample("What is the capital of France?", 100)
        }),
        asks("test_input_required_result_list_roots", "client_roots", |_| roots()),
        asks("test_input_required_result_request_state", "confirm", |_| confirm_form()),
        asks("test_input_required_result_tampered_state", "confirm", |_| confirm_form()),
        MadeUp::new("test_input_required_result_multiple_inputs", |_, context| async move {
            let wanted = vec![
                ("user_name".to_owned(), name_form()),
                ("greeting".to_owned(), sample("Generate a greeting", 50)),
                ("client_roots".to_owned(), roots()),
            ];
            let given = caller(&context).ask_all(wanted).await.map_err(failed)?;
            Ok(ToolResult::text(format!("{} answers", given.len())))
        }),
        MadeUp::new("test_input_required_result_multi_round", |_, context| async move {
            let caller = caller(&context);
            let name = form(
                "Step 1: What is your name?",
                &json!({ "name": { "type": "string" } }),
                &["name"],
            );
            let name = caller.ask("step1", name).await.map_err(failed)?;
            let colour = form(
                "Step 2: What is your favorite color?",
                &json!({ "color": { "type": "string" } }),
                &["color"],
            );
            let colour = caller.ask("step2", colour).await.map_err(failed)?;
            Ok(ToolResult::text(format!("{name} likes {colour}")))
        }),
        MadeUp::new("test_input_required_result_capabilities", |_, context| async move {
            let caller = caller(&context);
            let wanted = [name_form(), sample("Hello", 10)];
            let able = wanted.into_iter().find(|wanted| caller.can(wanted));
            let given = caller.ask("anything", able.unwrap_or_else(roots)).await.map_err(failed)?;
            Ok(ToolResult::text(given.to_string()))
        }),
    ]
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        values.map(|(value, title)| json!({ "const": value, "title": title })).collect::<Vec<_>>()
    };
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]) },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": {
            "type": "array",
            "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
        },
    })
}

/// A tool that asks its client for something and says what it got.
fn asks(
    name: &str,
    key: &'static str,
    wanted: impl Fn(&Value) -> InputRequest + Send + Sync + 'static,
) -> MadeUp {
    MadeUp::new(name, move |args, context| {
        let wanted = wanted(&args);
        async move {
            let given = caller(&context).ask(key, wanted).await.map_err(failed)?;
            Ok(ToolResult::text(format!("The client gave: {given}; state-ok")))
        }
    })
}

fn text_argument(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

fn request(method: &str, params: &Value) -> InputRequest {
    serde_json::from_value(json!({ "method": method, "params": params })).unwrap()
}

pub(super) fn form(message: &str, properties: &Value, required: &[&str]) -> InputRequest {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    request("elicitation/create", &json!({ "message": message, "requestedSchema": schema }))
}

fn name_form() -> InputRequest {
    form("What is your name?", &json!({ "name": { "type": "string" } }), &["name"])
}

fn confirm_form() -> InputRequest {
    form("Please confirm", &json!({ "ok": { "type": "boolean" } }), &["ok"])
}

fn sample(text: &str, tokens: u32) -> InputRequest {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    request("sampling/createMessage", &json!({ "messages": [message], "maxTokens": tokens }))
}

fn roots() -> InputRequest {
    serde_json::from_value(json!({ "method": "roots/list" })).unwrap()
}
