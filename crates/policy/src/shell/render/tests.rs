use super::*;
use crate::shell::command::Reading;
use crate::shell::reading::read;

fn rendered(text: &str) -> String {
    let Reading::Literal(line) = read(text) else { panic!("{text:?}: {:?}", read(text)) };
    render(&line, "/home/me", |command, word| match (command.name(), word.text.as_str()) {
        (Some("late"), _) => Expansion::Shell,
        (Some("later"), _) => Expansion::ShellWithPrefix,
        (_, "*") => Expansion::Names(vec!["-rf".to_owned(), "it's".to_owned()]),
        _ => Expansion::Names(Vec::new()),
    })
}

#[test]
fn every_word_is_quoted() {
    assert_eq!(rendered("e\\cho \"a b\" 'c'\\''d'"), "'echo' 'a b' 'c'\\''d'");
    assert_eq!(rendered("A=1 B='x y' cmd"), "A='1' B='x y' 'cmd'");
}

#[test]
fn structure_is_kept() {
    assert_eq!(rendered("(a; b) >x | { c\nd & } # e"), "( 'a' ; 'b' ) > 'x' | { 'c' ; 'd' & }");
    assert_eq!(rendered("! a &&\n\nb || c &\nd"), "! 'a' && 'b' || 'c' & 'd'");
    assert_eq!(rendered("a |& b 2>&1 <&- >& f"), "'a' |& 'b' 2>&1 <&- >& 'f'");
}

#[test]
fn patterns_and_home_are_written_out() {
    assert_eq!(rendered("rm * ~ ~/x b?"), "'rm' './-rf' 'it'\\''s' '/home/me' '/home/me/x' 'b?'");
}

#[test]
fn here_documents_become_one_line() {
    assert_eq!(rendered("cat <<'E' | wc\na\n$b\nE"), "'cat' <<< 'a\n$b' | 'wc'");
    assert_eq!(rendered("cat 3<<-E\nE"), "'cat' 3< /dev/null");
}

#[test]
fn patterns_left_to_bash_keep_their_wildcards_and_nothing_else() {
    assert_eq!(
        rendered("late *.rs a/[!b-d]?\\ x ~/q* 'it'\\''s'*"),
        "'late' *.rs a/[!b-d]?' 'x /home/me/q* it'\'\\\'\''s*"
    );
    assert_eq!(rendered("late a\\ b* $'\\n'*"), "'late' a' 'b* '\n'*");
    assert_eq!(rendered("later *.rs src/*.rs [ab]*"), "'later' ./*.rs src/*.rs ./[ab]*");
}
