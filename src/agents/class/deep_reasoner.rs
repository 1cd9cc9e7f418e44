//! `deep_reasoner`: finds the questions behind a question, answers them one by one, attacks the result, then answers.
//! Every stage is one model call under the node's limits; fewer turns or tokens mean fewer stages, never no answer.

use crate::agents::answer::{self, ResultCheck};
use crate::agents::attempt::limit;
use crate::agents::prompt::Prompt;
use crate::agents::session::{CallPermit, ModelSession, SHORTEST_ANSWER, SessionCall, StreamAudience};
use crate::agents::tokens;
use crate::engine::{Done, Mark, MessageRole, NodeError};
use crate::models::{ChatMessage, OutputSchema};

/// Most questions that are answered one by one.
const MOST_QUESTIONS: usize = 5;

/// Tokens kept free for the last answer.
const FINAL_ANSWER: u64 = 512;

/// Tokens that a note takes besides its text: its heading, and the text that say what was cut.
const NOTE_FRAME: u64 = 80;

/// Longest question and longest heading in characters.
const LONGEST_QUESTION: usize = 120;

struct Reasoning<'a, 's> {
    session: &'s mut ModelSession<'a>,
    prompt: &'s Prompt,
    /// What was found so far, by stage.
    notes: Vec<(String, String)>,
    /// What people said on the way.
    guidance: Vec<String>,
    /// Calls that may still be made, the last answer included.
    calls_left: u32,
    /// Whether stages were left out for want of tokens.
    shortened: bool,
    /// Permit that a stage got and didn't use.
    permit: Option<CallPermit>,
}

/// Reasons until there is an answer.
pub(in crate::agents) async fn reason(session: &mut ModelSession<'_>, prompt: &Prompt, check: &ResultCheck) -> Result<Done, NodeError> {
    session.port.message(MessageRole::System, &prompt.system);
    let calls_left = session.caps.iterations;
    let mut work = Reasoning { session, prompt, notes: Vec::new(), guidance: Vec::new(), calls_left, shortened: false, permit: None };
    let questions = work.questions().await?;
    work.think(&questions).await?;
    work.criticize().await?;
    work.conclude(check).await
}

impl Reasoning<'_, '_> {
    /// The smaller questions, as many as there are turns to answer them.
    async fn questions(&mut self) -> Result<Vec<String>, NodeError> {
        if self.calls_left < 3 {
            return Ok(Vec::new());
        }
        let task = format!(
            "First stage. Don't answer yet. List the two to {MOST_QUESTIONS} smaller questions that have to be answered, in the order in which \
             they build on each other. One question a line, nothing else."
        );
        let Some(text) = self.stage("questions", &task).await? else { return Ok(Vec::new()) };
        Ok(list(&text))
    }

