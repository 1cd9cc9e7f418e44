//! One tool call, from its check to its report: for tool nodes and for agents alike. Nothing is called before the run has said so.

use super::{
    call_asker::CallAsker,
    kept_rules::RuledCall,
    models::Models,
    shown_previews::ShownPreviews,
    trust::Trust,
    workers::{Assignment, WorkerPort},
};
use crate::engine::{Answer, Done, ErrorKind, Job, Mark, NodeError, Outgoing, ToolCall, ToolReport, WorkerFact};
use crate::plan::{Risk, Verdict};
use crate::text::counted;
use crate::tools::{Judgement, KnownSecrets, Tool, ToolContext, ToolError, ToolOutput, ToolRegistry, Toolbox, names_in};
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

/// Most calls that one call leads to in a row.
const MOST_HOPS: usize = 5;

/// What a worker needs to call tools.
pub(super) struct ToolCaller<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) trust: &'a Trust,
    pub(super) models: &'a Models,
    pub(super) secrets: &'a Arc<KnownSecrets>,
    pub(super) previews: &'a Arc<ShownPreviews>,
    pub(super) context: &'a ToolContext,
    pub(super) port: &'a WorkerPort,
    /// Whose calls they are.
    pub(super) task: &'a Assignment,
}

/// Whether a gate has approved the exact call before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// It did; the call isn't asked about again.
    Given,
    Open,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Called {
    Ran(Value),
    /// It could not be called, or ran and failed.
    Failed(ToolError),
    /// A person gave this in its place.
    Answered(Value),
    /// It may not run.
    Refused(String),
}

/// Does the job of a tool node.
pub(super) async fn work(task: &Assignment, tool: &str, args: Value, caller: &ToolCaller<'_>) -> WorkerFact {
    let call = ToolCall { id: format!("attempt-{}", task.origin.attempt), tool: tool.to_owned(), args };
    let consent = if task.approved { Consent::Given } else { Consent::Open };
    match caller.call(call, consent).await {
        Called::Ran(result) => WorkerFact::Done(Done { result, mark: None }),
        Called::Answered(result) => WorkerFact::Done(Done { result, mark: Some(Mark::Answered) }),
        Called::Failed(error) => WorkerFact::Failed(node_error(error)),
        Called::Refused(message) => WorkerFact::Failed(NodeError { kind: ErrorKind::Rejected, ..NodeError::permanent(message) }),
    }
}

