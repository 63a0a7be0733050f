//! What a person at a terminal sees and answers.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Toolgate, call_args, lines, send_signal};

const QUESTION: &str = "Your choice: ";

/// Longer than a call may take before it shows progress.
const WELL_PAST_PATIENCE: Duration = Duration::from_millis(900);

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    session: PtySession,
}

impl Terminal {
    /// Starts the program with these arguments, without colours.
    pub(crate) fn start(toolgate: &Toolgate, args: &[String]) -> Self {
        let mut command = toolgate.command();
        command.env("NO_COLOR", "1").stdin(Stdio::inherit()).args(args);
        Self::start_command(command)
    }

    pub(crate) fn start_command(command: Command) -> Self {
        Self { session: spawn_command(command, Some(120_000)).unwrap() }
    }

    /// What is on the screen up to the question.
    fn until_asked(&mut self) -> String {
        as_text(&self.session.exp_string(QUESTION).unwrap())
    }

    pub(crate) fn until(&mut self, text: &str) -> String {
        as_text(&self.session.exp_string(text).unwrap())
    }

    pub(crate) fn answer(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    /// Presses keys one after the other, none of which ends a line.
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.session.send(&key.to_string()).unwrap();
            self.session.flush().unwrap();
        }
    }

    pub(crate) fn press(&mut self, control: char) {
        self.session.send_control(control).unwrap();
    }

    /// What has been printed since, without waiting.
    fn so_far(&mut self) -> String {
        as_text(&std::iter::from_fn(|| self.session.try_read()).collect::<String>())
    }

    /// The rest of what it prints, and the code it ends with.
    pub(crate) fn end(mut self) -> (String, i32) {
        let rest = as_text(&self.session.exp_eof().unwrap());
        match self.session.process().wait().unwrap() {
            WaitStatus::Exited(_, code) => (rest, code),
            other => panic!("ended by {other:?} after {rest:?}"),
        }
    }
}

/// The session gives each byte as a letter, and lines end as on a terminal.
fn as_text(read: &str) -> String {
    let bytes = read.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "one\ntwo\n" })
}

fn asked_to_write(toolgate: &Toolgate) -> Terminal {
    let mut terminal = Terminal::start(toolgate, &call_args(&[], "write_file", &write("a.txt")));
    terminal.until_asked();
    terminal
}

#[test]
fn the_question_shows_what_how_risky_why_and_the_difference() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\nthree\n")]);
    let edits = json!([{ "target": "two", "replacement": "2" }]);
    let args = json!({ "path": "a.txt", "edits": edits });
    let mut terminal = Terminal::start(&toolgate, &call_args(&[], "edit_file", &args));
    insta::assert_snapshot!(terminal.until_asked(), @r"

    Edit a.txt
      tool     Edit File (edit_file)
      risk     medium
      why      it changes files
      rule     `writing` (built-in write.toml:3)
      │ --- a/a.txt
      │ +++ b/a.txt
      │ @@ -1,3 +1,3 @@
      │  one
      │ -two
      │ +2
      │  three
    y once  a always  e edit  n no  d no, and say why  v view all  ? help
    ");
}

