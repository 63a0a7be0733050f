//! The files that trees are written to.
//!
//! Each workspace has a file that names its current generation, and a file for each generation.
//! A generation is only ever added to, so that a call which began with a part of it can be
//! compared with that part as long as it runs. Whoever finds that somebody else added something
//! begins a new generation.

mod encoding;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use uuid::Uuid;

pub(crate) use encoding::{difference, is_same};

use crate::records::bytes_of;
use crate::scan::Tree;

/// Larger generations are not read.
const LARGEST: u64 = 512 * 1024 * 1024;

/// How exactly it is known when an index was last used.
const OFTEN: Duration = Duration::from_hours(12);

/// The folder of all generations.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    folder: PathBuf,
}

/// Names a workspace by its folders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(String);

/// A part of a generation, from its beginning on: a tree as it was once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) key: Key,
    pub(crate) generation: Uuid,
    pub(crate) length: u64,
}

/// A generation that was loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) tree: Tree,
    pub(crate) reference: Reference,
    /// Length of the first block.
    pub(crate) beginning: u64,
}

impl Key {
    /// Returns the key of a workspace.
    pub(crate) fn of(folders: &[PathBuf]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for folder in folders {
            hasher.update(bytes_of(folder)).update(&[0]);
        }
        Self(hasher.finalize().to_hex().chars().take(32).collect())
    }

    fn parse(text: &str) -> Option<Self> {
        let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}:{}", self.key.0, self.generation.simple(), self.length)
    }
}

/// A text that refers to no generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a reference to an index")]
pub(crate) struct InvalidReference;

impl FromStr for Reference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let (name, length) = text.split_once(':').ok_or(InvalidReference)?;
        let (key, generation) = data_name(name).ok_or(InvalidReference)?;
        Ok(Self { key, generation, length: length.parse().map_err(|_| InvalidReference)? })
    }
}

impl Generations {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the current generation of a workspace and its length.
    pub(crate) fn current(&self, key: &Key) -> Option<(Uuid, u64)> {
        let generation = self.generation(key)?;
        let length = fs::metadata(self.data(key, generation)).ok()?.len();
        Some((generation, length))
    }

    fn generation(&self, key: &Key) -> Option<Uuid> {
        let mut text = String::new();
        File::open(self.pointer(key)).ok()?.take(64).read_to_string(&mut text).ok()?;
        Uuid::try_parse(&text).ok()
    }

    /// Loads what a reference refers to.
    pub(crate) fn load(&self, reference: &Reference) -> Option<Tree> {
        let bytes = self.bytes(&reference.key, reference.generation)?;
        let mut rest = bytes.get(..usize::try_from(reference.length).ok()?)?;
        let mut tree = Tree::default();
        while !rest.is_empty() {
            rest = encoding::decode(&mut tree, rest)?;
        }
        Some(tree)
    }

    /// Loads the current generation of a workspace, as far as it is whole.
    pub(crate) fn load_current(&self, key: &Key) -> Option<Loaded> {
        let generation = self.generation(key)?;
        let bytes = self.bytes(key, generation)?;
        let mut tree = Tree::default();
        let mut rest = encoding::decode(&mut tree, &bytes)?;
        let beginning = u64::try_from(bytes.len() - rest.len()).ok()?;
        // A block that somebody was killed while writing is not whole.
        while encoding::is_whole(rest) {
            rest = encoding::decode(&mut tree, rest)?;
        }
        let length = u64::try_from(bytes.len() - rest.len()).ok()?;
        Some(Loaded {
            tree,
            beginning,
            reference: Reference { key: key.clone(), generation, length },
        })
    }

    /// Begins a new generation, which becomes the current one.
    pub(crate) fn begin(&self, key: &Key, tree: &Tree) -> io::Result<Reference> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let generation = Uuid::now_v7();
        let block = encoding::whole(tree);
        let data = self.data(key, generation);
        let written = new_file(&data).and_then(|mut file| file.write_all(&block));
        let pointer = self.folder.join(format!("{}.tmp", generation.simple()));
        let pointed = written.and_then(|()| {
            new_file(&pointer)?.write_all(generation.simple().to_string().as_bytes())?;
            fs::rename(&pointer, self.pointer(key))
        });
        if let Err(error) = pointed {
            fs::remove_file(&data).ok();
            fs::remove_file(&pointer).ok();
            return Err(error);
        }
        let length = u64::try_from(block.len()).unwrap_or(u64::MAX);
        Ok(Reference { key: key.clone(), generation, length })
    }

    /// Adds a block to a generation. Returns `None` if somebody else did, or removed it.
    pub(crate) fn add(&self, to: &Reference, block: &[u8]) -> io::Result<Option<Reference>> {
        let path = self.data(&to.key, to.generation);
        let mut file = match OpenOptions::new().append(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.lock()?;
        if file.metadata()?.len() != to.length {
            return Ok(None);
        }
        file.write_all(block)?;
        let length = to.length + u64::try_from(block.len()).unwrap_or(0);
        Ok(Some(Reference { length, ..to.clone() }))
    }

    /// Notes that an index is of use.
    pub(crate) fn touch(&self, key: &Key) {
        let path = self.pointer(key);
        let used = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let age = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
        if age.is_some_and(|age| age > OFTEN)
            && let Ok(file) = OpenOptions::new().append(true).open(path)
        {
            file.set_modified(SystemTime::now()).ok();
        }
    }

    /// Lists all workspaces, each with the time when its index was last used.
    pub(crate) fn all(&self) -> Vec<(Key, SystemTime)> {
        let used = |path: PathBuf| fs::metadata(path).and_then(|metadata| metadata.modified());
        let pointers = self.files().into_iter().filter_map(|name| Key::parse(&name));
        pointers
            .map(|key| {
                let used = used(self.pointer(&key)).unwrap_or(SystemTime::UNIX_EPOCH);
                (key, used)
            })
            .collect()
    }

    /// Forgets the current generation of a workspace.
    pub(crate) fn forget(&self, key: &Key) {
        fs::remove_file(self.pointer(key)).ok();
    }

    /// Removes generations that are neither current nor in `needed`.
    ///
    /// Nobody else may begin a call meanwhile.
    pub(crate) fn sweep(&self, needed: &[Reference]) {
        for name in self.files() {
            let is_needed = match data_name(&name) {
                Some((key, generation)) => {
                    let is_referred = |reference: &Reference| {
                        reference.key == key && reference.generation == generation
                    };
                    self.generation(&key) == Some(generation) || needed.iter().any(is_referred)
                }
                None => Key::parse(&name).is_some(),
            };
            if !is_needed {
                fs::remove_file(self.folder.join(&name)).ok();
            }
        }
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn bytes(&self, key: &Key, generation: Uuid) -> Option<Vec<u8>> {
        let file = File::open(self.data(key, generation)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(LARGEST)).ok()?);
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn pointer(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.0)
    }

    fn data(&self, key: &Key, generation: Uuid) -> PathBuf {
        self.folder.join(format!("{}.{}", key.0, generation.simple()))
    }
}

/// Reads the name of the file of a generation.
fn data_name(name: &str) -> Option<(Key, Uuid)> {
    let (key, generation) = name.split_once('.')?;
    Some((Key::parse(key)?, Uuid::try_parse(generation).ok()?))
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
