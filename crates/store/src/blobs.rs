//! Contents, each kept once under its hash.
//!
//! A content is written under a temporary name and renamed, so several
//! processes may keep the same one at once and a killed one leaves nothing
//! that could be taken for whole. What is read back is compared with its hash:
//! a content that was damaged is an error, never handed out.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use toolgate_core::behind::{Behind, behind, let_go, write_behind};
use uuid::Uuid;

/// From this size on contents are copied as they are, which file systems can do without copying.
const COPIED_WHOLE: u64 = 8 * 1024 * 1024;

/// The folder where contents are kept.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    folder: PathBuf,
    written: Arc<AtomicU64>,
}

/// A content that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) hash: blake3::Hash,
    pub(crate) size: u64,
    /// Whether only its hash was looked for.
    pub(crate) is_only_hashed: bool,
}

/// What a content must survive once it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survive {
    /// The end of this process, if it is small; of a large one only the hash is wanted.
    ProcessIfSmall,
    /// The end of this process.
    Process,
    /// A power loss.
    Power,
}

/// A content as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) hash: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// Keeps others from removing contents, or from keeping them, while it lives.
#[derive(Debug)]
pub(crate) struct BlobLock {
    _file: File,
}

/// Why a content was not kept or not read back.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum BlobError {
    #[error("the content `{hash}` is no longer kept")]
    Missing { hash: String },
    #[error("the kept content `{hash}` is damaged")]
    Damaged { hash: String },
    #[error("the content has {size} bytes, more than can be looked at")]
    TooLarge { size: u64 },
    #[error("no space is left to keep contents in `{}`", path.display())]
    Full { path: PathBuf, source: io::Error },
    #[error("cannot use `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Blobs {
    /// Opens the folder, making it where it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, BlobError> {
        let blobs = Self { folder: folder.to_owned(), written: Arc::default() };
        make_folder(folder)?;
        make_folder(&blobs.unfinished())?;
        Ok(blobs)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where contents are that are not whole yet.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.folder.join("unfinished")
    }

    /// How many bytes were added, and begins to count anew.
    pub(crate) fn take_written(&self) -> u64 {
        self.written.swap(0, Ordering::Relaxed)
    }

    /// How many bytes were added since.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Returns the error for something that failed in the folder.
    pub(crate) fn failed(&self, source: io::Error) -> BlobError {
        failed(&self.folder, source)
    }

    /// Keeps contents from being removed until they are written down as needed.
    pub(crate) fn lock(&self) -> Result<BlobLock, BlobError> {
        let (path, file) = self.lock_file()?;
        file.lock_shared().map_err(|source| failed(&path, source))?;
        Ok(BlobLock { _file: file })
    }

    /// Waits until nobody keeps contents, and holds them off.
    pub(crate) fn lock_alone(&self) -> Result<BlobLock, BlobError> {
        let (path, file) = self.lock_file()?;
        file.lock().map_err(|source| failed(&path, source))?;
        Ok(BlobLock { _file: file })
    }

    /// Holds off whoever keeps contents, if nobody does just now.
    pub(crate) fn try_lock_alone(&self) -> Result<Option<BlobLock>, BlobError> {
        let (path, file) = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(BlobLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
    }

    /// Keeps what an open regular file holds.
    pub(crate) fn keep_file(&self, file: &File, survive: Survive) -> Result<Kept, BlobError> {
        let read = |source| failed(&self.folder, source);
        let size = file.metadata().map_err(read)?.len();
        if size >= COPIED_WHOLE && survive == Survive::ProcessIfSmall {
            let (hash, size) = hash_of(file).map_err(read)?;
            return Ok(Kept { hash, size, is_only_hashed: true });
        }
        if size >= COPIED_WHOLE {
            return self.keep_large(file, size, survive);
        }
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        let mut start = file;
        start.rewind().map_err(read)?;
        start.take(COPIED_WHOLE).read_to_end(&mut content).map_err(read)?;
        self.keep(&content, survive)
    }

    /// Keeps a content.
    pub(crate) fn keep(&self, content: &[u8], survive: Survive) -> Result<Kept, BlobError> {
        let hash = blake3::hash(content);
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let place = self.place(&hash.to_hex(), Form::Packed)?;
        if !place.exists() {
            let unfinished = Unfinished::new(self)?;
            let written = (|| {
                let mut packed = FrameEncoder::new(&unfinished.file);
                packed.write_all(content)?;
                packed.finish().map_err(io::Error::from)?;
                Ok(())
            })();
            written.map_err(|source| failed(&unfinished.path, source))?;
            self.finish(unfinished, &place, survive)?;
        }
        Ok(Kept { hash, size, is_only_hashed: false })
    }

    /// The hash is that of the copy: the file may change while it is looked at.
    fn keep_large(&self, file: &File, size: u64, survive: Survive) -> Result<Kept, BlobError> {
        let mut unfinished = Unfinished::new(self)?;
        let (hash, size) = copy_whole(file, &mut unfinished.file, size, survive)
            .map_err(|source| failed(&unfinished.path, source))?;
        let place = self.place(&hash.to_hex(), Form::Whole)?;
        if place.exists() {
            let copy = unfinished.file.try_clone();
            drop(unfinished);
            if let Ok(copy) = copy {
                let_go(copy);
            }
        } else {
            self.finish(unfinished, &place, survive)?;
        }
        Ok(Kept { hash, size, is_only_hashed: false })
    }

    fn finish(
        &self,
        mut unfinished: Unfinished,
        place: &Path,
        survive: Survive,
    ) -> Result<(), BlobError> {
        let above = place.parent().unwrap_or(&self.folder);
        let bytes = (|| {
            if survive == Survive::Power {
                unfinished.file.sync_data()?;
            }
            let bytes = unfinished.file.metadata()?.len();
            match fs::rename(&unfinished.path, place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::DirBuilder::new().recursive(true).mode(0o700).create(above)?;
                    fs::rename(&unfinished.path, place)?;
                }
                other => other?,
            }
            unfinished.is_finished = true;
            if survive == Survive::Power {
                File::open(above)?.sync_all()?;
            }
            Ok(bytes)
        })();
        let bytes = bytes.map_err(|source| failed(place, source))?;
        self.written.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Writes a content to an open, empty file that can be read, too.
    pub(crate) fn write_to(&self, hash: &str, target: &mut File) -> Result<(), BlobError> {
        let write = |source| failed(Path::new("the new version"), source);
        let (form, file) = self.find(hash)?;
        let found = match form {
            Form::Packed => {
                let mut hashing = Hashing { target: &mut *target, hasher: blake3::Hasher::new() };
                match io::copy(&mut *form.unpack(file), &mut hashing) {
                    Ok(_) => {}
                    Err(error) if is_damage(&error) => return Err(damaged(hash)),
                    Err(error) => return Err(write(error)),
                }
                hashing.hasher.finalize().to_hex().to_string()
            }
            Form::Whole => {
                let size = file.metadata().map_err(write)?.len();
                let (found, _) =
                    copy_whole(&file, target, size, Survive::Process).map_err(write)?;
                found.to_hex().to_string()
            }
        };
        if found == hash { Ok(()) } else { Err(damaged(hash)) }
    }

    /// Makes sure that a content is there and whole.
    pub(crate) fn verify(&self, hash: &str) -> Result<(), BlobError> {
        let (form, file) = self.find(hash)?;
        let mut hasher = blake3::Hasher::new();
        match io::copy(&mut *form.unpack(file), &mut hasher) {
            Ok(_) if hasher.finalize().to_hex().as_str() == hash => Ok(()),
            _ => Err(damaged(hash)),
        }
    }

    /// A content of at most `limit` bytes.
    pub(crate) fn read(&self, hash: &str, limit: u64) -> Result<Vec<u8>, BlobError> {
        let (form, file) = self.find(hash)?;
        let mut content = Vec::new();
        let read = form.unpack(file).take(limit + 1).read_to_end(&mut content);
        let size = u64::try_from(read.map_err(|_| damaged(hash))?).unwrap_or(u64::MAX);
        if size > limit {
            return Err(BlobError::TooLarge { size });
        }
        let found = blake3::hash(&content).to_hex();
        if found.as_str() == hash { Ok(content) } else { Err(damaged(hash)) }
    }

    /// Every content there is.
    pub(crate) fn list(&self) -> Result<Vec<Stored>, BlobError> {
        let mut all = Vec::new();
        for folder in entries(&self.folder)? {
            let Some(start) =
                folder.file_name().to_str().filter(|name| name.len() == 2).map(str::to_owned)
            else {
                continue;
            };
            for entry in entries(&folder.path())? {
                let name = entry.file_name();
                let Some((rest, _)) = name.to_str().and_then(|name| name.split_once('.')) else {
                    continue;
                };
                let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
                all.push(Stored { hash: format!("{start}{rest}"), path: entry.path(), bytes });
            }
        }
        Ok(all)
    }

    fn find(&self, hash: &str) -> Result<(Form, File), BlobError> {
        for form in [Form::Packed, Form::Whole] {
            let place = self.place(hash, form)?;
            match File::open(&place) {
                Ok(file) => return Ok((form, file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&place, error)),
            }
        }
        Err(BlobError::Missing { hash: hash.to_owned() })
    }

    /// Where a content is; a hash that is none names no file.
    fn place(&self, hash: &str, form: Form) -> Result<PathBuf, BlobError> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        match hash.split_at_checked(2) {
            Some((start, rest)) if is_hash => {
                Ok(self.folder.join(start).join(format!("{rest}.{}", form.ending())))
            }
            _ => Err(BlobError::Missing { hash: hash.to_owned() }),
        }
    }

    fn lock_file(&self) -> Result<(PathBuf, File), BlobError> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| failed(&path, source))?;
        Ok((path, file))
    }
}

