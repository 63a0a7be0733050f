//! A call waits in one process, and another answers.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate::core::approval::Answer;
use toolgate_store::approvals::{AnswerError, Desk, OpenRequest};
use toolgate_testing::PATIENCE;

use crate::harness::Toolgate;

fn waiting(desk: &mut Desk) -> OpenRequest {
    let patience = Instant::now() + PATIENCE;
    while Instant::now() < patience {
        if let Some(open) = desk.pending().unwrap().pop() {
            return open;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing was asked");
}

#[test]
fn a_yes_from_elsewhere_releases_the_call() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let call = toolgate.start(&["--wait-for-approval", "call", "write_file", &args]);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let open = waiting(&mut desk);
    assert_eq!(open.request.description, "Create a.txt with 1 line");
    desk.answer(open.request.id, &Answer::Once, "a test").unwrap();
    let late = desk.answer(open.request.id, &Answer::refuse(), "too late");
    assert!(matches!(late, Err(AnswerError::Settled { .. })), "{late:?}");
    let output = call.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(toolgate.path("a.txt")).unwrap(), "x");
    assert!(desk.pending().unwrap().is_empty());
}

#[test]
fn of_many_answers_at_the_same_time_exactly_one_counts() {
    for _ in 0..5 {
        let toolgate = Toolgate::new();
        let args = json!({ "path": "a.txt", "content": "x" }).to_string();
        let call = toolgate.start(&["--wait-for-approval", "call", "write_file", &args]);
        let id = waiting(&mut Desk::open(&toolgate.home("")).unwrap()).request.id;
        let counted: usize = std::thread::scope(|scope| {
            let answering: Vec<_> = (0..8)
                .map(|number| {
                    let home = toolgate.home("");
                    scope.spawn(move || {
                        let mut desk = Desk::open(&home).unwrap();
                        let answer = if number % 2 == 0 { Answer::Once } else { Answer::refuse() };
                        usize::from(desk.answer(id, &answer, &format!("{number}")).is_ok())
                    })
                })
                .collect();
            answering.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(counted, 1);
        let output = call.wait_with_output().unwrap();
        assert_eq!(output.status.success(), toolgate.path("a.txt").exists());
    }
}

#[test]
fn a_call_that_is_killed_leaves_no_question() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let mut call = toolgate.start(&["--wait-for-approval", "call", "write_file", &args]);
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    let id = waiting(&mut desk).request.id;
    call.kill().unwrap();
    call.wait().unwrap();
    assert!(desk.pending().unwrap().is_empty());
    let late = desk.answer(id, &Answer::Once, "a test");
    assert!(matches!(late, Err(AnswerError::Settled { .. })), "{late:?}");
}

#[test]
fn nobody_answers_in_time() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let output = toolgate
        .start(&["--wait-for-approval=1", "call", "write_file", &args])
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(!toolgate.path("a.txt").exists());
}
