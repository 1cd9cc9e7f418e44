//! `calculator`: exact arithmetic with units, and simple wording ("difference between 69 and 55"). The expression is hostile until
//! proven otherwise: its length is capped, it runs on a thread of its own with a deep stack, and it is interrupted in time.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value};
use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use super::{AbandonFlag, arguments, blocking, describe};
use crate::plan::{ArgumentCheck, Risk, ToolInfo, ToolReach};
use crate::text::keeps_digits;
use crate::tools::{Assessment, DependsOn, Tool, ToolContext, ToolError, ToolOutput};

/// Longest expression in bytes.
const CAP: usize = 1024;
/// Longest calculation.
const LIMIT: Duration = Duration::from_secs(1);
/// How often the evaluator looks whether to go on, at most, when arguments are checked before a run.
const CHECKED_STEPS: u32 = 10_000;
/// The evaluator recurses; within the length cap no nesting reaches the end of this. It is only reserved, not used.
const STACK: usize = 512 << 20;

/// Words of a text that reads like a sentence and not like a calculation.
const SENTENCE: usize = 12;
const EXAMPLE: &str = "give an expression such as `(69 - 55) * 2`, or simple words such as `difference between 69 and 55`";
const PROSE: &str = "it reads like text, perhaps of an earlier step; let that step give the number alone, or take it out in between with a code node \
                     such as `return Number(deps.step.output.match(/\\d+/)[0])`; then simple words such as `difference between 69 and 55` will do";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CalculatorArgs {
    /// An expression such as `(69 - 55) * 2`, `15% of 80`, `3 miles to km`, or simple words such as `difference between 69 and 55`.
    #[schemars(length(min = 1))]
    expression: String,
}

pub(super) struct Calculator(ToolInfo);

impl Calculator {
    pub(super) fn new() -> Self {
        let description = "Calculate exactly, with units and percentages. Gives a number, or text when the result has a unit or more digits than a number can hold.";
        Self(describe::<CalculatorArgs>("calculator", description, Risk::Read, ToolReach::Public))
    }
}

#[async_trait]
impl Tool for Calculator {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn argument_check(&self) -> Option<ArgumentCheck> {
        Some(refusal)
    }

    fn depends_on(&self, _args: &Value) -> DependsOn {
        DependsOn::Arguments
    }

    fn assess(&self, _args: &Value, _context: &ToolContext) -> Assessment {
        Assessment::read("calculates")
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: CalculatorArgs = arguments(args)?;
        let value = blocking(move |stop| calculate(&args.expression, CalculatorDeadline::new(stop))).await?;
        Ok(ToolOutput { value, ..ToolOutput::default() })
    }
}

/// Why arguments will be refused, as far as a little calculating shows.
fn refusal(args: &Value) -> Option<String> {
    let text = args.get("expression")?.as_str()?;
    let steps = CalculatorSteps::default();
    let error = calculate(text, steps.clone()).err()?;
    let hint = error.hint.map_or_else(String::new, |hint| format!(": {hint}"));
    // What takes longer may be right.
    (!steps.are_used_up() && error.nothing_began).then(|| format!("{}{hint}", error.message))
}

fn calculate(text: &str, clock: impl fend_core::Interrupt + Send + 'static) -> Result<Value, ToolError> {
    let shown: String = text.trim().chars().take(100).collect();
    if text.len() > CAP {
        let message = format!("`{} …` has {} bytes, and the limit is {CAP} bytes", shown.escape_debug(), text.len());
        return Err(ToolError::refused(message).hint(if is_prose(text) { PROSE } else { "calculate in `run_javascript` instead" }));
    }
    let expression = expression(text);
    let worker = std::thread::Builder::new().name("calculator".into()).stack_size(STACK).spawn(move || evaluate(&expression, &clock));
    let result = worker.map_err(|cause| ToolError::failed(format!("can't start the calculator: {cause}")).transient())?.join();
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(cause)) => Err(ToolError::refused(format!("`{}` can't be calculated: {cause}", shown.escape_debug()))
            .hint(if is_prose(text) { PROSE } else { EXAMPLE })),
        Err(_) => Err(ToolError::refused(format!("`{}` is too much for the calculator", shown.escape_debug()))),
    }
}

fn is_prose(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() > SENTENCE
}

struct CalculatorDeadline {
    end: Instant,
    stop: AbandonFlag,
}

impl CalculatorDeadline {
    fn new(stop: &AbandonFlag) -> Self {
        Self { end: Instant::now() + LIMIT, stop: stop.clone() }
    }
}

/// An end after so much work, whatever the clock says.
#[derive(Clone, Default)]
struct CalculatorSteps(Arc<AtomicU32>);

impl CalculatorSteps {
    fn are_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) > CHECKED_STEPS
    }
}

impl fend_core::Interrupt for CalculatorSteps {
    fn should_interrupt(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.are_used_up()
    }
}

impl fend_core::Interrupt for CalculatorDeadline {
    fn should_interrupt(&self) -> bool {
        self.stop.requested() || Instant::now() > self.end
    }
}

