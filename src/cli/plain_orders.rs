//! What is typed in the line mode: requests, words that do something, and replies to questions by their numbers.

use super::{
    ls::short,
    plain::{Awaited, LineMode, ReadOut, outputs},
};
use crate::{
    console::{model::RunView, runtime::Opened},
    engine::{Action, ActionTarget, Command, Gate, GateId, GateReply, RerunReach, RunId, WrittenValue},
    host::client::{PlanWish, PlanningId, Request, There},
    plan::{NodeId, dialect::exact_json},
};
use serde_json::{Map, Value};

/// What can be said besides requests and replies, and what it does.
const WORDS: [(&str, &str); 19] = [
    ("1 approve, 1 reject WHY, …", "replies to gate 1; `gates` reads what can be replied"),
    ("plan", "reads the plan again"),
    ("run", "starts the plan"),
    ("state", "says how the run is, node by node, and reads its open gates"),
    ("gates", "reads the open gates again"),
    ("result NODE", "reads the result of a node; `output` reads that of the run"),
    ("output", "reads the output of the run"),
    ("save FILE", "writes the output of the run into a file"),
    ("why NODE", "says what a node waits for, or why it did not run"),
    ("pause", "starts no more nodes"),
    ("resume", "resumes the run"),
    ("step", "runs one node, then pauses"),
    ("retry NODE", "tries a failed node again"),
    ("rerun NODE", "runs a node again with all after it"),
    ("undo", "undoes the last action, until it takes effect"),
    ("cancel", "cancels the run"),
    ("runs", "lists the runs of this workspace"),
    ("open RUN", "opens one of them"),
    ("quit", "leaves; a run that goes on can be resumed later"),
];

impl LineMode {
    /// Begins with what the command line says.
    pub(super) fn begin(&mut self, open: Opened) {
        match open {
            Opened::Request(text) => self.request(&text),
            Opened::Plan { plan, .. } => {
                self.plan = Some(*plan);
                self.tell_plan();
            }
            Opened::Run(run) => self.ask(Request::OpenRun(run)),
        }
    }