#[test]
fn the_question_about_a_new_file_shows_all_of_it() {
    let toolgate = Toolgate::new();
    let args = call_args(&[], "write_file", &write("a.txt"));
    let mut terminal = Terminal::start(&toolgate, &args);
    insta::assert_snapshot!(terminal.until_asked(), @r"

    Create a.txt with 2 lines
      tool     Write File (write_file)
      risk     medium
      why      it changes files
      rule     `writing` (built-in write.toml:3)
      │ --- a/a.txt
      │ +++ b/a.txt
      │ @@ -0,0 +1,2 @@
      │ +one
      │ +two
    y once  a always  e edit  n no  d no, and say why  v view all  ? help
    ");
}

#[test]
fn the_question_about_a_removal_says_that_the_risk_is_high() {
    let toolgate = Toolgate::with_files(&[("a.txt", "")]);
    let args = call_args(&["--mode", "accept_edits"], "delete_file", &json!({ "path": "a.txt" }));
    let mut terminal = Terminal::start(&toolgate, &args);
    insta::assert_snapshot!(terminal.until_asked(), @r"

    Delete a.txt
      tool     Delete File (delete_file)
      risk     high
      why      it removes a file
      rule     `removing` (built-in write.toml:10)
      at       delete a.txt
    y once  a always  e edit  n no  d no, and say why  v view all  ? help
    ");
}

#[test]
fn the_question_says_what_a_floor_objects_to() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.outside("b.txt"), "secret\n").unwrap();
    let args = call_args(&[], "read_file", &json!({ "path": toolgate.outside("b.txt") }));
    let mut terminal = Terminal::start(&toolgate, &args);
    let asked = terminal.until_asked();
    assert!(asked.contains("b.txt` is outside the workspace"), "{asked}");
    assert!(!asked.contains("secret"), "{asked}");
    terminal.keys("y");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn a_long_difference_is_shown_page_by_page() {
    let toolgate = Toolgate::new();
    let content = lines((1..=100).map(|number| format!("line {number}")));
    let args = json!({ "path": "a.txt", "content": content });
    let mut terminal = Terminal::start(&toolgate, &call_args(&[], "write_file", &args));
    let asked = terminal.until_asked();
    assert!(asked.contains(" more lines\n  Not everything is shown; press v"), "{asked}");
    assert!(!asked.contains("+line 100\n"), "{asked}");
    terminal.keys("v");
    let mut whole = String::new();
    while !whole.contains("+line 100\n") {
        whole.push_str(&terminal.until("q to go back -- "));
        terminal.keys(" ");
    }
    assert!((1..=100).all(|number| whole.contains(&format!("+line {number}\n"))), "{whole}");
    terminal.until_asked();
    terminal.keys("v");
    terminal.until("q to go back -- ");
    terminal.keys("q");
    terminal.until_asked();
    terminal.keys("n");
    assert_eq!(terminal.end().1, 3);
}

#[test]
fn yes_runs_it_once() {
    for yes in ["y", "Y"] {
        let toolgate = Toolgate::new();
        let mut terminal = asked_to_write(&toolgate);
        assert_eq!(toolgate.read("a.txt"), None);
        terminal.keys(yes);
        let (rest, code) = terminal.end();
        assert!(rest.ends_with("Created a.txt (2 lines, 8 bytes)\n"), "{rest}");
        assert_eq!((code, toolgate.read("a.txt").as_deref()), (0, Some("one\ntwo\n")));
    }
}

#[test]
fn no_denies_it() {
    for no in ["n", "N"] {
        let toolgate = Toolgate::new();
        let mut terminal = asked_to_write(&toolgate);
        terminal.keys(no);
        let (rest, code) = terminal.end();
        assert_eq!(
            rest,
            "no\nerror: ApprovalDenied: a person refused; do not try the same call again\n"
        );
        assert_eq!((code, toolgate.read("a.txt")), (3, None));
    }
}

#[test]
fn no_with_a_note_reaches_the_model() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.keys("d");
    terminal.until("What should the model know? ");
    terminal.answer("call it b.txt");
    let (rest, code) = terminal.end();
    assert!(rest.ends_with("error: ApprovalDenied: a person refused: call it b.txt\n"), "{rest}");
    assert_eq!((code, toolgate.read("a.txt")), (3, None));
}

#[test]
fn a_note_cannot_hide_anything() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.keys("d");
    terminal.until("What should the model know? ");
    terminal.answer("no \u{1b}[31mred");
    let (rest, _) = terminal.end();
    assert!(rest.ends_with("a person refused: no \\x1b[31mred\n"), "{rest}");
}

