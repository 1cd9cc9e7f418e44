//! Gates as the engine makes them: ids, hashes, and the check of an edited payload. No gate opens and none is answered but through here.

use super::{
    Event, Gate, GateId, GateKind, GateReply, LostChoice, OPTION, Time,
    flow::PhasePart,
    form_has_option,
    gate::choice_labels,
    graph::NodeIx,
    resolve::text_of,
    run::{Decider, GateEnd, RunState},
};
use crate::plan::{ApprovalNode, Approve, Catalog, DecisionNode, Field, FieldKind, NodeKind, ToolReach, schema_faults};
use crate::text::hex;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// From this proposal on, a call that was rejected each time is refused without asking.
pub(super) const REJECTIONS_BEFORE_SILENCE: u32 = 2;

impl RunState {
    /// Whether a gate is between a node and its start.
    pub(super) fn asks_first(&self, ix: NodeIx) -> bool {
        self.owes_approval(ix) && !self.asks_at_its_call(ix)
    }

    /// Whether a node is to be approved before it acts, and nobody has done so yet.
    pub(super) fn owes_approval(&self, ix: NodeIx) -> bool {
        self.graph.nodes[ix].gates.before && self.flows[ix].gates.approval.is_none() && !self.nodes[ix].lineage.rehearsed
    }

    /// A gate that opens now. One decision opens at most one: its id is the next one free.
    pub(super) fn gate_event(&self, ix: NodeIx, kind: GateKind, payload: Value, why: impl Into<String>, now: Time) -> Event {
        let id = GateId(self.gates.all.keys().next_back().map_or(1, |last| last.0.saturating_add(1)));
        let hash = self.hash(ix, &payload);
        let node = self.id_of(ix);
        let generation = self.nodes[ix].generation;
        let mut gate = Gate { id, node, generation, tool: None, kind, payload, hash, why: why.into(), opened: now };
        gate.tool = self.tool_of_gate(&gate).map(str::to_owned);
        Event::ApprovalRequired { gate: Box::new(gate) }
    }

    /// Hex of SHA-256 over the node's definition and the payload.
    fn hash(&self, ix: NodeIx, payload: &Value) -> String {
        let mut hasher = Sha256::new();
        if let Some(node) = self.doc(ix).and_then(|node| serde_json::to_value(node).ok()) {
            hasher.update(canonical(&node));
        }
        hasher.update([0]);
        hasher.update(canonical(payload));
        hex(&hasher.finalize())
    }

    /// What was approved for this generation's start, as edited.
    pub(super) fn approved_payload(&self, ix: NodeIx) -> Option<&Value> {
        let run = self.gate_run(self.flows[ix].gates.approval?)?;
        match &run.end {
            GateEnd::Decided(decided) => Some(edited(&decided.decision, &run.gate.payload)),
            GateEnd::Open | GateEnd::Voided(_) => None,
        }
    }

    /// Gates of a node that are still open.
    pub(super) fn open_of(&self, ix: NodeIx) -> Vec<GateId> {
        let flow = &self.flows[ix];
        let whole = if let PhasePart::AtGate(gate) = flow.phase.part() { Some(gate) } else { None };
        let pending = flow.worker.iter().flat_map(|worker| &worker.pending).filter_map(|pending| pending.gate());
        whole.into_iter().chain(pending.filter(|gate| self.gates.open.contains(gate))).collect()
    }

    /// Whether its result waits at the gate behind it.
    pub(super) fn is_at_after_gate(&self, ix: NodeIx) -> bool {
        self.open_of(ix).into_iter().filter_map(|gate| self.gate_run(gate)).any(|run| run.gate.kind == GateKind::Review)
    }

    /// A reply as its gate takes it: what becomes of a node may be said with the words of the choice, as journals of version 3 have it.
    pub(super) fn taken(&self, gate: GateId, reply: &GateReply) -> GateReply {
        match (self.gate_run(gate).map(|run| &run.gate.kind), reply) {
            (Some(GateKind::UnknownEffect { .. }), GateReply::Answer { value }) => {
                LostChoice::deserialize(value).map_or_else(|_| reply.clone(), |choice| GateReply::Lost { choice })
            }
            (Some(GateKind::Failure { .. }), GateReply::Answer { value: Value::String(text) }) => {
                GateReply::on_failure(text).unwrap_or_else(|| reply.clone())
            }
            _ => reply.clone(),
        }
    }

