//! `awk` with programs that only print.

use super::arguments::Arguments;
use super::program::Operands::TextThenPaths;
use super::program::Program;

/// `-f` reads a program that is not seen here.
pub(crate) const AWK: Program = Program::new("awk gawk mawk nawk", TextThenPaths)
    .texts(&["-F -v --field-separator --assign"])
    .options_first()
    .check(|arguments: &Arguments| {
        arguments.operands.first().map_or(Ok(()), |program| prints_only(&program.text))
    });

/// Makes sure that a program opens no file by itself and runs no other.
fn prints_only(program: &str) -> Result<(), String> {
    const OPENING: [&str; 7] = ["getline", "system", "ARGV", "ENVIRON", "PROCINFO", "SYMTAB", "@"];
    if let Some(word) = OPENING.iter().find(|word| program.contains(**word)) {
        return Err(format!("`{word}` may do more than print"));
    }
    let program = without_texts(program).ok_or("its program cannot be read")?;
    if program.replace("||", "").contains('|') {
        return Err("a `|` may run a program".into());
    }
    let mut statements = program.split([';', '{', '}', '\n']);
    if statements.any(|statement| statement.contains("print") && statement.contains('>')) {
        return Err("it may print to a file".into());
    }
    Ok(())
}

/// The program with every `"text"` left empty; nothing if one is never closed.
fn without_texts(program: &str) -> Option<String> {
    let mut code = String::with_capacity(program.len());
    let mut letters = program.chars();
    while let Some(letter) = letters.next() {
        code.push(letter);
        if letter != '"' {
            continue;
        }
        loop {
            match letters.next()? {
                '\\' => drop(letters.next()),
                '"' => break,
                _ => {}
            }
        }
    }
    Some(code)
}
