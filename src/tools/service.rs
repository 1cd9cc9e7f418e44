//! `ServiceTool`: the call by which an agent with an address gets its request: JSON by POST, the result as JSON, as a stream with progress,
//! or accepted and asked for later. It stays at the host and port of the card. No plan and no model names it.

use super::{Assessment, Tool, ToolContext, ToolError, ToolOutput};
use crate::{
    engine::{DataSource, Outgoing, Preview},
    models::http,
    plan::{Risk, ToolInfo, ToolReach, Verdict, dialect::exact_json},
    text::bytes,
};
use async_trait::async_trait;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, header, redirect};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Largest answer in bytes.
const MOST: usize = 4 << 20;
/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How long to wait until an accepted request is asked for again, where the service doesn't say: shortest, usual, longest, in milliseconds.
const AGAIN_MS: (u64, u64, u64) = (100, 1_000, 60_000);
/// Answers about an accepted request that may fail to come, one after the other, before it is given up.
const MOST_MISSED: u32 = 5;
/// Carries what makes one request of several that were sent.
const KEY: &str = "idempotency-key";
/// Characters of an error's text that are given.
const SAID: usize = 500;
const ACCEPT: &str = "application/json, text/event-stream, application/x-ndjson";

/// Where an agent works that is a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress {
    pub url: Url,
    /// The variable of the environment whose value goes along as a bearer token.
    pub token_env: Option<String>,
    /// What its work can do to the world.
    pub risk: Risk,
    /// Whether it does a request once, however often it comes with the same key.
    pub is_idempotent: bool,
}

/// Why a service can't be at an address, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(String);

impl ServiceAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// Why it can't be used.
    pub fn parse(url: &str) -> Result<Url, BadAddress> {
        let url = Url::parse(url).map_err(|cause| BadAddress(format!("`{}` is no address: {cause}", url.escape_debug())))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(BadAddress(format!("`{url}` is neither an `http` nor an `https` address")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadAddress("an address holds no user name and no password".to_owned()));
        }
        Ok(url)
    }

    /// Host and port.
    pub fn place(&self) -> String {
        place(&self.url)
    }
}

fn place(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443))
}

/// The request to one service.
pub struct ServiceTool {
    info: ToolInfo,
    address: ServiceAddress,
    token: Option<String>,
}

/// What a service answered.
enum ServiceAnswer {
    Result(Value),
    /// It works on it; the result is asked for there, so long from now.
    Accepted {
        at: Url,
        wait: Duration,
        progress: Option<String>,
    },
}

impl ServiceTool {
    /// For the agent of that name; `var` looks an environment variable up.
    pub fn new(agent: &str, address: &ServiceAddress, var: impl Fn(&str) -> Option<String>) -> Self {
        let info = ToolInfo {
            name: format!("{}{agent}", crate::plan::SERVICE),
            description: format!("Sends a request to the service at {}", address.url),
            input_schema: json!({"type": "object", "properties": {}}),
            risk: address.risk,
            verdict: Verdict::Ask,
            reach: Some(ToolReach::Private),
        };
        Self { info, address: address.clone(), token: address.token_env.as_deref().and_then(var) }
    }

