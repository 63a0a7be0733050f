//! How much goes on at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many requests go on at once.
const REQUESTS: usize = 1_000;
/// How many bytes of requests are held at once.
const BYTES: usize = 64 * 1024 * 1024;

/// What a client is told when there is no room for its request.
pub(super) const FULL: &str = "too much goes on at once; wait for answers, then ask again";

/// How much goes on at once, over all connections.
#[derive(Debug, Default)]
pub(super) struct Load {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    requests: usize,
    bytes: usize,
}

impl Load {
    /// Makes room for a request of so many bytes; nothing where there is none. The room is taken
    /// as long as anything of the request holds it.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Option<Arc<Room>> {
        {
            let mut taken = self.lock();
            if taken.requests >= REQUESTS {
                return None;
            }
            taken.requests += 1;
        }
        let room = Room { load: Arc::clone(self), bytes: AtomicUsize::new(0) };
        room.grow(bytes).then(|| Arc::new(room))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The room of a request that goes on.
#[derive(Debug)]
pub(super) struct Room {
    load: Arc<Load>,
    bytes: AtomicUsize,
}

impl Room {
    /// Makes it larger by so many bytes, unless there is no more room.
    pub(super) fn grow(&self, bytes: usize) -> bool {
        let mut taken = self.load.lock();
        let fits = taken.bytes.saturating_add(bytes) <= BYTES;
        if fits {
            taken.bytes += bytes;
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        fits
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = self.load.lock();
        taken.requests -= 1;
        taken.bytes -= self.bytes.load(Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_some_and_again_when_they_are_done() {
        let load = Arc::new(Load::default());
        let mut rooms: Vec<_> = (0..REQUESTS).map(|_| load.take(1).unwrap()).collect();
        assert!(load.take(0).is_none());
        rooms.pop();
        let last = load.take(0).unwrap();
        assert!(load.take(0).is_none());
        drop((rooms, last));
        let large = load.take(BYTES - 1).unwrap();
        assert!(load.take(2).is_none() && load.take(usize::MAX).is_none());
        assert!(load.take(1).is_some_and(|room| !room.grow(1)));
        assert!(large.grow(1) && !large.grow(1));
        drop(large);
        assert!(load.take(BYTES).is_some());
    }
}
