//! Output of any size passes in memory of a fixed size.

use std::process::Command;

use serde_json::json;
use toolgate_core::bounds::{Preset, Shape};
use toolgate_core::context::ResultSettings;
use toolgate_core::gate::GateSettings;
use toolgate_core::result::ToolResult;

use crate::harness::{block_on, call, gate};
use crate::made_up::MadeUp;

/// Set in the child process that does the measured work.
const CHILD: &str = "TOOLGATE_CORE_MEMORY_CHILD";
const PIECE: usize = 64 * 1024;
const PIECES: usize = 16 * 1024;

#[test]
fn a_gigabyte_of_output_passes_in_bounded_memory() {
    if std::env::var_os(CHILD).is_some() {
        push_a_gigabyte();
        return;
    }
    // Other tests of this process must not be measured, so the test runs itself again alone.
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::a_gigabyte_of_output_passes_in_bounded_memory", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(
        child.status.success(),
        "{}{}",
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr)
    );
}

fn push_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    let settings = GateSettings {
        results: ResultSettings {
            preset: Preset::Standard,
            folder: Some(folder.path().to_owned()),
        },
        ..GateSettings::default()
    };
    let tool = MadeUp::new("flood").defined(|definition| {
        definition.shape = Shape::Output;
        definition.max_result_chars = 30_000;
    });
    let tool = tool.doing(|_, context| async move {
        context
            .blocking(|context| {
                let piece = format!("{}\n", "x".repeat(PIECE - 1));
                let mut collector = context.collector();
                for _ in 0..PIECES {
                    collector.push(&piece);
                }
                Ok(ToolResult::bounded(collector.finish()))
            })
            .await
    });
    let gate = gate([tool]).settings(settings).build();
    let before = peak_kilobytes();
    let result = block_on(call(&gate, "flood", json!({}))).result;
    let grown = peak_kilobytes() - before;
    let truncated = result.truncated.expect("a gigabyte is cut");
    let whole = std::fs::metadata(truncated.whole.expect("the whole is kept")).unwrap();
    assert_eq!(whole.len(), (PIECE * PIECES) as u64);
    assert!(result.llm_content.as_text().len() < 31_000);
    assert!(grown < 64 * 1024, "memory grew by {grown} KB");
}

/// The most memory this process ever had.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}