    /// Takes in a typed line.
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if let Some((request, what)) = self.pending.take() {
            if line.eq_ignore_ascii_case("yes") {
                return self.ask(request);
            }
            self.say(&format!("did not {what}"));
            if line.eq_ignore_ascii_case("no") {
                return;
            }
        }
        let (first, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(first, rest)| (first, rest.trim()));
        if let (Ok(number), false) = (first.parse::<u32>(), rest.is_empty()) {
            return self.reply(GateId(number), rest);
        }
        if let Some((number, words)) = numbered(first, rest) {
            return self.reply(number, &words);
        }
        let asks = self.run.as_ref().is_some_and(|view| view.newest().run.open_gates().next().is_some());
        if asks && ["approve", "reject"].contains(&first.to_lowercase().as_str()) {
            return self.say(&format!("say which gate: `{first} 1`; `gates` reads them with their numbers"));
        }
        if self.word(first, rest) {
            return;
        }
        // A lone word is a slip more often than a request, which would take the run from the person who replies to it.
        if rest.is_empty() && self.run.as_ref().is_some_and(RunView::goes_on) {
            return self.say(&format!("not understood: {first}; `help` lists what can be said, and a new request has several words"));
        }
        self.request(line);
    }

    /// Asks the host, and awaits what comes of it.
    pub(super) fn ask(&mut self, request: Request) {
        let awaited = if let Request::Command { command: Command::Decide { gate, .. }, .. } = &request {
            Awaited::Closed(*gate)
        } else if let Request::Resume(_) = &request {
            Awaited::Driven
        } else {
            Awaited::Asked
        };
        self.awaits = Some(awaited);
        self.asked.push(request);
    }

    /// Plans a request. One that comes while another is planned takes its place.
    pub(super) fn request(&mut self, text: &str) {
        if let Some(id) = self.planning.take() {
            self.asked.push(Request::CancelPlanning(id));
        }
        self.sent += 1;
        let id = PlanningId(self.sent);
        self.planning = Some(id);
        self.say(&format!("planning: {text}"));
        let on = self.plan.clone().filter(|_| self.run.is_none()).map(Box::new);
        self.asked.push(Request::Plan { id, wish: PlanWish { on, ..PlanWish::new(text) } });
    }

    /// Does what a word says; `false` where the line is no such word, and so a request.
    fn word(&mut self, first: &str, rest: &str) -> bool {
        match (first.to_lowercase().as_str(), rest) {
            ("help" | "?", "") => WORDS.iter().for_each(|(word, does)| self.say(&format!("{word}: {does}"))),
            ("plan", "") => self.tell_plan(),
            ("run", "") => self.start(),
            ("state", "") => self.tell_run(),
            ("gates" | "questions", "") => self.questions(),
            ("output", "") => self.output(None),
            ("pause", "") => self.command(Command::act(Action::Pause)),
            ("resume", "") => self.resume(),
            ("step", "") => self.command(Command::act(Action::Step { node: None })),
            ("undo", "") => self.command(Command::Undo),
            ("cancel", "") => self.act(Action::Cancel { target: ActionTarget::Run }),
            ("runs", "") => {
                self.ask(Request::ListRuns);
            }
            ("quit" | "exit" | "q", "") => self.quits = true,
            ("save", file) if !file.is_empty() && !file.contains(' ') => self.save(file),
            ("yes" | "no", "") => self.say("nothing waits for a yes"),
            ("open", name) => return self.open(name),
            (word @ ("result" | "why" | "retry" | "rerun"), node) => return self.about(word, node),
            (_, _) => return false,
        }
        true
    }

    /// What is said about a node of the run; several words that no node is called make the line a request.
    fn about(&mut self, word: &str, name: &str) -> bool {
        let node = NodeId::new(name);
        let Some(view) = &self.run else {
            // One word is the name of a node; more of them are a request.
            let is_name = !name.is_empty() && !name.contains(' ');
            if is_name {
                self.say("no run is open: `runs` lists them");
            }
            return is_name;
        };
        let run = &view.newest().run;
        if run.node(&node).is_none() {
            let is_name = !name.is_empty() && !name.contains(' ');
            if is_name {
                self.say(&format!("the run has no node {name}: `state` names them"));
            }
            return is_name;
        }
        match word {
            "result" => self.output(Some(&node)),
            "why" => {
                let reason = run.reason(&node);
                let lines: Vec<String> =
                    run.why(&node).into_iter().map(|link| format!("{}{}", "  ".repeat(link.depth), link.sentence)).collect();
                if !reason.is_empty() {
                    self.say(&format!("{node}: {}", reason.replace('`', "")));
                }
                lines.iter().for_each(|line| self.say(&line.replace('`', "")));
            }
            "retry" => self.act(Action::Retry { node }),
            _ => self.act(Action::Rerun { node, scope: RerunReach::Downstream }),
        }
        true
    }

    fn start(&mut self) {
        let Some(plan) = self.plan.clone() else { return self.say("there is no plan: say what you want done") };
        self.ask(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() });
    }

    fn questions(&mut self) {
        let Some(view) = &self.run else { return self.say("no run is open") };
        let open: Vec<Gate> = view.newest().run.open_gates().cloned().collect();
        if open.is_empty() {
            self.say("no gate is open");
        }
        open.iter().for_each(|gate| self.question(gate));
    }

    /// Reads the result of a node, or the output of the run.
    fn output(&mut self, node: Option<&NodeId>) {
        let Some(run) = self.run.as_ref().map(|view| &view.newest().run) else { return self.say("no run is open") };
        let results: Vec<ReadOut> = match node {
            Some(id) => run.node(id).and_then(|node| ReadOut::new(id, node)).into_iter().collect(),
            None => outputs(run),
        };
        if results.is_empty() {
            self.say("there is no result yet");
        }
        self.read_out(&results);
    }

    fn save(&mut self, file: &str) {
        if self.run.is_none() {
            return self.say("no run is open, so there is nothing to save: `runs` lists them");
        }
        let results: Vec<ReadOut> = self.run.iter().flat_map(|view| outputs(&view.newest().run)).collect();
        if results.is_empty() {
            return self.say("there is no result yet");
        }
        for result in results.iter().filter(|result| result.mark.is_some()) {
            self.say(&format!("note: this is the result of {}", result.label()));
        }
        let texts: Vec<&str> = results.iter().map(|result| result.text.trim_end_matches('\n')).collect();
        self.ask(Request::SaveText { path: file.to_owned(), text: texts.join("\n") + "\n", there: There::Stays });
    }

    fn resume(&mut self) {
        match &self.run {
            Some(view) if !view.goes_on() && view.newest().run.outcome().is_none() => {
                let request = Request::Resume(view.id.clone());
                self.ask(request);
            }
            _ => self.command(Command::act(Action::Resume)),
        }
    }

    /// Opens a run by letters of its name; a name that none has makes the line a request.
    fn open(&mut self, name: &str) -> bool {
        let fits = |run: &&RunId| !name.is_empty() && (run.0 == name || short(&run.0).starts_with(name));
        let found: Vec<_> = self.runs.iter().filter(fits).cloned().collect();
        match found.as_slice() {
            [] if name.len() >= 4 && name.chars().all(|c| c.is_ascii_hexdigit()) => {
                self.say("no run that was listed or opened begins so: `runs` lists them");
            }
            [] => return false,
            [run] => {
                let request = Request::OpenRun(run.clone());
                self.ask(request);
            }
            several => self.say(&format!("{} runs begin so: say more letters", several.len())),
        }
        true
    }

    /// Does an action; one that ends, skips or repeats work only after a yes.
    fn act(&mut self, action: Action) {
        let (label, command) = (action.label().replace('`', ""), Command::act(action.clone()));
        self.ask_first(command, &action, &label);
    }

    /// Asks for a yes to a command that does what `action` does.
    fn ask_first(&mut self, command: Command, action: &Action, what: &str) {
        let Some(view) = &self.run else { return self.say("no run is open") };
        let run = &view.newest().run;
        if let Some(why) = run.refusal(&command) {
            return self.say(&format!("not possible: {}", why.replace('`', "")));
        }
        let impact: Vec<String> = run.impact(action, self.now).lines().into_iter().map(|(_, line)| line.into_string()).collect();
        let request = Request::Command { run: view.id.clone(), command };
        self.confirm(request, &impact.join("; "), what);
    }

    /// Replies to the question of that number.
    fn reply(&mut self, id: GateId, words: &str) {
        let Some(view) = self.run.as_ref().filter(|view| view.goes_on()) else { return self.say("no run here asks anything") };
        let Some(gate) = view.newest().run.open_gates().find(|gate| gate.id == id).cloned() else {
            return self.say(&format!("no gate {} is open", id.0));
        };
        let reply = match reply_of(&gate, words) {
            Ok(reply) => reply,
            Err(why) => return self.say(&why),
        };
        let broad = match reply {
            GateReply::Skip => Some(("skip", Action::Skip { node: gate.node.clone() })),
            GateReply::CancelBranch => Some(("cancel the branch of", Action::Cancel { target: ActionTarget::Branch(gate.node.clone()) })),
            _ => None,
        };
        let command = Command::decide(gate.id, reply, gate.hash.clone());
        match broad {
            None => self.command(command),
            Some((what, action)) => self.ask_first(command, &action, &format!("{what} {}", gate.node)),
        }
    }
}

