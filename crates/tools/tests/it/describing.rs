//! What a call says about itself before it runs: to a person, and to the policy.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_core::gate::Gate;
use toolgate_core::policy::{Access, PathFact, Place, Risk};
use toolgate_core::tool::{Concurrency, Location, Preview};

use crate::harness::{Lab, any_tree, calls_with, cases};

/// The one path a call is about.
fn path_fact(lab: &Lab, tool: &str, args: Value) -> PathFact {
    match lab.validated(tool, args).locations() {
        [Location::Path(fact)] => fact.clone(),
        other => panic!("{tool} is about one path, not {other:?}"),
    }
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 45: Tool Invocation Description (built-in tools)
    // Feature: stage-03-tools-policy, Property 46: Tool Invocation Locations (built-in tools)
    #[test]
    fn properties_45_and_46_hold_for_every_tool_and_path(paths in any_tree("[\\PC&&[^/]]{1,8}x"), index in any::<prop::sample::Index>()) {
        prop_assume!(!paths.is_empty());
        let lab = Lab::with(paths.iter().map(|path| (path, "a")));
        let path = *index.get(&paths.iter().collect::<Vec<_>>());
        for (tool, args) in calls_with(path) {
            let call = lab.validated(tool, args.clone());
            let description = call.description();
            prop_assert!(!description.is_empty() && !description.contains('\n'), "{description:?}");
            prop_assert!(description.contains(path.as_str()), "{description:?} does not name {path:?}");
            let fact = path_fact(&lab, tool, args);
            prop_assert_eq!(&fact.resolved, &lab.path(path));
            prop_assert_eq!(fact.place, Place::Workspace);
        }
        prop_assert_eq!(lab.text(path), "a", "describing a call changed something");
    }
}

#[test]
fn descriptions_are_what_a_person_reads() {
    let lab = Lab::with([("a.txt", "one\n")]);
    let described = |tool: &str, args: Value| lab.validated(tool, args).description().to_owned();
    insta::assert_snapshot!(described("read_file", json!({ "path": "a.txt" })), @"Read a.txt");
    insta::assert_snapshot!(described("read_file", json!({ "path": "a.txt", "startLine": 2, "endLine": 9 })), @"Read a.txt, lines 2 to 9");
    insta::assert_snapshot!(described("read_file", json!({ "path": "a.txt", "startLine": 2 })), @"Read a.txt from line 2 on");
    insta::assert_snapshot!(described("read_many_files", json!({ "paths": ["a.txt", "b.txt"] })), @"Read a.txt, b.txt");
    insta::assert_snapshot!(described("write_file", json!({ "path": "b.txt", "content": "x\ny\n" })), @"Create b.txt with 2 lines");
    insta::assert_snapshot!(described("write_file", json!({ "path": "a.txt", "content": "", "overwrite": true })), @"Overwrite a.txt with 0 lines");
    insta::assert_snapshot!(described("edit_file", json!({ "path": "a.txt", "edits": [{ "target": "a", "replacement": "" }, { "target": "b", "replacement": "" }] })), @"Edit a.txt, 2 edits");
    insta::assert_snapshot!(described("read_file", json!({ "path": "a.txt", "pages": "2-3, 7" })), @"Read a.txt, pages 2-3,7");
    insta::assert_snapshot!(described("notebook_edit", json!({ "path": "a.ipynb", "cellId": "x\ny", "mode": "replace", "source": "" })), @r"Replace cell x\ny of a.ipynb");
    insta::assert_snapshot!(described("notebook_edit", json!({ "path": "a.ipynb", "mode": "insert", "cellType": "code", "source": "" })), @"Insert a code cell at the start of a.ipynb");
    insta::assert_snapshot!(described("notebook_edit", json!({ "path": "a.ipynb", "cellId": "x", "mode": "delete" })), @"Delete cell x of a.ipynb");
    insta::assert_snapshot!(described("delete_file", json!({ "path": "a.txt" })), @"Delete a.txt");
    insta::assert_snapshot!(described("glob", json!({ "pattern": "**/*.rs", "directory": "src" })), @"Find files matching **/*.rs in src");
    insta::assert_snapshot!(described("grep", json!({ "pattern": "a\tb" })), @r"Search for a\tb");
    insta::assert_snapshot!(described("ls", json!({ "path": ".", "recursive": true })), @"List ., 3 levels deep");
}

