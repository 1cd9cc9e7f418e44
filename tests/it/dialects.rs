//! Every plan in `tests/fixtures/plans`: a right one reads, and writing its own dialect gives an equal document, in JSON and YAML, also
//! by way of the native form, slips included; a wrong one gives the error that its sidecar `<name>.expect.json` tells, with place and words.

use crate::support::program::Program;
use dagdeck::plan::dialect::{Format, Syntax, read, write, write_as};
use dagdeck::plan::edit::Edit;
use dagdeck::plan::{Catalog, Dialect, Plan, PlanSource, dialect};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{fs, path::Path, path::PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/plans");

/// One plan: its dialect's name, its file's name, its text, and what its sidecar tells.
struct Fixture {
    dialect: String,
    name: String,
    text: String,
    expect: Option<Value>,
}

fn fixtures() -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    for folder in sorted(Path::new(ROOT)) {
        for file in sorted(&folder).into_iter().filter(|file| !file.to_string_lossy().ends_with(".expect.json")) {
            let sidecar = fs::read_to_string(file.with_extension("expect.json")).ok();
            fixtures.push(Fixture {
                dialect: folder.file_name().unwrap().to_string_lossy().into_owned(),
                name: file.file_name().unwrap().to_string_lossy().into_owned(),
                text: fs::read_to_string(&file).unwrap(),
                expect: sidecar.map(|text| serde_json::from_str(&text).unwrap()),
            });
        }
    }
    fixtures
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

impl Fixture {
    fn place(&self) -> String {
        format!("{}/{}", self.dialect, self.name)
    }

    fn error(&self) -> Option<&str> {
        self.expect.as_ref()?.get("error")?.as_str()
    }
}

/// The document as the reader of another program would see it: whole numbers are the same with and without a point.
fn document(text: &str, name: &str) -> Value {
    plain(exact(text, name))
}

fn exact(text: &str, name: &str) -> Value {
    if name.ends_with(".json") { serde_json::from_str(text).unwrap() } else { serde_saphyr::from_str(text).unwrap() }
}

fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(list) => list.into_iter().map(plain).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, plain(value))).collect(),
        other => other,
    }
}

#[test]
fn every_dialect_has_ten_fixtures_beside_the_seeds_own() {
    let fixtures = fixtures();
    for format in Format::all().filter(|format| !format.is_drawing()) {
        let of = fixtures.iter().filter(|fixture| fixture.dialect == format.name() && !fixture.name.starts_with("seed_"));
        assert!(of.count() >= 10, "{}", format.name());
    }
}

#[test]
fn the_published_schema_takes_what_the_reader_takes() {
    let schema = jsonschema::options().build(&dagdeck::plan::schema()).unwrap();
    for fixture in
        fixtures().iter().filter(|fixture| fixture.dialect == "native" && fixture.error().is_none() && !fixture.name.starts_with("slip_"))
    {
        let document = document(&fixture.text, &fixture.name);
        let errors: Vec<String> = schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", fixture.place());
    }
}

#[test]
fn a_right_plan_is_read_and_written_back_equal() {
    let mut unequal = Vec::new();
    for fixture in fixtures().iter().filter(|fixture| fixture.error().is_none()) {
        let place = fixture.place();
        let format: Format = fixture.dialect.parse().unwrap();
        let (plan, shape) = read(&fixture.text, &fixture.name).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(shape.name(), fixture.dialect, "{place}");
        let expected = document(&fixture.text, &fixture.name);
        let json = write(&plan, format);
        let yaml = write_as(&plan, format, Syntax::Yaml, &Catalog::default()).text;
        let native = write(&plan, Format::Document(Dialect::Native));
        let again = |text: &str, name: &str| read(text, name).map(|(plan, _)| plan);
        for (way, equal) in [
            ("as JSON", document(&json.text, "x.json") == expected),
            ("losing nothing", json.lost.is_empty() && native.lost.is_empty()),
            ("as YAML", document(&yaml, "x.yaml") == expected),
            ("by way of YAML", again(&yaml, "x.yaml").as_ref() == Ok(&plan)),
            ("by way of native", again(&native.text, "x.json").as_ref() == Ok(&plan)),
        ] {
            if !equal {
                unequal.push(format!("{place} {way}: {:?}\n{}\n{}", json.lost, json.text, native.text));
            }
        }
    }
    assert!(unequal.is_empty(), "{}", unequal.join("\n"));
}

