//! What came: a page, text, an image, or something else.

use super::super::fetched::Fetched;
use crate::content::human_size;
use crate::text;

/// How large an image may be that is handed on.
const IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    /// Text that is shown as it is.
    Text,
    /// An image that models can look at.
    Image(&'static str),
    /// Something no text can be made of, in words.
    Other(String),
}

impl Kind {
    /// Tells by what the server says, and by what the content begins with.
    pub(crate) fn of(page: &Fetched) -> Self {
        let name = page.content_type.split(';').next().unwrap_or_default().trim();
        let name = name.to_ascii_lowercase();
        let bytes = &page.body;
        if let Some(known) = by_magic(bytes) {
            return match image(bytes) {
                Some(mime) if bytes.len() <= IMAGE_BYTES => Self::Image(mime),
                Some(_) => Self::Other(format!("an image of {}", size(bytes))),
                None => Self::Other(format!("{known} ({})", size(bytes))),
            };
        }
        let says_text = name.is_empty() || name == "application/octet-stream" || is_text(&name);
        if !says_text || text::looks_binary(bytes) {
            let shown: String = name.chars().take(60).collect();
            let shown =
                if shown.is_empty() { "binary data".to_owned() } else { format!("`{shown}`") };
            return Self::Other(format!("{shown} ({})", size(bytes)));
        }
        if matches!(name.as_str(), "text/html" | "application/xhtml+xml") || is_page(&name, bytes) {
            Self::Html
        } else {
            Self::Text
        }
    }
}

/// The media type of an image that models can look at.
fn image(bytes: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if starts(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if starts(b"GIF87a") || starts(b"GIF89a") {
        Some("image/gif")
    } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

fn size(bytes: &[u8]) -> String {
    human_size(bytes.len() as u64)
}

/// What binary formats begin with.
fn by_magic(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or an office document"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ\x00", "an xz archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"\x7fELF", "a program"),
        (b"MZ\x90", "a program"),
        (b"\x00asm", "a WebAssembly module"),
        (b"OggS", "sound or video"),
        (b"ID3", "sound"),
        (b"wOFF", "a font"),
        (b"wOF2", "a font"),
        (b"SQLite format 3\x00", "a database"),
    ];
    let known = KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, name)| *name);
    let video = || (bytes.get(4..8) == Some(b"ftyp")).then_some("a video");
    known.or_else(video).or_else(|| image(bytes))
}

fn is_text(name: &str) -> bool {
    const ALSO: [&str; 14] = [
        "application/json",
        "application/xml",
        "application/xhtml+xml",
        "application/javascript",
        "application/ecmascript",
        "application/x-javascript",
        "application/x-ndjson",
        "application/jsonlines",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/graphql",
        "application/x-sh",
        "application/sql",
    ];
    name.starts_with("text/")
        || name.ends_with("+json")
        || name.ends_with("+xml")
        || ALSO.contains(&name)
}

/// Whether something that is not called a page is one.
fn is_page(name: &str, bytes: &[u8]) -> bool {
    let start = bytes.get(..512).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start)
        .trim_start_matches('\u{feff}')
        .trim_start()
        .to_ascii_lowercase();
    (name.is_empty() || name == "application/octet-stream")
        && (start.starts_with("<!doctype html") || start.starts_with("<html"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::place::Place;

    fn kind(content_type: &str, body: &[u8]) -> Kind {
        let place = Place::parse("http://a.example/").unwrap();
        Kind::of(&Fetched { place, content_type: content_type.to_owned(), body: body.to_vec() })
    }

    #[test]
    fn what_came_is_told_by_name_and_by_content() {
        assert_eq!(kind("text/html; charset=utf-8", b"hi"), Kind::Html);
        assert_eq!(kind("", b"  <!DOCTYPE html><p>"), Kind::Html);
        assert_eq!(kind("text/plain", b"<html>"), Kind::Text);
        assert_eq!(kind("application/ld+json", b"{}"), Kind::Text);
        assert_eq!(kind("image/svg+xml", b"<svg/>"), Kind::Text);
        assert_eq!(kind("application/octet-stream", b"plain"), Kind::Text);
        assert_eq!(kind("image/png", b"\x89PNG\r\n\x1a\nxx"), Kind::Image("image/png"));
        assert_eq!(kind("text/html", b"%PDF-1.7"), Kind::Other("a PDF document (8 bytes)".into()));
        assert_eq!(kind("text/plain", b"a\0b"), Kind::Other("`text/plain` (3 bytes)".into()));
        assert_eq!(kind("image/png", b"no image"), Kind::Other("`image/png` (8 bytes)".into()));
        assert_eq!(kind("", b"\0\0\0"), Kind::Other("binary data (3 bytes)".into()));
        let large = [b"GIF89a".as_slice(), &vec![0; IMAGE_BYTES]].concat();
        assert_eq!(kind("image/gif", &large), Kind::Other("an image of 4.0 MB".into()));
    }
}
