//! One state everywhere: for random runs, stored and live, the console's header, tree, inbox and farewell and the shell's `ls`, `show`
//! and `why` agree on state words, counts and times.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Deck, actor, catalog};
use crate::cli::{self, Io};
use crate::console::theme::of_node;
use crate::console::update::actions::app;
use crate::engine::{
    Action, ActionTarget, Command, Done, Effect, GateReply, Input, NodeError, Record, Run, RunId, RunSettings, RunStatus, Time, WorkerFact,
    elapsed,
};
use crate::host::client::{Driver, Notice};
use crate::plan::{NodeId, Plan};
use crate::store::{Durability, Journal, Store};

const ID: &str = "0198a000-0000-7000-8000-00000000abcd";

/// A plan of some nodes: tools, values, maps; some ask first, some fail safe.
fn planned(choices: &[u8]) -> Plan {
    let node = |at: usize, choice: u8| {
        let work = match choice % 4 {
            0 => json!({"value": at}),
            1 => {
                json!({"over": "[1, 2, 3]", "max_parallel": 1, "body": {"nodes": [{"id": "x", "tool": "list_directory", "args": {"path": "a"}}]}})
            }
            _ => json!({"tool": "list_directory", "args": {"path": "a"}}),
        };
        let mut node = work;
        node["id"] = json!(format!("n{at}"));
        if at > 0 && choice & 4 > 0 {
            node["depends_on"] = json!([format!("n{}", usize::from(choice) % at)]);
        }
        if choice & 8 > 0 {
            node["on_failure"] = json!("safe");
        }
        if choice & 48 == 48 {
            node["approve"] = json!("before");
        }
        node
    };
    let nodes: Vec<Value> = choices.iter().enumerate().map(|(at, choice)| node(at, *choice)).collect();
    serde_json::from_value(json!({"dagdeck": 1, "goal": "agree", "nodes": nodes})).unwrap()
}

/// A run that goes as the choices say.
struct Story {
    run: Run,
    records: Vec<Record>,
    workers: BTreeMap<NodeId, (u32, u32)>,
    now: Time,
}

impl Story {
    fn begin(plan: Plan, workspace: &str) -> Self {
        let settings = RunSettings {
            catalog: catalog(),
            host: json!({ "workspace": workspace }),
            model: Some("test-model".into()),
            ..RunSettings::default()
        };
        let mut story = Self { run: Run::default(), records: Vec::new(), workers: BTreeMap::new(), now: Time(1_750_000_000_000) };
        story.hear(&Input::Create { run: RunId(ID.into()), plan: Box::new(plan), settings: Box::new(settings), by: actor() });
        story.hear(&Input::Command { command: Command::Start, by: actor() });
        story
    }

    fn hear(&mut self, input: &Input) {
        self.now = self.now.plus(1_700);
        let batch = self.run.step(input, self.now);
        for effect in batch.effects {
            if let Effect::Start { node, generation, attempt, .. } = effect {
                self.workers.insert(node, (generation, attempt));
            }
        }
        self.records.extend(batch.records);
    }

    fn go_on(&mut self, choice: u8) {
        let at = usize::from(choice / 8);
        let gate = self.run.open_gates().nth(at % 3).map(|gate| (gate.id, gate.hash.clone()));
        let node = self.run.own_nodes().nth(at % 5).map(|(id, _)| id.clone());
        let act = |action| Input::Command { command: Command::act(action), by: actor() };
        let input = match (choice % 8, gate, node) {
            (0..=3, _, _) if !self.workers.is_empty() => {
                let node = self.workers.keys().nth(at % self.workers.len()).unwrap().clone();
                let (generation, attempt) = self.workers.remove(&node).unwrap();
                let fact = match choice % 8 {
                    0 => WorkerFact::Failed(NodeError::permanent("it broke")),
                    _ => WorkerFact::Done(Done { result: json!("r"), mark: None }),
                };
                Input::Work { node, generation, attempt, fact }
            }
            (0..=4, Some((gate, hash)), _) => {
                let decision = if choice & 64 > 0 { GateReply::Reject { message: String::new() } } else { GateReply::Approve };
                Input::Command { command: Command::decide(gate, decision, hash), by: actor() }
            }
            (5, _, Some(node)) => act(Action::Hold { target: ActionTarget::Node(node) }),
            (6, _, Some(node)) => act(Action::Skip { node }),
            (7, _, _) => act(if choice & 64 > 0 { Action::Pause } else { Action::Resume }),
            _ => return,
        };
        self.hear(&input);
    }
}

