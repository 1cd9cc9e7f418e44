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

/// Refuses an edited payload that its tool would not take, before anything is decided.
pub(super) async fn check_edit(kit: &Kit, session: &RunSession, command: &Command) -> Result<(), Problem> {
    let Command::Decide { gate, decision: GateReply::Modify { payload }, .. } = command else { return Ok(()) };
    let Some(GateWithTool { tool: Some(tool), .. }) = look(session, *gate).await else { return Ok(()) };
    kit.registry.check(&tool, payload)?;
    let judgement = kit.registry.judge(&tool, payload, &kit.context())?;
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
    let tool = shared.kit.registry.get(&seen.tool?)?.clone();
    let (context, payload, previews) = (shared.kit.context(), payload.clone(), shared.kit.previews.clone());
    let preview = move || {
        let preview = tool.preview(&payload, &context)?;
        previews.remember(&tool.info().name, &payload, &preview);
        Some(preview)
    };
    tokio::task::spawn_blocking(preview).await.ok()?
}

/// The preview as it is now, if an approval goes by one that changed since you last saw it. From now on this one counts as shown.
pub(super) async fn outdated(kit: &Kit, session: &RunSession, command: &Command) -> Option<Preview> {
    let Command::Decide { gate, decision, .. } = command else { return None };
    let edited = match decision {
        GateReply::Approve => None,
        GateReply::Modify { payload } => Some(payload.clone()),
        GateReply::Reject { .. } | GateReply::Answer { .. } | GateReply::Skip | GateReply::CancelBranch => return None,
    };
    let GateWithTool { gate, tool } = look(session, *gate).await?;
    let (tool, payload) = (kit.registry.get(&tool?)?.clone(), edited.unwrap_or(gate.payload));
    let (context, previews) = (kit.context(), kit.previews.clone());
    let compare = move || {
        let now = previews.changed(&*tool, &payload, &context)?;
        previews.remember(&tool.info().name, &payload, &now);
        Some(now)
    };
    tokio::task::spawn_blocking(compare).await.ok()?
}

async fn look(session: &RunSession, gate: GateId) -> Option<GateWithTool> {
    let (reply, seen) = oneshot::channel();
    session.order(Order::Gate { gate, reply });
    seen.await.ok()?
}
