//! What references and expressions of a node give now: its job, the payload that a gate shows, the value of work that the engine does itself.
//! Reads state only; every outcome goes into an event.

use super::{
    Dep, Job, Mark, NodeError, NodeState, Provenance,
    flow::ForwardedResult,
    graph::NodeIx,
    inner_run::{InnerRun, InnerRunIx, MOST_ITEMS},
    privacy::Taint,
    rehearse::REHEARSAL,
    run::RunState,
    state::EndKind,
};
use crate::plan::{
    CodeNode, DecisionNode, Dialect, MergeNode, NameScope, Node, NodeId, NodeKind, NodeValue, Path, SHELL_TOOL, ToolInfo, ToolInput, expr,
    native::kind, reads, reference, rehearsed,
};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

/// Bytes of a value that stands in a title.
const SHORT_VALUE: usize = 40;

/// Stands in where a node has no plan, which no journal of a created run gives.
static NOWHERE: LazyLock<InnerRun> = LazyLock::new(InnerRun::default);

/// What consumers get of a node that failed safe.
pub(super) fn safe_result(error: &NodeError) -> Value {
    json!({ "error": error.message, "failed_safe": true })
}

/// How a node is about to end: what conditions on its edges read of it before it is on record.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a> {
    pub node: NodeIx,
    /// As it will be.
    pub state: NodeState,
    /// A passed node has none.
    pub result: Option<&'a Value>,
    pub error: Option<&'a str>,
}

/// What is known in a run, with one node's end that is not on record yet.
pub(super) struct KnownResults<'a> {
    run: &'a RunState,
    /// The plan whose names are meant.
    inner: &'a InnerRun,
    with: Option<Ending<'a>>,
    /// What the node that is about to end adds to the context of a workflow.
    context: Option<&'a Map<String, Value>>,
}

impl NameScope for KnownResults<'_> {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        let ix = self.run.find_in(self.inner, id)?;
        if let Some(own) = self.with.filter(|own| own.node == ix) {
            return Some(NodeValue { result: own.result, status: own.state.word(), error: own.error });
        }
        let node = &self.run.nodes[ix];
        let error = node.error.as_ref().map(|error| error.message.as_str());
        Some(NodeValue { result: self.run.result_of(ix).map(|result| &**result), status: node.state.word(), error })
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.context.and_then(|given| given.get(name)).or_else(|| self.inner.inputs.get(name))
    }

    fn inputs(&self) -> Map<String, Value> {
        self.inner.inputs.all().into_iter().chain(self.context.cloned().into_iter().flatten()).collect()
    }

    fn is_rehearsed(&self, path: &Path) -> bool {
        self.run.is_marked_name(Taint::Rehearsed, self.inner, path)
    }
}

