//! What a server says by itself.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::host::News;

/// Log messages that are passed on in a second, at most.
const LOGS_A_SECOND: u32 = 100;

/// What became of a notification.
#[derive(Debug)]
pub(super) enum Heard {
    /// News for the host.
    News(News),
    /// It makes no sense.
    Nonsense(&'static str),
    /// It is not known, or there were too many.
    Nothing,
}

/// Counts log messages, so that they do not drown everything else.
#[derive(Debug, Default)]
pub(super) struct Logs {
    /// When the second began, and how many there were since.
    counted: Mutex<Option<(Instant, u32)>>,
}

impl Logs {
    /// What a notification says.
    pub(super) fn news(&self, method: &str, params: &Map<String, Value>) -> Heard {
        let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
        Heard::News(match method {
            "notifications/tools/list_changed" => News::ToolsChanged,
            "notifications/resources/list_changed" => News::ResourcesChanged,
            "notifications/prompts/list_changed" => News::PromptsChanged,
            "notifications/resources/updated" => match text("uri") {
                Some(uri) => News::ResourceUpdated(uri),
                None => return Heard::Nonsense("an update of a resource without a name"),
            },
            "notifications/message" if self.has_room() => News::Log {
                level: text("level").unwrap_or_else(|| "info".to_owned()),
                logger: text("logger"),
                data: params.get("data").cloned().unwrap_or_default(),
            },
            _ => return Heard::Nothing,
        })
    }

    fn has_room(&self) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, count) = counted.get_or_insert_with(|| (Instant::now(), 0));
        if begun.elapsed() >= Duration::from_secs(1) {
            (*begun, *count) = (Instant::now(), 0);
        }
        *count = count.saturating_add(1);
        *count <= LOGS_A_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_passed_on_up_to_a_limit() {
        let logs = Logs::default();
        let heard = (0..1000)
            .filter(|_| matches!(logs.news("notifications/message", &Map::new()), Heard::News(_)));
        // Another second may begin meanwhile.
        assert!((100..=300).contains(&heard.count()));
        let changed = logs.news("notifications/tools/list_changed", &Map::new());
        assert!(matches!(changed, Heard::News(News::ToolsChanged)));
    }
}