fn evaluate(expression: &str, clock: &impl fend_core::Interrupt) -> Result<Value, String> {
    let mut context = fend_core::Context::new();
    context.disable_rng();
    let result = fend_core::evaluate_with_interrupt(expression, &mut context, clock)?;
    let text = result.get_main_result();
    if text.is_empty() {
        return Err("it gives no number".into());
    }
    Ok(value(text))
}

/// A number where the result is one.
fn value(text: &str) -> Value {
    let exact = text.strip_prefix("approx. ").unwrap_or(text);
    let whole = exact.parse::<i64>().map(Number::from).or_else(|_| exact.parse::<u64>().map(Number::from));
    let number = whole.ok().or_else(|| {
        let plain = exact.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
        // One with more digits than a number has stays the text that has them all.
        let keeps = |number: &f64| exact != text || keeps_digits(exact, *number);
        exact.parse::<f64>().ok().filter(|number| plain && keeps(number)).and_then(Number::from_f64)
    });
    match (number, exact) {
        (Some(number), _) => Value::Number(number),
        (None, "true") => Value::Bool(true),
        (None, "false") => Value::Bool(false),
        (None, _) => Value::from(text),
    }
}

/// What simple words mean, read from `calculator.toml`, which says what each list is.
#[derive(Default, Deserialize)]
struct Wording {
    fillers: Vec<String>,
    operators: Vec<(String, String)>,
    lists: Vec<(String, String)>,
    averages: Vec<String>,
    pairs: Vec<(String, String, String)>,
    changes: Vec<(String, String)>,
    ones: Vec<(String, String)>,
}

/// Words of a file that can't be read would be unknown; a test reads it.
static WORDING: LazyLock<Wording> = LazyLock::new(|| toml::from_str(include_str!("calculator.toml")).unwrap_or_default());

/// The expression that simple words mean; an expression stays what it is.
fn expression(text: &str) -> String {
    let mut rest = text.trim().trim_end_matches(['?', '.', '=', ' ']);
    while let Some(after) = WORDING.fillers.iter().find_map(|filler| strip(rest, filler)?.strip_prefix(' ')) {
        rest = after.trim_start();
    }
    phrase(rest).unwrap_or_else(|| operators(rest))
}

/// Phrases that name the operation first.
fn phrase(text: &str) -> Option<String> {
    for (start, sign) in &WORDING.lists {
        if let Some(items) = strip(text, start).map(items).filter(|items| items.len() > 1) {
            return Some(items.join(&format!(" {sign} ")));
        }
    }
    for start in &WORDING.averages {
        if let Some(items) = strip(text, start).map(items) {
            return Some(format!("({}) / {}", items.join(" + "), items.len()));
        }
    }
    for (start, between, form) in &WORDING.pairs {
        if let Some((a, b)) = strip(text, start).and_then(|rest| halves(rest, between)) {
            return Some(form.replace("{a}", &operators(a)).replace("{b}", &operators(b)));
        }
    }
    for (start, sign) in &WORDING.changes {
        if let Some((a, b)) = strip(text, start).and_then(|rest| halves(rest, " by ")) {
            let (a, b) = (operators(a), operators(b));
            return Some(if b.ends_with('%') { format!("({a}) * (1 {sign} {b})") } else { format!("({a}) {sign} ({b})") });
        }
    }
    WORDING.ones.iter().find_map(|(start, form)| strip(text, start).map(|rest| form.replace("{a}", &expression(rest))))
}

/// Words between operands become signs.
fn operators(text: &str) -> String {
    let mut result = text.trim().to_owned();
    for (word, sign) in &WORDING.operators {
        while let Some(at) = find(&result, word) {
            result.replace_range(at..at + word.len(), sign);
        }
    }
    result
}

