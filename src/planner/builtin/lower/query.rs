//! A query as nodes: a listing, a text or a search and a few lines of code; tables and logs as one `query_data`.

use crate::planner::builtin::slots::{Literal, Relation};
use serde_json::{Value, json};

use super::{Given, Lowering, ResultShape, literal};
use crate::planner::builtin::tree::{Direction, FileSet, Match, Query, Range, RowFilter, Source, Test, Total, Want};

/// The column of a single value.
pub(super) const VALUE: &str = "value";

impl Lowering<'_> {
    pub(super) fn query(&mut self, query: &Query) -> Given {
        match &query.source {
            Source::Table(file) => self.table(query, file),
            Source::Commits { path } => self.commits(query, path.as_deref()),
            Source::Files(set) => {
                let fields = fields(query);
                let mut args = json!({ "path": literal(set.root()), "ignored": true });
                if !set.direct {
                    args["recursive"] = json!(true);
                }
                if let Some(glob) = one_glob(&set.globs) {
                    args["glob"] = json!(glob);
                }
                if fields.iter().any(|field| field == "entries") {
                    args["all"] = json!(true);
                }
                if fields.iter().any(|field| field == "lines") {
                    args["count_lines"] = json!(true);
                }
                let list = self.add("list_files", json!({ "title": format!("list the {set}"), "tool": "list_directory", "args": args }));
                self.code(query, &list, &files_code(set, &list))
            }
            Source::Lines(file) => self.lines(query, file),
            Source::Matches { text, mode, files } => {
                let mut args = json!({ "pattern": literal(text), "literal": true, "path": literal(files.root()), "ignored": true, "max_results": 2000 });
                if mode.any_case {
                    args["ignore_case"] = json!(true);
                }
                if let Some(glob) = one_glob(&files.globs) {
                    args["glob"] = json!(glob);
                }
                let title = if text.is_empty() {
                    (args["pattern"], args["literal"]) = (json!("^"), json!(false));
                    format!("read the lines of the {files}")
                } else {
                    if mode.word {
                        (args["pattern"], args["literal"]) = (json!(literal(&whole_word(text))), json!(false));
                    }
                    format!("search for {} in {files}", crate::planner::builtin::slots::quoted(text))
                };
                let search = self.add("search", json!({ "title": title, "tool": "search_files", "args": args }));
                let mut rows = format!(
                    "const found = deps.{search}.output;\nif (found.truncated) throw new Error(\"there are more than 2,000 matches; ask for a narrower place\");\nlet rows = found.matches;\n"
                );
                if query.want == Want::Lacking {
                    return self.lacking(query, files, &search);
                }
                rows.push_str(&except_code(files));
                if fields(query).iter().any(|field| field == "times") {
                    rows.push_str(&format!(
                        "rows = rows.map((row) => ({{ ...row, times: row.text.split({}).length - 1 }}));\n",
                        sought(text, *mode)
                    ));
                }
                self.code(query, &search, &rows)
            }
        }
    }

    fn lines(&mut self, query: &Query, file: &str) -> Given {
        let mut args = json!({ "path": literal(file) });
        let whole = query.filters.is_empty() && query.sort.is_empty() && !query.reverse && query.want == Want::Rows(Vec::new());
        match query.part {
            Some(Range::First(count)) if whole => args["to"] = json!(count),
            Some(Range::Last(count)) if whole => args["last"] = json!(count),
            Some(Range::Lines(from, to)) if whole => (args["from"], args["to"]) = (json!(from), json!(to)),
            Some(Range::From(from)) if whole => args["from"] = json!(from),
            _ => {}
        }
        let title = if whole && query.part.is_some() { query.to_string() } else { format!("read {file}") };
        let read = self.add("read_file", json!({ "title": title, "tool": "read_file", "args": args }));
        if whole && query.part.is_some() {
            return Given::new(read, ResultShape::Value);
        }
        let rows = format!(
            "const text = deps.{read}.output;\nlet rows = (text === \"\" ? [] : text.replace(/\\r?\\n$/, \"\").split(/\\r?\\n/)).map((text, at) => ({{ line: at + 1, text }}));\n"
        );
        self.code(query, &read, &rows)
    }

    /// What the log of the repository says, newest first.
    fn commits(&mut self, query: &Query, path: Option<&str>) -> Given {
        let mut args = json!({ "command": "log", "limit": 1000 });
        if let Some(path) = path {
            args["path"] = json!(literal(path));
        }
        // Git looks into whole messages; the log has their first lines.
        let mut query = query.clone();
        query.filters.retain(|filter| match &filter.test {
            Test::Contains(text, _) if filter.field == "message" => {
                args["message"] = json!(literal(text));
                false
            }
            _ => true,
        });
        let is_list = query.group.is_empty() && matches!(query.want, Want::Rows(_));
        let log = self.add("log", json!({ "title": format!("read the log{}", path.map_or(String::new(), |path| format!(" of {path}"))), "tool": "git", "args": args }));
        let rows = format!(
            "const log = deps.{log}.output;\nif (log.length === 1000) throw new Error(\"there are more than 1,000 commits\");\nlet rows = log.map(({{ hash, author, date, subject }}) => ({{ hash: hash.slice(0, 8), author, date, subject, year: date.slice(0, 4), month: date.slice(0, 7), day: date.slice(0, 10) }})).reverse();\n"
        );
        query.reverse = is_list && !matches!(query.part, Some(Range::First(_)));
        self.code(&query, &log, &rows)
    }

    /// The files in which a search found nothing.
    fn lacking(&mut self, query: &Query, files: &FileSet, search: &str) -> Given {
        let list = self.query(&Query::rows(Source::Files(files.clone())));
        let code = format!(
            "const found = deps.{search}.output;\nif (found.truncated) throw new Error(\"there are more than 2,000 matches; ask for a narrower place\");\nconst having = new Set(found.matches.map((row) => row.path));\nreturn deps.{}.output.filter((path) => !having.has(path));",
            list.id
        );
        let id = self.add("select", json!({ "title": query.to_string(), "code": code, "depends_on": [search, list.id] }));
        Given::new(id, ResultShape::Rows)
    }

    /// A code node that does the rest.
    fn code(&mut self, query: &Query, source: &str, rows: &str) -> Given {
        let code = format!("{rows}{}", pipeline(query));
        let name = match &query.want {
            Want::Count | Want::CountDistinct(_) | Want::CountColumns => "count",
            Want::Total(..) => "total",
            Want::Duplicates(_) => "duplicates",
            Want::Exists => "check",
            _ if !query.sort.is_empty() => "rank",
            _ => "select",
        };
        let id = self.add(name, json!({ "title": query.to_string(), "code": code, "depends_on": [source] }));
        let is_text = matches!((&query.source, &query.want), (Source::Lines(_), Want::Rows(_)));
        Given::new(id, if is_text || query.is_scalar() { ResultShape::Value } else { ResultShape::Rows })
    }

    /// The text of rows in a format.
    pub(super) fn formatted(&mut self, given: &Given, format: &str, title: &str) -> Given {
        if let Some(log) =
            given.log.as_ref().filter(|_| !["csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml", "md", "markdown"].contains(&format))
        {
            return self.log_lines(&given.id, log, title);
        }
        let rows = match given.shape {
            ResultShape::Table => format!(
                "const {{ columns, decimals = {{}} }} = deps.{id}.output;\n{WRITTEN}const rows = deps.{id}.output.rows{};\n",
                if is_text(format) { ".map(written)" } else { "" },
                id = given.id
            ),
            ResultShape::Cell => format!("const rows = [deps.{}.output.rows[0].{VALUE}], columns = [];\n", given.id),
            ResultShape::Rows | ResultShape::Value | ResultShape::Text => format!(
                "const rows = deps.{}.output;\nconst columns = [...new Set(rows.flatMap((row) => (row !== null && typeof row === \"object\" ? Object.keys(row) : [])))];\n",
                given.id
            ),
        };
        let body = match format {
            "csv" | "tsv" => {
                // A table with semicolons keeps them.
                let separator = if format == "tsv" { "\\t" } else if given.separator == ';' { ";" } else { "," };
                format!(
                    "const cell = (value) => {{\n  const text = value === null || value === undefined ? \"\" : typeof value === \"object\" ? JSON.stringify(value) : String(value);\n  return /[\"\\r\\n{separator}]/.test(text) ? '\"' + text.replaceAll('\"', '\"\"') + '\"' : text;\n}};\nif (columns.length === 0) return rows.map(cell).join(\"\\n\");\nreturn [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((row) => row.map(cell).join(\"{separator}\")).join(\"\\n\");"
                )
            }
            "json" => "return JSON.stringify(rows, null, 2);".to_owned(),
            "jsonl" | "ndjson" => "return rows.map((row) => JSON.stringify(row)).join(\"\\n\");".to_owned(),
            "yaml" | "yml" => "if (columns.length === 0) return rows.map((row) => \"- \" + JSON.stringify(row)).join(\"\\n\");\nreturn rows.map((row) => columns.map((name, at) => (at === 0 ? \"- \" : \"  \") + (/^[A-Za-z_]\\w*$/.test(name) ? name : JSON.stringify(name)) + \": \" + JSON.stringify(row[name] ?? null)).join(\"\\n\")).join(\"\\n\");".to_owned(),
            "md" | "markdown" => "const cell = (value) => (value === null || value === undefined ? \"\" : String(value)).replaceAll(\"|\", \"\\\\|\").replaceAll(\"\\n\", \" \");\nif (columns.length === 0) return rows.map((row) => (rows.length > 1 ? \"- \" : \"\") + row).join(\"\\n\");\nreturn [columns, columns.map(() => \"---\"), ...rows.map((row) => columns.map((name) => cell(row[name])))].map((row) => \"| \" + row.join(\" | \") + \" |\").join(\"\\n\");".to_owned(),
            _ => "return rows.map((row) => (row !== null && typeof row === \"object\" ? columns.map((name) => row[name] ?? \"\").join(\"\\t\") : String(row))).join(\"\\n\");".to_owned(),
        };
        let code = format!("{rows}const text = () => {{\n{body}\n}};\nreturn text() === \"\" ? \"\" : text() + \"\\n\";");
        Given::new(self.add("report", json!({ "title": title, "code": code, "depends_on": [given.id] })), ResultShape::Text)
    }

    /// Lines of a log as they are in the file.
    pub(super) fn log_lines(&mut self, id: &str, log: &str, title: &str) -> Given {
        let read = self.add("read_log", json!({ "title": format!("read {log}"), "tool": "read_file", "args": { "path": literal(log) } }));
        let code = format!(
            "const lines = deps.{read}.output.split(/\\r?\\n/);\nreturn deps.{id}.output.rows.map((row) => lines[row.line - 1] + \"\\n\").join(\"\");"
        );
        Given::new(self.add("report", json!({ "title": title, "code": code, "depends_on": [id, read] })), ResultShape::Text)
    }
}

