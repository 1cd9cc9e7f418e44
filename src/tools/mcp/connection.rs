//! `McpConnection`: one live server, by the official SDK: the handshake of whichever generation it speaks, its tools page by page, and what
//! it sends by itself. Types of the SDK don't leave this folder.

#![expect(deprecated, reason = "servers of the generations before this one still send log messages")]

use super::{
    call::CallFault,
    desk::CallDesk,
    entry::McpLaunch,
    error::McpError,
    listing::{ListedTool, ToolHints},
    log::ServerLog,
    process::ServerProcess,
    progress::CallProgress,
};
use crate::models::http;
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::{
    ClientHandler, ClientServiceExt as _, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        FormElicitationCapability, Implementation, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
        ProtocolVersion, SubscriptionFilter, Tool, UrlElicitationCapability,
    },
    service::{ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RequestContext, RunningService, ServiceError},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Most pages of a list.
const PAGES: usize = 100;

/// Takes what a server sends without being asked.
#[derive(Clone)]
struct McpListener {
    heard: Arc<Heard>,
}

pub(super) struct Heard {
    log: Arc<ServerLog>,
    /// Its tools aren't what they were.
    is_stale: AtomicBool,
    pub(super) progress: CallProgress,
    pub(super) desk: CallDesk,
}

/// A live server. Dropping it ends its program.
pub(super) struct McpConnection {
    service: RunningService<RoleClient, McpListener>,
    heard: Arc<Heard>,
    process: Option<ServerProcess>,
}

impl McpConnection {
    /// Starts or reaches a server, and shakes hands.
    pub(super) async fn open(launch: &McpLaunch, folder: &Path, log: &Arc<ServerLog>, patience: Duration) -> Result<Self, McpError> {
        let heard = Arc::new(Heard {
            log: log.clone(),
            is_stale: AtomicBool::new(false),
            progress: CallProgress::default(),
            desk: CallDesk::default(),
        });
        let listener = McpListener { heard: heard.clone() };
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
                let transport = http_transport(url, headers)?;
                (None, tokio::time::timeout(patience, listener.serve_with_lifecycle(transport, lifecycle)).await)
            }
        };
        let service = match connected {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(start_error(&error, process.as_ref(), log).await),
            Err(_) => return Err(McpError::new(format!("it didn't answer within {} s{}", patience.as_secs(), said(log))).transient()),
        };
        let connection = Self { service, heard, process };
        connection.subscribe();
        Ok(connection)
    }

    /// Servers of the newest generation report changes only to clients that subscribe.
    fn subscribe(&self) {
        let info = self.service.peer_info();
        let wants = info.is_some_and(|info| {
            let changes = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
            changes == Some(true) && !info.protocol_version.has_initialize()
        });
        if !wants {
            return;
        }
        let (peer, heard) = (self.service.peer().clone(), self.heard.clone());
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let Ok(mut news) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = news.next().await {
                heard.is_stale.store(true, Ordering::Relaxed);
            }
        });
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// Whether the server said that its tools changed since they were listed.
    pub(super) fn is_stale(&self) -> bool {
        self.heard.is_stale.load(Ordering::Relaxed)
    }

    /// All tools, page by page.
    pub(super) async fn list(&self, patience: Duration) -> Result<Vec<ListedTool>, McpError> {
        self.heard.is_stale.store(false, Ordering::Relaxed);
        let has_tools = self.service.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        if !has_tools {
            return Ok(Vec::new());
        }
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page = tokio::time::timeout(patience, self.service.peer().list_tools(params)).await;
            let page = page.map_err(|_| McpError::new(format!("it didn't list its tools within {} s", patience.as_secs())).transient())?;
            let page = page.map_err(|error| McpError::new(format!("it didn't list its tools: {error}")))?;
            tools.extend(page.tools.into_iter().map(listed));
            match page.next_cursor.filter(|next| !next.is_empty()) {
                Some(next) => cursor = Some(next),
                None => return Ok(tools),
            }
        }
        Err(McpError::new(format!("its list of tools has more than {PAGES} pages")))
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(super) fn heard(&self) -> &Heard {
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

impl ClientHandler for McpListener {
    fn get_info(&self) -> ClientConfig {
        let mut able = ClientCapabilities::default();
        let form = FormElicitationCapability::new().with_schema_validation(true);
        able.elicitation = Some(ElicitationCapability::new().with_form(form).with_url(UrlElicitationCapability::new()));
        ClientConfig::new(able, Implementation::new("dagdeck", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let reply = tokio::select! {
            reply = self.heard.desk.ask(request) => reply,
            () = context.ct.cancelled() => None,
        };
        Ok(reply.unwrap_or_else(|| {
            self.heard.log.line("dagdeck: a question was not answered, as no call that it is about is under way\n");
            ElicitResult::new(ElicitationAction::Cancel)
        }))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.heard.is_stale.store(true, Ordering::Relaxed);
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _context: NotificationContext<RoleClient>) {
        let text = message.data.as_str().map_or_else(|| message.data.to_string(), str::to_owned);
        self.heard.log.line(&format!("{:?}: {text}\n", message.level));
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.heard.progress.report(&progress);
    }
}

fn http_transport(url: &str, headers: &BTreeMap<String, String>) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpError> {
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
    Ok(StreamableHttpClientTransport::with_client(client, StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom)))
}

/// The end of a server's log, for an error.
fn said(log: &ServerLog) -> String {
    log.last().map(|line| format!("; it said: {line}")).unwrap_or_default()
}

async fn start_error(error: &ClientInitializeError, process: Option<&ServerProcess>, log: &ServerLog) -> McpError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::new("it wants a sign-in").hint("give it a token in `headers`, as in \"Authorization\": \"Bearer ${TOKEN}\"");
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

fn listed(tool: Tool) -> ListedTool {
    let hints = tool.annotations.as_ref();
    let is = |hint: Option<bool>, said: bool| hint == Some(said);
    let hints = ToolHints {
        read_only: is(hints.and_then(|hints| hints.read_only_hint), true),
        harmless: is(hints.and_then(|hints| hints.destructive_hint), false),
        closed: is(hints.and_then(|hints| hints.open_world_hint), false),
    };
    let title = tool.title.or_else(|| tool.annotations.and_then(|hints| hints.title));
    ListedTool {
        name: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned).or(title).unwrap_or_default(),
        input_schema: Value::Object((*tool.input_schema).clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
        hints,
    }
}
