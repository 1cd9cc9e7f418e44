//! `WorkParts`: everything that can change the result of an attempt, each part under a name for people. What can't change it is in none:
//! ids of run and node, titles, limits of time, and who may be asked.

use super::result_cache::hex;
use crate::agents::{Card, Execution, Responder};
use crate::engine::{AgentJob, Dep};
use crate::plan::{CodeNode, ContextMode, ToolInfo, limits::AgentLimits};
use crate::store::KeyPart;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Raised when workers, prompts or the sandbox do the same work in another way.
const WORKERS: u32 = 1;
/// What code can use that gives something else each time.
const CHANGING: [&str; 6] = ["Date", "random", "performance", "globalThis", "eval", "Function"];

/// What a result is made of.
pub(super) struct WorkParts {
    /// Who makes it, for people.
    pub(super) worker: String,
    pub(super) parts: Vec<KeyPart>,
    /// It depends on more than its parts.
    pub(super) outside: bool,
}

impl WorkParts {
    fn new(worker: String, workspace: &Path) -> Self {
        let program = json!([env!("CARGO_PKG_VERSION"), WORKERS]);
        Self { worker, parts: Vec::new(), outside: false }.with("dagdeck itself", &program).with("workspace", &json!(workspace))
    }

    fn with(mut self, name: &str, value: &Value) -> Self {
        self.parts.push(KeyPart { name: name.to_owned(), hash: hex(&Sha256::digest(value.to_string())) });
        self
    }

    /// Of an agent that a model or a service answers; what people answer is theirs alone.
    pub(super) fn of_agent(job: &AgentJob, deps: &[Dep], execution: &Execution, workspace: &Path) -> Option<Self> {
        let Execution { card, responder, tools, window, context_tokens } = execution;
        let Responder::Model { provider, name, settings } = responder else { return None };
        let AgentLimits { tokens, iterations, .. } = job.otherwise;
        // Where a limit is written in seconds, a result that came in time is the same.
        let task = AgentJob {
            model: None,
            tools: None,
            timeout_s: 0.0,
            max_iterations: 0,
            max_tokens: 0,
            otherwise: AgentLimits::default(),
            ..job.clone()
        };
        let limits = json!([job.max_iterations, job.max_tokens, tokens, iterations, window, context_tokens]);
        let parts = Self::new(format!("agent {}", job.agent.as_deref().or(job.role.as_deref()).unwrap_or(&card.name)), workspace)
            .with("the agent's card", &json!(described(card)))
            .with("the tools on offer", &json!(tools.iter().map(offer).collect::<Vec<_>>()))
            .with("the model", &json!([provider.provider(), name]))
            .with("the model's settings", &json!(settings))
            .with("the task", &json!(task))
            .with("the limits", &limits);
        Some(parts.with("earlier results", &material(deps, job.context == Some(ContextMode::Structured))))
    }

    pub(super) fn of_code(code: &CodeNode, inputs: &Map<String, Value>, deps: &[Dep], workspace: &Path) -> Self {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let outside = code.code.split(|letter| !is_letter(letter)).any(|word| CHANGING.contains(&word));
        let parts = Self::new("code".to_owned(), workspace)
            .with("the code", &json!([code.code, code.sandbox]))
            .with("the inputs", &json!(inputs))
            .with("earlier results", &material(deps, false));
        Self { outside, ..parts }
    }

    /// Of one call, with the model that it may ask.
    pub(super) fn of_tool(tool: &ToolInfo, args: &Value, model: Option<&str>, workspace: &Path) -> Self {
        Self::new(format!("tool {}", tool.name), workspace)
            .with("the tool", &offer(tool))
            .with("the arguments", args)
            .with("the model", &json!(model))
    }
}

/// A card without where it came from.
fn described(card: &Card) -> String {
    format!("{:?}", Card { origin: String::new(), ..card.clone() })
}

/// What a model reads of a tool, and may do with it.
fn offer(tool: &ToolInfo) -> Value {
    json!([tool.name, tool.description, tool.input_schema, tool.risk, tool.verdict])
}

