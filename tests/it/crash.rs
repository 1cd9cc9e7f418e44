//! The real program killed at random instants, opened again, and finished: nothing that was finished runs again, no effect happens twice
//! without a decision, and what was told is what is journalled. Effects are counted outside of the program.

use super::support::program::Program;
use dagdeck::engine::{Event, NodeFact, NodeState, Outcome, Record, Run};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// How many crashes there are; more are asked for by this variable.
const CRASHES: (&str, u64) = ("DAGDECK_CRASHES", 10);
/// Nodes whose commands leave a line behind.
const EFFECTS: [&str; 4] = ["effect-1", "effect-2", "effect-3", "effect-4"];

/// A fan-out with commands that leave something behind, work that doesn't, a write behind a gate, and a join.
fn plan() -> Value {
    let command = |id: &str| json!({"id": id, "tool": "run_command", "args": {"command": format!("echo {id} >> effects.log")}, "depends_on": ["start"]});
    let mut nodes = vec![json!({"id": "start", "tool": "calculator", "args": {"expression": "6 * 7"}})];
    nodes.extend(EFFECTS.map(command));
    nodes.extend((1..=3).map(|n| json!({"id": format!("pure-{n}"), "code": "let x = 0; for (let i = 0; i < 300000; i++) x += i; return x", "depends_on": ["start"]})));
    nodes.push(json!({"id": "say", "value": "said {{start}}", "depends_on": ["start"]}));
    nodes.push(json!({"id": "file", "tool": "write_file", "args": {"path": "out.txt", "content": "written"}, "depends_on": ["effect-1", "pure-1"]}));
    let all = ["effect-1", "effect-2", "effect-3", "effect-4", "pure-1", "pure-2", "pure-3", "say", "file"];
    nodes.push(json!({"id": "join", "value": "all there", "depends_on": all}));
    json!({"dagdeck": 1, "goal": "survive", "nodes": nodes})
}

/// Numbers that only depend on the seed.
struct CrashDice(u64);

impl CrashDice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// When a program is killed.
enum Instant {
    /// Once it has printed so many events.
    Lines(u64),
    /// Once its journal has grown by so many bytes.
    Journal(u64),
}

