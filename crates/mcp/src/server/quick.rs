//! Calls, read without trying first what else a message could be.

use rmcp::RoleServer;
use rmcp::model::{CallToolRequest, ClientRequest, JsonRpcVersion2_0, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What a message says about itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    method: &'a str,
    #[serde(rename = "params")]
    _params: IgnoredAny,
}

/// Reads a call of a tool, which most messages are; nothing for whatever else it may be, and for
/// what is wrong with it.
pub(super) fn call(line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
    let Head { id, method, .. } = serde_json::from_slice(line).ok()?;
    if method != "tools/call" {
        return None;
    }
    let request: CallToolRequest = serde_json::from_slice(line).ok()?;
    Some(RxJsonRpcMessage::<RoleServer>::request(ClientRequest::CallToolRequest(request), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowly(line: &str) -> Option<RxJsonRpcMessage<RoleServer>> {
        serde_json::from_str(line).ok()
    }

    #[test]
    fn a_call_is_read_as_it_would_be_anyway() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls"}}"#,
            r#"{"params":{"arguments":{"path":"ä\n"},"name":"ls"},"method":"tools/call","id":"a","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7,"x":1},"name":"ls","arguments":{},"other":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls","requestState":"s","inputResponses":{}}}"#,
        ] {
            let read = call(line.as_bytes());
            assert!(read.is_some(), "{line}");
            assert_eq!(format!("{read:?}"), format!("{:?}", slowly(line)), "{line}");
        }
    }

    #[test]
    fn whatever_else_it_is_is_left_to_others() {
        for line in [
            "",
            "[]",
            "{",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"ls"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ls"}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"ls"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"ls"}}"#,
        ] {
            assert!(call(line.as_bytes()).is_none(), "{line}");
        }
    }
}
