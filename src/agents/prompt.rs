//! What an agent gets: its card's prompt, the results of earlier steps within their limit, and its objective.

use serde_json::{Map, Value};

use super::{Card, context::DependencyContext, tokens};
use crate::engine::AgentJob;
use crate::plan::{limits::LONGEST_IN_PLACE, value_text};

/// Most tokens of the plan's goal that every agent gets.
const GOAL_TOKENS: u64 = 300;

/// Most tokens of a rejected result that an agent is shown again; of a limit that the plan sets, a quarter.
const REJECTED_TOKENS: u64 = 2_000;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prompt {
    /// Who the agent is and how it hands in its result.
    pub system: String,
    /// What is to be done.
    pub objective: String,
    /// Results of earlier steps and named inputs; empty without any.
    pub context: String,
    /// The ways out of a decision; empty for any other work.
    pub routes: Vec<String>,
}

impl Prompt {
    /// Assembles what the agent gets. Of an objective that is longer than `most` tokens, this much.
    pub fn new(job: &AgentJob, context: DependencyContext, card: &Card, most: u64) -> Self {
        let mut system = format!(
            "{}\n\nYou are one step of a larger plan. Work on your objective only. Your last reply is the result of this step and is passed on \
             as it is: the result itself, without remarks about how you work.",
            card.prompt
        );
        if !job.plan_goal.trim().is_empty() {
            system.push_str(&format!(
                "\n\nThe plan serves this request, for your orientation only:\n{}",
                tokens::cut(job.plan_goal.trim(), GOAL_TOKENS)
            ));
        }
        if let Some(schema) = &job.output_schema {
            system.push_str(&format!("\n\nYour result has to be JSON that matches this JSON Schema, and nothing else:\n{schema}"));
        }
        Self { system, context: context.text, objective: tokens::cut(&objective(job, card), most), routes: job.routes.clone() }
    }

    /// The user's message: what is to be done, then what there is to work with.
    pub fn user(&self) -> String {
        let mut text = if self.context.is_empty() {
            self.objective.clone()
        } else {
            format!("{}\n\n{}\n\nNow do what the objective at the top says.", self.objective, self.context)
        };
        if !self.routes.is_empty() {
            text.push_str("\n\nYou decide which way the plan goes on from here. Choose exactly one of these routes:");
            for route in &self.routes {
                text.push_str(&format!("\n- {route}"));
            }
            text.push_str("\nAnswer with its name alone, or with JSON: {\"route\": \"its name\", \"reason\": \"why, in a sentence\"}.");
        }
        text
    }
}

/// What is to be done, and what people said to it.
pub(super) fn objective(job: &AgentJob, card: &Card) -> String {
    let mut text = what_is_due(job, card);
    if !job.guidance.is_empty() {
        text.push_str("\n\nThe operator says, and it goes before everything else here:");
        for line in &job.guidance {
            text.push_str(&format!("\n- {}", line.trim().replace('\n', "\n  ")));
        }
    }
    if let Some(rejected) = &job.rejected {
        let most = if job.max_tokens == 0 { REJECTED_TOKENS } else { REJECTED_TOKENS.min(job.max_tokens / 4) };
        text.push_str(&format!("\n\nYour own earlier result, which was rejected:\n{}", tokens::cut(&value_text(rejected), most)));
    }
    text
}

/// The node's objective; else the card's template filled from the inputs, with the plan's goal.
fn what_is_due(job: &AgentJob, card: &Card) -> String {
    if let Some(objective) = job.objective.as_deref().filter(|text| !text.trim().is_empty()) {
        return objective.to_owned();
    }
    let goal = job.goal.as_deref().unwrap_or(&job.plan_goal);
    let template = fill(&card.objective_template, &job.inputs);
    match (template.is_empty(), goal.is_empty()) {
        (true, _) => goal.to_owned(),
        (false, true) => template,
        (false, false) => format!("{template}\n\nThis serves the goal of the plan: {goal}"),
    }
}

/// Puts inputs into `{name}`; a name without an input becomes plain words (`{file_path}`: the file path).
fn fill(template: &str, inputs: &Map<String, Value>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        text.push_str(before);
        match inputs.get(name.trim()) {
            Some(value) if value_text(value).chars().nth(LONGEST_IN_PLACE).is_some() => {
                text.push_str(&format!("the input `{}`, below", name.trim()));
            }
            Some(value) => text.push_str(&value_text(value)),
            None => text.push_str(&format!("the {}", name.trim().replace('_', " "))),
        }
        rest = tail;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::ToolList;
    use serde_json::json;

    fn card() -> Card {
        Card { objective_template: "Research {topic} for {num_people}".into(), ..Card::inline("a clerk", None, ToolList::Open) }
    }

    #[test]
    fn the_objective_comes_before_the_results_of_earlier_steps() {
        let job = AgentJob { objective: Some("Write.".into()), ..AgentJob::default() };
        let context = DependencyContext { text: "Results of earlier steps.\n\n[a]: x".into(), missing: None };
        let user = Prompt::new(&job, context, &card(), u64::MAX).user();
        assert_eq!(user, "Write.\n\nResults of earlier steps.\n\n[a]: x\n\nNow do what the objective at the top says.");
    }

    #[test]
    fn a_long_input_is_not_put_into_the_cards_template() {
        let inputs = json!({ "topic": "bees ".repeat(50) }).as_object().cloned().unwrap();
        let job = AgentJob { inputs, ..AgentJob::default() };
        assert_eq!(objective(&job, &card()), "Research the input `topic`, below for the num people");
    }

    #[test]
    fn a_decision_lists_its_routes_and_asks_for_exactly_one() {
        let job = AgentJob { objective: Some("Is it good?".into()), routes: vec!["ship".into(), "mend".into()], ..AgentJob::default() };
        let user = Prompt::new(&job, DependencyContext::default(), &card(), u64::MAX).user();
        assert!(user.starts_with("Is it good?\n\n") && user.contains("exactly one of these routes:\n- ship\n- mend\n"), "{user}");
    }

    #[test]
    fn without_an_objective_the_cards_template_and_the_plans_goal_are_used() {
        let inputs = json!({ "topic": "bees" }).as_object().cloned().unwrap();
        let job = AgentJob { plan_goal: "Learn.".into(), inputs, ..AgentJob::default() };
        assert_eq!(objective(&job, &card()), "Research bees for the num people\n\nThis serves the goal of the plan: Learn.");
    }

    #[test]
    fn what_people_said_follows_the_objective() {
        let guidance = vec!["use metric units".into(), "the first result\nwas too long".into()];
        let job = AgentJob { objective: Some("Measure.".into()), guidance, ..AgentJob::default() };
        let told = "The operator says, and it goes before everything else here:\n- use metric units\n- the first result\n  was too long";
        assert_eq!(objective(&job, &card()), format!("Measure.\n\n{told}"));
    }

    #[test]
    fn every_agent_knows_what_the_plan_is_for() {
        let job = AgentJob { plan_goal: "Learn about bees.".into(), objective: Some("Search.".into()), ..AgentJob::default() };
        let prompt = Prompt::new(&job, DependencyContext::default(), &card(), u64::MAX);
        assert!(prompt.system.ends_with("orientation only:\nLearn about bees."));
        assert_eq!(prompt.user(), "Search.");
    }
}