#[test]
fn no_other_key_answers_anything() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    // Enter, a letter without a meaning, the key for upwards, and text that is pasted.
    for keys in ["\r", "x", "\u{1b}[A", "yes please", "\u{1b}"] {
        terminal.session.send(keys).unwrap();
        terminal.session.flush().unwrap();
        terminal.until("Nothing was answered.");
        terminal.until_asked();
        assert_eq!(toolgate.read("a.txt"), None);
    }
    terminal.keys("n");
    assert_eq!((terminal.end().1, toolgate.read("a.txt")), (3, None));
}

#[test]
fn arguments_are_changed_in_the_editor() {
    let toolgate = Toolgate::new();
    let editor = toolgate.outside("editor");
    let script = "#!/bin/sh\nsed -i s/a.txt/b.txt/ \"$2\"\nstat -c %a \"$2\" > \"$1\"\n";
    fs::write(&editor, script).unwrap();
    crate::harness::set_mode(&editor, 0o755);
    let mode = toolgate.outside("mode");
    let mut command = toolgate.command();
    command.env("VISUAL", format!("{} {}", editor.display(), mode.display()));
    command.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1").env("TMPDIR", toolgate.outside(""));
    command.stdin(Stdio::inherit()).args(call_args(&[], "write_file", &write("a.txt")));
    let mut terminal = Terminal::start_command(command);
    terminal.until_asked();
    terminal.keys("e");
    // What comes out is judged again.
    assert!(terminal.until_asked().contains("Create b.txt"));
    terminal.keys("y");
    assert_eq!(terminal.end().1, 0);
    assert_eq!((toolgate.read("a.txt"), toolgate.read("b.txt").is_some()), (None, true));
    assert_eq!(fs::read_to_string(mode).unwrap(), "600\n");
    let left = fs::read_dir(toolgate.outside("")).unwrap().count();
    assert_eq!(left, 2, "the file that was edited is gone");
}

#[test]
fn text_that_is_pasted_and_keys_that_are_held_approve_nothing() {
    for typed in [format!("{}y", "x".repeat(4095)), "yy".to_owned(), "line one\ny".to_owned()] {
        let toolgate = Toolgate::new();
        let mut terminal = asked_to_write(&toolgate);
        terminal.keys(&typed);
        // Whoever means it waits for a moment.
        thread::sleep(WELL_PAST_PATIENCE);
        terminal.keys("n");
        assert_eq!(terminal.end().1, 3, "{typed:.20?}");
        assert!(toolgate.read("a.txt").is_none());
    }
}

#[test]
fn the_terminal_is_put_back_whatever_ends_the_question() {
    let toolgate = Toolgate::new();
    for (key, control) in [('y', false), ('n', false), ('c', true), ('d', true)] {
        let args = call_args(&[], "write_file", &write("a.txt")).join("' '");
        let binary = env!("CARGO_BIN_EXE_toolgate");
        let mut shell = Command::new("sh");
        // The shell outlives what it runs, also when Ctrl-C ends that.
        let script = format!("trap : INT; stty -a > before; '{binary}' '{args}'; stty -a > after");
        shell.args(["-c", &script]).current_dir(toolgate.path(""));
        shell.env("TOOLGATE_HOME", toolgate.home("")).env("TERM", "xterm").env("NO_COLOR", "1");
        let mut terminal = Terminal::start_command(shell);
        terminal.until_asked();
        if control {
            terminal.press(key);
        } else {
            terminal.keys(&key.to_string());
        }
        terminal.end();
        assert_eq!(toolgate.read("before"), toolgate.read("after"), "{key}");
        fs::remove_file(toolgate.path("a.txt")).ok();
    }
}

#[test]
fn a_terminal_that_only_knows_lines_is_asked_by_lines() {
    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    command.env("TERM", "dumb").stdin(Stdio::inherit());
    command.args(call_args(&[], "write_file", &write("a.txt")));
    let mut terminal = Terminal::start_command(command);
    terminal.until_asked();
    terminal.answer("");
    terminal.until("Nothing was answered.");
    terminal.until_asked();
    terminal.answer("yes");
    assert_eq!(terminal.end().1, 0);
    assert!(toolgate.read("a.txt").is_some());
}

