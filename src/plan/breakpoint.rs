//! Breakpoints: where a run is to stop, as people set them and as a plan writes them; which nodes one means, and the facts that its
//! condition reads.

use super::{
    NameScope, NodeValue, Root,
    expr::{self, ExprError},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a condition of a breakpoint may read. What isn't known at its moment is null.
///
/// `node`: the node's id; `tool` and `args`: the call that is held, or the node's own; `model`: who is asked; `output`: the result that
/// waits; `error`: why it failed; `cost_usd` and `tokens`: what the node has taken so far; `attempt`: which one it is, or will be;
/// `first_use`: whether the run has not used the tool before.
pub const FACTS: [&str; 10] = ["node", "tool", "model", "args", "output", "error", "cost_usd", "tokens", "attempt", "first_use"];

/// When a breakpoint looks.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Moment {
    /// Before a node starts, before its gate.
    Before,
    /// After its result, before that is used and before its gate.
    After,
    /// When it fails for good, before its consumers hear of it.
    Failure,
    /// Before each model call and each tool call of a node.
    Call,
}

/// Where a run is to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// When it looks.
    pub at: Moment,
    /// Glob over node ids; absent: every node. `*` matches anything within one part of an id, `**` also what follows a `/`:
    /// `map[*]/fetch`, `outer/**`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A condition over `FACTS`; absent: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// It stays in the list and stops nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// What a condition reads, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(Map<String, Value>);

impl Moment {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Before, Self::After, Self::Failure, Self::Call];

    /// As plans write it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Why a breakpoint can't be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    #[error("a breakpoint must be `true`, a moment (before, after, failure, call), or an object with `at` and `when`")]
    Shape,
    #[error("a breakpoint has no `{0}`, only `at` and `when`")]
    Field(String),
    #[error("`{0}` of a breakpoint must be text")]
    NoText(&'static str),
    #[error("a breakpoint must be before, after, failure or call, not `{0}`")]
    Moment(String),
    #[error("`{when}`: {error}")]
    Condition { when: String, error: ExprError },
    /// Its condition reads what no breakpoint knows.
    #[error("`{when}`: there is no `{name}` here; a breakpoint can read {}", FACTS.join(", "))]
    UnknownName { when: String, name: String },
}

impl Breakpoint {
    /// What a plan wrote: `true` and `"before"`, `"after"`, `"failure"`, `"call"`, or an object of `at` and `when`; `None` for `false`
    /// and null.
    ///
    /// # Errors
    /// When it is something else, or its condition can't be read.
    pub fn written(value: &Value) -> Result<Option<Self>, BreakpointError> {
        let point = |at, when| Self { at, node: None, when, disabled: false };
        let point = match value {
            Value::Null | Value::Bool(false) => return Ok(None),
            Value::Bool(true) => point(Moment::Before, None),
            Value::String(word) => point(moment(word)?, None),
            Value::Object(fields) => {
                if let Some(key) = fields.keys().find(|key| !["at", "when"].contains(&key.as_str())) {
                    return Err(BreakpointError::Field(key.clone()));
                }
                let text = |key| match fields.get(key) {
                    None | Some(Value::Null) => Ok(None),
                    Some(Value::String(text)) => Ok(Some(text.clone())),
                    Some(_) => Err(BreakpointError::NoText(key)),
                };
                point(text("at")?.map_or(Ok(Moment::Before), |word| moment(&word))?, text("when")?)
            }
            Value::Number(_) | Value::Array(_) => return Err(BreakpointError::Shape),
        };
        point.check()?;
        Ok(Some(point))
    }

    /// Whether its condition can be read and names nothing but facts.
    ///
    /// # Errors
    /// What is wrong with the condition.
    pub fn check(&self) -> Result<(), BreakpointError> {
        let Some(when) = &self.when else { return Ok(()) };
        let paths = expr::check(when, &Facts::default()).map_err(|error| BreakpointError::Condition { when: when.clone(), error })?;
        let stranger = paths.iter().find_map(|path| match &path.root {
            Root::Input(_) => None,
            Root::Inputs => Some("inputs"),
            Root::Node(name) | Root::Entry(name) | Root::Unknown(name) => Some(name.as_str()),
        });
        stranger.map_or(Ok(()), |name| Err(BreakpointError::UnknownName { when: when.clone(), name: name.to_owned() }))
    }

    /// Whether its condition reads what a node was given or gave.
    pub fn reads_data(&self) -> bool {
        let paths = self.when.as_ref().and_then(|when| expr::check(when, &Facts::default()).ok()).unwrap_or_default();
        paths.iter().any(|path| matches!(&path.root, Root::Input(name) if name == "args" || name == "output"))
    }

    /// Whether another one halts at the same moments, enabled or not.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.at, &self.node, &self.when) == (other.at, &other.node, &other.when)
    }

    /// Whether it means a node.
    pub fn means(&self, id: &str) -> bool {
        self.node.as_deref().is_none_or(|glob| fits(glob, id))
    }

    /// Whether its condition holds. One that can't be judged holds, with the reason: who set it wants to look.
    pub fn holds(&self, facts: impl FnOnce() -> Facts) -> Holds {
        let Some(when) = &self.when else { return Holds::Yes };
        match expr::truthy(when, &facts()) {
            Ok(true) => Holds::Yes,
            Ok(false) => Holds::No,
            Err(error) => Holds::Unjudged(error.to_string()),
        }
    }

    /// Such as `before `fetch``, `at each call of any node when cost_usd > 1`.
    pub fn label(&self) -> String {
        let at = match self.at {
            Moment::Before => "before",
            Moment::After => "after",
            Moment::Failure => "on failure of",
            Moment::Call => "at each call of",
        };
        let node = self.node.as_ref().map_or("any node".to_string(), |node| format!("`{node}`"));
        let when = self.when.as_ref().map_or(String::new(), |when| format!(" when {when}"));
        format!("{at} {node}{when}")
    }
}

