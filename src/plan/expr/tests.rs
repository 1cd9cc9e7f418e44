//! The expression language: values, names, missing paths, errors, and hostile text.

use super::*;
use crate::plan::{NodeValue, PlanNames};
use proptest::prelude::*;
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// Nodes with results, and inputs.
pub(crate) struct ExprWorld {
    nodes: BTreeMap<&'static str, Option<Value>>,
    inputs: Map<String, Value>,
}

impl NameScope for ExprWorld {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        let result = self.nodes.get(id)?.as_ref();
        Some(NodeValue { result, status: if result.is_some() { "succeeded" } else { "skipped" }, error: None })
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.inputs.get(name)
    }

    fn inputs(&self) -> Map<String, Value> {
        self.inputs.clone()
    }
}

pub(crate) fn world() -> ExprWorld {
    let nodes = [
        ("analysis", Some(json!({"score": 0.9, "tags": ["a", "b"], "name": "Ada", "output": 7}))),
        ("node-greeter", Some(json!("hello"))),
        ("node", Some(json!(5))),
        ("not-found", Some(json!(404))),
        ("2nd", Some(json!({"n": 2}))),
        ("gone", None),
        ("city", Some(json!("from node"))),
    ];
    let inputs = json!({"city": "from input", "flags": {"skip_meal": true, "late": false}, "n": 3, "dash-ed": 9});
    ExprWorld { nodes: nodes.into_iter().collect(), inputs: inputs.as_object().unwrap().clone() }
}

fn check_eval(text: &str, expected: Value) {
    assert_eq!(eval(text, &world()).map_err(|e| e.to_string()), Ok(expected), "{text}");
}

#[test]
fn values_and_operators() {
    let cases = [
        ("1 + 2 * 3", json!(7)),
        ("(1 + 2) * 3", json!(9)),
        ("7 / 2", json!(3.5)),
        ("8 / 2", json!(4.0)),
        ("8 / 2 == 4", json!(true)),
        ("2 * -3 - -1", json!(-5)),
        ("not 1 > 2 and not (1 == 2)", json!(true)),
        ("7 // 2", json!(3)),
        ("-7 // 2", json!(-4)),
        ("7 // -2", json!(-4)),
        ("-7 % 3", json!(2)),
        ("10 - 2 - 3", json!(5)),
        ("1.5e3", json!(1500.0)),
        ("'a' + \"b\" ~ 1", json!("ab1")),
        ("[1, 2] + [3]", json!([1, 2, 3])),
        ("1 == 1.0 and not 1 == 2", json!(true)),
        ("2 in [1, 2] and 'x' not in 'abc'", json!(true)),
        ("1 < 2 && !(2 <= 1) || false", json!(true)),
        ("'yes' if n > 2 else 'no'", json!("yes")),
        ("true or missing.thing", json!(true)),
        ("18446744073709551615", json!(u64::MAX)),
        ("{{ n + 1 }}", json!(4)),
        ("'it\\'s'", json!("it's")),
        ("'a' ~ 2 * 3 ~ null", json!("a6")),
        ("[[1, 2], [3]][0][-1]", json!(2)),
        ("[1, [2,],][1][0]", json!(2)),
        ("[] or ''", json!("")),
        ("'x' if n > 9", json!(null)),
        ("'{{ }} {% x %} {# #}'", json!("{{ }} {% x %} {# #}")),
        ("-7 // 2 * 2 + -7 % 2 == -7", json!(true)),
        ("[1, null] == [1, null]", json!(true)),
    ];
    for (text, value) in cases {
        check_eval(text, value);
    }
}

#[test]
fn a_name_is_a_node_first_and_the_longest_known_id_wins() {
    let cases = [
        ("node-greeter.result", json!("hello")),
        ("node-greeter", json!("hello")),
        ("node-1", json!(4)),
        ("node - 1", json!(4)),
        ("not-found == 404", json!(true)),
        ("not not-found", json!(false)),
        ("city", json!("from node")),
        ("inputs.city", json!("from input")),
        ("dash-ed + 1", json!(10)),
        ("2nd.n", json!(2)),
        ("analysis.result.score > 0.8", json!(true)),
        ("analysis.tags.1", json!("b")),
        ("analysis.tags[-1]", json!("b")),
        ("analysis['tags'][0]", json!("a")),
        ("analysis.tags[n - 3]", json!("a")),
        ("deps[\"node-greeter\"].output", json!("hello")),
        ("deps.node-greeter.output", json!("hello")),
        ("nodes['analysis'].output.score", json!(0.9)),
        ("analysis.output", json!(7)),
        ("nodes.analysis.status", json!("succeeded")),
        ("nodes.gone.status", json!("skipped")),
        ("flags.skip_meal", json!(true)),
    ];
    for (text, value) in cases {
        check_eval(text, value);
    }
}