/// A reply with its question's number behind its word: `reject 1 too long`.
fn numbered(first: &str, rest: &str) -> Option<(GateId, String)> {
    let is_reply = ["approve", "answer", "edit", "reject", "skip"].contains(&first.to_lowercase().as_str());
    let (number, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = number.parse().ok().filter(|_| is_reply)?;
    Some((GateId(number), format!("{first} {}", words.trim()).trim().to_owned()))
}

/// What a reply in words means to a gate.
///
/// # Errors
/// What could be said instead.
fn reply_of(gate: &Gate, words: &str) -> Result<GateReply, String> {
    let (first, rest) = words.split_once(char::is_whitespace).map_or((words, ""), |(first, rest)| (first, rest.trim()));
    let asks = !gate.kind.takes_payload();
    match (first.to_lowercase().as_str(), rest) {
        ("approve", "") if !gate.kind.wants_answer() => Ok(GateReply::Approve),
        ("edit", json) if !asks && !json.is_empty() => {
            let payload = exact_json(json).map_err(|error| format!("not JSON: {error}"))?;
            Ok(GateReply::Modify { payload })
        }
        ("answer", text) if gate.kind.question().is_some() && !text.is_empty() => {
            let is_option = gate.kind.question().is_some_and(|question| question.options.iter().any(|option| option == text));
            let read = || WrittenValue::read(text).map_or_else(|_| Value::from(text), WrittenValue::value);
            Ok(GateReply::Answer { value: if is_option { Value::from(text) } else { read() } })
        }
        ("reject", why) => Ok(GateReply::Reject { message: why.to_owned() }),
        ("skip", "") => Ok(GateReply::Skip),
        ("cancel", "branch") => Ok(GateReply::CancelBranch),
        (_, _) => Err(format!("not a reply to gate {}: `gates` reads what can be replied", gate.id.0)),
    }
}
