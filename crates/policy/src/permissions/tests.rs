use proptest::prelude::*;

use super::*;
use crate::rule::Tier;
use crate::vocabulary::Vocabulary;

fn loader() -> Loader {
    let mut vocabulary = Vocabulary::default();
    vocabulary.add("shell", ["Bash"]);
    Loader { vocabulary, ..Loader::default() }
}

fn with(text: &str, permission: &str, decision: Decision) -> Edited {
    set(&loader(), text, permission, decision).unwrap()
}

fn allow(text: &str) -> String {
    with(text, "Bash(make *)", Decision::Allow).text
}

#[test]
fn a_new_file_gets_a_list() {
    let text = "[permissions]\nallow = [\n    \"Bash(make *)\",\n]\n";
    assert_eq!(
        with("", "Bash(make *)", Decision::Allow),
        Edited { text: text.to_owned(), line: 3, change: Change::Added }
    );
    let two = with(text, "Bash(git push *)", Decision::Ask);
    assert_eq!(
        two.text,
        "[permissions]\nallow = [\n    \"Bash(make *)\",\n]\nask = [\n    \"Bash(git push *)\",\n]\n"
    );
    assert_eq!(two.line, 6);
}

#[test]
fn what_is_there_stays() {
    for (before, after) in [
        ("# mine", "# mine\n\n[permissions]\nallow = [\n    \"Bash(make *)\",\n]\n"),
        ("[permissions]", "[permissions]\nallow = [\n    \"Bash(make *)\",\n]\n"),
        (
            "[permissions] # mine\n\n# rules\n[[rule]]\ntool = \"ls\"\ndecision = \"ask\"\n",
            "[permissions] # mine\nallow = [\n    \"Bash(make *)\",\n]\n\n# rules\n[[rule]]\ntool = \"ls\"\ndecision = \"ask\"\n",
        ),
        (
            "[permissions]\ndefault_mode = \"plan\" # now\n",
            "[permissions]\ndefault_mode = \"plan\" # now\nallow = [\n    \"Bash(make *)\",\n]\n",
        ),
        ("permissions.allow = []\n", "permissions.allow = [\"Bash(make *)\"]\n"),
        (
            "permissions = { allow = [\"Read\"] }\n",
            "permissions = { allow = [\"Read\", \"Bash(make *)\"] }\n",
        ),
    ] {
        assert_eq!(allow(before), after);
    }
}

#[test]
fn lists_are_added_to_in_their_own_manner() {
    for (before, after) in [
        ("[]", "[\"Bash(make *)\"]"),
        ("[ ]", "[\"Bash(make *)\"]"),
        ("[\"Read\"]", "[\"Read\", \"Bash(make *)\"]"),
        ("[\"Read\",]", "[\"Read\", \"Bash(make *)\",]"),
        ("[\n]", "[\n    \"Bash(make *)\",\n]"),
        ("[\n  # none yet\n]", "[\n  # none yet\n    \"Bash(make *)\",\n]"),
        ("[\n\t\"Read\", # all\n]", "[\n\t\"Read\", # all\n\t\"Bash(make *)\",\n]"),
        ("[\n  \"Read\" # all, of it\n]", "[\n  \"Read\", # all, of it\n  \"Bash(make *)\",\n]"),
        ("[\n  \"Read\",\n  # the end\n]", "[\n  \"Read\",\n  # the end\n  \"Bash(make *)\",\n]"),
        ("[\"Read\",\n \"ls\"]", "[\"Read\",\n \"ls\", \"Bash(make *)\"]"),
        ("['Read'\n, 'ls'\n]", "['Read'\n, 'ls',\n    \"Bash(make *)\",\n]"),
    ] {
        let text = |list: &str| format!("[permissions]\nallow = {list} # mine\ndeny = []\n");
        assert_eq!(allow(&text(before)), text(after));
    }
}

#[test]
fn a_permission_is_never_in_a_list_twice_however_it_is_written() {
    for written in
        ["Bash(make *)", " Bash(make *) ", "Bash(make:*)", "shell(make *)", "Bash( make * )"]
    {
        let text = format!("[permissions]\nallow = [\"{written}\"]\n");
        let edited = with(&text, "Bash(make *)", Decision::Allow);
        assert_eq!(
            (edited.text, edited.line, edited.change),
            (text, 2, Change::Present),
            "{written}"
        );
    }
    for written in ["Bash(make)", "Bash(maker *)", "Bash", "Read(make *)"] {
        let text = format!("[permissions]\nallow = [\"{written}\"]\n");
        assert_eq!(with(&text, "Bash(make *)", Decision::Allow).change, Change::Added, "{written}");
    }
}

#[test]
fn a_permission_moves_from_one_list_to_another_with_the_comment_beside_it() {
    let before = "[permissions]\nallow = [\n  # building\n  \"Bash(make *)\", # slow\n  \"Read\",\n]\ndeny = [\n  \"Bash(rm *)\",\n]\n";
    let moved = with(before, "Bash(make:*)", Decision::Deny);
    assert_eq!(moved.change, Change::Moved { from: Decision::Allow });
    assert_eq!(
        moved.text,
        "[permissions]\nallow = [\n  # building\n  \"Read\",\n]\ndeny = [\n  \"Bash(rm *)\",\n  \"Bash(make:*)\", # slow\n]\n"
    );
    assert_eq!(moved.line, 8);
}