#[test]
fn an_edit_changes_nothing_else_of_the_document() {
    let cases = [
        (
            json!({"inputs": {}, "nodes": [
                {"depends_on": [], "tool": null, "id": "a", "retry": {"attempts": 2}, "agent": "w", "timeout_s": 3, "objective": "x"},
                {"id": "b", "ask": "Go on?", "depends_on": ["a"]}, {"note": "", "value": 1, "id": "c"}
            ], "edges": [], "metadata": {}}),
            json!({"inputs": {}, "nodes": [
                {"depends_on": [], "tool": null, "id": "z", "retry": {"attempts": 2}, "agent": "w", "timeout_s": 3, "objective": "x"},
                {"id": "b", "ask": "Go on?", "depends_on": ["z"]}
            ], "edges": [], "metadata": {}}),
        ),
        (
            json!({"stages": [{"type": "agent", "agent_name": "w", "id": "a"}, {"id": "b", "type": "DECISION", "decide": "a.result"},
                {"id": "c", "type": "MERGE"}], "edges": [{"edge_type": "x", "to_stage_id": "b", "from_stage_id": "a"}]}),
            json!({"stages": [{"type": "agent", "agent_name": "w", "id": "z"}, {"id": "b", "type": "DECISION", "decide": "z.result"}],
                "edges": [{"edge_type": "x", "to_stage_id": "b", "from_stage_id": "z"}]}),
        ),
        (
            json!({"tasks": [{"timeout": 1500.0, "id": "a", "tool": "x", "arguments": {}, "depends_on": null},
                {"depends_on": ["a"], "id": "b", "tool": "y"}, {"id": "c", "tool": "y"}]}),
            json!({"tasks": [{"timeout": 1500.0, "id": "z", "tool": "x", "arguments": {}, "depends_on": null},
                {"depends_on": ["z"], "id": "b", "tool": "y"}]}),
        ),
    ];
    for (document, expected) in cases {
        let (mut plan, shape) = read(&document.to_string(), "x.json").unwrap();
        Edit::RenameNode { from: "a".into(), to: "z".into() }.apply(&mut plan).unwrap();
        Edit::RemoveNode { id: "c".into() }.apply(&mut plan).unwrap();
        let written = write(&plan, shape.name().parse().unwrap()).text;
        assert_eq!(exact(&written, "x.json").to_string(), expected.to_string());
    }
}

#[test]
fn a_stage_that_gives_only_its_type_follows_what_leads_into_it() {
    let stage = |id: &str, kind: &str| json!({"stage_id": id, "type": kind});
    let document = json!({"stages": [stage("a", "AGENT"), stage("b", "AGENT"), stage("c", "TRANSFORM"), stage("d", "DECISION")]});
    let (mut plan, _) = read(&document.to_string(), "x.json").unwrap();
    let edits = [Edit::RemoveNode { id: "b".into() }, Edit::AddDependency { node: "c".into(), on: "a".into() }];
    let undo = Edit::batch(edits).apply(&mut plan).unwrap();
    let written = exact(&write(&plan, Format::Document(Dialect::Stages)).text, "x.json");
    assert_eq!(written, json!({"stages": [stage("a", "AGENT"), stage("c", "TRANSFORM"), stage("d", "DECISION")]}));
    assert_eq!(read(&written.to_string(), "x.json").unwrap().0, plan, "and `c` passes on the result of `a`");
    undo.replay(&mut plan).unwrap();
    assert_eq!(read(&document.to_string(), "x.json").unwrap().0, plan);
}

#[test]
fn a_wrong_plan_is_refused_with_its_place() {
    for fixture in fixtures() {
        let place = fixture.place();
        let found = read(&fixture.text, &fixture.name).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), fixture.error(), "{place}");
        assert_eq!(fixture.name.starts_with("wrong_"), found.is_some(), "{place} is called what it is");
    }
}

