//! The table of findings: code, severity, and what it means.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a finding stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The plan can't run like this.
    Error,
    /// The plan can run; somebody should look.
    Warning,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// As text: never changes once published.
    pub name: &'static str,
    /// Whether it stops a run.
    pub severity: Severity,
    /// What it means.
    pub words: &'static str,
}

macro_rules! table {
    ($($code:ident $name:literal $severity:ident $words:literal,)*) => {
        /// What sort of finding it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $words] #[serde(rename = $name)] $code,)*
        }

        const TABLE: &[CodeInfo] = &[$(CodeInfo { code: Code::$code, name: $name, severity: Severity::$severity, words: $words },)*];
    };
}

table! {
    EmptyPlan "empty-plan" Error "the plan has no nodes",
    BadId "bad-id" Error "an id is not 1 to 64 of A-Z a-z 0-9 _ -, or is a reserved name",
    DuplicateId "duplicate-id" Error "two nodes have the same id",
    UnknownDependency "unknown-dependency" Error "an edge names a node that does not exist",
    SelfDependency "self-dependency" Error "a node depends on itself",
    DuplicateEdge "duplicate-edge" Warning "two plain edges join the same nodes",
    Cycle "cycle" Error "nodes depend on each other in a circle",
    Unreachable "unreachable" Warning "a node can never start because it is behind a cycle",
    NoExit "no-exit" Warning "a node leads to no exit, only into a cycle",
    NoEntry "no-entry" Error "no node is marked as the entry of a workflow, or none as one of a stage plan",
    ManyEntries "many-entries" Error "a workflow has more than one entry",
    LaterEntry "later-entry" Warning "a stage plan has several entries, and its token starts at the first",
    MissingExit "missing-exit" Error "no node is marked as an exit of a workflow, or as a terminal stage",
    NotReached "not-reached" Error "no way leads to a node from the entry of its walk",
    DeadEnd "dead-end" Error "no way leads from a stage to a terminal one",
    NeverTaken "never-taken" Warning "an edge leaves a terminal stage, where the walk ends",
    Transition "transition" Error "a stage has fewer ways in or out than its type needs",
    UnknownAgent "unknown-agent" Error "no agent card has this name",
    NoAgent "no-agent" Error "an agent node names no card and has no role",
    UnknownTool "unknown-tool" Error "no tool has this name",
    DeniedTool "denied-tool" Warning "the configuration never lets this tool run",
    BadArguments "bad-arguments" Error "arguments don't fit the tool's schema",
    BadQuery "bad-query" Error "`query` needs a tool with exactly one required text parameter",
    ToolPattern "tool-pattern" Warning "a tool pattern matches no tool",
    BeyondCard "beyond-card" Warning "a node asks for tools that its agent's card doesn't have",
    BadReference "bad-reference" Error "a reference can't be read",
    UnknownReference "unknown-reference" Error "a reference names neither a node nor an input",
    UnknownInput "unknown-input" Warning "a reference names an input that the plan doesn't have yet",
    UnorderedReference "unordered-reference" Error "a text reads a node that may not have run by then",
    OuterReference "outer-reference" Error "a body names a node of a plan around it, which it doesn't see",
    CodeReads "code-reads" Warning "code reads a node that it doesn't depend on, which is not there when it runs",
    BadCondition "bad-condition" Error "a condition or expression can't be read",
    UnknownName "unknown-name" Warning "a condition names neither a node nor an input, so it reads null",
    EmptyText "empty-text" Error "a question, code or expression is empty",
    DecisionRoutes "decision-routes" Error "a decision has no way out",
    OneRoute "one-route" Warning "a decision has only one way out",
    NoDefault "no-default" Warning "a decision fails when its answer matches none of its edges",
    NoRoute "no-route" Error "a decision always answers with a route that none of its edges has",
    NoLabels "no-labels" Warning "an agent decides between edges that have no labels",
    RouteLabels "route-labels" Warning "two edges of a decision have the same label, or two are its default",
    DefaultOutside "default-outside" Warning "an edge is a default where no other edge has a label or a condition",
    MergeInputs "merge-inputs" Warning "a merge joins fewer than two branches",
    Alternatives "alternatives" Warning "a node needs several alternatives of one decision, of which only one is taken",
    BadLimit "bad-limit" Error "a limit is out of bounds",
    LoopLimit "loop-limit" Error "a loop doesn't say how often it may run at most",
    HeldLock "held-lock" Error "a node names a lock that a node around it holds, so it would wait for ever",
    NotLoaded "not-loaded" Warning "a sub-plan's file was not read yet, so what stands in it was not checked",
    NoEffect "no-effect" Warning "a field has no effect on this kind of node",
    LowBudget "low-budget" Warning "the plan's budget is lower than what its agents may use together",
    BadBreakpoint "bad-breakpoint" Error "a breakpoint can't be read, or its condition can't",
    BadSchema "bad-schema" Error "an output schema is no JSON Schema",
    NoBudget "no-budget" Warning "agents run without a budget of the plan or of their own",
    PromptWindow "prompt-window" Warning "an agent's prompt may be larger than what its model takes in",
    OpenSideEffects "open-side-effects" Warning "a tool that changes things runs without approval",
    UnknownField "unknown-field" Warning "a field means nothing where it stands, and looks like a slip of the pen",
    NotYet "not-yet" Warning "this version reads a field but doesn't act on it",
}

impl Code {
    fn info(self) -> &'static CodeInfo {
        // The table has a row for every code, in the order of the codes.
        &TABLE[self as usize]
    }

    /// Its severity.
    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every code with its severity and words.
pub fn codes() -> &'static [CodeInfo] {
    TABLE
}