/// How a content lies on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Packed,
    Whole,
}

impl Form {
    fn ending(self) -> &'static str {
        match self {
            Self::Packed => "lz4",
            Self::Whole => "raw",
        }
    }

    /// Returns a reader of the content in a file.
    fn unpack(self, file: File) -> Box<dyn Read> {
        match self {
            Self::Packed => Box::new(FrameDecoder::new(file)),
            Self::Whole => Box::new(file),
        }
    }
}

/// A content that is being written; removed unless it is finished.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    file: File,
    is_finished: bool,
}

impl Unfinished {
    fn new(blobs: &Blobs) -> Result<Self, BlobError> {
        let path = blobs.unfinished().join(Uuid::now_v7().simple().to_string());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(|source| failed(&path, source))?;
        Ok(Self { path, file, is_finished: false })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            // What cannot be removed now is removed when contents are pruned.
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Hashes what passes through.
struct Hashing<'a> {
    target: &'a mut File,
    hasher: blake3::Hasher,
}

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.target.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// Copies by sharing the blocks where the file system can; the hash and size of the copy.
fn copy_whole(
    mut source: &File,
    target: &mut File,
    size: u64,
    survive: Survive,
) -> io::Result<(blake3::Hash, u64)> {
    if rustix::fs::ioctl_ficlone(&*target, source).is_ok() {
        return hash_of(target);
    }
    source.rewind()?;
    target.rewind()?;
    let mut hasher = blake3::Hasher::new();
    let source = source.take(size);
    match survive {
        Survive::Power => {
            let hash = |piece: &[u8]| {
                hasher.update(piece);
            };
            write_behind(target, hash, whole(source))?;
        }
        Survive::Process | Survive::ProcessIfSmall => {
            let write = |piece: &[u8]| {
                hasher.update(piece);
                target.write_all(piece)
            };
            behind(write, whole(source))?;
        }
    }
    Ok((hasher.finalize(), hasher.count()))
}

fn hash_of(mut file: &File) -> io::Result<(blake3::Hash, u64)> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    let hash = |piece: &[u8]| {
        hasher.update(piece);
        Ok(())
    };
    behind(hash, whole(file))?;
    Ok((hasher.finalize(), hasher.count()))
}

/// All there is to read.
fn whole(mut source: impl Read) -> impl FnOnce(&mut Behind) -> io::Result<()> {
    move |target| {
        while target.read_from(&mut source)? > 0 {}
        Ok(())
    }
}

fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};

    matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof)
}

fn damaged(hash: &str) -> BlobError {
    BlobError::Damaged { hash: hash.to_owned() }
}

fn failed(path: &Path, source: io::Error) -> BlobError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};

    let path = path.to_owned();
    match source.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => BlobError::Full { path, source },
        _ => BlobError::Io { path, source },
    }
}

fn make_folder(folder: &Path) -> Result<(), BlobError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| failed(folder, source))
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, BlobError> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    match listed {
        Ok(entries) => Ok(entries),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(failed(folder, error)),
    }
}

#[cfg(test)]
mod tests;