/// What stands in the place of another value.
fn odd(choice: usize) -> Value {
    let odd = [
        Value::Null,
        Value::Bool(false),
        Value::Bool(true),
        json!(""),
        json!("x"),
        json!("{{a.result}}"),
        json!([]),
        json!(["a"]),
        json!({}),
        json!({"a": null}),
        json!(0),
        json!(2.5),
        json!("line\n  two\n"),
        json!("\u{1b}[31m yes: \u{202e}#\u{e0041}"),
    ];
    odd[choice % odd.len()].clone()
}

/// Names that mean something somewhere.
const NAMES: [&str; 24] = [
    "id",
    "agent",
    "objective",
    "depends_on",
    "dependencies",
    "tool",
    "query",
    "arguments",
    "type",
    "code",
    "agent_role",
    "timeout",
    "agent_name",
    "is_entry",
    "skip_condition",
    "condition",
    "stage_id",
    "agent_id",
    "tool_id",
    "value",
    "edges",
    "metadata",
    "goal",
    "new field",
];

/// Changes one value of a document: puts another in its place, takes it away, copies it, or adds one.
fn mutate(document: &mut Value, at: usize, how: usize) {
    let count = size(document);
    let Some(place) = nth(document, &mut (at % count)) else { return };
    match (how % 4, place) {
        (1, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(how / 4 % map.len()).cloned().unwrap();
            map.remove(&key);
        }
        (2, Value::Array(list)) if !list.is_empty() => list.push(list[how / 4 % list.len()].clone()),
        (3, Value::Object(map)) => drop(map.insert(NAMES[how / 4 % NAMES.len()].into(), odd(at))),
        (_, place) => *place = odd(how / 4),
    }
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|inner| nth(inner, at)),
        Value::Object(map) => map.values_mut().find_map(|inner| nth(inner, at)),
        _ => None,
    }
}

/// Every form of a plan: all must be made, and the documents among them must be read again.
fn write_all(plan: &Plan, place: &str) {
    for format in Format::all() {
        for syntax in [Syntax::Json, Syntax::Yaml] {
            let written = write_as(plan, format, syntax, &Catalog::default());
            let name = if syntax == Syntax::Json { "x.json" } else { "x.yaml" };
            // Another plan of the text has no path in this one.
            let is_said = |path: &str, reason: &str| !path.is_empty() && !reason.is_empty() || reason.contains(" plans: ");
            assert!(written.lost.iter().all(|loss| is_said(&loss.path, &loss.reason)), "{place}");
            if !format.is_drawing() {
                let again = read(&written.text, name);
                assert!(again.is_ok(), "{place} as {}: {again:?}\n{}", format.name(), written.text);
            }
        }
    }
}

/// What a plan says, without its reader's notes: a writer with an order and names of its own makes others.
fn without_notes(plan: &Plan) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.shift_remove("as_written");
                map.values_mut().for_each(clear);
            }
            Value::Array(list) => list.iter_mut().for_each(clear),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut value = dialect::plan_to_value(plan);
    clear(&mut value);
    value
}

/// A plan that doesn't know its text.
fn sourceless(plan: &Plan) -> Plan {
    Plan { source: PlanSource::default(), ..plan.clone() }
}

