//! Who does a step: a tool where the step names one exact action, else the agent whose words fit best. There is always somebody.

use serde_json::{Value, json};

use super::places;
use super::slots::{ParsedRequest, SlotKind, TemplateSlot};
use super::words::{self, Word};
use crate::plan::{AgentInfo, Catalog, Verdict};

/// One node to be, without id and dependencies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeDraft {
    /// What the id is made of.
    pub name: String,
    /// The node's work and policy in native form; `{{previous}}` stands for the results that it follows.
    pub node: Value,
}

/// Stands for the results of the steps before, until their ids are known.
pub(super) const PREVIOUS: &str = "{{previous}}";

/// Subjects of the shipped agents beyond what their descriptions say.
const SUBJECTS: &[(&str, &str)] = &[
    (
        "web_researcher",
        "research search web internet online news latest find look investigate source fact paper market price competitor explore discover who \
         when where recherchiere suche buscar investigar rechercher cercare pesquisar найди исследуй 搜索 研究 調べ 검색",
    ),
    (
        "code_analyzer",
        "code codebase function class bug refactor repository module rust python javascript typescript architecture security review analyze \
         analyse inspect audit dependency api",
    ),
    (
        "deep_reasoner",
        "reason decide decision weigh why should tradeoff compare evaluate choose recommend think argue strategy implication best prioritize \
         solve prove estimate predict pros cons dilemma",
    ),
    (
        "travel_planner",
        "trip travel itinerary flight hotel vacation holiday journey tour weekend reise urlaub voyage viaje viaggio viagem поездка 旅行 여행",
    ),
    (
        "data_analyst",
        "data csv dataset statistic trend chart average median correlation spreadsheet table metric number json excel outlier analyze analyse sum \
         percentile histogram column row",
    ),
    (
        "debug_assistant",
        "debug error crash fail failing failure exception stack trace traceback panic broken fix diagnose cause bug hang leak flaky",
    ),
    (
        "code_executor",
        "run execute script compute convert command install build program implement delete rename move copy test deploy commit create remove \
         append add refactor update change edit modify",
    ),
    (
        "writer",
        "write draft summarize summarise report email article blog translate rewrite edit essay letter story poem explain describe document \
         outline summary text answer present compose haiku post readme announcement brief schreibe fasse übersetze zusammen écris résume \
         escribe resume traduce scrivi traduci escreva напиши переведи 写 翻译 总结 書い 要約 작성 요약",
    ),
];

/// What a step needs besides its words.
pub(super) struct Setting<'a> {
    /// What there is to be used.
    pub catalog: &'a Catalog,
    /// Whether steps come before this one.
    pub follows: bool,
}

/// The nodes that carry out a step, in order; each follows the one before.
pub(super) fn drafts(text: &str, setting: &Setting) -> Vec<NodeDraft> {
    let text = clean(text);
    let request = ParsedRequest::new(&text);
    let verb = words::leading_verb(&request.words).unwrap_or_default().to_owned();
    if let Some(draft) = as_it_stands(&text, setting).or_else(|| tool_step(&verb, &request, setting)) {
        return vec![draft];
    }
    let mut drafts = Vec::new();
    let can_read = matches!(
        verb.as_str(),
        "summarize"
            | "summarise"
            | "explain"
            | "review"
            | "analyze"
            | "analyse"
            | "translate"
            | "describe"
            | "extract"
            | "inspect"
            | "evaluate"
            | "improve"
            | "sort"
            | "count"
            | "shorten"
            | "proofread"
            | "answer"
            | "tell"
            // A language whose verbs are not known here.
            | ""
    );
    let source = request.take(&slot(SlotKind::File)).filter(|_| can_read && has(setting, "read_file"));
    let page = request.take(&slot(SlotKind::Url)).filter(|_| has(setting, "fetch_url"));
    if let Some(path) = source {
        drafts.push(tool("read_file", "read_file", json!({ "path": path })));
    } else if let Some(url) = page {
        drafts.push(tool("fetch_page", "fetch_url", json!({ "url": url })));
    }
    drafts.push(agent_step(&text, &request, setting.catalog));
    let output = request.output().filter(|_| {
        has(setting, "write_file")
            && matches!(
                verb.as_str(),
                "write"
                    | "create"
                    | "draft"
                    | "generate"
                    | "summarize"
                    | "summarise"
                    | "translate"
                    | "produce"
                    | "compose"
                    | "make"
                    | "document"
                    | "outline"
                    | "convert"
            )
    });
    if let Some(path) = output {
        drafts.push(write(path));
    }
    drafts
}