#[test]
fn the_question_reaches_the_person_when_errors_go_elsewhere() {
    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    command.args(call_args(&[], "write_file", &write("a.txt"))).stdin(Stdio::inherit());
    command.env("NO_COLOR", "1").stderr(File::create(toolgate.outside("errors")).unwrap());
    let mut terminal = Terminal::start_command(command);
    assert!(terminal.until_asked().contains("Create a.txt"));
    terminal.keys("y");
    assert_eq!(terminal.end().1, 0);
    assert_eq!(fs::read_to_string(toolgate.outside("errors")).unwrap(), "");
}

#[test]
fn control_c_cancels_it() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.press('c');
    let (rest, code) = terminal.end();
    assert!(rest.ends_with("error: Cancelled: the call was cancelled before it finished\n"));
    assert_eq!((code, toolgate.read("a.txt")), (130, None));
}

#[test]
fn control_c_ends_the_line_of_the_question() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.press('c');
    assert!(terminal.end().0.starts_with('\n'));
}

#[test]
fn the_end_of_input_approves_nothing() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.press('d');
    let (rest, code) = terminal.end();
    assert!(rest.contains("input ended before there was an answer"), "{rest}");
    assert_eq!((code, toolgate.read("a.txt")), (3, None));
}

#[test]
fn nobody_is_asked_when_told_not_to() {
    let toolgate = Toolgate::new();
    let args = call_args(&["--non-interactive"], "write_file", &write("a.txt"));
    let (rest, code) = Terminal::start(&toolgate, &args).end();
    assert!(rest.contains("ApprovalRequired") && !rest.contains(QUESTION), "{rest}");
    assert_eq!(code, 4);
}

#[test]
fn nobody_is_asked_when_input_is_no_terminal() {
    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    command.args(call_args(&[], "write_file", &write("a.txt"))).stdin(Stdio::null());
    let (rest, code) = Terminal::start_command(command).end();
    assert!(rest.contains("ApprovalRequired") && !rest.contains(QUESTION), "{rest}");
    assert_eq!(code, 4);
}

#[test]
fn questions_are_not_mixed_with_results() {
    let toolgate = Toolgate::new();
    let printed = toolgate.outside("printed");
    let mut command = toolgate.command();
    command.args(call_args(&["--json"], "write_file", &write("a.txt"))).stdin(Stdio::inherit());
    command.stdout(File::create(&printed).unwrap());
    let mut terminal = Terminal::start_command(command);
    terminal.until_asked();
    terminal.keys("y");
    assert_eq!(terminal.end().1, 0);
    let outcome: Value = serde_json::from_slice(&fs::read(printed).unwrap()).unwrap();
    assert_eq!(outcome["decision"], "ask");
}

#[test]
fn a_batch_asks_one_question_at_a_time() {
    let toolgate = Toolgate::new();
    let calls = ["a.txt", "b.txt", "c.txt"]
        .map(|name| json!({ "tool": "write_file", "args": write(name) }).to_string());
    toolgate.write("calls.jsonl", calls.join("\n"));
    let args = ["batch", "calls.jsonl"].map(str::to_owned);
    let mut terminal = Terminal::start(&toolgate, &args);
    for (name, answer) in [("a.txt", "y"), ("b.txt", "n"), ("c.txt", "y")] {
        assert!(terminal.until_asked().contains(&format!("Create {name} with 2 lines")));
        terminal.keys(answer);
    }
    let (_, code) = terminal.end();
    assert_eq!(code, 3);
    let made = ["a.txt", "b.txt", "c.txt"].map(|name| toolgate.path(name).exists());
    assert_eq!(made, [true, false, true]);
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let toolgate = Toolgate::new();
    let slow = json!({ "tool": "grep", "args": toolgate.slow_search(8) });
    let write = json!({ "tool": "write_file", "args": write("a.txt") });
    toolgate.write("calls.jsonl", format!("{slow}\n{write}\n"));
    let args = ["batch", "calls.jsonl"].map(str::to_owned);
    let mut terminal = Terminal::start(&toolgate, &args);
    terminal.keys("y");
    terminal.until_asked();
    terminal.keys("n");
    assert_eq!((terminal.end().1, toolgate.read("a.txt")), (3, None));
}