proptest! {
    #[test]
    fn reading_then_writing_is_equal(at in any::<prop::sample::Index>(), changes in prop::collection::vec((0..10_000_usize, 0..10_000_usize), 1..5), around in 0..8_usize) {
        let fixtures: Vec<Fixture> = fixtures().into_iter().filter(|fixture| fixture.error().is_none()).collect();
        let fixture = at.get(&fixtures);
        let mut value = exact(&fixture.text, &fixture.name);
        changes.iter().for_each(|(at, how)| mutate(&mut value, *at, *how));
        value = match around {
            0 => json!({ "plan": value }),
            1 => json!({ "title": "t", "a plan": value, "n": 2 }),
            _ => value,
        };
        let text = value.to_string();
        let place = format!("{} as {text}", fixture.place());
        match read(&text, "x.json") {
            Ok((plan, shape)) => {
                let format: Format = shape.name().parse().unwrap();
                let written = write(&plan, format);
                // As texts, so that the order of fields counts, and 3 is not 3.0.
                prop_assert_eq!(exact(&written.text, "x.json").to_string(), text, "{}", place);
                prop_assert_eq!(&written.lost, &[], "{}", place);
                let canonical = |plan: &Plan| exact(&write(&sourceless(plan), format).text, "x.json");
                let again = read(&canonical(&plan).to_string(), "x.json").map_err(|error| TestCaseError::fail(format!("{place}: {error}")))?.0;
                prop_assert_eq!(without_notes(&again), without_notes(&plan), "{}", place);
                prop_assert_eq!(canonical(&again), canonical(&plan), "{}", place);
                for (nth, node) in plan.nodes.iter().enumerate() {
                    let mut edited = plan.clone();
                    if let Ok(undo) = (Edit::RemoveNode { id: node.id.clone() }).apply(&mut edited) {
                        if nth == changes[0].0 % plan.nodes.len() {
                            write_all(&edited, &place);
                        }
                        undo.replay(&mut edited).unwrap();
                        prop_assert_eq!(&write(&edited, format).text, &written.text, "{}", place);
                    }
                }
                prop_assert_eq!(&read(&write(&plan, Format::Document(Dialect::Native)).text, "x.json").unwrap().0, &plan, "{}", place);
                write_all(&plan, &place);
            }
            Err(error) => prop_assert!(error.at.is_some() && !error.message.is_empty(), "{place}: {error}"),
        }
    }

    #[test]
    fn broken_texts_are_refused_without_a_panic(at in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), copied in 0..60_usize) {
        let fixtures = fixtures();
        let fixture = at.get(&fixtures);
        let mut bytes = fixture.text.clone().into_bytes();
        bytes.push(b'\n');
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let from = cut.index(bytes.len());
        let twice = bytes[from..bytes.len().min(from + copied)].to_vec();
        let whole = [&bytes[..from], &twice, &bytes[from..]].concat();
        for bytes in [&bytes[..from], &whole] {
            let text = String::from_utf8_lossy(bytes);
            for name in ["x.json", "x.yaml", "-"] {
                match read(&text, name) {
                    Ok((plan, _)) => write_all(&plan, &text),
                    Err(error) => prop_assert!(!error.message.is_empty()),
                }
            }
        }
    }
}

#[test]
fn texts_that_would_swell_or_sink_are_refused() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..30 {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    laughs.push_str("nodes: *a29\n");
    let cases = [
        ("x.yaml", laughs),
        ("x.yaml", "[".repeat(10_000)),
        ("x.yaml", "nodes: ".to_owned() + &"[".repeat(10_000) + &"]".repeat(10_000)),
        ("x.yaml", (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("x.yaml", "- ".repeat(10_000) + "a"),
        ("x.yaml", "nodes: &a [*a]".into()),
        ("x.json", "[".repeat(10_000)),
        ("x.json", "{\"nodes\":".repeat(10_000)),
    ];
    for (name, text) in cases {
        let error = read(&text, name).unwrap_err();
        assert!(!error.message.is_empty() && error.message.len() < 200, "{error}");
    }
    let deep = "{\"stages\":".to_owned() + &"[".repeat(100) + &"]".repeat(100) + "}";
    assert_eq!(read(&deep, "x.json").unwrap().0.nodes.len(), 1);
}

#[test]
fn every_example_in_the_documents_is_a_plan_without_errors_that_runs_to_its_end() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/plans.md")).unwrap();
    let examples: Vec<&str> = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 2);
    for example in examples {
        let program = Program::new();
        program.file("plan.json", example);
        // Nobody is there to go on from a breakpoint, or to say yes.
        let stops = if ["\"breakpoint\"", "\"approve\""].iter().any(|field| example.contains(field)) { 7 } else { 0 };
        for (verb, code) in [("validate", 0), ("run", stops)] {
            let ended = program.run(&[verb, "plan.json"]);
            assert_eq!(ended.code, code, "{verb}: {ended:?}");
        }
    }
}
