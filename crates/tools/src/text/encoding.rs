//! From bytes to text and back without losing any.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::wide;

/// How many bytes are looked at to tell text from binary.
const SNIFFED: usize = 8 * 1024;

/// How a file's text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    charset: &'static encoding_rs::Encoding,
    mark: bool,
}

/// A file's text and how it was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
}

impl Encoding {
    /// Plain UTF-8 without a byte-order mark.
    pub(crate) const PLAIN: Self = Self { charset: UTF_8, mark: false };

    /// The encoding a byte-order mark at the start names, and the mark's length.
    pub(crate) fn of_mark(bytes: &[u8]) -> Option<(Self, usize)> {
        let (charset, length) = encoding_rs::Encoding::for_bom(bytes)?;
        Some((Self { charset, mark: true }, length))
    }

    /// The encoding that the start of a file tells, by a mark or by two bytes for each character,
    /// and the mark's length.
    pub(crate) fn of_start(start: &[u8]) -> Option<(Self, usize)> {
        Self::of_mark(start).or_else(|| {
            let sniffed = start.get(..SNIFFED).unwrap_or(start);
            memchr::memchr(0, sniffed)?;
            let charset = wide::unmarked(sniffed)?;
            Some((Self { charset, mark: false }, 0))
        })
    }

    /// Whether characters take two bytes, so that lines cannot be found without decoding.
    pub(crate) fn is_wide(self) -> bool {
        self.charset == UTF_16LE || self.charset == UTF_16BE
    }

    /// What it is called, when it is not plain UTF-8.
    pub(crate) fn label(self) -> Option<&'static str> {
        (self.charset != UTF_8).then(|| self.charset.name())
    }

    pub(crate) fn charset(self) -> &'static encoding_rs::Encoding {
        self.charset
    }

    /// The byte-order mark the file starts with, if it has one.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self.mark {
            false => b"",
            true if self.charset == UTF_16LE => b"\xff\xfe",
            true if self.charset == UTF_16BE => b"\xfe\xff",
            true => b"\xef\xbb\xbf",
        }
    }

    /// The text in this encoding, without the mark; nothing when a character cannot be written in it.
    pub(crate) fn encode(self, text: &str) -> Option<Cow<'_, [u8]>> {
        if self.charset == UTF_16LE {
            return Some(Cow::Owned(text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
        }
        if self.charset == UTF_16BE {
            return Some(Cow::Owned(text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
        }
        let (bytes, _, lossy) = self.charset.encode(text);
        (!lossy).then_some(bytes)
    }
}

/// Whether the start of a file is binary: a NUL byte that no encoding explains.
pub(crate) fn looks_binary(start: &[u8]) -> bool {
    let sniffed = start.get(..SNIFFED).unwrap_or(start);
    let is_wide = || Encoding::of_start(start).is_some_and(|(encoding, _)| encoding.is_wide());
    memchr::memchr(0, sniffed).is_some() && !is_wide()
}

/// Decodes a whole file. Encoding the result again gives the same bytes.
pub(crate) fn decode(bytes: Vec<u8>) -> Decoded {
    let told = Encoding::of_start(&bytes);
    let as_told = told.and_then(|(encoding, length)| reversible(bytes.get(length..)?, encoding));
    match (as_told, told) {
        (Some(decoded), _) => decoded,
        // A mark on something that is not what it says is part of the content.
        (None, Some((Encoding { mark: true, .. }, _))) => decode_legacy(&bytes),
        (None, _) => match String::from_utf8(bytes) {
            Ok(text) => Decoded { text, encoding: Encoding::PLAIN },
            Err(error) => decode_legacy(error.as_bytes()),
        },
    }
}

/// Decodes bytes that are no UTF-8 by guessing, and checks that the guess loses nothing.
fn decode_legacy(bytes: &[u8]) -> Decoded {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // Windows-1252 has a character for every byte, so it always fits.
    [guess, WINDOWS_1252]
        .into_iter()
        .find_map(|charset| reversible(bytes, Encoding { charset, mark: false }))
        .unwrap_or_else(|| Decoded {
            text: String::from_utf8_lossy(bytes).into_owned(),
            encoding: Encoding::PLAIN,
        })
}

fn reversible(bytes: &[u8], encoding: Encoding) -> Option<Decoded> {
    let text =
        encoding.charset.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
    (encoding.encode(&text)?.as_ref() == bytes).then_some(Decoded { text, encoding })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_and_legacy_charsets_are_known() {
        let latin = decode(b"caf\xe9 au lait, d\xe9j\xe0 vu, na\xefve".to_vec());
        assert!(latin.text.starts_with("caf\u{e9}"), "{latin:?}");
        let wide = decode(b"\xff\xfeh\0i\0".to_vec());
        assert_eq!((wide.text.as_str(), wide.encoding.mark()), ("hi", &b"\xff\xfe"[..]));
        let marked = decode(b"\xef\xbb\xbfhi".to_vec());
        assert_eq!((marked.text.as_str(), marked.encoding.mark()), ("hi", &b"\xef\xbb\xbf"[..]));
    }

    proptest! {
        #[test]
        fn decoding_loses_no_byte(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let decoded = decode(bytes.clone());
            let body = decoded.encoding.encode(&decoded.text).unwrap();
            prop_assert_eq!([decoded.encoding.mark(), &body].concat(), bytes);
        }
    }
}
