//! References: types are kept, text is rendered, results are data, and what is missing is told by name.

use super::reference::*;
use super::{NameScope, NodeValue, Path, PlanNames, Root};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

struct ReferenceWorld {
    results: Value,
    inputs: Map<String, Value>,
}

impl NameScope for ReferenceWorld {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        if id == "gone" {
            return Some(NodeValue::default());
        }
        self.results.get(id).map(|result| NodeValue { result: Some(result), status: "succeeded", error: None })
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.inputs.get(name)
    }

    fn inputs(&self) -> Map<String, Value> {
        self.inputs.clone()
    }
}

fn world() -> ReferenceWorld {
    ReferenceWorld {
        results: json!({
            "a": {"n": 3, "list": [{"x": "y"}], "some-field": true, "text": "T"},
            "b-c": "{{a.n}} \\{{ $OUTPUT[a]",
            "num": 4.5
        }),
        inputs: json!({"name": "Ada", "a-1": "input"}).as_object().unwrap().clone(),
    }
}

fn resolved(value: Value) -> Result<Value, String> {
    resolve(&value, &world()).map_err(|error| error.to_string())
}

#[test]
fn a_reference_alone_keeps_its_type() {
    assert_eq!(resolved(json!("{{a}}")).unwrap(), world().results["a"]);
    assert_eq!(resolved(json!({"k": [" {{ a.n }} ", "$OUTPUT[num]", "{{num}}"]})).unwrap(), json!({"k": [3, 4.5, 4.5]}));
    assert_eq!(resolved(json!("{{a.result.list.0.x}}")).unwrap(), json!("y"));
    assert_eq!(resolved(json!("{{a.some-field}}")).unwrap(), json!(true));
    assert_eq!(resolved(json!("{{ a.n + 1 }}")).unwrap(), json!(4));
    assert_eq!(resolved(json!("{{inputs.name}}")).unwrap(), json!("Ada"));
    assert_eq!(resolved(json!("{{name}}")).unwrap(), json!("Ada"));
    assert_eq!(resolved(json!("{{deps[\"a\"].output.n}}")).unwrap(), json!(3));
}

#[test]
fn a_path_behind_an_output_means_the_field() {
    assert_eq!(resolved(json!("$OUTPUT[a].n")).unwrap(), json!(3));
    assert_eq!(resolved(json!("$OUTPUT[a].list.0.x is $OUTPUT['num'].")).unwrap(), json!("y is 4.5."));
    assert_eq!(
        resolved(json!("$OUTPUT[a].nope")).unwrap_err(),
        "`$OUTPUT[a].nope`: `nodes[\"a\"].result.nope` has no `nope`: the object has `n`, `list`, `some-field`, `text`"
    );
    assert_eq!(rename_text("$OUTPUT[a].n, $OUTPUT[num].a", "a", "b", &world()), "$OUTPUT[b].n, $OUTPUT[num].a");
}

#[test]
fn renaming_an_id_that_had_to_be_made_legal_carries_its_references_along() {
    let inputs = Map::new();
    let names = PlanNames::new(["get age", "age"], &inputs);
    let text = "{{get age.result}}, {{ get age }}, {{get ages}}, {{age}}";
    assert_eq!(rename_text(text, "get age", "get_age", &names), "{{get_age.result}}, {{ get_age }}, {{get ages}}, {{age}}");
}

#[test]
fn inside_text_a_reference_is_rendered() {
    let text = resolve_text("n={{a.n}}, list={{a.list}}, t={{a.text}}; {{gone}}{{gone.result.deep}}.", &world()).unwrap();
    assert_eq!(text, "n=3, list=[{\"x\":\"y\"}], t=T; .");
    assert_eq!(resolved(json!("{{gone}}")).unwrap(), Value::Null);
    assert_eq!(resolve_text("see $OUTPUT[a]{{name}}", &world()).unwrap(), format!("see {}Ada", world().results["a"]));
}

#[test]
fn a_result_is_never_expanded_again() {
    let result = world().results["b-c"].clone();
    assert_eq!(resolved(json!("{{b-c}}")).unwrap(), result);
    assert_eq!(resolve_text("<{{b-c}}>", &world()).unwrap(), format!("<{}>", result.as_str().unwrap()));
}

#[test]
fn escapes_and_open_braces_are_text() {
    for (text, expected) in [
        ("\\{{a}}", "{{a}}"),
        ("{{", "{{"),
        ("{{ }} {{}}", "{{ }} {{}}"),
        ("{ {a} } $OUTPUT[ $OUTPUT[a b] \\ é", "{ {a} } $OUTPUT[ $OUTPUT[a b] \\ é"),
        ("{{ 'a}}b' }}", "a}}b"),
    ] {
        assert_eq!(resolve_text(text, &world()).unwrap(), expected);
    }
}

#[test]
fn what_is_missing_is_named() {
    let cases = [
        ("x {{a.nope.deep}}", "`{{a.nope.deep}}`: `a.nope.deep` has no `nope`: the object has `n`, `list`, `some-field`, `text`"),
        ("{{a.list.7}}", "`{{a.list.7}}`: `a.list.7` has no `7`: the list has 1 entries"),
        ("{{num.x}}", "`{{num.x}}`: `num.x` has no `x`: it is a number, not an object"),
        ("{{nobody}}", "`{{nobody}}`: `nobody` is neither a node nor an input of the plan"),
        ("{{inputs.age}}", "`{{inputs.age}}`: the plan has no input `age`"),
        ("$OUTPUT[zz]", "`$OUTPUT[zz]`: there is no node `zz`"),
        ("{{a b}}", "`{{a b}}`: expected an operator or the end, found `b` at character 3"),
    ];
    for (text, message) in cases {
        assert_eq!(resolved(json!(text)), Err(message.to_owned()));
    }
}

#[test]
fn references_are_listed_with_their_places() {
    let value = json!({"x": "say {{b-c.result}} to $OUTPUT[a]", "y": [1, "{{ a.n > num }}", "{{(}}"]});
    let found = references(&value, &world());
    let nodes: Vec<Vec<Option<&str>>> = found.iter().map(|r| r.paths.iter().map(Path::node).collect()).collect();
    assert_eq!(nodes, [vec![Some("b-c")], vec![Some("a")], vec![Some("a"), Some("num")], vec![]]);
    assert_eq!(found[0].span, 4..18);
    assert!(found[3].error.is_some());
    assert_eq!(references_in_text("{{a-1}}", &world())[0].paths[0].root, Root::Node("a".into()));
    assert!(has_references(&value) && !has_references(&json!(["\\{{a}}", 3])));
}

#[test]
fn many_unclosed_braces_are_read_quickly() {
    let text = "{{$OUTPUT[".repeat(200_000);
    assert_eq!(resolve_text(&text, &world()).unwrap(), text);
}

proptest! {
    #[test]
    fn any_text_gives_a_value_or_an_error_and_text_without_marks_stays_as_it_is(text in "[{}$\\[\\]a-c. OUTP'\\\\é|]{0,60}") {
        let _ = resolve_text(&text, &world());
        let _ = resolve(&Value::String(text.clone()), &world());
        if references_in_text(&text, &world()).is_empty() && !text.contains("\\{{") {
            prop_assert_eq!(resolve_text(&text, &world()).unwrap(), text);
        }
    }
}
