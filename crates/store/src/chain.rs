//! Each entry's hash covers the one before: none can be changed, taken out or put in unseen.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

/// A hash in the chain.
pub(crate) type Hash = [u8; 32];

/// What comes before the first entry.
pub(crate) const ORIGIN: Hash = [0; 32];

/// What an entry's hash covers, besides the hash before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) session: &'a str,
    pub(crate) call: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) tool: Option<&'a str>,
    pub(crate) body: &'a str,
}

impl Columns<'_> {
    /// The hash of an entry that follows one with the hash `previous`.
    pub(crate) fn link(&self, previous: &Hash) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update(previous);
        let mut add = |column: Option<&[u8]>| {
            // INVARIANT: no text is this long, so that nothing is not taken for something.
            let length = column.map_or(u64::MAX, |bytes| bytes.len() as u64);
            hasher.update(length.to_be_bytes());
            hasher.update(column.unwrap_or_default());
        };
        add(Some(&self.seq.to_be_bytes()));
        add(Some(&self.at.to_be_bytes()));
        add(Some(self.session.as_bytes()));
        add(self.call.map(str::as_bytes));
        add(Some(self.kind.as_bytes()));
        add(self.tool.map(str::as_bytes));
        add(Some(self.body.as_bytes()));
        hasher.finalize().into()
    }
}

/// The last entry of a chain: whoever knows it can tell later that nothing was cut off.
///
/// ```
/// use toolgate_store::Head;
///
/// let text = format!("7:{}", "0f".repeat(32));
/// let head: Head = text.parse()?;
/// assert_eq!(head.seq(), 7);
/// assert_eq!(head.to_string(), text);
/// # Ok::<_, toolgate_store::InvalidHead>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub(crate) seq: i64,
    pub(crate) hash: Hash,
}

impl Head {
    /// What an empty chain has.
    pub(crate) const NONE: Self = Self { seq: 0, hash: ORIGIN };

    /// How many entries there are up to it.
    pub fn seq(&self) -> u64 {
        u64::try_from(self.seq).unwrap_or_default()
    }

    /// The head of the chain in a database.
    pub(crate) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        Self::load_at(connection, i64::MAX)
    }

    /// What the head was when there were no more entries than this.
    pub(crate) fn load_at(connection: &Connection, seq: i64) -> rusqlite::Result<Self> {
        let query = "SELECT seq, hash FROM entries WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1";
        let found = connection
            .prepare_cached(query)?
            .query_row([seq], |row| Ok(Self { seq: row.get(0)?, hash: row.get(1)? }))
            .optional()?;
        Ok(found.unwrap_or(Self::NONE))
    }
}

impl fmt::Display for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.seq, hexadecimal(&self.hash))
    }
}

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (seq, hash) = text.trim().split_once(':')?;
            let seq = seq.parse().ok().filter(|seq| *seq >= 0)?;
            Some(Self { seq, hash: parse_hash(hash)? })
        };
        parse().ok_or(InvalidHead)
    }
}

/// A text that is no head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a head is a number, `:` and 64 hexadecimal digits, as `toolgate audit verify` prints it")]
pub struct InvalidHead;

/// Bytes as people write them.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads what [`hexadecimal`] writes.
pub(crate) fn parse_hash(text: &str) -> Option<Hash> {
    let digit = |letter: u8| match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    bytes?.try_into().ok()
}
