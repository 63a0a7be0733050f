//! Does with the client what each scenario of the public conformance suite wants.
//!
//! The suite starts it with the address of a server, and says in the environment which scenario it
//! runs and in which revision.
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate_mcp::client::auth::{Identity, OAuth, Open};
use toolgate_mcp::client::{
    Abilities, Answers, Asked, Client, Era, Exchange, Host, Listed, News, Refused, Remote, Spec,
    Way,
};
use url::Url;

type Outcome = Result<(), Box<dyn Error>>;

/// Answers forms with what they say stands in them already.
#[derive(Debug)]
struct Agreeable;

#[async_trait]
impl Host for Agreeable {
    fn can(&self) -> Abilities {
        Abilities { forms: true, sampling: true, roots: true }
    }

    fn heard(&self, _news: News) {}

    async fn asked(&self, asked: Asked) -> Result<Value, Refused> {
        let Asked::Elicitation(form) = asked else {
            return Err(Refused::new("nobody is there to ask"));
        };
        let properties = form.get("requestedSchema").and_then(|schema| schema.get("properties"));
        let properties = properties.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut content = Map::new();
        for (name, property) in properties {
            let value = match (property.get("default"), property.get("type")) {
                (Some(default), _) => default.clone(),
                (None, Some(kind)) if kind == "boolean" => json!(true),
                _ => continue,
            };
            content.insert(name, value);
        }
        Ok(json!({"action": "accept", "content": content}))
    }
}

#[async_trait]
impl Answers for Agreeable {
    async fn answer_all(&self, asked: Vec<(String, Asked)>) -> Vec<Result<Value, Refused>> {
        let mut answers = Vec::new();
        for (_, asked) in asked {
            answers.push(self.asked(asked).await);
        }
        answers
    }
}

#[tokio::main]
async fn main() -> Outcome {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let url = Url::parse(&std::env::args().next_back().unwrap_or_default())?;
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    let context: Value =
        serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let era = match variable("MCP_CONFORMANCE_PROTOCOL_VERSION").as_str() {
        "2026-07-28" => Era::Modern,
        _ => Era::Legacy,
    };
    let folder = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    let mut remote = Remote::new(url.clone());
    if scenario.starts_with("auth/") {
        let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
        let identity = Identity {
            client_id: text("client_id"),
            client_secret: text("client_secret"),
            metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
            scopes: Vec::new(),
        };
        let tokens = OAuth::new("conformance", &url, &folder, identity).interactive(browser());
        remote.auth = Some(Arc::new(tokens));
    }
    let mut spec = Spec::new("conformance", Way::Http(remote));
    spec.start = Duration::from_secs(25);
    let outcome = play(&spec, era, &scenario, &context).await;
    std::fs::remove_dir_all(&folder).ok();
    outcome
}

async fn play(spec: &Spec, era: Era, scenario: &str, context: &Value) -> Outcome {
    let client = Client::connect(spec, Some(era), Arc::new(Agreeable)).await?;
    let tools = client.list(Listed::Tools).await?;
    let schema = tools.first().map(|tool| tool["inputSchema"].clone()).unwrap_or_default();
    let calls: Vec<(String, Value)> = match context.get("toolCalls").and_then(Value::as_array) {
        Some(calls) => calls
            .iter()
            .filter_map(|call| {
                Some((call.get("name")?.as_str()?.to_owned(), call["arguments"].clone()))
            })
            .collect(),
        None => tools
            .iter()
            .filter_map(|tool| {
                Some((tool.get("name")?.as_str()?.to_owned(), arguments(tool, &schema)))
            })
            .collect(),
    };
    if scenario != "json-schema-ref-no-deref" {
        let calling = calls.into_iter().map(|(name, arguments)| call(&client, name, arguments));
        for outcome in futures_util::future::join_all(calling).await {
            outcome?;
        }
    }
    if client.about().has("resources") {
        for resource in client.list(Listed::Resources).await? {
            read(&client, "resources/read", "uri", &resource).await?;
        }
    }
    if client.about().has("prompts") {
        for prompt in client.list(Listed::Prompts).await? {
            read(&client, "prompts/get", "name", &prompt).await?;
        }
    }
    client.close().await;
    Ok(())
}

async fn read(client: &Client, method: &str, name: &str, item: &Value) -> Outcome {
    let mut params = Map::new();
    params.insert(name.to_owned(), item[name].clone());
    client.request(method, params, Exchange::new(Duration::from_secs(20))).await?;
    Ok(())
}

async fn call(client: &Client, name: String, arguments: Value) -> Outcome {
    let mut params = Map::new();
    params.insert("name".to_owned(), json!(name));
    params.insert("arguments".to_owned(), arguments);
    let mut exchange = Exchange::new(Duration::from_secs(20));
    exchange.host = Some(Arc::new(Agreeable));
    client.request("tools/call", params, exchange).await?;
    Ok(())
}

/// Some arguments that fit a tool.
fn arguments(tool: &Value, schema: &Value) -> Value {
    let properties = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let mut arguments = Map::new();
    for (name, property) in properties {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("string") => json!("text"),
            // A scenario wants to see what became of the schema of another tool.
            Some("object") if name == "schema" => schema.clone(),
            _ => continue,
        };
        arguments.insert(name, value);
    }
    Value::Object(arguments)
}

/// A browser whose person always agrees.
fn browser() -> Open {
    Arc::new(|url: &Url| {
        let url = url.clone();
        tokio::spawn(async move { reqwest::get(url).await.map(drop) });
    })
}
