//! `toolgate policy allow|ask|deny`: a permission more, and what it changes.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::harness::{Toolgate, stderr, stdout};

const FILE: &str = "policies/permissions.toml";

fn policy(toolgate: &Toolgate, name: &str, text: &str) {
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies").join(name), text).unwrap();
}

fn text(toolgate: &Toolgate, relative: &str) -> String {
    fs::read_to_string(toolgate.home(relative)).unwrap()
}

/// Everything that was printed, without the folders of this test.
fn said(toolgate: &Toolgate, args: &[&str]) -> String {
    let done = toolgate.run(args);
    let code = done.get_output().status.code().unwrap();
    let all = format!("{}{}[{code}]", stdout(&done), stderr(&done));
    let all = all.replace(&*toolgate.home("").to_string_lossy(), "HOME/");
    all.replace(&*toolgate.path("").to_string_lossy(), "WORKSPACE/")
}

#[test]
fn a_permission_is_added_once_and_its_effect_is_shown() {
    let toolgate = Toolgate::new();
    insta::assert_snapshot!("added", said(&toolgate, &["policy", "allow", "Bash(npm run *)"]));
    insta::assert_snapshot!("present", said(&toolgate, &["policy", "allow", "Bash(npm run:*)"]));
    insta::assert_snapshot!(
        "without_it",
        said(&toolgate, &["policy", "allow", "Bash(git status)"])
    );
    insta::assert_snapshot!("moved", said(&toolgate, &["policy", "deny", "shell(npm run *)"]));
    insta::assert_snapshot!("a_path", said(&toolgate, &["policy", "deny", "Read(./.env)"]));
    insta::assert_snapshot!(
        "a_host",
        said(&toolgate, &["policy", "ask", "WebFetch(domain:docs.rs)"])
    );
    insta::assert_snapshot!("file", text(&toolgate, FILE));
    toolgate.run(["policy", "check", "--", "npm run build"]).code(3).stdout(contains("deny: "));
}

#[test]
fn what_makes_a_permission_moot_is_told() {
    let toolgate = Toolgate::new();
    policy(
        &toolgate,
        "team.toml",
        "[permissions]\nask = [\"Bash(npm run deploy *)\"]\n[[rule]]\ntool = \"web_fetch\"\ndecision = \"deny\"\npriority = 700\n",
    );
    insta::assert_snapshot!(
        "against_ask",
        said(&toolgate, &["policy", "allow", "Bash(npm run *)"])
    );
    insta::assert_snapshot!(
        "against_rule",
        said(&toolgate, &["policy", "allow", "WebFetch(domain:docs.rs)"])
    );
    insta::assert_snapshot!("against_floor", said(&toolgate, &["policy", "allow", "Bash(sudo *)"]));
    insta::assert_snapshot!(
        "against_mode",
        said(&toolgate, &["--mode", "plan", "policy", "allow", "Bash(frob *)"])
    );
}

#[test]
fn what_is_no_permission_is_refused_and_the_forms_are_shown() {
    let toolgate = Toolgate::new();
    insta::assert_snapshot!("refused", said(&toolgate, &["policy", "allow", "Bash(npm run"]));
    for (wrong, why) in [
        ("", "the permission is empty"),
        ("Bsh(ls)", "did you mean `Bash`?"),
        ("Bsh", "did you mean `Bash`?"),
        ("Bash()", "says nothing"),
        ("WebFetch(docs.rs)", "write `WebFetch(domain:docs.rs)`"),
        ("Bash(a\nb)", "control character"),
        ("todo_write(x)", "takes nothing in parentheses"),
        ("mcp__a__b__c", "two servers"),
    ] {
        let done = toolgate.run(["policy", "deny", wrong]).code(2).stdout(is_empty());
        done.stderr(contains(why).and(contains("Permissions look like:")));
    }
    assert!(!toolgate.home("policies").exists());
}

#[test]
fn comments_and_formatting_stay() {
    let toolgate = Toolgate::new();
    let before = "# mine\n[permissions] # all of it\n  allow = [ \"Read\", ] # so\n\n# the end\n";
    policy(&toolgate, "permissions.toml", before);
    toolgate.run(["policy", "allow", "Bash(make *)"]).success();
    let after = before.replace("\"Read\", ]", "\"Read\", \"Bash(make *)\", ]");
    assert_eq!(text(&toolgate, FILE), after);
}

#[test]
fn a_permission_stays_in_the_file_it_is_in() {
    let toolgate = Toolgate::new();
    policy(&toolgate, "a.toml", "[permissions]\nask = [\n  \"Bash(git push *)\", # careful\n]\n");
    policy(&toolgate, "b.toml", "[permissions]\ndeny = [\"Bash(git push:*)\"]\n");
    let moved = said(&toolgate, &["policy", "allow", "Bash(git push *)"]);
    assert!(moved.contains("from `deny` to `allow`: HOME/policies/a.toml:5"), "{moved}");
    assert_eq!(
        text(&toolgate, "policies/a.toml"),
        "[permissions]\nask = [\n]\nallow = [\n    \"Bash(git push *)\", # careful\n]\n"
    );
    assert_eq!(text(&toolgate, "policies/b.toml"), "[permissions]\ndeny = []\n");
    assert!(!toolgate.home(FILE).exists());
    toolgate.run(["policy", "check", "--", "git push"]).success();
}