    /// Why a decision doesn't fit its gate; `None` when it does.
    pub(super) fn misfit(&self, gate: &Gate, decision: &GateReply) -> Option<String> {
        if let GateKind::Replan { .. } = gate.kind {
            return Decider { state: self }.replan_misfit(gate, decision);
        }
        let Some(ix) = self.graph.find(&gate.node) else { return Some("its node was removed".to_string()) };
        match (&gate.kind, decision) {
            (GateKind::UnknownEffect { .. }, GateReply::Answer { .. } | GateReply::Approve) => {
                Some(format!("answer one of: {}", LostChoice::labels(", ")))
            }
            (GateKind::UnknownEffect { .. }, _) => None,
            (_, GateReply::Lost { .. }) => Some("its effect is not unknown".to_string()),
            (GateKind::Failure { choices, .. }, GateReply::OnFailure { choice, .. }) if choices.contains(choice) => None,
            (GateKind::Failure { .. }, GateReply::Modify { payload }) => self.payload_misfit(ix, &gate.payload, payload),
            (GateKind::Failure { choices, .. }, GateReply::Answer { .. } | GateReply::Approve | GateReply::OnFailure { .. }) => {
                Some(format!("answer one of: {}", choice_labels(choices, ", ")))
            }
            (GateKind::Failure { .. } | GateKind::Replan { .. }, _) => None,
            (_, GateReply::OnFailure { .. }) => Some("it does not ask about a failure".to_string()),
            (GateKind::Question { fields, call, .. }, GateReply::Approve)
                if call.is_some() || fields.is_empty() && gate.kind.wants_answer() =>
            {
                Some("this is a question: give an answer".to_string())
            }
            (GateKind::Question { cap: Some(cap), .. }, GateReply::Answer { value } | GateReply::Modify { payload: value }) => {
                self.cap_misfit(cap, value)
            }
            (GateKind::Question { options, fields, call, .. }, GateReply::Answer { value } | GateReply::Modify { payload: value }) => {
                // What an agent offers are suggestions; any other answer goes back to it too.
                let options = if call.is_none() { options.as_slice() } else { &[] };
                answer_misfit(options, fields, value)
            }
            (GateKind::Permission { tool, .. }, GateReply::Modify { payload }) => self.args_misfit(tool, payload),
            (GateKind::Approval, GateReply::Modify { payload }) => self.payload_misfit(ix, &gate.payload, payload),
            (GateKind::Review, GateReply::Modify { payload: value })
            | (GateKind::Approval | GateKind::Review, GateReply::Answer { value }) => self.result_misfit(ix, value),
            (GateKind::Approval | GateKind::Review | GateKind::Permission { .. } | GateKind::Question { .. }, _) => None,
        }
    }

    /// What a person edited is what will happen, so it may have nothing that would be ignored.
    fn payload_misfit(&self, ix: NodeIx, shown: &Value, payload: &Value) -> Option<String> {
        match &self.doc(ix)?.kind {
            NodeKind::Tool(work) => self.args_misfit(&work.tool, payload),
            NodeKind::Agent(_) | NodeKind::Decision(DecisionNode::Agent(_))
                if text_of(payload, "objective").is_none() && shown.get("objective").is_some() =>
            {
                Some("an agent needs an `objective` as text".to_string())
            }
            NodeKind::Agent(_) | NodeKind::Decision(DecisionNode::Agent(_)) => {
                fields_misfit(&["role", "goal", "objective"], shown, payload)
            }
            NodeKind::Code(_) if text_of(payload, "code").is_none() => Some("the payload needs `code` as text".to_string()),
            NodeKind::Code(_) => fields_misfit(&["code"], shown, payload),
            NodeKind::Decision(DecisionNode::Expression(_)) | NodeKind::Merge(_) | NodeKind::Transform(_) | NodeKind::Approval(_) => None,
            NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => body_misfit(shown, payload),
        }
    }

