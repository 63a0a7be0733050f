//! Commands: what comes back, and how they end.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate::core::call::Call;
use toolgate::core::error::ErrorKind;
use toolgate::core::event::Event;

use crate::workshop::{PATIENCE, RUNTIME, Workshop, eventually, printed, processes, unique_sleep};

#[test]
fn output_and_exit_code_come_back() {
    let shop = Workshop::new();
    let result = shop.shell("echo out; echo err >&2; exit 3");
    let text = result.llm_content.as_text();
    assert!(text.starts_with("Exit code: 3\n\n"), "{text}");
    assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
    assert_eq!(result.error_kind(), Some(ErrorKind::ShellExecutionError));
    assert_eq!(printed(&result), ("out\n".to_owned(), "err\n".to_owned()));
    assert_eq!(result.structured.unwrap()["exit_code"], 3);
}

#[test]
fn a_command_without_output_says_so() {
    let result = Workshop::new().shell("true");
    assert_eq!(result.llm_content.as_text(), "Exit code: 0\n\n(no output)\n");
    assert_eq!(result.error_kind(), None);
}

#[test]
fn a_signal_is_named() {
    let result = Workshop::new().unconfined("kill -SEGV $$");
    assert!(result.llm_content.as_text().starts_with("Ended by signal 11 (SIGSEGV)"));
    assert_eq!(result.structured.unwrap()["signal"], 11);
}

#[test]
fn there_is_no_input_and_no_terminal() {
    let shop = Workshop::new();
    let result =
        shop.shell("cat; test -t 0 || echo none; (: < /dev/tty) 2>/dev/null || echo no tty");
    assert_eq!(printed(&result).0, "none\nno tty\n");
}

#[test]
fn secrets_of_the_environment_stay_behind() {
    let shop = Workshop::new();
    let (environment, _) = printed(&shop.unconfined("env"));
    assert!(environment.contains("TERM=dumb\n") && environment.contains("PAGER=cat\n"));
    // Cargo sets these for every test; no command of a user's needs them.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let leaked =
        |line: &&str| line.starts_with("CARGO_MANIFEST_DIR=") || line.starts_with("CARGO_PKG_");
    assert_eq!(environment.lines().find(leaked), None);
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let shop = Workshop::new();
    std::fs::write(shop.path("file"), "").unwrap();
    let refused =
        |cwd: &str| shop.call("shell", json!({ "command": "pwd", "cwd": cwd })).error.unwrap();
    assert_eq!(refused("nowhere").kind, ErrorKind::FileNotFoundError);
    let error = refused("file");
    assert_eq!(error.kind, ErrorKind::ShellExecutionError);
    assert!(error.message.contains("is no directory"), "{}", error.message);
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let result = Workshop::new().shell(r"printf 'a\xff\xc3'; sleep 0.1; printf '\xa9\033[31mz'");
    assert_eq!(printed(&result).0, "a\u{fffd}é\\x1b[31mz");
}

#[test]
fn cancelling_ends_a_command() {
    let shop = Workshop::new();
    let cancellation = CancellationToken::new();
    let sleep = unique_sleep();
    let call = Call::new("shell", json!({ "command": format!("{sleep} & {sleep}") }));
    let begun = Instant::now();
    let outcome = RUNTIME.block_on(async {
        let calling = shop.gate.call_cancellable(call, &shop.session, &cancellation);
        let cancel = async {
            let starts = sleep.clone();
            let started = move || eventually("it runs", || processes(&starts).len() >= 2);
            tokio::task::spawn_blocking(started).await.unwrap();
            cancellation.cancel();
        };
        tokio::join!(calling, cancel).0
    });
    assert_eq!(outcome.result.error_kind(), Some(ErrorKind::Cancelled));
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(processes(&sleep), Vec::<String>::new());
}