    fn headers(&self) -> Vec<(String, String)> {
        let token = self.address.token_env.as_ref().map(|name| ("authorization".to_owned(), format!("Bearer (the value of {name})")));
        let key = (KEY, "(the same for each attempt of this request)");
        let own = [("accept", ACCEPT), ("content-type", "application/json"), ("user-agent", http::USER_AGENT), key];
        own.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().chain(token).collect()
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ToolError> {
        let request = request.header(header::ACCEPT, ACCEPT);
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let sent = request.send().await;
        sent.map_err(|cause| {
            let nothing_began = cause.is_connect();
            let message = format!("the service `{}` can't be reached: {}", self.address.place(), http::causes(&cause.without_url()));
            ToolError { nothing_began, ..ToolError::failed(message).transient() }
        })
    }

    /// Reads an answer; `known` is where the result is asked for, once that was said.
    async fn read(&self, response: Response, known: Option<&Url>, context: &ToolContext) -> Result<ServiceAnswer, ToolError> {
        let status = response.status();
        if status.is_redirection() {
            let to = text_header(&response, header::LOCATION).unwrap_or_default();
            let message = format!("the service leads to `{to}`, which is not followed");
            return Err(ToolError::failed(message).hint("write the address that it leads to into the agent's card"));
        }
        let (after, location) = (text_header(&response, header::RETRY_AFTER), text_header(&response, header::LOCATION));
        let kind = text_header(&response, header::CONTENT_TYPE).unwrap_or_default();
        let is_events = kind.starts_with("text/event-stream");
        if status == StatusCode::OK && (is_events || kind.starts_with("application/x-ndjson")) {
            return stream(response, is_events, context).await.map(ServiceAnswer::Result);
        }
        let body = body(response).await?;
        let value = exact_json(&body).unwrap_or(Value::String(body));
        if status == StatusCode::ACCEPTED {
            let named = location.or_else(|| value["status_url"].as_str().map(str::to_owned)).or_else(|| known.map(Url::to_string));
            let wait = after.and_then(|after| after.trim().parse::<u64>().ok()).map_or(AGAIN_MS.1, |seconds| seconds.saturating_mul(1_000));
            let wait = Duration::from_millis(wait.clamp(AGAIN_MS.0, AGAIN_MS.2));
            let progress = value["progress"].as_str().map(str::to_owned);
            let at = named.ok_or_else(|| ToolError::failed("the service accepted the request and didn't say where its result will be"))?;
            let at = self.address.url.join(&at).map_err(|cause| ToolError::failed(format!("the service names a bad address: {cause}")))?;
            if place(&at) != self.address.place() {
                return Err(ToolError::failed(format!("the service names an address elsewhere, which is not asked: {at}")));
            }
            return Ok(ServiceAnswer::Accepted { at, wait, progress });
        }
        if !status.is_success() {
            let said: String = value.as_str().map_or_else(|| value.to_string(), str::to_owned).chars().take(SAID).collect();
            let error = ToolError::failed(format!("the service answered {status}: {}", said.trim()));
            let passes = matches!(status.as_u16(), 408 | 425 | 429) || status.is_server_error();
            let nothing_began = status == StatusCode::TOO_MANY_REQUESTS;
            let retry_after_ms = after.and_then(|after| Some(after.trim().parse::<u64>().ok()?.saturating_mul(1_000)));
            return Err(if passes { ToolError { nothing_began, retry_after_ms, ..error.transient() } } else { error });
        }
        result(value).map(ServiceAnswer::Result)
    }

    /// Sends the request, and asks until the result is there.
    async fn work(&self, args: &Value, context: &ToolContext) -> Result<Value, ToolError> {
        let client = self.client()?;
        let key = crate::text::hex(&Sha256::digest(format!("{}\n{args}", context.attempt_key))[..16]);
        let sent = client.post(self.address.url.clone()).header(KEY, key).json(args);
        let mut answer = self.read(self.send(sent).await?, None, context).await?;
        let mut missed = 0;
        loop {
            let (at, wait) = match answer {
                ServiceAnswer::Result(value) => return Ok(value),
                ServiceAnswer::Accepted { at, wait, progress } => {
                    tell(progress.as_deref(), context);
                    (at, wait)
                }
            };
            tokio::time::sleep(wait).await;
            let again = match self.send(client.get(at.clone())).await {
                Ok(response) => self.read(response, Some(&at), context).await,
                Err(error) => Err(error),
            };
            // What was accepted goes on there, whether an answer about it comes or not.
            answer = match again {
                Err(error) if error.transient && missed < MOST_MISSED => {
                    missed += 1;
                    ServiceAnswer::Accepted { at, wait, progress: Some(format!("{}; asked again", error.message)) }
                }
                Err(error) => return Err(ToolError { nothing_began: false, ..error }),
                Ok(answer) => {
                    missed = 0;
                    answer
                }
            };
        }
    }

    fn client(&self) -> Result<Client, ToolError> {
        let builder = http::builder(CONNECT, http::proxies_for(&self.address.url)).redirect(redirect::Policy::none());
        builder.build().map_err(|cause| ToolError::refused(format!("can't set up HTTP: {}", http::causes(&cause))))
    }
}

async fn body(mut response: Response) -> Result<String, ToolError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|cause| broken(&cause))? {
        body.extend_from_slice(&chunk);
        too_long(body.len())?;
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Lines of JSON, or events with such data, until one has the result.
async fn stream(mut response: Response, is_events: bool, context: &ToolContext) -> Result<Value, ToolError> {
    let (mut rest, mut data, mut read) = (Vec::new(), String::new(), 0);
    loop {
        let chunk = response.chunk().await.map_err(|cause| broken(&cause))?;
        let is_end = chunk.is_none();
        rest.extend_from_slice(&chunk.unwrap_or_default());
        // What is not ended by a line break is whole at the end.
        if is_end {
            rest.extend_from_slice(b"\n\n");
        }
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=at).collect();
            read += line.len();
            too_long(read)?;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            let message = match (is_events, line.strip_prefix("data:")) {
                (true, Some(more)) => {
                    data.push_str(more.strip_prefix(' ').unwrap_or(more));
                    continue;
                }
                (true, None) if line.is_empty() => std::mem::take(&mut data),
                (true, None) => continue,
                (false, _) => line.to_owned(),
            };
            if let Some(value) = heard(&message, context)? {
                return Ok(value);
            }
        }
        too_long(read + rest.len())?;
        if is_end {
            return Err(ToolError::failed("the service's stream ended without a result").transient());
        }
    }
}

