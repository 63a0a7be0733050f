//! Text longer than the screen.

use super::console::Console;
use super::tame::number;
use crate::terminal::Input;

/// Shows text a page at a time.
///
/// # Errors
///
/// What ended the conversation meanwhile.
pub(super) fn show(text: &str, console: &impl Console) -> Result<(), Input> {
    let lines: Vec<&str> = text.lines().collect();
    let total = lines.len();
    let mut shown = 0;
    while shown < total {
        let page = console.size().rows.saturating_sub(2).max(3);
        let upto = (shown + page).min(total);
        let piece = lines.get(shown..upto).unwrap_or_default();
        console.write(&format!("{}\n", piece.join("\n")));
        shown = upto;
        if shown == total {
            break;
        }
        let (at, of) = (number(shown), number(total));
        console.write(&format!("-- {at} of {of} lines; space for more, q to go back -- "));
        match console.key() {
            Input::Key('q' | 'Q' | 'n') => {
                console.write("\n");
                break;
            }
            end @ (Input::End | Input::Withdrawn) => return Err(end),
            Input::Key(_) | Input::Enter | Input::Other => console.write("\n"),
        }
    }
    Ok(())
}