/// Words that a shell reads as they are.
fn word() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_.,:+-]{1,20}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Property 25: Shell Command Execution
    #[test]
    fn any_output_and_exit_code_come_back(words in prop::collection::vec(word(), 1..5), code in 0..=255) {
        let shop = Workshop::new();
        let line = words.join(" ");
        let result = shop.shell(&format!("echo x {line}; exit {code}"));
        let begins = format!("Exit code: {code}\n");
        prop_assert!(result.llm_content.as_text().starts_with(&begins));
        prop_assert_eq!(printed(&result).0, format!("x {line}\n"));
        let failed = (code != 0).then_some(ErrorKind::ShellExecutionError);
        prop_assert_eq!(result.error_kind(), failed);
    }

    /// Property 26: Shell Output Streaming
    #[test]
    fn output_is_seen_while_a_command_runs(words in prop::collection::vec(word(), 1..4)) {
        let shop = Workshop::new();
        let mut events = shop.gate.events().subscribe();
        let echoes: Vec<String> = words.iter().map(|word| format!("echo x{word}; sleep 0.02")).collect();
        shop.shell(&echoes.join("; "));
        let mut seen = String::new();
        let mut pieces = 0;
        while let Ok(event) = events.try_recv() {
            if let Event::ToolCallOutput { text, .. } = event {
                seen.push_str(&text);
                pieces += 1;
            }
        }
        let expected = words.iter().fold(String::new(), |seen, word| seen + "x" + word + "\n");
        prop_assert_eq!(seen, expected);
        prop_assert!(pieces >= 1);
    }

    /// Property 27: Shell Timeout Enforcement
    #[test]
    fn a_command_that_takes_too_long_is_ended(timeout in 20_u64..80) {
        let shop = Workshop::new();
        let begun = Instant::now();
        let command = format!("echo begun; {}", unique_sleep());
        let result = shop.call("shell", json!({ "command": command, "timeout": timeout }));
        prop_assert_eq!(result.error_kind(), Some(ErrorKind::ShellTimeoutError));
        prop_assert!(begun.elapsed() < PATIENCE);
        prop_assert!(result.llm_content.as_text().contains("took too long"));
    }

    /// Property 28: Shell Working Directory
    #[test]
    fn a_command_runs_where_it_is_told(names in prop::collection::vec("[a-z]{1,8}", 1..4)) {
        let shop = Workshop::new();
        let folder = names.join("/");
        std::fs::create_dir_all(shop.path(&folder)).unwrap();
        let result = shop.call("shell", json!({ "command": "pwd -P", "cwd": folder }));
        prop_assert_eq!(printed(&result).0, format!("{}\n", shop.path(&folder).display()));
    }
}

#[test]
fn nothing_of_a_command_that_timed_out_is_left() {
    let (shop, sleep) = (Workshop::new(), unique_sleep());
    for command in [
        "SLEEP",
        "SLEEP & SLEEP & wait",
        "setsid SLEEP; SLEEP",
        "(setsid sh -c 'SLEEP & SLEEP' &) ; SLEEP",
        "trap '' TERM INT HUP; while :; do SLEEP; done",
        "sh -c 'trap \"\" TERM; SLEEP; SLEEP'",
    ] {
        let command = command.replace("SLEEP", &sleep);
        for sandbox in ["workspace_write", "full"] {
            let begun = Instant::now();
            let result = shop
                .call("shell", json!({ "command": command, "timeout": 300, "sandbox": sandbox }));
            assert_eq!(result.error_kind(), Some(ErrorKind::ShellTimeoutError), "{command}");
            assert!(begun.elapsed() < PATIENCE, "{command}");
            assert_eq!(processes(&sleep), Vec::<String>::new(), "{command} ({sandbox})");
        }
    }
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let (shop, sleep) = (Workshop::new(), unique_sleep());
    for sandbox in ["workspace_write", "full"] {
        for command in [
            "SLEEP & echo done",
            "(setsid SLEEP &); echo done",
            "nohup SLEEP >/dev/null 2>&1 & echo done",
            "sh -c 'sh -c \"SLEEP &\" &' ; echo done",
        ] {
            let command = command.replace("SLEEP", &sleep);
            let begun = Instant::now();
            let result = shop.call("shell", json!({ "command": command, "sandbox": sandbox }));
            assert_eq!(printed(&result).0, "done\n", "{command}");
            assert!(begun.elapsed() < PATIENCE, "{command}");
            assert_eq!(processes(&sleep), Vec::<String>::new(), "{command} ({sandbox})");
        }
    }
}

#[test]
fn the_session_ends_its_background_commands() {
    let (shop, sleep) = (Workshop::new(), unique_sleep());
    for _ in 0..3 {
        shop.start(&format!("(setsid {sleep} &); {sleep}"));
    }
    eventually("they run", || processes(&sleep).len() >= 6);
    drop(shop);
    eventually("they are gone", || processes(&sleep).is_empty());
}
