//! `McpConnection`: one live server, by the official SDK: the handshake of whichever generation it speaks, its tools page by page, and what
//! it sends by itself. Types of the SDK don't leave this folder.

#![expect(deprecated, reason = "servers of the generations before this one still send log messages")]

use super::{
    desk::{CallDesk, GivenInput, WantedInput},
    entry::McpLaunch,
    error::{CallFault, McpError},
    log::ServerLog,
    process::ServerProcess,
    progress::CallProgress,
    sign_in,
    tokens::TokenFile,
};
use crate::{models::http, tools::config::McpRoot};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::{
    ClientHandler, ClientServiceExt as _, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, ErrorCode, FormElicitationCapability, Implementation, JsonObject, ListRootsResult,
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion, Root, RootsCapabilities,
        SamplingCapability, SetLevelRequestParams, SubscriptionFilter, UrlElicitationCapability,
    },
    service::{ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RequestContext, RunningService, ServiceError},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The code of an answer that a person, or what they set, refuses.
const REFUSED: ErrorCode = ErrorCode(-1);

const NO_CALL: &str = "no call that it is about is under way";

/// Takes what a server sends without being asked.
#[derive(Clone)]
struct McpListener {
    heard: Arc<Heard>,
    /// Folders that it is told of; without any, it can't ask.
    roots: Vec<Root>,
}

pub(super) struct Heard {
    pub(super) log: Arc<ServerLog>,
    /// What it has isn't what it listed.
    pub(super) is_stale: AtomicBool,
    /// Wakes who lists it again.
    pub(super) changed: Notify,
    pub(super) progress: CallProgress,
    pub(super) desk: CallDesk,
}

impl Heard {
    fn has_changed(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }
}

/// Where a server works, and where its things are kept.
pub(super) struct ServerSite<'a> {
    pub(super) name: &'a str,
    pub(super) folder: &'a Path,
    pub(super) roots: &'a [McpRoot],
    pub(super) log: &'a Arc<ServerLog>,
    pub(super) tokens: &'a TokenFile,
}

/// A live server. Dropping it ends its program.
pub(super) struct McpConnection {
    service: RunningService<RoleClient, McpListener>,
    heard: Arc<Heard>,
    process: Option<ServerProcess>,
    /// Ends what attends to it.
    attended: CancellationToken,
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        self.attended.cancel();
    }
}

impl McpConnection {
    /// Starts or reaches a server, and shakes hands.
    pub(super) async fn open(launch: &McpLaunch, site: &ServerSite<'_>, patience: Duration) -> Result<Self, McpError> {
        let ServerSite { name, folder, roots, log, tokens } = *site;
        let heard = Arc::new(Heard {
            log: log.clone(),
            is_stale: AtomicBool::new(false),
            changed: Notify::new(),
            progress: CallProgress::default(),
            desk: CallDesk::default(),
        });
        let listener = McpListener { heard: heard.clone(), roots: roots.iter().filter_map(|root| shown_root(*root, folder)).collect() };
        log.begin();
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let (process, connected) = match launch {
            McpLaunch::Process { command, args, env } => {
                let started = ServerProcess::start(command, args, env, folder, log);
                let (process, output, input) = started.map_err(|cause| McpError::new(format!("`{command}` can't be started: {cause}")))?;
                let connected = tokio::time::timeout(patience, listener.serve_with_lifecycle((output, input), lifecycle)).await;
                (Some(process), connected)
            }
            McpLaunch::Http { url, headers } => {
                let (client, config) = http_client(url, headers)?;
                let own_key = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
                let signed_in = if own_key { None } else { sign_in::client(url, tokens, &client).await? };
                let connected = match signed_in {
                    Some(client) => {
                        let transport = StreamableHttpClientTransport::with_client(client, config);
                        tokio::time::timeout(patience, listener.serve_with_lifecycle(transport, lifecycle)).await
                    }
                    None => {
                        let transport = StreamableHttpClientTransport::with_client(client, config);
                        tokio::time::timeout(patience, listener.serve_with_lifecycle(transport, lifecycle)).await
                    }
                };
                (None, connected)
            }
        };
        let service = match connected {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(start_error(&error, name, process.as_ref(), log).await),
            Err(_) => return Err(McpError::new(format!("it didn't answer within {} s{}", patience.as_secs(), said(log))).transient()),
        };
        let connection = Self { service, heard, process, attended: CancellationToken::new() };
        connection.subscribe();
        connection.have_it_log();
        Ok(connection)
    }

