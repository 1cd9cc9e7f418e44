//! What a run has cost, what is reserved, what may come, and where it went for nothing; below that the calls of the selected row.

use crate::console::model::{CostRow, Doc, RunView};
use crate::console::theme::Role;
use crate::engine::{Account, CapAmount, Expense, Spent, SpentFor, StateGroup, Totals, listed};
use crate::text::{Plain, clock, cost, count, counted};

/// All that there is to read beside the rows.
pub fn cost_of(view: &RunView) -> Doc<'static> {
    let mut doc = Doc::default();
    let run = &view.seen().run;
    let Account { reserved, kept, .. } = run.account();
    let all = view.cost.sum(None);
    doc.field("spent", &if all.model_calls == 0 { Plain::line("nothing: no model was asked") } else { all.label() });
    let mut saved = Spent::default();
    run.nodes().filter_map(|(_, node)| node.lineage.cached.as_ref()).for_each(|source| saved.add(source.spent));
    if saved.model_calls > 0 {
        doc.field("saved", &saved.label().then(&Plain::line(" by the cache")));
    }
    for (name, amount) in [("reserved", reserved), ("kept", kept)] {
        if amount != CapAmount::default() {
            let what = if name == "kept" { " for last turns" } else { " for calls under way" };
            doc.field(name, &amount_label(amount).then(&Plain::line(what)));
        }
    }
    if let Some(budget) = run.budget().filter(|budget| !budget.label().is_empty()) {
        doc.field("budget", &Plain::line(&budget.label()));
    }
    if let Some((more, nodes)) = to_come(view) {
        let about = Totals::from(more).label().then(&Plain::line(" more"));
        doc.field("to come", &about);
        doc.line(Role::Dim, Plain::line(&format!("         if {nodes} take what those that ended took")));
    }
    wasted(view, all, &mut doc);
    if let Some(row) = view.cost.selected() {
        calls(view, row, &mut doc);
    }
    doc
}

fn amount_label(amount: CapAmount) -> Plain {
    let money = (amount.nano_usd > 0).then(|| cost(amount.usd()));
    listed([Some(count(amount.tokens).then(&Plain::line(" tokens"))), money].into_iter().flatten())
}

/// What agents that have not ended may take, as those that have ended did; and how many they are.
fn to_come(view: &RunView) -> Option<(Spent, String)> {
    let run = &view.seen().run;
    run.outcome().is_none().then_some(())?;
    let agents = || run.nodes().filter(|(id, _)| run.node_doc(id).is_some_and(|node| node.kind.agent().is_some()));
    let (mut ended, mut taken, mut left) = (0_u32, Spent::default(), 0_u32);
    for (_, node) in agents() {
        match node.state.group() {
            StateGroup::Done | StateGroup::Failed if node.spent().model_calls > 0 => {
                ended += 1;
                taken.add(node.spent());
            }
            StateGroup::Done | StateGroup::Failed | StateGroup::NotRun => {}
            StateGroup::Ahead | StateGroup::Waiting | StateGroup::Working | StateGroup::Resting => left += 1,
        }
    }
    if ended == 0 || left == 0 {
        return None;
    }
    let share = f64::from(left) / f64::from(ended);
    let part = |tokens: u64| (tokens as f64 * share) as u64;
    let tokens = crate::engine::TokenUsage::of(part(taken.tokens.prompt), part(taken.tokens.completion));
    let more = Spent { tokens, cost_usd: taken.cost_usd * share, estimated: true, ..taken };
    Some((more, counted(left as usize, "agent")))
}

/// What went into work that failed or was made again, as a part of all.
fn wasted(view: &RunView, all: Spent, doc: &mut Doc<'static>) {
    let purposes = [(SpentFor::FailedAttempt, "for attempts that failed"), (SpentFor::ReplacedResult, "for results that were made again")];
    for (purpose, words) in purposes {
        let spent = view.cost.sum(Some(purpose));
        let (part, whole) = match all.cost_usd > 0.0 {
            true => (spent.cost_usd, all.cost_usd),
            false => (spent.tokens.total() as f64, all.tokens.total() as f64),
        };
        if part > 0.0 {
            let percent = (part * 100.0 / whole).round();
            doc.line(Role::Warning, Plain::line(&format!("{percent} % {words}: ")).then(&spent.label()));
        }
    }
}

/// The calls of a row, each on a line.
fn calls(view: &RunView, row: &CostRow, doc: &mut Doc<'static>) {
    let name = row.node.as_ref().map_or_else(|| Plain::summary(&row.name), |node| view.title_of(node));
    doc.heading(name.as_str());
    for Expense { at, call, spent_for, .. } in &row.calls {
        let totals = Totals::from(Spent::of(call)).label();
        let line = clock(at.0).then(&Plain::line("  ")).then(&Plain::summary(&call.model)).then(&Plain::line("  ")).then(&totals);
        doc.line(if *spent_for == SpentFor::Result { Role::Text } else { Role::Dim }, line);
    }
}