/// A row with its numbers as their file writes them.
const WRITTEN: &str = "const written = (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === \"number\" && name in decimals ? value.toFixed(decimals[name]) : value]));\n";

/// Whether numbers are text in a format.
fn is_text(format: &str) -> bool {
    !["json", "jsonl", "ndjson", "yaml", "yml"].contains(&format)
}

/// Fields that a query reads.
fn fields(query: &Query) -> Vec<String> {
    let mut fields: Vec<String> = query.filters.iter().map(|filter| filter.field.clone()).chain(query.group.clone()).collect();
    fields.extend(query.sort.iter().map(|(field, _)| field.clone()));
    match &query.want {
        Want::Rows(wanted) | Want::Distinct(wanted) => fields.extend(wanted.clone()),
        Want::Total(_, field) | Want::CountDistinct(field) | Want::Duplicates(Some(field)) => fields.push(field.clone()),
        _ => {}
    }
    fields
}

/// Several patterns as one.
pub(in crate::planner::builtin) fn one_glob(globs: &[String]) -> Option<String> {
    let flat: Vec<String> = globs
        .iter()
        .flat_map(|glob| match (glob.find('{'), glob.rfind('}')) {
            (Some(from), Some(to)) if from < to => {
                glob[from + 1..to].split(',').map(|middle| format!("{}{middle}{}", &glob[..from], &glob[to + 1..])).collect()
            }
            _ => vec![glob.clone()],
        })
        .collect();
    match &flat[..] {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(format!("{{{}}}", flat.join(","))),
    }
}

