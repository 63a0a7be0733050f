//! Pages that were fetched lately.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::fetched::Fetched;
use super::place::Place;
use super::settings::Limits;

/// What an entry costs besides its content.
const ENTRY_BYTES: usize = 512;

type Pages = moka::future::Cache<String, Arc<Fetched>>;

/// Pages that were fetched lately, within a number of bytes. Made when it is first needed.
pub(super) struct Cache {
    pages: OnceLock<Pages>,
    time: Duration,
    bytes: u64,
}

impl Cache {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { pages: OnceLock::new(), time: limits.cache_time, bytes: limits.cache_bytes }
    }

    pub(super) async fn get(&self, place: &Place) -> Option<Arc<Fetched>> {
        self.pages().get(place.as_str()).await
    }

    pub(super) async fn put(&self, place: &Place, page: Arc<Fetched>) {
        self.pages().insert(place.as_str().to_owned(), page).await;
    }

    fn pages(&self) -> &Pages {
        self.pages.get_or_init(|| {
            let weigh = |key: &String, page: &Arc<Fetched>| {
                let bytes = key.len() + page.body.len() + page.content_type.len() + ENTRY_BYTES;
                u32::try_from(bytes).unwrap_or(u32::MAX)
            };
            Pages::builder().max_capacity(self.bytes).weigher(weigh).time_to_live(self.time).build()
        })
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cache").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