fn spawn(program: &Program, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester");
    command.env("HOME", program.home()).env("DAGDECK_HOME", program.home().join("state")).current_dir(program.workspace());
    command.envs(program.variables());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a command line, to its end or to the instant. Gives its exit code, if it came to its end, and the events that it printed.
fn go(program: &Program, args: &[&str], instant: Option<Instant>) -> (Option<i32>, Vec<Value>) {
    let grown = || std::fs::metadata(program.home().join("state/journal.db-wal")).map_or(0, |file| file.len());
    let before = grown();
    let mut child = spawn(program, args);
    let (lines, printed) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let reader = {
        let (out, lines, printed) = (BufReader::new(child.stdout.take().unwrap()), lines.clone(), printed.clone());
        thread::spawn(move || {
            // A line that was cut off by the end is none.
            for event in out.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()) {
                printed.lock().unwrap().push(event);
                lines.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        let due = match instant {
            None => false,
            Some(Instant::Lines(count)) => lines.load(Ordering::SeqCst) >= count,
            Some(Instant::Journal(bytes)) => grown().saturating_sub(before) >= bytes,
        };
        if due {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::yield_now();
    };
    reader.join().unwrap();
    all_gone(&program.workspace());
    let printed = std::mem::take(&mut *printed.lock().unwrap());
    (code, printed)
}

/// Waits until nothing that a killed program started is at work any more: what its commands did is done then.
fn all_gone(workspace: &Path) {
    let there = || {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes.filter_map(|process| process.path().join("cwd").read_link().ok()).any(|cwd| cwd == workspace)
    };
    while there() {
        thread::yield_now();
    }
}

/// Turns a hang into a failure; generous, since machines may be busy.
const DEADLINE: Duration = Duration::from_secs(120);

/// Waits for what must come.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "{what}");
        thread::yield_now();
    }
}

/// Whether a process is still at work. One that has ended may wait to be collected.
fn is_at_work(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

/// What a person who looks finds out: whether a node took effect.
fn took_effect(program: &Program, node: &str) -> bool {
    let log = std::fs::read_to_string(program.workspace().join("effects.log")).unwrap_or_default();
    log.lines().any(|line| line == node) || (node == "file" && program.workspace().join("out.txt").exists())
}

/// Kills and opens again until the run is over; gives all that was printed.
fn survive(program: &Program, dice: &mut CrashDice, killed_again: &AtomicU64) -> Vec<Value> {
    let file = program.file("plan.json", plan().to_string());
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut args = owned(&["run", &file, "--yes", "--json"]);
    let mut kills = 1 + dice.below(3);
    let mut told = Vec::new();
    for _ in 0..60 {
        let instant = (kills > 0).then(|| match dice.below(2) {
            0 => Instant::Lines(dice.below(60)),
            _ => Instant::Journal(dice.below(200_000)),
        });
        kills = kills.saturating_sub(1);
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let (code, printed) = go(program, &words, instant);
        told.extend(printed);
        if code.is_none() && args[0] == "resume" {
            killed_again.fetch_add(1, Ordering::SeqCst);
        }
        if code == Some(0) {
            return told;
        }
        if program.json(&["ls", "--json"]).as_array().unwrap().is_empty() {
            continue;
        }
        let shown = program.json(&["show", "last", "--json"]);
        if shown["status"] == "succeeded" {
            // It was killed between its last event and its end.
            return told;
        }
        let lost = shown["nodes"].as_array().unwrap().iter().find(|node| node["state"] == "unknown");
        args = match (code, lost) {
            (Some(7), Some(node)) => {
                let id = node["id"].as_str().unwrap();
                let value = if took_effect(program, id) { "mark done" } else { "run again" };
                owned(&["answer", "last", id, "-m", value, "--yes", "--json"])
            }
            (None, _) => owned(&["resume", "last", "--yes", "--json"]),
            (Some(code), _) => panic!("exit code {code}\n{shown:#}"),
        };
    }
    panic!("the run never ends: {:#}", program.json(&["show", "last", "--json"]));
}

fn check(program: &Program, told: &[Value]) {
    let mut effects: Vec<String> = program.read("effects.log").lines().map(str::to_owned).collect();
    effects.sort();
    assert_eq!(effects, EFFECTS, "each effect happened once");
    assert_eq!(program.read("out.txt"), "written");

    let journal = program.run(&["replay", "last", "--events", "--json"]).code(0).out;
    let values: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<Record> = values.iter().map(|value| serde_json::from_value(value.clone()).unwrap()).collect();
    assert!(records.iter().zip(1..).all(|(record, seq)| record.seq == seq), "nothing is missing");
    for event in told.iter().filter(|event| event["seq"].is_u64()) {
        let at = usize::try_from(event["seq"].as_u64().unwrap()).unwrap() - 1;
        assert_eq!(values.get(at), Some(event), "what was told is journalled");
    }
    let (mut over, mut starts) = (BTreeSet::new(), BTreeMap::new());
    for record in &records {
        match &record.event {
            Event::Node { node_id, fact: NodeFact::Started { .. }, .. } => {
                assert!(!over.contains(node_id), "`{node_id}` was finished and ran again");
                *starts.entry(node_id.clone()).or_insert(0) += 1;
            }
            Event::Node { node_id, fact: NodeFact::Completed { .. }, .. } => assert!(over.insert(node_id.clone()), "`{node_id}` ends once"),
            _ => {}
        }
    }
    let run = Run::replay(&records);
    assert_eq!(run.outcome().unwrap().0, Outcome::Succeeded);
    assert!(run.nodes().all(|(_, node)| node.state == NodeState::Succeeded));
    let shown = program.json(&["show", "last", "--json"]);
    for node in shown["nodes"].as_array().unwrap() {
        let folded = run.node(&node["id"].as_str().unwrap().into()).unwrap();
        assert_eq!(node["state"], folded.state.word());
        assert_eq!(node["result"], json!(folded.result));
    }
}

/// Case 8.
#[test]
fn kill_9_in_the_middle_of_a_fan_out_the_run_opens_and_goes_on() {
    let count = std::env::var(CRASHES.0).ok().and_then(|count| count.parse().ok()).unwrap_or(CRASHES.1);
    let (next, killed_again) = (AtomicU64::new(1), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed > count {
                        return;
                    }
                    let program = Program::new();
                    let told = survive(&program, &mut CrashDice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), &killed_again);
                    check(&program, &told);
                }
            });
        }
    });
    assert!(killed_again.load(Ordering::SeqCst) > 0, "some are killed again while they resume");
}

