//! A server that asks nowhere but through its client, and clients that nobody sits in front of.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate::core::context::Session;
use toolgate::core::dialect::Dialect;
use toolgate::core::gate::Gate;
use toolgate::core::workspace::Workspace;
use toolgate_mcp::server::{Elicitation, Eras, Patience, Server, ServerSettings, Sessions, Trust};

use crate::workshop::RUNTIME;

/// A client that answers every form in one way, after some time.
struct Answers {
    action: ElicitationAction,
    after: Duration,
}

impl ClientHandler for Answers {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tokio::time::sleep(self.after).await;
        Ok(ElicitResult::new(self.action.clone()))
    }
}

fn eras() -> [ClientLifecycleMode; 2] {
    let modern =
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [ClientLifecycleMode::Initialize, modern]
}

/// Writes a file through a gate that asks nobody but the client.
async fn write(action: ElicitationAction, after: Duration, era: ClientLifecycleMode) -> String {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let elicitation = Elicitation::new(Trust::Trust);
    let gate = Gate::builder(Arc::new(toolgate::tools::registry().unwrap()))
        .approver(elicitation.clone())
        .build();
    let settings = ServerSettings {
        offers: None,
        eras: Eras::Both,
        version: "1".to_owned(),
        workspace: "/".to_owned(),
        dialect: Dialect::Native,
        hidden: Vec::new(),
        patience: Patience::default(),
    };
    let sessions = Sessions::one(Arc::new(Session::new(workspace)));
    let server = Server::new(gate, sessions, &elicitation, settings);
    let ((reader, writer), theirs) = {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        (tokio::io::split(ours), theirs)
    };
    let stop = CancellationToken::new();
    let serving = tokio::spawn({
        let stop = stop.clone();
        async move { server.serve_streams(reader, writer, &stop).await }
    });
    let client = Answers { action, after }
        .serve_with_lifecycle(tokio::io::split(theirs), era)
        .await
        .unwrap();
    let args = json!({ "path": "a.txt", "content": "x" });
    let params =
        CallToolRequestParams::new("write_file").with_arguments(args.as_object().unwrap().clone());
    let CallToolResult { content, .. } = client.call_tool(params).await.unwrap();
    client.cancel().await.unwrap();
    stop.cancel();
    serving.await.unwrap().unwrap();
    assert!(!folder.path().join("a.txt").exists());
    let texts = content.iter().filter_map(|block| block.as_text());
    texts.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn where_nobody_else_can_answer_it_is_said_at_once_how_to_allow_it() {
    RUNTIME.block_on(async {
        for era in eras() {
            for action in [ElicitationAction::Cancel, ElicitationAction::Decline] {
                let told = write(action, Duration::ZERO, era.clone()).await;
                assert!(told.starts_with("Error (ApprovalRequired)"), "{told}");
                assert!(told.contains("`toolgate policy allow 'Edit(a.txt)'`"), "{told}");
            }
        }
    });
}

#[test]
fn a_refusal_that_a_person_had_time_for_refuses() {
    RUNTIME.block_on(async {
        for era in eras() {
            let slowly = Duration::from_millis(1_100);
            let told = write(ElicitationAction::Decline, slowly, era).await;
            assert!(told.starts_with("Error (ApprovalDenied)"), "{told}");
        }
    });
}
