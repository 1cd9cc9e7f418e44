//! `McpServer`: one configured server: started when it is needed first, started again when it died, known by what it listed last as long
//! as it isn't started.

use super::{
    connection::{McpConnection, ServerSite},
    entry::{McpEntry, McpLaunch},
    error::McpError,
    inventory::ServerInventory,
    listing::{ListedTool, McpListing},
    log::ServerLog,
    named_files::NamedFiles,
    offers::McpOffers,
    revision::McpRevision,
    sign_in::SignIn,
    source::{McpSource, McpStatus, McpTrust},
    tokens::TokenFile,
};
use crate::{
    text::{counted, hex},
    tools::{KnownSecrets, McpConfig},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, Weak},
    time::Duration,
};
use tokio::sync::Mutex;

pub(super) struct McpServer {
    pub(super) name: String,
    /// As the entry has it, without values of variables.
    pub(super) label: String,
    origin: String,
    /// How it is reached, or why it may not be.
    launch: Result<McpLaunch, McpError>,
    trust: McpTrust,
    place: ServerPlace,
    config: McpConfig,
    live: Mutex<Option<Arc<McpConnection>>>,
    known: RwLock<KnownServer>,
    revision: McpRevision,
    me: Weak<Self>,
}

/// Where it works and where its things are kept.
struct ServerPlace {
    workspace: PathBuf,
    listing: PathBuf,
    files: PathBuf,
    log: Arc<ServerLog>,
    tokens: TokenFile,
    fingerprint: String,
}

/// What is known of it.
#[derive(Default)]
struct KnownServer {
    listing: Option<McpListing>,
    problems: Vec<String>,
    last_error: Option<String>,
    is_started: bool,
}

/// What servers of one host share.
pub(super) struct ServerHome<'a> {
    pub(super) workspace: &'a Path,
    pub(super) state: &'a Path,
    pub(super) secrets: &'a Arc<KnownSecrets>,
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
    pub(super) config: &'a McpConfig,
    pub(super) revision: &'a McpRevision,
}

impl McpServer {
    pub(super) fn new(entry: McpEntry, source: &McpSource, home: &ServerHome<'_>, me: Weak<Self>) -> Self {
        let McpEntry { name, launch, disabled } = entry;
        let label = launch.as_ref().map_or_else(|_| String::new(), McpLaunch::label);
        let fingerprint = hex(&Sha256::digest(json!(launch.as_ref().ok()).to_string()));
        let key = hex(&Sha256::digest(json!([source.file, home.workspace, name]).to_string())[..12]);
        let launch = match (&source.trust, disabled) {
            (McpTrust::No, _) => {
                let error = McpError::new(format!("its file `{}` is not trusted", source.label));
                Err(error.hint(format!("look at it with `dagdeck trust`, then `dagdeck trust {}`", source.label)))
            }
            (_, true) => Err(McpError::new(format!("it is turned off in `{}`", source.label))),
            (McpTrust::All | McpTrust::Files(_), false) => launch.and_then(|launch| launch.filled(home.env)),
        };
        if let Ok(McpLaunch::Process { env: values, .. } | McpLaunch::Http { headers: values, .. }) = &launch {
            values.iter().for_each(|(name, value)| home.secrets.learn_of_server(name, value));
        }
        let address = launch.as_ref().ok().and_then(McpLaunch::url).unwrap_or_default();
        // Of this very address in the same file, wherever the workspace is.
        let signed = hex(&Sha256::digest(json!([source.file, name, address]).to_string())[..12]);
        let folder = home.state.join("mcp");
        let place = ServerPlace {
            workspace: home.workspace.to_owned(),
            listing: folder.join(format!("{key}.json")),
            files: folder.join("files"),
            tokens: TokenFile::new(folder.join(format!("{signed}.tokens.json")), home.secrets.clone()),
            log: Arc::new(ServerLog::new(folder.join(format!("{name}-{key}.log")), home.secrets.clone())),
            fingerprint,
        };
        let listing = if launch.is_ok() { McpListing::open(&place.listing, &place.fingerprint) } else { None };
        Self {
            name,
            label,
            origin: source.label.clone(),
            launch,
            trust: source.trust.clone(),
            place,
            config: home.config.clone(),
            live: Mutex::default(),
            known: RwLock::new(KnownServer { listing, ..KnownServer::default() }),
            revision: home.revision.clone(),
            me,
        }
    }