#[test]
fn escapes_are_shown_in_the_question() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "\u{1b}[31mred.txt", "content": "\u{1b}[2Jgone\u{8}\n\rover\n" });
    let mut command = toolgate.command();
    command.args(call_args(&[], "write_file", &args)).stdin(Stdio::inherit());
    // With colours, as escapes are taken out of what has none.
    let asked = Terminal::start_command(command).until_asked();
    assert!(asked.contains(r"Create \x1b[31mred.txt with "), "{asked}");
    assert!(asked.contains(r"+\x1b[2Jgone\x08"), "{asked}");
    assert!(!asked.contains("\u{1b}[2J") && !asked.contains(['\r', '\u{8}']), "{asked:?}");
}

#[test]
fn a_return_does_not_end_a_line_of_the_difference() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a.txt", "content": "one\rtwo\n" });
    let mut terminal = Terminal::start(&toolgate, &call_args(&[], "write_file", &args));
    let asked = terminal.until_asked();
    assert!(asked.contains("  │ @@ -0,0 +1 @@\n  │ +one\\rtwo\n"), "{asked}");
}

#[test]
fn letters_that_reorder_or_hide_others_are_shown_in_the_question() {
    let toolgate = Toolgate::new();
    let args = json!({ "path": "a\u{202e}txt.sh", "content": "a\u{2066}b\u{200b}c\n" });
    let mut terminal = Terminal::start(&toolgate, &call_args(&[], "write_file", &args));
    let asked = terminal.until_asked();
    assert!(!asked.contains(['\u{202e}', '\u{2066}', '\u{200b}']), "{asked:?}");
}

