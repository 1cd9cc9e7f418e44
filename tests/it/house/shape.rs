//! How big things may be and how they hang together: fields of a struct, names of types, circles of files.
//!
//! The lists at the top name what doesn't hold yet. They may only shrink: an entry that isn't needed any more fails the test.

use super::{Source, report, sources};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

/// More fields than this are several things in one struct.
const MOST_FIELDS: usize = 12;

/// Types of published JSON and tables of the configuration: their fields are flat because other programs and people write them so.
const WIRE_TYPES: [&str; 2] = ["ModelsConfig", "Policy"];

/// Structs that still have more fields.
const WIDE_STRUCTS: [&str; 1] = ["AgentJob"];

/// A circle of more files than this can't be read one file at a time.
const LARGEST_CIRCLE: usize = 3;

/// Facts, requests and states that every place has to think of, so that a new one doesn't compile until each of them has.
const WITHOUT_WILDCARD: [&str; 5] = ["Event::", "NodeFact::", "Action::", "Command::", "NodeState::"];

/// The name after a keyword that opens a definition, if the line is one.
fn defined<'l>(line: &'l str, keywords: &[&str]) -> Option<&'l str> {
    let bare = line.trim_start();
    let bare = bare.strip_prefix("pub").map_or(bare, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let rest = keywords.iter().find_map(|keyword| bare.trim_start().strip_prefix(keyword)?.strip_prefix(' '))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The structs of a file with the line of their definition and the number of their fields.
fn structs(source: &Source) -> Vec<(usize, &str, usize)> {
    let mut found: Vec<(usize, &str, usize)> = Vec::new();
    let mut open: Option<usize> = None;
    for (number, line) in source.code() {
        match open {
            None if line.ends_with('{') => {
                if let Some(name) = defined(line, &["struct"]) {
                    open = Some(indent(line));
                    found.push((number, name, 0));
                }
            }
            Some(depth) if indent(line) == depth && line.trim_start().starts_with('}') => open = None,
            Some(depth) if indent(line) == depth + 4 => {
                let name = line.trim_start().split(": ").next().and_then(|field| field.split(' ').next_back()).unwrap_or_default();
                let is_field = line.contains(": ") && name.chars().all(|letter| letter.is_alphanumeric() || "_#".contains(letter));
                if let Some((_, _, fields)) = found.last_mut().filter(|_| is_field) {
                    *fields += 1;
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_struct_has_at_most_12_fields() {
    let mut found = Vec::new();
    let mut wide = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (line, name, fields) in structs(source).into_iter().filter(|(_, _, fields)| *fields > MOST_FIELDS) {
            wide.insert(name.to_owned());
            if !WIRE_TYPES.contains(&name) && !WIDE_STRUCTS.contains(&name) {
                let place = source.path.display();
                found.push(format!(
                    "{place}:{line}: `{name}` has {fields} fields; group those that change together into a struct of their own"
                ));
            }
        }
    }
    let narrow = WIRE_TYPES.iter().chain(&WIDE_STRUCTS).filter(|name| !wide.contains(**name));
    found.extend(narrow.map(|name| format!("`{name}` has at most {MOST_FIELDS} fields now; take it off the list in this test")));
    report(&found);
}

#[test]
fn a_type_name_that_is_visible_outside_its_file_is_defined_once() {
    let mut places: BTreeMap<String, Vec<(bool, String)>> = BTreeMap::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (number, line) in source.code().filter(|(_, line)| !line.starts_with(' ')) {
            if let Some(name) = defined(line, &["struct", "enum", "trait", "type", "union"]) {
                places.entry(name.to_owned()).or_default().push((line.starts_with("pub"), format!("{}:{number}", source.path.display())));
            }
        }
    }
    // One that only its file sees still makes a reader ask which of the two is meant.
    places.retain(|_, places| places.len() > 1 && places.iter().any(|(is_visible, _)| *is_visible));
    let found: Vec<String> = places
        .iter()
        .map(|(name, places)| {
            let places: Vec<&str> = places.iter().map(|(_, place)| place.as_str()).collect();
            format!("`{name}` is defined in {}; name each for what it is (glossary in src/ARCHITECTURE.md)", places.join(" and "))
        })
        .collect();
    report(&found);
}

/// Which file uses which, by the paths that are written in it.
pub(super) mod arrows {
    use super::{BTreeMap, BTreeSet, Source};

    type Path = Vec<String>;

    /// A file with the names that it uses of others.
    pub struct Graph {
        pub files: Vec<String>,
        pub arrows: BTreeMap<(usize, usize), BTreeSet<String>>,
    }

    struct Module {
        path: Path,
        /// What `use` brings in, by its name here, and whether it is only handed on.
        imports: Vec<Import>,
        /// Paths in the code besides.
        mentions: Vec<Path>,
    }

    struct Import {
        name: String,
        path: Path,
        is_handed_on: bool,
    }

    pub fn of(room: &str, sources: &[Source]) -> Graph {
        let files: Vec<&Source> = sources.iter().filter(|source| source.room == room && !source.is_test()).collect();
        let modules: Vec<Module> = files.iter().map(|source| module(source)).collect();
        let at: BTreeMap<&Path, usize> = modules.iter().enumerate().map(|(index, module)| (&module.path, index)).collect();
        let mut arrows: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
        for (from, module) in modules.iter().enumerate() {
            let used = module.imports.iter().filter(|import| !import.is_handed_on).map(|import| &import.path);
            for path in used.chain(&module.mentions) {
                if let Some((to, name)) = resolve(path, &modules, &at, 8).filter(|(to, _)| *to != from) {
                    arrows.entry((from, to)).or_default().insert(name);
                }
            }
        }
        Graph { files: files.iter().map(|source| source.path.display().to_string()).collect(), arrows }
    }

    /// The file in which the end of a path is defined: what another file hands on is looked up where it comes from.
    fn resolve(path: &[String], modules: &[Module], at: &BTreeMap<&Path, usize>, depth: usize) -> Option<(usize, String)> {
        let length = (1..=path.len()).rev().find(|length| at.contains_key(&path[..*length].to_vec()))?;
        let index = *at.get(&path[..length].to_vec())?;
        let Some(name) = path.get(length) else { return Some((index, path[length - 1].clone())) };
        let import = modules[index].imports.iter().find(|import| import.name == *name);
        match import.filter(|_| depth > 0) {
            Some(import) => resolve(&[&import.path[..], &path[length + 1..]].concat(), modules, at, depth - 1),
            None => Some((index, name.clone())),
        }
    }

    fn module(source: &Source) -> Module {
        let mut path: Path = source.path.with_extension("").iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
        if path.last().is_some_and(|last| last == "mod") {
            path.pop();
        }
        let (mut uses, mut rest, mut children) = (Vec::new(), String::new(), Vec::new());
        let mut open: Option<String> = None;
        for (_, line) in source.code() {
            let bare = line.trim_start();
            let is_use = bare.starts_with("use ") || bare.starts_with("pub") && bare.split(' ').nth(1) == Some("use");
            match &mut open {
                Some(text) => text.push_str(bare),
                None if is_use => open = Some(bare.to_owned()),
                None => {
                    children.extend(bare.strip_suffix(';').and_then(|bare| bare.split("mod ").nth(1)).map(str::to_owned));
                    // Who may see a thing doesn't make its file use theirs.
                    rest.push_str(&line.replace("pub(in crate::", "pub(in "));
                    rest.push('\n');
                }
            }
            uses.extend(open.take_if(|text| text.ends_with(';')));
        }
        let words: Vec<&str> = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let mut imports = Vec::new();
        for text in &uses {
            let (scope, tree) = text.trim_end_matches(';').split_once("use ").unwrap();
            for (written, name) in expand(tree) {
                let Some(full) = absolute(&written, &path, &children) else { continue };
                let is_handed_on = !scope.is_empty() && !words.contains(&name.as_str());
                imports.push(Import { name, path: full, is_handed_on });
            }
        }
        let mentions = mentions(&rest).iter().filter_map(|written| absolute(written, &path, &children)).collect();
        Module { path, imports, mentions }
    }

    /// `a::{b, c::d as e}` as its single paths, each with the name that it gets.
    pub(in super::super) fn expand(tree: &str) -> Vec<(Path, String)> {
        let tree = tree.trim().trim_end_matches(',');
        let Some((head, inner)) = tree.split_once('{') else {
            let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
            let mut path: Path = path.split("::").filter(|part| *part != "*").map(|part| part.trim().to_owned()).collect();
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let name = alias.map_or_else(|| path.last().cloned().unwrap_or_default(), str::to_owned);
            return vec![(path, name)];
        };
        let inner = inner.strip_suffix('}').unwrap_or(inner);
        let (mut parts, mut depth, mut begin) = (Vec::new(), 0, 0);
        for (place, letter) in inner.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(&inner[begin..place]);
                    begin = place + 1;
                }
                _ => {}
            }
        }
        parts.push(&inner[begin..]);
        let full = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).map(|part| format!("{head}{part}"));
        full.flat_map(|path| expand(&path)).collect()
    }

    /// Paths with `::` in the code.
    fn mentions(code: &str) -> Vec<Path> {
        let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        let words = code.split(|letter| !is_path(letter)).filter(|word| word.contains("::"));
        words.map(|word| word.split("::").take_while(|part| !part.is_empty()).map(str::to_owned).collect()).collect()
    }

    /// A written path from the crate's root; none where it leads out of the crate.
    fn absolute(written: &[String], here: &[String], children: &[String]) -> Option<Path> {
        let ups = written.iter().take_while(|part| *part == "super").count();
        match written.first()?.as_str() {
            "crate" => Some(written[1..].to_vec()),
            "self" => Some([here, &written[1..]].concat()),
            "super" => Some([here.get(..here.len().checked_sub(ups)?)?, &written[ups..]].concat()),
            child if children.iter().any(|name| name == child) => Some([here, written].concat()),
            _ => None,
        }
    }

    impl Graph {
        /// The largest set of files each of which leads to each other.
        pub fn largest_circle(&self, without: Option<(usize, usize)>) -> Vec<usize> {
            let reach = |start: usize, back: bool| {
                let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
                while let Some(here) = open.pop() {
                    for (from, to) in self.arrows.keys().filter(|arrow| Some(**arrow) != without) {
                        let (from, to) = if back { (to, from) } else { (from, to) };
                        if *from == here && seen.insert(*to) {
                            open.push(*to);
                        }
                    }
                }
                seen
            };
            let (mut largest, mut left): (Vec<usize>, BTreeSet<usize>) = (Vec::new(), (0..self.files.len()).collect());
            while let Some(start) = left.pop_first() {
                let back = reach(start, true);
                let circle: Vec<usize> = reach(start, false).into_iter().filter(|file| back.contains(file)).collect();
                left.retain(|file| !circle.contains(file));
                if circle.len() > largest.len() {
                    largest = circle;
                }
            }
            largest
        }
    }
}

