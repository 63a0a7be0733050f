//! Both eras of the protocol on both sides of the gate.

use serde_json::{Value, json};

use crate::gateway::{configured, server};
use crate::mcp_client::Client;

/// A client of one era in front of a server of one.
struct Bridge {
    client: Client,
    modern: bool,
}

impl Bridge {
    fn new(client_is_modern: bool, server_is_modern: bool) -> Self {
        let era = if server_is_modern { "--modern" } else { "--legacy" };
        let toolgate = configured(&server("all", "everything", &[era], "trust = true"));
        let mut client = Client::start(&toolgate, &[]);
        if !client_is_modern {
            client.initialize("2025-11-25", &capabilities());
        }
        // The folder has to stay.
        std::mem::forget(toolgate);
        Self { client, modern: client_is_modern }
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": capabilities(),
            });
        }
        self.client.ask(method, &params)
    }
}

fn capabilities() -> Value {
    json!({ "elicitation": { "form": {} }, "sampling": {} })
}

/// Every client with every server.
fn bridges() -> impl Iterator<Item = (String, Bridge)> {
    [(false, false), (false, true), (true, false), (true, true)].into_iter().map(
        |(client, server)| {
            let era = |modern: bool| if modern { "modern" } else { "legacy" };
            (format!("{} client, {} server", era(client), era(server)), Bridge::new(client, server))
        },
    )
}

#[test]
fn tools_resources_and_prompts_pass_in_every_combination() {
    for (which, mut bridge) in bridges() {
        let tools = bridge.ask("tools/list", json!({}));
        let listed =
            tools["result"]["tools"].as_array().unwrap_or_else(|| panic!("{which}: {tools}"));
        let of_it =
            listed.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("mcp__all__"));
        assert!(of_it.count() > 3, "{which}: {tools}");
        let resources = bridge.ask("resources/list", json!({}));
        let first = resources["result"]["resources"][0]["uri"].clone();
        assert!(first.is_string(), "{which}: {resources}");
        let read = bridge.ask("resources/read", json!({ "uri": first }));
        assert!(read["result"]["contents"][0]["uri"].is_string(), "{which}: {read}");
        let prompts = bridge.ask("prompts/list", json!({}));
        let prompt = prompts["result"]["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .find(|prompt| prompt["arguments"].as_array().is_none_or(Vec::is_empty));
        let name = prompt.unwrap_or_else(|| panic!("{which}: {prompts}"))["name"].clone();
        assert!(name.as_str().unwrap().starts_with("mcp__all__"), "{which}");
        let got = bridge.ask("prompts/get", json!({ "name": name }));
        assert!(got["result"]["messages"][0].is_object(), "{which}: {got}");
        let missing = bridge.ask("resources/read", json!({ "uri": "nothing://here" }));
        assert!(missing["error"]["code"].is_number(), "{which}: {missing}");
    }
}
