//! JavaScript's regular expressions as ours.
//!
//! The two look alike and differ in what a few signs mean. What can be said
//! exactly is rewritten; the rest is refused, and the caller decides what the
//! refusal means for its rule.

use std::iter::Peekable;
use std::str::Chars;

/// What JavaScript's `\s` stands for.
const BLANKS: &str =
    r"\t\n\x0B\f\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// What a `.` may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dot {
    /// Just the characters it stands for in JavaScript.
    Exact,
    /// A few more: fine where matching more is stricter.
    Wider,
}

/// Rewrites the expression, or says what has no counterpart.
pub(crate) fn translate(pattern: &str, dot: Dot) -> Result<String, String> {
    let mut translation = Translation { rest: pattern.chars().peekable(), out: String::new(), dot };
    translation.run()?;
    match regex::Regex::new(&translation.out) {
        Ok(_) => Ok(translation.out),
        Err(_) => Err("the expression is not one Toolgate can run".to_owned()),
    }
}

struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    dot: Dot,
}

impl Translation<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(sign) = self.rest.next() {
            match sign {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '{' => self.repetition()?,
                '.' if self.dot == Dot::Exact => self.out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
                _ => self.out.push(sign),
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.rest.next() {
            Some('d') => self.out.push_str("[0-9]"),
            Some('D') => self.out.push_str("[^0-9]"),
            Some('w') => self.out.push_str("[0-9A-Za-z_]"),
            Some('W') => self.out.push_str("[^0-9A-Za-z_]"),
            Some('s') => self.out.push_str(&format!("[{BLANKS}]")),
            Some('S') => self.out.push_str(&format!("[^{BLANKS}]")),
            Some('b') => self.out.push_str(r"(?-u:\b)"),
            other => self.plain_escape(other)?,
        }
        Ok(())
    }

    /// Escapes that mean the same inside a class and outside.
    fn plain_escape(&mut self, sign: Option<char>) -> Result<(), String> {
        match sign {
            Some(sign @ ('t' | 'n' | 'r' | 'v' | 'f')) => self.out.extend(['\\', sign]),
            Some('x') => self.code_point(2)?,
            Some('u') => self.code_point(4)?,
            Some(sign @ ('/' | '<' | '>' | '"' | '\'' | ' ' | ':' | ',' | '=' | '!' | '@')) => {
                self.out.push(sign);
            }
            Some(sign) if sign.is_ascii_punctuation() => self.out.extend(['\\', sign]),
            Some(sign) => return Err(format!("`\\{sign}` has no counterpart")),
            None => return Err("the expression ends in a backslash".to_owned()),
        }
        Ok(())
    }

    fn code_point(&mut self, digits: usize) -> Result<(), String> {
        let hex: String = (0..digits).filter_map(|_| self.rest.next()).collect();
        let valid = hex.len() == digits && hex.chars().all(|digit| digit.is_ascii_hexdigit());
        if !valid {
            return Err("an escaped code point is not complete".to_owned());
        }
        self.out.push_str(&format!("\\u{{{hex}}}"));
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.peek() == Some(&']') {
            return Err("an empty class has no counterpart".to_owned());
        }
        let mut previous = None;
        loop {
            match self.rest.next() {
                None => return Err("a class is not closed".to_owned()),
                Some(']') => break,
                Some('\\') => self.class_escape()?,
                Some(sign @ ('[' | '&' | '~' | '^')) => self.out.extend(['\\', sign]),
                Some('-') if previous == Some('-') => {
                    return Err("`--` in a class has no counterpart".to_owned());
                }
                Some(sign) => {
                    self.out.push(sign);
                    previous = Some(sign);
                    continue;
                }
            }
            previous = None;
        }
        self.out.push(']');
        Ok(())
    }

    fn class_escape(&mut self) -> Result<(), String> {
        match self.rest.next() {
            Some('d') => self.out.push_str("0-9"),
            Some('w') => self.out.push_str("0-9A-Za-z_"),
            Some('s') => self.out.push_str(BLANKS),
            Some('b') => self.out.push_str(r"\x08"),
            Some(sign @ ('D' | 'W' | 'S')) => {
                return Err(format!("`\\{sign}` in a class has no counterpart"));
            }
            other => self.plain_escape(other)?,
        }
        Ok(())
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        match self.rest.next() {
            Some(':') => self.out.push_str("?:"),
            _ => return Err("look-around, flags and named groups have no counterpart".to_owned()),
        }
        Ok(())
    }

    fn repetition(&mut self) -> Result<(), String> {
        self.out.push('{');
        let mut counts = String::new();
        while let Some(sign) = self.rest.next_if(|sign| sign.is_ascii_digit() || *sign == ',') {
            counts.push(sign);
        }
        let closed = self.rest.next_if_eq(&'}').is_some();
        if !closed || !counts.starts_with(|first: char| first.is_ascii_digit()) {
            return Err("a brace that counts nothing has no counterpart".to_owned());
        }
        self.out.push_str(&counts);
        self.out.push('}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_expressions_stay_as_they_are() {
        for pattern in ["git (commit|push)", "rm -rf?", "[a-z]+x{2,3}", r"a\.b\|c", "(?:a|b)*"] {
            assert_eq!(translate(pattern, Dot::Wider).as_deref(), Ok(pattern));
        }
    }

    #[test]
    fn signs_that_mean_more_here_are_narrowed() {
        let matches = |pattern: &str, text: &str| {
            regex::Regex::new(&translate(pattern, Dot::Exact).unwrap()).unwrap().is_match(text)
        };
        assert!(matches(r"^\d+$", "12") && !matches(r"^\d+$", "١٢"));
        assert!(matches(r"^[\w-]+$", "a-b") && !matches(r"^\w+$", "é"));
        assert!(matches(r"^a\sb$", "a\u{feff}b") && !matches(r"^a\sb$", "a\u{85}b"));
        assert!(!matches("^a.b$", "a\u{2028}b") && matches("^a.b$", "a\"b"));
        assert!(matches(r"^[a&&b]+$", "a&b") && matches(r"^[[]$", "["));
        assert!(matches(r"\bgit\b", "égit x") && matches(r"^\/\<\u0041\x42$", "/<AB"));
    }

    #[test]
    fn what_means_something_else_is_refused() {
        for pattern in [
            r"(?=a)", r"(?<!a)b", r"(a)\1", r"\Aa", r"a\z", "[]", "[^]", "a{", "a{,3}", "(?i)a",
            "(",
        ] {
            assert!(translate(pattern, Dot::Exact).is_err(), "{pattern}");
        }
    }
}