#[test]
fn a_permission_goes_with_its_comma() {
    for (before, after) in [
        ("[\"Bash(make *)\"]", "[]"),
        ("[\"Bash(make *)\", \"Read\"]", "[\"Read\"]"),
        ("[\"Read\", \"Bash(make *)\"]", "[\"Read\"]"),
        ("[\"Read\", \"Bash(make *)\",]", "[\"Read\", ]"),
        ("[\"a\", \"Bash(make *)\", \"b\"]", "[\"a\", \"b\"]"),
        ("[\"Bash(make *)\", \"shell(make:*)\"]", "[]"),
        ("[\n  \"Bash(make *)\"\n]", "[\n]"),
        ("[\n  \"a\",\n  \"Bash(make *)\"\n]", "[\n  \"a\",\n]"),
        ("[\"Bash(make *)\"\n # why\n, \"b\"]", "[\n # why\n \"b\"]"),
        ("[\n  \"a\", \"Bash(make *)\",\n  \"b\"\n]", "[\n  \"a\", \n  \"b\"\n]"),
    ] {
        let text = |list: &str| format!("[permissions]\nask = {list}\n");
        let removed = remove(&loader(), &text(before), "Bash(make *)").unwrap();
        assert_eq!(removed, Some(text(after)), "{before}");
    }
    assert_eq!(remove(&loader(), "[permissions]\nask = [\"Read\"]\n", "Bash(make *)"), Ok(None));
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    let error = |text| set(&loader(), text, "Bash(make *)", Decision::Allow).unwrap_err();
    for text in [
        "permissions = {}\n",
        "permissions.deny = []\n",
        "permissions = 3\n",
        "[permissions]\nallow = \"Read\"\n",
        "[[permissions]]\n",
        "[permissions.more]\nx = 1\n",
    ] {
        assert_eq!(error(text), EditPermissionsError::Shape, "{text}");
    }
    assert_eq!(
        error("[permissions]\nallow = [\"Read\"\n").to_string().split(": ").next(),
        Some("2:16")
    );
}

#[test]
fn permissions_are_found_with_their_line() {
    let text = "[permissions]\nallow = [\"Read\"]\ndeny = [\n  \"Bash(make:*)\",\n]\n";
    let found = find(&loader(), text, "Bash(make *)").unwrap();
    let permission = "Bash(make:*)".to_owned();
    assert_eq!(found, [Listed { decision: Decision::Deny, permission, line: 4 }]);
    assert_eq!(list(text).unwrap().len(), 2);
}

/// Lists as people write them.
fn list_text() -> impl Strategy<Value = String> {
    let entry = prop_oneof!["Bash\\([a-c]{1,2}( \\*|:\\*)?\\)", Just("Read".to_owned())];
    let gap = prop_oneof![
        Just(""),
        Just(" "),
        Just("\n  "),
        Just(" # a, \"b\" ]\n  "),
        Just("\n\n    # c\n"),
    ];
    let item = (gap.clone(), entry, gap.clone())
        .prop_map(|(before, entry, after)| format!("{before}\"{entry}\"{after}"));
    (prop::collection::vec(item, 0..5), gap, any::<bool>()).prop_map(|(items, gap, comma)| {
        let comma = if comma && !items.is_empty() { "," } else { "" };
        format!("[{}{comma}{gap}]", items.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever a file looks like, an edit changes one permission and loses no comment line.
    #[test]
    fn an_edit_changes_one_permission(
        allow in list_text(), deny in list_text(), permission in "Bash\\([a-c]{1,2}( \\*)?\\)",
        decision in prop_oneof![Just(Decision::Allow), Just(Decision::Ask), Just(Decision::Deny)],
    ) {
        let text = format!("# top\n[permissions]\nallow = {allow} # one\ndeny = {deny}\n\n[web]\nallowed_domains = [\"docs.rs\"]\n");
        let edited = set(&loader(), &text, &permission, decision).unwrap();
        let found = find(&loader(), &edited.text, &permission).unwrap();
        prop_assert!(!found.is_empty() && found.iter().all(|listed| listed.decision == decision));
        prop_assert!(edited.text.lines().nth(edited.line - 1).unwrap().contains("Bash("));
        let again = set(&loader(), &edited.text, &permission, decision).unwrap();
        prop_assert_eq!(again.change, Change::Present);
        for kept in ["# top", "# one", "[web]"] {
            prop_assert!(edited.text.contains(kept));
        }
        let comments = |text: &str| text.matches("# c").count();
        prop_assert_eq!(comments(&edited.text), comments(&text));
        prop_assert!(loader().parse(&edited.text, "p.toml", Tier::User).is_sound());
    }

    /// Whatever is in the parentheses, the file stays sound and says the same when read again.
    #[test]
    fn hostile_text_is_kept_as_text(inner in "(?s)[^()]{0,40}") {
        let permission = format!("Bash(x {inner})");
        for before in ["", "[permissions]\ndeny = [\"Read\"]\nallow = [\n\"ls\" # ]\n]\n"] {
            let edited = set(&loader(), before, &permission, Decision::Allow).unwrap();
            prop_assert_eq!(find(&loader(), &edited.text, &permission).unwrap().len(), 1);
            let removed = remove(&loader(), &edited.text, &permission).unwrap().unwrap();
            prop_assert!(find(&loader(), &removed, &permission).unwrap().is_empty());
        }
    }
}
