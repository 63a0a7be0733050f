//! `sed` that prints or changes text on its way to standard output.

use super::arguments::Arguments;
use super::program::Operands::TextThenPaths;
use super::program::Program;
use super::script;

/// The row of `sed`: `-i` writes, `-f` reads a script that is not seen here.
pub(crate) const SED: Program = Program::new("sed gsed", TextThenPaths)
    .flags(&[
        "-b -E -n -r -s -u -z --binary --null-data --quiet --regexp-extended --sandbox",
        "--separate --silent --unbuffered",
    ])
    .texts(&["-e -l --expression --line-length"])
    .patterns("-e --expression")
    .check(prints_only);

fn prints_only(arguments: &Arguments) -> Result<(), String> {
    let pieces: Vec<&str> = arguments.values("-e --expression").collect();
    if pieces.is_empty() {
        let operand = arguments.operands.first().map_or("", |operand| operand.text.as_str());
        return script::prints_only(operand);
    }
    // A backslash at the end of a piece would make the next piece its text.
    if pieces.len() > 1 && pieces.iter().any(|piece| piece.ends_with('\\')) {
        return Err("its script goes on from one piece to the next".into());
    }
    script::prints_only(&pieces.join("\n"))
}