/// What a subcommand prints.
fn shell(home: &tempfile::TempDir, args: &[&str]) -> String {
    let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), std::io::empty());
    let home = home.path().to_str().unwrap();
    let args = ["dagdeck", "--home", home, "--workspace", home].into_iter().chain(args.iter().copied()).map(Into::into);
    cli::main(
        args,
        &mut Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns: None, secrets: crate::tools::KnownSecrets::default() },
    );
    String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap()
}

/// The words of a line, without what is between them.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Holds everything that shows a stored run against the console; `driver` is who drives it.
fn compare(story: &Story, driver: Driver, home: &tempfile::TempDir) {
    let mut deck = Deck::new(240, 60);
    deck.now = story.now;
    let id = RunId(ID.into());
    deck.notice(Notice::RunOpened { run: id.clone(), records: story.records.clone(), driver });
    let screen = deck.screen();
    let view = deck.model.runs.get(&id).unwrap();
    let (status, counts) = (view.status(), view.counts());
    // While its time goes by, it does between two looks.
    let elapsed = (!status.is_timed()).then(|| elapsed(view.elapsed_ms(deck.now)).into_string());
    let elapsed = elapsed.as_deref().unwrap_or("elapsed ");
    let running = view.works().then(|| crate::text::stopwatch(view.elapsed_ms(deck.now)).into_string());
    let halts = view.stops().iter().filter(|stop| stop.kind == crate::console::model::StopKind::Halt).count();
    let halted = crate::text::counted(halts, "halt");
    // Halts stand among the counts, where they don't stand in the place of the state.
    let header = words(&screen.lines().nth(1).unwrap().replace(['━', '╸', '─'], ""));
    let header = header.replacen(&format!(" done {halted}"), " done", 1);
    // Where somebody is waited for, that stands in the place of the state.
    let parts: Vec<String> = counts.parts().into_iter().map(|(_, part)| part.into_string()).collect();
    let needs = if counts.waiting == 1 { "needs" } else { "need" };
    let states = [status.word().to_owned(), format!("{} {needs} you", counts.waiting)];
    let parts = |left_out: &str| parts.iter().filter(|part| !part.ends_with(left_out)).cloned().collect::<Vec<_>>().join(" ");
    let paused = parts("-").replace(&format!("{} waiting", counts.waiting), &states[1]);
    assert!(
        (header.contains(&format!("{} {}", states[0], parts("-")))
            || header.contains(&format!("{} {paused}", states[0]))
            || halts > 0 && status == RunStatus::Running && header.contains(&format!("{halted} {}", parts("-")))
            || matches!(status, RunStatus::Running | RunStatus::Waiting)
                && header.contains(&format!("{} {}", states[1], parts(" waiting"))))
            && (header.contains(elapsed)
                || running.is_some_and(|time| header.ends_with(time.trim()))
                || status.is_timed() && header.contains("began ")),
        "{header}"
    );

    let show = shell(home, &["show", ID]);
    let head = format!("{} {}, {}, {elapsed}", "0000abcd", status.word(), counts.label());
    assert!(show.starts_with(&head), "{head}\n{show}");
    let ls = shell(home, &["ls"]);
    for part in [status.word(), elapsed, &format!("{} node", counts.all)] {
        assert!(words(&ls).contains(part.trim_end()), "{part}\n{ls}");
    }
    let shown: Value = serde_json::from_str(&shell(home, &["show", ID, "--json"])).unwrap();
    assert_eq!((&shown["status"], &shown["counts"]), (&json!(status), &json!(counts)));
    for (node, state) in view.newest().run.own_nodes() {
        let word = state.state.label(status);
        let row = |text: &str| text.lines().map(words).any(|line| line.contains(&format!("{node} {word}")));
        assert!(row(&show), "{node} {word}\n{show}");
        let mark = deck.model.look.theme.glyph(of_node(&state.state, status).0);
        let in_tree = |line: &str| {
            line.split('┃').next().is_some_and(|row| row.contains(node.as_str()) && [mark, "‖", "■"].iter().any(|mark| row.contains(mark)))
        };
        assert!(screen.lines().skip(3).any(in_tree) || state.stale.is_some(), "{node} {mark}\n{screen}");
        let why = shell(home, &["why", ID, node.as_str()]);
        assert!(!state.state.has_ended() || why.contains(word), "{node} {word}: {why}");
        assert!(!state.state.is_interrupted(status) || why.contains("interrupted"), "{node} {word}: {why}");
    }
    let open = shown["gates"].as_array().unwrap().iter().filter(|gate| gate["decision"].is_null() && gate["void"].is_null()).count();
    assert!(!view.goes_on() || deck.model.inbox.gates.len() == open);
    if view.goes_on() {
        let farewell = app::summary(&deck.model, deck.now, RunStatus::Interrupted)[0].as_str().to_owned();
        let left = view.newest().run.status_without_driver();
        let counts = view.newest().run.counts(left).label();
        assert!(farewell.starts_with(left.word()) && farewell.contains(counts.as_str()) && farewell.contains(elapsed), "{farewell}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn header_tree_inbox_farewell_ls_show_and_why_agree_on_states_counts_and_times(
        nodes in prop::collection::vec(0_u8..64, 1..6),
        steps in prop::collection::vec(any::<u8>(), 0..14),
    ) {
        let home = tempfile::tempdir().unwrap();
        let mut story = Story::begin(planned(&nodes), home.path().to_str().unwrap());
        steps.into_iter().for_each(|step| story.go_on(step));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = Store::open(home.path()).unwrap();
        let id = RunId(ID.into());
        runtime.block_on(store.append(&id, &story.records, Durability::Process)).unwrap();
        compare(&story, Driver::Nobody, &home);
        if story.run.outcome().is_none() {
            let ownership = store.own(&id, &actor()).unwrap();
            compare(&story, Driver::Here, &home);
            drop(ownership);
        }
    }
}

#[test]
fn failures_are_counted_apart_and_maps_count_entries_that_have_not_begun() {
    let mut story = Story::begin(
        serde_json::from_value(json!({"dagdeck": 1, "nodes": [
            {"id": "a", "tool": "list_directory", "args": {"path": "a"}},
            {"id": "b", "tool": "list_directory", "args": {"path": "a"}, "on_failure": "safe"},
            {"id": "m", "over": "[1, 2, 3]", "max_parallel": 1, "body": {"nodes": [{"id": "x", "tool": "list_directory", "args": {"path": "a"}}]}},
        ]}))
        .unwrap(),
        "w",
    );
    for node in ["a", "b"] {
        let (generation, attempt) = story.workers[&NodeId::new(node)];
        story.hear(&Input::Work { node: node.into(), generation, attempt, fact: WorkerFact::Failed(NodeError::permanent("no")) });
    }
    let label = |status| story.run.counts(status).label().into_string();
    assert_eq!(label(RunStatus::Running), "0/3 done, 1 running, 1 failed, 1 failed_safe, 0/3 inside ended");
    assert_eq!(label(RunStatus::Interrupted), "0/3 done, 1 interrupted, 1 failed, 1 failed_safe, 0/3 inside ended");
}
