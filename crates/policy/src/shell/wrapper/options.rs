//! Where the options of a program end and the command it runs begins.

use crate::shell::command::Word;

/// The options of a program that runs its operands as a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Short options without a value, or with one that is always attached.
    pub(super) flags: &'static str,
    /// Short options with a value, attached or in the next word.
    pub(super) valued: &'static str,
    /// Long options without a value, or with one that is always behind `=`.
    pub(super) long_flags: &'static [&'static str],
    /// Long options with a value, behind `=` or in the next word.
    pub(super) long_valued: &'static [&'static str],
    /// Operands in front of the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may stand in front of the command.
    pub(super) assignments: bool,
}

/// No option, and the command at once.
pub(super) const NONE: Options = Options {
    flags: "",
    valued: "",
    long_flags: &[],
    long_valued: &[],
    operands: 0,
    assignments: false,
};

/// One option as it was met, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Met<'a> {
    pub(super) name: String,
    pub(super) value: Option<&'a str>,
}

/// What was understood in front of the command.
#[derive(Debug, Default)]
pub(super) struct Understood<'a> {
    pub(super) options: Vec<Met<'a>>,
    /// The place of the command's name among the arguments.
    pub(super) command: usize,
}

impl Understood<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|met| names.contains(&met.name.as_str()))
    }
}

impl Options {
    /// Reads the arguments up to the command; nothing if one is not understood.
    pub(super) fn read<'a>(&self, arguments: &'a [Word]) -> Option<Understood<'a>> {
        let mut understood = Understood::default();
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let text = word.literal()?;
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            let next = arguments.get(at + 1);
            at += match text.strip_prefix("--") {
                Some(long) => self.long(long, next, &mut understood)?,
                None => self.cluster(text.get(1..)?, next, &mut understood)?,
            };
        }
        if self.assignments {
            at += arguments.iter().skip(at).take_while(|word| is_assignment(word)).count();
        }
        understood.command = at + self.operands;
        Some(understood)
    }

    fn long<'a>(
        &self,
        text: &'a str,
        next: Option<&'a Word>,
        understood: &mut Understood<'a>,
    ) -> Option<usize> {
        let (name, value) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let valued = self.long_valued.contains(&name);
        if !valued && !self.long_flags.contains(&name) {
            return None;
        }
        let separate = valued && value.is_none();
        let value = if separate { Some(next?.literal()?) } else { value };
        understood.options.push(Met { name: name.to_owned(), value });
        Some(if separate { 2 } else { 1 })
    }

    fn cluster<'a>(
        &self,
        text: &'a str,
        next: Option<&'a Word>,
        understood: &mut Understood<'a>,
    ) -> Option<usize> {
        for (at, letter) in text.char_indices() {
            let name = letter.to_string();
            if self.valued.contains(letter) {
                let attached = text.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
                let value = match attached {
                    Some(attached) => attached,
                    None => next?.literal()?,
                };
                understood.options.push(Met { name, value: Some(value) });
                return Some(if attached.is_some() { 1 } else { 2 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
            understood.options.push(Met { name, value: None });
        }
        Some(1)
    }
}

/// Whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &Word) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    })
}
