//! An agent's job: its texts with references resolved, its limits, and the results that it works with. A long result that a text
//! refers to is named there and is among the material, so that a model gets it once.

use super::{
    AgentJob, Dep, Job,
    graph::{NodeIx, leaves_something},
    run::RunState,
};
use crate::plan::{
    AgentNode, Dialect, NodeId, Path, expr,
    limits::{HYBRID_MODEL, LONGEST_IN_PLACE, MOST_ITERATIONS},
    reference, resource_refs,
};
use serde_json::Value;

impl RunState {
    /// An agent's job as the plan and what is known now make it.
    pub(super) fn agent_job(&self, ix: NodeIx, work: &AgentNode) -> Result<AgentJob, String> {
        let known = self.known(ix);
        let mut named = Vec::new();
        let mut text = |text: &Option<String>| {
            let mut name = |path: &Path, value: &Value| self.name_below(ix, path, value, &mut named);
            let resolved = text.as_ref().map(|text| reference::resolve_text_by(text, &known, &mut name));
            resolved.transpose().map_err(|error| error.to_string())
        };
        let (Some(policy), Some(plan)) = (self.policy(ix), self.plan()) else { return Ok(AgentJob::default()) };
        let [role, goal, objective] = [text(&work.role)?, text(&work.goal)?, text(&work.objective)?];
        let settings = self.settings();
        let limits = settings.map(|settings| settings.agent_limits).unwrap_or_default();
        let hybrid = policy.plan.dialect == Dialect::Hybrid;
        let class = hybrid.then(|| HYBRID_MODEL.to_string());
        Ok(AgentJob {
            agent: work.agent.clone(),
            role,
            goal,
            objective,
            named,
            resources: self.resources_in(work.objective.as_deref()),
            plan_goal: if policy.plan.goal.is_empty() { plan.goal.clone() } else { policy.plan.goal.clone() },
            inputs: self.named_inputs(ix)?,
            model: self.flows[ix]
                .gates
                .model
                .clone()
                .or_else(|| policy.get(|policy| policy.model.clone()))
                .or(class)
                .or_else(|| settings.and_then(|settings| settings.model.clone())),
            tools: policy.get(|policy| policy.tools.clone()).or_else(|| hybrid.then(|| self.harmless_tools())),
            output_schema: policy.get(|policy| policy.output_schema.clone()),
            // What the plan leaves open, the card says, and else the loop's own default.
            max_iterations: policy.get(|policy| policy.max_iterations).map_or(0, |most| most.clamp(1, MOST_ITERATIONS)),
            max_tokens: policy.get(|policy| policy.budget.as_ref().and_then(|budget| budget.tokens)).unwrap_or(0),
            timeout_s: self.time_limit(ix).unwrap_or(limits.timeout_s),
            otherwise: limits,
            routes: if policy.node.kind.is_decision() { self.route_names(ix) } else { Vec::new() },
            context: policy.get(|policy| policy.context),
            rehearsed: self.nodes[ix].lineage.rehearsed,
            guidance: self.flows[ix].guidance.texts.clone(),
            rejected: self.flows[ix].guidance.rejected.as_deref().cloned(),
        })
    }

    /// The resources of known servers that a text refers to: a text as somebody wrote it, never what a node gave.
    pub(super) fn resources_in(&self, text: Option<&str>) -> Vec<String> {
        let knows = |server: &str| self.settings().is_some_and(|settings| settings.catalog.servers.contains_key(server));
        let found = resource_refs(text.unwrap_or_default()).into_iter().filter(|found| knows(found.server));
        found.map(|found| found.text.to_string()).collect()
    }

    /// The words in the place of a long result that is among the material; its node is remembered.
    fn name_below(&self, ix: NodeIx, path: &Path, value: &Value, named: &mut Vec<NodeId>) -> Option<String> {
        let (id, fields) = path.of_result()?;
        let node = self.find_in(self.home(ix), id)?;
        let is_long = reference::value_bytes(value) > LONGEST_IN_PLACE && expr::plain(value).chars().nth(LONGEST_IN_PLACE).is_some();
        if !is_long || self.result_of(node).is_none() {
            return None;
        }
        let id = NodeId::from(id);
        let field = if fields.is_empty() { String::new() } else { format!("`{}` of ", fields.join(".")) };
        let words = format!("{field}the result of `{id}`, below");
        if !named.contains(&id) {
            named.push(id);
        }
        Some(words)
    }

    /// What a job works with: what the node depends on, and every result that the texts of an agent's job name, in full.
    pub(super) fn material(&self, ix: NodeIx, job: &Job) -> Vec<Dep> {
        let mut deps = self.sources(ix);
        let Job::Agent(AgentJob { named, .. }) = job else { return deps };
        for id in named {
            let Some(node) = self.find_in(self.home(ix), id.as_str()) else { continue };
            let Some(result) = self.result_of(node).cloned() else { continue };
            let dep = self.dep_with(node, result);
            match deps.iter_mut().find(|known| known.node == *id) {
                Some(known) => *known = dep,
                None => deps.push(dep),
            }
        }
        deps
    }

    /// Names of the tools that leave nothing behind: what an agent of a hybrid plan may use when the plan doesn't say.
    fn harmless_tools(&self) -> Vec<String> {
        let tools = self.settings().map(|settings| settings.catalog.tools.as_slice()).unwrap_or_default();
        tools.iter().filter(|tool| !leaves_something(Some(tool))).map(|tool| tool.name.clone()).collect()
    }
}