fn files_code(set: &FileSet, list: &str) -> String {
    let kind = if set.folders { "directory" } else { "file" };
    let mut code = format!("let rows = deps.{list}.output.filter((row) => row.type === {});\n", json!(kind));
    if set.folders {
        // What is hidden is in a folder, too, and is none that is meant.
        code.push_str(&format!("rows = rows.filter((row) => !/(^|\\/)\\./.test(row.path)).map((row) => ({{ ...row, entries: deps.{list}.output.filter((other) => other.path.startsWith(row.path + \"/\")).length }}));\n"));
    }
    code.push_str(&except_code(set));
    code.push_str("const name = (row) => row.path.split(\"/\").pop();\n");
    code.push_str("rows = rows.map((row) => ({ ...row, name: name(row), kind: /.\\.[^.]+$/.test(name(row)) ? name(row).replace(/^.*\\./, \".\") : \"(none)\", folder: row.path.includes(\"/\") ? row.path.replace(/\\/[^/]*$/, \"\") : \".\" }));\n");
    code
}

/// A text as a pattern of code.
fn sought(text: &str, mode: Match) -> String {
    let pattern = if mode.word { whole_word(text) } else { escaped(text) };
    format!("new RegExp({}, {})", json!(pattern), json!(if mode.any_case { "i" } else { "" }))
}