impl ToolCaller<'_> {
    /// Checks a call, has it decided, and runs it if it may run; then the call that it leads to, and so on.
    pub(super) async fn call(&self, mut call: ToolCall, mut consent: Consent) -> Called {
        call.tool = self.toolbox.now().canonical(&call.tool).to_owned();
        let first = call.id.clone();
        for hop in 1..=MOST_HOPS {
            match self.call_once(&call, consent).await {
                Called::Failed(ToolError { goes_on: Some(next), .. }) if next.is_object() => {
                    // A person may have changed the arguments; what the next call doesn't change stays as this one began.
                    let kept = call.args.as_object().cloned().unwrap_or_default();
                    call.args = Value::Object(kept.into_iter().chain(next.as_object().cloned().unwrap_or_default()).collect());
                    call.id = format!("{first}-{hop}");
                    consent = Consent::Open;
                }
                called => return called,
            }
        }
        Called::Failed(ToolError::failed(format!("more than {MOST_HOPS} redirects")))
    }

    async fn call_once(&self, call: &ToolCall, consent: Consent) -> Called {
        let judged = self.judged(call, consent).await;
        let mut judgement = match judged.and_then(|judgement| with_secrets(call, judgement)) {
            Ok(judgement) => judgement,
            Err(error) => return Called::Failed(self.masked(error)),
        };
        // Asked now, so that a yes for good holds at once, and no longer once it is revoked.
        if let Some(outgoing) = &mut judgement.leaves {
            outgoing.allowed = self.trust.hosts().contains(&outgoing.host);
        }
        let verdict = match (judgement.verdict, consent) {
            (Verdict::Ask, Consent::Given) => Verdict::Allow,
            (verdict, Consent::Given | Consent::Open) => verdict,
        };
        match self.port.propose(call.clone(), Judgement { verdict, ..judgement }).await {
            Answer::Run { args } => self.run(ToolCall { args, ..call.clone() }, &call.args).await,
            Answer::Refused { message } => Called::Refused(message),
            Answer::Value(value) => Called::Answered(value),
            Answer::Go { .. } | Answer::Again { .. } => Called::Refused("the call was not released".to_owned()),
        }
    }

    /// Checks a call and says what is to be done with it, once its server is ready. What was approved before that was the tool as it was.
    async fn judged(&self, call: &ToolCall, consent: Consent) -> Result<Judgement, ToolError> {
        let before = self.toolbox.now();
        let registry = self.toolbox.ready(&call.tool).await?;
        let (before, now) = (before.info(&call.tool), registry.info(&call.tool));
        if consent == Consent::Given && before.is_some() && before != now {
            return Err(ToolError::refused(format!("the server describes `{}` otherwise than when it was approved", call.tool))
                .hint("retry the node and look at what it would do now"));
        }
        registry.check(&call.tool, &call.args)?;
        let (judgement, rule) = self.judge(&registry, call)?;
        rule.filter(|_| consent == Consent::Open).into_iter().for_each(|rule| self.trust.rules().hit(rule));
        Ok(judgement)
    }

    /// What configuration and kept rules say of a call, with the rule that says so. Where the tool itself has a reason to ask, no kept yes counts.
    fn judge(&self, registry: &ToolRegistry, call: &ToolCall) -> Result<(Judgement, Option<u32>), ToolError> {
        let judgement = registry.judge(&call.tool, &call.args, self.context)?;
        let Assignment { run, origin, .. } = self.task;
        let ruled = RuledCall { run, node: &origin.node, tool: &call.tool, args: &call.args, workspace: &self.context.workspace };
        let asks_itself = registry.get(&call.tool).is_some_and(|tool| tool.asks_because().is_some());
        let by_rules = self.trust.rules().judged(judgement.clone(), ruled);
        Ok(if asks_itself && by_rules.0.verdict == Verdict::Allow { (judgement, None) } else { by_rules })
    }

    /// Whether a call that an earlier run made could not be made now without a yes; `strict` where its node's data may be private.
    pub(super) fn needs_yes(&self, call: &ToolCall, strict: bool) -> bool {
        let is_approved = matches!(&self.task.job, Job::Tool { .. }) && self.task.approved;
        let judged = self.judge(&self.toolbox.now(), call).and_then(|(judgement, _)| with_secrets(call, judgement));
        let Ok(judged) = judged else { return true };
        let may_go = |outgoing: &Outgoing| self.trust.hosts().contains(&outgoing.host) || !strict && outgoing.host != "*";
        !is_approved && (judged.verdict != Verdict::Allow || !judged.leaves.as_ref().is_none_or(may_go))
    }

    async fn run(&self, call: ToolCall, proposed: &Value) -> Called {
        let started = Instant::now();
        let result = match self.recheck(&call, proposed) {
            Ok(()) => self.invoke(&call).await,
            Err(error) => Err(error),
        };
        self.secrets.read_workspace();
        self.models.teach(self.secrets);
        let result = result.map(|output| self.sealed(output)).map_err(|error| self.masked(error));
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = match &result {
            Ok(output) => ToolReport {
                ok: true,
                value: output.value.clone(),
                files: output.files.clone(),
                sources: output.sources.clone(),
                duration_ms,
            },
            Err(error) => ToolReport {
                ok: error.goes_on.is_some(),
                value: Value::from(message_with_hint(error)),
                duration_ms,
                ..ToolReport::default()
            },
        };
        let replaced = replaced(&report.value);
        self.port.report(WorkerFact::ToolDone { call: call.id, report });
        if replaced > 0 {
            let what = counted(replaced, "character");
            let words = "as for bytes that are no UTF-8: written back, the text is not what was read";
            let text = format!("the result of `{}` has {what} `\u{fffd}`, {words}", call.tool);
            self.port.report(WorkerFact::Noted { label: "characters replaced".to_owned(), text });
        }
        match result {
            Ok(output) => Called::Ran(output.value),
            Err(error) => Called::Failed(error),
        }
    }

    /// What a tool gave, as it may be kept and shown.
    fn sealed(&self, mut output: ToolOutput) -> ToolOutput {
        let secrets = self.secrets;
        secrets.seal(&mut output.value);
        output.files.iter_mut().filter_map(|file| file.content_preview.as_mut()).for_each(|text| secrets.mask_text(text));
        output
    }

    fn masked(&self, mut error: ToolError) -> ToolError {
        let secrets = self.secrets;
        [Some(&mut error.message), error.hint.as_mut()].into_iter().flatten().for_each(|text| secrets.mask_text(text));
        error
    }

    /// Arguments that a person has edited are checked again, and stay within what the configuration denies.
    fn recheck(&self, call: &ToolCall, proposed: &Value) -> Result<(), ToolError> {
        if call.args == *proposed {
            return Ok(());
        }
        let registry = self.toolbox.now();
        registry.check(&call.tool, &call.args)?;
        let judgement = with_secrets(call, self.judge(&registry, call)?.0)?;
        match judgement.verdict {
            Verdict::Allow | Verdict::Ask => Ok(()),
            Verdict::Deny => Err(ToolError::refused(format!("the edited call is denied: {}", judgement.why))),
        }
    }

    async fn invoke(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let registry = self.toolbox.now();
        let tool = registry.get(&call.tool).ok_or_else(|| ToolError::refused(format!("there is no tool `{}`", call.tool)))?;
        self.still_as_shown(tool, call).await?;
        let asker = CallAsker { port: self.port.clone(), secrets: self.secrets.clone(), within: call.id.clone() };
        let Assignment { run, origin, .. } = self.task;
        let attempt_key = format!("{}/{}/{}", run.0, origin.node, origin.generation);
        let context = ToolContext { asker: Some(Arc::new(asker)), attempt_key, ..self.context.clone() };
        let output = tool.call(self.secrets.put_in(&call.args)?, &context).await?;
        self.previews.forget(&call.tool, &call.args);
        Ok(output)
    }

    /// Between an approval and its effect, files may change: what would happen now may not be what somebody approved.
    async fn still_as_shown(&self, tool: &Arc<dyn Tool>, call: &ToolCall) -> Result<(), ToolError> {
        let (previews, tool, args, context) = (self.previews.clone(), tool.clone(), call.args.clone(), self.context.clone());
        let changed = tokio::task::spawn_blocking(move || previews.changed(&*tool, &args, &context)).await;
        match changed {
            Ok(None) => Ok(()),
            Ok(Some(_)) | Err(_) => Err(ToolError::refused(format!("the preview of `{}` changed since the approval", call.tool))
                .hint("another program changed the file; retry the node and look at the new preview")),
        }
    }
}

