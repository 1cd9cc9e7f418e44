//! `GateWithTool`: a gate, and the tool that the call or node behind it uses.

use crate::engine::{Gate, GateId, GateKind, Outgoing, Run};

/// A gate with the tool behind it, if a tool call is what it asks about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GateWithTool {
    pub(super) gate: Gate,
    /// By its own name, whichever the plan calls it by.
    pub(super) tool: Option<String>,
    /// The other names of that tool.
    pub(super) aliases: Vec<String>,
}

impl GateWithTool {
    /// What the call would send out, if the gate asks about that.
    pub(super) fn leaves(&self) -> Option<&Outgoing> {
        match &self.gate.kind {
            GateKind::Permission { leaves, .. } => leaves.as_deref(),
            GateKind::Approval
            | GateKind::Review
            | GateKind::Question { .. }
            | GateKind::UnknownEffect { .. }
            | GateKind::Failure { .. }
            | GateKind::Replan { .. } => None,
        }
    }

    /// A gate of a run.
    pub(super) fn of(run: &Run, id: GateId) -> Option<Self> {
        let (gate, _) = run.gate(id)?;
        let tool = run.tool_of_gate(gate).map(str::to_owned);
        let others = run.settings().into_iter().flat_map(|settings| &settings.catalog.aliases);
        let aliases = others.filter(|(_, own)| Some(*own) == tool.as_ref()).map(|(alias, _)| alias.clone()).collect();
        Some(Self { gate: gate.clone(), tool, aliases })
    }
}
