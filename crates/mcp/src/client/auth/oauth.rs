//! Tokens by OAuth, as MCP wants it: discovery, registration, a login with a browser, renewal.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, OAuthClientConfig, WWWAuthenticateParams,
};
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::Url;

use super::callback::Callback;
use super::kept::{Drawer, KnownAs, forget};
use super::login::{Identity, LOGIN, LoginError, Open};
use super::tokens::{Refusal, Tokens};

/// How often a login may be wanted on one connection.
const LOGINS: usize = 3;
/// What we are called where we register.
const NAME: &str = "Toolgate";

/// The tokens of one server, kept in a file.
pub struct OAuth {
    server: String,
    folder: PathBuf,
    url: Url,
    drawer: Drawer,
    identity: Identity,
    /// Only for a client a person sits in front of.
    open: Option<Open>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    manager: Option<AuthorizationManager>,
    logins: usize,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OAuth").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl OAuth {
    /// The tokens of a server, kept in a folder.
    pub fn new(server: &str, url: &Url, folder: &Path, identity: Identity) -> Self {
        Self {
            server: server.to_owned(),
            folder: folder.to_owned(),
            url: url.clone(),
            drawer: Drawer::new(folder, server, url),
            identity,
            open: None,
            state: Mutex::default(),
        }
    }

    /// The same for a person who logs in as soon as that is wanted.
    #[must_use]
    pub fn interactive(mut self, open: Open) -> Self {
        self.open = Some(open);
        self
    }

    /// Whether there are tokens, good or not.
    pub fn has_tokens(&self) -> bool {
        self.drawer.load().is_ok_and(|kept| kept.credentials.is_some())
    }

    /// Forgets the tokens.
    ///
    /// # Errors
    ///
    /// When their file cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        forget(&self.folder, &self.server)
    }

    /// Has a person log in with a browser, and keeps the tokens.
    ///
    /// # Errors
    ///
    /// When nobody does, or the server and whoever gives tokens for it do not agree.
    pub async fn login(&self, open: &Open) -> Result<(), LoginError> {
        let mut state = self.state.lock().await;
        state.manager = Some(self.log_in(open, None).await?);
        Ok(())
    }

    /// Whoever handles the tokens, as they are kept; nothing when there are none that can be used.
    async fn restored(&self) -> Result<Option<AuthorizationManager>, AuthError> {
        if !self.has_tokens() {
            return Ok(None);
        }
        let mut manager = AuthorizationManager::new(self.url.clone()).await?;
        manager.set_credential_store(self.drawer.clone());
        if !manager.initialize_from_store().await? {
            return Ok(None);
        }
        if let Ok(kept) = self.drawer.load()
            && let Some(client) = kept.client
        {
            manager.configure_client(config(&client))?;
        }
        Ok(Some(manager))
    }

    async fn log_in(
        &self,
        open: &Open,
        challenge: Option<&str>,
    ) -> Result<AuthorizationManager, LoginError> {
        let mut manager = AuthorizationManager::new(self.url.clone()).await?;
        manager.set_credential_store(self.drawer.clone());
        let found = manager.resolve_metadata_from_challenge(challenge).await?;
        let issuer = found.metadata.issuer.clone();
        let takes_documents = found.metadata.additional_fields.get(DOCUMENTS);
        let takes_documents = takes_documents.and_then(serde_json::Value::as_bool) == Some(true);
        manager.set_metadata(found.metadata);
        let scopes = self.scopes(&manager, challenge, issuer.as_deref()).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();

        let known = self.known_as(issuer.as_deref())?;
        let (callback, known) = back_to(known).await.map_err(LoginError::Listen)?;
        let redirect = callback.redirect().to_owned();
        let known = if let Some(known) = self.given(takes_documents).or(known) {
            KnownAs { redirect, ..known }
        } else {
            let config = manager.register_client(NAME, &redirect, &scopes).await?;
            KnownAs { id: config.client_id, secret: config.client_secret, redirect }
        };
        manager.configure_client(config(&known))?;
        let address = manager.get_authorization_url(&scopes).await?;
        let address =
            Url::parse(&address).map_err(|error| LoginError::Failed(error.to_string()))?;
        let came_back = self.ask(open, &address, &callback).await?;
        exchange(&manager, &came_back).await?;
        self.drawer
            .change(|kept| {
                kept.client = Some(known);
                kept.wanted.clear();
            })
            .map_err(LoginError::Keep)?;
        Ok(manager)
    }

    /// What to ask for: what is configured, or what the server says and what was there before.
    async fn scopes(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
        issuer: Option<&str>,
    ) -> Result<Vec<String>, LoginError> {
        if !self.identity.scopes.is_empty() {
            return Ok(self.identity.scopes.clone());
        }
        let mut scopes = manager.select_initial_scopes(&[]).await;
        let kept = self.drawer.load().map_err(LoginError::Keep)?;
        let challenge = challenge.map(|text| WWWAuthenticateParams::parse(text, &self.url));
        let is_more = challenge.is_some_and(|challenge| challenge.is_insufficient_scope());
        if is_more || !kept.wanted.is_empty() {
            let before = kept.credentials.filter(|before| before.issuer.as_deref() == issuer);
            let before = before.map(|before| before.granted_scopes).unwrap_or_default();
            scopes.splice(0..0, before.into_iter().chain(kept.wanted));
        }
        let mut seen = std::collections::HashSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        Ok(scopes)
    }

    /// As whom whoever gives tokens knows us already, since we registered there.
    fn known_as(&self, issuer: Option<&str>) -> Result<Option<KnownAs>, LoginError> {
        let kept = self.drawer.load().map_err(LoginError::Keep)?;
        let is_same = kept.credentials.as_ref().is_some_and(|one| one.issuer.as_deref() == issuer);
        Ok(kept.client.filter(|_| is_same))
    }

    /// As whom the owner says that we are known.
    fn given(&self, takes_documents: bool) -> Option<KnownAs> {
        let Identity { client_id, client_secret, metadata_url, .. } = &self.identity;
        let (id, secret) = match (client_id, metadata_url) {
            (Some(id), _) => (id.clone(), client_secret.clone()),
            (None, Some(url)) if takes_documents => (url.clone(), None),
            _ => return None,
        };
        Some(KnownAs { id, secret, redirect: String::new() })
    }

    /// Has a person agree.
    async fn ask(
        &self,
        open: &Open,
        address: &Url,
        callback: &Callback,
    ) -> Result<Url, LoginError> {
        let state = address.query_pairs().find(|(name, _)| name == "state");
        let state = state.map(|(_, state)| state.into_owned()).unwrap_or_default();
        open(address);
        let came_back = timeout(LOGIN, callback.wait(&state)).await;
        let came_back = came_back.map_err(|_| LoginError::TimedOut)?.map_err(LoginError::Listen)?;
        let said = |wanted: &str| {
            let found = came_back.query_pairs().find(|(name, _)| name == wanted);
            found.map(|(_, value)| toolgate_core::visible::line(&value).into_owned())
        };
        match said("error") {
            Some(error) => Err(LoginError::Refused(said("error_description").unwrap_or(error))),
            None => Ok(came_back),
        }
    }

    /// The token that is kept now, good or not.
    fn current(&self) -> Option<String> {
        self.drawer.load().ok()?.token()
    }

    /// Gets other tokens after a refusal, if that can be done.
    async fn renewed(
        &self,
        state: &mut State,
        refusal: Refusal<'_>,
    ) -> Result<Option<AuthorizationManager>, LoginError> {
        if refusal.status == 401
            && let Some(manager) = self.restored().await?
            && manager.refresh_token().await.is_ok()
        {
            return Ok(Some(manager));
        }
        let Some(open) = self.open.as_ref().filter(|_| state.logins < LOGINS) else {
            return Ok(None);
        };
        state.logins += 1;
        Ok(Some(self.log_in(open, Some(refusal.challenge)).await?))
    }
}