#[test]
fn a_missing_path_is_false_and_neither_less_nor_greater() {
    for text in [
        "missing",
        "missing.field",
        "analysis.result.nothing",
        "analysis.nothing < 1",
        "analysis.nothing > 1",
        "analysis.nothing + 1 > 0",
        "gone",
        "gone.result.x <= 0",
        "deps.gone.output",
        "deps['nobody'].output",
        "flags.late",
        "'x' in missing",
        "missing == 'x'",
        "missing <= missing",
        "missing >= null",
        "missing * 2 >= 0",
        "1 > gone",
        "gone / 2 < 1 or 1 - gone // 2 < 1",
        "missing + 1",
        "missing[0].x[1]",
        "missing in 'text'",
        "missing in missing",
        "not (missing < 1) and missing > 1",
    ] {
        assert_eq!(truthy(text, &world()), Ok(false), "{text}");
    }
    assert_eq!(truthy("not missing and missing == null and length(missing) == 0", &world()), Ok(true));
    assert_eq!(truthy("missing + 1 > 0 or n > 2", &world()), Ok(true), "one null doesn't end the whole condition");
    assert_eq!(eval("missing + 1", &world()), Ok(Value::Null));
    let strict = Expr::parse("analysis.nothing + 1", &world()).unwrap().eval(&world(), OnMissing::Error);
    let words = "`analysis.nothing` has no `nothing`: the object has `score`, `tags`, `name`, `output`";
    assert_eq!(strict, Err(ExprError::Missing(words.into())));
}

#[test]
fn functions_work_as_calls_and_as_filters() {
    let cases = [
        ("length(analysis.tags)", json!(2)),
        ("analysis.tags | length > 1", json!(true)),
        ("analysis.tags | join(', ')", json!("a, b")),
        ("analysis.name | lower | starts_with('ad')", json!(true)),
        ("contains(analysis.tags, 'a') and 'score' in analysis", json!(true)),
        ("replace('a-b', '-', '+')", json!("a+b")),
        ("split('a,b', ',')", json!(["a", "b"])),
        ("slice('hello', 1, -1)", json!("ell")),
        ("slice([1, 2, 3], -2)", json!([2, 3])),
        ("sort([3, 1, 2]) | first", json!(1)),
        ("unique([1, 1.0, 2]) | length", json!(2)),
        ("sum([1, 2, 3])", json!(6)),
        ("max(1, 5, 3) - min([4, 2])", json!(3)),
        ("round(2.345, 2)", json!(2.35)),
        ("round(2.5)", json!(3)),
        ("int('42') + int(1.6)", json!(44)),
        ("float('1.5')", json!(1.5)),
        ("float('x') | default(0)", json!(0)),
        ("json([1, 'a'])", json!("[1,\"a\"]")),
        ("string(1.0) ~ string(null)", json!("1.0")),
        ("keys(flags) | join(' ')", json!("skip_meal late")),
        ("missing | upper", json!(null)),
        ("abs(-3)", json!(3)),
        ("sort(['b', 'A', 'a', null]) | json", json!("[\"A\",\"a\",\"b\",null]")),
        ("max([]) == null and min([null, 2]) == 2", json!(true)),
        ("values(flags) | first", json!(true)),
        ("reverse('abc') ~ last([1, 2])", json!("cba2")),
    ];
    for (text, value) in cases {
        check_eval(text, value);
    }
}

