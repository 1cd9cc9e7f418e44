//! No denied call runs, by whatever route: random rules over random plans that are run, retried, rerun, branched and replayed.

use super::{
    client::Problem,
    config::Config,
    host_tests::{flags, nobody},
    kept_rules::{KeptRule, RuledCall},
    *,
};
use crate::engine::{Action, Command, RerunReach, Run, RunId, Time};
use crate::plan::{NodeId, Plan, Verdict};
use crate::tools::CallRule;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path};

/// The last is another name of the one before.
const TOOLS: [&str; 3] = ["write_file", "make_directory", "mkdir"];
const FOLDERS: [&str; 2] = ["kept", "free"];
const VERDICTS: [Verdict; 3] = [Verdict::Allow, Verdict::Ask, Verdict::Deny];

/// A call: its tool, its folder, and what it stands in, from the inside out.
type RoutedCall = (usize, usize, Vec<usize>);
/// A rule of the configuration: for which tool (the last: all), its verdict, for which folder (the last: all).
type RandomRule = (usize, usize, usize);
/// A rule that a reply made: for which tool, whether it allows, for which folder.
type RandomReply = (usize, bool, usize);

fn path(number: usize, (_, folder, _): &RoutedCall) -> String {
    format!("{}/n{number}", FOLDERS[*folder])
}

fn node(number: usize, leaf: &RoutedCall) -> Value {
    let id = |depth: usize| format!("n{number}d{depth}");
    let args = if leaf.0 == 0 { json!({"path": path(number, leaf), "content": "x"}) } else { json!({"path": path(number, leaf)}) };
    let call = json!({"id": id(0), "tool": TOOLS[leaf.0], "args": args});
    leaf.2.iter().enumerate().fold(call, |inner, (depth, around)| {
        let (id, body) = (id(depth + 1), json!({"goal": "inside", "nodes": [inner]}));
        match around {
            0 => json!({"id": id, "plan": body}),
            1 => json!({"id": id, "over": "[\"x\"]", "body": body}),
            _ => json!({"id": id, "body": body, "until": "true", "max_iterations": 2}),
        }
    })
}

/// The rules one by one, slowly.
fn is_denied((tool, folder, _): &RoutedCall, configured: &[RandomRule], kept: &[RandomReply]) -> bool {
    let real = (*tool).min(1);
    let by_config = configured.iter().any(|rule| (rule.0 == 2 || rule.0 == real) && rule.1 == 2 && (rule.2 == 2 || rule.2 == *folder));
    by_config || kept.iter().any(|rule| rule.0 == real && !rule.1 && rule.2 == *folder)
}

fn patterns(folder: usize) -> BTreeMap<String, String> {
    FOLDERS.get(folder).map(|folder| ("path".to_owned(), format!("{folder}/**"))).into_iter().collect()
}

/// A host under these rules.
fn host(root: &Path, configured: &[RandomRule], kept: &[RandomReply]) -> LocalHost {
    let workspace = root.join("work");
    std::fs::create_dir_all(&workspace).unwrap();
    let rule = |(tool, verdict, folder): &RandomRule| {
        let tool = if *tool == 2 { "*" } else { TOOLS[*tool] };
        CallRule { tool: tool.to_owned(), verdict: VERDICTS[*verdict], args: patterns(*folder) }
    };
    let mut config = Config::default();
    config.permissions.rules = configured.iter().map(rule).collect();
    config.tools.permissions = config.permissions.clone();
    let places = Folders { workspace: workspace.clone(), settings: workspace.clone(), home: root.join("home"), config: None };
    let host = LocalHost::open(places, config, None, |_: &str| None).unwrap();
    let (run, node) = (RunId("earlier".into()), NodeId::new("a"));
    for (tool, allows, folder) in kept {
        let args = json!({"path": format!("{}/earlier", FOLDERS[*folder])});
        let call = RuledCall { run: &run, node: &node, tool: TOOLS[*tool], args: &args, workspace: &workspace };
        let verdict = if *allows { Verdict::Allow } else { Verdict::Deny };
        let rule = KeptRule::of(call, verdict, RuleScope::Project, patterns(*folder), ("tester".into(), Time(1))).unwrap();
        host.shared().places.kept_trust().rules().add(rule, &host.shared().permission_log()).unwrap();
    }
    host
}

/// Runs it with a yes to all that asks, then everything that could make a refused call go after all.
async fn all_routes(host: &LocalHost, plan: Plan) -> Result<(), Problem> {
    let (yes, mut stop) = (flags(&[], &[], Yes::Given), nobody());
    let ended = host.run_headless(NewRun { plan: plan.clone(), ..NewRun::default() }, &yes, &mut stop, &mut |_| {}).await?;
    for node in plan.nodes.iter().map(|node| node.id.clone()) {
        for action in [Action::Retry { node: node.clone() }, Action::Rerun { node, scope: RerunReach::Downstream }] {
            // One that is over well can't be retried.
            let _ = host.resume_headless((&ended.run, ResumeFrom::End), vec![Command::act(action)], &yes, &mut stop, &mut |_| {}).await;
        }
    }
    let _ = host.resume_headless((&ended.run, ResumeFrom::Event(1)), Vec::new(), &yes, &mut stop, &mut |_| {}).await;
    Run::replay(&host.shared().store.records(&ended.run)?);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(60), ..ProptestConfig::default() })]

    #[test]
    fn a_denied_call_runs_by_no_route_and_any_other_runs(
        leaves in prop::collection::vec((0..3_usize, 0..2_usize, prop::collection::vec(0..3_usize, 0..3)), 1..4),
        configured in prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize), 0..4),
        kept in prop::collection::vec((0..2_usize, any::<bool>(), 0..2_usize), 0..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let nodes: Vec<Value> = leaves.iter().enumerate().map(|(number, leaf)| node(number, leaf)).collect();
        let plan: Plan = serde_json::from_value(json!({"goal": "test", "nodes": nodes})).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let host = host(&root, &configured, &kept);
            all_routes(&host, plan).await.unwrap();
        });
        for (number, leaf) in leaves.iter().enumerate() {
            let is_there = root.join("work").join(path(number, leaf)).exists();
            prop_assert_eq!(is_there, !is_denied(leaf, &configured, &kept), "{}", path(number, leaf));
        }
    }
}