fn text_header(response: &Response, name: header::HeaderName) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn broken(cause: &reqwest::Error) -> ToolError {
    ToolError::failed(format!("the service's answer broke off: {}", http::causes(cause))).transient()
}

fn too_long(length: usize) -> Result<(), ToolError> {
    if length <= MOST {
        return Ok(());
    }
    Err(ToolError::failed(format!("the service's answer is longer than {}", bytes(MOST as u64))))
}

/// A message of a stream: progress is told, a result is given.
fn heard(message: &str, context: &ToolContext) -> Result<Option<Value>, ToolError> {
    let Ok(message) = exact_json(message) else { return Ok(None) };
    if message.get("result").is_some() || message.get("error").is_some() {
        return result(message).map(Some);
    }
    tell(message["progress"].as_str(), context);
    Ok(None)
}

/// Shows how far the service says that it is.
fn tell(progress: Option<&str>, context: &ToolContext) {
    if let (Some(progress), Some(watcher)) = (progress, &context.watcher) {
        progress.lines().for_each(|line| watcher(line, false));
    }
}

/// The result in an answer: what it calls so, else all of it.
fn result(mut answer: Value) -> Result<Value, ToolError> {
    match answer.get_mut("error").map(Value::take) {
        Some(Value::Null) | None => {}
        Some(error) => {
            let said = error.as_str().or_else(|| error["message"].as_str()).map_or_else(|| error.to_string(), str::to_owned);
            return Err(ToolError::failed(format!("the service failed: {}", said.chars().take(SAID).collect::<String>())));
        }
    }
    Ok(answer.get_mut("result").map(Value::take).unwrap_or(answer))
}