    /// Servers of the newest generation report changes only to clients that subscribe.
    fn subscribe(&self) {
        let Some(info) = self.service.peer_info().filter(|info| !info.protocol_version.has_initialize()) else { return };
        let able = &info.capabilities;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = able.tools.as_ref().and_then(|tools| tools.list_changed);
        filter.resources_list_changed = able.resources.as_ref().and_then(|resources| resources.list_changed);
        filter.prompts_list_changed = able.prompts.as_ref().and_then(|prompts| prompts.list_changed);
        if [filter.tools_list_changed, filter.resources_list_changed, filter.prompts_list_changed]
            .iter()
            .all(|wanted| *wanted != Some(true))
        {
            return;
        }
        let (peer, heard) = (self.service.peer().clone(), self.heard.clone());
        tokio::spawn(async move {
            let Ok(mut news) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = news.next().await {
                heard.has_changed();
            }
        });
    }

    /// Servers of earlier generations log from the level on that they are asked for.
    fn have_it_log(&self) {
        let info = self.service.peer_info();
        if info.is_none_or(|info| info.capabilities.logging.is_none() || !info.protocol_version.has_initialize()) {
            return;
        }
        let peer = self.service.peer().clone();
        // One that can't is one that logs what it wants.
        tokio::spawn(async move { peer.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await });
    }

