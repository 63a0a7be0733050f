//! Tokens in a file that only its owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use url::Url;

/// What is kept about a server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The address it is for, and no other.
    url: String,
    /// As whom we are known to whoever gives tokens.
    pub(super) client: Option<KnownAs>,
    /// The tokens.
    pub(super) credentials: Option<StoredCredentials>,
    /// What the server wanted in addition when it refused a request.
    #[serde(default)]
    pub(super) wanted: Vec<String>,
}

impl Kept {
    /// The token that is sent.
    pub(super) fn token(&self) -> Option<String> {
        let response = self.credentials.as_ref()?.token_response.as_ref()?;
        let response = serde_json::to_value(response).ok()?;
        Some(response.get("access_token")?.as_str()?.to_owned())
    }
}

/// As whom we are known to whoever gives tokens.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KnownAs {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// Where a browser is sent back to.
    pub(super) redirect: String,
}

impl std::fmt::Debug for KnownAs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("KnownAs").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The file of one server.
#[derive(Debug, Clone)]
pub(super) struct Drawer {
    file: Arc<PathBuf>,
    url: Arc<str>,
}

impl Drawer {
    /// The file of a server in a folder.
    pub(super) fn new(folder: &Path, server: &str, url: &Url) -> Self {
        Self { file: Arc::new(file(folder, server)), url: url.as_str().into() }
    }

    /// What is kept; nothing for another address.
    pub(super) fn load(&self) -> io::Result<Kept> {
        let nothing = || Kept { url: self.url.to_string(), ..Kept::default() };
        let text = match fs::read(&*self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(nothing()),
            Err(error) => return Err(error),
        };
        let kept: Kept = serde_json::from_slice(&text)?;
        Ok(if kept.url == *self.url { kept } else { nothing() })
    }

    /// Changes what is kept. The file is replaced as a whole.
    pub(super) fn change(&self, change: impl FnOnce(&mut Kept)) -> io::Result<()> {
        let mut kept = self.load()?;
        change(&mut kept);
        let folder = self.file.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = folder.join(format!(".{}.new", uuid::Uuid::new_v4()));
        let written = (|| {
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&serde_json::to_vec(&kept)?)?;
            file.sync_all()?;
            fs::rename(&new, &*self.file)
        })();
        if written.is_err() {
            // What was begun is of no use.
            fs::remove_file(&new).ok();
        }
        written
    }

    /// Waits for other processes that renew the same tokens.
    fn lock(&self) -> io::Result<File> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = self.file.with_extension("lock");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
        file.lock()?;
        Ok(file)
    }
}

/// The file of a server.
fn file(folder: &Path, server: &str) -> PathBuf {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let mut name = String::new();
    for letter in server.chars() {
        if is_plain(letter) {
            name.push(letter);
        } else {
            name.push_str(&format!("%{:x}", u32::from(letter)));
        }
    }
    folder.join(format!("{name}.json"))
}

/// Forgets the tokens of a server, whatever address they were for.
///
/// # Errors
///
/// When their file cannot be removed.
pub fn forget(folder: &Path, server: &str) -> io::Result<()> {
    let file = file(folder, server);
    for file in [file.with_extension("lock"), file] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "this maps errors")]
fn failed(error: io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for Drawer {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(Self::load(self).map_err(failed)?.credentials)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.change(|kept| kept.credentials = Some(credentials)).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.change(|kept| (kept.client, kept.credentials) = (None, None)).map_err(failed)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let drawer = self.clone();
        let locked = tokio::task::spawn_blocking(move || drawer.lock()).await;
        let locked = locked.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        Ok(Some(CredentialRefreshGuard::new(locked.map_err(failed)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_owner_reads_it_and_only_for_its_address() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tokens");
        let url = Url::parse("https://example.com/mcp").unwrap();
        let drawer = Drawer::new(&place, "a/../b", &url);
        drawer.change(|kept| kept.wanted = vec!["read".to_owned()]).unwrap();
        let files: Vec<_> = fs::read_dir(&place).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].file_name(), "a%2f%2e%2e%2fb.json");
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(drawer.load().unwrap().wanted, ["read"]);
        let other = Url::parse("https://example.org/mcp").unwrap();
        assert!(Drawer::new(&place, "a/../b", &other).load().unwrap().wanted.is_empty());
    }
}
