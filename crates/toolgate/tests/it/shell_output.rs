//! Much output, and output of background commands.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use toolgate::core::call::Call;
use toolgate::core::error::ErrorKind;
use toolgate::core::event::Event;
use toolgate::core::result::ToolResult;

use crate::workshop::{PATIENCE, RUNTIME, Workshop, processes, unique_sleep};

const GIGABYTE: u64 = 1 << 30;

/// How much memory this process takes, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn whole(result: &ToolResult) -> std::path::PathBuf {
    result.truncated.as_ref().unwrap().whole.clone().unwrap()
}

#[test]
fn a_gigabyte_passes_with_bounded_memory() {
    let shop = Workshop::new();
    let before = memory();
    let result = shop.shell("echo first; yes | head -c 1G; echo last");
    assert!(memory() - before < 64 << 20, "{} MB", (memory() - before) >> 20);
    let text = result.llm_content.as_text();
    assert!(text.starts_with("Exit code: 0\n\nfirst\ny\ny\n"), "{text:.60}");
    assert!(text.ends_with("y\nlast\n"));
    assert!(text.len() < 40_000);
    assert_eq!(fs::metadata(whole(&result)).unwrap().len(), GIGABYTE + 11);
}

#[test]
fn a_gigabyte_without_a_line_end_passes_too() {
    let shop = Workshop::new();
    let before = memory();
    let result = shop.shell("printf first; head -c 1G /dev/zero | tr '\\0' x; printf last");
    assert!(memory() - before < 64 << 20, "{} MB", (memory() - before) >> 20);
    let text = result.llm_content.as_text();
    assert!(text.starts_with("Exit code: 0\n\nfirstxxx"), "{text:.60}");
    assert!(text.ends_with("xxxlast"));
    assert_eq!(fs::metadata(whole(&result)).unwrap().len(), GIGABYTE + 9);
}

#[test]
fn the_first_output_is_seen_at_once() {
    let shop = Workshop::new();
    // The helper that starts commands is there from the first one on.
    shop.shell("true");
    let mut events = shop.gate.events().subscribe();
    // It ends only after its first output was seen. How quick that is, the benchmarks measure.
    let line = "echo first; until [ -e seen ]; do sleep 0.02; done";
    let call = Call::new("shell", json!({ "command": line }));
    let (outcome, seen) = RUNTIME.block_on(async {
        let calling = shop.gate.call(call, &shop.session);
        let seeing = async {
            loop {
                if let Event::ToolCallOutput { text, .. } = events.recv().await.unwrap() {
                    fs::write(shop.path("seen"), "").unwrap();
                    return text;
                }
            }
        };
        tokio::join!(calling, seeing)
    });
    assert_eq!((outcome.result.error, seen.as_str()), (None, "first\n"));
}

#[test]
fn background_output_comes_once_and_whole() {
    let shop = Workshop::new();
    let id = shop.start("i=0; while [ $i -lt 3000 ]; do echo \"line $i é\"; i=$((i+1)); done");
    let mut seen = String::new();
    loop {
        let result = shop.call("shell_output", json!({ "id": id }));
        let data = result.structured.unwrap();
        seen.push_str(data["output"].as_str().unwrap());
        if !data["running"].as_bool().unwrap() && data["waiting_bytes"] == 0 {
            break;
        }
    }
    let lines: Vec<String> = (0..3000).map(|number| format!("line {number} é\n")).collect();
    let expected = lines.concat();
    assert!(seen == expected, "{} of {} bytes", seen.len(), expected.len());
    let again = shop.call("shell_output", json!({ "id": id }));
    assert!(again.llm_content.as_text().contains("(no new output)"));
}

#[test]
fn waiting_for_the_end_of_a_background_command() {
    let shop = Workshop::new();
    let id = shop.start("sleep 0.3; echo done; exit 4");
    let result = shop.call("shell_output", json!({ "id": id, "wait": true }));
    assert!(result.llm_content.as_text().starts_with("Exit code: 4, after "));
    assert_eq!(result.structured.unwrap()["output"], "done\n");
    let id = shop.start(&unique_sleep());
    let begun = Instant::now();
    let result = shop.call("shell_output", json!({ "id": id, "wait": true, "timeout": 100 }));
    assert!(result.llm_content.as_text().starts_with("Still running"));
    assert!(begun.elapsed() < PATIENCE);
}

#[test]
fn killing_ends_a_background_command_and_its_children() {
    let (shop, sleep) = (Workshop::new(), unique_sleep());
    let id = shop.start(&format!("trap '' TERM; (setsid {sleep} &); {sleep}"));
    let result = shop.call("kill_shell", json!({ "id": id }));
    assert!(result.llm_content.as_text().starts_with(&format!("Ended `{id}`.")));
    assert_eq!(processes(&sleep), Vec::<String>::new());
    let again = shop.call("kill_shell", json!({ "id": id }));
    assert!(again.llm_content.as_text().contains("had ended before"));
    let unknown = shop.call("kill_shell", json!({ "id": "shell_99" })).error.unwrap();
    assert_eq!(unknown.kind, ErrorKind::ShellExecutionError);
    assert!(unknown.message.contains("there are: shell_1"), "{}", unknown.message);
}

#[test]
fn two_hundred_background_commands_start_and_end() {
    let shop = Arc::new(Workshop::new());
    let ids: Vec<String> =
        (0..200).map(|number| shop.start(&format!("echo {number}; sleep 0.2"))).collect();
    for (number, id) in ids.iter().enumerate() {
        let result = shop.call("shell_output", json!({ "id": id, "wait": true }));
        let data = result.structured.unwrap();
        assert_eq!(data["output"], format!("{number}\n"));
        assert_eq!(data["status"], json!({ "exit": 0 }));
    }
}
