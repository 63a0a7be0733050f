//! Images, and the line that says what is shown of them.

use image::ImageFormat;
use serde_json::json;
use toolgate_core::bounds::Collector;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::workspace::ResolvedPath;

use super::written::{Written, pixels, too_large};
use crate::content::{Begun, human_size};
use crate::formats::{self, MOST_IMAGE_BYTES, Shown, Unshown};

/// Decodes an image, or says why not.
pub(super) fn read(
    context: &CallContext,
    path: &ResolvedPath,
    begun: Begun,
    format: ImageFormat,
) -> Result<Shown, ToolError> {
    let shown = context.workspace().shown(path.real());
    let size = begun.size;
    if size > MOST_IMAGE_BYTES {
        return Err(too_large(&shown, "an image", size, MOST_IMAGE_BYTES));
    }
    let bytes = begun.bytes(context, path, MOST_IMAGE_BYTES)?;
    context.check()?;
    formats::show(&bytes, format).map_err(|unshown| match unshown {
        Unshown::TooLarge(dimensions) => {
            let how_large = dimensions.map(|size| format!(" of {}", pixels(size)));
            ToolError::new(
                ErrorKind::FileTooLargeError,
                format!(
                    "`{shown}` is an image{}, too many to decode; make a smaller one of it first",
                    how_large.unwrap_or_default()
                ),
            )
        }
        Unshown::Broken(why) => ToolError::new(
            ErrorKind::FileReadError,
            format!("`{shown}` is an image that cannot be decoded: {why}"),
        ),
    })
}

/// Writes the line about an image.
pub(super) fn write(image: Shown, size: u64, shown: &str, collector: &mut Collector) -> Written {
    let Shown { name, mime, .. } = image;
    let about = format!("{name} image, {}, {}", pixels(image.size), human_size(size));
    let line = match image.shrunk {
        Some(shrunk) => format!("{shown}: {about}, shown as {}", pixels(shrunk)),
        None => format!("{shown}: {about}"),
    };
    collector.push(&line);
    let (width, height) = image.size;
    let (shown_width, shown_height) = image.shrunk.unwrap_or(image.size);
    let facts = json!({
        "path": shown, "kind": "image", "format": name, "width": width, "height": height,
        "shownAs": { "mime": mime, "width": shown_width, "height": shown_height },
    });
    Written { display: format!("Read {line}"), facts, images: vec![image] }
}
