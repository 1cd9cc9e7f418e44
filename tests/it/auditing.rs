//! The audit: who allowed and changed what, kept when runs are deleted.

use super::support::program::Program;
use serde_json::json;

#[test]
fn the_audit_says_who_allowed_what_and_by_which_rule_and_outlives_its_run() {
    let program = Program::new();
    program.run(&["audit"]).code(0).says(&["no entry yet"]);
    let node = |id: &str, tool: &str, args: serde_json::Value| json!({"id": id, "tool": tool, "args": args});
    let write = node("w", "write_file", json!({"path": "out.txt", "content": "hello"}));
    let plan = program.file("p.json", json!({"goal": "say hello", "nodes": [node("d", "list_directory", json!({})), write]}).to_string());
    program.run(&["run", &plan]).code(7);
    program.run(&["approve"]).code(0);
    let all = program.run(&["audit"]).code(0).out;
    for said in [
        "created the run: say hello",
        "d: ran list_directory (",
        "w: asked: may it start? write_file: path: out.txt",
        "w: ran write_file (after a yes)",
    ] {
        assert!(all.contains(said), "{said}\n{all}");
    }
    assert!(all.contains("w: approved at gate 1: may it start? write_file: path") && all.contains("before)"), "{all}");
    let tools = program.run(&["audit", "last", "--tool", "write_*"]).code(0).out;
    assert_eq!(tools.lines().count(), 4, "asked, approved, ran, succeeded\n{tools}");

    let hash = program.run(&["audit", "--verify"]).code(0).out.trim().to_owned();
    program.run(&["prune", "last", "--yes"]).code(0).says(&["dagdeck audit"]);
    let after = program.run(&["audit"]).code(0).out;
    assert!(after.starts_with(&all) && after.trim_end().ends_with("deleted the run from the journal"), "{after}");
    program.run(&["audit", "--verify", &hash]).code(0).says(&["as they were written"]);
    program.run(&["audit", "--verify", "00"]).code(1).says(&["no entry has the hash 00"]);

    let journal = program.home().join("state/journal.db");
    rusqlite::Connection::open(journal)
        .unwrap()
        .execute("UPDATE audit SET json = replace(json, 'out.txt', 'OUT.txt') WHERE number > 3", [])
        .unwrap();
    program.run(&["audit", "--verify"]).code(1).says(&["of the audit is not as it was written"]);
    program.run(&["audit"]).code(1).says(&["is not as it was written"]);
    program.run(&["audit", "--since", "soon"]).code(2).says(&["write an age such as `2d`"]);
}
