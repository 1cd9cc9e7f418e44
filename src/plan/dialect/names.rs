//! The names that documents have for things, read from `names.toml`. Another name for something is a line there.

use crate::plan::Dialect;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A file that can't be read would leave every name unknown; a test reads it.
pub(in crate::plan) static NAMES: LazyLock<WrittenNames> = LazyLock::new(|| toml::from_str(include_str!("names.toml")).unwrap_or_default());

type List = Vec<&'static str>;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct WrittenNames {
    pub node: StepNames,
    pub group: GroupNames,
    pub gate: GateNames,
    pub asking: AskingNames,
    pub naming: NamingNames,
    pub stage: StageNames,
    pub foreign: ForeignNames,
    pub unknown: UnknownNames,
    pub said_order: OrderNames,
    pub outcome: OutcomeNames,
    /// By kind of node, the words by which authors say that it is one.
    pub said_kind: BTreeMap<&'static str, List>,
    form: FormNames,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct StepNames {
    /// Names of a list of nodes that no form has.
    pub lists: List,
    /// Fields by which an object is a step, whatever else it has.
    pub work: List,
    /// Names of the ids that a node waits for.
    pub depends_on: List,
    /// Names of the one field of an object that is where an id belongs.
    pub reference: List,
    /// Words of such an object that hold of any dependency.
    pub usual: List,
    /// Names of a line for the shell.
    pub command: List,
    pub args: List,
    /// Fields whose values are names, so that YAML's numbers and truths in them are text.
    pub text: List,
    /// The same of an edge.
    pub edge_text: List,
}

/// Stages, phases and milestones that hold tasks.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct GroupNames {
    pub lists: List,
    pub inner: List,
    /// What a task in a group may be called by.
    pub name: List,
    /// The same of a group itself.
    pub label: List,
    /// Words of a group that hold for everything in it.
    pub condition: List,
}

/// Fields that would have a person asked.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct GateNames {
    pub names: List,
    /// Parts of names that speak of asking a person, though nobody has listed them.
    pub like: List,
    /// Parts of names that speak of something else.
    pub unlike: List,
    /// Values that are a plain yes.
    pub yes: List,
    /// Values that say that nobody is asked.
    pub no: List,
    /// Names that say that nobody is asked: a no to them asks.
    pub denied: List,
    /// Names that speak of a person where their value is a plain yes.
    pub flags: List,
    /// Parts of names that speak of nodes at which a run halts.
    pub halts: List,
}

/// Words of asking a person, in fields that nothing reads. Texts are compared in lower case and without signs.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct AskingNames {
    /// Who is asked, as patterns.
    pub person: List,
    /// Patterns of texts that ask, with `PERSON` for that.
    pub texts: List,
    /// Words by which a name speaks of it, where its value is a plain yes.
    pub names: List,
    /// Words by which such a name says how something is.
    pub states: List,
    /// Words by which such a name counts people.
    pub counts: List,
    /// Words by which it holds for some cases alone.
    pub cases: List,
    /// Words for what a node made.
    pub results: List,
    /// Words before it by which nobody is asked.
    pub denials: List,
    /// The same behind it.
    pub denied: List,
    /// Words after a denial that take it back.
    pub exceptions: List,
}

/// Words around the names of nodes, in fields that nothing reads.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct NamingNames {
    /// What is named behind them comes before.
    pub sources: List,
    /// What is named behind them comes after.
    pub targets: List,
    /// Words that say nothing beside the names.
    pub fill: List,
    /// Names that are words of any text.
    pub common: List,
    /// Words of a name for what follows in some cases alone.
    pub otherwise: List,
    /// Fields that sort, or say what somebody knows: the name of a node alone is none there.
    pub sorts: List,
    /// Fields in which authors write about something.
    pub about: List,
}

/// Fields of a stage; the first name of each is the one that is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct StageNames {
    /// Objects that may hold `stages` and `edges`.
    pub graphs: List,
    pub agent: List,
    pub objective: List,
    pub tool: List,
    pub args: List,
    pub decide: List,
    pub value: List,
}

