//! Messages, in and out.

use std::io::{self, Write as _};

use serde_json::{Value, json};

/// Writes bytes as they are.
pub(crate) fn say_raw(text: &str) {
    let mut out = io::stdout().lock();
    // Whoever reads may be gone.
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// Answers a request.
pub(crate) fn say(id: &Value, outcome: Result<Value, Value>) {
    let message = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    };
    say_raw(&format!("{message}\n"));
}

/// Answers with many bytes.
pub(crate) fn say_big(id: &Value, bytes: usize) {
    let mut out = io::stdout().lock();
    let piece = "x".repeat(1_000_000);
    let start = r#"{"result":{"content":[{"type":"text","text":""#;
    let mut write = || {
        out.write_all(start.as_bytes())?;
        for _ in 0..bytes / piece.len() {
            out.write_all(piece.as_bytes())?;
        }
        writeln!(out, r#""}}]}},"jsonrpc":"2.0","id":{id}}}"#)?;
        out.flush()
    };
    // Whoever reads may be gone.
    write().ok();
}

/// Says something by itself.
pub(crate) fn notify(method: &str, params: &Value) {
    say_raw(&format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params})));
}

/// Asks for something.
pub(crate) fn request(id: &Value, method: &str, params: &Value) {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    say_raw(&format!("{message}\n"));
}

/// Writes to the standard error.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}

/// Closes the standard output, by putting something else in its place.
pub(crate) fn close_output() {
    if let Ok(nothing) = std::fs::File::options().write(true).open("/dev/null") {
        rustix::stdio::dup2_stdout(nothing).ok();
    }
}
