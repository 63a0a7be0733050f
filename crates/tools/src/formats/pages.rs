//! Which pages of a document are wanted.

use std::fmt;

/// How many pieces a list of pages may have.
const MOST_PIECES: usize = 100;

/// Pages of a document, such as `3`, `2-5` or `1,4-6`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pages {
    pieces: Vec<Piece>,
}

/// Pages from one to another, both included; to the last when not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    first: u32,
    last: Option<u32>,
}

impl Pages {
    /// Reads a list of pages; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pieces = text.split(',').map(|piece| {
            let piece = piece.trim();
            let (first, last) = match piece.split_once('-') {
                None => (number(piece)?, Some(number(piece)?)),
                Some((first, "")) => (number(first)?, None),
                Some((first, last)) => (number(first)?, Some(number(last)?)),
            };
            if let Some(last) = last.filter(|last| *last < first) {
                return Err(format!("page {last} comes before page {first}"));
            }
            Ok(Piece { first, last })
        });
        let pieces: Vec<Piece> = pieces.take(MOST_PIECES + 1).collect::<Result<_, String>>()?;
        if pieces.len() > MOST_PIECES {
            return Err(format!("it has more than {MOST_PIECES} pieces"));
        }
        Ok(Self { pieces })
    }

    /// The pages there are of those, in order and each once.
    ///
    /// # Errors
    ///
    /// The first page that the document does not have.
    pub(crate) fn of(&self, count: u32) -> Result<Vec<u32>, u32> {
        let mut pages = Vec::new();
        for &Piece { first, last } in &self.pieces {
            let last = last.unwrap_or_else(|| count.max(first));
            if last > count {
                return Err(first.max(count.saturating_add(1)));
            }
            pages.extend(first..=last);
        }
        pages.sort_unstable();
        pages.dedup();
        Ok(pages)
    }
}

fn number(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(0) => Err("pages count from 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is no page number")),
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, piece) in self.pieces.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match piece {
                Piece { first, last: None } => write!(formatter, "{comma}{first}-")?,
                Piece { first, last: Some(last) } if last == first => {
                    write!(formatter, "{comma}{first}")?;
                }
                Piece { first, last: Some(last) } => write!(formatter, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, count: u32) -> Result<Vec<u32>, u32> {
        Pages::parse(text).unwrap().of(count)
    }

    #[test]
    fn lists_name_pages_once_and_in_order() {
        assert_eq!(of("3", 9), Ok(vec![3]));
        assert_eq!(of("2-5", 9), Ok(vec![2, 3, 4, 5]));
        assert_eq!(of(" 4-6, 1 ,5", 9), Ok(vec![1, 4, 5, 6]));
        assert_eq!(of("7-", 9), Ok(vec![7, 8, 9]));
        assert_eq!(of("7-12", 9), Err(10));
        assert_eq!(of("12", 9), Err(12));
        assert_eq!(of("12-", 9), Err(12));
        assert_eq!(Pages::parse(" 4-6, 1 ,5-5,8-").unwrap().to_string(), "4-6,1,5,8-");
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| Pages::parse(text).unwrap_err();
        assert_eq!(wrong("0"), "pages count from 1");
        assert_eq!(wrong("5-2"), "page 2 comes before page 5");
        assert_eq!(wrong("a-b"), "`a` is no page number");
        assert_eq!(wrong(""), "`` is no page number");
        assert_eq!(wrong("99999999999"), "`99999999999` is no page number");
        assert_eq!(wrong(&"1,".repeat(200)), "it has more than 100 pieces");
    }
}