#[async_trait]
impl Tool for ServiceTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn sends(&self) -> bool {
        true
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let leaves = Outgoing {
            host: self.address.place(),
            request: format!("POST {}", self.address.url),
            headers: self.headers().into_iter().collect(),
            body: Some(serde_json::to_string_pretty(args).unwrap_or_default()),
            ..Outgoing::default()
        };
        let why = format!("sends the request to the service at {}", self.address.place());
        Assessment { leaves: Some(leaves), ..Assessment::local(self.address.risk, why) }
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        if let (Some(name), None) = (&self.address.token_env, &self.token) {
            return Err(ToolError::refused(format!("the variable `{name}` is not set, which holds the service's token"))
                .hint("set it where dagdeck is started, or change `token_env` in the agent's card"));
        }
        // Where sending it again takes no second effect, what may pass is as good as what never began.
        let may_repeat = self.address.is_idempotent || matches!(self.address.risk, Risk::Read | Risk::Network);
        let value = self.work(&args, context).await.map_err(|error| {
            let nothing_began = error.nothing_began || may_repeat && error.transient;
            ToolError { nothing_began, ..error }
        })?;
        let source = DataSource { kind: "api".into(), identifier: self.address.url.to_string(), query: None };
        Ok(ToolOutput { value, files: Vec::new(), sources: vec![source] })
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        let body = serde_json::to_string_pretty(args).ok()?;
        let headers: Vec<String> = self.headers().iter().map(|(name, value)| format!("{name}: {value}")).collect();
        Some(Preview::Text(format!("POST {}\n{}\n\n{body}", self.address.url, headers.join("\n"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::TcpListener,
        sync::{Arc, Mutex},
        thread,
    };

    /// What a scripted service was asked: method and path, the token, the body.
    type Asked = Arc<Mutex<Vec<(String, String, Value)>>>;

    /// A service that gives these answers in order: everything behind `HTTP/1.1 `, with `PLACE` for where it is.
    fn service(answers: &[&str]) -> (Url, Asked) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let answers: Vec<String> = answers.iter().map(|answer| answer.replace("PLACE", &place)).collect();
        let asked = Asked::default();
        let heard = asked.clone();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut token, mut length) = (String::new(), String::new(), 0);
                reader.read_line(&mut first).unwrap();
                for line in reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
                    let (name, value) = line.split_once(": ").unwrap();
                    match name.to_ascii_lowercase().as_str() {
                        "content-length" => length = value.parse().unwrap(),
                        "authorization" => value.clone_into(&mut token),
                        _ => {}
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let request = first.trim().trim_end_matches(" HTTP/1.1").to_owned();
                heard.lock().unwrap().push((request, token, serde_json::from_slice(&body).unwrap_or_default()));
                let (head, body) = answer.split_once("\n\n").unwrap();
                let head = head.replace('\n', "\r\n");
                write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
            }
        });
        (Url::parse(&format!("http://{place}/work")).unwrap(), asked)
    }

    async fn ask(answers: &[&str]) -> (Result<Value, ToolError>, Vec<String>, Asked) {
        let (url, asked) = service(answers);
        let address = ServiceAddress { url, token_env: Some("TOKEN".into()), risk: Risk::Network, is_idempotent: false };
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let watcher: Arc<crate::tools::sandbox::Watcher> = Arc::new(move |line: &str, _| heard.lock().unwrap().push(line.to_owned()));
        let context = ToolContext { watcher: Some(watcher), ..ToolContext::of(std::env::temp_dir()) };
        let tool = ServiceTool::new("remote", &address, |name| Some(format!("value of {name}")));
        let result = tool.call(json!({"objective": "count"}), &context).await.map(|output| output.value);
        let told = told.lock().unwrap().clone();
        (result, told, asked)
    }

    #[tokio::test]
    async fn the_result_is_what_the_service_calls_so_else_all_of_its_answer() {
        let (result, _, asked) = ask(&["200 OK\nContent-Type: application/json\n\n{\"result\": {\"n\": 3}}"]).await;
        assert_eq!(result.unwrap(), json!({"n": 3}));
        let expected = ("POST /work".to_owned(), "Bearer value of TOKEN".to_owned(), json!({"objective": "count"}));
        assert_eq!(*asked.lock().unwrap(), [expected]);
        assert_eq!(ask(&["200 OK\n\n[1, 2]"]).await.0.unwrap(), json!([1, 2]));
        assert_eq!(ask(&["200 OK\n\nplain words"]).await.0.unwrap(), json!("plain words"));
    }

    #[tokio::test]
    async fn progress_comes_as_a_stream_before_the_result() {
        let events = "200 OK\nContent-Type: text/event-stream\n\n: hello\nevent: x\ndata: {\"progress\":\ndata:  \"half way\"}\n\ndata: {\"result\": 7}\n\n";
        let (result, told, _) = ask(&[events]).await;
        assert_eq!((result.unwrap(), told), (json!(7), vec!["half way".to_owned()]));
        let lines = "200 OK\nContent-Type: application/x-ndjson\n\n{\"progress\": \"one\\ntwo\"}\n{\"result\": [1]}";
        let (result, told, _) = ask(&[lines]).await;
        assert_eq!((result.unwrap(), told), (json!([1]), vec!["one".to_owned(), "two".to_owned()]));
        let (result, ..) = ask(&["200 OK\nContent-Type: application/x-ndjson\n\n{\"progress\": \"one\"}"]).await;
        let error = result.unwrap_err();
        assert!(error.message == "the service's stream ended without a result" && error.transient, "{error:?}");
    }

    #[tokio::test]
    async fn an_accepted_request_is_asked_for_at_the_same_place_until_it_is_done() {
        let accepted = "202 Accepted\nRetry-After: 0\nLocation: /jobs/1\n\n";
        let again = "202 Accepted\nRetry-After: 0\n\n{\"progress\": \"half way\"}";
        let (result, told, asked) = ask(&[accepted, again, "200 OK\n\n{\"result\": \"done\"}"]).await;
        assert_eq!((result.unwrap(), told), (json!("done"), vec!["half way".to_owned()]));
        let asked: Vec<(String, String)> =
            asked.lock().unwrap().iter().map(|(request, token, _)| (request.clone(), token.clone())).collect();
        let (token, jobs) = ("Bearer value of TOKEN".to_owned(), "GET /jobs/1".to_owned());
        assert_eq!(asked, [("POST /work".to_owned(), token.clone()), (jobs.clone(), token.clone()), (jobs, token)]);
        let (result, ..) = ask(&["202 Accepted\nLocation: http://elsewhere.example/jobs\n\n"]).await;
        assert!(result.unwrap_err().message.contains("an address elsewhere, which is not asked: http://elsewhere.example/jobs"));
        assert!(ask(&["202 Accepted\n\n{}"]).await.0.unwrap_err().message.contains("didn't say where its result will be"));
    }

    #[tokio::test]
    async fn a_failure_says_what_the_service_said_and_whether_it_may_pass() {
        let (result, ..) = ask(&["503 Service Unavailable\n\nbusy"]).await;
        let error = ToolError::failed("the service answered 503 Service Unavailable: busy").transient();
        assert_eq!(result.unwrap_err(), ToolError { nothing_began: true, ..error }, "its work only answers");
        let (result, ..) = ask(&["429 Too Many Requests\nRetry-After: 7\n\n"]).await;
        assert_eq!(result.unwrap_err().retry_after_ms, Some(7_000));
        let (result, ..) = ask(&["422 Unprocessable\n\n{\"detail\": \"no\"}"]).await;
        let error = result.unwrap_err();
        assert!(error.message.ends_with("{\"detail\":\"no\"}") && !error.transient, "{error}");
        assert_eq!(ask(&["200 OK\n\n{\"error\": {\"message\": \"no tape\"}}"]).await.0.unwrap_err().message, "the service failed: no tape");
        let (result, ..) = ask(&["302 Found\nLocation: http://elsewhere.example/\n\n"]).await;
        assert!(result.unwrap_err().message.contains("leads to `http://elsewhere.example/`, which is not followed"));
    }

    #[test]
    fn what_would_go_out_is_shown_with_the_name_of_its_token_and_not_its_value() {
        let url = Url::parse("http://localhost:8003/execute").unwrap();
        let address = ServiceAddress { url, token_env: Some("TOKEN".into()), risk: Risk::Execute, is_idempotent: false };
        let tool = ServiceTool::new("remote", &address, |_| Some("hidden".to_owned()));
        let context = ToolContext::of(std::env::temp_dir());
        let assessment = tool.assess(&json!({"objective": "x"}), &context);
        let leaves = assessment.leaves.unwrap();
        assert_eq!((leaves.host.as_str(), leaves.request.as_str()), ("localhost:8003", "POST http://localhost:8003/execute"));
        assert!(leaves.body.unwrap().contains("\"objective\": \"x\"") && leaves.headers["authorization"].contains("TOKEN"));
        assert!(!format!("{:?}", tool.preview(&json!({}), &context)).contains("hidden"));
        for bad in ["ftp://a", "a b", "http://me:x@a/"] {
            assert!(ServiceAddress::parse(bad).is_err(), "{bad}");
        }
    }
}
