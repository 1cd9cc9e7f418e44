//! What the host knows of gates that the engine doesn't: previews, and whether an edited payload fits its tool.

use super::{
    client::Problem,
    gate_with_tool::GateWithTool,
    jobs::Kit,
    local::Shared,
    session::{Order, RunSession},
};
use crate::engine::{Command, GateId, GateReply, Preview, Run, RunId};
use crate::plan::Verdict;
use serde_json::Value;
use tokio::sync::oneshot;

/// Why a reply is turned away before the run hears of it.
pub(super) enum TurnedAway {
    Refused(Problem),
    /// The call would do something else now than what was shown.
    Changed(GateId, Preview),
}

/// Checks a reply before the run hears of it: its tool takes an edited payload, and an approval is of the call as it was shown. A preview
/// that changed counts as shown from now on.
pub(super) async fn check(kit: &Kit, session: &RunSession, command: &Command) -> Result<(), TurnedAway> {
    let Command::Decide { gate: id, decision, .. } = command else { return Ok(()) };
    let edited = match decision {
        GateReply::Approve => None,
        GateReply::Modify { payload } => Some(payload.clone()),
        GateReply::Reject { .. }
        | GateReply::Answer { .. }
        | GateReply::Lost { .. }
        | GateReply::OnFailure { .. }
        | GateReply::Skip
        | GateReply::CancelBranch => return Ok(()),
    };
    let known = kit.previews.take_gate(&session.run, *id);
    let seen = if known.is_some() { known } else { look(session, *id).await };
    let Some(GateWithTool { gate, tool: Some(name), .. }) = seen else { return Ok(()) };
    if let Some(payload) = &edited {
        check_edit(kit, &name, payload).map_err(TurnedAway::Refused)?;
    }
    let Some(tool) = kit.toolbox.now().get(&name).cloned() else { return Ok(()) };
    let (context, previews, payload) = (kit.context(), kit.previews.clone(), edited.unwrap_or(gate.payload));
    let compare = move || {
        let now = previews.changed(&*tool, &payload, &context)?;
        previews.remember(&tool.info().name, &payload, &now);
        Some(now)
    };
    match tokio::task::spawn_blocking(compare).await {
        Ok(Some(now)) => Err(TurnedAway::Changed(*id, kit.secrets.masked(now))),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Refuses an edited payload that its tool would not take.
fn check_edit(kit: &Kit, tool: &str, payload: &Value) -> Result<(), Problem> {
    let registry = kit.toolbox.now();
    registry.check(tool, payload)?;
    let judgement = registry.judge(tool, payload, &kit.context())?;
    match judgement.verdict {
        Verdict::Allow | Verdict::Ask => Ok(()),
        Verdict::Deny => Err(Problem::new(format!("the edited call of `{tool}` is denied: {}", judgement.why))
            .hint("change it, or change [permissions] in config.toml")),
    }
}

/// A preview of what a gate's payload would do, if there is one. It counts as shown.
pub(super) async fn preview(shared: &Shared, run: &RunId, gate: GateId, payload: &Value) -> Option<Preview> {
    let seen = match shared.session(run) {
        Some(session) => look(&session, gate).await,
        None => GateWithTool::of(&Run::replay(&shared.store.records(run).ok()?), gate),
    }?;
    shared.kit.previews.keep_gate(run, &seen);
    preview_of(shared, seen, payload).await
}

/// The same of a gate that is known.
pub(super) async fn preview_of(shared: &Shared, seen: GateWithTool, payload: &Value) -> Option<Preview> {
    let tool = shared.kit.toolbox.now().get(&seen.tool?)?.clone();
    let (context, payload, previews) = (shared.kit.context(), payload.clone(), shared.kit.previews.clone());
    let preview = move || {
        let preview = tool.preview(&payload, &context)?;
        previews.remember(&tool.info().name, &payload, &preview);
        Some(preview)
    };
    let shown = tokio::task::spawn_blocking(preview).await.ok()?;
    shown.map(|preview| shared.kit.secrets.masked(preview))
}

pub(super) async fn look(session: &RunSession, gate: GateId) -> Option<GateWithTool> {
    let (reply, seen) = oneshot::channel();
    session.order(Order::Gate { gate, reply });
    seen.await.ok()?
}