/// A text as a pattern that means nothing but itself.
fn escaped(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_punctuation() { format!("\\{letter}") } else { letter.to_string() }).collect()
}

/// A text where it is no part of another word.
fn whole_word(text: &str) -> String {
    let edge = |letter: Option<char>| if letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_') { "\\b" } else { "" };
    format!("{}{}{}", edge(text.chars().next()), escaped(text), edge(text.chars().last()))
}

/// Leaves out folders, files and patterns, and what is in no folder that is meant.
fn except_code(set: &FileSet) -> String {
    let test = |except: &String| {
        if except.ends_with('/') {
            format!("row.path.startsWith({})", json!(except))
        } else if except.contains('*') {
            let pattern: String = one_glob(std::slice::from_ref(except))
                .and_then(|glob| globset::Glob::new(&glob).ok())
                .map(|glob| glob.regex().trim_start_matches("(?-u)").to_owned())
                .unwrap_or_default();
            format!("new RegExp({}).test(row.path{})", json!(pattern), if except.contains('/') { "" } else { ".split(\"/\").pop()" })
        } else {
            format!("row.path === {}", json!(except))
        }
    };
    let mut code = String::new();
    if !set.also.is_empty() {
        let folders: Vec<String> = std::iter::once(&set.place).chain(&set.also).map(|folder| format!("{folder}/")).collect();
        code = format!("rows = rows.filter((row) => {}.some((folder) => row.path.startsWith(folder)));\n", json!(folders));
    }
    if !set.except.is_empty() {
        code += &format!("rows = rows.filter((row) => !({}));\n", set.except.iter().map(test).collect::<Vec<_>>().join(" || "));
    }
    code
}

