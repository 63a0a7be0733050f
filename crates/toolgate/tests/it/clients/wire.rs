//! The protocols between clients and their models.

use serde_json::{Value, json};

/// The name that every client knows the server by.
pub(super) const SERVER: &str = "toolgate";

/// A provider's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions.
    Completions,
    /// Gemini's contents.
    Contents,
}

/// A tool of the server as a client offers it to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    /// The name on the server.
    pub(super) tool: String,
    /// The name in this protocol.
    name: String,
    namespace: Option<String>,
}

impl Wire {
    /// Returns the protocol that is spoken at a path.
    pub(super) fn at(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/v1/messages") => Some(Self::Messages),
            _ if path.ends_with("/v1/responses") => Some(Self::Responses),
            _ if path.ends_with("/v1/chat/completions") => Some(Self::Completions),
            _ if path.ends_with(":streamGenerateContent") => Some(Self::Contents),
            _ => None,
        }
    }

    /// Returns the tools of the server that a request offers.
    pub(super) fn offered(self, body: &Value) -> Vec<Offered> {
        let tools = items(&body["tools"]);
        match self {
            Self::Messages => tools.filter_map(|tool| prefixed(&tool["name"])).collect(),
            Self::Completions => {
                tools.filter_map(|tool| prefixed(&tool["function"]["name"])).collect()
            }
            Self::Contents => tools
                .flat_map(|tool| items(&tool["functionDeclarations"]))
                .filter_map(|tool| prefixed(&tool["name"]))
                .collect(),
            Self::Responses => tools
                .filter(|tool| tool["type"] == "namespace")
                .filter(|tool| tool["name"].as_str().is_some_and(|name| name.ends_with(SERVER)))
                .flat_map(|space| {
                    let namespace = space["name"].as_str().map(str::to_owned);
                    items(&space["tools"]).filter_map(move |tool| {
                        let name = tool["name"].as_str()?.to_owned();
                        Some(Offered { tool: name.clone(), name, namespace: namespace.clone() })
                    })
                })
                .collect(),
        }
    }

    /// Returns the results of tools that a request contains, oldest first.
    pub(super) fn results(self, body: &Value) -> Vec<&Value> {
        match self {
            Self::Messages => items(&body["messages"])
                .flat_map(|message| items(&message["content"]))
                .filter(|block| block["type"] == "tool_result")
                .collect(),
            Self::Responses => items(&body["input"])
                .filter(|item| item["type"] == "function_call_output")
                .collect(),
            Self::Completions => {
                items(&body["messages"]).filter(|message| message["role"] == "tool").collect()
            }
            Self::Contents => items(&body["contents"])
                .flat_map(|content| items(&content["parts"]))
                .filter(|part| !part["functionResponse"].is_null())
                .collect(),
        }
    }

    /// Returns the events of an answer that calls a tool. `turn` tells answers apart.
    pub(super) fn call(self, turn: usize, tool: &Offered, args: &Value) -> String {
        let id = format!("call_{turn}");
        let text = args.to_string();
        match self {
            Self::Messages => {
                let block = json!({ "type": "tool_use", "id": id, "name": tool.name, "input": {} });
                let delta = json!({ "type": "input_json_delta", "partial_json": text });
                message(turn, &block, &delta, "tool_use")
            }
            Self::Responses => response(
                turn,
                &json!({
                    "type": "function_call", "id": format!("item_{turn}"), "call_id": id,
                    "name": tool.name, "namespace": tool.namespace, "arguments": text,
                    "status": "completed",
                }),
            ),
            Self::Completions => {
                let function = json!({ "name": tool.name, "arguments": text });
                let call =
                    json!({ "index": 0, "id": id, "type": "function", "function": function });
                completion(
                    turn,
                    &json!({ "role": "assistant", "tool_calls": [call] }),
                    "tool_calls",
                )
            }
            Self::Contents => {
                content(&json!({ "functionCall": { "name": tool.name, "args": args } }))
            }
        }
    }

    /// Returns the events of an answer that ends the conversation.
    pub(super) fn say(self, turn: usize, text: &str) -> String {
        match self {
            Self::Messages => {
                let delta = json!({ "type": "text_delta", "text": text });
                message(turn, &json!({ "type": "text", "text": "" }), &delta, "end_turn")
            }
            Self::Responses => {
                let text = json!({ "type": "output_text", "text": text, "annotations": [] });
                response(
                    turn,
                    &json!({
                        "type": "message", "id": format!("item_{turn}"), "role": "assistant",
                        "status": "completed", "content": [text],
                    }),
                )
            }
            Self::Completions => {
                completion(turn, &json!({ "role": "assistant", "content": text }), "stop")
            }
            Self::Contents => content(&json!({ "text": text })),
        }
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A tool whose name begins with the server's: `mcp__toolgate__ls`, `mcp_toolgate_ls`,
/// `toolgate_ls`.
fn prefixed(name: &Value) -> Option<Offered> {
    let name = name.as_str()?;
    let (_, tool) = name.split_once(&format!("{SERVER}_"))?;
    let tool = tool.trim_start_matches('_').to_owned();
    Some(Offered { tool, name: name.to_owned(), namespace: None })
}

fn message(turn: usize, block: &Value, delta: &Value, stop: &str) -> String {
    let head = json!({
        "id": format!("message_{turn}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let ending = json!({ "stop_reason": stop, "stop_sequence": null });
    named_events(&[
        json!({ "type": "message_start", "message": head }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": ending, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ])
}

fn response(turn: usize, item: &Value) -> String {
    let id = format!("response_{turn}");
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    let whole = json!({ "id": id, "output": [item], "usage": usage });
    named_events(&[
        json!({ "type": "response.created", "response": { "id": id } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": whole }),
    ])
}

fn completion(turn: usize, delta: &Value, reason: &str) -> String {
    let chunk = |delta: &Value, reason: Value| {
        json!({
            "id": format!("completion_{turn}"), "object": "chat.completion.chunk", "created": 1,
            "model": "scripted",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        })
    };
    let (whole, end) = (chunk(delta, Value::Null), chunk(&json!({}), json!(reason)));
    format!("data: {whole}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

fn content(part: &Value) -> String {
    let content = json!({ "role": "model", "parts": [part] });
    let whole = json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
    });
    format!("data: {whole}\n\n")
}

/// Events that are named after their type.
fn named_events(events: &[Value]) -> String {
    let event = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    events.iter().map(event).collect()
}
