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
    let all = program.run(&["audit"]).code(0).says(&["not listed: 2 calls as proposed"]).out;
    for said in [
        "created the run: say hello",
        "d: ran list_directory (",
        "w: asked: may it start? write_file: path: out.txt",
        "w: ran write_file (after a yes)",
    ] {
        assert!(all.contains(said), "{said}\n{all}");
    }
    assert!(all.contains("w: approved at gate 1: may it start? write_file: path") && all.contains("before, for this call alone)"), "{all}");
    let tools = program.run(&["audit", "last", "--tool", "write_*"]).code(0).out;
    assert_eq!(tools.lines().count(), 4, "asked, approved, ran, succeeded\n{tools}");

    let hash = program.run(&["audit", "--verify"]).code(0).out.trim().to_owned();
    program.run(&["prune", "last", "--yes"]).code(0).says(&["dagdeck audit"]);
    let after = program.run(&["audit"]).code(0).out;
    assert!(after.starts_with(&all) && after.trim_end().ends_with("deleted the run from the journal"), "{after}");
    program.run(&["audit", "--verify", &hash]).code(0).says(&["are as they were written"]);
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

#[test]
fn what_an_edit_brings_is_shown_before_a_yes_counts_and_known_secrets_of_actions_are_marked() {
    let program = Program::new();
    program.file(".env", "X_API_KEY=supersecretvalue1\n");
    let plan = |command: &str| json!({"nodes": [{"id": "s", "tool": "run_command", "args": {"command": command}}, {"id": "v", "value": "a", "depends_on": ["s"]}]});
    let (first, second) =
        (program.file("p.json", plan("echo hi > o").to_string()), program.file("e.json", plan("echo other > o").to_string()));
    program.run(&["run", &first]).code(7).says(&["echo hi > o"]);
    program.run(&["edit", &second]).code(0);
    program.run(&["hold", "last", "v", "-m", "mind supersecretvalue1"]).code(0);
    program
        .run(&["approve", "last", "s"])
        .code(1)
        .says(&["command: echo other > o", "nothing was approved: what s asks was not shown before"]);
    assert!(!program.workspace().join("o").exists());
    program.run(&["approve", "last", "s"]).code(7);
    assert_eq!(program.read("o"), "other\n");
    let journal = std::fs::read(program.home().join("state/journal.db")).unwrap();
    let log = std::fs::read(program.home().join("state/journal.db-wal")).unwrap_or_default();
    let secret = b"supersecretvalue1";
    assert!([journal, log].iter().all(|bytes| !bytes.windows(secret.len()).any(|window| window == secret)));
}

#[test]
fn the_audit_has_the_reach_of_a_yes_and_each_rule_made_and_ended_with_its_gate_and_person() {
    let program = Program::new();
    let node = json!({"id": "a", "tool": "run_command", "args": {"command": "id -u"}});
    let plan = program.file("p.json", json!({"goal": "say who", "nodes": [node]}).to_string());
    program.run(&["run", &plan]).code(7);
    program.run(&["approve", "last", "a"]).code(0);
    program.run(&["run", &plan]).code(7);
    program.run(&["approve", "last", "a", "--for", "project"]).code(0);
    program.run(&["run", &plan]).code(0);
    program.run(&["permissions", "--revoke", "1"]).code(0);
    program.run(&["run", &plan]).code(7);
    program.run(&["reject", "last", "a", "--for", "run"]).code(5);
    program.run(&["trust", "--host", "example.com:443"]).code(0);
    program.run(&["trust", "--revoke", "example.com:443"]).code(0);
    program.file(".dagdeck/plans/mine.toml", "x = 1\n");
    program.run(&["trust", "--all"]).code(0);
    let audit = program.run(&["audit"]).code(0).out;
    let lines: Vec<&str> = audit.lines().collect();
    let at = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{audit}"));
    let alone = at("a: approved at gate 1: may it start? run_command: command: id -u (asked ");
    assert!(lines[alone].ends_with("before, for this call alone)"), "{audit}");
    let made = at("tester (cli)  made rule 1, at gate 1 of a: allow run_command command=id -u in this workspace");
    assert!(lines[made + 1].contains("approved at gate 1") && lines[made + 1].ends_with(" before, for more calls by rule 1)"), "{audit}");
    assert!(at("rule 1: allow run_command command=id -u in this workspace, by tester; runs `id -u`  a: approved") > made, "{audit}");
    assert!(lines[at("tester (cli)  ended rule 1")].contains("  -         tester"), "it is of no run: {audit}");
    at("tester (cli)  made rule 2, at gate 1 of a: deny run_command in run ");
    at("tester (cli)  allowed the host example.com:443 for private data");
    at("tester (cli)  ended the host example.com:443");
    at("tester (cli)  trusted the file .dagdeck/plans/mine.toml: ");
    assert_eq!(program.run(&["audit", "--by", "tester", "--tool", "run_*"]).code(0).out.matches(" rule 1").count(), 3, "{audit}");
    assert_eq!(program.run(&["audit", "--by", "somebody"]).code(0).out, "");
    assert!(program.run(&["audit", "last", "--tool", "run_command"]).code(0).out.contains("made rule 2"));
    let json = program.run(&["audit", "--json"]).code(0).out;
    let rule = "\"number\":1,\"tool\":\"run_command\",\"scope\":\"project\"";
    assert_eq!(json.matches(rule).count(), 2, "made and ended: {json}");
    program.run(&["prune", "--keep", "0", "--yes"]).code(0);
    program.run(&["audit", "--verify"]).code(0);
    assert!(program.run(&["audit"]).code(0).out.starts_with(&audit));
    let journal = program.home().join("state/journal.db");
    let change = "UPDATE audit SET json = replace(json, '\"project\"', '\"run\"') WHERE json LIKE '%permission_changed%'";
    rusqlite::Connection::open(journal).unwrap().execute(change, []).unwrap();
    program.run(&["audit", "--verify"]).code(1).says(&["of the audit is not as it was written"]);
}

#[test]
fn the_reason_of_a_yes_is_kept_with_it_in_the_log_of_the_run_and_in_the_audit() {
    let program = Program::new();
    program.file(".env", "X_API_KEY=supersecretvalue1\n");
    let plan = json!({"nodes": [{"id": "w", "tool": "write_file", "args": {"path": "out.txt", "content": "hello"}}]});
    let plan = program.file("p.json", plan.to_string());
    program.run(&["run", &plan]).code(7);
    program.run(&["approve", "-m", "seen by Ann, key supersecretvalue1"]).code(0);
    for told in [program.run(&["replay", "--events"]).code(0).out, program.run(&["audit"]).code(0).out] {
        assert!(told.contains("seen by Ann, key ") && !told.contains("supersecretvalue1"), "{told}");
    }
}

#[test]
fn an_audit_from_which_every_entry_was_removed_is_not_taken_for_one_that_has_not_begun() {
    let program = Program::new();
    let plan = program.file("p.json", json!({"nodes": [{"id": "a", "value": 1}]}).to_string());
    program.run(&["run", &plan]).code(0);
    program.run(&["audit", "--verify"]).code(0);
    rusqlite::Connection::open(program.home().join("state/journal.db")).unwrap().execute("DELETE FROM audit", []).unwrap();
    let told = "the audit has no entry: the journal has 1 run, older than it, or its entries were removed";
    program.run(&["audit", "--verify"]).code(1).says(&[told]);
    program.run(&["audit"]).code(0).says(&[told]);
}