/// Filter, order, part and what is wanted, as code over `rows`.
fn pipeline(query: &Query) -> String {
    let mut code = String::new();
    if !query.filters.is_empty() && query.want != Want::Percent {
        code.push_str(&format!("rows = rows.filter((row) => {});\n", query.filters.iter().map(filter).collect::<Vec<_>>().join(" && ")));
    }
    if let Want::Total(total, field) = &query.want {
        code.push_str(&totals(*total, field));
    }
    if let (true, Source::Matches { .. }, Want::Rows(_)) = (!query.group.is_empty(), &query.source, &query.want) {
        let cut = match query.part {
            Some(Range::Last(count)) => format!("slice(-{count})"),
            Some(Range::First(count)) => format!("slice(0, {count})"),
            _ => "slice()".to_owned(),
        };
        code.push_str(&format!("return [...Map.groupBy(rows, (row) => row.path).values()].flatMap((rows) => rows.{cut}).map(({{ path, text }}) => ({{ path, text }}));"));
        return code;
    }
    if !query.group.is_empty() {
        return code + &grouped(query);
    }
    if let Want::Distinct(fields) = &query.want
        && let [field] = &fields[..]
    {
        code.push_str(&format!("rows = [...new Set(rows.map((row) => row.{field}))].map(({field}) => ({{ {field} }}));\n"));
    }
    code.push_str(&ordered(query));
    let show = match &query.want {
        Want::Count => "return rows.length;".to_owned(),
        Want::CountDistinct(field) => format!("return new Set(rows.map((row) => row.{field})).size;"),
        Want::Exists => "return rows.length > 0 ? \"yes\" : \"no\";".to_owned(),
        Want::Total(..) => "return total(rows);".to_owned(),
        Want::Duplicates(field) => {
            let field = field.as_deref().unwrap_or("text");
            format!(
                "const counts = new Map();\nfor (const row of rows) if (row.{field} !== \"\") counts.set(row.{field}, (counts.get(row.{field}) ?? 0) + 1);\nreturn [...counts].filter(([, count]) => count > 1).map(([{field}, count]) => ({{ {field}, count }}));"
            )
        }
        Want::Distinct(fields) => format!("return rows.map((row) => row.{});", fields.first().map_or("text", String::as_str)),
        Want::Rows(_) | Want::Lacking | Want::Percent | Want::Figures(_) | Want::Columns | Want::CountColumns => shown(query),
    };
    code + &show
}

/// Rows as they are shown: with what they were ordered by, or as plain values.
fn shown(query: &Query) -> String {
    let (first, mut more): (&str, Vec<String>) = match &query.source {
        Source::Lines(_) if query.want == Want::Rows(vec!["line".into()]) => {
            return "return rows.map((row) => row.line + \"\\t\" + row.text).join(\"\\n\");".to_owned();
        }
        Source::Lines(_) => return "return rows.map((row) => row.text).join(\"\\n\");".to_owned(),
        Source::Matches { .. } => ("path", vec!["line".into(), "text".into()]),
        Source::Commits { .. } => match &query.want {
            Want::Rows(fields) if !fields.is_empty() => (fields[0].as_str(), fields[1..].to_vec()),
            _ => ("hash", vec!["author".into(), "date".into(), "subject".into()]),
        },
        _ => ("path", Vec::new()),
    };
    let sorted = query.sort.iter().map(|(field, _)| field.clone());
    let filtered =
        query.filters.iter().map(|filter| filter.field.clone()).filter(|field| ["size", "lines", "modified"].contains(&field.as_str()));
    let wanted = if let Want::Rows(fields) = &query.want { fields.clone() } else { Vec::new() };
    for field in wanted.into_iter().chain(sorted).chain(filtered) {
        if field != first && field != "name" && !more.contains(&field) {
            more.push(field);
        }
    }
    if more.is_empty() {
        return format!("return rows.map((row) => row.{first});");
    }
    let fields: Vec<String> = std::iter::once(first.to_owned()).chain(more).map(|field| format!("{field}: row.{field}")).collect();
    format!("return rows.map((row) => ({{ {} }}));", fields.join(", "))
}