    /// Answers the questions. The last of them are taken together when turns are short.
    async fn think(&mut self, questions: &[String]) -> Result<(), NodeError> {
        // One call is kept for the answer, and one for the critique if there are enough.
        let kept = if self.calls_left > 2 { 2 } else { 1 };
        let steps = usize::try_from(self.calls_left.saturating_sub(kept)).unwrap_or(usize::MAX).min(questions.len());
        for step in 0..steps {
            let these = if step + 1 == steps { &questions[step..] } else { &questions[step..=step] };
            let task = format!("Next stage. Answer this, step by step, using what was found before:\n{}", these.join("\n"));
            if self.stage(&these.join(" "), &task).await?.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn criticize(&mut self) -> Result<(), NodeError> {
        if self.calls_left < 2 || self.notes.is_empty() {
            return Ok(());
        }
        let task = "Next stage. Attack what was found so far: which step is weakest, which assumption may be false, which case is missing, \
                    what contradicts itself? Correct what is wrong. Be brief.";
        self.stage("critique", task).await.map(drop)
    }

    /// One call on the way; `None` when the tokens have to be kept for the answer.
    async fn stage(&mut self, name: &str, task: &str) -> Result<Option<String>, NodeError> {
        let permit = self.permit(task, None).await?;
        if self.session.wraps_up() {
            self.permit = Some(permit);
            return Ok(None);
        }
        let messages = self.messages(task, None);
        let answer_prompt = tokens::of_messages(&self.messages("", None)) + SHORTEST_ANSWER;
        // An answer of this stage is read again by each later one, so only a part of what is left may go into it.
        let spare = self.session.room(&messages, &[]).and_then(|room| room.without(answer_prompt + FINAL_ANSWER));
        let cap = spare.and_then(|spare| spare.part_of(self.calls_left.max(2))).filter(|_| !self.session.wrote_enough());
        let Some(cap) = cap else {
            self.shortened = true;
            self.permit = Some(permit);
            self.session.port.log(&format!("left out, because too few tokens are left: {name}"));
            return Ok(None);
        };
        self.session.port.log(&format!("thinking: {name}"));
        let call = SessionCall { permit, messages: &messages, offers: &[], schema: None, cap, stream: StreamAudience::Hide };
        let text = self.speak(task, call).await?;
        self.notes.push((name.chars().take(LONGEST_QUESTION).collect(), text.clone()));
        Ok(Some(text))
    }

    async fn conclude(mut self, check: &ResultCheck) -> Result<Done, NodeError> {
        let mut repaired = false;
        let mut task = match check.routes() {
            [] => "Last stage. Write the answer to the objective, with your reasons and how sure you are. Don't mention the stages.",
            _ => "Last stage. Decide: name exactly one of the routes.",
        }
        .to_owned();
        loop {
            let permit = self.permit(&task, check.asked().as_ref()).await?;
            let messages = self.fitting(&task);
            let Some(cap) = self.session.room(&messages, &[]) else {
                return Err(limit("too few tokens are left for an answer", "raise the node's `budget.tokens`"));
            };
            let call = SessionCall { permit, messages: &messages, offers: &[], schema: check.asked(), cap, stream: StreamAudience::Show };
            let text = self.speak(&task, call).await?;
            if text.trim().is_empty() {
                return Err(limit("the model gave an empty answer", "retry the node, or raise its `budget.tokens`"));
            }
            let result = answer::parse(&text);
            let result = match check.judge(&result) {
                Ok(result) => result,
                Err(fault) if self.calls_left == 0 || repaired || self.session.is_at_cap() => fault.settle(result, self.session.port)?,
                Err(fault) => {
                    repaired = true;
                    self.notes.push(("answer so far".to_owned(), text));
                    task = fault.request();
                    continue;
                }
            };
            let stopped = self.session.wraps_up().then(|| self.session.early_mark());
            let exhausted = || self.shortened.then_some(Mark::BudgetExhausted);
            return Ok(Done { result, mark: stopped.or_else(exhausted) });
        }
    }

    /// The permit for the next call; what people said with it is on record, and in every call from here on.
    async fn permit(&mut self, task: &str, schema: Option<&OutputSchema>) -> Result<CallPermit, NodeError> {
        let permit = match self.permit.take() {
            Some(permit) => permit,
            None => {
                let messages = self.messages(task, None);
                self.session.permit(&messages, &[], schema).await?
            }
        };
        if let Some(text) = self.session.take_guidance() {
            self.session.port.message(MessageRole::User, &text);
            self.guidance.push(text);
        }
        Ok(permit)
    }

    async fn speak(&mut self, task: &str, call: SessionCall<'_>) -> Result<String, NodeError> {
        self.calls_left = self.calls_left.saturating_sub(1);
        let first = self.notes.is_empty();
        self.session.port.message(MessageRole::User, &if first { format!("{}\n\n{task}", self.prompt.user()) } else { task.to_owned() });
        let reply = self.session.call(call).await?;
        self.session.port.message(MessageRole::Assistant, &reply.text);
        Ok(reply.text)
    }

    /// Notes are cut when they would leave no room for an answer.
    fn fitting(&self, task: &str) -> Vec<ChatMessage> {
        let whole = self.messages(task, None);
        if self.session.room(&whole, &[]).is_some_and(|room| room.without(FINAL_ANSWER - SHORTEST_ANSWER).is_some()) {
            return whole;
        }
        let without = tokens::of_messages(&[ChatMessage::User { content: format!("{}{}{task}", self.prompt.system, self.prompt.user()) }]);
        let notes = u64::try_from(self.notes.len()).unwrap_or(u64::MAX);
        let spare = self.session.left().saturating_sub(without + FINAL_ANSWER) / notes.max(1);
        self.messages(task, Some(spare.saturating_sub(NOTE_FRAME)))
    }

    fn messages(&self, task: &str, tokens_a_note: Option<u64>) -> Vec<ChatMessage> {
        let mut content = self.prompt.user();
        for (name, text) in &self.notes {
            let text = tokens_a_note.map_or_else(|| text.clone(), |most| tokens::cut(text, most));
            content.push_str(&format!("\n\nFound before ({name}):\n{text}"));
        }
        for text in &self.guidance {
            content.push_str(&format!("\n\n{text}"));
        }
        content.push_str(&format!("\n\n{task}"));
        vec![ChatMessage::System { content: self.prompt.system.clone() }, ChatMessage::User { content }]
    }
}

/// The lines of a list, without bullets and numbers.
fn list(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "-*•.):\" ".contains(c)).trim())
        .filter(|line| line.chars().filter(|c| c.is_alphabetic()).count() >= 3)
        .take(MOST_QUESTIONS)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn questions_are_read_from_any_sort_of_list() {
        assert_eq!(list("1. What is it?\n2) Why now?\n- Who pays?\n\n* x"), ["What is it?", "Why now?", "Who pays?"]);
        assert_eq!(list(&"a question\n".repeat(9)).len(), 5);
        assert!(list("").is_empty());
    }
}