/// Operands of a list: `1, 2 and 3`. A comma with exactly three digits behind it belongs to a number.
fn items(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = text.trim();
    while let Some(next) = rest.chars().next() {
        let joint = [", and ", " and ", " with ", " by "].iter().find_map(|word| strip(rest, word));
        let joint = joint.or_else(|| rest.strip_prefix(',').filter(|after| !thousands(after)));
        if let Some(after) = joint {
            parts.push(String::new());
            rest = after.trim_start();
        } else {
            if let Some(part) = parts.last_mut() {
                part.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    parts.iter().map(|part| operators(part)).filter(|part| !part.is_empty()).map(|part| format!("({part})")).collect()
}

fn thousands(after_comma: &str) -> bool {
    let digits = after_comma.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3
}

fn halves<'a>(text: &'a str, between: &str) -> Option<(&'a str, &'a str)> {
    let at = find(text, between)?;
    Some((&text[..at], &text[at + between.len()..]))
}

/// Where a word of ASCII letters is, in any case.
fn find(text: &str, word: &str) -> Option<usize> {
    text.as_bytes().windows(word.len()).position(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// The rest after a start of ASCII letters in any case.
fn strip<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deadline() -> CalculatorDeadline {
        CalculatorDeadline::new(&AbandonFlag::default())
    }

    fn result(text: &str) -> Value {
        calculate(text, deadline()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn expressions_are_exact() {
        assert_eq!(result("1 + 2 * 3"), json!(7));
        assert_eq!(result("0.1 + 0.2"), json!(0.3));
        assert_eq!(result("2^10 - 1"), json!(1023));
        assert_eq!(result("1,234 * 2"), json!(2468));
        assert_eq!(result("10 / 4"), json!(2.5));
        assert_eq!(result("2 == 2"), json!(true));
        assert_eq!(result("3 km to m"), json!("3000 m"));
        assert_eq!(result("7 mod 4"), json!(3));
    }

    #[test]
    fn a_result_with_more_digits_than_a_number_has_is_text_with_all_of_them() {
        assert_eq!(result("12345678901234567890 * 10"), json!("123456789012345678900"));
        assert_eq!(result("12345678901234567890 + 1"), json!(12_345_678_901_234_567_891_u64));
        assert_eq!(result("123456789.123456789 * 1"), json!("123456789.123456789"));
        assert_eq!(result("1 / 3"), json!(0.333_333_333_3));
    }

    #[test]
    fn simple_wording_is_understood() {
        for (words, number) in [
            ("Calculate the difference between 69 and 55", 14),
            ("difference between 55 and 69", 14),
            ("What is the sum of 1, 2 and 3?", 6),
            ("sum of 1,000 and 2", 1002),
            ("sum of 1,2,3", 6),
            ("average of 2, 4, and 6", 4),
            ("product of 6 and 7", 42),
            ("15% of 80", 12),
            ("15 percent of 80", 12),
            ("increase 200 by 10%", 220),
            ("decrease 200 by 10 percent", 180),
            ("subtract 3 from 10", 7),
            ("divide 84 by 2", 42),
            ("multiply 6 by 7", 42),
            ("6 times 7 plus 1", 43),
            ("the square root of 144", 12),
            ("5 squared", 25),
            ("half of 10", 5),
            ("2 to the power of 8", 256),
        ] {
            assert_eq!(result(words), json!(number), "{words}");
        }
    }

    #[test]
    fn an_expression_that_is_none_is_refused_before_the_run() {
        let refused = |text: &str| refusal(&json!({ "expression": text }));
        for text in ["(69 - 55) * 2", "difference between 69 and 55", "9^9^9^9", "100000000!"] {
            assert_eq!(refused(text), None, "{text}");
        }
        let message = refused("the age of Caesar minus 3").unwrap();
        assert!(
            message.starts_with("`the age of Caesar minus 3` can't be calculated: ") && message.contains("give an expression"),
            "{message}"
        );
    }

    #[test]
    fn operands_may_carry_units() {
        assert_eq!(result("difference between 69 years and 55 years"), json!("14 years"));
    }

    #[test]
    fn what_is_no_calculation_is_refused_with_an_example() {
        for text in ["how old was Caesar", "1 +", "", "difference between cats and dogs", "1/0", "ä€🦀 plus ß"] {
            let error = calculate(text, deadline()).unwrap_err();
            assert!(error.message.contains("can't be calculated"), "{text}: {error}");
            assert!(error.hint.unwrap().contains("difference between 69 and 55"));
        }
    }

    #[test]
    fn text_in_the_place_of_a_number_is_named_as_such() {
        let sentence = "Emperor Wu of Han was born in 156 BC and died in 87 BC, so he was 69 years old when he died. ";
        for times in [1, 50] {
            let text = format!("Calculate the difference between {} and 55", sentence.repeat(times));
            let error = calculate(&text, deadline()).unwrap_err();
            assert!(error.message.starts_with("`Calculate the difference between Emperor Wu"), "{error}");
            assert!(error.message.len() < 300 && error.hint.unwrap().contains("the number alone"));
        }
        let digits = calculate(&"1+".repeat(2_000), deadline()).unwrap_err();
        assert!(digits.message.contains("4000 bytes") && digits.hint.unwrap().contains("run_javascript"));
    }

    #[test]
    fn hostile_expressions_end_in_time_without_harm() {
        let nested = |open: &str, close: &str, times: usize| format!("{}1{}", open.repeat(times), close.repeat(times));
        for text in [
            nested("(", ")", 500),
            nested("-", "", 1000),
            nested("!", "", 1000),
            nested("2^", "", 500),
            nested("sin ", "", 250),
            nested("sqrt(", ")", 160),
            nested("x:", "", 500),
            nested("1+", "", 500),
            "9^9^9^9".into(),
            "100000000!".into(),
            "1e999999999".into(),
            "2^(2^60)".into(),
            "(".repeat(1024),
            "x".repeat(2000),
        ] {
            let start = Instant::now();
            let _ = calculate(&text, deadline());
            assert!(start.elapsed() < Duration::from_secs(20), "{text}");
        }
    }
}