    /// Cancelled when the connection ends.
    pub(super) fn attended(&self) -> CancellationToken {
        self.attended.clone()
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// Whether the server said that its tools changed since they were listed.
    pub(super) fn is_stale(&self) -> bool {
        self.heard.is_stale.load(Ordering::Relaxed)
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// The folders that the server is told of.
    pub(super) fn roots(&self) -> &[Root] {
        &self.service.service().roots
    }

    pub(super) fn heard(&self) -> &Arc<Heard> {
        &self.heard
    }

    /// Something was asked, so more may come.
    pub(super) fn asked(&self) {
        self.process.iter().for_each(ServerProcess::asked);
    }

    /// What an error of a call means.
    pub(super) async fn fault(&self, error: ServiceError) -> CallFault {
        match error {
            // Of JSON-RPC: no such method, wrong parameters, not a request.
            ServiceError::McpError(error) if [-32601, -32602, -32600].contains(&error.code.0) => {
                CallFault::Refused(error.message.into_owned())
            }
            ServiceError::McpError(error) => CallFault::Failed(error.message.into_owned()),
            ServiceError::TransportClosed => CallFault::Lost(self.broken().await),
            ServiceError::TransportSend(error) => CallFault::Lost(format!("the server can't be reached: {}", http::root_cause(&error))),
            other => CallFault::Failed(format!("the server's answer can't be used: {other}")),
        }
    }

    /// Why the connection is closed.
    async fn broken(&self) -> String {
        let end = match &self.process {
            Some(process) => process.end().await,
            None => None,
        };
        let end = end.unwrap_or_else(|| "it closed the connection".to_owned());
        format!("the server ended during the call: {end}{}", said(&self.heard.log))
    }

    /// Ends the connection, and the program if there is one.
    pub(super) async fn close(&self) {
        self.service.cancellation_token().cancel();
        if let Some(process) = &self.process {
            process.stop().await;
        }
    }
}

impl McpListener {
    /// What the call under way gives the server; nothing where there is none, or the server stops waiting.
    async fn wanted(&self, wanted: WantedInput, context: &RequestContext<RoleClient>) -> Option<GivenInput> {
        let given = tokio::select! {
            given = self.heard.desk.ask(wanted) => given,
            () = context.ct.cancelled() => None,
        };
        if given.is_none() {
            self.heard.log.line(&format!("dagdeck: a request of the server was not answered, as {NO_CALL}\n"));
        }
        given
    }
}

impl ClientHandler for McpListener {
    fn get_info(&self) -> ClientConfig {
        let mut able = ClientCapabilities::default();
        let form = FormElicitationCapability::new().with_schema_validation(true);
        able.roots = (!self.roots.is_empty()).then(RootsCapabilities::default);
        let mut sampling = SamplingCapability::default();
        sampling.tools = Some(JsonObject::new());
        able.sampling = Some(sampling);
        able.elicitation = Some(ElicitationCapability::new().with_form(form).with_url(UrlElicitationCapability::new()));
        ClientConfig::new(able, Implementation::new("dagdeck", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match self.wanted(WantedInput::Reply(Box::new(request)), &context).await {
            Some(GivenInput::Reply(reply)) => Ok(reply),
            Some(GivenInput::Answer(_) | GivenInput::Refused(_)) | None => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let why = match self.wanted(WantedInput::Answer(Box::new(request)), &context).await {
            Some(GivenInput::Answer(answer)) => return Ok(*answer),
            Some(GivenInput::Refused(why)) => why,
            Some(GivenInput::Reply(_)) | None => NO_CALL.to_owned(),
        };
        Err(ErrorData::new(REFUSED, why, None))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(self.roots.clone()))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.heard.has_changed();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.heard.has_changed();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.heard.has_changed();
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _context: NotificationContext<RoleClient>) {
        let text = message.data.as_str().map_or_else(|| message.data.to_string(), str::to_owned);
        let logger = message.logger.map(|logger| format!(" of {logger}")).unwrap_or_default();
        self.heard.log.line(&format!("{:?}{logger}: {text}\n", message.level));
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.heard.progress.report(&progress);
    }
}

fn shown_root(root: McpRoot, workspace: &Path) -> Option<Root> {
    match root {
        McpRoot::Workspace => Some(Root::new(Url::from_directory_path(workspace).ok()?).with_name("workspace")),
    }
}

fn http_client(url: &str, headers: &BTreeMap<String, String>) -> Result<(reqwest::Client, StreamableHttpClientTransportConfig), McpError> {
    let bad = |what: String| McpError::new(what);
    let parsed = Url::parse(url).map_err(|cause| bad(format!("its address can't be read: {cause}")))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(bad("its address is neither http nor https".to_owned()));
    }
    let place = (parsed.host_str().map(str::to_owned), parsed.port_or_known_default(), parsed.scheme().to_owned());
    // Headers with keys go along with a redirect, so it may not lead elsewhere.
    let same = redirect::Policy::custom(move |attempt| {
        let next = attempt.url();
        let to = (next.host_str().map(str::to_owned), next.port_or_known_default(), next.scheme().to_owned());
        if to == place && attempt.previous().len() <= 5 { attempt.follow() } else { attempt.stop() }
    });
    let client = http::builder(Duration::from_secs(10), http::proxies_for(&parsed)).redirect(same).build();
    let client = client.map_err(|cause| bad(format!("HTTP can't be set up: {}", http::causes(&cause))))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(value).ok());
        let (name, mut value) = header.ok_or_else(|| bad(format!("the header `{}` can't be sent", name.escape_debug())))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    Ok((client, StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom)))
}

/// The end of a server's log, for an error.
fn said(log: &ServerLog) -> String {
    log.last().map(|line| format!("; it said: {line}")).unwrap_or_default()
}

async fn start_error(error: &ClientInitializeError, server: &str, process: Option<&ServerProcess>, log: &ServerLog) -> McpError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::new("it wants a sign-in").hint(format!(
            "`dagdeck tools --sign-in {server}` signs in; or give it a token in `headers`, as in \"Authorization\": \"Bearer ${{TOKEN}}\""
        ));
    }
    let end = match process {
        Some(process) => process.end().await,
        None => None,
    };
    match (end, process) {
        (Some(end), _) => McpError::new(format!("{end} before it was ready{}", said(log))),
        (None, Some(_)) => McpError::new(format!("it doesn't speak the protocol: {error}{}", said(log))),
        (None, None) => McpError::new(format!("it can't be reached: {}", http::root_cause(error))).transient(),
    }
}