#[test]
fn a_room_has_no_circle_of_more_than_3_files() {
    let sources = sources();
    let rooms: BTreeSet<&str> = sources.iter().map(|source| source.room.as_str()).collect();
    let mut found = Vec::new();
    for room in rooms {
        let graph = arrows::of(room, &sources);
        let circle = graph.largest_circle(None);
        if circle.len() > LARGEST_CIRCLE {
            let within = |arrow: &&(usize, usize)| circle.contains(&arrow.0) && circle.contains(&arrow.1);
            let mut cuts: Vec<(usize, usize, String)> = graph
                .arrows
                .keys()
                .filter(within)
                .map(|arrow| {
                    let names: Vec<&str> = graph.arrows[arrow].iter().map(String::as_str).collect();
                    let left = graph.largest_circle(Some(*arrow)).len();
                    (left, names.len(), format!("    {} uses {} of {}", graph.files[arrow.0], names.join(", "), graph.files[arrow.1]))
                })
                .collect();
            cuts.sort();
            let files: Vec<&str> = circle.iter().map(|file| graph.files[*file].as_str()).collect();
            let cuts: Vec<String> =
                cuts.into_iter().take(12).map(|(left, _, arrow)| format!("{arrow} (without it {left} files)")).collect();
            found.push(format!(
                "{room}: {} files use each other in a circle; move what they share down, or hand it in. Arrows that hold it together:\n{}\n  files: {}",
                circle.len(),
                cuts.join("\n"),
                files.join(" ")
            ));
        }
    }
    report(&found);
}

