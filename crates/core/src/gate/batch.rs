//! Many calls, in order.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::pipeline::{Begun, Gate};
use crate::call::{Call, Outcome};
use crate::context::Session;
use crate::event::Event;
use crate::tool::Concurrency;

/// In which order the calls of a batch run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// Neighbours that are safe run together; an unsafe call waits for all
    /// before it and holds up all after it.
    #[default]
    Ordered,
    /// All safe calls run together first, then the unsafe ones in order.
    Partitioned,
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "ordered" => Ok(Self::Ordered),
            "partitioned" => Ok(Self::Partitioned),
            other => {
                Err(format!("unknown schedule `{other}`, expected `ordered` or `partitioned`"))
            }
        }
    }
}

impl Gate {
    /// Takes many calls through the gate. `each` gets every outcome, in call
    /// order, as soon as those before it are there.
    pub async fn batch(
        &self,
        calls: Vec<Call>,
        session: &Arc<Session>,
        schedule: Schedule,
        cancellation: &CancellationToken,
        each: impl FnMut(Outcome) + Send,
    ) {
        let total = calls.len();
        self.events().emit(|| Event::ToolCallsBatchStart { calls: total });
        let mut batch = Batch {
            gate: self,
            session,
            cancellation,
            running: FuturesUnordered::new(),
            results: InOrder::new(each),
        };
        match schedule {
            Schedule::Ordered => batch.run_ordered(calls).await,
            Schedule::Partitioned => batch.run_partitioned(calls).await,
        }
        let failed = batch.results.failed;
        self.events().emit(|| Event::ToolCallsBatchEnd { calls: total, failed });
    }
}

struct Batch<'a, F> {
    gate: &'a Gate,
    session: &'a Arc<Session>,
    cancellation: &'a CancellationToken,
    running: FuturesUnordered<BoxFuture<'a, (usize, Outcome)>>,
    results: InOrder<F>,
}

impl<F: FnMut(Outcome)> Batch<'_, F> {
    async fn run_ordered(&mut self, calls: Vec<Call>) {
        for (index, call) in calls.into_iter().enumerate() {
            self.make_room().await;
            let begun = self.begin(call).await;
            match begun.concurrency() {
                Concurrency::Safe => self.start(index, begun),
                Concurrency::Exclusive => {
                    self.wait_for_all().await;
                    self.start(index, begun);
                    self.wait_for_all().await;
                }
            }
        }
        self.wait_for_all().await;
    }

    async fn run_partitioned(&mut self, calls: Vec<Call>) {
        let mut exclusive: Vec<(usize, Later)> = Vec::new();
        for (index, call) in calls.into_iter().enumerate() {
            if self.gate.concurrency_of(&call, self.session) == Concurrency::Exclusive {
                exclusive.push((index, Later::Call(call)));
                continue;
            }
            self.make_room().await;
            let begun = self.begin(call).await;
            // A hook may have turned it into something that must run alone.
            match begun.concurrency() {
                Concurrency::Safe => self.start(index, begun),
                Concurrency::Exclusive => exclusive.push((index, Later::Begun(Box::new(begun)))),
            }
        }
        self.wait_for_all().await;
        for (index, later) in exclusive {
            let begun = match later {
                Later::Call(call) => self.begin(call).await,
                Later::Begun(begun) => *begun,
            };
            self.start(index, begun);
            self.wait_for_all().await;
        }
    }

    async fn begin(&self, call: Call) -> Begun {
        self.gate.begin(call, self.session, self.cancellation).await
    }

    fn start(&mut self, index: usize, begun: Begun) {
        let gate = self.gate;
        self.running.push(Box::pin(async move { (index, gate.complete(begun).await) }));
    }

    async fn make_room(&mut self) {
        while self.running.len() >= self.gate.settings().max_concurrency.max(1) {
            self.wait_for_one().await;
        }
    }

    async fn wait_for_all(&mut self) {
        while !self.running.is_empty() {
            self.wait_for_one().await;
        }
    }

    async fn wait_for_one(&mut self) {
        if let Some((index, outcome)) = self.running.next().await {
            self.results.put(index, outcome);
        }
    }
}

/// A call of a partitioned batch that waits for its turn.
enum Later {
    Call(Call),
    Begun(Box<Begun>),
}

/// Hands out results in call order.
struct InOrder<F> {
    each: F,
    next: usize,
    early: BTreeMap<usize, Outcome>,
    failed: usize,
}

impl<F: FnMut(Outcome)> InOrder<F> {
    fn new(each: F) -> Self {
        Self { each, next: 0, early: BTreeMap::new(), failed: 0 }
    }

    fn put(&mut self, index: usize, outcome: Outcome) {
        self.failed += usize::from(outcome.result.error.is_some());
        self.early.insert(index, outcome);
        while let Some(outcome) = self.early.remove(&self.next) {
            (self.each)(outcome);
            self.next += 1;
        }
    }
}