#[test]
fn errors_say_what_and_where() {
    let cases = [
        ("", "expected a value, found the end at character 1"),
        ("a >", "expected a value, found the end at character 4"),
        ("a b", "expected an operator or the end, found `b` at character 3"),
        ("(1", "expected `)`, found the end at character 3"),
        ("1 < 2 < 3", "comparisons don't chain, use `and` at character 7"),
        ("x.lower()", "only built-in functions can be called at character 8"),
        ("exec('rm')", "there is no function `exec` at character 1"),
        ("split()", "`split` takes 1 to 2 values, not 0 at character 1"),
        ("'open", "a text has no closing quote at character 1"),
        ("deps", "expected a node after `deps`, as in `deps[\"id\"]` at character 5"),
        ("1 else 2", "unexpected input after expression at character 3"),
        ("[1, , 2]", "expected a value, found `,` at character 5"),
        ("(1, 2)", "expected an operator or the end, found `,` at character 3"),
        ("length(1", "expected `)`, found the end at character 9"),
        ("x[1)", "expected an operator or the end, found `)` at character 4"),
        ("n > 1 and", "expected a value, found the end at character 10"),
        ("analysis ? 1 : 2", "expected an operator or the end, found `?` at character 10"),
        ("é", "expected a value, found `é` at character 1"),
        ("n > 'é' ) + 1", "expected an operator or the end, found `)` at character 9"),
        ("n = 1", "expected an operator or the end, found `=` at character 3"),
        ("n is defined", "expected an operator or the end, found `is` at character 3"),
        ("2 ** 3", "expected a value, found `*` at character 4"),
        ("{% for x in y %}", "expected a value, found `{` at character 1"),
        ("12abc", "expected an operator or the end, found `abc` at character 3"),
    ];
    for (text, message) in cases {
        assert_eq!(Expr::parse(text, &world()).map(|_| ()).unwrap_err().to_string(), message, "{text}");
    }
    assert_eq!(
        eval("'a' < 1", &world()).unwrap_err().to_string(),
        "text can't be compared with a number; convert with `float(x)` or `string(x)`"
    );
    assert_eq!(eval("1 / 0", &world()).unwrap_err().to_string(), "unable to calculate 1 / 0");
    assert_eq!(eval("city * 3", &world()).unwrap_err().to_string(), "can't calculate with text");
    assert!(matches!(Expr::parse(&"x".repeat(MAX_TEXT + 1), &world()), Err(ExprError::TooMuch(_))));
}

#[test]
fn the_output_is_capped() {
    let big = "x".repeat(MAX_OUTPUT / 2 + 1);
    let world = ExprWorld { nodes: [("a", Some(json!(big)))].into_iter().collect(), inputs: Map::new() };
    for text in ["a ~ a", "a + a", "join([a, a])", "replace(a, 'x', 'yyy')", "upper(a) ~ a"] {
        assert!(matches!(eval(text, &world), Err(ExprError::TooMuch(_))), "{text}");
    }
}

#[test]
fn nothing_repeats_grows_or_reaches_outside() {
    let world = ExprWorld { nodes: [("a", Some(json!("x".repeat(1000))))].into_iter().collect(), inputs: Map::new() };
    for text in [
        "'x' * 100000000",
        "100000000 * ('x' ~ 'y')",
        "1 in [2] * 100000000",
        "2 ** 9 ** 9",
        "range(1000000000)",
        "'x' | indent(1000000000)",
        "'x' | format",
        "[x for x in a]",
        "namespace(x=1)",
        "debug()",
        "{'a': 1}",
        "a.format(1)",
        "replace(replace(replace(a, 'x', a), 'x', a), 'x', a)",
    ] {
        assert!(eval(text, &world).is_err(), "{text}");
    }
    for name in ["self", "loop", "super", "meter_", "p0", "less_", "number_", "a.__class__"] {
        assert!(matches!(eval(name, &world), Ok(Value::Null)), "{name}");
    }
}

#[test]
fn the_deepest_expression_that_is_read_has_a_value() {
    check_eval(&format!("{}1", "-".repeat(MAX_PIECES - 1)), json!(-1));
    let deep = |depth: usize| format!("{}1{}", "(-1 + 2 * (".repeat(depth / 2), "))".repeat(depth / 2));
    check_eval(&deep(20), json!(1));
    assert!(Expr::parse(&deep(22), &world()).unwrap_err().to_string().starts_with("the expression is nested too deeply"));
}

#[test]
fn an_expression_may_be_long_but_not_have_too_many_pieces() {
    let inputs = json!({"country": "c99"});
    let names = PlanNames::new([], inputs.as_object().unwrap());
    let any = |count: usize| (0..count).map(|n| format!("inputs.country == \"c{n}\"")).collect::<Vec<_>>().join(" or ");
    assert_eq!(truthy(&any(30), &names), Ok(false));
    assert_eq!(truthy(&any(128), &names), Ok(true), "511 pieces");
    let error = truthy(&any(129), &names).unwrap_err().to_string();
    assert_eq!(error, "an expression has at most 512 names, values and operators; compute a part of it in an earlier node");
    let long = format!("'{}'", "x".repeat(MAX_TEXT - 2));
    assert_eq!(eval(&long, &names).map(|value| value.as_str().unwrap().len()), Ok(MAX_TEXT - 2));
    assert_eq!(eval(&format!("{long} "), &names).unwrap_err().to_string(), "an expression has at most 4096 bytes, this one has 4097");
}

