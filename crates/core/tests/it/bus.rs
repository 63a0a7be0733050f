//! Requests wait, answers find them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::{
    Answer, AnswerError, Answered, ApprovalId, ApprovalRequest, Approvals, Approver, Digest,
    JsonText, Reply,
};
use toolgate_core::policy::Risk;
use toolgate_core::tool::Preview;

use crate::harness::{block_on, cases};

fn request(number: usize) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: format!("call-{number}").into(),
        session: "a session".into(),
        asker: None,
        workspace: "/work".into(),
        tool: "write_file".into(),
        title: "Write File".into(),
        description: "Create a.txt".into(),
        risk: Risk::Medium,
        reasons: Box::new(["it changes files".into()]),
        rule: None,
        guarded: false,
        undoable: false,
        dangers: Box::default(),
        places: Box::default(),
        commands: Box::default(),
        reach: None,
        preview: Preview::Nothing,
        args: JsonText::from(&json!({})),
        proposals: Box::default(),
        goes_on: true,
        asked_at: SystemTime::UNIX_EPOCH,
        expires_at: None,
        digest: Digest::of(b"what it does"),
    }
}

/// Numbers below `count` in an order that `seed` decides.
fn shuffled(count: usize, mut seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(last, usize::try_from(seed >> 33).expect("31 bits") % (last + 1));
    }
    numbers
}

#[test]
fn ten_thousand_requests_get_their_own_answers_in_any_order() {
    const COUNT: usize = 10_000;
    block_on(async {
        let approvals = Approvals::default();
        let requests: Vec<_> = (0..COUNT).map(|number| Arc::new(request(number))).collect();
        let waiting: Vec<_> = requests
            .iter()
            .map(|request| {
                let pending = approvals.open(Arc::clone(request));
                tokio::spawn(pending.answered())
            })
            .collect();
        assert_eq!(approvals.pending().len(), COUNT);
        for number in shuffled(COUNT, 20_261_116) {
            let answer = Answer::deny(number.to_string());
            approvals.answer(requests[number].id, answer, "a test").await.unwrap();
        }
        for (number, waiting) in waiting.into_iter().enumerate() {
            let answered = waiting.await.unwrap().unwrap();
            assert_eq!(answered.answer, Answer::deny(number.to_string()));
        }
        assert!(approvals.pending().is_empty());
    });
}

