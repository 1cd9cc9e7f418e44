//! The built-in planner as people use it: requests in, plans out, and the code of the shipped templates run on real values.

use super::*;
use crate::agents::AgentRegistry;
use crate::plan::{NodeKind, Risk, ToolInfo, Verdict};
use rquickjs::{Context, Runtime};
use std::{fs, path::Path};

const DEMO: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

#[derive(Default)]
struct Told {
    nodes: Vec<Node>,
    progress: Vec<String>,
}

impl PlanSink for Told {
    fn progress(&mut self, text: &str) {
        self.progress.push(text.to_owned());
    }

    fn node(&mut self, node: Node) {
        self.nodes.push(node);
    }
}

fn catalog() -> Catalog {
    let names = [
        "calculator",
        "current_time",
        "edit_file",
        "fetch_url",
        "list_directory",
        "read_file",
        "run_command",
        "run_javascript",
        "search_files",
        "summarize",
        "web_search",
        "write_file",
    ];
    let tool = |name: &str| ToolInfo {
        name: name.into(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
        risk: Risk::Read,
        verdict: Verdict::Allow,
    };
    let agents = AgentRegistry::open(Path::new("/nonexistent"), None).cards().infos();
    Catalog { agents, tools: names.into_iter().map(tool).collect(), ..Catalog::default() }
}

fn planned(request: &str) -> Planned {
    let mut told = Told::default();
    let planned = plan(request, &catalog(), &Template::shipped(), &mut told);
    assert_eq!(told.nodes, planned.plan.nodes, "what is streamed is what is planned");
    assert!(!told.progress.is_empty());
    planned
}

fn template_of(planned: &Planned) -> &str {
    planned.origin.split('`').nth(1).unwrap_or("none")
}

/// The ids with what they follow: `rank<list_files`.
fn shape(plan: &Plan) -> Vec<String> {
    let node = |node: &Node| {
        let sources: Vec<&str> = node.depends_on.iter().map(|source| source.as_str()).collect();
        if sources.is_empty() { node.id.to_string() } else { format!("{}<{}", node.id, sources.join("+")) }
    };
    plan.nodes.iter().map(node).collect()
}

/// What must hold of every plan: ids are legal and unique, sources come first, somebody does each node.
fn sound(plan: &Plan) {
    assert!(!plan.nodes.is_empty() && !plan.goal.is_empty());
    for (at, node) in plan.nodes.iter().enumerate() {
        assert!(is_legal_id(&node.id), "{}", node.id);
        assert!(plan.nodes[..at].iter().all(|before| before.id != node.id), "{} twice", node.id);
        for source in &node.depends_on {
            assert!(plan.nodes[..at].iter().any(|before| before.id == *source), "{} follows {source}", node.id);
        }
    }
}

/// Runs a code node's JavaScript on the results of the nodes before it.
fn run_code(plan: &Plan, id: &str, results: &Value) -> Value {
    let node = plan.nodes.iter().find(|node| node.id.as_str() == id).unwrap();
    let NodeKind::Code(work) = &node.kind else { panic!("{id} is no code") };
    let deps: Map<String, Value> =
        node.depends_on.iter().map(|source| (source.to_string(), json!({ "output": results[source.as_str()] }))).collect();
    let script =
        format!("JSON.stringify(((deps, inputs) => {{ {} }})({}, {}))", work.code, Value::Object(deps), Value::Object(plan.inputs.clone()));
    let runtime = Runtime::new().unwrap();
    let text = Context::full(&runtime).unwrap().with(|context| {
        context.eval::<String, _>(script).unwrap_or_else(|_| panic!("{id}: {:?}", context.catch().as_exception().map(ToString::to_string)))
    });
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_first_demo_lists_ranks_reports_and_writes_behind_a_gate() {
    let planned = planned(DEMO);
    assert_eq!(template_of(&planned), "largest_files");
    assert_eq!(shape(&planned.plan), ["list_files", "rank<list_files", "totals<list_files", "report<rank+totals", "write_report<report"]);
    let inputs = json!({ "by": "lines", "count": 10, "glob": "*.rs", "order": "descending", "output": "longest.md", "path": "src" });
    assert_eq!(Value::Object(planned.plan.inputs.clone()), inputs);
    assert_eq!(planned.plan.goal, DEMO);
    assert!(planned.remarks.is_empty());
    let write = native::node_to_value(planned.plan.nodes.last().unwrap());
    assert_eq!((&write["tool"], &write["approve"]), (&json!("write_file"), &json!("before")));
    assert_eq!(write["args"], json!({ "path": "{{inputs.output}}", "content": "{{report}}" }));
}

#[test]
fn the_first_demo_reports_the_longest_files() {
    let plan = planned(DEMO).plan;
    let files: Vec<Value> =
        (1..=12).map(|n| json!({ "path": format!("src/f{n}.rs"), "type": "file", "size": n * 10, "lines": n })).collect();
    let mut results = json!({ "list_files": files });
    for id in ["rank", "totals", "report"] {
        results[id] = run_code(&plan, id, &results);
    }
    assert_eq!(results["totals"], json!({ "files": 12, "lines": 78, "bytes": 780 }));
    let report = results["report"].as_str().unwrap();
    assert!(
        report.starts_with("# Longest files\n\nThe 10 longest of 12 files that match `*.rs` in `src` (78 lines, 780 bytes in all).\n"),
        "{report}"
    );
    assert!(
        report.contains("| 1 | `src/f12.rs` | 12 | 120 |") && report.contains("| 10 | `src/f3.rs` |") && !report.contains("`src/f2.rs`")
    );
}

#[test]
fn the_first_demo_is_understood_in_other_words() {
    for (request, path, glob, count, by, output) in [
        ("show me the 5 biggest python files in lib and save to big.md", "lib", "*.py", 5, "size", Some("big.md")),
        ("what are the three largest files under .?", ".", "*", 3, "size", None),
        ("Which file in src is the longest?", "src", "*", 1, "lines", None),
        ("list the 20 longest *.ts files in ./web/app", "./web/app", "*.ts", 20, "lines", None),
        (
            "Find the top 20 TypeScript files by number of lines in the packages folder, then write them to reports/top.md",
            "packages",
            "*.{ts,tsx}",
            20,
            "lines",
            Some("reports/top.md"),
        ),
        (
            "please find the ten longest Rust source files in src/, and put the list into `out.md`",
            "src",
            "*.rs",
            10,
            "lines",
            Some("out.md"),
        ),
        ("longest files", ".", "*", 10, "lines", None),
        ("Give me the 7 longest .go files in this repo", ".", "*.go", 7, "lines", None),
        (
            "List the Rust files under src, count their lines and save the ten longest in longest.md.",
            "src",
            "*.rs",
            10,
            "lines",
            Some("longest.md"),
        ),
        (
            "Count the lines of all Rust files below src and write the ten longest ones to a file called longest.md",
            "src",
            "*.rs",
            10,
            "lines",
            Some("longest.md"),
        ),
    ] {
        let planned = planned(request);
        assert_eq!(template_of(&planned), "largest_files", "{request}");
        let inputs = &planned.plan.inputs;
        let found = (
            inputs["path"].as_str(),
            inputs["glob"].as_str(),
            inputs["count"].as_u64(),
            inputs["by"].as_str(),
            inputs.get("output").and_then(Value::as_str),
        );
        assert_eq!(found, (Some(path), Some(glob), Some(count), Some(by), output), "{request}");
        assert_eq!(planned.plan.nodes.iter().any(|node| node.id.as_str() == "write_report"), output.is_some(), "{request}");
        assert!(planned.remarks.is_empty(), "{request}: {:?}", shape(&planned.plan));
    }
}

#[test]
fn every_example_of_every_template_finds_it() {
    let mut wrong = Vec::new();
    for template in Template::shipped() {
        assert!(template.examples.len() >= 2, "{}", template.name);
        for example in &template.examples {
            let planned = planned(example);
            sound(&planned.plan);
            if template_of(&planned) != template.name || !planned.remarks.is_empty() {
                wrong.push(format!("{example}: {} instead of {}, {:?}", planned.origin, template.name, shape(&planned.plan)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A request, its template, and slots that it fills.
const SLOTS: &[(&str, &str, &str)] = &[
    ("Find all todos in src and write a report to todos.md", "find_todos", r#"{ "path": "src", "output": "todos.md", "glob": "*" }"#),
    ("Find every file that contains \"unsafe\" under src", "find_text", r#"{ "text": "unsafe", "path": "src" }"#),
    ("search for 'connection refused' in app.log", "find_text", r#"{ "text": "connection refused", "file": "app.log" }"#),
    (
        "grep `fn main` in the Rust files and save the result to mains.md",
        "find_text",
        r#"{ "text": "fn main", "glob": "*.rs", "output": "mains.md" }"#,
    ),
    (
        "Read docs/design.md and write a summary of it to summary.md",
        "summarize_file",
        r#"{ "file": "docs/design.md", "output": "summary.md" }"#,
    ),
    (
        "Analyze logs/app.log, group the errors, and write a digest to errors.md",
        "log_digest",
        r#"{ "file": "logs/app.log", "output": "errors.md" }"#,
    ),
    ("what is the average of each column in data/measurements.csv?", "csv_stats", r#"{ "file": "data/measurements.csv" }"#),
    ("Convert people.csv to JSON and save it as people.json", "csv_to_json", r#"{ "file": "people.csv", "output": "people.json" }"#),
    (
        "Get the field \"dependencies.react\" from package.json",
        "json_query",
        r#"{ "file": "package.json", "field": "dependencies.react" }"#,
    ),
    ("extract users.0.name from data/users.json", "json_query", r#"{ "file": "data/users.json", "field": "users.0.name" }"#),
    (
        "list all values of the key email in contacts.json and save them to emails.json",
        "json_query",
        r#"{ "field": "email", "output": "emails.json" }"#,
    ),
    (
        "diff old/config.toml with new/config.toml and write the differences to diff.md",
        "compare_files",
        r#"{ "first": "old/config.toml", "second": "new/config.toml", "output": "diff.md" }"#,
    ),
    ("Compare PostgreSQL and SQLite for a small web shop", "compare_topics", r#"{ "first": "PostgreSQL", "second": "SQLite" }"#),
    (
        "Compare heat pumps with gas heating and write the result to heating.md",
        "compare_topics",
        r#"{ "first": "heat pumps", "second": "gas heating", "output": "heating.md" }"#,
    ),
    ("Calculate (3 + 4) * 12.5", "calculate", r#"{ "expression": "(3 + 4) * 12.5" }"#),
    ("What is 15% of 240?", "calculate", r#"{ "expression": "15% of 240" }"#),
    ("compute 2^64 - 1 and save it to big.txt", "calculate", r#"{ "expression": "2^64 - 1", "output": "big.txt" }"#),
    ("Convert 5 miles to km", "calculate", r#"{ "expression": "5 miles to km" }"#),
    (
        "summarize example.com/news and save the summary to news.md",
        "fetch_summarize",
        r#"{ "url": "https://example.com/news", "output": "news.md" }"#,
    ),
    (
        "Research the history of the bicycle and write a report to bicycle.md",
        "research_report",
        r#"{ "topic": "the history of the bicycle", "output": "bicycle.md" }"#,
    ),
    ("write a report about electric ferries", "research_report", r#"{ "topic": "electric ferries" }"#),
    ("Audit the Python code under server for security problems", "review_code", r#"{ "path": "server", "glob": "*.py" }"#),
    ("Replace \"colour\" with \"color\" in README.md", "replace_text", r#"{ "old": "colour", "new": "color", "file": "README.md" }"#),
    ("rename oldName to newName in src/app.js", "replace_text", r#"{ "old": "oldName", "new": "newName", "file": "src/app.js" }"#),
    ("In notes.txt change every foo to bar", "replace_text", r#"{ "old": "foo", "new": "bar", "file": "notes.txt" }"#),
    ("run `cargo test --lib` and tell me why it fails", "run_tests", r#"{ "command": "cargo test --lib" }"#),
    ("execute npm test, then explain what is wrong", "run_tests", r#"{ "command": "npm test" }"#),
    (
        "Translate README.md into German and save it as README.de.md",
        "translate_file",
        r#"{ "file": "README.md", "output": "README.de.md" }"#,
    ),
];

#[test]
fn slots_are_taken_out_of_the_words() {
    for (request, template, slots) in SLOTS {
        let planned = planned(request);
        assert_eq!(template_of(&planned), *template, "{request}");
        let slots: Map<String, Value> = serde_json::from_str(slots).unwrap();
        for (slot, value) in slots {
            assert_eq!(planned.plan.inputs.get(&slot), Some(&value), "`{slot}` of: {request}");
        }
    }
}

#[test]
fn templates_leave_out_what_was_not_asked_for() {
    assert!(planned("Summarize README.md").plan.inputs.get("output").is_none());
    assert_eq!(shape(&planned("Summarize README.md").plan), ["read_file", "summarize<read_file"]);
    assert_eq!(
        shape(&planned("run `cargo test` and explain failures").plan),
        ["run_command", "verdict<run_command", "explain<run_command+verdict"]
    );
    assert_eq!(
        shape(&planned("Run the tests and explain any failure").plan),
        ["look_around", "choose_command<look_around", "run_command<choose_command", "verdict<run_command", "explain<run_command+verdict"]
    );
}

#[test]
fn what_a_template_does_not_do_is_added_behind_it() {
    let planned = planned("Find all todos in src, then email them to Ann");
    assert_eq!(template_of(&planned), "find_todos");
    assert_eq!(shape(&planned.plan), ["search", "report<search", "email_ann<report"]);
    assert_eq!(planned.remarks, ["one step beyond the template were added as steps for agents"]);
}

#[test]
fn free_requests_are_split_into_steps_with_a_synthesis() {
    let planned = planned("Research flights, hotels and restaurants in Rome");
    assert_eq!(
        shape(&planned.plan),
        [
            "research_flights_rome",
            "research_hotels_rome",
            "research_restaurants_rome",
            "answer<research_flights_rome+research_hotels_rome+research_restaurants_rome"
        ]
    );
    sound(&planned.plan);
}

#[test]
fn steps_follow_each_other_where_words_say_so() {
    let planned = planned("Ask me for a colour, then sketch a logo in it, and finally save it to logo.svg");
    assert_eq!(shape(&planned.plan), ["ask_operator", "sketch_logo<ask_operator", "write_file<sketch_logo"]);
    let write = native::node_to_value(planned.plan.nodes.last().unwrap());
    assert_eq!(write["args"], json!({ "path": "logo.svg", "content": "{{sketch_logo}}" }));
}

#[test]
fn lists_become_plans() {
    let planned = planned("Please do the following:\n1. Brainstorm names for a bakery\n2. Pick the best three\n3. Draft a slogan for each");
    assert_eq!(
        shape(&planned.plan),
        ["brainstorm_names_bakery", "pick_best_three<brainstorm_names_bakery", "draft_slogan<pick_best_three"]
    );
}

#[test]
fn no_request_ends_in_cannot() {
    let long = "Think about the following paragraph. ".repeat(3_000);
    for request in [
        "",
        " \n\t",
        "?",
        "...",
        "a",
        "hello",
        "42",
        "{{x}} {{inputs.y}} $OUTPUT[z]",
        "Schreibe ein Gedicht über den Herbst und dann übersetze es",
        "请帮我写一份报告，然后翻译成英文",
        "напиши отчёт о погоде, затем переведи его",
        "اكتب تقريرا",
        "🎉🎉🎉",
        "rm -rf /",
        "\"",
        "`",
        "''",
        "inputs",
        "deps and then nodes",
        "fix it",
        "What is the meaning of life?",
        "and and and then then",
        "- a\n- b",
        "1. \n2. ",
        "compare",
        "compare a",
        "calculate",
        "replace",
        "write to",
        "list the files under",
        "\u{0}\u{1b}[31mred",
        "ﷺ İstanbul'da dann ıı",
        long.as_str(),
    ] {
        let planned = planned(request);
        sound(&planned.plan);
        let again = native::plan_from_value(native::plan_to_value(&planned.plan)).unwrap();
        assert_eq!(again, planned.plan, "{request}");
        let bare = plan(request, &Catalog::default(), &[], &mut Told::default());
        sound(&bare.plan);
    }
}

#[test]
fn an_empty_request_asks_what_shall_be_done() {
    assert_eq!(shape(&planned("").plan), ["ask_request", "answer<ask_request"]);
}

#[test]
fn templates_whose_tools_are_missing_or_denied_are_not_used() {
    let mut catalog = catalog();
    for tool in catalog.tools.iter_mut().filter(|tool| tool.name == "list_directory") {
        tool.verdict = Verdict::Deny;
    }
    let planned = plan(DEMO, &catalog, &Template::shipped(), &mut Told::default());
    assert_eq!(planned.origin, "built-in planner, split into steps");
    sound(&planned.plan);
}

#[test]
fn every_shipped_template_is_good_and_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
    let mut there: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    there.sort();
    let listed: Vec<String> = shipped::SHIPPED.iter().map(|(file, _)| (*file).to_owned()).collect();
    assert_eq!(listed, there);
    assert!(listed.len() >= 12);
    for (file, text) in shipped::SHIPPED {
        let template = Template::parse(text, file).unwrap();
        assert_eq!(format!("{}.toml", template.name), *file);
    }
}

#[test]
fn a_projects_template_comes_first_and_a_bad_one_is_reported() {
    let (project, user) = (tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap());
    let put = |folder: &Path, name: &str, text: &str| {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    };
    let text = |what: &str| {
        format!("name = \"greet\"\ndescription = \"{what}\"\nmatch = [\"greet\"]\n[[nodes]]\nid = \"hi\"\ncode = \"return 1\"\n")
    };
    put(&user.path().join("plans"), "greet.toml", &text("user's"));
    let (templates, problems) = Template::load(project.path(), Some(user.path()));
    assert!(problems.is_empty());
    assert!(templates.iter().any(|template| template.description == "user's"));
    put(&project.path().join(".dagdeck/plans"), "greet.toml", &text("project's"));
    put(&project.path().join(".dagdeck/plans"), "bad.toml", "name = \"bad\"\nmatch = 3\n");
    put(&project.path().join(".dagdeck/plans"), "worse.toml", "name = \"w\"\ndescription = \"\"\nmatch = [\"x\"]\n[[nodes]]\nid = \"a\"\n");
    let (templates, problems) = Template::load(project.path(), Some(user.path()));
    assert!(templates.iter().any(|template| template.description == "project's"));
    assert_eq!(problems.len(), 2);
    assert!(problems[0].message.starts_with("line 2: "), "{}", problems[0]);
    assert!(problems[1].message.contains("no kind"), "{}", problems[1]);
}

#[test]
fn csv_columns_are_counted_and_converted() {
    let table = "name;price;sold\n\"A; \"\"x\"\"\";1.5;true\nB;2.5;false\nC;;true\n";
    let plan = planned("Compute statistics for sales.csv").plan;
    let mut results = json!({ "read_file": table });
    for id in ["parse", "statistics", "report"] {
        results[id] = run_code(&plan, id, &results);
    }
    assert_eq!(results["parse"]["rows"][0], json!(["A; \"x\"", "1.5", "true"]));
    assert_eq!(results["statistics"][1]["sum"], 4);
    assert!(results["report"].as_str().unwrap().contains("| price | 2 | 1 | 1.5 | 2.5 | 4 | 2 | 2 |"));
    let plan = planned("Convert people.csv to JSON and save it as people.json").plan;
    let converted = run_code(&plan, "convert", &json!({ "read_file": table }));
    assert_eq!(converted[2], json!({ "name": "C", "price": null, "sold": true }));
}

#[test]
fn differences_of_files_are_found() {
    let plan = planned("Compare a.txt and b.txt").plan;
    let mut results = json!({ "read_first": "one\ntwo\nthree\n", "read_second": "one\n2\nthree\nfour\n" });
    for id in ["compare", "report"] {
        results[id] = run_code(&plan, id, &results);
    }
    assert_eq!((&results["compare"]["removed"], &results["compare"]["added"]), (&json!(1), &json!(2)));
    assert!(results["report"].as_str().unwrap().contains("-     2  two\n+     2  2\n+     4  four"), "{}", results["report"]);
    let same = run_code(&plan, "compare", &json!({ "read_first": "x", "read_second": "x" }));
    assert_eq!(same["same"], true);
}

#[test]
fn logs_are_digested() {
    let plan = planned("Summarize the errors in server.log").plan;
    let log = "2026-01-01T10:00:00Z INFO up\n2026-01-01T10:00:01Z ERROR timeout after 31 ms\n2026-01-01T10:00:09Z ERROR timeout after 7 ms\nWARN slow\n";
    let mut results = json!({ "read_log": log });
    for id in ["count_levels", "group_errors", "report"] {
        results[id] = run_code(&plan, id, &results);
    }
    assert_eq!(results["count_levels"]["levels"]["error"], 2);
    assert_eq!(results["group_errors"][0]["count"], 2);
    assert!(results["report"].as_str().unwrap().contains("(lines 2 to 3)"));
}

#[test]
fn json_is_queried_by_path_and_by_key() {
    let plan = planned("extract users.0.name from data/users.json").plan;
    let data = json!({ "read_file": r#"{"users":[{"name":"Ann","email":"a@x"},{"name":"Bob","email":"b@x"}]}"# });
    assert_eq!(run_code(&plan, "query", &data), "Ann");
    let plan = planned("list all values of the key email in contacts.json and save them to emails.json").plan;
    assert_eq!(run_code(&plan, "query", &data), json!(["a@x", "b@x"]));
}

#[test]
fn other_reports_are_made() {
    let plan = planned("Find all todos in src and write a report to todos.md").plan;
    let found = json!({ "search": { "matches": [{ "path": "a.rs", "line": 3, "text": " // todo: x | y" }], "truncated": false } });
    assert!(run_code(&plan, "report", &found).as_str().unwrap().contains("## a.rs\n\n- line 3: // todo: x \\| y"));
    let plan = planned("Find every file that contains \"unsafe\" under src").plan;
    assert!(run_code(&plan, "report", &found).as_str().unwrap().contains("1 lines in 1 files"));
    let plan = planned("Count the lines by language in src and write them to lines.md").plan;
    let mut results =
        json!({ "list_files": [{ "path": "src/a.rs", "type": "file", "size": 5, "lines": 2 }, { "path": "src", "type": "directory" }] });
    results["count_by_kind"] = run_code(&plan, "count_by_kind", &results);
    assert!(run_code(&plan, "report", &results).as_str().unwrap().contains("| .rs | 1 | 2 | 5 |"));
    let plan = planned("Show the directory tree of src").plan;
    assert!(
        run_code(&plan, "draw_tree", &results).as_str().unwrap().starts_with("src\n└── a.rs  5 B"),
        "{}",
        run_code(&plan, "draw_tree", &results)
    );
    let plan = planned("Count the words in essay.txt").plan;
    let mut results = json!({ "read_file": "To be, or not to be" });
    results["count"] = run_code(&plan, "count", &results);
    assert_eq!((&results["count"]["words"], &results["count"]["top"][0]), (&json!(6), &json!({ "word": "be", "count": 2 })));
    assert!(run_code(&plan, "report", &results).as_str().unwrap().contains("| be | 2 |"));
    let plan = planned("Run the tests and explain any failure").plan;
    assert_eq!(run_code(&plan, "choose_command", &json!({ "look_around": [{ "path": "Cargo.toml" }] })), "cargo test");
    let verdict = run_code(&plan, "verdict", &json!({ "run_command": { "exit_code": 101, "stdout": "", "stderr": "x\n" } }));
    assert_eq!((&verdict["passed"], &verdict["tail"]), (&json!(false), &json!("x")));
    let plan = planned("rename oldName to newName in src/app.js").plan;
    let places = json!({ "find_places": { "matches": [{ "line": 1, "text": "oldName()" }], "truncated": false } });
    assert_eq!(run_code(&plan, "show_places", &places)[0]["after"], "newName()");
}

#[test]
fn command_lines_and_sums_are_taken_as_they_stand() {
    let only = |request: &str| native::node_to_value(&planned(request).plan.nodes[0]);
    assert_eq!(only("git status")["args"], json!({"command": "git status"}));
    assert_eq!(only("2+2")["args"], json!({"expression": "2+2"}));
    for prose in ["git is what?", "docker and its rivals", "1-2-3", "12.11.2026", "git"] {
        assert!(only(prose).get("agent").is_some(), "{prose}");
    }
}

#[test]
fn what_people_ask_of_a_project_goes_to_its_files_and_not_to_the_web() {
    for (request, template) in [
        ("Compare README.md with what the code does and list what is missing", "compare_with_code"),
        ("Compare PostgreSQL and SQLite for a small web shop", "compare_topics"),
        ("write a short report about the architecture of this project to report.md", "project_report"),
        ("rename README.md to READ.md", "rename_file"),
        ("rename oldName to newName in src/app.js", "replace_text"),
        ("which files are bigger than 20 KB?", "files_by_size"),
        ("count how many times the word dagdeck appears in README.md", "find_text"),
    ] {
        let planned = planned(request);
        assert_eq!(template_of(&planned), template, "{request}");
        let agents = planned.plan.nodes.iter().map(native::node_to_value).filter_map(|node| node["agent"].as_str().map(str::to_owned));
        assert!(template == "compare_topics" || agents.clone().all(|agent| agent != "web_researcher"), "{request}");
    }
    assert_eq!(shape(&planned("Zähle die Wörter in README.md").plan)[0], "read_file");
    let first = native::node_to_value(&planned("show me the first 20 lines of Cargo.toml").plan.nodes[0]);
    assert_eq!(first["args"], json!({"path": "Cargo.toml", "limit": 20}));
}

#[test]
fn a_rename_names_both_files_and_a_size_is_read_out_of_the_request() {
    let rename = planned("rename README.md to READ.md").plan;
    assert_eq!((&rename.inputs["old"], &rename.inputs["new"]), (&json!("README.md"), &json!("READ.md")));
    let sizes = planned("which files are bigger than 20 KB?").plan;
    let file = |path: &str, size: u64| json!({"type": "file", "path": path, "size": size, "lines": 3});
    let listed = json!({"list_files": [file("a", 25_000), file("b", 19_000), file("c", 90_000)]});
    let chosen = run_code(&sizes, "choose", &listed);
    assert_eq!(chosen["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect::<Vec<_>>(), ["c", "a"]);
    assert_eq!(chosen["limit"], "over 20000 bytes");
}