    /// Whether both are the same server, started in the same way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.launch, &self.trust, &self.origin) == (&other.name, &other.launch, &other.trust, &other.origin)
    }

    /// A live connection whose tools are listed. Starts the server if it isn't started, or not any more.
    pub(super) async fn ready(&self) -> Result<Arc<McpConnection>, McpError> {
        let launch = self.launch.as_ref().map_err(Clone::clone)?;
        let mut live = self.live.lock().await;
        if let Some(connection) = live.as_ref().filter(|connection| connection.is_open()) {
            if connection.is_stale() {
                self.learn(connection.list(self.patience()).await?);
            }
            return Ok(connection.clone());
        }
        *live = None;
        let started = self.start(launch).await;
        self.known(|known| {
            known.is_started = started.is_ok();
            known.last_error = started.as_ref().err().map(ToString::to_string);
        });
        let connection = Arc::new(started?);
        *live = Some(connection.clone());
        self.attend(&connection);
        Ok(connection)
    }

    /// Lists it again whenever it says that it changed, as long as it is connected.
    fn attend(&self, connection: &McpConnection) {
        let (me, heard, ends) = (self.me.clone(), connection.heard().clone(), connection.attended());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = ends.cancelled() => return,
                    () = heard.changed.notified() => {}
                }
                let Some(server) = me.upgrade() else { return };
                server.list_again().await;
            }
        });
    }

    async fn list_again(&self) {
        let live = self.live.lock().await;
        if let Some(connection) = live.as_ref().filter(|connection| connection.is_open() && connection.is_stale())
            && let Ok(listed) = connection.list(self.patience()).await
        {
            self.learn(listed);
        }
    }

    async fn start(&self, launch: &McpLaunch) -> Result<McpConnection, McpError> {
        if let McpTrust::Files(trusted) = &self.trust {
            let (workspace, launch, trusted) = (self.place.workspace.clone(), launch.clone(), trusted.clone());
            let look = move || NamedFiles::of(&workspace, &launch).first_untrusted(&trusted).map(str::to_owned);
            let changed = tokio::task::spawn_blocking(look).await.map_err(|cause| McpError::new(cause.to_string()))?;
            if let Some(file) = changed {
                return Err(McpError::new(format!("`{file}`, which it starts, is not as it was trusted"))
                    .hint(format!("look at it, then `dagdeck trust {}`", self.origin)));
            }
        }
        let connection = McpConnection::open(launch, &self.site(), self.patience()).await?;
        self.learn(connection.list(self.patience()).await?);
        Ok(connection)
    }

    fn site(&self) -> ServerSite<'_> {
        let ServerPlace { workspace, log, tokens, .. } = &self.place;
        ServerSite { name: &self.name, folder: workspace, roots: &self.config.roots, log, tokens }
    }

    /// Begins a sign-in, and gives the file for its tokens too.
    pub(super) async fn sign_in(&self) -> Result<(SignIn, PathBuf), McpError> {
        let launch = self.launch.as_ref().map_err(Clone::clone)?;
        let url = launch.url().ok_or_else(|| McpError::new("it is a program of this computer, so there is nothing to sign in to"))?;
        let tokens = self.place.tokens.clone();
        let file = tokens.path().to_owned();
        Ok((SignIn::begin(url, tokens, self.patience()).await?, file))
    }

    fn learn(&self, listed: ServerInventory) {
        self.known(|known| {
            let (mut next, problems) = McpListing::next(known.listing.as_ref(), &self.place.fingerprint, listed.tools);
            next.offers = listed.offers;
            if known.listing.as_ref() != Some(&next) {
                next.keep(&self.place.listing);
            }
            known.listing = Some(next);
            known.problems = problems;
        });
    }

    /// A person said yes to a call of a tool as it is.
    pub(super) fn accept(&self, tool: &ListedTool) {
        self.known(|known| {
            if let Some(listing) = &mut known.listing {
                listing.accept(tool);
                listing.keep(&self.place.listing);
            }
        });
    }

    fn known<T>(&self, change: impl FnOnce(&mut KnownServer) -> T) -> T {
        let changed = change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
        self.revision.changed();
        changed
    }

    fn look<T>(&self, look: impl FnOnce(&KnownServer) -> T) -> T {
        look(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools that it listed last, and whether each isn't what the rules speak of any more; none where it never did.
    pub(super) fn tools(&self) -> Option<Vec<(Arc<ListedTool>, bool)>> {
        let with_change = |listing: &McpListing| listing.tools.iter().map(|tool| (tool.clone(), listing.has_changed(tool))).collect();
        self.look(|known| known.listing.as_ref().map(with_change))
    }

    /// The resources and prompts that it listed last.
    pub(super) fn offers(&self) -> McpOffers {
        self.look(|known| known.listing.as_ref().map(|listing| listing.offers.clone())).unwrap_or_default()
    }

    /// Whether a tool is still what was judged.
    pub(super) fn still_has(&self, tool: &ListedTool) -> bool {
        self.look(|known| known.listing.as_ref().and_then(|listing| listing.tool(&tool.name)).is_some_and(|now| **now == *tool))
    }

    /// Where what it is given goes to, as people allow it: a host with its port, or the program.
    pub(super) fn destination(&self) -> String {
        let url = self.launch.as_ref().ok().and_then(McpLaunch::url).and_then(|url| reqwest::Url::parse(url).ok());
        let place = |url: &reqwest::Url| format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443));
        url.as_ref().map_or_else(|| format!("mcp:{}", self.name), place)
    }

    /// Whether it is on another computer, so that all that it is given leaves this one.
    pub(super) fn is_remote(&self) -> bool {
        let parsed = match &self.launch {
            Ok(McpLaunch::Http { url, .. }) => reqwest::Url::parse(url).ok(),
            Ok(McpLaunch::Process { .. }) | Err(_) => return false,
        };
        parsed.is_none_or(|url| crate::models::http::proxies_for(&url) != crate::models::http::Proxies::Direct)
    }

    pub(super) fn files(&self) -> &Path {
        &self.place.files
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(self.config.start_timeout_s.max(1))
    }

    pub(super) fn silence(&self) -> Duration {
        Duration::from_secs(self.config.silence_s.max(1))
    }

    pub(super) fn config(&self) -> &McpConfig {
        &self.config
    }

    pub(super) fn why_off(&self) -> Option<&McpError> {
        self.launch.as_ref().err()
    }

    pub(super) fn status(&self) -> McpStatus {
        let (tools, problems, error, is_started) = self.look(|known| {
            let tools = known.listing.as_ref().map(|listing| listing.tools.len());
            (tools, known.problems.clone(), known.last_error.clone(), known.is_started)
        });
        let state = match (&self.launch, &error, tools, is_started) {
            (Err(off), ..) => format!("off: {}", off.message),
            (_, Some(error), ..) => format!("failed: {error}"),
            (_, None, Some(tools), true) => format!("running, {}", counted(tools, "tool")),
            (_, None, Some(tools), false) => format!("not running, {} when it was last", counted(tools, "tool")),
            (_, None, None, _) => "never started here".to_owned(),
        };
        let hint = self.launch.as_ref().err().and_then(|off| off.hint.clone());
        McpStatus {
            name: self.name.clone(),
            state,
            tools,
            label: self.label.clone(),
            origin: self.origin.clone(),
            log: self.place.log.path().clone(),
            offers: self.offers(),
            problems: problems.into_iter().chain(hint).collect(),
            is_usable: self.launch.is_ok(),
            is_fine: self.launch.is_ok() && error.is_none(),
        }
    }

    /// Ends it if it is started.
    pub(super) async fn stop(&self) {
        let connection = self.live.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
            self.known(|known| known.is_started = false);
        }
    }
}