#[test]
fn kill_9_ends_a_command_with_all_that_it_started_and_its_node_is_unknown() {
    let scratch = tempfile::tempdir().unwrap();
    let left = || std::fs::read_dir(scratch.path()).unwrap().count();
    let program = Program::new().env("TMPDIR", scratch.path().to_str().unwrap());
    // The shell, what it started, and what that started in turn.
    let command = "(sleep 1000 & echo $! >> pids; wait) & echo $! >> pids; echo $$ >> pids; wait";
    let plan = json!({"dagdeck": 1, "nodes": [{"id": "long", "tool": "run_command", "args": {"command": command}}]});
    let file = program.file("plan.json", plan.to_string());
    let mut child = spawn(&program, &["run", &file, "--yes"]);
    let pids = until("the command has started all of it", || {
        let pids = std::fs::read_to_string(program.workspace().join("pids")).unwrap_or_default();
        let pids: Vec<u32> = pids.lines().map_while(|line| line.parse().ok()).collect();
        (pids.len() == 3).then_some(pids)
    });
    assert!(pids.iter().all(|&pid| is_at_work(pid)), "{pids:?}");
    for how in [&["skip", "last", "long"][..], &["skip", "last", "long", "--dry-run"], &["undo", "last"], &["pause", "last"]] {
        let refused = program.run(how).code(1);
        assert!(!refused.err.contains("skips: ") && refused.out.is_empty(), "{how:?}: {refused}");
        assert!(
            refused.err.contains(if how[0] == "undo" { "nothing can be undone" } else { "is already run by process" }),
            "{how:?}: {refused}"
        );
    }
    assert_eq!(program.json(&["show", "last", "--json"])["nodes"][0]["interrupted"], false);
    let listed = program.run(&["prune", "last"]).code(0).out;
    assert!(listed.contains("running") && !listed.contains("interrupted"), "{listed}");
    child.kill().unwrap();
    child.wait().unwrap();
    until("nothing is at work any more", || pids.iter().all(|&pid| !is_at_work(pid)).then_some(()));
    assert_eq!(left(), 1, "nobody was there to take its scratch folder away");
    let stopped = &program.json(&["show", "last", "--json"])["nodes"][0];
    assert_eq!((&stopped["state"], &stopped["interrupted"]), (&json!("running"), &json!(true)));
    for how in [&["show", "last"][..], &["show", "last", "long"]] {
        let shown = program.run(how).code(0).out;
        assert!(shown.contains("interrupted") && !shown.contains("running"), "{shown}");
    }
    let why = program.run(&["why", "last", "long"]).code(0).out;
    assert!(
        why.contains("was at work when its run was interrupted") && why.contains("--unknown again|done|skip` decides what becomes of it"),
        "{why}"
    );
    let question = ["The call of `run_command` in `long` may have had its effect", "tool: run_command", "(sleep 1000 & echo $!"];
    program.run(&["resume", "last"]).code(7).says(&question);
    let shown = program.run(&["show", "last"]).code(0).out;
    assert!(question.iter().all(|words| shown.contains(words)), "{shown}");
    assert_eq!(left(), 0);
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!(shown["nodes"][0]["state"], "unknown");
    let gate = shown["gates"].as_array().unwrap().last().unwrap();
    assert_eq!(gate["kind"]["text"], "The call of `run_command` in `long` may have had its effect. Choose: run again / mark done / skip");
    assert_eq!(gate["payload"], json!({"tool": "run_command", "arguments": {"command": command}}), "the call that was in flight");
}