fn ordered(query: &Query) -> String {
    let mut code = String::new();
    // Later keys first: sorting keeps the order of equals.
    for (field, direction) in query.sort.iter().rev() {
        let (less, more) = if *direction == Direction::Ascending { (-1, 1) } else { (1, -1) };
        if field == "lines" {
            code.push_str("rows = rows.filter((row) => row.lines !== undefined);\n");
        }
        code.push_str(&format!("rows.sort((a, b) => (a.{field} < b.{field} ? {less} : a.{field} > b.{field} ? {more} : 0));\n"));
    }
    match query.part {
        None => {}
        Some(Range::Top(count)) if query.sort.len() == 1 => {
            let field = &query.sort[0].0;
            code.push_str(&format!("rows = rows.filter((row, at) => at < {count} || row.{field} === rows[{count} - 1].{field});\n"));
        }
        Some(Range::First(count) | Range::Top(count)) => code.push_str(&format!("rows = rows.slice(0, {count});\n")),
        Some(Range::Last(count)) => code.push_str(&format!("rows = rows.slice(-{count});\n")),
        Some(Range::From(from)) => code.push_str(&format!("rows = rows.slice({});\n", from - 1)),
        Some(Range::Lines(from, to)) => code.push_str(&format!("rows = rows.slice({}, {to});\n", from - 1)),
    }
    // `the last 3 lines in reverse` are the last ones.
    if query.reverse {
        code.push_str("rows.reverse();\n");
    }
    code
}

fn totals(total: Total, field: &str) -> String {
    let numbers = format!("const numbers = (rows) => rows.map((row) => row.{field}).filter((value) => typeof value === \"number\");\n");
    let body = match total {
        Total::Sum => "numbers(rows).reduce((sum, value) => sum + value, 0)",
        Total::Average => {
            "(numbers(rows).length === 0 ? null : numbers(rows).reduce((sum, value) => sum + value, 0) / numbers(rows).length)"
        }
        Total::Largest => "(numbers(rows).length === 0 ? null : Math.max(...numbers(rows)))",
        Total::Smallest => "(numbers(rows).length === 0 ? null : Math.min(...numbers(rows)))",
        Total::Median => {
            "((sorted, half) => (sorted.length === 0 ? null : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2))(numbers(rows).sort((a, b) => a - b), Math.floor(numbers(rows).length / 2))"
        }
    };
    format!("{numbers}const total = (rows) => {body};\n")
}

fn grouped(query: &Query) -> String {
    let keys = query.group.iter().map(|field| format!("{field}: row.{field}")).collect::<Vec<_>>().join(", ");
    let value = query.value_name();
    let total = if matches!(query.want, Want::Total(..)) { "total(group)" } else { "group.length" };
    format!(
        "const groups = new Map();\nfor (const row of rows) {{\n  const key = JSON.stringify({{ {keys} }});\n  groups.set(key, [...(groups.get(key) ?? []), row]);\n}}\nrows = [...groups].map(([key, group]) => ({{ ...JSON.parse(key), {value}: {total} }}));\n{}return rows;",
        ordered(query)
    )
}

fn filter(filter: &RowFilter) -> String {
    let field = format!("row.{}", filter.field);
    let test = match &filter.test {
        Test::Compare(Relation::Contains | Relation::Starts | Relation::Ends, _) => "true".to_owned(),
        Test::Compare(comparison, value) => {
            format!("{field} {} {}", comparison.sign().replace("==", "===").replace("!=", "!=="), value_of(value))
        }
        // A part of a name is enough.
        Test::OneOf(names) if filter.field == "author" => {
            let names: Vec<String> = names.iter().map(|name| value_of(name).as_str().unwrap_or_default().to_lowercase()).collect();
            format!("{}.some((name) => {field}.toLowerCase().includes(name))", json!(names))
        }
        Test::OneOf(values) => {
            format!("[{}].includes({field})", values.iter().map(|value| value_of(value).to_string()).collect::<Vec<_>>().join(", "))
        }
        Test::Between(from, to) => format!("{field} >= {} && {field} <= {}", value_of(from), value_of(to)),
        Test::Contains(text, mode) => format!("{}.test({field})", sought(text, *mode)),
        Test::Starts(text) => format!("{field}.startsWith({})", json!(text)),
        Test::Ends(text) => format!("{field}.endsWith({})", json!(text)),
        Test::Empty => format!("{field}.trim() === \"\""),
    };
    if filter.not { format!("!({test})") } else { test }
}

pub(super) fn value_of(value: &Literal) -> Value {
    match value {
        Literal::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => json!(*number as i64),
        Literal::Number(number) => json!(number),
        Literal::Text(text) | Literal::Column(text) => json!(text),
        Literal::Truth(truth) => json!(truth),
    }
}
