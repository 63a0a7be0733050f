//! No call runs unrecorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::json;
use toolgate_core::approval::Answer;
use toolgate_core::error::ErrorKind;
use toolgate_core::ledger::{Durability, Entry, Ledger, RecordError};
use toolgate_core::policy::{Engine, Mode, Risk};

use crate::harness::{Recorder, block_on, call, failure, gate};
use crate::made_up::MadeUp;

/// Takes so many entries and then no more.
#[derive(Debug)]
struct Full {
    room: AtomicUsize,
}

impl Full {
    fn with_room_for(entries: usize) -> Arc<Self> {
        Arc::new(Self { room: AtomicUsize::new(entries) })
    }
}

#[async_trait]
impl Ledger for Full {
    fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        let room = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
            room.checked_sub(entries.len())
        });
        room.map(drop).map_err(|_| RecordError::new("the disk is full"))
    }

    async fn commit(&self, entries: Vec<Entry>, _: Durability) -> Result<(), RecordError> {
        self.note(entries)
    }
}

#[test]
fn a_question_that_cannot_be_recorded_is_not_asked() {
    let tool = MadeUp::new("asked").risking(Risk::High);
    let (runs, person) = (tool.runs(), Recorder::answering(Answer::Once));
    let gate = gate([tool])
        .policy(Engine::in_mode(Mode::Default))
        .approver(person.clone())
        .ledger(Full::with_room_for(0))
        .build();
    let error = block_on(failure(&gate, "asked", json!({})));
    assert_eq!(error.kind, ErrorKind::LedgerError);
    assert_eq!((person.asked().len(), runs()), (0, 0));
    insta::assert_snapshot!(error.message, @"the call was not run, because it cannot be recorded: the disk is full");
}

#[test]
fn a_call_runs_only_if_its_beginning_was_recorded() {
    for risk in [Risk::Low, Risk::High] {
        let tool = MadeUp::new("runs").risking(risk);
        let runs = tool.runs();
        // Room for what is recorded before it begins, but for one entry.
        let beginning = if risk == Risk::Low { 2 } else { 3 };
        let gate = gate([tool]).ledger(Full::with_room_for(beginning - 1)).build();
        let error = block_on(failure(&gate, "runs", json!({})));
        assert_eq!((error.kind, runs()), (ErrorKind::LedgerError, 0), "{risk}");
    }
}

#[test]
fn a_call_that_ran_has_happened_even_if_its_end_is_not_recorded() {
    let tool = MadeUp::new("runs").risking(Risk::High);
    let runs = tool.runs();
    let gate = gate([tool]).ledger(Full::with_room_for(3)).build();
    assert_eq!(block_on(call(&gate, "runs", json!({}))).result.error, None);
    assert_eq!(runs(), 1);
}
