//! Images are shown to a model, within limits.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};
use toolgate_core::error::ErrorKind;
use toolgate_core::result::{Block, Content, ToolResult};

use crate::harness::Lab;

/// The lowest byte of a number.
fn low(number: u32) -> u8 {
    number.to_le_bytes()[0]
}

/// An image of many colours, which does not compress to nothing.
fn picture(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| {
        let noise = x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)) >> 7;
        Rgb([low(noise), low(x), low(y)])
    })
    .into()
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn read(bytes: &[u8]) -> ToolResult {
    // The name says nothing: what counts is what is inside.
    let lab = Lab::with([("picture.txt", bytes)]);
    lab.result("read_file", json!({ "path": "picture.txt" }))
}

/// The line about an image, its media type and its bytes.
fn shown(bytes: &[u8]) -> (String, String, Vec<u8>) {
    let result = read(bytes);
    assert_eq!(result.error, None);
    let Content::Blocks(blocks) = result.llm_content else { panic!("no blocks") };
    let [Block::Text { text }, Block::Image { mime, data }] = blocks.as_slice() else {
        panic!("not a text and an image: {blocks:?}")
    };
    (text.clone(), mime.clone(), BASE64_STANDARD.decode(data).unwrap())
}

#[test]
fn small_images_are_shown_byte_for_byte() {
    let formats = [
        (ImageFormat::Png, "image/png", "PNG"),
        (ImageFormat::Jpeg, "image/jpeg", "JPEG"),
        (ImageFormat::Gif, "image/gif", "GIF"),
        (ImageFormat::WebP, "image/webp", "WebP"),
    ];
    for (format, mime, name) in formats {
        let bytes = encoded(&picture(40, 30), format);
        let (line, shown_as, shown) = shown(&bytes);
        assert!(
            line.starts_with(&format!("picture.txt: {name} image, 40 x 30 pixels, ")),
            "{line}"
        );
        assert_eq!((shown_as.as_str(), shown), (mime, bytes), "{name}");
    }
}

#[test]
fn a_bitmap_becomes_a_png_with_the_same_pixels() {
    let (line, mime, bytes) = shown(&encoded(&picture(40, 30), ImageFormat::Bmp));
    insta::assert_snapshot!(line, @"picture.txt: BMP image, 40 x 30 pixels, 3.5 KB");
    assert_eq!(mime, "image/png");
    let decoded = image::load_from_memory(&bytes).unwrap();
    assert_eq!(decoded.to_rgb8(), picture(40, 30).to_rgb8());
}

#[test]
fn large_images_are_shrunk() {
    let (line, mime, bytes) = shown(&encoded(&picture(4000, 1000), ImageFormat::Jpeg));
    assert!(line.contains("JPEG image, 4000 x 1000 pixels"), "{line}");
    assert!(line.ends_with("shown as 1568 x 392 pixels"), "{line}");
    let small = image::load_from_memory(&bytes).unwrap();
    assert_eq!((small.width(), small.height(), mime.as_str()), (1568, 392, "image/jpeg"));
    let result = read(&encoded(&picture(3000, 100), ImageFormat::Png));
    let facts = json!({
        "path": "picture.txt", "kind": "image", "format": "PNG", "width": 3000, "height": 100,
        "shownAs": { "mime": "image/png", "width": 1568, "height": 52 },
    });
    assert_eq!(result.structured, Some(facts));
}

#[test]
fn what_is_still_too_many_bytes_becomes_a_photograph() {
    let noise = RgbaImage::from_fn(1500, 1500, |x, y| {
        let noise = (x ^ 0x5bd1).wrapping_mul(y.wrapping_mul(2_654_435_761) ^ 0x9e37_79b9);
        let noise = noise ^ (noise >> 13);
        Rgba([low(noise), low(noise >> 8), low(noise >> 16), 128])
    });
    let bytes = encoded(&noise.into(), ImageFormat::Png);
    assert!(bytes.len() > 3_500_000);
    let (line, mime, shown) = shown(&bytes);
    assert_eq!(mime, "image/jpeg");
    assert!(shown.len() <= 3_500_000 && !line.contains("shown as"), "{line}");
}

