//! One attempt over the wire: send, read the stream (or the whole completion that some servers send instead), with a limit on every
//! silence.

use reqwest::{RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::timeout;

use super::{
    ApiKey, OpenAi,
    assemble::Assembly,
    failure::{self, Begun, TryFailure},
    features::Features,
    sse, wire,
};
use crate::engine::TryVerdict;
use crate::models::{ChatReply, ChatRequest, Delta, ModelErrorKind, waits};

/// How long a server may take for the usage after it has finished the answer.
const GRACE: Duration = Duration::from_secs(5);
/// How long a key command may take: it may ask a keyring, but not a person who isn't there.
const KEY_COMMAND: Duration = Duration::from_secs(20);
/// The largest completion that is read whole.
const MAX_BODY: usize = 16 << 20;
/// How much of an error page is read.
const MAX_ERROR: usize = 64 << 10;

/// Whether the stream said that it is over.
#[derive(PartialEq, Eq)]
enum StreamPiece {
    More,
    Done,
}

impl OpenAi {
    /// One attempt. Gives the reply and the words of a refusal, if any.
    pub(super) async fn transfer(
        &self,
        request: &ChatRequest,
        features: &Features,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(ChatReply, Option<String>), TryFailure> {
        let body = wire::request_body(request, features);
        let mut response = self.send(self.http.post(self.url("chat/completions")).json(&body), &request.model).await?;
        let mut assembly = Assembly::default();
        let first = self.first_piece(&mut response).await?;
        if let Err(mut failure) = self.read(response, first, &mut assembly, &request.model, sink).await {
            failure.error.usage = assembly.reported();
            return Err(failure);
        }
        let refusal = assembly.refusal().map(str::to_owned);
        Ok((assembly.into_reply(request), refusal))
    }

    async fn read(
        &self,
        response: Response,
        first: Vec<u8>,
        assembly: &mut Assembly,
        model: &str,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), TryFailure> {
        match first.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => return Err(failure::cut(&self.endpoint, "it was empty")),
            Some(b'{' | b'[' | b'<') => {
                let whole = self.rest(response, first, MAX_BODY).await?;
                self.take_whole(assembly, model, &whole, sink)?;
            }
            Some(_) => self.read_stream(response, first, assembly, model, sink).await?,
        }
        if assembly.finish_reason() == "error" {
            let message = format!("`{}` stopped with an error", self.endpoint.host);
            return Err(TryFailure::new(ModelErrorKind::Server, message, TryVerdict::Again));
        }
        Ok(())
    }

    pub(super) async fn fetch_text(&self, path: &str) -> Result<String, TryFailure> {
        let response = self.send(self.http.get(self.url(path)), "").await?;
        self.rest(response, Vec::new(), MAX_BODY).await
    }

    async fn send(&self, request: RequestBuilder, model: &str) -> Result<Response, TryFailure> {
        let request = match self.key_to_send().await? {
            Some(key) => request.bearer_auth(key.expose_secret()),
            None => request,
        };
        let response = match timeout(self.limits.first, request.send()).await {
            Err(_elapsed) => return Err(failure::silent(&self.endpoint, self.limits.first, Begun::No)),
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
        while first.iter().all(u8::is_ascii_whitespace) && first.len() < MAX_ERROR {
            match timeout(self.limits.first, response.chunk()).await {
                Err(_elapsed) => return Err(failure::silent(&self.endpoint, self.limits.first, Begun::No)),
                Ok(Err(error)) => return Err(failure::of_transport(&self.endpoint, error, Begun::Yes)),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(bytes))) => first.extend_from_slice(&bytes),
            }
        }
        Ok(first)
    }

    /// The rest of a body as text, up to a limit.
    async fn rest(&self, mut response: Response, mut bytes: Vec<u8>, limit: usize) -> Result<String, TryFailure> {
        while bytes.len() < limit {
            match timeout(self.limits.between, response.chunk()).await {
                Err(_elapsed) => return Err(failure::silent(&self.endpoint, self.limits.between, Begun::Yes)),
                Ok(Err(error)) => return Err(failure::of_transport(&self.endpoint, error, Begun::Yes)),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(piece))) => bytes.extend_from_slice(&piece),
            }
        }
        bytes.truncate(limit);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take_whole(&self, assembly: &mut Assembly, model: &str, body: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<(), TryFailure> {
        let Ok(chunk) = serde_json::from_str::<wire::Chunk>(body) else {
            let what = if body.trim_start().starts_with('<') {
                "a web page instead of an answer"
            } else {
                "something that is not a chat completion"
            };
            return Err(failure::nonsense(&self.endpoint, what, body));
        };
        if chunk.error.is_some() {
            return Err(failure::of_reply(&self.endpoint, model, None, body, None));
        }
        if chunk.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(failure::nonsense(&self.endpoint, "something that is not a chat completion", body));
        }
        assembly.take(chunk, sink);
        Ok(())
    }

    async fn read_stream(
        &self,
        mut response: Response,
        first: Vec<u8>,
        assembly: &mut Assembly,
        model: &str,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), TryFailure> {
        let mut decoder = sse::Decoder::default();
        let mut piece = first;
        loop {
            let events = decoder.push(&piece).map_err(|sse::TooLong| failure::nonsense(&self.endpoint, "an event that is too long", ""))?;
            for event in events {
                if self.take_event(&event, assembly, model, sink)? == StreamPiece::Done {
                    return self.check_done(assembly);
                }
            }
            if assembly.is_finished() && assembly.has_usage() {
                return Ok(());
            }
            let wait = match (assembly.is_finished(), assembly.is_empty()) {
                (true, _) => self.limits.between.min(GRACE),
                (false, true) => self.limits.first,
                (false, false) => self.limits.between,
            };
            let next = timeout(wait, response.chunk()).await;
            // The answer is whole once the server said why it stopped; only the usage may be missing.
            let whole = assembly.is_finished();
            piece = match next {
                Ok(Ok(Some(bytes))) => bytes.to_vec(),
                Err(_) | Ok(Err(_)) if whole => return Ok(()),
                Err(_elapsed) => return Err(failure::silent(&self.endpoint, wait, begun(assembly))),
                Ok(Err(error)) => return Err(failure::of_transport(&self.endpoint, error, Begun::Yes)),
                Ok(Ok(None)) => return self.end_of_stream(&mut decoder, assembly, model, sink),
            };
        }
    }

    /// The connection is closed: the last event may lack its blank line.
    fn end_of_stream(
        &self,
        decoder: &mut sse::Decoder,
        assembly: &mut Assembly,
        model: &str,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), TryFailure> {
        if let Some(event) = decoder.finish() {
            let whole = event.trim() == "[DONE]" || serde_json::from_str::<wire::Chunk>(&event).is_ok();
            if whole && self.take_event(&event, assembly, model, sink)? == StreamPiece::Done {
                return self.check_done(assembly);
            }
        }
        if assembly.is_finished() { Ok(()) } else { Err(failure::cut(&self.endpoint, "the stream ended before the answer did")) }
    }

    /// `[DONE]` without a reason to stop is accepted from servers that send none, if there is an answer at all.
    fn check_done(&self, assembly: &Assembly) -> Result<(), TryFailure> {
        if assembly.is_finished() || !assembly.is_empty() {
            Ok(())
        } else {
            Err(failure::cut(&self.endpoint, "the stream contained no answer"))
        }
    }

    fn take_event(
        &self,
        event: &str,
        assembly: &mut Assembly,
        model: &str,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<StreamPiece, TryFailure> {
        match event.trim() {
            "" => return Ok(StreamPiece::More),
            "[DONE]" => return Ok(StreamPiece::Done),
            _ => {}
        }
        let Ok(chunk) = serde_json::from_str::<wire::Chunk>(event) else {
            let mut failure = failure::nonsense(&self.endpoint, "a part of the answer that can't be read", event);
            failure.error.verdict = TryVerdict::Again;
            return Err(failure);
        };
        if chunk.error.is_some() || (chunk.choices.is_none() && chunk.usage.is_none() && wire::is_error(event)) {
            return Err(failure::of_reply(&self.endpoint, model, None, event, None));
        }
        assembly.take(chunk, sink);
        Ok(StreamPiece::More)
    }

    async fn key_to_send(&self) -> Result<Option<&SecretString>, TryFailure> {
        match &self.key {
            ApiKey::None => Ok(None),
            ApiKey::Given(key) => Ok(Some(key)),
            ApiKey::Command { line, printed } => printed.get_or_try_init(|| run_key_command(line)).await.map(Some),
        }
    }
}

fn begun(assembly: &Assembly) -> Begun {
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
