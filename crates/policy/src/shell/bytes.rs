//! Characters that may not stand in a line, because they hide or change what a person sees.

/// The longest line that is looked at, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// Whether a line holds only characters that show themselves.
///
/// # Errors
///
/// What is wrong, in words for a person: the length, or the first bad
/// character with its number and its position in bytes.
pub fn check(line: &str) -> Result<(), String> {
    if line.len() > LONGEST {
        return Err(format!("the line is {} bytes long, and {LONGEST} is the limit", line.len()));
    }
    // Nearly every line is plain, and without a way out many bytes are looked at at a time.
    let is_other = |byte: u8| !matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if line.bytes().fold(0, |found, byte| found | u8::from(is_other(byte))) == 0 {
        return Ok(());
    }
    for (position, character) in line.char_indices() {
        if let Some(kind) = objection(character) {
            let number = u32::from(character);
            return Err(format!("{kind} U+{number:04X} at byte {position}"));
        }
    }
    Ok(())
}

/// What is wrong with a character.
fn objection(character: char) -> Option<&'static str> {
    match character {
        '\t' | '\n' | ' '..='~' => None,
        '\0' => Some("the NUL character"),
        '\r' => Some("the carriage return"),
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some("the hidden line break"),
        '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some("the control character"),
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Some("the blank that is no space")
        }
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("the character that turns the direction of text")
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' => {
            Some("the character without width")
        }
        '\u{e0000}'..='\u{e007f}' => Some("the invisible tag character"),
        '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        | '\u{180b}'..='\u{180d}'
        | '\u{180f}' => Some("the variation selector"),
        _ if is_invisible(character) => Some("the invisible character"),
        _ => None,
    }
}

/// The rest of what Unicode calls ignorable, with fillers, marks and private use.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
        || u32::from(character) & 0xfffe == 0xfffe
        || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_passes() {
        for line in ["ls -la\n\tpwd", "echo grüße 你好 ñ", "printf '✓ done'", ""] {
            assert_eq!(check(line), Ok(()), "{line:?}");
        }
    }

    #[test]
    fn names_the_character_and_where_it_is() {
        assert_eq!(
            check("npm\u{a0}test").unwrap_err(),
            "the blank that is no space U+00A0 at byte 3"
        );
        assert_eq!(check("é\u{202e}").unwrap_err().split(" at ").last(), Some("byte 2"));
    }

    #[test]
    fn what_hides_is_refused() {
        let hiding = [
            '\0',
            '\r',
            '\u{7}',
            '\u{b}',
            '\u{c}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1680}',
            '\u{180b}',
            '\u{180e}',
            '\u{2000}',
            '\u{200b}',
            '\u{200d}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{202f}',
            '\u{205f}',
            '\u{2060}',
            '\u{2064}',
            '\u{2066}',
            '\u{206a}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{e000}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{ffff}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{f0000}',
            '\u{10ffff}',
        ];
        for character in hiding {
            assert!(check(&format!("ls{character}")).is_err(), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn a_line_may_be_only_so_long() {
        assert!(check(&"x".repeat(LONGEST)).is_ok());
        assert!(check(&"x".repeat(LONGEST + 1)).is_err());
    }
}