#[test]
fn escapes_in_a_batch_that_cannot_be_read_are_shown() {
    let toolgate = Toolgate::new();
    toolgate.write("calls.jsonl", r#"{"tool":"ls","\u001b[31mred":1}"#);
    let mut command = toolgate.command();
    command.args(["batch", "calls.jsonl"]);
    // With colours, as escapes are taken out of what has none.
    let (rest, code) = Terminal::start_command(command).end();
    assert!(rest.contains(r"unknown field `\x1b[31mred`"), "{rest:?}");
    assert_eq!(code, 2);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let edits = json!([{ "target": "one", "replacement": "two" }]);
    let args = call_args(&[], "edit_file", &json!({ "path": "a.txt", "edits": edits }));
    let mut command = toolgate.command();
    command.args(&args).stdin(Stdio::inherit());
    let mut coloured = Terminal::start_command(command);
    let asked = coloured.until_asked();
    assert!(asked.contains("\u{1b}[31m-one\u{1b}[0m"), "{asked:?}");
    assert!(asked.contains("\u{1b}[32m+two\u{1b}[0m"), "{asked:?}");
    coloured.keys("n");
    assert!(coloured.end().0.contains("\u{1b}[31merror:\u{1b}[0m"));

    let mut plain = Terminal::start(&toolgate, &args);
    assert!(!plain.until_asked().contains('\u{1b}'));
    plain.keys("n");
    assert!(!plain.end().0.contains('\u{1b}'));
}

#[test]
fn no_colour_holds_for_every_command() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    for args in [
        vec!["--help"],
        vec!["call", "--help"],
        vec!["tools", "list"],
        vec!["tools", "show", "read_file"],
        vec!["call", "read_file", r#"{"path":"a.txt"}"#],
        vec!["call", "read_file", r#"{"path":"b.txt"}"#],
        vec!["call", "read_file", "{"],
        vec!["--no-such-flag"],
        vec!["-vvv", "call", "read_file", r#"{"path":"a.txt"}"#],
    ] {
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        let (printed, _) = Terminal::start(&toolgate, &args).end();
        assert!(!printed.contains('\u{1b}'), "{args:?}: {printed:?}");
    }
}

#[test]
fn a_short_call_shows_no_progress() {
    let toolgate = Toolgate::new();
    let args = call_args(&[], "ls", &json!({ "path": ".", "includeHidden": true }));
    assert_eq!(
        Terminal::start(&toolgate, &args).end(),
        ("`.` has no entries to show.\n".into(), 0)
    );
}

#[test]
fn a_short_call_shows_no_progress_after_the_question_either() {
    let toolgate = Toolgate::new();
    let mut terminal = asked_to_write(&toolgate);
    terminal.keys("y");
    assert!(terminal.end().0.ends_with("yes, once\nCreated a.txt (2 lines, 8 bytes)\n"));
}

#[test]
fn a_long_call_shows_that_it_runs() {
    let toolgate = Toolgate::new();
    let args = call_args(&[], "grep", &toolgate.slow_search(500));
    let mut terminal = Terminal::start(&toolgate, &args);
    terminal.until(r"Search for \b(\w+\W){40} in slow");
    terminal.press('c');
    let (rest, code) = terminal.end();
    // The line of progress goes before the error comes.
    assert!(
        rest.ends_with("\r\u{1b}[2Kerror: Cancelled: the call was cancelled before it finished\n")
    );
    assert_eq!(code, 130);
}

#[test]
fn a_long_batch_shows_how_far_it_is() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let read = json!({ "tool": "read_file", "args": { "path": "a.txt" } });
    let slow = json!({ "tool": "grep", "args": toolgate.slow_search(500) });
    toolgate.write("calls.jsonl", format!("{read}\n{slow}\n"));
    let args = ["batch", "calls.jsonl"].map(str::to_owned);
    let mut terminal = Terminal::start(&toolgate, &args);
    terminal.until("1 of 2 calls done");
    terminal.press('c');
    assert_eq!(terminal.end().1, 130);
}

#[test]
fn progress_does_not_touch_the_question() {
    let toolgate = Toolgate::new();
    let slow = json!({ "tool": "grep", "args": toolgate.slow_search(8) });
    let calls = [slow, json!({ "tool": "write_file", "args": write("a.txt") })];
    let again = json!({ "tool": "write_file", "args": write("b.txt") });
    toolgate.write("calls.jsonl", format!("{}\n{}\n{again}\n", calls[0], calls[1]));
    let args = ["batch", "calls.jsonl"].map(str::to_owned);
    let mut terminal = Terminal::start(&toolgate, &args);
    for _ in 0..2 {
        terminal.until_asked();
        thread::sleep(WELL_PAST_PATIENCE);
        assert_eq!(terminal.so_far(), "");
        terminal.keys("y");
    }
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn results_of_a_batch_stand_on_lines_of_their_own() {
    let toolgate = Toolgate::new();
    let slow = json!({ "id": "slow", "tool": "grep", "args": toolgate.slow_search(10) });
    toolgate.write("calls.jsonl", format!("{slow}\n"));
    let args = ["batch", "calls.jsonl"].map(str::to_owned);
    let (printed, _) = Terminal::start(&toolgate, &args).end();
    let (before, _) = printed.split_once(r#"{"id":"slow""#).unwrap();
    // Nothing, a line end, or progress that was wiped away.
    assert!(before.is_empty() || before.ends_with(['\n', 'K']), "{before:?}");
}

#[test]
fn progress_is_for_terminals_only() {
    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    command.args(call_args(&[], "grep", &toolgate.slow_search(500)));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(WELL_PAST_PATIENCE);
    send_signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: Cancelled: the call was cancelled before it finished\n");
}

#[test]
fn quiet_shows_no_progress() {
    let toolgate = Toolgate::new();
    let args = call_args(&["--quiet"], "grep", &toolgate.slow_search(500));
    let mut terminal = Terminal::start(&toolgate, &args);
    thread::sleep(WELL_PAST_PATIENCE);
    terminal.press('c');
    let (printed, code) = terminal.end();
    assert_eq!(printed, "error: Cancelled: the call was cancelled before it finished\n");
    assert_eq!(code, 130);
}