/// As deep as the library can be led by what is short: a chain of each operator, and branches in branches.
#[test]
fn the_longest_chains_have_a_value_or_are_refused_on_a_small_stack() {
    let chain = |operator: &str| vec!["1"; MAX_PIECES / 2].join(operator);
    let texts: Vec<String> = ["+", "-", "*", "/", "//", "%", "~", " and ", " or ", " == 1 or "].into_iter().map(chain).collect();
    let branches = format!("{}1", "1 if 0 else ".repeat(MAX_PIECES / 4 - 1));
    let filters = format!("1{}", " | string".repeat(MAX_PIECES / 2 - 1));
    let nots = format!("{}1", "not ".repeat(MAX_PIECES - 1));
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let texts = texts.into_iter().chain([branches, filters, nots]);
    let work = move || texts.map(|text| (eval(&text, &world()).map(drop), text)).collect::<Vec<_>>();
    for (result, text) in small.spawn(work).unwrap().join().unwrap() {
        assert!(!matches!(result, Err(ExprError::Missing(_))), "{text}: {result:?}");
    }
}

#[test]
fn a_whole_number_of_more_than_64_bits_is_a_float_as_in_json() {
    for text in ["19223372036854775807", "[19223372036854775807][0]", "9223372036854775807 * 2 + 776627963145224193"] {
        assert_eq!(eval(text, &world()), Ok(json!(1.922_337_203_685_477_6e19)), "{text}");
        assert_eq!(truthy(text, &world()), Ok(true), "{text}");
    }
    assert_eq!(eval("[9223372036854775807 * 4, 'x']", &world()), Ok(json!([3.689_348_814_741_910_3e19, "x"])));
}

#[test]
fn the_paths_of_an_expression_are_those_that_it_mentions() {
    let inputs = Map::new();
    let names = PlanNames::new(["a-b", "c"], &inputs);
    let paths = check("a-b.result.x > c and deps['d'].output in [zz]", &names).unwrap();
    let shown: Vec<String> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["a-b.result.x", "c", "nodes[\"d\"].output", "zz"]);
    let nodes: Vec<_> = paths.iter().map(crate::plan::Path::node).collect();
    assert_eq!(nodes, [Some("a-b"), Some("c"), Some("d"), None]);
}

#[test]
fn every_function_of_the_table_is_found_by_each_of_its_names() {
    for info in &FUNCTIONS {
        for name in info.names {
            let arguments = vec!["null"; *info.takes.start()].join(", ");
            assert!(Expr::parse(&format!("{name}({arguments})"), &world()).is_ok(), "{name}");
        }
    }
}

/// Pieces that reach deep into the grammar, glued at random.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = "analysis gone node-greeter deps [ ] ( ) . , | ' \" \\ 1 9223372036854775807 1e308 - + * / // % == < in not and or if else ! ~ \
                  {{ }} é \u{202e} length slice sort replace join analysis.tags null 'x' [1,2] round max 0";
    let pieces: Vec<&str> = pieces.split_whitespace().chain([" "]).collect();
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(pieces.clone()), 0..40).prop_map(|pieces| pieces.concat()),
        proptest::collection::vec(proptest::sample::select(pieces), 0..40).prop_map(|pieces| pieces.join(" ")),
        ".{0,80}",
    ]
}

proptest! {
    #[test]
    fn hostile_text_gives_a_value_or_an_error_and_never_a_panic(text in hostile()) {
        let world = world();
        if let Ok(expr) = Expr::parse(&text, &world) {
            let lenient = expr.eval(&world, OnMissing::Null);
            let strict = expr.eval(&world, OnMissing::Error);
            if let Ok(value) = strict {
                prop_assert_eq!(lenient, Ok(value), "strict evaluation only adds errors");
            }
            prop_assert!(!expr.truthy(&world).is_ok_and(|holds| holds) || expr.eval(&world, OnMissing::Null).is_ok());
        }
    }

    #[test]
    fn whole_numbers_are_calculated_exactly_or_as_floats(a in any::<i64>(), b in any::<i64>()) {
        let inputs = json!({"a": a, "b": b});
        let names = PlanNames::new([], inputs.as_object().unwrap());
        let (x, y) = (i128::from(a), i128::from(b));
        if let Ok(sum) = i64::try_from(x + y) {
            prop_assert_eq!(eval("a + b", &names), Ok(json!(sum)));
        }
        prop_assert_eq!(truthy("a < b", &names), Ok(a < b));
        if b != 0 && let (Ok(Value::Number(floor)), Ok(Value::Number(rest))) = (eval("a // b", &names), eval("a % b", &names)) {
            let (floor, rest) = (floor.as_i128().unwrap(), rest.as_i128().unwrap());
            prop_assert_eq!(floor * y + rest, x);
            prop_assert!(rest == 0 || (rest < 0) == (y < 0));
        }
    }
}
