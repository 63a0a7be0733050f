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

/// A server that asks during a call, behind the gate of a client that calls again.
#[test]
fn a_question_reaches_a_client_without_a_handshake_from_a_server_of_either_era() {
    for ways in [&["asks"][..], &["asks", "modern"]] {
        let toolgate = configured(&server("other", "hostile", ways, "trust = true"));
        let mut bridge = Bridge { client: Client::start(&toolgate, &[]), modern: true };
        let call = json!({ "name": "mcp__other__echo", "arguments": {} });
        let asked = bridge.ask("tools/call", call.clone())["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{ways:?}: {asked}");
        let questions = asked["inputRequests"].as_object().unwrap();
        let (name, question) = questions.iter().next().unwrap();
        assert_eq!(question["params"]["message"], "The server `other` asks: Sure?", "{ways:?}");
        let mut again = call;
        again["requestState"] = asked["requestState"].clone();
        let answer = json!({ "action": "accept", "content": { "sure": true } });
        again["inputResponses"] = json!({ name.as_str(): answer });
        let answered = bridge.ask("tools/call", again)["result"].clone();
        assert_eq!(answered["isError"], false, "{ways:?}: {answered}");
        assert!(answered["content"].to_string().contains("sure"), "{ways:?}: {answered}");
    }
}

#[test]
fn a_question_of_a_server_without_a_handshake_reaches_a_client_with_one() {
    let toolgate = configured(&server("other", "hostile", &["asks", "modern"], "trust = true"));
    let mut client = Client::connect_as(&toolgate, &[], &capabilities());
    let call = json!({ "name": "mcp__other__echo", "arguments": {} });
    let id = client.request("tools/call", &call);
    let question = client.next_of("elicitation/create");
    let accept = json!({ "action": "accept", "content": { "sure": true } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept }));
    let answered = client.answer(id)["result"].clone();
    assert_eq!(answered["isError"], false, "{answered}");
    assert!(answered["content"].to_string().contains("the answers were"), "{answered}");
}
