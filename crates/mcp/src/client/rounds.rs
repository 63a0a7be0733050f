//! Requests to servers without a handshake, which ask by answering and are asked again.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::about::Era;
use super::error::ClientError;
use super::exchange::Exchange;
use super::host::{Asked, Refused};
use super::inbox::Purpose;
use super::peer::Peer;

/// How often a server may ask before it answers.
const ROUNDS: u32 = 16;
/// How long to wait before a server that asks for nothing but another try gets one, each time.
const PAUSE: Duration = Duration::from_millis(200);

/// Makes a request, and answers what the server wants to know first.
pub(super) async fn request(
    peer: &Peer,
    method: &str,
    mut params: Map<String, Value>,
    exchange: &Exchange,
) -> Result<Value, ClientError> {
    let mut left = exchange.most;
    for round in 0..ROUNDS {
        let once = Exchange { most: left, ..exchange.clone() };
        let begun = Instant::now();
        let kind = (Era::Modern, Purpose::Work);
        let mut result = peer.request(method, params.clone(), &once, kind).await?;
        if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
            return Ok(result);
        }
        left = left.saturating_sub(begun.elapsed());
        let wanted = match result.get_mut("inputRequests").map(Value::take) {
            Some(Value::Object(wanted)) => wanted,
            _ => Map::new(),
        };
        let answers = tokio::select! {
            answers = answers(peer, wanted, exchange) => answers?,
            () = exchange.stop.cancelled() => return Err(ClientError::Cancelled),
        };
        if answers.is_empty() {
            sleep(PAUSE.saturating_mul(round + 1)).await;
        }
        params.insert("inputResponses".to_owned(), Value::Object(answers));
        match result.get_mut("requestState").map(Value::take) {
            Some(state) => params.insert("requestState".to_owned(), state),
            None => params.remove("requestState"),
        };
    }
    let why = format!("it asked {ROUNDS} times and never answered");
    Err(ClientError::Malformed { why })
}

/// Has everything answered that a server wants to know.
async fn answers(
    peer: &Peer,
    wanted: Map<String, Value>,
    exchange: &Exchange,
) -> Result<Map<String, Value>, ClientError> {
    let mut asked = Vec::new();
    for (name, request) in wanted {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = match request.get("params") {
            Some(Value::Object(params)) => params.clone(),
            _ => Map::new(),
        };
        let known = Asked::parse(&method, params).filter(|asked| peer.inbox.can.cover(asked));
        let Some(known) = known else {
            return Err(unanswered(&method, &Refused::not_offered(&method)));
        };
        asked.push((name, known));
    }
    let names: Vec<_> = asked.iter().map(|(name, asked)| (name.clone(), asked.method())).collect();
    if names.is_empty() {
        return Ok(Map::new());
    }
    let answers = peer.inbox.answer_all(asked, exchange.host.as_ref()).await;
    let nobody = || Err(Refused::new("nobody answered"));
    let mut answers = answers.into_iter();
    let mut said = Map::new();
    for (name, method) in names {
        match answers.next().unwrap_or_else(nobody) {
            Ok(answer) => said.insert(name, answer),
            // Whoever does not want to answer a form can be understood.
            Err(_) if method == "elicitation/create" => {
                said.insert(name, json!({"action": "cancel"}))
            }
            Err(refused) => return Err(unanswered(method, &refused)),
        };
    }
    Ok(said)
}

fn unanswered(method: &str, refused: &Refused) -> ClientError {
    ClientError::Unanswered { method: method.to_owned(), why: refused.message.clone() }
}
