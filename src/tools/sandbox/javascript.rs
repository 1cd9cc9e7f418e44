//! QuickJS inside the worker: no module loader, no timers, nothing but the language, `console`, `deps`, `nodes` and `inputs`.

use rquickjs::{
    CatchResultExt as _, CaughtError, Context, Ctx, Error, Function, Promise, Runtime, Value as Js, context::EvalOptions,
    promise::PromiseState,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::{borrow::Cow, cell::RefCell, rc::Rc, time::Duration};

use super::{OUTPUT, job::SandboxAnswer};

/// Stack of a script in bytes; well below the thread's.
const STACK: usize = 1 << 20;
/// Most lines and bytes of a script's log.
const LOG: (usize, usize) = (1_000, 64 << 10);

/// What `console` is made of. `push` takes one line.
const CONSOLE: &str = "(push) => {
  const show = (v) => {
    if (typeof v === 'string') return v;
    if (v instanceof Error) return `${v}`;
    try { return JSON.stringify(v) ?? String(v); } catch { return String(v); }
  };
  const whole = Function.prototype.call.bind(String.prototype.toWellFormed);
  const write = (...items) => push(whole(items.map(show).join(' ')));
  const as = (level) => (...items) => push(whole(`${level}: ${items.map(show).join(' ')}`));
  globalThis.console = Object.freeze({ log: write, info: write, debug: write, warn: as('warning'), error: as('error') });
}";

/// Refuses what JSON would drop without notice, and marks whole numbers of any size.
const REPLACER: &str = "(mark) => (key, value) => {
  if (typeof value === 'bigint') return mark + value;
  if (typeof value !== 'function' && typeof value !== 'symbol') return value;
  throw new TypeError(`the result holds a ${typeof value}` + (key === '' ? '' : ` at \"${key}\"`) + ', which is not JSON');
}";

/// Reads JSON in which marked texts are whole numbers of any size.
const READER: &str = "(mark, text) => JSON.parse(text, (key, value) =>
  typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value)";

/// In front of a whole number that a number of JavaScript can't hold, where it goes in or out.
const LARGE: &str = "\u{e000}whole number ";
/// The largest whole number up to which all are kept.
const KEPT: u64 = 1 << 53;

type Logs = Rc<RefCell<Vec<String>>>;

/// A script's limit of processor time. It has nothing to wait for, so this is all the time it takes, however busy the machine is.
#[derive(Clone, Copy)]
struct TimeLimit(Duration);

impl TimeLimit {
    fn new(limit: Duration) -> Self {
        Self(thread_time() + limit)
    }

    fn is_reached(self) -> bool {
        thread_time() >= self.0
    }
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

pub(super) fn run(code: &str, deps: &Value, inputs: &Value, memory_mb: u64, time_ms: u64) -> SandboxAnswer {
    let end = TimeLimit::new(Duration::from_millis(time_ms));
    let logs = Logs::default();
    let result = start(memory_mb, end)
        .map_err(|cause| ScriptFailure::plain(cause.to_string()))
        .and_then(|context| context.with(|ctx| Script { ctx: &ctx, end }.run(code, deps, inputs, &logs)));
    let logs = logs.take();
    match result {
        Ok(value) => SandboxAnswer::Value { value, logs },
        Err(_) if end.is_reached() => SandboxAnswer::Time { logs },
        Err(ScriptFailure { message, line }) => SandboxAnswer::Failed { message, line, logs },
    }
}

fn start(memory_mb: u64, end: TimeLimit) -> Result<Context, Error> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(usize::try_from(memory_mb << 20).unwrap_or(usize::MAX));
    runtime.set_max_stack_size(STACK);
    runtime.set_interrupt_handler(Some(Box::new(move || end.is_reached())));
    Context::full(&runtime)
}

struct ScriptFailure {
    message: String,
    line: Option<u32>,
}

impl ScriptFailure {
    fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None }
    }

    fn caught(error: CaughtError<'_>) -> Self {
        match error {
            CaughtError::Exception(exception) => {
                let name: String = exception.as_object().get("name").unwrap_or_else(|_| "Error".into());
                let message = exception.message().or_else(|| {
                    let message: Js = exception.as_object().get("message").ok()?;
                    serde_json::from_str(&json(&message)?).ok()
                });
                let message = message.unwrap_or_default();
                Self { message: format!("{name}: {message}"), line: exception.stack().as_deref().and_then(line) }
            }
            // Out of memory there may be no room left for an error object, and then null is what the engine throws, too.
            CaughtError::Value(value) if value.is_null() => Self::plain("the code threw null instead of an error, or ran out of memory"),
            CaughtError::Value(value) => Self::plain(format!("thrown: {}", json(&value).as_deref().unwrap_or(value.type_name()))),
            CaughtError::Error(error) => Self::plain(error.to_string()),
        }
    }
}