/// Earlier results as workers read them.
fn material(deps: &[Dep], with_origin: bool) -> Value {
    let origin = |dep: &Dep| format!("{:?}", dep.provenance);
    deps.iter().map(|dep| json!([dep.node, dep.result, dep.state.word(), dep.error, with_origin.then(|| origin(dep))])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{CardLimits, ToolList};
    use crate::engine::{DataSource, NodeState, Provenance};
    use crate::models::{ChatAnswer, ChatModel, ChatRequest, Delta, ModelError, ModelSettings};
    use crate::plan::{Risk, SandboxLimits, Verdict};
    use async_trait::async_trait;
    use std::{path::PathBuf, sync::Arc};

    struct NamedProvider(&'static str);

    #[async_trait]
    impl ChatModel for NamedProvider {
        fn provider(&self) -> &str {
            self.0
        }

        async fn chat(&self, _request: &ChatRequest, _sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
            Ok(ChatAnswer::default())
        }

        async fn list(&self) -> Result<Vec<String>, ModelError> {
            Ok(Vec::new())
        }
    }

    /// All that an agent's result is made of.
    #[derive(Clone)]
    struct Work {
        job: AgentJob,
        deps: Vec<Dep>,
        card: Card,
        tools: Vec<ToolInfo>,
        server: &'static str,
        model: &'static str,
        settings: ModelSettings,
        window: Option<u64>,
        context_tokens: Option<u64>,
        workspace: PathBuf,
    }

    impl Work {
        fn key(&self) -> Vec<KeyPart> {
            let responder = Responder::Model {
                provider: Arc::new(NamedProvider(self.server)),
                name: self.model.to_owned(),
                settings: self.settings.clone(),
            };
            let execution = Execution {
                card: Arc::new(self.card.clone()),
                responder,
                tools: self.tools.clone(),
                window: self.window,
                context_tokens: self.context_tokens,
            };
            WorkParts::of_agent(&self.job, &self.deps, &execution, &self.workspace).unwrap().parts
        }
    }

    fn tool() -> ToolInfo {
        ToolInfo {
            name: "read_file".into(),
            description: "reads".into(),
            input_schema: json!({"type": "object"}),
            risk: Risk::Read,
            verdict: Verdict::Allow,
            reach: None,
        }
    }

    fn dep() -> Dep {
        let provenance = Provenance::default();
        Dep { node: "a".into(), result: Arc::new(json!({"n": 1})), state: NodeState::Succeeded, error: None, provenance }
    }

    fn work() -> Work {
        Work {
            job: AgentJob { role: Some("writer".into()), objective: Some("a line".into()), timeout_s: 60.0, ..AgentJob::default() },
            deps: vec![dep()],
            card: Card::inline("writer", None, ToolList::Given),
            tools: vec![tool()],
            server: "here:1",
            model: "m",
            settings: ModelSettings::default(),
            window: Some(8_000),
            context_tokens: None,
            workspace: "/w".into(),
        }
    }

    type Change = fn(&mut Work);

    #[test]
    fn whatever_can_change_the_result_of_an_agent_changes_the_key() {
        let changes: [(&str, Change); 32] = [
            ("the task", |work| work.job.objective = Some("two lines".into())),
            ("the task", |work| work.job.goal = Some("x".into())),
            ("the task", |work| work.job.role = Some("poet".into())),
            ("the task", |work| work.job.agent = Some("writer".into())),
            ("the task", |work| work.job.plan_goal = "x".into()),
            ("the task", |work| work.job.inputs = json!({"x": 1}).as_object().unwrap().clone()),
            ("the task", |work| work.job.named = vec!["a".into()]),
            ("the task", |work| work.job.resources = vec!["r".into()]),
            ("the task", |work| work.job.output_schema = Some(json!({}))),
            ("the task", |work| work.job.routes = vec!["left".into()]),
            ("the task", |work| work.job.context = Some(ContextMode::Selected)),
            ("the limits", |work| work.job.max_iterations = 3),
            ("the limits", |work| work.job.max_tokens = 3_000),
            ("the limits", |work| work.job.otherwise.tokens = 1),
            ("the limits", |work| work.job.otherwise.iterations = 1),
            ("the limits", |work| work.window = None),
            ("the limits", |work| work.context_tokens = Some(5)),
            ("earlier results", |work| work.deps[0].result = Arc::new(json!({"n": 2}))),
            ("earlier results", |work| work.deps[0].state = NodeState::FailedSafe),
            ("earlier results", |work| work.deps[0].error = Some("no".into())),
            ("earlier results", |work| work.deps[0].node = "b".into()),
            ("earlier results", |work| work.deps.push(Dep { node: "c".into(), ..dep() })),
            ("the agent's card", |work| work.card.prompt.push('!')),
            ("the agent's card", |work| work.card.limits = CardLimits { max_tokens: Some(7), ..work.card.limits }),
            ("the tools on offer", |work| work.tools.clear()),
            ("the tools on offer", |work| work.tools[0].input_schema = json!({})),
            ("the tools on offer", |work| work.tools[0].description.push('!')),
            ("the tools on offer", |work| work.tools[0].verdict = Verdict::Ask),
            ("the model", |work| work.model = "n"),
            ("the model", |work| work.server = "there:1"),
            ("the model's settings", |work| work.settings.temperature = Some(0.1)),
            ("workspace", |work| work.workspace = "/v".into()),
        ];
        for (number, (part, change)) in changes.into_iter().enumerate() {
            let (same, mut other) = (work(), work());
            change(&mut other);
            let (same, other) = (same.key(), other.key());
            let changed: Vec<&str> = same.iter().zip(&other).filter(|(a, b)| a != b).map(|(a, _)| a.name.as_str()).collect();
            assert_eq!(changed, [part], "change {number}");
        }
    }

    #[test]
    fn what_cannot_change_the_result_of_an_agent_leaves_the_key_as_it_is() {
        let changes: [Change; 6] = [
            |work| work.job.timeout_s = 5.0,
            |work| work.job.otherwise.timeout_s = 5.0,
            |work| work.job.model = Some("as the run's".into()),
            |work| work.job.tools = Some(vec!["read_file".into()]),
            |work| work.card.origin = "elsewhere".into(),
            |work| work.deps[0].provenance.sources = vec![DataSource { kind: "web".into(), identifier: "u".into(), query: None }],
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = work();
            change(&mut other);
            assert_eq!(work().key(), other.key(), "change {number}");
        }
        let structured = |tokens| {
            let mut work = work();
            work.job.context = Some(ContextMode::Structured);
            work.deps[0].provenance.tokens = tokens;
            work.key()
        };
        assert_ne!(structured(1), structured(2), "there the model reads how a result came about");
    }

    #[test]
    fn the_key_of_code_holds_what_it_reads_and_code_that_reads_the_clock_depends_on_more() {
        let code = |text: &str| CodeNode { code: text.into(), sandbox: SandboxLimits::default() };
        let key = |code: &CodeNode, inputs: Value, deps: &[Dep]| {
            WorkParts::of_code(code, inputs.as_object().unwrap(), deps, Path::new("/w")).parts
        };
        let same = key(&code("return 1"), json!({}), &[dep()]);
        assert_eq!(same, key(&code("return 1"), json!({}), &[dep()]));
        assert_ne!(same, key(&code("return 2"), json!({}), &[dep()]));
        assert_ne!(same, key(&code("return 1"), json!({"x": 1}), &[dep()]));
        assert_ne!(same, key(&code("return 1"), json!({}), &[]));
        let outside = |text: &str| WorkParts::of_code(&code(text), &Map::new(), &[], Path::new("/w")).outside;
        assert!(outside("return Date.now()") && outside("return Math.random()") && !outside("return updated + randomly"));
    }

    #[test]
    fn the_key_of_a_call_holds_the_tool_its_arguments_and_the_model_that_it_may_ask() {
        let key = |tool: &ToolInfo, args: Value, model| WorkParts::of_tool(tool, &args, model, Path::new("/w")).parts;
        let same = key(&tool(), json!({"path": "a"}), Some("m"));
        assert_eq!(same, key(&tool(), json!({"path": "a"}), Some("m")));
        assert_ne!(same, key(&tool(), json!({"path": "b"}), Some("m")));
        assert_ne!(same, key(&tool(), json!({"path": "a"}), None));
        assert_ne!(same, key(&ToolInfo { input_schema: json!({"x": 1}), ..tool() }, json!({"path": "a"}), Some("m")));
    }
}
