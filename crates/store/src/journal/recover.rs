//! Calls whose process did not live to see their end.

use super::end::end;
use crate::archive::{Archive, KeepError};
use crate::blobs::BlobError;
use crate::records::{delete_watch, open_watches};
use crate::run::Over;

/// Finds out what calls changed whose process is gone; how many there were.
pub(crate) fn recover(archive: &Archive) -> Result<usize, KeepError> {
    let mut recovered = 0;
    for watch in archive.read(open_watches)? {
        let Some(runner) = &watch.runner else { continue };
        let over = Over::check(archive.state(), runner);
        let over =
            over.map_err(|source| BlobError::Io { path: archive.state().to_owned(), source })?;
        // As long as it is held, nobody else compares the same folders.
        if let Some(_over) = over {
            match end(archive, watch.id, None) {
                // How it was before is not known any more, so nothing can be said or undone.
                Err(KeepError::Content(BlobError::Missing { .. } | BlobError::Damaged { .. })) => {
                    archive.write(|rows| delete_watch(rows, watch.id))?;
                }
                other => drop(other?),
            }
            recovered += 1;
        }
    }
    Ok(recovered)
}
