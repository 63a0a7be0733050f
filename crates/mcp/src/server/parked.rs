//! Requests that wait for their client to call again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    ErrorData, InputRequest, InputRequiredResult, InputResponses, RequestStateCodec,
    RequestStateError, SealOptions,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::link::{Question, Wanted};
use super::ongoing::Ongoing;
use super::sessions::Principal;

/// How many calls wait at once; of more, the oldest are cancelled.
const MOST: usize = 128;
/// How long a call that waits is ended before it is left alone.
const GRACE: Duration = Duration::from_secs(2);

/// Calls that wait for their client to call again.
///
/// What a client brings along is sealed with a key that only this process has. It says which call
/// waits, and is good for one time, for some time, for the same call, and for the same caller.
#[derive(Debug)]
pub(super) struct Parked {
    codec: RequestStateCodec,
    lasts: Duration,
    calls: Mutex<HashMap<Uuid, Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    call: Ongoing,
    asked: Vec<Question>,
    since: Instant,
}

/// What a state is bound to: who calls, and what.
#[derive(Debug, Clone)]
pub(super) struct Binding(Vec<u8>);

impl Binding {
    /// Binds to a request by somebody, which names something.
    pub(super) fn new(
        principal: &Principal,
        method: &str,
        name: &str,
        args: &Value,
    ) -> Result<Self, ErrorData> {
        let request = json!([principal.0, method, name, args]);
        serde_json_canonicalizer::to_vec(&request)
            .map(Self)
            .map_err(|error| ErrorData::invalid_params(format!("arguments: {error}"), None))
    }
}

impl Parked {
    /// Keeps calls for so long.
    pub(super) fn new(lasts: Duration) -> Self {
        // Random enough: each has 122 bits from the system.
        let key = [Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
        Self { codec: RequestStateCodec::new_unchecked(key), lasts, calls: Mutex::default() }
    }

    /// Parks a call; what its client is told.
    pub(super) fn park(
        &self,
        call: Ongoing,
        asked: Vec<Question>,
        binding: &Binding,
    ) -> InputRequiredResult {
        let ticket = Uuid::new_v4();
        let options = SealOptions::new().associated_data(&binding.0).ttl(self.lasts);
        let state = self.codec.seal_with(ticket.as_bytes(), &options);
        let requests = asked.iter().map(|question| {
            let Wanted { name, request } = question.wanted.clone();
            (name, request)
        });
        let told = InputRequiredResult::new(Some(requests.collect()), Some(state));
        let now = Instant::now();
        let mut calls = self.lock();
        calls.retain(|_, waiting| now.duration_since(waiting.since) < self.lasts);
        if calls.len() >= MOST
            && let Some(oldest) = calls.iter().min_by_key(|(_, waiting)| waiting.since)
        {
            let oldest = *oldest.0;
            calls.remove(&oldest);
        }
        calls.insert(ticket, Waiting { call, asked, since: now });
        told
    }

    /// Takes a call up again with what its client brings; the call, and what is still unanswered.
    pub(super) fn resume(
        &self,
        state: &str,
        binding: &Binding,
        mut answers: InputResponses,
    ) -> Result<(Ongoing, Vec<Question>), ErrorData> {
        let opened = self.codec.open_with(state, &binding.0).map_err(|error| refused(&error))?;
        let ticket = Uuid::from_slice(&opened).map_err(|_| used())?;
        let Waiting { call, asked, .. } = self.lock().remove(&ticket).ok_or_else(used)?;
        let mut open = Vec::new();
        for question in asked {
            let Wanted { name, request } = &question.wanted;
            let answer = answers.remove(name).filter(|answer| fits(answer, request));
            match answer {
                // Nobody may wait for it any more: then it was answered elsewhere.
                Some(answer) => drop(question.reply.send(answer)),
                None if question.reply.is_closed() => {}
                None => open.push(question),
            }
        }
        Ok((call, open))
    }

    /// Ends whatever waits.
    pub(super) async fn end(&self) {
        let calls: Vec<_> = self.lock().drain().map(|(_, waiting)| waiting.call).collect();
        let ending = futures_util::future::join_all(calls.into_iter().map(Ongoing::end));
        // What does not end is closed as interrupted when the store is next opened.
        tokio::time::timeout(GRACE, ending).await.ok();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Waiting>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an answer is one to such a request at all.
fn fits(answer: &Value, request: &InputRequest) -> bool {
    let has = |name: &str, is: fn(&Value) -> bool| answer.get(name).is_some_and(is);
    match request {
        InputRequest::Elicitation(_) => {
            let action = answer.get("action").and_then(Value::as_str);
            matches!(action, Some("accept" | "decline" | "cancel"))
        }
        InputRequest::CreateMessage(_) => {
            has("role", Value::is_string) && has("content", |content| !content.is_null())
        }
        InputRequest::ListRoots(_) => has("roots", Value::is_array),
        _ => false,
    }
}

fn refused(error: &RequestStateError) -> ErrorData {
    let message = match error {
        RequestStateError::Expired => {
            "`requestState` has expired, and the call was given up; call again without it"
        }
        _ => "`requestState` is not one this server gave for this call; call again without it",
    };
    ErrorData::invalid_params(message, None)
}

fn used() -> ErrorData {
    ErrorData::invalid_params(
        "`requestState` was used before, or the call was given up; call again without it",
        None,
    )
}