/// Words of other systems' references.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct ForeignNames {
    /// Words before the name of a node.
    pub before: List,
    /// Words after it.
    pub behind: List,
    /// Arguments in which such spellings mean something of their own.
    pub of_their_own: List,
    /// Fields in which authors name what a node gives.
    pub named_result: List,
}

/// What a field is about that means nothing where it is.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct UnknownNames {
    /// Fields of people and screens, which nobody expects to do anything.
    pub harmless: List,
    /// Fields that say who is asked, whether something runs or after what: only a person takes these out.
    pub decisive: List,
    /// Names of conditions that other systems have.
    pub condition: List,
    /// Names of lists that say in words what each node does.
    pub descriptions: List,
    /// Names of what comes after a node.
    pub order: List,
    /// Names that say this only where they name nodes.
    pub perhaps_order: List,
    /// Fields inside of others that may say where a way leads.
    pub way: List,
    /// Words for no node.
    pub nowhere: List,
    /// Names of limits to what tools may be called.
    pub tools: List,
    /// Names of a run that changes nothing.
    pub rehearsal: List,
    /// Fields that tell a form.
    pub shapes: List,
    /// Native fields that messages name and that other forms have under other names.
    pub native: List,
}

/// An order of nodes in fields that order nothing.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct OrderNames {
    /// Parts of names of lists of edges.
    pub edges: List,
    /// Parts of names of lists of nodes, or of groups of them, one after the other.
    pub sequence: List,
    /// Words for nodes that run one after the other.
    pub in_turn: List,
    /// Names of numbers of nodes that say their order.
    pub numbers: List,
    /// Names of links to other nodes, in either direction.
    pub link: List,
    /// Parts of such names.
    pub link_parts: List,
    /// Parts of names of what has, by a node, those that come before it.
    pub needs_map: List,
    /// The same of those that come after it.
    pub leads_map: List,
    /// Names at a node of what comes next.
    pub leads: List,
    /// The field of an object that says where a way leads.
    pub way: List,
    /// The field of its condition.
    pub way_when: List,
    /// Beginnings of names of those that come before.
    pub needs: List,
}

/// Conditions of other systems for how the source ended.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct OutcomeNames {
    pub success: List,
    pub failure: List,
    /// However it ended, or where none other holds.
    pub always: List,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct FormNames {
    native: PartsNames,
    orchestration: PartsNames,
    tools: PartsNames,
    hybrid: PartsNames,
    workflow: PartsNames,
    stages: PartsNames,
}

/// The names of one form.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(in crate::plan) struct PartsNames {
    pub document: PartNames,
    pub node: PartNames,
    pub edge: PartNames,
    /// Further names in a node that is an agent's.
    pub agent: PartNames,
}

/// The names in one kind of object.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::plan) struct PartNames {
    /// What the object is, with its article: `a tools task`.
    pub what: &'static str,
    /// The fields that it has; the native form's are said by its types.
    #[serde(borrow)]
    pub fields: Vec<&'static str>,
    /// A name that authors write, and the right one.
    #[serde(borrow)]
    pub renamed: Vec<(&'static str, &'static str)>,
    /// A name of something that is said elsewhere, and how.
    #[serde(borrow)]
    pub elsewhere: Vec<(&'static str, &'static str)>,
}

impl WrittenNames {
    pub fn form(&self, dialect: Dialect) -> &PartsNames {
        match dialect {
            Dialect::Native => &self.form.native,
            Dialect::Orchestration => &self.form.orchestration,
            Dialect::Tools => &self.form.tools,
            Dialect::Hybrid => &self.form.hybrid,
            Dialect::Workflow => &self.form.workflow,
            Dialect::Stages => &self.form.stages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_can_be_read() {
        let names: WrittenNames = toml::from_str(include_str!("names.toml")).unwrap();
        assert!(names.node.depends_on.contains(&"needs") && names.form(Dialect::Workflow).edge.renamed.contains(&("from", "source_id")));
    }
}