/// Whether an arm takes whatever comes, as `_` does: names alone, also in a tuple.
fn takes_everything(line: &str) -> bool {
    let Some((pattern, _)) = line.trim_start().split_once(" =>") else { return false };
    let pattern = pattern.split(" if ").next().unwrap_or_default().trim_start_matches('(').trim_end_matches(')');
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    pattern.split(", ").all(|part| is_name(part.trim_start_matches("Some(").trim_end_matches(')')) && !["true", "false"].contains(&part))
}

/// The enum among those without wildcards whose variant a line names, in an `impl` of `own` also as `Self`.
fn named_enum(line: &str, own: &str) -> Option<&'static str> {
    let names = |name: &str| {
        line.match_indices(name)
            .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':'))
            || line.contains(&format!("engine::{name}"))
    };
    let own = if names("Self::") { WITHOUT_WILDCARD.into_iter().find(|kind| kind.trim_end_matches(':') == own) } else { None };
    own.or_else(|| WITHOUT_WILDCARD.into_iter().find(|kind| names(kind)))
}

/// The lines of a file on which a match over an enum that must not have a wildcard hides what is new.
fn wildcards(source: &Source) -> Vec<(usize, &str)> {
    let lines: Vec<(usize, &str)> = source.code().collect();
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        if line.contains("Event::Node { .. }") {
            found.push((*number, "NodeFact"));
        }
        if !takes_everything(line) {
            continue;
        }
        let depth = indent(line);
        let own = lines[..at].iter().rev().find_map(|(_, line)| line.strip_prefix("impl ")).unwrap_or_default();
        let own = own.split(" for ").last().and_then(|own| own.split(' ').next()).unwrap_or_default();
        let arms = lines[..at].iter().rev().map(|(_, line)| *line).take_while(|line| line.trim().is_empty() || indent(line) >= depth);
        let pattern = |line: &'_ str| line.split(" =>").next().unwrap_or_default().split(" if ").next().unwrap_or_default().to_owned();
        if let Some(kind) = arms.filter(|line| indent(line) == depth).find_map(|line| named_enum(&pattern(line), own)) {
            found.push((*number, kind));
        }
    }
    found
}