/// Where the browser comes back to; whoever knows us knows us by that, too.
async fn back_to(known: Option<KnownAs>) -> io::Result<(Callback, Option<KnownAs>)> {
    if let Some(known) = known
        && let Some(callback) = Callback::again(&known.redirect).await
    {
        return Ok((callback, Some(known)));
    }
    Ok((Callback::listen().await?, None))
}

/// Tells that documents about clients are accepted.
const DOCUMENTS: &str = "client_id_metadata_document_supported";

fn config(known: &KnownAs) -> OAuthClientConfig {
    let config = OAuthClientConfig::new(known.id.clone(), known.redirect.clone());
    match &known.secret {
        Some(secret) => config.with_client_secret(secret.clone()),
        None => config,
    }
}

/// Exchanges what a browser came back with for tokens, which are kept.
async fn exchange(manager: &AuthorizationManager, came_back: &Url) -> Result<(), AuthError> {
    let said = |wanted: &str| {
        let found = came_back.query_pairs().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.into_owned())
    };
    let missing = || AuthError::AuthorizationFailed("the browser brought no code".to_owned());
    let code = said("code").ok_or_else(missing)?;
    let state = said("state").ok_or_else(missing)?;
    let issuer = said("iss");
    manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref()).await?;
    Ok(())
}

#[async_trait]
impl Tokens for OAuth {
    async fn token(&self) -> Option<String> {
        let mut state = self.state.lock().await;
        if state.manager.is_none() {
            state.manager = match self.restored().await {
                Ok(manager) => manager,
                Err(error) => {
                    tracing::warn!(%error, "the tokens of a server cannot be used");
                    None
                }
            };
        }
        match state.manager.as_ref()?.get_access_token().await {
            Ok(token) => Some(token),
            Err(error) => {
                tracing::warn!(%error, "there is no token for a server");
                None
            }
        }
    }

    async fn refused(&self, refusal: Refusal<'_>) -> bool {
        let mut state = self.state.lock().await;
        let now = self.current();
        if now.is_some() && now.as_deref() != refusal.token {
            // Another request was refused before, or another process has renewed it.
            state.manager = None;
            return true;
        }
        match self.renewed(&mut state, refusal).await {
            Ok(Some(manager)) => {
                state.manager = Some(manager);
                return true;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "there is no other token for a server"),
        }
        if let Some(scope) = WWWAuthenticateParams::parse(refusal.challenge, &self.url).scope {
            let wanted = scope.split_whitespace().map(str::to_owned).collect();
            // What is wanted will be wanted again.
            self.drawer.change(|kept| kept.wanted = wanted).ok();
        }
        false
    }
}
