//! Bytes handed to another thread, so that they are made and used at the same time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem;
use std::panic;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, ScopedJoinHandle};

/// How many bytes are handed over at a time: enough to be worth it, little enough for the cache.
const PIECE: usize = 1024 * 1024;
/// How many pieces there are at most, so that the slower side holds up the faster one.
const PIECES: usize = 3;
/// After so many bytes the disk is set to work.
const SYNCED: usize = 16 * 1024 * 1024;

/// The side that makes bytes; what is written here is used on another thread.
#[derive(Debug)]
pub struct Behind {
    piece: Piece,
    full: Sender<Piece>,
    spare: Receiver<Piece>,
}

/// Bytes on their way, in memory that is used again and again.
#[derive(Debug, Default)]
struct Piece {
    memory: Vec<u8>,
    filled: usize,
}

/// Gives what `make` writes to `take`, in order and on another thread; done when both are.
///
/// # Errors
///
/// What `take` fails with, else what `make` fails with.
pub fn behind<T>(
    mut take: impl FnMut(&[u8]) -> io::Result<()> + Send,
    make: impl FnOnce(&mut Behind) -> io::Result<T>,
) -> io::Result<T> {
    let (full, pieces) = mpsc::channel::<Piece>();
    let (used, spare) = mpsc::channel();
    for _ in 1..PIECES {
        used.send(Piece::default()).map_err(io::Error::other)?;
    }
    thread::scope(|scope| {
        let taking = thread::Builder::new().spawn_scoped(scope, move || {
            for mut piece in pieces {
                take(piece.bytes())?;
                piece.filled = 0;
                // The other side needs no more pieces once it is done.
                used.send(piece).ok();
            }
            Ok(())
        })?;
        let mut behind = Behind { piece: Piece::default(), full, spare };
        let made = make(&mut behind).and_then(|made| behind.flush().map(|()| made));
        drop(behind);
        joined(taking)?;
        made
    })
}

/// Writes what `make` makes on another thread, where `look` sees it on the way, and brings it to
/// disk meanwhile, so that little is left to do for the `sync_data` that has to follow.
///
/// # Errors
///
/// What writing fails with, else what `make` fails with.
pub fn write_behind<T>(
    file: &File,
    mut look: impl FnMut(&[u8]) + Send,
    make: impl FnOnce(&mut Behind) -> io::Result<T>,
) -> io::Result<T> {
    thread::scope(|scope| {
        let (wake, woken) = mpsc::sync_channel(1);
        let syncing = thread::Builder::new()
            .spawn_scoped(scope, move || woken.iter().try_for_each(|()| file.sync_data()))?;
        let mut since = 0;
        let write = move |piece: &[u8]| {
            let mut file = file;
            look(piece);
            file.write_all(piece)?;
            since += piece.len();
            if since >= SYNCED {
                since = 0;
                // One that is at work already is woken once more at most.
                wake.try_send(()).ok();
            }
            Ok(())
        };
        let made = behind(write, make);
        // The kernel tells of a failed write once, perhaps only here.
        joined(syncing).and(made)
    })
}

/// Closes a file on another thread: one that has no name any more is freed then, which takes a
/// while if it is large.
pub fn let_go(file: File) {
    // Where there is no other thread, it is closed here.
    thread::Builder::new().spawn(move || drop(file)).ok();
}

impl Behind {
    /// Reads once and hands it over; how many bytes came, none at the end.
    ///
    /// # Errors
    ///
    /// What reading fails with, or that the other side has failed.
    pub fn read_from(&mut self, reader: &mut impl Read) -> io::Result<usize> {
        self.flush()?;
        let read = loop {
            match reader.read(self.piece.free()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.piece.filled = read.min(PIECE);
        self.flush()?;
        Ok(read)
    }
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.filled >= PIECE {
            self.flush()?;
        }
        let count = self.piece.free().write(bytes)?;
        self.piece.filled += count;
        Ok(count)
    }

    /// Hands over what there is.
    fn flush(&mut self) -> io::Result<()> {
        if self.piece.filled == 0 {
            return Ok(());
        }
        let failed = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let next = self.spare.recv().map_err(failed)?;
        let piece = mem::replace(&mut self.piece, next);
        self.full.send(piece).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        self.memory.get(..self.filled).unwrap_or_default()
    }

    fn free(&mut self) -> &mut [u8] {
        self.memory.resize(PIECE, 0);
        self.memory.get_mut(self.filled..).unwrap_or_default()
    }
}

fn joined<T>(handle: ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    handle.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
}

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;

    #[test]
    fn everything_arrives_once_and_in_order() {
        let made: Vec<u8> = (0..=250).cycle().take(5 * PIECE + 17).collect();
        let mut taken = Vec::new();
        let take = |piece: &[u8]| {
            taken.extend_from_slice(piece);
            Ok(())
        };
        let answer = behind(take, |behind| {
            behind.write_all(&made[..7])?;
            behind.write_all(&made[7..])?;
            Ok(42)
        });
        assert_eq!(answer.unwrap(), 42);
        assert!(taken == made);
    }

    #[test]
    fn what_is_read_arrives() {
        let made = vec![7; 2 * PIECE + 3];
        let (mut read, mut taken) = (0, 0);
        let take = |piece: &[u8]| {
            taken += piece.len();
            Ok(())
        };
        let mut reader = made.as_slice();
        behind(take, |behind| {
            while let count @ 1.. = behind.read_from(&mut reader)? {
                read += count;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!((read, taken), (made.len(), made.len()));
    }

    #[test]
    fn the_side_that_failed_first_is_heard() {
        let full = |_: &[u8]| Err(io::ErrorKind::StorageFull.into());
        let endless = |behind: &mut Behind| loop {
            behind.write_all(&[0; 4096])?;
        };
        let failed: io::Result<()> = behind(full, endless);
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);

        let failed = behind(|_| Ok(()), |_| Err::<(), _>(io::ErrorKind::InvalidData.into()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_holds_what_was_written() {
        let mut file = tempfile::tempfile().unwrap();
        let piece = vec![3; PIECE];
        let mut seen = 0;
        write_behind(
            &file,
            |bytes| seen += bytes.len(),
            |behind| (0..40).try_for_each(|_| behind.write_all(&piece)),
        )
        .unwrap();
        assert_eq!(seen, 40 * PIECE);
        let mut content = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut content).unwrap();
        assert!(content == piece.repeat(40));
    }
}
