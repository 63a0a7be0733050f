//! Images, decoded within limits and made small enough for a model.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage};

/// The longest edge a model is shown, in pixels.
const LONGEST_EDGE: u32 = 1568;
/// The most bytes a model is shown, before they become base64.
const MOST_SHOWN: usize = 3_500_000;
/// The most pixels that are decoded.
const MOST_PIXELS: u64 = 64 * 1024 * 1024;
/// The most memory that decoding may take.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;
/// Larger images are decoded one after the other, so that many at once take no more memory.
const LARGE: u64 = 8 * 1024 * 1024;
/// How well a photograph is kept, tried in this order until it is small enough.
const QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// The largest image file that is read.
pub(crate) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// An image as a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What the file itself is called, such as `PNG`.
    pub(crate) name: &'static str,
    /// The size of the original in pixels, upright.
    pub(crate) size: (u32, u32),
    /// The size that is shown, when it is another one.
    pub(crate) shrunk: Option<(u32, u32)>,
    /// The media type of what is shown.
    pub(crate) mime: &'static str,
    /// What is shown, in base64.
    pub(crate) data: String,
}

/// Why an image is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unshown {
    /// It has so many pixels, or takes so much memory, that it is not decoded.
    TooLarge(Option<(u32, u32)>),
    /// It is broken.
    Broken(String),
}

/// Decodes an image, and makes it smaller if it has to be.
pub(crate) fn show(bytes: &[u8], format: ImageFormat) -> Result<Shown, Unshown> {
    // Decoders are made for images that mean well.
    catch_unwind(AssertUnwindSafe(|| decode_and_encode(bytes, format)))
        .unwrap_or_else(|_| Err(Unshown::Broken("its data makes no sense".to_owned())))
}

fn decode_and_encode(bytes: &[u8], format: ImageFormat) -> Result<Shown, Unshown> {
    static TURN: Mutex<()> = Mutex::new(());
    let is_large = pixels(bytes, format).is_none_or(|pixels| pixels > LARGE);
    let _turn = is_large.then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
    let mut size = None;
    let (image, orientation) = decode(bytes, format, &mut size).map_err(|error| match error {
        ImageError::Limits(_) => Unshown::TooLarge(size),
        other => Unshown::Broken(reason(&other)),
    })?;
    let (width, height) = (image.width(), image.height());
    let is_small = width.max(height) <= LONGEST_EDGE && bytes.len() <= MOST_SHOWN;
    let is_upright = orientation == Orientation::NoTransforms;
    if let Some(mime) = accepted(format).filter(|_| is_small && is_upright) {
        let data = BASE64_STANDARD.encode(bytes);
        return Ok(Shown { name: name(format), size: (width, height), shrunk: None, mime, data });
    }
    let mut small = shrink(image);
    small.apply_orientation(orientation);
    let size = match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    };
    let (encoded, mime) = encode(&small, format)?;
    let now = (small.width(), small.height());
    Ok(Shown {
        name: name(format),
        size,
        shrunk: (now != size).then_some(now),
        mime,
        data: BASE64_STANDARD.encode(encoded),
    })
}

/// How many pixels an image says it has.
fn pixels(bytes: &[u8], format: ImageFormat) -> Option<u64> {
    let reader = ImageReader::with_format(Cursor::new(bytes), format);
    let (width, height) = reader.into_dimensions().ok()?;
    Some(u64::from(width) * u64::from(height))
}

fn decode(
    bytes: &[u8],
    format: ImageFormat,
    size: &mut Option<(u32, u32)>,
) -> Result<(DynamicImage, Orientation), ImageError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    *size = Some((width, height));
    let too_large = || {
        ImageError::Limits(image::error::LimitError::from_kind(
            image::error::LimitErrorKind::DimensionError,
        ))
    };
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_MEMORY {
        return Err(too_large());
    }
    // An image without a word about how it is held is upright.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder)?, orientation))
}

fn shrink(image: DynamicImage) -> DynamicImage {
    if image.width().max(image.height()) <= LONGEST_EDGE {
        return image;
    }
    // A thumbnail first, quickly and not too small, so that the good filter has less to do.
    let twice = 2 * LONGEST_EDGE;
    let closer = if image.width().max(image.height()) > 2 * twice {
        image.thumbnail(twice, twice)
    } else {
        image
    };
    closer.resize(LONGEST_EDGE, LONGEST_EDGE, FilterType::CatmullRom)
}

/// Drawings stay exact where that is small enough, photographs become photographs.
fn encode(image: &DynamicImage, from: ImageFormat) -> Result<(Vec<u8>, &'static str), Unshown> {
    let failed = |error: ImageError| Unshown::Broken(reason(&error));
    if from != ImageFormat::Jpeg {
        let mut bytes = Cursor::new(Vec::new());
        // Eight bits for each colour are what anybody sees.
        let exact: DynamicImage = if image.color().has_alpha() {
            image.to_rgba8().into()
        } else {
            image.to_rgb8().into()
        };
        exact.write_to(&mut bytes, ImageFormat::Png).map_err(failed)?;
        if bytes.get_ref().len() <= MOST_SHOWN {
            return Ok((bytes.into_inner(), "image/png"));
        }
    }
    let flat = on_white(image);
    let mut bytes = Vec::new();
    for quality in QUALITIES {
        bytes.clear();
        let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        flat.write_with_encoder(encoder).map_err(failed)?;
        if bytes.len() <= MOST_SHOWN {
            break;
        }
    }
    Ok((bytes, "image/jpeg"))
}

/// What shines through is white, as on paper.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let source = image.to_rgba8();
    let mut flat = RgbImage::new(source.width(), source.height());
    for (to, from) in flat.pixels_mut().zip(source.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        let over = |colour: u16| {
            let mixed = (colour * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        to.0 = [over(red), over(green), over(blue)];
    }
    flat
}

/// The media type of a kind of image that models accept as it is.
fn accepted(format: ImageFormat) -> Option<&'static str> {
    match format {
        ImageFormat::Png => Some("image/png"),
        ImageFormat::Jpeg => Some("image/jpeg"),
        ImageFormat::Gif => Some("image/gif"),
        ImageFormat::WebP => Some("image/webp"),
        _ => None,
    }
}

fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WebP",
        ImageFormat::Bmp => "BMP",
        _ => "unknown",
    }
}

/// What is wrong with an image, in a line.
fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it ends too early".to_owned()
        }
        other => other.to_string().replace('\n', " "),
    }
}