/// A file that still has some of those below; their number may only fall.
const STILL_IN_PASSING: (&str, usize) = ("src/console/update/notices.rs", 1);

/// The lines of a file on which a `matches!` or an `if let` names several variants of an enum that must not have a wildcard: whatever is new is then
/// silently none of them.
fn classes_in_passing(source: &Source) -> Vec<(usize, &'static str)> {
    let lines: Vec<(usize, &str)> = source.code().collect();
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        for (begin, _) in line.match_indices("matches!(") {
            let rest: String = [&line[begin..]].into_iter().chain(lines[at + 1..].iter().take(12).map(|(_, line)| *line)).collect();
            let mut depth = 0;
            let is_end = |letter: char| {
                depth += i32::from(letter == '(') - i32::from(letter == ')');
                letter == ')' && depth == 0
            };
            let asked = rest.find(is_end).map_or("", |end| &rest[..end]);
            found.extend(WITHOUT_WILDCARD.iter().filter(|kind| asked.matches(**kind).count() > 1).map(|kind| (*number, *kind)));
        }
        for (begin, _) in line.match_indices("if let ").chain(line.match_indices("while let ")) {
            let rest: String = [&line[begin..]].into_iter().chain(lines[at + 1..].iter().take(6).map(|(_, line)| *line)).collect();
            let pattern = rest.split(" = ").next().unwrap_or_default();
            found.extend(WITHOUT_WILDCARD.iter().filter(|kind| is_class(pattern, kind)).map(|kind| (*number, *kind)));
        }
    }
    found
}

