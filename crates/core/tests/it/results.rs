//! Whatever becomes of a call, its result has the same form.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::Answer;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::GateSettings;
use toolgate_core::policy::{Engine, Mode, Risk};
use toolgate_core::result::{Block, Content, ToolResult};

use crate::harness::{Recorder, TOOL_ERRORS, block_on, call, cases, gate, session};
use crate::made_up::MadeUp;

/// A way a call can go, whole.
#[derive(Debug, Clone)]
enum Way {
    Text(String),
    Blocks(Vec<String>),
    Fails(ErrorKind, String),
    Panics(String),
    TakesTooLong,
    Unknown(String),
    Invalid,
    Disabled,
    Denied,
    Refused,
    Nobody,
    Cancelled,
}

fn any_way() -> impl Strategy<Value = Way> {
    prop_oneof![
        ".{0,80}".prop_map(Way::Text),
        prop::collection::vec(".{0,40}", 0..4).prop_map(Way::Blocks),
        (prop::sample::select(TOOL_ERRORS), ".{1,80}")
            .prop_map(|(kind, message)| Way::Fails(kind, message)),
        ".{0,40}".prop_map(Way::Panics),
        Just(Way::TakesTooLong),
        "[a-z]{1,9}X".prop_map(Way::Unknown),
        Just(Way::Invalid),
        Just(Way::Disabled),
        Just(Way::Denied),
        Just(Way::Refused),
        Just(Way::Nobody),
        Just(Way::Cancelled),
    ]
}

impl Way {
    /// The kind of error it ends in.
    fn error(&self) -> Option<ErrorKind> {
        Some(match self {
            Self::Text(_) | Self::Blocks(_) => return None,
            Self::Fails(kind, _) => *kind,
            Self::Panics(_) => ErrorKind::InternalError,
            Self::TakesTooLong => ErrorKind::Timeout,
            Self::Unknown(_) => ErrorKind::ToolNotFound,
            Self::Invalid => ErrorKind::ValidationError,
            Self::Disabled => ErrorKind::ToolDisabled,
            Self::Denied => ErrorKind::PolicyDenied,
            Self::Refused => ErrorKind::ApprovalDenied,
            Self::Nobody => ErrorKind::ApprovalRequired,
            Self::Cancelled => ErrorKind::Cancelled,
        })
    }

    fn tool(&self) -> MadeUp {
        let way = self.clone();
        let tool = MadeUp::new("tool").doing(move |_, _| {
            let way = way.clone();
            async move {
                match way {
                    Way::Blocks(texts) => {
                        let blocks = texts.into_iter().map(|text| Block::Text { text });
                        let mut result = ToolResult::default();
                        result.llm_content = Content::Blocks(blocks.collect());
                        Ok(result)
                    }
                    Way::Fails(kind, message) => Err(ToolError::new(kind, message)),
                    Way::Panics(message) => std::panic::panic_any(message),
                    Way::TakesTooLong => std::future::pending().await,
                    Way::Text(text) => Ok(ToolResult::text(text)),
                    other => unreachable!("{other:?} must not run"),
                }
            }
        });
        match self {
            Self::Denied | Self::Refused | Self::Nobody => tool.risking(Risk::High),
            Self::Disabled => tool.switched_off(),
            _ => tool,
        }
    }

    fn go(&self) -> Outcome {
        let settings = GateSettings {
            timeout: Duration::from_millis(2),
            grace: Duration::from_millis(1),
            ..GateSettings::default()
        };
        let builder = gate([self.tool()]).settings(settings);
        let builder = match self {
            Self::Denied => builder.policy(Engine::in_mode(Mode::Plan)),
            Self::Refused | Self::Nobody => builder.policy(Engine::in_mode(Mode::Default)),
            _ => builder,
        };
        let builder = match self {
            Self::Refused => builder.approver(Recorder::answering(Answer::Deny { note: None })),
            _ => builder,
        };
        let (name, args) = match self {
            Self::Unknown(name) => (name.as_str(), json!({})),
            Self::Invalid => ("tool", json!(7)),
            _ => ("tool", json!({})),
        };
        let cancellation = CancellationToken::new();
        if matches!(self, Self::Cancelled) {
            cancellation.cancel();
        }
        let gate = builder.build();
        block_on(gate.call_cancellable(Call::new(name, args), &session(), &cancellation))
    }
}

proptest! {
    #![proptest_config(cases(400))]

    // Feature: stage-03-tools-policy, Property 49: Tool Result Format
    #[test]
    fn property_49_tool_result_format(way in any_way()) {
        let result = serde_json::to_value(way.go().result).unwrap();
        let content = result.get("llmContent").expect("every result has content for the model");
        prop_assert!(content.is_string() || content.is_array(), "{content}");
        prop_assert!(result.get("returnDisplay").is_some_and(Value::is_string));
        prop_assert!(result.get("duration_ms").is_some_and(Value::is_u64));
    }

    // Feature: stage-03-tools-policy, Property 57: Error Result Format
    #[test]
    fn property_57_error_result_format(way in any_way()) {
        let outcome = way.go();
        prop_assert_eq!(outcome.result.error_kind(), way.error());
        let result = serde_json::to_value(&outcome.result).unwrap();
        let Some(kind) = way.error() else {
            prop_assert!(result.get("error").is_none());
            return Ok(());
        };
        prop_assert_eq!(&result["error"]["type"], &json!(kind.to_string()));
        let message = result["error"]["message"].as_str().expect("every error has a message");
        prop_assert!(!message.is_empty());
        prop_assert_eq!(result["error"].as_object().unwrap().len(), 2);
        let told = result["llmContent"].as_str().unwrap();
        prop_assert!(told.contains(&kind.to_string()), "the model is not told: {told}");
    }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn nothing_a_tool_says_reaches_a_screen_unescaped(text in "[\\PC\\x00-\\x1f\\x7f-\\u{9f}]{0,60}", fails in any::<bool>()) {
        let said = text.clone();
        let tool = MadeUp::new("tool").doing(move |_, _| {
            let said = said.clone();
            async move {
                if fails {
                    return Err(ToolError::new(ErrorKind::FileReadError, said));
                }
                Ok(ToolResult::text(said.clone()).with_display(said))
            }
        });
        let result = block_on(call(&gate([tool]).build(), "tool", json!({}))).result;
        let seen = [
            result.llm_content.as_text(),
            result.return_display,
            result.error.map(|error| error.message).unwrap_or_default(),
        ];
        for shown in seen {
            let shown = shown.replace("\r\n", "\n");
            prop_assert!(!shown.chars().any(|letter| letter.is_control() && !"\n\t".contains(letter)), "{shown:?}");
        }
    }
}

#[test]
fn structured_data_too_large_to_return_is_left_out() {
    let tool = MadeUp::new("tool").doing(|args, _| async move {
        let size = usize::try_from(args["size"].as_u64().unwrap()).unwrap();
        Ok(ToolResult::text("text stays").with_structured(json!({ "data": "x".repeat(size) })))
    });
    let gate = gate([tool]).build();
    let structured = |size: usize| {
        let result = block_on(call(&gate, "tool", json!({ "size": size }))).result;
        assert_eq!(result.llm_content.as_text(), "text stays");
        result.structured.is_some()
    };
    assert!(structured(1_000_000));
    assert!(!structured(2_000_000));
}