#[test]
fn each_tool_claims_the_access_and_risk_it_has() {
    let lab = Lab::with([("a.txt", "a")]);
    let read = (Access::Read, Risk::Low, Concurrency::Safe);
    let write = (Access::Write, Risk::Medium, Concurrency::Exclusive);
    let delete = (Access::Delete, Risk::High, Concurrency::Exclusive);
    let expected = [read, write, write, write, delete, read, read, read];
    for ((tool, args), expected) in calls_with("a.txt").into_iter().zip(expected) {
        let call = lab.validated(tool, args.clone());
        let access = path_fact(&lab, tool, args).access;
        assert_eq!((access, call.facts().risk, call.concurrency()), expected, "{tool}");
    }
}

#[test]
fn the_policy_judges_where_a_link_leads() {
    let (lab, outside) = (Lab::new(), Lab::with([("secret.txt", "s")]));
    std::os::unix::fs::symlink(outside.path("secret.txt"), lab.path("innocent.txt")).unwrap();
    for (tool, args) in calls_with("innocent.txt") {
        let fact = path_fact(&lab, tool, args);
        let itself = tool == "delete_file";
        let expected = if itself { lab.path("innocent.txt") } else { outside.path("secret.txt") };
        assert_eq!(fact.resolved, expected, "{tool}");
        assert_eq!(fact.place == Place::Workspace, itself, "{tool}");
        assert_eq!(fact.requested, lab.path("innocent.txt"), "{tool}");
    }
}

/// Says no, and remembers what it was asked.
#[derive(Debug, Default, Clone)]
pub(crate) struct Asked(pub(crate) Arc<Mutex<Vec<ApprovalRequest>>>);

// Written out, because `async-trait` is no dependency of this crate.
impl Approver for Asked {
    fn ask<'a, 'b, 'c>(
        &'a self,
        request: &'b ApprovalRequest,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.0.lock().unwrap().push(request.clone());
        Box::pin(async { Answer::Deny { note: None } })
    }
}

#[test]
fn a_person_sees_the_change_before_it_is_made() {
    let person = Asked::default();
    let registry = Arc::new(toolgate_tools::registry().unwrap());
    let gate = Gate::builder(registry).approver(person.clone()).build();
    let lab = Lab::behind(gate, Dialect::Native);
    lab.put("a.txt", "one\ntwo\n");
    let preview = |tool: &str, args: Value| {
        assert_eq!(lab.error(tool, args).kind, ErrorKind::ApprovalDenied);
        match person.0.lock().unwrap().pop().unwrap().preview {
            Preview::Diff(text) | Preview::Text(text) => text,
            other => panic!("nothing to see: {other:?}"),
        }
    };
    insta::assert_snapshot!(preview("edit_file", json!({ "path": "a.txt", "edits": [{ "target": "two", "replacement": "2\u{1b}[2J" }] })), @r"
    --- a/a.txt
    +++ b/a.txt
    @@ -1,2 +1,2 @@
     one
    -two
    +2\x1b[2J
    ");
    insta::assert_snapshot!(preview("edit_file", json!({ "path": "a.txt", "edits": [{ "target": "zzz", "replacement": "" }] })), @"This would fail: `target` is not in `a.txt`; nothing there comes close, so read the file again and copy the text to replace. Nothing was changed");
    insta::assert_snapshot!(preview("write_file", json!({ "path": "new.txt", "content": "x\n" })), @r"
    --- a/new.txt
    +++ b/new.txt
    @@ -0,0 +1 @@
    +x
    ");
    let notebook = r#"{"cells":[{"cell_type":"code","execution_count":3,"id":"x","metadata":{},"outputs":[{"output_type":"stream","name":"stdout","text":"1"}],"source":"print(1)\n2"}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    lab.put("a.ipynb", notebook);
    insta::assert_snapshot!(preview(
        "notebook_edit",
        json!({ "path": "a.ipynb", "cellId": "x", "mode": "replace", "source": "print(1)\n3" })
    ));
    insta::assert_snapshot!(preview(
        "notebook_edit",
        json!({ "path": "a.ipynb", "cellId": "x", "mode": "insert", "cellType": "markdown", "source": "hi" })
    ));
    insta::assert_snapshot!(preview("notebook_edit", json!({ "path": "a.ipynb", "cellId": "y", "mode": "delete" })), @"This would fail: `a.ipynb` was not changed: there is no cell `y`, only cell-0");
    assert_eq!(lab.text("a.ipynb"), notebook);
    assert_eq!(lab.text("a.txt"), "one\ntwo\n");
    assert!(!lab.path("new.txt").exists());
}
