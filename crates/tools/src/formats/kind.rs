//! What a file is, by its first bytes.

use image::ImageFormat;

use crate::text;

/// How far into a file a PDF's header may stand.
const HEADER_WITHIN: usize = 1024;
/// Sizes of the second header of a BMP image, which tell its version.
const BMP_HEADERS: [u32; 7] = [12, 40, 52, 56, 64, 108, 124];

/// What a file is, as far as reading it is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text, in whatever encoding.
    Text,
    /// An image of a kind that is shown.
    Image(ImageFormat),
    /// A PDF document.
    Pdf,
    /// Anything else.
    Binary,
}

/// What a file is that starts with these bytes.
pub(crate) fn kind(start: &[u8]) -> Kind {
    if start.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    if let Some(format) = plain_image(start) {
        return Kind::Image(format);
    }
    // Whatever else there is has NUL bytes, so that text is told by a single look.
    if !text::looks_binary(start) {
        return Kind::Text;
    }
    let header = start.get(..HEADER_WITHIN).unwrap_or(start);
    if memchr::memmem::find(header, b"%PDF-").is_some() {
        return Kind::Pdf;
    }
    lettered_image(start).map_or(Kind::Binary, Kind::Image)
}

/// Images whose first bytes no text has.
fn plain_image(start: &[u8]) -> Option<ImageFormat> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(ImageFormat::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        _ => None,
    }
}

/// Images that begin with letters, as a text could.
fn lettered_image(start: &[u8]) -> Option<ImageFormat> {
    if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
        return Some(ImageFormat::Gif);
    }
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        return Some(ImageFormat::WebP);
    }
    let header = start.get(14..18)?.try_into().map(u32::from_le_bytes).ok()?;
    let is_bmp = start.starts_with(b"BM")
        && start.get(6..10) == Some(&[0; 4])
        && BMP_HEADERS.contains(&header);
    is_bmp.then_some(ImageFormat::Bmp)
}

/// What kinds of files begin with, and where, and what they are called.
const BINARY: &[(usize, &[u8], &str)] = &[
    (0, b"PK\x03\x04", "a ZIP archive or a document packed as one"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x7fELF", "an ELF program or library"),
    (0, b"\x1f\x8b", "data compressed with gzip"),
    (0, b"BZh", "data compressed with bzip2"),
    (0, b"\xfd7zXZ\0", "data compressed with xz"),
    (0, b"\x28\xb5\x2f\xfd", "data compressed with zstd"),
    (0, b"\x04\x22\x4d\x18", "data compressed with lz4"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"!<arch>\n", "an ar archive or static library"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"\xca\xfe\xba\xbe", "Java bytecode or a Mach-O program"),
    (0, b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (0, b"PAR1", "a Parquet table"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"GGUF", "a GGUF model"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"\0\0\x01\0", "an icon"),
    (0, b"wOF2", "a font"),
    (0, b"wOFF", "a font"),
    (0, b"OTTO", "a font"),
    (0, b"\0\x01\0\0\0", "a font"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftypheic", "a HEIC image"),
    (4, b"ftyp", "a video or audio file"),
    (0, b"\x1a\x45\xdf\xa3", "a video file"),
    (0, b"OggS", "an Ogg audio or video file"),
    (0, b"fLaC", "a FLAC audio file"),
    (0, b"ID3", "an MP3 audio file"),
    (8, b"WAVE", "a WAV audio file"),
    (8, b"AVI ", "a video file"),
    (0, b"MZ", "a Windows program or library"),
    (0, b"DIRC", "a git index"),
];

/// What a binary file is called, when its first bytes tell.
pub(crate) fn binary_kind(start: &[u8]) -> Option<&'static str> {
    let found = BINARY
        .iter()
        .find(|(at, magic, _)| start.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    found.map(|(.., name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_like_an_image_and_is_text_stays_text() {
        for text in ["GIF89a is a format", "BM is short", "RIFF....WEBP", "II*", "MZ", "PDF"] {
            assert_eq!(kind(text.as_bytes()), Kind::Text, "{text}");
        }
        assert_eq!(kind(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), Kind::Text);
    }

    #[test]
    fn a_pdf_may_have_something_before_its_header() {
        assert_eq!(kind(b"%PDF-1.7\n"), Kind::Pdf);
        assert_eq!(kind(b"\0\0junk\n%PDF-1.7\n"), Kind::Pdf);
        assert_eq!(kind(b"about %PDF-1.7"), Kind::Text);
    }

    #[test]
    fn binaries_are_called_by_their_name() {
        assert_eq!(binary_kind(b"\x7fELF\x02\x01"), Some("an ELF program or library"));
        let tar = [&[0; 257][..], b"ustar\0"].concat();
        assert_eq!(binary_kind(&tar), Some("a tar archive"));
        assert_eq!(binary_kind(b"\0\0\0\0"), None);
    }
}
