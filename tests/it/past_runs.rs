//! What the shell says of runs of the journal.

use super::cli::{keys, small};
use super::support::program::Program;
use serde_json::json;

/// What `ls --json` tells of a run.
const LISTED: [&str; 12] = [
    "run",
    "status",
    "interrupted_by",
    "driver",
    "goal",
    "workspace",
    "created_at",
    "finished_at",
    "nodes",
    "waiting",
    "parent",
    "imported_at",
];

/// What `show --json` tells of a node.
const SHOWN: [&str; 21] = [
    "id",
    "state",
    "final",
    "interrupted",
    "reason",
    "result",
    "mark",
    "notes",
    "model",
    "private",
    "cached",
    "error",
    "generation",
    "stale",
    "attempts",
    "started_at",
    "finished_at",
    "tokens",
    "estimated",
    "cost_usd",
    "metadata",
];

#[test]
fn ls_and_show_tell_about_runs() {
    let program = Program::new();
    program.run(&["ls"]).code(0).says(&["no runs", "hint: "]);
    program.run(&["show"]).code(1).says(&["no runs in this workspace yet", "hint: "]);
    program.run(&["run", &program.file("small.json", small().to_string())]).code(0);
    let listed = program.json(&["ls", "--json"]);
    assert_eq!(keys(&listed[0]), LISTED);
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!(keys(&shown), ["run", "status", "interrupted_by", "reason", "goal", "counts", "planning", "nodes", "edges", "gates"]);
    assert_eq!(keys(&shown["nodes"][1]), SHOWN);
    assert_eq!((&shown["nodes"][1]["result"], &shown["run"]), (&json!(42), &listed[0]["run"]));

    let name = listed[0]["run"].as_str().unwrap();
    let end = &name[name.len() - 8..];
    let text = program.run(&["show", end]).code(0);
    let head = text.out.lines().next().unwrap();
    assert!(head.starts_with(&format!("{end} succeeded, 2/2 done, elapsed ")) && head.ends_with(": double it"), "{text}");
    assert_eq!(program.json(&["show", end, "twice", "--json"])["result"], 42);
    program.run(&["show", end, "thrice"]).code(1).says(&["no node `thrice`", "sum, twice"]);
    program.run(&["show", "nothing"]).code(1).says(&["`nothing` is neither a run nor a node", "`dagdeck ls`"]);
    program.run(&["ls", "-n", "0"]).code(2).says(&["0", "--limit"]);

    let other = tempfile::tempdir().unwrap();
    let elsewhere = program.run(&["ls", "--json", "--workspace", other.path().to_str().unwrap()]);
    assert_eq!(elsewhere.json(), json!([]), "runs belong to their workspace");
}

#[test]
fn a_run_is_looked_into_by_why_trace_timeline_and_diff() {
    let program = Program::new();
    let nodes = json!([
        {"id": "sum", "tool": "calculator", "args": {"expression": "20 + {{inputs.n}}"}},
        {"id": "twice", "code": "console.log('at work'); return Number(deps.sum.output) * 2", "depends_on": ["sum"]},
        {"id": "gone", "value": 1, "when": "sum > 100", "depends_on": ["sum"]},
    ]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "inputs": {"n": 1}, "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(0);
    let first = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    let shown = program.run(&["show", "last"]).code(0);
    let head = shown.out.lines().next().unwrap();
    assert!(
        head.contains(" succeeded, 2/3 done, 1 not run, elapsed ") && !head.contains(':'),
        "a run without a goal has no colon: {shown}"
    );
    let node = program.run(&["show", "last", "twice"]).code(0);
    assert!(node.out.contains("at work"), "{node}");
    assert_eq!(program.json(&["show", "last", "twice", "--json"])["log"][0]["text"], "at work");

    let why = program.run(&["why", "last", "gone"]).code(0);
    assert!(why.out.starts_with("`gone` was skipped"), "{why}");
    assert_eq!(program.json(&["why", "last", "gone", "--json"])["links"][0]["waits_for"], "nothing");
    program.run(&["why", "last", "twise"]).code(1).says(&["no node `twise`", "did you mean `twice`?"]);

    let trace = program.run(&["trace", "last", "twice"]).code(0);
    for words in ["twice  code, succeeded", "  sum  (as a dependency)  calculator, succeeded", "called calculator", "inputs of the plan: n"]
    {
        assert!(trace.out.contains(words), "{words}\n{trace}");
    }
    let traced = program.json(&["trace", "last", "twice", "--json"]);
    assert_eq!((&traced["steps"][1]["node"], &traced["rows"][1]["came"]["how"]), (&json!("sum"), &json!("edge")));

    let timeline = program.run(&["show", "last", "--timeline"]).code(0).says(&["critical path"]);
    assert!(timeline.out.lines().any(|line| line.starts_with("* twice") && line.ends_with("after sum")), "{timeline}");
    let chart = &program.json(&["show", "last", "--timeline", "--json"])["timeline"];
    assert_eq!(chart["critical"], json!(["sum", "twice"]));
    assert!(chart["bound_ms"].as_u64() <= chart["makespan_ms"].as_u64(), "{chart}");

    program.run(&["run", &file, "--set", "n=2"]).code(0);
    let second = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    let diff = program.run(&["diff", &first, &second, "--results"]).code(4).says(&["1 node the same, 2 different"]);
    assert!(diff.out.contains("result  twice") && diff.out.contains("42") && diff.out.contains("44"), "{diff}");
    let told = program.run(&["diff", &first, &second, "--results", "--json"]).code(4).json();
    assert_eq!(told["results"]["nodes"][1]["change"], "result");
    program.run(&["diff", &file, &second, "--results"]).code(1).says(&["compares two runs"]);
}

#[test]
fn every_subcommand_shows_the_same_elapsed_time_of_a_run() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let ended = program.run(&["run", &file]).code(0).err;
    let elapsed = |text: &str| {
        let (_, after) = text.split_once("elapsed ").unwrap_or_else(|| panic!("{text}"));
        after.split([',', ' ', ':', '\n']).next().unwrap().to_owned()
    };
    let expected = elapsed(&ended);
    for args in [&["ls"][..], &["show", "last"], &["show", "last", "--timeline"], &["replay", "last"]] {
        assert_eq!(elapsed(&program.run(args).code(0).out), expected, "{args:?}");
    }
    program.run(&["diff", "last"]).code(2).says(&["would be compared with itself"]);
    let diff = program.run(&["diff", "last", "last", "--results"]).code(0).out;
    assert_eq!((elapsed(&diff), diff.matches(&format!("elapsed {expected}, work ")).count()), (expected, 2), "{diff}");
}