    /// A result that a person gives is held to the same schema as the node's own.
    fn result_misfit(&self, ix: NodeIx, value: &Value) -> Option<String> {
        let schema = self.policy(ix)?.get(|policy| policy.output_schema.as_ref())?;
        schema_misfit(schema, value).map(|why| format!("the result doesn't fit its schema: {why}"))
    }

    /// Names a call by what it does, whichever of its names the tool is called by and whatever the order of the arguments.
    pub(super) fn call_key(&self, tool: &str, args: &Value) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.tool_name(tool));
        hasher.update([0]);
        hasher.update(canonical(args));
        hex(&hasher.finalize())
    }

    /// A tool's own name, whichever of its names is given.
    pub(super) fn tool_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.settings().map_or(name, |settings| settings.catalog.canonical(name))
    }

    /// The tool that a gate asks about, by its own name, if a call is what it asks about.
    pub fn tool_of_gate<'a>(&'a self, gate: &'a Gate) -> Option<&'a str> {
        match &gate.kind {
            GateKind::Permission { tool, .. } => Some(self.tool_name(tool)),
            GateKind::Approval | GateKind::Failure { .. } => {
                self.node_doc(&gate.node).and_then(|node| node.kind.tool()).map(|work| self.tool_name(&work.tool))
            }
            GateKind::Review | GateKind::Question { .. } | GateKind::UnknownEffect { .. } | GateKind::Replan { .. } => None,
        }
    }

    /// Whether a gate is there only because the tool of its node asks, and not because the plan does.
    pub fn asks_by_permission(&self, gate: &Gate) -> bool {
        let Some(ix) = self.graph.find(&gate.node) else { return false };
        let asked = self.policy(ix).and_then(|policy| policy.get(|policy| policy.approve));
        let is_planned = matches!(asked, Some(Approve::Before | Approve::Both));
        gate.kind == GateKind::Approval && !is_planned && self.tool_of_gate(gate).is_some()
    }

    /// Whether a yes to a gate can become a rule for more calls of its tool.
    pub fn takes_rule(&self, gate: &Gate) -> bool {
        match &gate.kind {
            GateKind::Permission { leaves, .. } => leaves.is_none(),
            GateKind::Approval => self.asks_by_permission(gate),
            GateKind::Review
            | GateKind::Question { .. }
            | GateKind::UnknownEffect { .. }
            | GateKind::Failure { .. }
            | GateKind::Replan { .. } => false,
        }
    }

    pub(super) fn tool_reach(&self, name: &str) -> ToolReach {
        self.settings().map_or_else(|| Catalog::default().reach(name), |settings| settings.catalog.reach(name))
    }

    pub(super) fn tool_sends(&self, name: &str) -> bool {
        self.settings().map_or_else(|| Catalog::default().sends(name), |settings| settings.catalog.sends(name))
    }

    /// Arguments against the tool's schema. A schema that can't be read proves nothing, so it refuses nothing.
    fn args_misfit(&self, tool: &str, args: &Value) -> Option<String> {
        if !args.is_object() {
            return Some(format!("the arguments of `{tool}` must be an object"));
        }
        let info = self.settings().and_then(|settings| settings.catalog.tool(tool))?;
        schema_misfit(&info.input_schema, args).map(|why| format!("the arguments don't fit `{tool}`: {why}"))
    }
}

/// The payload after a decision.
pub(super) fn edited<'a>(decision: &'a GateReply, payload: &'a Value) -> &'a Value {
    match decision {
        GateReply::Modify { payload } => payload,
        GateReply::Answer { value } => value,
        GateReply::Approve
        | GateReply::Reject { .. }
        | GateReply::Lost { .. }
        | GateReply::OnFailure { .. }
        | GateReply::Skip
        | GateReply::CancelBranch => payload,
    }
}