/// An agent that brings several results together.
pub(super) fn synthesis(request: &str, catalog: &Catalog) -> NodeDraft {
    let objective = format!(
        "Bring the results of the steps before together into one complete answer to this request. Say where they contradict each other and what \
         is missing.\n\nRequest: {}",
        literal(request)
    );
    NodeDraft { name: "answer".to_owned(), node: agent_node(by_name(catalog, "writer"), &objective) }
}

/// A step that asks the person what is wanted.
pub(super) fn ask_what(catalog: &Catalog) -> NodeDraft {
    match by_name(catalog, "operator") {
        Some(card) => NodeDraft { name: "ask_request".to_owned(), node: json!({ "agent": card.name, "objective": "What shall be done?" }) },
        None => NodeDraft { name: "ask_request".to_owned(), node: json!({ "ask": { "text": "What shall be done?" } }) },
    }
}

/// An agent that does whatever the person said.
pub(super) fn do_what_was_said(catalog: &Catalog) -> NodeDraft {
    NodeDraft {
        name: "answer".to_owned(),
        node: agent_node(by_name(catalog, "writer"), "Do what the person asked for in the step before."),
    }
}

/// Text for an objective in which nothing is a reference.
pub(super) fn literal(text: &str) -> String {
    text.replace("{{", "\\{{").replace("$OUTPUT[", "$OUTPUT [")
}

fn has(setting: &Setting, tool: &str) -> bool {
    setting.catalog.tool(tool).is_some_and(|info| info.verdict != Verdict::Deny)
}

fn slot(kind: SlotKind) -> TemplateSlot {
    TemplateSlot { kind, nth: 1, default: None, required: false, choices: std::collections::BTreeMap::new(), endings: Vec::new() }
}

fn tool(name: &str, tool: &str, args: Value) -> NodeDraft {
    NodeDraft { name: name.to_owned(), node: json!({ "tool": tool, "args": escape(args) }) }
}

/// Words of the request in arguments are no references.
fn escape(args: Value) -> Value {
    match args {
        Value::String(text) => Value::String(literal(&text)),
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, escape(value))).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => other,
    }
}

fn write(path: &str) -> NodeDraft {
    let args = json!({ "path": literal(path), "content": PREVIOUS });
    NodeDraft { name: "write_file".to_owned(), node: json!({ "tool": "write_file", "args": args, "approve": "before" }) }
}

/// Programs whose name at the beginning makes a step a command line.
const PROGRAMS: &[&str] = &["git", "cargo", "npm", "npx", "pnpm", "yarn", "docker", "kubectl", "python3", "pytest", "rustc", "pip", "curl"];

/// A step that is itself a command line, or nothing but a sum.
fn as_it_stands(text: &str, setting: &Setting) -> Option<NodeDraft> {
    let mut words = text.split_whitespace();
    let program = words.next()?.to_lowercase();
    let argument = words.next().map(str::to_lowercase);
    let is_prose = text.ends_with('?') || argument.as_deref().is_some_and(words::is_stopword);
    if PROGRAMS.contains(&program.as_str()) && argument.is_some() && !is_prose && has(setting, "run_command") {
        let command = format!("{program}{}", &text[program.len()..]);
        return Some(tool("run_command", "run_command", json!({ "command": command })));
    }
    let sum = text.trim_end_matches(['=', '?', ' ']);
    let is_sum = sum.starts_with(|c: char| c.is_ascii_digit() || c == '(')
        && sum.contains(['+', '-', '*', '/', '^', '%'])
        && sum.chars().all(|c| c.is_ascii_digit() || " .()+-*/^%".contains(c))
        && sum.matches('-').count() + sum.matches('/').count() + sum.matches('.').count() < 2;
    (is_sum && has(setting, "calculator")).then(|| tool("calculate", "calculator", json!({ "expression": sum })))
}

