//! `CostView`: what the model calls of a run took, in rows by what they were for, and what it was good for.

use super::list::ListCursor;
use crate::engine::{Expense, Record, Spent, SpentFor, expenses};
use crate::plan::NodeId;
use std::collections::BTreeMap;

/// By what calls are summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CostGroup {
    #[default]
    Node,
    Agent,
    Model,
    Tool,
}

impl CostGroup {
    pub const ALL: [Self; 4] = [Self::Node, Self::Agent, Self::Model, Self::Tool];

    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// What one node, agent, model or tool took.
#[derive(Clone, Debug, PartialEq)]
pub struct CostRow {
    /// Its name; of a node its id.
    pub name: String,
    /// The node, where it is one.
    pub node: Option<NodeId>,
    pub calls: Vec<Expense>,
    pub spent: Spent,
}

/// The calls of a run, summed up.
#[derive(Clone, Debug, Default)]
pub struct CostView {
    pub group: CostGroup,
    /// Of how many events it is made.
    folded: usize,
    calls: Vec<Expense>,
    rows: Vec<CostRow>,
    pub place: ListCursor,
}

impl CostView {
    /// Sums up anew where there are other events than it was made of.
    pub fn refresh(&mut self, records: &[Record]) {
        let only_text = records.get(self.folded..).is_some_and(|fresh| fresh.iter().all(|record| record.event.is_text()));
        let is_known = self.folded > 0 && only_text;
        self.folded = records.len();
        if !is_known {
            // What is under way is reserved, and shown as that.
            self.calls = expenses(records);
            self.calls.retain(|call| call.spent_for != SpentFor::UnderWay);
            self.sum_up();
        }
    }

    /// Sums up by something else.
    pub fn regroup(&mut self, group: CostGroup) {
        self.group = group;
        self.place = ListCursor::default();
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let mut rows: BTreeMap<String, CostRow> = BTreeMap::new();
        for call in &self.calls {
            let (name, node) = self.name(call);
            let row = rows.entry(name.clone()).or_insert_with(|| CostRow { name, node, calls: Vec::new(), spent: Spent::default() });
            row.spent.add(Spent::of(&call.call));
            row.calls.push(call.clone());
        }
        self.rows = rows.into_values().collect();
        let tokens = |row: &CostRow| row.spent.tokens.total();
        self.rows.sort_by(|a, b| b.spent.cost_usd.total_cmp(&a.spent.cost_usd).then(tokens(b).cmp(&tokens(a))));
    }

    fn name(&self, call: &Expense) -> (String, Option<NodeId>) {
        let named = |name: Option<&str>, nothing: &str| (name.unwrap_or(nothing).to_owned(), None);
        match (self.group, &call.node) {
            (_, None) => named(None, "planning"),
            (CostGroup::Node, Some(node)) => (node.to_string(), Some(node.clone())),
            (CostGroup::Agent, Some(_)) => named(call.agent.as_deref(), "no agent"),
            (CostGroup::Model, Some(_)) => named(Some(&call.call.model), ""),
            (CostGroup::Tool, Some(_)) => named(call.tools.last().map(String::as_str), "no tool"),
        }
    }

    pub fn rows(&self) -> &[CostRow] {
        &self.rows
    }

    pub fn selected(&self) -> Option<&CostRow> {
        self.rows.get(self.place.selected)
    }

    /// What all calls took, or those for one purpose.
    pub fn sum(&self, spent_for: Option<SpentFor>) -> Spent {
        Expense::sum(self.calls.iter().filter(|call| spent_for.is_none_or(|wanted| call.spent_for == wanted)))
    }
}
