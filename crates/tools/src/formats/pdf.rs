//! PDF documents, read where they can do no harm.

mod apart;
mod unread;
mod within;

use std::fs::File;

use toolgate_core::context::CallContext;

use super::helper;
use super::pages::Pages;
use super::pdf_text::{Answer, Request};

pub(crate) use super::helper::MOST_BYTES;
pub(crate) use super::pdf_text::{Document, Lack, PageText};
pub(crate) use unread::Unread;

/// After so many characters no further page is read, even if it was asked for.
const MOST_CHARS: usize = 4 * 1024 * 1024;

/// Reads a document, or some of its pages: in a process of its own where that is possible.
pub(crate) fn read(
    context: &CallContext,
    file: File,
    pages: Option<&Pages>,
) -> Result<Document, Unread> {
    let most_chars = if pages.is_some() { MOST_CHARS } else { context.max_chars() };
    let request = Request { pages: pages.map(Pages::to_string), most_chars };
    let answer = match context.spawner() {
        Some(spawner) if helper::is_available() => apart::ask(context, spawner, file, &request),
        _ => within::ask(context, file, request),
    };
    match answer? {
        Answer::Read(document) => Ok(document),
        Answer::Locked => Err(Unread::Locked),
        Answer::NoSuchPage { page, count } => Err(Unread::NoSuchPage { page, count }),
        Answer::Broken(why) => Err(Unread::Broken(why)),
    }
}