proptest! {
    #![proptest_config(cases(64))]

    // Feature: stage-03-tools-policy, Property 38: Message Bus Correlation ID Uniqueness
    #[test]
    fn property_38_correlation_id_uniqueness(count in 1_usize..2_000) {
        let ids: HashSet<ApprovalId> = (0..count).map(|number| request(number).id).collect();
        prop_assert_eq!(ids.len(), count);
    }

    // Feature: stage-03-tools-policy, Property 39: Message Bus Request-Response Matching
    // Feature: stage-03-tools-policy, Property 41: Message Bus Concurrent Requests
    #[test]
    fn property_39_and_41_each_answer_reaches_its_requester(count in 1_usize..60, seed in any::<u64>()) {
        block_on(async {
            let approvals = Approvals::default();
            let _here = approvals.attend();
            let requests: Vec<_> = (0..count).map(request).collect();
            let ids: Vec<_> = requests.iter().map(|request| request.id).collect();
            let asking: Vec<_> = requests.into_iter().map(|request| {
                let approvals = approvals.clone();
                tokio::spawn(async move { approvals.ask(request, &CancellationToken::new(), None).await })
            }).collect();
            while approvals.pending().len() < count {
                tokio::task::yield_now().await;
            }
            for number in shuffled(count, seed) {
                approvals.answer(ids[number], Answer::deny(number.to_string()), "somebody").await.unwrap();
            }
            for (number, asking) in asking.into_iter().enumerate() {
                let answered = Answered { answer: Answer::deny(number.to_string()), by: "somebody".to_owned() };
                prop_assert_eq!(asking.await.unwrap(), Reply::Answered(answered));
            }
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 40: Message Bus Timeout Handling
    #[test]
    fn property_40_no_answer_in_time_is_a_timeout(patience in 0_u64..4) {
        block_on(async {
            let approvals = Approvals::default();
            let _here = approvals.attend();
            let request = request(0);
            let id = request.id;
            let patience = Some(Duration::from_millis(patience));
            let reply = approvals.ask(request, &CancellationToken::new(), patience).await;
            prop_assert_eq!(reply, Reply::TimedOut);
            let late = approvals.answer(id, Answer::Once, "somebody").await;
            prop_assert_eq!(late, Err(AnswerError::NotPending));
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 42: Message Bus Cancellation
    #[test]
    fn property_42_cancelling_withdraws_the_request(yields in 0_usize..5) {
        block_on(async {
            let approvals = Approvals::default();
            let _here = approvals.attend();
            let request = request(0);
            let id = request.id;
            let cancellation = CancellationToken::new();
            let cancel = async {
                for _ in 0..yields {
                    tokio::task::yield_now().await;
                }
                cancellation.cancel();
            };
            let (reply, ()) = tokio::join!(approvals.ask(request, &cancellation, None), cancel);
            prop_assert_eq!(reply, Reply::Cancelled);
            let late = approvals.answer(id, Answer::Once, "somebody").await;
            prop_assert_eq!(late, Err(AnswerError::NotPending));
            Ok(())
        })?;
    }
}

#[test]
fn nobody_is_found_out_at_once() {
    let reply = block_on(Approvals::default().ask(request(0), &CancellationToken::new(), None));
    assert_eq!(reply, Reply::Nobody);
}

/// Answers after a while, unless it is told that somebody else did.
#[derive(Debug)]
struct Slow {
    name: &'static str,
    answer: Answer,
    after: Duration,
}

#[async_trait]
impl Approver for Slow {
    fn name(&self) -> &str {
        self.name
    }

    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        tokio::time::sleep(self.after).await;
        self.answer.clone()
    }
}

#[test]
fn the_first_surface_wins_and_one_that_gives_up_does_not_count() {
    let mut approvals = Approvals::default();
    let slow = |name, answer, after| Slow { name, answer, after: Duration::from_millis(after) };
    approvals.add(Arc::new(slow("gives up", Answer::Nobody, 0)));
    approvals.add(Arc::new(slow("fast", Answer::Once, 5)));
    approvals.add(Arc::new(slow("slow", Answer::refuse(), 3_600_000)));
    let reply = block_on(approvals.ask(request(0), &CancellationToken::new(), None));
    let expected = Answered { answer: Answer::Once, by: "fast".to_owned() };
    assert_eq!(reply, Reply::Answered(expected));
}

/// A surface where somebody was told that their yes counts, just before another answered.
#[derive(Debug)]
struct WasFirst;

#[async_trait]
impl Approver for WasFirst {
    fn name(&self) -> &'static str {
        "was first"
    }

    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        std::future::pending().await
    }

    async fn close(&self, _request: &ApprovalRequest) -> Option<Answer> {
        Some(Answer::deny("no"))
    }
}

#[test]
fn whoever_was_told_that_it_counts_is_right() {
    let mut approvals = Approvals::default();
    approvals.add(Arc::new(WasFirst));
    block_on(async {
        let request = request(0);
        let id = request.id;
        let nobody = CancellationToken::new();
        let asking = approvals.ask(request, &nobody, None);
        let answering = async {
            while approvals.pending().is_empty() {
                tokio::task::yield_now().await;
            }
            approvals.answer(id, Answer::Once, "late").await
        };
        let (reply, told) = tokio::join!(asking, answering);
        assert_eq!(told, Err(AnswerError::NotPending));
        let first = Answered { answer: Answer::deny("no"), by: "was first".to_owned() };
        assert_eq!(reply, Reply::Answered(first));
    });
}
