//! Files that are more than text: images and PDF documents.

pub mod helper;
mod images;
mod kind;
mod pages;
pub(crate) mod pdf;
mod pdf_text;

pub(crate) use images::{MOST_BYTES as MOST_IMAGE_BYTES, Shown, Unshown, show};
pub(crate) use kind::{Kind, binary_kind, kind};
pub(crate) use pages::Pages;