#[test]
fn a_file_with_a_mistake_is_refused_with_its_place_and_left_alone() {
    let toolgate = Toolgate::new();
    let broken = "[permissions]\nalow = [\"Read\"]\n";
    policy(&toolgate, "permissions.toml", broken);
    toolgate
        .run(["policy", "allow", "Bash(make *)"])
        .code(2)
        .stderr(contains("permissions.toml:2:1"));
    assert_eq!(text(&toolgate, FILE), broken);
    // Files of a folder that is not trusted are not loaded, but not written over either.
    toolgate.write(".toolgate/policies/permissions.toml", broken);
    fs::remove_dir_all(toolgate.home("policies")).unwrap();
    let done = toolgate.run(["policy", "allow", "--project", "Bash(make *)"]).code(2);
    done.stderr(contains("permissions.toml:2:1"));
    toolgate.write(".toolgate/policies/permissions.toml", "[permissions\n");
    toolgate
        .run(["policy", "allow", "--project", "Bash(make *)"])
        .code(2)
        .stderr(contains("permissions.toml:1:"));
    assert_eq!(
        toolgate.read(".toolgate/policies/permissions.toml").as_deref(),
        Some("[permissions\n")
    );
}

#[test]
fn a_project_has_permissions_of_its_own_which_wait_for_trust() {
    let toolgate = Toolgate::new();
    insta::assert_snapshot!(
        "project",
        said(&toolgate, &["policy", "allow", "--project", "Bash(make *)"])
    );
    let file = toolgate.read(".toolgate/policies/permissions.toml");
    assert_eq!(file.as_deref(), Some("[permissions]\nallow = [\n    \"Bash(make *)\",\n]\n"));
    toolgate.run(["policy", "check", "--", "make"]).code(4);
    toolgate.run(["trust", "add"]).success();
    toolgate.run(["policy", "check", "--", "make"]).success();
    let done = toolgate.run(["policy", "deny", "--project", "Bash(make *)"]).success();
    assert!(!stderr(&done).contains("not trusted"));
    toolgate.run(["policy", "check", "--", "make"]).code(3);
}

#[test]
fn a_link_cannot_make_a_rule_of_the_workspace_one_of_the_user() {
    let own = "[permissions]\nallow = [\"Read\"]\n";
    let links: [&dyn Fn(&Toolgate); 3] = [
        &|toolgate| {
            std::os::unix::fs::symlink(toolgate.home(""), toolgate.path(".toolgate")).unwrap();
        },
        &|toolgate| {
            fs::create_dir(toolgate.path(".toolgate")).unwrap();
            std::os::unix::fs::symlink(
                toolgate.home("policies"),
                toolgate.path(".toolgate/policies"),
            )
            .unwrap();
        },
        &|toolgate| {
            fs::create_dir_all(toolgate.path(".toolgate/policies")).unwrap();
            let link = toolgate.path(".toolgate/policies/permissions.toml");
            std::os::unix::fs::symlink(toolgate.home(FILE), link).unwrap();
        },
    ];
    for link in links {
        let toolgate = Toolgate::new();
        policy(&toolgate, "permissions.toml", own);
        link(&toolgate);
        let done = toolgate.run(["policy", "allow", "--project", "Bash(curl *)"]).code(2);
        done.stderr(contains("is a link that leads out of the workspace"));
        assert_eq!(text(&toolgate, FILE), own);
    }
}

#[test]
fn many_at_once_lose_no_permission() {
    let toolgate = Toolgate::new();
    let permissions: Vec<String> = (0..6).map(|number| format!("Bash(tool{number} *)")).collect();
    let children: Vec<_> =
        permissions.iter().map(|one| toolgate.start(&["policy", "allow", one])).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = text(&toolgate, FILE);
    assert!(permissions.iter().all(|one| text.matches(one.as_str()).count() == 1), "{text}");
}

#[test]
fn programs_get_one_object() {
    let toolgate = Toolgate::new();
    let done =
        toolgate.run(["--json", "policy", "allow", "Bash(make *)"]).success().stderr(is_empty());
    let said: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(said["change"], "added");
    assert_eq!((said["line"].as_u64(), said["decision"].as_str()), (Some(3), Some("allow")));
    assert!(Path::new(said["file"].as_str().unwrap()).is_file());
    let example = &said["examples"][0];
    assert_eq!((&example["before"], &example["after"]), (&"ask".into(), &"allow".into()));
}
