//! Messages as they come, kept whole.

use serde_json::{Map, Value, json};

use super::error::{ClientError, clipped};

/// The longest message of an error that is kept.
const LONGEST_MESSAGE: usize = 4096;

/// What came from a server.
#[derive(Debug)]
pub(super) enum Incoming {
    /// An answer; without an id when the server could not tell which request it was.
    Answer { id: Option<u64>, outcome: Result<Value, ClientError> },
    /// A question.
    Request { id: Value, method: String, params: Map<String, Value> },
    /// News.
    Notification { method: String, params: Map<String, Value> },
}

impl Incoming {
    /// Takes a message apart; nothing for what is none.
    pub(super) fn parse(message: Value) -> Option<Self> {
        let Value::Object(mut message) = message else { return None };
        let id = message.remove("id").filter(|id| !id.is_null());
        if let Some(Value::String(method)) = message.remove("method") {
            let params = match message.remove("params") {
                Some(Value::Object(params)) => params,
                _ => Map::new(),
            };
            return Some(match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            });
        }
        let known = id.as_ref().and_then(number);
        if known.is_none() && id.is_some() {
            return None;
        }
        if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
            return Some(Self::Answer { id: known, outcome: Err(server_error(error)) });
        }
        let result = message.remove("result")?;
        let outcome = if result.is_object() {
            Ok(result)
        } else {
            Err(ClientError::Malformed { why: "its result is no object".to_owned() })
        };
        Some(Self::Answer { id: Some(known?), outcome })
    }
}

/// What a message says went wrong, if it is an answer that does.
pub(super) fn error_of(mut message: Value) -> Option<ClientError> {
    let error = message.as_object_mut()?.remove("error")?;
    // Other things than MCP have errors, too.
    error.get("code")?.as_i64()?;
    Some(server_error(error))
}

/// An id of ours; some servers answer with it as text.
pub(super) fn number(id: &Value) -> Option<u64> {
    match id {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            // Languages with one kind of number write `1.0`.
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            format!("{float:.0}").parse().ok()
        }),
        _ => None,
    }
}

fn server_error(error: Value) -> ClientError {
    let Value::Object(mut error) = error else {
        let message = clipped(&error.to_string(), LONGEST_MESSAGE);
        return ClientError::Server { code: -32603, message, data: None };
    };
    let message = match error.remove("message") {
        Some(Value::String(message)) => message,
        other => other.map_or_else(|| "no reason given".to_owned(), |other| other.to_string()),
    };
    let message = clipped(&toolgate_core::visible::text(&message), LONGEST_MESSAGE);
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(-32603);
    ClientError::Server { code, message, data: error.remove("data") }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: Map<String, Value>) -> Value {
    let params = Value::Object(params);
    let mut message = notification(method, Some(params));
    if let Value::Object(message) = &mut message {
        message.insert("id".to_owned(), json!(id));
    }
    message
}

/// A notification of ours.
pub(super) fn notification(method: &str, params: Option<Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(params), Value::Object(message)) = (params, &mut message) {
        message.insert("params".to_owned(), params);
    }
    message
}

/// An answer of ours.
pub(super) fn answer(id: &Value, outcome: Result<Value, super::host::Refused>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(refused) => {
            let error = json!({"code": refused.code, "message": refused.message});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}

/// Which of our requests a message answers, found in its first and its last bytes: for one that
/// cannot be read as a whole.
pub(super) fn guess_id(head: &[u8], tail: &[u8]) -> Option<u64> {
    let before_content = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let end = text.find("\"result\"").or_else(|| text.find("\"error\""))?;
        after_name(text.get(..end)?)
    };
    before_content(head).or_else(|| {
        let text = String::from_utf8_lossy(tail).into_owned();
        let text = text.trim_end().strip_suffix('}')?;
        // What stands behind the last brace is a member of the message itself.
        after_name(text.rsplit('}').next()?)
    })
}

/// The number behind `"id":`.
fn after_name(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().trim_start_matches('"');
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever comes, it is a message or it is not.
        #[test]
        fn nothing_that_comes_is_fatal(head in any::<Vec<u8>>(), tail in any::<Vec<u8>>()) {
            guess_id(&head, &tail);
            if let Ok(message) = serde_json::from_slice::<Value>(&head) {
                Incoming::parse(message);
            }
        }

        /// An answer finds its request, wherever a server writes the id.
        #[test]
        fn an_id_is_found_at_either_end(id in any::<u64>(), text in "[a-z{}\"]{0,40}") {
            let text = json!(text);
            let before = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":{text}}}}}"#);
            prop_assert_eq!(guess_id(before.as_bytes(), before.as_bytes()), Some(id));
            let behind = format!(r#"{{"result":{{"a":{text}}},"jsonrpc":"2.0","id":{id}}}"#);
            prop_assert_eq!(guess_id(behind.as_bytes(), behind.as_bytes()), Some(id));
        }
    }

    #[test]
    fn finds_the_id_before_and_behind_the_content() {
        let head = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"id":9"#;
        assert_eq!(guess_id(head, b"aaaa"), Some(7));
        let head = br#"{"result":{"content":[{"id":9"#;
        assert_eq!(guess_id(head, br#"aa"}]},"jsonrpc":"2.0","id":"12"}"#), Some(12));
        assert_eq!(guess_id(b"aaaa", b"aaaa"), None);
        assert_eq!(guess_id(head, br#"{"id":9}]}}"#), None);
    }

    #[test]
    fn answers_with_odd_ids_are_understood() {
        for id in ["5", "\"5\"", "5.0"] {
            let message = format!(r#"{{"id":{id},"result":{{}}}}"#);
            let parsed = Incoming::parse(serde_json::from_str(&message).unwrap());
            assert!(matches!(parsed, Some(Incoming::Answer { id: Some(5), outcome: Ok(_) })));
        }
        let parsed = Incoming::parse(json!({"id": null, "error": {"message": "x"}}));
        assert!(matches!(parsed, Some(Incoming::Answer { id: None, outcome: Err(_) })));
    }
}