/// Whether a breakpoint's condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It does, or there is none.
    Yes,
    /// It doesn't.
    No,
    /// It has no value; why, in words.
    Unjudged(String),
}

impl Facts {
    /// Facts by name.
    pub fn new(facts: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Self(facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}

impl NameScope for Facts {
    fn node(&self, _id: &str) -> Option<NodeValue<'_>> {
        None
    }

    fn input(&self, name: &str) -> Option<&Value> {
        FACTS.contains(&name).then(|| self.0.get(name).unwrap_or(&Value::Null))
    }

    fn inputs(&self) -> Map<String, Value> {
        self.0.clone()
    }
}

fn moment(word: &str) -> Result<Moment, BreakpointError> {
    word.parse().map_err(|_| BreakpointError::Moment(word.to_owned()))
}

/// Whether a glob fits an id: one row of the usual table at a time, so that no pattern takes long.
fn fits(glob: &str, id: &str) -> bool {
    if !glob.contains('*') {
        return glob == id;
    }
    let id: Vec<char> = id.chars().collect();
    let mut fits = vec![false; id.len() + 1];
    fits[0] = true;
    let mut glob = glob.chars().peekable();
    while let Some(c) = glob.next() {
        if c == '*' {
            let across = glob.next_if_eq(&'*').is_some();
            for at in 0..id.len() {
                fits[at + 1] |= fits[at] && (across || id[at] != '/');
            }
        } else {
            for at in (0..id.len()).rev() {
                fits[at + 1] = fits[at] && id[at] == c;
            }
            fits[0] = false;
        }
    }
    fits[id.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_glob_means_nodes_inside_of_others_too() {
        let means =
            |glob: &str, id: &str| Breakpoint { at: Moment::Before, node: Some(glob.into()), when: None, disabled: false }.means(id);
        for (glob, id) in
            [("a", "a"), ("*", "fetch"), ("f*h", "fetch"), ("map[*]/x", "map[12]/x"), ("**", "o/m[1]/x"), ("o/**", "o/m[1]/x")]
        {
            assert!(means(glob, id), "{glob} means {id}");
        }
        for (glob, id) in [("a", "ab"), ("*", "o/x"), ("f*h", "fetc"), ("map[*]/x", "map[1]/b/x"), ("*a", ""), ("map[0]/x", "map0/x")] {
            assert!(!means(glob, id), "{glob} doesn't mean {id}");
        }
        assert!(!means(&"*a".repeat(60), &"a".repeat(59)));
        assert!(Breakpoint { at: Moment::Before, node: None, when: None, disabled: false }.means("o/x"));
    }

    #[test]
    fn what_a_plan_writes_is_read_and_everything_else_is_an_error() {
        let read = |value: Value| Breakpoint::written(&value).map(|point| point.map(|point| (point.at, point.when)));
        assert_eq!(read(json!(true)), Ok(Some((Moment::Before, None))));
        assert_eq!(read(json!("failure")), Ok(Some((Moment::Failure, None))));
        assert_eq!(read(json!({"at": "call", "when": "first_use"})), Ok(Some((Moment::Call, Some("first_use".into())))));
        assert_eq!(read(json!({"when": "attempt > 1"})), Ok(Some((Moment::Before, Some("attempt > 1".into())))));
        assert_eq!((read(json!(false)), read(json!(null))), (Ok(None), Ok(None)));
        for (value, words) in [
            (json!("later"), "not `later`"),
            (json!(3), "a breakpoint must be `true`"),
            (json!({"at": "after", "if": "x"}), "a breakpoint has no `if`"),
            (json!({"when": 3}), "`when` of a breakpoint must be text"),
            (json!({"when": "cost > 1"}), "there is no `cost` here; a breakpoint can read node, tool"),
            (json!({"when": "tokens >"}), "`tokens >`: "),
            (json!({"when": "deps.a"}), "there is no `a` here"),
        ] {
            assert!(matches!(read(value.clone()), Err(error) if error.to_string().contains(words)), "{value}: {:?}", read(value.clone()));
        }
    }

    #[test]
    fn a_condition_reads_facts_and_one_that_has_no_value_holds() {
        let holds = |when: &str| {
            let point = Breakpoint { at: Moment::Call, node: None, when: Some(when.into()), disabled: false };
            assert_eq!(point.check(), Ok(()));
            point.holds(|| Facts::new([("tool", json!("write")), ("args", json!({"path": "a.md"})), ("tokens", json!(7))]))
        };
        assert_eq!(holds("tool == 'write' and args.path | ends_with('.md')"), Holds::Yes);
        assert_eq!((holds("tokens > 7"), holds("error"), holds("output.x == 1")), (Holds::No, Holds::No, Holds::No));
        assert!(matches!(holds("tool > 3"), Holds::Unjudged(words) if words.contains("can't be compared")));
    }
}
