//! One attempt over the wire: send, read the stream (or the whole completion that some servers send instead), with a limit on every
//! silence.

use reqwest::{RequestBuilder, Response, header::HeaderMap};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::timeout;

use super::{
    ApiKey, Auth, ModelClient,
    api::{AnswerPiece, Api, Assembly},
    failure::{self, Begun, TryFailure},
    features::Features,
    sse,
};
use crate::engine::TryVerdict;
use crate::models::{ChatAnswer, ChatRequest, Delta, ModelErrorKind, anthropic, waits};

/// How long a server may take for the usage after it has finished the answer.
const GRACE: Duration = Duration::from_secs(5);
/// How long a key command may take: it may ask a keyring, but not a person who isn't there.
const KEY_COMMAND: Duration = Duration::from_secs(20);
/// The largest completion that is read whole.
const MAX_BODY: usize = 16 << 20;
/// How much of an error page is read.
const MAX_ERROR: usize = 64 << 10;

/// A stream under way: what is gathered, and who hears of it.
struct AnswerReading<'a> {
    assembly: &'a mut dyn Assembly,
    model: &'a str,
    sink: &'a mut (dyn FnMut(Delta) + Send),
}

impl ModelClient {
    /// One send. Gives the reply and the words of a refusal, if any.
    pub(super) async fn transfer(
        &self,
        request: &ChatRequest,
        features: &Features,
        cap: Option<u64>,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(ChatAnswer, Option<String>), TryFailure> {
        let api = self.traits.api;
        let mut body = api.body(request, features, cap);
        if let (Some(name), Some(fields)) = (&self.traits.seed, body.as_object_mut())
            && let Some(seed) = fields.remove("seed")
        {
            fields.insert(name.clone(), seed);
        }
        let mut response = self.send(self.http.post(self.url(&api.path(&request.model))).json(&body), &request.model).await?;
        let cost_usd = self.cost_in(response.headers());
        let mut assembly = api.assembly(request, features);
        let first = self.first_piece(&mut response).await?;
        let mut reading = AnswerReading { assembly: &mut *assembly, model: &request.model, sink };
        if let Err(mut failure) = self.read(response, first, &mut reading).await {
            failure.error.usage = assembly.reported();
            return Err(failure);
        }
        let refusal = assembly.refusal().map(str::to_owned);
        let reply = assembly.into_reply(request);
        Ok((ChatAnswer { cost_usd: cost_usd.or(reply.cost_usd), ..reply }, refusal))
    }

    /// What the headers say of the call's cost: LiteLLM's figure, or that the model runs on this machine.
    fn cost_in(&self, headers: &HeaderMap) -> Option<f64> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if self.traits.is_local || header("server").is_some_and(|server| server.contains("llama.cpp")) {
            return Some(0.0);
        }
        // At the start of a stream LiteLLM says 0, because it doesn't know yet.
        header("x-litellm-response-cost")?.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0)
    }

    async fn read(&self, response: Response, first: Vec<u8>, reading: &mut AnswerReading<'_>) -> Result<(), TryFailure> {
        match first.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => return Err(failure::cut(&self.endpoint, "it was empty")),
            Some(b'{' | b'[' | b'<') => {
                let whole = self.rest(response, first, MAX_BODY).await?;
                self.take_whole(&whole, reading)?;
            }
            Some(_) => self.read_stream(response, first, reading).await?,
        }
        if reading.assembly.failed() {
            let message = format!("`{}` stopped with an error", self.endpoint.host);
            return Err(TryFailure::new(ModelErrorKind::Server, message, TryVerdict::Again));
        }
        Ok(())
    }

    pub(super) async fn fetch_text(&self, path: &str) -> Result<String, TryFailure> {
        self.fetch_from(&self.url(path)).await
    }

    pub(super) async fn fetch_from(&self, url: &str) -> Result<String, TryFailure> {
        let response = self.send(self.http.get(url), "").await?;
        self.rest(response, Vec::new(), MAX_BODY).await
    }

    async fn send(&self, request: RequestBuilder, model: &str) -> Result<Response, TryFailure> {
        let request = match self.key_to_send().await? {
            Some(key) => match self.traits.auth {
                Auth::Bearer => request.bearer_auth(key.expose_secret()),
                Auth::XApiKey => request.header("x-api-key", secret_header(key)?),
                Auth::ApiKey => request.header("api-key", secret_header(key)?),
                Auth::XGoogApiKey => request.header("x-goog-api-key", secret_header(key)?),
            },
            None => request,
        };
        let request = match self.traits.api {
            Api::Openai | Api::Gemini => request,
            Api::Anthropic => request.header("anthropic-version", anthropic::VERSION),
        };
        let response = match timeout(self.first_limit(), request.send()).await {
            Err(_elapsed) => return Err(failure::silent(&self.endpoint, self.first_limit(), Begun::No)),
            Ok(Err(error)) => return Err(failure::of_transport(&self.endpoint, error, Begun::No)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = waits::in_headers(response.headers(), jiff::Timestamp::now());
        let body = self.rest(response, Vec::new(), MAX_ERROR).await.unwrap_or_default();
        Err(failure::of_reply(&self.endpoint, model, Some(status.as_u16()), &body, retry_after))
    }

    /// The first bytes that aren't white space.
    async fn first_piece(&self, response: &mut Response) -> Result<Vec<u8>, TryFailure> {
        let mut first = Vec::new();
        while first.iter().all(u8::is_ascii_whitespace)
            && first.len() < MAX_ERROR
            && let Some(piece) = self.next_piece(response, self.first_limit(), Begun::No).await?
        {
            first.extend(piece);
        }
        Ok(first)
    }

    /// The next bytes of a body; none at its end.
    async fn next_piece(&self, response: &mut Response, limit: Duration, begun: Begun) -> Result<Option<Vec<u8>>, TryFailure> {
        match timeout(limit, response.chunk()).await {
            Err(_elapsed) => Err(failure::silent(&self.endpoint, limit, begun)),
            Ok(Err(error)) => Err(failure::of_transport(&self.endpoint, error, Begun::Yes)),
            Ok(Ok(piece)) => Ok(piece.map(Vec::from)),
        }
    }

    /// The rest of a body as text, up to a limit.
    async fn rest(&self, mut response: Response, mut bytes: Vec<u8>, limit: usize) -> Result<String, TryFailure> {
        while bytes.len() < limit
            && let Some(piece) = self.next_piece(&mut response, self.limits.between, Begun::Yes).await?
        {
            bytes.extend(piece);
        }
        bytes.truncate(limit);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take_whole(&self, body: &str, reading: &mut AnswerReading<'_>) -> Result<(), TryFailure> {
        match reading.assembly.take_whole(body, reading.sink) {
            AnswerPiece::More | AnswerPiece::Done => Ok(()),
            AnswerPiece::Error => Err(failure::of_reply(&self.endpoint, reading.model, None, body, None)),
            AnswerPiece::Unreadable if body.trim_start().starts_with('<') => {
                Err(failure::nonsense(&self.endpoint, "a web page instead of an answer", body))
            }
            AnswerPiece::Unreadable => Err(failure::nonsense(&self.endpoint, "something that is not a chat completion", body)),
        }
    }

    async fn read_stream(&self, mut response: Response, first: Vec<u8>, reading: &mut AnswerReading<'_>) -> Result<(), TryFailure> {
        let mut decoder = sse::Decoder::default();
        let mut piece = first;
        loop {
            let events = decoder.push(&piece).map_err(|sse::TooLong| failure::nonsense(&self.endpoint, "an event that is too long", ""))?;
            for event in events {
                if self.take_event(&event, reading)? == AnswerPiece::Done {
                    return self.check_done(reading.assembly);
                }
            }
            let finished = reading.assembly.is_finished();
            if finished && reading.assembly.reported().is_some() {
                return Ok(());
            }
            let wait = match (finished, reading.assembly.is_empty()) {
                (true, _) => self.limits.between.min(GRACE),
                (false, true) => self.first_limit(),
                (false, false) => self.limits.between,
            };
            // The answer is whole once the server said why it stopped; only the usage may be missing.
            piece = match self.next_piece(&mut response, wait, begun(reading.assembly)).await {
                Ok(Some(bytes)) => bytes,
                Err(_) if finished => return Ok(()),
                Err(failure) => return Err(failure),
                Ok(None) => return self.end_of_stream(&mut decoder, reading),
            };
        }
    }

    /// The connection is closed: the last event may lack its blank line.
    fn end_of_stream(&self, decoder: &mut sse::Decoder, reading: &mut AnswerReading<'_>) -> Result<(), TryFailure> {
        if let Some(event) = decoder.finish() {
            // One that was cut in the middle is no event.
            let whole = event.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(&event).is_ok();
            if whole && self.take_event(&event, reading)? == AnswerPiece::Done {
                return self.check_done(reading.assembly);
            }
        }
        if reading.assembly.is_finished() { Ok(()) } else { Err(failure::cut(&self.endpoint, "the stream ended before the answer did")) }
    }

    /// An end without a reason to stop is accepted from servers that send none, if there is an answer at all.
    fn check_done(&self, assembly: &dyn Assembly) -> Result<(), TryFailure> {
        if assembly.is_finished() || !assembly.is_empty() {
            Ok(())
        } else {
            Err(failure::cut(&self.endpoint, "the stream contained no answer"))
        }
    }

    fn take_event(&self, event: &str, reading: &mut AnswerReading<'_>) -> Result<AnswerPiece, TryFailure> {
        match reading.assembly.take(event, reading.sink) {
            piece @ (AnswerPiece::More | AnswerPiece::Done) => Ok(piece),
            AnswerPiece::Error => Err(failure::of_reply(&self.endpoint, reading.model, None, event, None)),
            AnswerPiece::Unreadable => {
                let mut failure = failure::nonsense(&self.endpoint, "a part of the answer that can't be read", event);
                failure.error.verdict = TryVerdict::Again;
                Err(if reading.assembly.is_empty() { failure } else { failure.hint("try again") })
            }
        }
    }

    async fn key_to_send(&self) -> Result<Option<&SecretString>, TryFailure> {
        match &self.key {
            ApiKey::None => Ok(None),
            ApiKey::Given(key) => Ok(Some(key)),
            ApiKey::Command { line, printed } => printed.get_or_try_init(|| run_key_command(line)).await.map(Some),
        }
    }
}

/// A key as a header that no log shows.
fn secret_header(key: &SecretString) -> Result<reqwest::header::HeaderValue, TryFailure> {
    let mut value = reqwest::header::HeaderValue::from_str(key.expose_secret()).map_err(|_| {
        TryFailure::new(ModelErrorKind::WrongKey, "the key has a character that no key has".to_owned(), TryVerdict::Never)
            .hint("look for a line break or a letter that isn't ASCII in it")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn begun(assembly: &dyn Assembly) -> Begun {
    if assembly.is_empty() { Begun::No } else { Begun::Yes }
}

/// Runs the user's own command for the key. What it prints is never part of a message.
async fn run_key_command(line: &str) -> Result<SecretString, TryFailure> {
    let failed = |how: String| {
        TryFailure::new(ModelErrorKind::NoKey, format!("the command that prints the key {how}"), TryVerdict::Never)
            .hint("run the api_key_command of [models] in a shell to see why")
    };
    let mut command = tokio::process::Command::new("sh");
    command.arg("-c").arg(line).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = match timeout(KEY_COMMAND, command.output()).await {
        Err(_elapsed) => return Err(failed(format!("took longer than {} s", KEY_COMMAND.as_secs()))),
        Ok(Err(error)) => return Err(failed(format!("could not start: {error}"))),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        return Err(failed(format!("failed ({})", output.status)));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    match printed.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(key) => Ok(SecretString::from(key)),
        None => Err(failed("printed nothing".to_owned())),
    }
}
