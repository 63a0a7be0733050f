//! How long results may be.

use std::path::PathBuf;

/// What kind of text a result is, which decides what is kept when it is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Content of files: the start is kept.
    #[default]
    File,
    /// Output of a command: the end is kept, and a little of the start where there is room.
    Output,
    /// Entries of a listing: the first ones are kept and the rest counted.
    Listing,
    /// Matches of a search: the first ones are kept and the rest counted.
    Matches,
    /// Start and end are both kept.
    Both,
}

/// Named sets of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Each tool's own size.
    #[default]
    Standard,
    /// Small results for small contexts.
    Compact,
}

impl std::str::FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "standard" => Ok(Self::Standard),
            "compact" => Ok(Self::Compact),
            other => Err(format!("unknown preset `{other}`, expected `standard` or `compact`")),
        }
    }
}

/// Which part of a long text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first part.
    Start,
    /// The last part.
    End,
    /// Both ends.
    Both,
    /// A little of the start, and most from the end.
    MostlyEnd,
}

/// A threshold, and how much is kept once it is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Up to this many, nothing is cut.
    pub over: usize,
    /// Above that, this many are kept.
    pub keep: usize,
}

impl Cap {
    /// Keeps as much as fits.
    pub const fn at(limit: usize) -> Self {
        Self { over: limit, keep: limit }
    }
}

/// How long a result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Which part is kept.
    pub keep: Keep,
    /// In characters.
    pub chars: Cap,
    /// In lines, if they count too.
    pub lines: Option<Cap>,
    /// In entries or matches, if they count too.
    pub items: Option<Cap>,
    /// What an item is called, such as `matches`.
    pub item_name: Option<&'static str>,
}

impl Limit {
    /// The limit for a shape of text under a preset, given the tool's own size.
    pub fn for_shape(shape: Shape, preset: Preset, max_chars: usize) -> Self {
        const KEPT: Cap = Cap { over: 10 * 1024, keep: 5 * 1024 };
        let compact = preset == Preset::Compact;
        let chars = match shape {
            Shape::File | Shape::Output | Shape::Both if compact && max_chars > KEPT.over => KEPT,
            _ => Cap::at(max_chars),
        };
        let items = match shape {
            Shape::Listing if compact => Some(Cap { over: 1000, keep: 500 }),
            Shape::Matches if compact => Some(Cap { over: 100, keep: 50 }),
            _ => None,
        };
        Self {
            keep: match shape {
                Shape::File | Shape::Listing | Shape::Matches => Keep::Start,
                Shape::Output if compact => Keep::End,
                Shape::Output => Keep::MostlyEnd,
                Shape::Both => Keep::Both,
            },
            chars,
            lines: None,
            items,
            item_name: match shape {
                Shape::Listing => Some("entries"),
                Shape::Matches => Some("matches"),
                _ => None,
            },
        }
    }
}

/// Where the whole of a long result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    /// To a file named after the call, in this folder.
    Kept {
        /// The folder, made when needed.
        folder: PathBuf,
        /// The name without its ending.
        name: String,
    },
    /// Nowhere.
    Dropped,
}