/// Whether a pattern names several variants of an enum and takes nothing out of them.
fn is_class(pattern: &str, kind: &str) -> bool {
    let binds = |variant: &str| {
        let behind = variant.trim_start_matches(|letter: char| letter.is_alphanumeric()).trim_start();
        behind.starts_with(['{', '(']) && !behind.starts_with("{ .. }") && !behind.starts_with("(_)") && !behind.starts_with("(..)")
    };
    let mut variants = pattern.split(kind).skip(1);
    pattern.matches(kind).count() > 1 && !variants.any(binds)
}

#[test]
fn what_takes_everything_is_seen_however_it_is_written() {
    let source = |text: &str| Source { path: PathBuf::from("src/engine/x.rs"), room: "engine".into(), text: text.into() };
    let is_found = |text: &str| !wildcards(&source(text)).is_empty();
    assert!(is_found("match state {\n    NodeState::Ready => 1,\n    _ => 2,\n}"));
    assert!(is_found("match event {\n    Event::Carried if x => 1,\n    event => 2,\n}"));
    assert!(is_found(
        "impl Event {\n    fn f() {\n        match self {\n            Self::Carried => 1,\n            other => 2,\n        }\n    }\n}"
    ));
    assert!(is_found("match (a, b) {\n    (Action::Pause, _) => 1,\n    (action, _) => 2,\n}"));
    assert!(is_found("match event {\n    Event::Carried => 1,\n    Event::Node { .. } => 2,\n}"));
    assert!(!is_found(
        "impl Row {\n    fn f() {\n        match self {\n            Self::Carried => 1,\n            other => 2,\n        }\n    }\n}"
    ));
    assert!(!is_found("match doing {\n    Doing::Ready => 1,\n    _ => 2,\n}"));
    let is_class = |text: &str| !classes_in_passing(&source(text)).is_empty();
    assert!(is_class("if matches!(state, NodeState::Ready | NodeState::Held) {"));
    assert!(is_class("let x = matches!(\n    action,\n    Action::Pause\n        | Action::Step { .. }\n);"));
    assert!(is_class("if let NodeState::Ready | NodeState::Held = state {"));
    assert!(is_class("} else if let Event::Node { fact: NodeFact::Started { .. } | NodeFact::Completed { .. }, .. } = event\n    && x {"));
    assert!(!is_class("if let Action::Guide { text } | Action::Rewind { text, .. } = action {"));
    assert!(!is_class("if matches!(state, NodeState::Ready) || matches!(state, NodeState::Held) {"));
}

#[test]
fn every_code_of_a_finding_is_found_somewhere() {
    let sources = sources();
    let (table, others): (Vec<&Source>, Vec<&Source>) = sources
        .iter()
        .filter(|source| ["plan", "host"].contains(&source.room.as_str()) && !source.is_test())
        .partition(|source| source.path.ends_with("validate/codes.rs"));
    let rows = table.iter().flat_map(|source| source.code()).filter_map(|(_, line)| line.trim_start().split_once(" \""));
    let codes: Vec<&str> = rows.map(|(code, _)| code).filter(|code| code.chars().all(char::is_alphanumeric)).collect();
    assert!(codes.len() > 50, "the table of codes is read wrongly: {codes:?}");
    let is_found = |code: &&&str| !others.iter().any(|source| source.code().any(|(_, line)| line.contains(&format!("Code::{code}"))));
    let found: Vec<String> =
        codes.iter().filter(is_found).map(|code| format!("no check gives `Code::{code}`: write one, or take the row away")).collect();
    report(&found);
}

#[test]
fn matches_over_events_commands_and_node_states_name_every_variant() {
    let mut found: Vec<String> = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let classes = classes_in_passing(source);
        if STILL_IN_PASSING == (source.path.to_str().unwrap(), classes.len()) {
            continue;
        }
        found.extend(classes.iter().map(|(line, kind)| {
            let (kind, place) = (kind.trim_end_matches(':'), source.path.display());
            format!("{place}:{line}: this says in passing what several {kind}s have in common; ask a trait or a group of it, where a new one is thought of")
        }));
        let faults = wildcards(source);
        found.extend(faults.iter().map(|(line, kind)| {
            let kind = kind.trim_end_matches(':');
            format!("{}:{line}: this hides a new {kind}; name every variant, or ask for a trait of it", source.path.display())
        }));
    }
    report(&found);
}