/// A call that puts secrets in asks, and says which; one that sends them out is refused: neither an address nor a body may have them.
fn with_secrets(call: &ToolCall, judgement: Judgement) -> Result<Judgement, ToolError> {
    let names: Vec<String> = names_in(&call.args).into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return Ok(judgement);
    }
    let names = names.join(", ");
    if judgement.leaves.is_some() || judgement.risk == Risk::Network {
        let message = format!("`{}` would send the secret {names}", call.tool);
        return Err(ToolError::refused(message).hint("secrets go to the server that they belong to, and nowhere else"));
    }
    let verdict = if judgement.verdict == Verdict::Allow { Verdict::Ask } else { judgement.verdict };
    Ok(Judgement { verdict, why: format!("it puts in the secret {names}; {}", judgement.why), ..judgement })
}

/// How often a value has the character that stands for bytes which are no text.
fn replaced(value: &Value) -> usize {
    match value {
        Value::String(text) => text.matches(char::REPLACEMENT_CHARACTER).count(),
        Value::Array(list) => list.iter().map(replaced).sum(),
        Value::Object(map) => map.values().map(replaced).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// An error with its hint in one line, for a model.
pub(super) fn message_with_hint(error: &ToolError) -> String {
    error.hint.as_ref().map_or_else(|| error.message.clone(), |hint| format!("{} (hint: {hint})", error.message))
}

/// A tool's error as the node's.
pub(super) fn node_error(error: ToolError) -> NodeError {
    let kind = match (error.transient, error.nothing_began) {
        (true, true) => ErrorKind::NothingBegan,
        (true, false) => ErrorKind::Transient,
        (false, _) => ErrorKind::Permanent,
    };
    NodeError { kind, message: error.message, hint: error.hint, retry_after_ms: error.retry_after_ms }
}