impl RunState {
    pub(super) fn known(&self, ix: NodeIx) -> KnownResults<'_> {
        KnownResults { run: self, inner: self.home(ix), with: None, context: None }
    }

    /// What a node's work reads by name.
    pub(super) fn reads(&self, ix: NodeIx) -> Vec<Path> {
        self.doc(ix).map(|node| reads(node, &self.known(ix))).unwrap_or_default()
    }

    /// What a condition of a node reads by name.
    pub(super) fn reads_in_condition(&self, ix: NodeIx, condition: &str) -> Vec<Path> {
        expr::check(condition, &self.known(ix)).unwrap_or_default()
    }

    /// What a value that a node gives to others reads by name.
    pub(super) fn reads_in(&self, ix: NodeIx, value: &Value) -> Vec<Path> {
        reference::references(value, &self.known(ix)).into_iter().flat_map(|found| found.paths).collect()
    }

    /// A text of a node with the short values that its references have by now in their places; the rest stays as it is written.
    pub fn filled(&self, node: &NodeId, text: &str) -> String {
        let scope = self.graph.find(node).map(|ix| self.known(ix));
        scope.map_or_else(|| text.to_owned(), |scope| reference::filled(text, &scope, SHORT_VALUE, |_| true))
    }

    /// The plan that a node is in.
    pub(super) fn home(&self, ix: NodeIx) -> &InnerRun {
        self.inner_of(ix).unwrap_or(&NOWHERE)
    }

    /// Whether a condition of a node holds; `ending` is what its own edges read of it before that is on record.
    pub(super) fn holds(&self, condition: &str, ix: NodeIx, ending: Option<Ending<'_>>) -> Result<bool, String> {
        let inner = self.home(ix);
        let given = ending.and_then(|ending| ending.result).and_then(Value::as_object);
        let context =
            given.filter(|_| inner.plan.dialect == Dialect::Workflow && ending.is_some_and(|ending| ending.state.end() == EndKind::Gives));
        if self.ends_rehearsed(ix, condition, ending) {
            return Ok(true);
        }
        truthy(condition, &KnownResults { run: self, inner, with: ending, context })
    }

    /// Whether a condition holds among the names of an inner run.
    pub(super) fn holds_in(&self, condition: &str, inner: InnerRunIx) -> Result<bool, String> {
        let inner = self.inner(inner).unwrap_or(&NOWHERE);
        let known = KnownResults { run: self, inner, with: None, context: None };
        let paths = expr::check(condition, &known).unwrap_or_default();
        Ok(paths.iter().any(|path| known.is_rehearsed(path)) || truthy(condition, &known)?)
    }

    /// The exact thing that will happen, as a gate before the node shows it.
    pub(super) fn payload(&self, ix: NodeIx) -> Result<Value, String> {
        let Some(node) = self.doc(ix) else { return Ok(Value::Null) };
        match &node.kind {
            NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => {
                let job = self.agent_job(ix, work)?;
                let parts = [("agent", job.agent), ("role", job.role), ("goal", job.goal), ("objective", job.objective)];
                let mut shown: Map<String, Value> =
                    parts.into_iter().filter_map(|(key, text)| text.map(|text| (key.to_string(), Value::from(text)))).collect();
                if !job.inputs.is_empty() {
                    shown.insert("inputs".to_string(), Value::Object(job.inputs));
                }
                if !job.guidance.is_empty() {
                    shown.insert("guidance".to_string(), Value::from(job.guidance));
                }
                if let Some(rejected) = job.rejected {
                    shown.insert("rejected".to_string(), rejected);
                }
                Ok(Value::Object(shown))
            }
            NodeKind::Tool(work) => self.tool_args(ix, &work.tool, &work.input),
            NodeKind::Code(work) => {
                let inputs = self.named_inputs(ix)?;
                Ok(if inputs.is_empty() { json!({ "code": work.code }) } else { json!({ "code": work.code, "inputs": inputs }) })
            }
            NodeKind::Decision(DecisionNode::Expression(_)) | NodeKind::Merge(_) | NodeKind::Transform(_) | NodeKind::Approval(_) => {
                self.value(ix, node)
            }
            NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => {
                let mut shown = Map::from_iter([("inputs".to_string(), Value::Object(self.named_inputs(ix)?))]);
                if let Some(items) = self.items(ix, node)? {
                    shown.insert("items".to_string(), Value::Array(items));
                }
                Ok(Value::Object(shown))
            }
        }
    }

    /// The entries of a map.
    fn items(&self, ix: NodeIx, node: &Node) -> Result<Option<Vec<Value>>, String> {
        let NodeKind::Map(work) = &node.kind else { return Ok(None) };
        let items = expr::eval(&work.over, &self.known(ix)).map_err(|error| format!("`{}`: {error}", work.over));
        if self.reads_rehearsed(ix, &work.over) {
            let first = items.ok().and_then(|items| items.get(0).cloned());
            return Ok(Some(vec![first.unwrap_or_else(|| rehearsed(&work.over))]));
        }
        match items? {
            Value::Array(items) if items.len() > MOST_ITEMS => {
                Err(format!("`{}` gives {} entries: a map takes {MOST_ITEMS} at most", work.over, items.len()))
            }
            Value::Array(items) => Ok(Some(items)),
            other => Err(format!("`{}` is {}, but a map needs a list", work.over, kind(&other))),
        }
    }

    /// What a worker does; what a gate approved goes before what the plan says.
    pub(super) fn job(&self, ix: NodeIx) -> Result<Job, String> {
        let Some(node) = self.doc(ix) else { return Err("the node is not in the plan".to_string()) };
        let approved = self.approved_payload(ix);
        let rehearsed = self.nodes[ix].lineage.rehearsed;
        match &node.kind {
            NodeKind::Tool(_) | NodeKind::Code(_) if rehearsed => Ok(Job::Inline { work: REHEARSAL.to_string() }),
            NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => {
                let mut job = self.agent_job(ix, work)?;
                let written = job.objective.clone();
                match approved {
                    Some(Value::Object(shown)) => {
                        let text = |key| shown.get(key).and_then(Value::as_str).map(str::to_string);
                        (job.role, job.goal, job.objective) = (text("role"), text("goal"), text("objective"));
                        job.inputs = shown_inputs(shown);
                    }
                    Some(payload) => job.objective = text_of(payload, "objective"),
                    None => {}
                }
                if job.objective != written {
                    job.resources = self.resources_in(job.objective.as_deref());
                }
                Ok(Job::Agent(job))
            }
            NodeKind::Tool(work) => {
                let args = match approved {
                    Some(args) => args.clone(),
                    None => self.tool_args(ix, &work.tool, &work.input)?,
                };
                // By the names that the run began with.
                let tool = self.settings().map_or(work.tool.as_str(), |settings| settings.catalog.canonical(&work.tool)).to_owned();
                Ok(Job::Tool { tool, args })
            }
            NodeKind::Code(work) => {
                let code = approved.and_then(|payload| text_of(payload, "code")).unwrap_or_else(|| work.code.clone());
                let mut inputs = self.home(ix).inputs.all();
                inputs.extend(match approved {
                    Some(Value::Object(shown)) => shown_inputs(shown),
                    Some(_) | None => self.named_inputs(ix)?,
                });
                Ok(Job::Code { code: CodeNode { code, sandbox: work.sandbox.clone() }, inputs })
            }
            NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => Ok(Job::Inside {
                inputs: match approved {
                    Some(Value::Object(shown)) => shown_inputs(shown),
                    Some(_) | None => self.named_inputs(ix)?,
                },
                items: match approved.and_then(|shown| shown.get("items")).and_then(Value::as_array) {
                    Some(items) => Some(items.clone()),
                    None => self.items(ix, node)?,
                },
            }),
            NodeKind::Decision(DecisionNode::Expression(_)) => Ok(Job::Inline { work: "decision".to_string() }),
            NodeKind::Merge(_) => Ok(Job::Inline { work: "merge".to_string() }),
            NodeKind::Transform(_) => Ok(Job::Inline { work: "transform".to_string() }),
            NodeKind::Approval(_) => Ok(Job::Inline { work: "approval".to_string() }),
        }
    }

    /// The value of work that the engine does itself.
    pub(super) fn value(&self, ix: NodeIx, node: &Node) -> Result<Value, String> {
        let known = self.known(ix);
        match &node.kind {
            NodeKind::Decision(DecisionNode::Expression(text)) => expr::eval(text, &known).map_err(|error| format!("`{text}`: {error}")),
            NodeKind::Transform(work) => reference::resolve(&work.value, &known).map_err(|error| error.to_string()),
            NodeKind::Merge(MergeNode { template: Some(template) }) => {
                reference::resolve(template, &known).map_err(|error| error.to_string())
            }
            NodeKind::Merge(MergeNode { template: None }) => {
                let deps = self.deps(ix);
                let bytes: usize = deps.iter().map(|dep| reference::value_bytes(&dep.result)).sum();
                if bytes > reference::MAX_RENDERED {
                    return Err(format!("the results together are longer than {} bytes", reference::MAX_RENDERED));
                }
                let parts = deps.into_iter().map(|dep| (dep.node.to_string(), (*dep.result).clone()));
                Ok(Value::Object(parts.collect()))
            }
            NodeKind::Approval(ask) => reference::resolve_text(&ask.text, &known).map(Value::String).map_err(|error| error.to_string()),
            _ => Ok(Value::Null),
        }
    }

    /// Results of the dependencies that were taken, in edge order.
    pub(super) fn deps(&self, ix: NodeIx) -> Vec<Dep> {
        self.received(ix).iter().map(|origin| self.dep(origin)).collect()
    }

    /// All dependencies: those that were taken, and behind them the others, without a result.
    pub(super) fn sources(&self, ix: NodeIx) -> Vec<Dep> {
        let received = self.received(ix);
        let sources = self.graph.nodes[ix].ins.iter().map(|&edge| self.graph.link(edge).from);
        let others: BTreeSet<NodeIx> = sources.filter(|source| received.iter().all(|origin| origin.node != *source)).collect();
        let taken = received.iter().map(|origin| self.dep(origin));
        taken.chain(others.into_iter().map(|source| self.dep_with(source, Arc::default()))).collect()
    }

    /// Keys that an edge lets through are those of the result; in a workflow, those of the context.
    fn dep(&self, origin: &ForwardedResult) -> Dep {
        let mut result = self.result_of(origin.node).cloned().unwrap_or_else(|| Arc::new(Value::Null));
        let inner = self.home(origin.node);
        for (at, &edge) in origin.through.iter().enumerate() {
            let Some(keys) = self.edge(edge).and_then(|doc| doc.context.as_ref()) else { continue };
            let from = |key: &str| match &*result {
                _ if at == 0 && inner.plan.dialect == Dialect::Workflow => inner.inputs.get(key),
                other => other.get(key),
            };
            if !(result.is_object() || at == 0 && inner.plan.dialect == Dialect::Workflow) {
                continue;
            }
            let kept = keys.iter().filter_map(|key| from(key).map(|value| (key.clone(), value.clone())));
            result = Arc::new(Value::Object(kept.collect()));
        }
        self.dep_with(origin.node, result)
    }

    pub(super) fn dep_with(&self, ix: NodeIx, result: Arc<Value>) -> Dep {
        let node = &self.nodes[ix];
        Dep {
            node: self.doc(ix).map_or_else(|| self.id_of(ix), |node| node.id.clone()),
            result,
            state: node.state,
            error: node.error.as_ref().map(|error| error.message.clone()),
            provenance: self.provenance(ix),
        }
    }

    fn provenance(&self, ix: NodeIx) -> Provenance {
        let lineage = &self.nodes[ix].lineage;
        let agent = self.doc(ix).and_then(|node| node.kind.agent()).and_then(|work| work.agent.clone().or_else(|| work.role.clone()));
        Provenance {
            agent,
            model: lineage.model.clone(),
            sources: lineage.sources.clone(),
            files: lineage.files.clone(),
            tokens: lineage.cached.as_ref().map_or(lineage.spent, |cached| cached.spent).tokens.total(),
            early: self.nodes[ix].mark.clone().filter(Mark::is_early),
        }
    }

    /// Working seconds of one attempt, by whichever limit is tighter. Agents always have one.
    pub(super) fn time_limit(&self, ix: NodeIx) -> Option<f64> {
        let policy = self.policy(ix)?;
        let cap = policy.get(|policy| policy.budget.as_ref().and_then(|budget| budget.seconds));
        let said = policy.get(|policy| policy.timeout_s).into_iter().chain(cap).reduce(f64::min);
        let default = self.settings().map(|settings| settings.agent_limits).unwrap_or_default().timeout_s;
        if policy.node.kind.agent().is_some() { said.or(Some(default)) } else { said }
    }

    pub(super) fn named_inputs(&self, ix: NodeIx) -> Result<Map<String, Value>, String> {
        let Some(policy) = self.policy(ix) else { return Ok(Map::new()) };
        let given = match policy.get(|policy| policy.inputs.as_ref()) {
            Some(inputs) => reference::resolve_map(inputs, &self.known(ix)).map_err(|error| error.to_string())?,
            None => Map::new(),
        };
        // Nothing leads to the entry of a workflow, so what the walk starts with is its context.
        let starts = policy.plan.dialect == Dialect::Workflow && policy.node.entry;
        Ok(if starts { self.home(ix).inputs.all().into_iter().chain(given).collect() } else { given })
    }

    fn tool_args(&self, ix: NodeIx, tool: &str, input: &ToolInput) -> Result<Value, String> {
        let known = self.known(ix);
        let is_shell = self.tool_name(tool) == SHELL_TOOL;
        match input {
            ToolInput::Args(args) => {
                let mut resolved = reference::resolve_map(args, &known).map_err(|error| error.to_string())?;
                if let Some(command) = args.get("command").and_then(Value::as_str).filter(|_| is_shell && resolved["command"].is_string()) {
                    let command = reference::resolve_command(command, &known).map_err(|error| error.to_string())?;
                    resolved.insert("command".to_owned(), Value::String(command));
                }
                Ok(Value::Object(resolved))
            }
            ToolInput::Query(query) => {
                let resolve = if is_shell { reference::resolve_command } else { reference::resolve_text };
                let value = resolve(query, &known).map_err(|error| error.to_string())?;
                let known = self.settings().and_then(|settings| settings.catalog.tool(tool));
                let name = known.and_then(ToolInfo::query_parameter).unwrap_or("query");
                Ok(Value::Object(Map::from_iter([(name.to_string(), Value::String(value))])))
            }
        }
    }
}

fn truthy(condition: &str, known: &KnownResults<'_>) -> Result<bool, String> {
    expr::truthy(condition, known).map_err(|error| format!("`{condition}`: {error}"))
}

/// The extra context as a gate showed it, or as it was edited there.
fn shown_inputs(shown: &Map<String, Value>) -> Map<String, Value> {
    shown.get("inputs").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The text of a payload: bare, or under its key.
pub(super) fn text_of(payload: &Value, key: &str) -> Option<String> {
    payload.as_str().or_else(|| payload.get(key).and_then(Value::as_str)).map(str::to_string)
}
