//! What a command is to run with: chosen, and confirmed in words.

use toolgate_core::approval::ShownReach;
use toolgate_core::visible;
use toolgate_policy::Level;
use toolgate_policy::host;
use toolgate_policy::profile::Profile;
use toolgate_policy::rule::Sandbox;

use super::console::Console;
use super::layout;
use crate::terminal::Input;

/// More hosts are more than anybody reads.
const MOST_HOSTS: usize = 20;
/// Where the words of a choice begin.
const INDENT: usize = 5;
/// What can be chosen, by its number.
const CHOICES: [(char, &str); 4] = [
    ('1', "in a sandbox: read-only, no network"),
    ('2', "in a sandbox: may write in the workspace; no network"),
    ('3', "the same, and it reaches hosts that you name"),
    ('4', "unconfined: it can do whatever you can"),
];

/// Whether there is anything to choose: what is not confined here cannot be.
pub(super) fn can_choose(shown: Option<&ShownReach>) -> bool {
    shown.is_some_and(|shown| shown.level != Level::None)
}

/// Asks what a command is to run with, and wants it confirmed. Nothing when the person goes back.
///
/// # Errors
///
/// What ended the conversation meanwhile.
pub(super) fn ask(console: &impl Console) -> Result<Option<Profile>, Input> {
    console.write(&menu(console.size().columns));
    let chosen = match console.key() {
        Input::Key('1') => Some(Profile::of(Sandbox::ReadOnly)),
        Input::Key('2') => Some(Profile::of(Sandbox::WorkspaceWrite)),
        Input::Key('3') => hosts(console)?,
        Input::Key('4') => Some(Profile::of(Sandbox::Full)),
        end @ (Input::End | Input::Withdrawn) => return Err(end),
        Input::Key(_) | Input::Enter | Input::Other => None,
    };
    let Some(chosen) = chosen else {
        console.write("back\n");
        return Ok(None);
    };
    let columns = console.size().columns;
    let words = layout::words(&format!("It would run {chosen}."), columns).join("\n");
    let keys = layout::words("Press y to confirm, any other key to go back:", columns - 1);
    console.write(&format!("\n{words}\n{} ", keys.join("\n")));
    match console.key() {
        Input::Key('y' | 'Y') => {
            console.write("yes\n");
            Ok(Some(chosen))
        }
        end @ (Input::End | Input::Withdrawn) => Err(end),
        Input::Key(_) | Input::Enter | Input::Other => {
            console.write("back\n");
            Ok(None)
        }
    }
}

fn menu(columns: usize) -> String {
    let mut text = "What should it run with?\n".to_owned();
    for (number, words) in CHOICES {
        for (line, words) in layout::words(words, columns - INDENT).iter().enumerate() {
            let start = if line == 0 { format!("  {number}  ") } else { " ".repeat(INDENT) };
            text.push_str(&format!("{start}{words}\n"));
        }
    }
    let keys = layout::words("Press a number, any other key to go back:", columns - 1);
    format!("{text}{} ", keys.join("\n"))
}

/// The hosts that a person names. Nothing when they are not understood.
fn hosts(console: &impl Console) -> Result<Option<Profile>, Input> {
    console.write("\nWhich hosts, with blanks between them? ");
    let typed = console.line()?;
    Ok(match named(&typed) {
        Ok(hosts) if hosts.is_empty() => None,
        Ok(hosts) => Some(Profile::new(Sandbox::WorkspaceWrite, hosts)),
        Err(why) => {
            console.write(&format!("{}\n", visible::question(&visible::line(&why))));
            None
        }
    })
}

/// The hosts in a text.
///
/// # Errors
/// What is wrong with them, in a sentence.
pub(crate) fn named(text: &str) -> Result<Vec<String>, String> {
    let names = text.split([' ', ',', '\t']).filter(|name| !name.is_empty());
    let mut hosts = Vec::new();
    for name in names {
        let host = host::parse(name).map_err(|error| format!("{error}."))?;
        if let Some(network) = host::private(&host) {
            return Err(format!(
                "`{host}` is {network}, not a public host; a rule of yours may grant it."
            ));
        }
        hosts.push(host);
    }
    if hosts.len() > MOST_HOSTS {
        return Err(format!("No more than {MOST_HOSTS} hosts can be named at once."));
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_say_what_profiles_say() {
        for (number, sandbox) in
            [(0, Sandbox::ReadOnly), (1, Sandbox::WorkspaceWrite), (3, Sandbox::Full)]
        {
            assert_eq!(CHOICES[number].1, Profile::of(sandbox).to_string());
        }
    }

    #[test]
    fn hosts_are_public_names() {
        assert_eq!(named(" docs.rs, Crates.IO ").unwrap(), ["docs.rs", "crates.io"]);
        assert_eq!(named("").unwrap(), [""; 0]);
        for text in ["localhost", "docs.rs *", "1.2.3.4", "https://docs.rs", "a.b\u{202e}"] {
            assert!(named(text).is_err(), "{text}");
        }
        assert!(named(&"docs.rs ".repeat(21)).is_err());
    }
}
