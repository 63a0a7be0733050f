//! The name a program greets a TLS server with.
//!
//! Many sites share an address, and the name in the greeting selects one of them. It has to be
//! the name that was granted.

use tokio::io::{AsyncBufRead, AsyncReadExt as _};

use super::peer;
use super::refusal::Refusal;

/// How long a greeting may be.
const LIMIT: usize = 32 * 1024;

/// Records of a handshake begin with this.
const HANDSHAKE: u8 = 22;

/// The extension that carries the name.
const SERVER_NAME: u16 = 0;

/// The extension that carries another greeting, which only the server can read.
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// The alert that ends a handshake because of the name.
pub(super) const NAME_NOT_KNOWN: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// How a program begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// With a TLS greeting, read as these bytes.
    Tls { bytes: Vec<u8>, name: Option<String>, hides_name: bool },
    /// With something else, of which nothing was read.
    Other,
}

/// Reads how a program begins. A greeting that comes in pieces is put together first.
pub(super) async fn read(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Opening, Refusal> {
    if peer::next_byte(from).await? != Some(HANDSHAKE) {
        return Ok(Opening::Other);
    }
    let mut bytes = Vec::new();
    let mut message = Vec::new();
    while bytes.len() <= LIMIT {
        let mut record = [0; 5];
        from.read_exact(&mut record).await?;
        let [kind, major, _, high, low] = record;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if kind != HANDSHAKE || major != 3 || length == 0 || length > 16 * 1024 {
            return Err(ODD);
        }
        let mut content = vec![0; length];
        from.read_exact(&mut content).await?;
        bytes.extend_from_slice(&record);
        bytes.extend_from_slice(&content);
        message.append(&mut content);
        if let Some(hello) = whole(&message)? {
            let Names { name, hides_name } = Names::parse(hello).ok_or(ODD)?;
            return Ok(Opening::Tls { bytes, name, hides_name });
        }
    }
    Err(ODD)
}

const ODD: Refusal = Refusal::Nonsense("its TLS greeting is not one");

/// The content of the message, once all of it is there. Nothing may follow it.
fn whole(message: &[u8]) -> Result<Option<&[u8]>, Refusal> {
    let Some((head, content)) = message.split_at_checked(4) else { return Ok(None) };
    let [1, high, middle, low] = *head else { return Err(ODD) };
    let length = u32::from_be_bytes([0, high, middle, low]) as usize;
    if length > LIMIT || content.len() > length {
        return Err(ODD);
    }
    Ok((content.len() == length).then_some(content))
}

/// What a greeting says about the name.
struct Names {
    name: Option<String>,
    hides_name: bool,
}

impl Names {
    fn parse(hello: &[u8]) -> Option<Self> {
        let mut hello = Cursor(hello);
        let mut names = Self { name: None, hides_name: false };
        hello.take(2 + 32)?;
        hello.short_list()?;
        hello.list()?;
        hello.short_list()?;
        if hello.0.is_empty() {
            return Some(names);
        }
        let mut extensions = Cursor(hello.list()?);
        let mut seen = false;
        while !extensions.0.is_empty() {
            let kind = extensions.number()?;
            let content = extensions.list()?;
            match kind {
                SERVER_NAME if seen => return None,
                SERVER_NAME => {
                    seen = true;
                    names.name = Some(server_name(content)?);
                }
                ENCRYPTED_HELLO => names.hides_name = true,
                _ => {}
            }
        }
        hello.0.is_empty().then_some(names)
    }
}

/// The one name in the extension.
fn server_name(content: &[u8]) -> Option<String> {
    let mut content = Cursor(content);
    let mut names = Cursor(content.list()?);
    let [0] = *names.take(1)? else { return None };
    let name = names.list()?;
    let is_alone = names.0.is_empty() && content.0.is_empty();
    is_alone.then(|| String::from_utf8(name.to_vec()).ok())?
}

/// What is left to read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(length)?;
        self.0 = left;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// What has its length before it, in two bytes.
    fn list(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::from(length))
    }

    /// What has its length before it, in one byte.
    fn short_list(&mut self) -> Option<&'a [u8]> {
        let [length] = *self.take(1)? else { return None };
        self.take(usize::from(length))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            drop(Names::parse(&bytes));
            drop(server_name(&bytes));
            drop(whole(&bytes));
        }
    }
}