/// What an edited payload has against its gate: these fields are texts, `inputs` is an object, all else stays as it was shown.
fn fields_misfit(texts: &[&str], shown: &Value, payload: &Value) -> Option<String> {
    let fields = payload.as_object()?;
    fields.iter().find_map(|(key, value)| match key.as_str() {
        text if texts.contains(&text) => (!value.is_string()).then(|| format!("`{text}` must be text")),
        "inputs" => (!value.is_object()).then(|| "`inputs` must be an object".to_string()),
        other => (shown.get(other) != Some(value)).then(|| format!("`{other}` can't be changed here: edit the plan and rerun it")),
    })
}

/// Inputs and entries of what runs inside may be changed, and nothing else.
fn body_misfit(shown: &Value, payload: &Value) -> Option<String> {
    let Some(fields) = payload.as_object() else { return Some("the payload must be an object with `inputs`".to_string()) };
    match fields.get("items") {
        Some(items) if shown.get("items").is_some() && !items.is_array() => Some("`items` must be a list".to_string()),
        Some(_) if shown.get("items").is_some() => None,
        Some(_) | None => fields_misfit(&[], shown, payload),
    }
}

/// What a value has against a schema; `None` when it fits.
pub(super) fn schema_misfit(schema: &Value, value: &Value) -> Option<String> {
    schema_faults(&jsonschema::validator_for(schema).ok()?, value, 3)
}

/// What an answer has against its form.
fn answer_misfit(options: &[String], fields: &[Field], value: &Value) -> Option<String> {
    let offered = |answer: Option<&str>| answer.is_some_and(|answer| options.iter().any(|option| option == answer));
    if fields.is_empty() {
        let fits = options.is_empty() || offered(value.as_str());
        return (!fits).then(|| format!("answer one of: {}", options.join(", ")));
    }
    let Some(map) = value.as_object() else { return Some("the answer must be an object with the form's fields".to_string()) };
    if form_has_option(options, fields) && !offered(map.get(OPTION).and_then(Value::as_str)) {
        return Some(format!("`{OPTION}` must be one of: {}", options.join(", ")));
    }
    fields.iter().find_map(|field| {
        let fits = match (map.get(&field.name), field.kind) {
            (None | Some(Value::Null), _) => {
                field.optional || field.default.is_some() || field.kind == FieldKind::Text && field.options.is_empty()
            }
            (Some(value), FieldKind::Text) if !field.options.is_empty() => {
                value.as_str().is_some_and(|text| field.options.iter().any(|option| option == text))
            }
            (Some(value), FieldKind::Text) => value.is_string(),
            (Some(value), FieldKind::Number) => value.is_number(),
            (Some(value), FieldKind::Boolean) => value.is_boolean(),
        };
        let kind = match field.kind {
            FieldKind::Text if !field.options.is_empty() => format!("one of: {}", field.options.join(", ")),
            FieldKind::Text => "text".to_string(),
            FieldKind::Number => "a number".to_string(),
            FieldKind::Boolean => "true or false".to_string(),
        };
        (!fits).then(|| format!("`{}` must be {kind}", field.name))
    })
}

/// What an approval node gives: the answer, with the form's presets filled in. Where options are beside a form, the one taken is
/// the answer's `option`.
pub(super) fn approval_result(ask: &ApprovalNode, decision: &GateReply) -> Value {
    let presets = || ask.fields.iter().filter_map(|field| field.default.clone().map(|value| (field.name.clone(), value)));
    let answer = match decision {
        GateReply::Answer { value: Value::Object(given) } | GateReply::Modify { payload: Value::Object(given) }
            if !ask.fields.is_empty() =>
        {
            let mut filled: Map<String, Value> = presets().collect();
            filled.extend(given.clone());
            Value::Object(filled)
        }
        GateReply::Answer { value } | GateReply::Modify { payload: value } => value.clone(),
        GateReply::Approve
        | GateReply::Reject { .. }
        | GateReply::Lost { .. }
        | GateReply::OnFailure { .. }
        | GateReply::Skip
        | GateReply::CancelBranch => {
            if ask.fields.is_empty() {
                Value::from("approve")
            } else {
                Value::Object(presets().collect())
            }
        }
    };
    Value::Object(Map::from_iter([("answer".to_string(), answer)]))
}

/// JSON with sorted keys.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let parts: Vec<String> =
                entries.into_iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value))).collect();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