/// A value as JSON, if it is one and there is memory for it.
fn json(value: &Js) -> Option<String> {
    let text = value.ctx().json_stringify(value).ok()??.to_string().ok()?;
    Some(whole_characters(&text).into_owned())
}

/// JSON with a replacement character for each half of a character, which code gets by cutting a text and no other language can hold.
/// `JSON.stringify` writes whole characters out, so whatever it writes as an escape of that range is a half.
fn whole_characters(json: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(next) = json[at..].find('\\') {
        at += next;
        let is_half = json[at + 1..].starts_with("ud") && json[at + 3..].starts_with(['8', '9', 'a', 'b', 'c', 'd', 'e', 'f']);
        if is_half {
            whole.push_str(&json[done..at]);
            whole.push(char::REPLACEMENT_CHARACTER);
            done = at + "\\ud800".len();
        }
        // An escape is never the start of another one. What follows a backslash is one byte long.
        at = if is_half { done } else { at + 2 };
    }
    if done == 0 { Cow::Borrowed(json) } else { Cow::Owned(whole + &json[done..]) }
}

/// The first line of the code that a stack names. The code starts on the first line of what is evaluated.
fn line(stack: &str) -> Option<u32> {
    let after = &stack[stack.find("code:")? + "code:".len()..];
    after.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

/// The value with its large whole numbers marked; nothing where it has none.
fn marked(value: &Value, mark: &str) -> Option<Value> {
    match value {
        Value::Number(number) => {
            let is_large = number.as_i64().map(i64::unsigned_abs).or(number.as_u64()).is_some_and(|size| size > KEPT);
            is_large.then(|| Value::from(format!("{mark}{number}")))
        }
        Value::Array(list) => {
            let found: Vec<Option<Value>> = list.iter().map(|value| marked(value, mark)).collect();
            let has_large = found.iter().any(Option::is_some);
            has_large.then(|| found.into_iter().zip(list).map(|(found, value)| found.unwrap_or_else(|| value.clone())).collect())
        }
        Value::Object(map) => {
            let found: Vec<Option<Value>> = map.values().map(|value| marked(value, mark)).collect();
            let has_large = found.iter().any(Option::is_some);
            let fields = || found.into_iter().zip(map).map(|(found, (key, value))| (key.clone(), found.unwrap_or_else(|| value.clone())));
            has_large.then(|| Value::Object(fields().collect()))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// The value with numbers in place of marked ones; of more than 64 bits they are text.
fn without_marks(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => match text.strip_prefix(LARGE) {
            Some(digits) => {
                digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<u64>().map(Value::from)).unwrap_or(digits.into())
            }
            None => value,
        },
        Value::Array(list) => {
            list.iter_mut().for_each(|entry| *entry = without_marks(entry.take()));
            value
        }
        Value::Object(map) => {
            map.values_mut().for_each(|entry| *entry = without_marks(entry.take()));
            value
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

struct Script<'a, 'js> {
    ctx: &'a Ctx<'js>,
    end: TimeLimit,
}

impl<'js> Script<'_, 'js> {
    fn run(&self, code: &str, deps: &Value, inputs: &Value, logs: &Logs) -> Result<Value, ScriptFailure> {
        let (reader, replacer) = self.caught(self.prepare(logs))?;
        // On the first line, so that lines of errors are lines of the code; a line end behind it, for a comment on its last line.
        let source = format!("(async function (deps, nodes, inputs) {{{code}\n}})");
        let mut options = EvalOptions::default();
        options.filename = Some("code".into());
        let function: Function<'js> = self.caught(self.ctx.eval_with_options(source, options))?;
        let deps = self.data(&reader, deps)?;
        let inputs = self.data(&reader, inputs)?;
        let promise: Promise<'js> = self.caught(function.call((deps.clone(), deps, inputs)))?;
        // Jobs may make jobs for ever; the interrupt handler ends only a job that runs.
        while promise.state() == PromiseState::Pending && !self.end.is_reached() && self.ctx.execute_pending_job() {}
        let value = match promise.result::<Js<'js>>() {
            Some(result) => self.caught(result)?,
            None if self.end.is_reached() => return Err(ScriptFailure::plain("the time limit was reached")),
            None => {
                return Err(ScriptFailure::plain("the code waits for a promise that never settles: there are no timers and no I/O here"));
            }
        };
        if value.is_undefined() {
            return Ok(Value::Null);
        }
        let text = self.caught(self.ctx.json_stringify_replacer(value, replacer))?;
        let text = text.ok_or_else(|| ScriptFailure::plain("the result is not JSON"))?;
        let text = self.caught(text.to_string())?;
        if text.len() > OUTPUT {
            return Err(ScriptFailure::plain(format!("the result has {} bytes; the limit is {OUTPUT} bytes", text.len())));
        }
        let value = serde_json::from_str(&whole_characters(&text));
        value.map(without_marks).map_err(|cause| ScriptFailure::plain(format!("the result is not JSON: {cause}")))
    }

    /// Sets up `console` and gives the reader and the replacer, all out of reach of what the script does to its globals later.
    fn prepare(&self, logs: &Logs) -> Result<(Function<'js>, Function<'js>), Error> {
        let logs = Rc::clone(logs);
        let push = Function::new(self.ctx.clone(), move |line: String| {
            let mut logs = logs.borrow_mut();
            let bytes: usize = logs.iter().map(String::len).sum();
            if logs.len() < LOG.0 && bytes + line.len() <= LOG.1 {
                logs.push(line);
            } else if logs.last().is_none_or(|last| last != "[log cut]") {
                logs.push("[log cut]".into());
            }
        })?;
        self.ctx.eval::<Function<'js>, _>(CONSOLE)?.call::<_, ()>((push,))?;
        let replacer = self.ctx.eval::<Function<'js>, _>(REPLACER)?.call((LARGE,))?;
        Ok((self.ctx.eval(READER)?, replacer))
    }

    /// A value as the script has it. A whole number that would be rounded is a `bigint`.
    fn data(&self, reader: &Function<'js>, value: &Value) -> Result<Js<'js>, ScriptFailure> {
        let text = value.to_string();
        let mut mark = LARGE.to_owned();
        while text.contains(&mark) {
            mark.push('#');
        }
        let data = match marked(value, &mark) {
            Some(marked) => reader.call((mark, marked.to_string())),
            None => self.ctx.json_parse(text),
        };
        self.caught(data)
    }

    fn caught<T>(&self, result: Result<T, Error>) -> Result<T, ScriptFailure> {
        result.catch(self.ctx).map_err(ScriptFailure::caught)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(code: &str) -> SandboxAnswer {
        run(code, &json!({"a-b": {"n": 2}}), &json!({"name": "x"}), 32, 1_000)
    }

    fn value(code: &str) -> Value {
        match answer(code) {
            SandboxAnswer::Value { value, .. } => value,
            other => panic!("{code}: {other:?}"),
        }
    }

    fn failure(code: &str) -> (String, Option<u32>) {
        match answer(code) {
            SandboxAnswer::Failed { message, line, .. } => (message, line),
            other => panic!("{code}: {other:?}"),
        }
    }

    #[test]
    fn a_body_sees_its_data_and_returns_json() {
        assert_eq!(value("return deps['a-b'].n + nodes['a-b'].n"), json!(4));
        assert_eq!(
            value("return {name: inputs.name, list: [1, 2.5, null, undefined], gone: undefined}"),
            json!({"name": "x", "list": [1, 2.5, null, null]})
        );
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("return 1 // no more"), json!(1));
        assert_eq!(value("return await Promise.all([1, Promise.resolve(2)])"), json!([1, 2]));
        assert_eq!(value("return new Promise(done => done('later'))"), json!("later"));
        assert_eq!(value("return [...Array(5).keys()].reduce((a, b) => a + b)"), json!(10));
        assert_eq!(value("return '\\u0000ä🦀'"), json!("\u{0}ä🦀"));
    }

    #[test]
    fn whole_numbers_of_any_size_keep_their_digits_on_the_way_in_and_out() {
        let large = json!({"a": {"id": 9_007_199_254_740_993_u64, "list": [u64::MAX, i64::MIN, 1, 0.5, "x"]}});
        let with = |code: &str| match run(code, &large, &json!({}), 32, 1_000) {
            SandboxAnswer::Value { value, .. } => value,
            other => panic!("{code}: {other:?}"),
        };
        assert_eq!(with("return deps.a"), large["a"]);
        assert_eq!(with("return `${deps.a.id} ${deps.a.id > 5} ${typeof deps.a.list[2]}`"), json!("9007199254740993 true number"));
        assert_eq!(with("return deps.a.id + 1n"), json!(9_007_199_254_740_994_u64));
        assert_eq!(with("return {a: 10n, b: deps.a.list[0] * 10n}"), json!({"a": 10, "b": "184467440737095516150"}));
        let mixed = run("return deps.a.id + 1", &large, &json!({}), 32, 1_000);
        assert!(matches!(&mixed, SandboxAnswer::Failed { message, .. } if message.to_lowercase().contains("bigint")), "{mixed:?}");
    }

    #[test]
    fn halves_of_characters_are_replaced_wherever_they_stand() {
        assert_eq!(value("return '🦀'.slice(0, 1)"), json!("\u{fffd}"));
        assert_eq!(
            value(r"const half = 'a🦀'.slice(0, 2); return [half, {[half]: '🦀' + half + 'b'}, '\\ud83d', '\\\\' + half]"),
            json!(["a\u{fffd}", {"a\u{fffd}": "🦀a\u{fffd}b"}, "\\ud83d", "\\\\a\u{fffd}"])
        );
        let SandboxAnswer::Value { logs, .. } = answer("console.log('a🦀'.slice(0, 2), ['🦀'.slice(1)])") else { panic!() };
        assert_eq!(logs.len(), 1, "{logs:?}");
        assert!(logs[0].starts_with('a'), "{logs:?}");
        assert_eq!(failure("throw new Error('no ' + '🦀'.slice(1))").0, "Error: no \u{fffd}");
        assert_eq!(failure("throw '🦀'.slice(1)").0, "thrown: \"\u{fffd}\"");
    }

    #[test]
    fn logs_are_kept_in_order_and_capped() {
        let SandboxAnswer::Value { logs, .. } =
            answer("console.log('a', 1, {b: [2]}, undefined); console.warn('hm'); console.error(new TypeError('x'))")
        else {
            panic!()
        };
        assert_eq!(logs, ["a 1 {\"b\":[2]} undefined", "warning: hm", "error: TypeError: x"]);
        let SandboxAnswer::Value { logs, .. } = answer("for (let i = 0; i < 5000; i++) console.log(i)") else { panic!() };
        assert_eq!((logs.len(), logs.last().unwrap().as_str()), (1001, "[log cut]"));
    }

    #[test]
    fn errors_name_their_line() {
        assert_eq!(failure("let a = 1;\n\nthrow new RangeError('too far')"), ("RangeError: too far".into(), Some(3)));
        assert_eq!(failure("\nreturn missing.field").1, Some(2));
        assert_eq!(failure("let a = 1;\nlet b = ;").1, Some(2));
        assert_eq!(failure("throw {code: 7}").0, "thrown: {\"code\":7}");
        assert_eq!(failure("throw null").0, "the code threw null instead of an error, or ran out of memory");
        assert_eq!(failure("throw undefined").0, "thrown: undefined");
        assert_eq!(failure("return Promise.reject(new Error('no'))").0, "Error: no");
        assert!(failure("await new Promise(() => {})").0.contains("never settles"));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        assert_eq!(failure("return () => 1").0, "TypeError: the result holds a function, which is not JSON");
        assert_eq!(failure("return {f() {}}").0, "TypeError: the result holds a function at \"f\", which is not JSON");
        assert!(failure("const a = {}; a.a = a; return a").0.contains("circular"));
        assert!(failure("let a = []; for (let i = 0; i < 500; i++) a = [a]; return a").0.contains("not JSON"));
    }

    #[test]
    fn there_is_nothing_to_reach_the_world_with() {
        for name in ["require", "process", "fetch", "setTimeout", "std", "os", "Deno", "XMLHttpRequest", "loadScript", "print"] {
            assert_eq!(value(&format!("return typeof {name}")), json!("undefined"), "{name}");
        }
        assert!(failure("return await import('fs')").0.contains("Error"));
        assert!(failure("import fs from 'fs'").0.starts_with("SyntaxError"));
    }

    #[test]
    fn tricks_with_prototypes_and_globals_stay_inside() {
        assert_eq!(value("JSON.stringify = () => 'no'; Array.prototype.map = null; Object.prototype.x = 1; return [1]"), json!([1]));
        assert!(failure("Object.prototype.toJSON = () => { throw new Error('gotcha') }; return {}").0.contains("gotcha"));
        assert!(failure("return {get a() { throw new Error('getter') }}").0.contains("getter"));
        assert_eq!(value("}), (async function () { return 5"), json!(5));
    }

    #[test]
    fn loops_recursion_and_memory_bombs_end() {
        let timeout = |logs: &[&str]| SandboxAnswer::Time { logs: logs.iter().map(|line| (*line).to_owned()).collect() };
        assert_eq!(answer("console.log('before'); while (true) {}"), timeout(&["before"]));
        assert_eq!(answer("async function f() { while (true) await null } await f()"), timeout(&[]));
        assert_eq!(answer("const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})"), timeout(&[]));
        assert!(failure("function f() { return f() + 1 } return f()").0.contains("stack"));
        assert!(failure("let s = 'x'; while (true) s += s").0.contains("Error"));
        assert!(failure("const a = []; while (true) a.push(new Array(1000).fill(0))").0.contains("memory"));
        assert!(failure("return 'x'.repeat(6000000)").0.contains("the limit is"));
    }
}