/// A step that is exactly one tool call.
fn tool_step(verb: &str, request: &ParsedRequest, setting: &Setting) -> Option<NodeDraft> {
    let take = |kind: SlotKind| request.take(&slot(kind)).and_then(|value| value.as_str().map(str::to_owned));
    let says = |forms: &[&str]| request.words.iter().any(|word| !word.quoted && forms.contains(&word.lower.as_str()));
    let few_words = request.words.len() <= 8;
    match verb {
        "save" | "write" | "store" | "put" | "export" | "dump" if setting.follows && has(setting, "write_file") => {
            let points = says(&[
                "it",
                "them",
                "result",
                "results",
                "this",
                "that",
                "everything",
                "all",
                "output",
                "findings",
                "report",
                "summary",
                "answer",
            ]);
            request.output().filter(|_| points && few_words).map(write)
        }
        "fetch" | "get" | "download" | "open" | "visit" | "crawl" | "read" | "load" if few_words => {
            let page =
                take(SlotKind::Url).filter(|_| has(setting, "fetch_url")).map(|url| tool("fetch_page", "fetch_url", json!({ "url": url })));
            page.or_else(|| {
                take(SlotKind::File)
                    .filter(|_| has(setting, "read_file"))
                    .map(|path| tool("read_file", "read_file", json!({ "path": path })))
            })
        }
        "show" | "print" | "display" if request.words.len() <= 9 && has(setting, "read_file") => take(SlotKind::File).map(|path| {
            let limit = request.take(&slot(SlotKind::Number)).filter(|_| says(&["lines", "line"]) && says(&["first", "top"]));
            let args = limit.map_or_else(|| json!({ "path": path }), |limit| json!({ "path": path, "limit": limit }));
            tool("read_file", "read_file", args)
        }),
        "run" | "execute" if has(setting, "run_command") => {
            take(SlotKind::Command).map(|command| tool("run_command", "run_command", json!({ "command": command })))
        }
        "calculate" | "compute" if has(setting, "calculator") => {
            take(SlotKind::Expression).map(|expression| tool("calculate", "calculator", json!({ "expression": expression })))
        }
        "list" if has(setting, "list_directory") && says(&["files", "file", "directory", "folder", "directories", "folders"]) => {
            let mut args = json!({ "path": take(SlotKind::Directory).unwrap_or_else(|| ".".to_owned()), "recursive": true });
            if let Some(glob) = take(SlotKind::Glob) {
                args["glob"] = json!(glob);
            }
            Some(tool("list_files", "list_directory", args))
        }
        "search" | "find" | "grep" if has(setting, "search_files") && says(&["files", "code", "folder", "directory", "src"]) => {
            let pattern = take(SlotKind::Text)?;
            let path = take(SlotKind::Directory).unwrap_or_else(|| ".".to_owned());
            Some(tool("search_files", "search_files", json!({ "pattern": pattern, "literal": true, "path": path })))
        }
        "ask" if says(&["me", "user", "operator", "human"]) => {
            let card = by_name(setting.catalog, "operator")?;
            Some(NodeDraft { name: "ask_operator".to_owned(), node: json!({ "agent": card.name, "objective": literal(request.text) }) })
        }
        _ => None,
    }
}

fn agent_step(text: &str, request: &ParsedRequest, catalog: &Catalog) -> NodeDraft {
    let card = best(&request.words, catalog);
    let mut node = agent_node(card, &literal(text));
    // A long objective needs more room than the default limit of tokens leaves.
    let tokens = text.len() / 3;
    if tokens > 3_000 {
        node["budget"] = json!({ "tokens": (tokens * 3).max(10_000) });
    }
    NodeDraft { name: name(&request.words), node }
}

fn agent_node(card: Option<&AgentInfo>, objective: &str) -> Value {
    match card {
        Some(card) => json!({ "agent": card.name, "objective": objective }),
        None => json!({ "role": "a careful generalist", "goal": objective }),
    }
}

fn by_name<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a AgentInfo> {
    catalog.agents.iter().find(|agent| agent.name == name)
}

/// The agent whose words fit a step best; one that writes when none does.
fn best<'a>(step: &[Word], catalog: &'a Catalog) -> Option<&'a AgentInfo> {
    let verb = words::leading_verb(step).map(stem);
    let stems: Vec<String> = step.iter().filter(|word| !words::is_stopword(&word.lower)).map(|word| stem(&word.lower)).collect();
    let score = |agent: &AgentInfo| {
        if step.iter().any(|word| word.raw == agent.name) {
            return 100;
        }
        let subjects = SUBJECTS.iter().find(|(name, _)| *name == agent.name).map_or("", |(_, subjects)| subjects);
        let special: Vec<String> = subjects.split_whitespace().map(stem).collect();
        let described: Vec<String> = words::words(&format!("{} {}", agent.name.replace(['_', '-'], " "), agent.description))
            .iter()
            .map(|word| stem(&word.lower))
            .collect();
        let hits = |list: &[String]| stems.iter().filter(|word| list.contains(word) && word.len() > 1).count();
        // Scripts without spaces: a subject is looked for inside the words.
        let inside = subjects
            .split_whitespace()
            .filter(|subject| !subject.is_ascii() && step.iter().any(|word| word.lower.contains(subject)))
            .count();
        let by_verb = verb.as_ref().is_some_and(|verb| special.contains(verb));
        2 * hits(&special) + hits(&described) + 2 * inside + if by_verb { 2 } else { 0 }
    };
    let candidates = catalog.agents.iter().filter(|agent| agent.kind != "human");
    let (best, points) = candidates
        .map(|agent| (agent, score(agent)))
        .fold((None, 0), |(best, most), (agent, points)| if points > most { (Some(agent), points) } else { (best, most) });
    let fallback = || by_name(catalog, "writer").or_else(|| catalog.agents.iter().find(|agent| agent.kind == "llm"));
    if points > 0 { best } else { fallback() }
}