#[test]
fn an_image_that_was_held_sideways_is_turned_upright() {
    let upright = encoded(&picture(40, 30), ImageFormat::Jpeg);
    // An Exif block that says: turned by a quarter.
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let turned = [&upright[..2], &[0xff, 0xe1], &length, exif, &upright[2..]].concat();
    let (line, mime, bytes) = shown(&turned);
    assert!(line.contains("30 x 40 pixels"), "{line}");
    let decoded = image::load_from_memory(&bytes).unwrap();
    assert_eq!((decoded.width(), decoded.height(), mime.as_str()), (30, 40, "image/jpeg"));
}

#[test]
fn bombs_are_refused_without_being_decoded() {
    let mut png = encoded(&picture(4, 4), ImageFormat::Png);
    png[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let checksum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    let mut gif = encoded(&picture(4, 4), ImageFormat::Gif);
    gif[6..10].fill(0xff);
    let mut bmp = encoded(&picture(4, 4), ImageFormat::Bmp);
    bmp[18..22].copy_from_slice(&60_000_u32.to_le_bytes());
    bmp[22..26].copy_from_slice(&60_000_u32.to_le_bytes());
    for (name, bytes) in [("png", png), ("gif", gif), ("bmp", bmp)] {
        let error = read(&bytes).error.unwrap_or_else(|| panic!("{name} is shown"));
        assert_eq!(error.kind, ErrorKind::FileTooLargeError, "{name}: {}", error.message);
        assert!(error.message.contains("too many to decode"), "{}", error.message);
    }
}

#[test]
fn every_truncated_or_damaged_image_is_shown_or_a_clear_error() {
    let formats = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::Gif,
        ImageFormat::WebP,
        ImageFormat::Bmp,
    ];
    for format in formats {
        let whole = encoded(&picture(60, 60), format);
        for part in [20, 40, 100, whole.len() / 3, whole.len() - 30] {
            clear(&read(&whole[..part]), format);
        }
        for at in (10..whole.len()).step_by(whole.len() / 40 + 1) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            clear(&read(&damaged), format);
        }
    }
    let message = read(&encoded(&picture(60, 60), ImageFormat::Png)[..100]).error.unwrap().message;
    insta::assert_snapshot!(message, @"`picture.txt` is an image that cannot be decoded: it ends too early");
}

fn clear(result: &ToolResult, format: ImageFormat) {
    let Some(error) = &result.error else { return };
    let kinds =
        [ErrorKind::FileReadError, ErrorKind::FileTooLargeError, ErrorKind::BinaryFileError];
    assert!(kinds.contains(&error.kind), "{format:?}: {error}");
}

#[test]
fn an_image_has_no_lines() {
    let lab = Lab::with([("a.png", encoded(&picture(4, 4), ImageFormat::Png))]);
    let args = json!({ "path": "a.png", "startLine": 2 });
    insta::assert_snapshot!(lab.message(ErrorKind::FileReadError, "read_file", args), @"`a.png` is an image and has no lines; leave out `startLine` and `endLine`");
}

#[test]
fn a_drawing_in_words_stays_text() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n";
    let lab = Lab::with([("a.svg", svg)]);
    assert_eq!(lab.says("read_file", json!({ "path": "a.svg" })), svg);
}

#[test]
fn among_several_files_an_image_is_described() {
    let lab = Lab::with([("a.png", encoded(&picture(4, 4), ImageFormat::Png))]);
    lab.put("b.txt", "text\n");
    let said = lab.says("read_many_files", json!({ "paths": ["a.png", "b.txt"] }));
    let (line, rest) = said.strip_prefix("=== a.png ===\n").unwrap().split_once('\n').unwrap();
    assert!(line.starts_with("a.png: PNG image, 4 x 4 pixels, "), "{line}");
    assert_eq!(rest, "\n=== b.txt ===\ntext\n");
    let facts: Value =
        lab.result("read_many_files", json!({ "paths": ["a.png"] })).structured.unwrap();
    assert_eq!(facts, json!({ "read": 1, "failed": 0 }));
}

/// The checksum of a PNG's pieces.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 }
        })
    })
}
