//! A document read by a process of its own, in the narrowest sandbox there is.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use tokio::runtime::Handle;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Order, Spawner, Status};

use super::unread::Unread;
use crate::formats::helper;
use crate::formats::pdf_text::{Answer, Request};
use crate::process::{End, Stream, Why, watch};

/// More of an answer is not taken; it is longer than any that is meant well.
const MOST_ANSWER: usize = 64 * 1024 * 1024;
/// What the reader is ended by when it computes too long.
const TOO_LONG: [i32; 2] = [24, 9];

/// Has the document read, and waits for it.
pub(super) fn ask(
    context: &CallContext,
    spawner: &Arc<dyn Spawner>,
    file: File,
    request: &Request,
) -> Result<Answer, Unread> {
    let copy = sealed_copy(file).map_err(|error| failed(&error.to_string()))?;
    // Where nothing can be enforced the limits of the process are all there is.
    let sandbox = if spawner.level() == Level::None { Sandbox::Full } else { Sandbox::ReadOnly };
    let request = serde_json::to_string(request).map_err(|error| failed(&error.to_string()))?;
    let order = Order {
        program: "/proc/self/exe".into(),
        args: vec![helper::ARGUMENT.into(), request.into()],
        folder: "/".into(),
        env: vec![("RAYON_NUM_THREADS".into(), "1".into())],
        sandbox,
        network: Vec::new(),
        roots: Vec::new(),
        unmasked: Vec::new(),
        beyond: Beyond::default(),
        scratch: "reader".to_owned(),
        stdin: Some(Arc::new(copy.into())),
    };
    let mut answer = String::new();
    let take = |stream, text: &str| {
        if stream == Stream::Out && answer.len() + text.len() <= MOST_ANSWER {
            answer.push_str(text);
        }
    };
    let end = Handle::current().block_on(async {
        let spawned = spawner.spawn(order).await.map_err(|error| failed(&error.to_string()))?;
        let limit = Some(Duration::from_secs(helper::SECONDS));
        let end = watch(spawned, limit, context.cancellation(), take).await;
        end.map_err(|error| failed(&error.to_string()))
    })?;
    context.check()?;
    understood(&end, &answer)
}

fn understood(end: &End, answer: &str) -> Result<Answer, Unread> {
    match (end.why, end.ended.status) {
        (Why::TimedOut, _) => Err(Unread::TooSlow),
        (_, Status::Signal(signal)) if TOO_LONG.contains(&signal) => Err(Unread::TooSlow),
        (_, Status::Exit(0)) => {
            serde_json::from_str(answer).map_err(|error| failed(&error.to_string()).into())
        }
        (_, Status::Signal(_)) => Err(Unread::TooMuch),
        (_, status) => Err(failed(&format!("it ended with {status:?}")).into()),
    }
}

/// A copy in memory that nobody can change: whoever parses the document never holds the file.
fn sealed_copy(file: File) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut copy = File::from(memfd_create(c"toolgate-document", flags)?);
    io::copy(&mut file.take(helper::MOST_BYTES), &mut copy)?;
    copy.rewind()?;
    fcntl_add_seals(
        &copy,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(copy)
}

fn failed(why: &str) -> ToolError {
    ToolError::new(
        ErrorKind::FileReadError,
        format!("the process that reads documents failed: {why}; try again"),
    )
}