/// A crude stem: endings of English plurals and verbs taken off.
fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if !lower.is_ascii() || lower.len() <= 4 {
        return lower;
    }
    for ending in ["ations", "ation", "ings", "ing", "ies", "ers", "er", "es", "ed", "s", "e", "y"] {
        if let Some(stem) = lower.strip_suffix(ending).filter(|stem| stem.len() >= 4) {
            return stem.to_owned();
        }
    }
    lower
}

/// A name for a step, of its first words that carry something.
fn name(step: &[Word]) -> String {
    let carrying = step.iter().skip_while(|word| words::is_filler(&word.lower));
    let parts: Vec<String> = carrying
        .filter(|word| !words::is_stopword(&word.lower) && !places::is_file(word) && places::url(&word.raw).is_none())
        .map(|word| word.lower.chars().map(plain_letter).collect::<String>())
        .filter(|part| !part.is_empty() && part.len() <= 20)
        .take(3)
        .collect();
    parts.join("_")
}

/// A letter as ids can have it; nothing for what is no letter of theirs.
fn plain_letter(c: char) -> &'static str {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    match c {
        'ä' | 'æ' => "ae",
        'ö' | 'ø' | 'œ' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'à' | 'á' | 'â' | 'ã' | 'å' => "a",
        'ç' => "c",
        'è' | 'é' | 'ê' | 'ë' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ñ' => "n",
        'ò' | 'ó' | 'ô' | 'õ' => "o",
        'ù' | 'ú' | 'û' => "u",
        _ => LETTERS.find(c).map_or("", |at| &LETTERS[at..=at]),
    }
}

/// The step without politeness at its beginning and full stop at its end.
fn clean(text: &str) -> String {
    let mut rest = text.trim().trim_end_matches([',', ';', '.', ' ']);
    while let Some(first) = rest.split_whitespace().next() {
        let word = first.trim_matches([',', ':', ';']).to_lowercase();
        let drops =
            words::is_filler(&word) && rest.len() > first.len() && (word != "the" && word != "help" && word != "have" && word != "start");
        let behind = rest[first.len()..].trim_start();
        if !drops || words::leading_verb(&words::words(rest)).is_none() {
            break;
        }
        rest = behind;
    }
    let mut letters = rest.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::AgentRegistry;

    fn catalog() -> Catalog {
        Catalog { agents: AgentRegistry::open(std::path::Path::new("/nonexistent"), None).cards().infos(), ..Catalog::default() }
    }

    fn agent(text: &str) -> String {
        let catalog = catalog();
        let drafts = drafts(text, &Setting { catalog: &catalog, follows: false });
        drafts.last().and_then(|draft| draft.node["agent"].as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[test]
    fn each_step_goes_to_the_agent_that_fits_best() {
        for (text, expected) in [
            ("Research the market for e-bikes", "web_researcher"),
            ("Find the latest news about Rust", "web_researcher"),
            ("Review the code of the parser for bugs", "code_analyzer"),
            ("Decide whether we should move to microservices", "deep_reasoner"),
            ("Plan a weekend trip to Lisbon", "travel_planner"),
            ("Analyze the sales data for outliers", "data_analyst"),
            ("Debug the crash in the login page", "debug_assistant"),
            ("Delete all temporary folders", "code_executor"),
            ("Write a poem about the sea", "writer"),
            ("Blah blub", "writer"),
            ("使用网络搜索最新消息", "web_researcher"),
            ("use data_analyst on the poem", "data_analyst"),
        ] {
            assert_eq!(agent(text), expected, "{text}");
        }
    }

    #[test]
    fn names_of_steps_keep_their_letters() {
        assert_eq!(name(&words::words("Zähle Größen")), "zaehle_groessen");
    }

    #[test]
    fn without_any_agent_a_step_has_an_inline_one() {
        let drafts = drafts("Sing", &Setting { catalog: &Catalog::default(), follows: false });
        assert_eq!(drafts[0].node["goal"], "Sing");
    }

    #[test]
    fn braces_in_a_request_are_no_references() {
        assert_eq!(literal("a {{b}} $OUTPUT[c]"), "a \\{{b}} $OUTPUT [c]");
    }

    #[test]
    fn politeness_is_not_part_of_an_objective() {
        assert_eq!(clean("could you please write a poem."), "Write a poem");
        assert_eq!(clean("the sea"), "The sea");
    }
}
