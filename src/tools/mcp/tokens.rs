//! `TokenFile`: what a sign-in to a server gave, in a file of the state folder for the user alone. Its tokens are known secrets.

use crate::{
    files::{self, beside},
    tools::KnownSecrets,
};
use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Clone)]
pub(super) struct TokenFile {
    file: PathBuf,
    secrets: Arc<KnownSecrets>,
}

impl TokenFile {
    pub(super) fn new(file: PathBuf, secrets: Arc<KnownSecrets>) -> Self {
        Self { file, secrets }
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Whether somebody signed in.
    pub(super) fn is_there(&self) -> bool {
        self.file.is_file()
    }

    fn learn(&self, kept: &StoredCredentials) {
        let kept = json!(kept);
        let tokens = ["access_token", "refresh_token"].into_iter().filter_map(|key| kept["token_response"][key].as_str());
        tokens.for_each(|token| self.secrets.learn_of_server("authorization", token));
    }
}

fn failed(error: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        if !self.is_there() {
            return Ok(None);
        }
        let text = files::read_text(&self.file, files::DOCUMENT).map_err(failed)?;
        let kept: StoredCredentials = serde_json::from_str(&text).map_err(failed)?;
        self.learn(&kept);
        Ok(Some(kept))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.learn(&credentials);
        self.file.parent().map_or(Ok(()), files::private_folder).map_err(failed)?;
        beside::write_private(&self.file, json!(credentials).to_string().as_bytes()).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
