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
    pub code: Code,
    /// As text: never changes once published.
    pub name: &'static str,
    /// Whether it stops a run.
    pub severity: Severity,
    pub description: &'static str,
}

macro_rules! table {
    ($($code:ident $name:literal $severity:ident $words:literal,)*) => {
        /// What sort of finding it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $words] #[serde(rename = $name)] $code,)*
        }

        const TABLE: &[CodeInfo] = &[$(CodeInfo { code: Code::$code, name: $name, severity: Severity::$severity, description: $words },)*];
    };
}

table! {
    WrongShape "wrong-shape" Error "a field can't be read as it is written",
    ReadAs "read-as" Warning "a field is read under another name or as another kind of value",
    NotUnderstood "not-understood" Error "a part of the request was not understood, so nothing of the plan runs",
    EmptyPlan "empty-plan" Error "the plan has no nodes",
    BadId "bad-id" Error "an id is longer than 64 characters, has others than A-Z a-z 0-9 _ -, or is a reserved name",
    DuplicateId "duplicate-id" Error "two nodes have the same id",
    UnknownDependency "unknown-dependency" Error "an edge names a node that does not exist",
    SelfDependency "self-dependency" Error "a node depends on itself",
    DuplicateEdge "duplicate-edge" Warning "two plain edges join the same nodes",
    Cycle "cycle" Error "nodes depend on each other in a cycle",
    Unreachable "unreachable" Warning "a node can never start because it needs a node of a cycle",
    NoExit "no-exit" Warning "a node leads only into a cycle, to no final node",
    NoEntry "no-entry" Error "a workflow or a stage plan has no entry",
    ManyEntries "many-entries" Error "a workflow has more than one entry",
    LaterEntry "later-entry" Warning "a stage plan has several entries and starts at the first",
    MissingExit "missing-exit" Error "a workflow has no exit, or a stage plan no terminal stage",
    NotReached "not-reached" Error "a node can't be reached from the entry",
    DeadEnd "dead-end" Error "a stage leads to no terminal stage",
    NeverTaken "never-taken" Warning "an edge leaves a terminal stage, where the run ends",
    Transition "transition" Error "a stage has fewer incoming or outgoing edges than its type needs",
    UnknownAgent "unknown-agent" Error "no agent card has this name",
    NoKind "no-kind" Error "a node doesn't say what it does",
    NoAgent "no-agent" Error "an agent node names no card and has no role",
    EmptyObjective "empty-objective" Error "an agent's objective or goal is there, but empty",
    UnknownTool "unknown-tool" Error "no tool has this name",
    DeniedTool "denied-tool" Warning "the configuration denies this tool, so it never runs",
    NotSetUp "not-set-up" Warning "a tool can't work before it is set up",
    UnlistedServer "unlisted-server" Warning "a tool's server was never started, so the tool can't be checked",
    BadArguments "bad-arguments" Error "arguments don't fit the tool's schema",
    BadQuery "bad-query" Error "`query` needs a tool with exactly one required text parameter",
    ToolPattern "tool-pattern" Warning "a tool pattern matches no tool",
    BeyondCard "beyond-card" Warning "a node asks for tools that its agent's card doesn't have",
    BadReference "bad-reference" Error "a reference can't be read",
    UnknownReference "unknown-reference" Error "a reference names neither a node nor an input",
    ForeignReference "foreign-reference" Warning "a text has a reference as other systems write it, which is plain text here",
    UnknownInput "unknown-input" Warning "a reference names an input that the plan doesn't have yet",
    UnorderedReference "unordered-reference" Error "a text reads a node that may not have run yet",
    OuterReference "outer-reference" Error "a body names a node outside it, which it can't see",
    CodeReads "code-reads" Warning "code reads a node that it doesn't depend on, so the result is missing",
    BadCondition "bad-condition" Error "a condition or expression can't be read",
    UnknownName "unknown-name" Warning "a condition names neither a node nor an input, so it reads null",
    OwnState "own-state" Warning "a text reads `status` or `error` of a node's result where its own state seems to be meant",
    EmptyText "empty-text" Error "a question, code or expression is empty",
    DecisionRoutes "decision-routes" Error "a decision has no outgoing edge",
    OneRoute "one-route" Warning "a decision has only one outgoing edge",
    NoDefault "no-default" Warning "a decision fails when its answer matches none of its edges",
    NoRoute "no-route" Error "a decision always picks a route that none of its edges has",
    NoLabels "no-labels" Warning "an agent decides between edges that have no labels",
    RouteLabels "route-labels" Warning "two edges of a decision have the same label, or two are its default",
    DefaultOutside "default-outside" Warning "an edge is a default where no other edge has a label or a condition",
    MergeInputs "merge-inputs" Warning "a merge joins fewer than two branches",
    Alternatives "alternatives" Warning "a node needs several branches of which only one is taken",
    BadLimit "bad-limit" Error "a limit is out of bounds",
    LoopLimit "loop-limit" Error "a loop has no limit on how often it runs",
    HeldLock "held-lock" Error "a node needs a lock that a node around it holds, so it would wait forever",
    NotLoaded "not-loaded" Warning "a subplan's file was not read yet, so its content was not checked",
    NoEffect "no-effect" Warning "a field has no effect on this kind of node",
    LowBudget "low-budget" Warning "the plan's budget is lower than what its agents may use together",
    BadBreakpoint "bad-breakpoint" Error "a breakpoint or its condition can't be read",
    BadSchema "bad-schema" Error "an output schema is not a valid JSON Schema",
    PromptWindow "prompt-window" Warning "an agent's prompt may be too long for its model",
    OpenSideEffects "open-side-effects" Warning "a tool that changes things runs without approval",
    DeniedEffects "denied-effects" Warning "the plan says of a tool that changes things that it has no side effects",
    PrivateData "private-data" Warning "private data reaches a call that sends it out, so the call asks first",
    LiteralKey "literal-key" Warning "what looks like a key is written in the plan",
    SecretMark "secret-mark" Warning "the mark of a secret is where its value was, as in the exported plan of a run",
    SecretValue "secret-value" Error "the value of a secret is part of a name, a reference, a condition or code",
    UnknownField "unknown-field" Warning "a field has no meaning here, so it does nothing",
    NotYet "not-yet" Warning "this version reads a field but doesn't use it yet",
}

impl Code {
    fn info(self) -> &'static CodeInfo {
        // The table has a row for every code, in the order of the codes.
        &TABLE[self as usize]
    }

    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// Whether its findings name fields as the document writes them.
    pub fn names_as_written(self) -> bool {
        matches!(self, Self::WrongShape | Self::ReadAs | Self::UnknownField)
    }

    /// Whether its findings say that what happens, or who is asked, may be otherwise than somebody meant.
    pub fn changes_what_happens(self) -> bool {
        matches!(
            self,
            Self::ReadAs
                | Self::UnknownField
                | Self::UnknownName
                | Self::NoEffect
                | Self::NotYet
                | Self::OpenSideEffects
                | Self::DeniedEffects
                | Self::DeniedTool
                | Self::ForeignReference
                | Self::SecretMark
        )
    }

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
