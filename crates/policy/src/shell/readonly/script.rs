//! Scripts of `sed`, read the way GNU `sed` reads them.
//!
//! Where versions differ, or two readings are possible, the script is refused.

/// Makes sure that a script opens no file and runs no program.
///
/// # Errors
/// Says in words for a person what it does, or that it could not be read.
pub(crate) fn prints_only(script: &str) -> Result<(), String> {
    let mut script = Script { rest: script };
    let mut depth = 0_usize;
    loop {
        script.skip(|letter| letter == ';' || letter == '\n' || blank(letter));
        if script.rest.is_empty() {
            break;
        }
        script.address()?;
        match script.next() {
            Some('{') => depth += 1,
            Some('}') => {
                depth = depth.checked_sub(1).ok_or_else(unclear)?;
                script.end()?;
            }
            Some(
                '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z',
            ) => {
                script.end()?;
            }
            Some('l' | 'q' | 'Q') => {
                script.skip(blank);
                script.skip(|letter| letter.is_ascii_digit());
                script.end()?;
            }
            Some('b' | 't' | 'T') => {
                script.label();
                script.end()?;
            }
            Some(':') => {
                if script.label() == 0 {
                    return Err(unclear());
                }
                script.end()?;
            }
            Some('a' | 'i' | 'c') => script.text()?,
            Some('s') => {
                script.delimited_pair()?;
                script.substitution_flags()?;
                script.end()?;
            }
            Some('y') => {
                script.delimited_pair()?;
                script.end()?;
            }
            Some('#') => script.skip(|letter| letter != '\n'),
            Some('r' | 'R') => return Err("its script reads a file".into()),
            Some('w' | 'W') => return Err("its script writes a file".into()),
            Some('e') => return Err("its script runs a program".into()),
            _ => return Err(unclear()),
        }
    }
    if depth == 0 { Ok(()) } else { Err(unclear()) }
}

/// What is left of a script.
struct Script<'a> {
    rest: &'a str,
}

impl Script<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(wanted);
    }

    fn take(&mut self, letter: char) -> bool {
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The lines a command is for: `3`, `$`, `/a/I`, `2,/b/`, `1~2`, `5,+3`, with `!`.
    fn address(&mut self) -> Result<(), String> {
        if self.one_address()? {
            self.skip(blank);
            if self.take(',') {
                self.skip(blank);
                let counted = self.take('+') || self.take('~');
                if counted && !self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
                    return Err(unclear());
                }
                if !self.one_address()? {
                    return Err(unclear());
                }
            }
        }
        self.skip(|letter| blank(letter) || letter == '!');
        Ok(())
    }

    fn one_address(&mut self) -> Result<bool, String> {
        match self.peek() {
            Some('0'..='9') => {
                self.skip(|letter| letter.is_ascii_digit());
                if self.take('~') {
                    self.skip(|letter| letter.is_ascii_digit());
                }
            }
            Some('$') => {
                self.next();
            }
            Some('/') => {
                self.next();
                self.until('/')?;
                self.skip(|letter| letter == 'I' || letter == 'M');
            }
            Some('\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.skip(|letter| letter == 'I' || letter == 'M');
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A character that ends a pattern; others than these are read differently by some.
    fn delimiter(&mut self) -> Result<char, String> {
        let plain = "/|,:;#@!%~_=+.-\"'^&";
        self.next().filter(|letter| plain.contains(*letter)).ok_or_else(unclear)
    }

    /// Goes past the delimiter. Brackets do not hide it, a backslash does.
    fn until(&mut self, delimiter: char) -> Result<(), String> {
        loop {
            match self.next() {
                Some(letter) if letter == delimiter => return Ok(()),
                Some('\\') => {
                    self.next().ok_or_else(unclear)?;
                }
                Some('\n') | None => return Err(unclear()),
                Some(_) => {}
            }
        }
    }

    fn delimited_pair(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        self.until(delimiter)?;
        self.until(delimiter)
    }

    fn substitution_flags(&mut self) -> Result<(), String> {
        self.skip(|letter| matches!(letter, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'));
        match self.peek() {
            Some('w') => Err("its script writes a file".into()),
            Some('e') => Err("its script runs a program".into()),
            _ => Ok(()),
        }
    }

    /// Goes past a label and returns its length.
    fn label(&mut self) -> usize {
        self.skip(blank);
        let before = self.rest.len();
        self.skip(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        before - self.rest.len()
    }

    /// The text of `a`, `i` and `c`: the rest of the line, or the next line after `a\`.
    fn text(&mut self) -> Result<(), String> {
        self.skip(blank);
        if let Some(rest) = self.rest.strip_prefix("\\\n") {
            self.rest = rest;
        } else if self.rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(blank)) {
            return Err(unclear());
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        if line.is_empty() || line.ends_with('\\') {
            return Err(unclear());
        }
        self.rest = rest;
        Ok(())
    }

    /// The end of a command; a bracket that closes or a comment is left for the next round.
    fn end(&mut self) -> Result<(), String> {
        self.skip(blank);
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => Err(unclear()),
        }
    }
}

fn blank(letter: char) -> bool {
    letter == ' ' || letter == '\t'
}

fn unclear() -> String {
    "its script is not understood".into()
}
