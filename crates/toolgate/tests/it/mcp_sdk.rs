//! `toolgate mcp` and a client that is not ours, over both transports and in both eras.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use crate::harness::Toolgate;
use crate::mcp_http::Served;
use crate::workshop::RUNTIME;

/// The time a person takes to read a question, after which a refusal counts.
const READING: Duration = Duration::from_millis(1_100);

/// A client whose person always says the same.
struct Person {
    says: &'static str,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        assert!(message.starts_with("May this run?"), "{message}");
        if self.says == "deny" {
            tokio::time::sleep(READING).await;
        }
        let content = json!({ "decision": self.says });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

type Client = RunningService<RoleClient, Person>;

fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

async fn over_streams(toolgate: &Toolgate, says: &'static str, era: ClientLifecycleMode) -> Client {
    let mut command = toolgate.command();
    command.arg("mcp");
    let process = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
    Person { says }.serve_with_lifecycle(process, era).await.unwrap()
}

async fn over_http(served: &Served, says: &'static str, era: ClientLifecycleMode) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(served.url());
    Person { says }.serve_with_lifecycle(transport, era).await.unwrap()
}

async fn call(client: &Client, tool: &str, args: Value) -> CallToolResult {
    let args = args.as_object().unwrap().clone();
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
    client.call_tool(params).await.unwrap()
}

/// Everything a client usually does.
async fn usual_work(toolgate: &Toolgate, client: Client, file: &str) {
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "read_file"));
    toolgate.write("a.txt", "hello\n");
    let read = call(&client, "read_file", json!({ "path": "a.txt" })).await;
    assert_eq!(read.content[0].as_text().unwrap().text, "hello\n");
    let wrong = call(&client, "read_file", json!({ "path": 7 })).await;
    assert_eq!(wrong.is_error, Some(true));
    let unknown = client.call_tool(CallToolRequestParams::new("no_such_tool")).await;
    assert!(unknown.unwrap_err().to_string().contains("there is no tool"), "a protocol error");
    let written = call(&client, "write_file", json!({ "path": file, "content": "x" })).await;
    assert_eq!(written.is_error, Some(false), "{written:?}");
    assert_eq!(toolgate.read(file).unwrap(), "x");
    client.cancel().await.unwrap();
}

#[test]
fn over_streams_in_both_eras() {
    RUNTIME.block_on(async {
        let toolgate = Toolgate::new();
        for (era, file) in [(legacy(), "l.txt"), (modern(), "m.txt"), (either(), "e.txt")] {
            usual_work(&toolgate, over_streams(&toolgate, "once", era).await, file).await;
        }
    });
}

#[test]
fn over_http_in_both_eras() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &[]);
    RUNTIME.block_on(async {
        for (era, file) in [(legacy(), "l.txt"), (modern(), "m.txt"), (either(), "e.txt")] {
            usual_work(&toolgate, over_http(&served, "once", era).await, file).await;
        }
    });
}

#[test]
fn a_no_of_the_person_is_a_no() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &[]);
    RUNTIME.block_on(async {
        for client in [
            over_streams(&toolgate, "deny", legacy()).await,
            over_streams(&toolgate, "deny", modern()).await,
            over_http(&served, "deny", legacy()).await,
            over_http(&served, "deny", modern()).await,
        ] {
            let write = json!({ "path": "a.txt", "content": "x" });
            let refused = call(&client, "write_file", write).await;
            assert_eq!(refused.is_error, Some(true));
            client.cancel().await.unwrap();
        }
    });
    assert!(!toolgate.path("a.txt").exists());
}
