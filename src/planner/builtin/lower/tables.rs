//! Questions about tables and logs: one `query_data`.

use crate::planner::builtin::slots::{Literal, Relation};
use serde_json::json;

use super::{Given, Lowering, ResultShape, literal, query::VALUE};
use crate::planner::builtin::facts::TableFacts;
use crate::planner::builtin::tree::{Direction, Figure, Query, Range, RowFilter, Source, Target, Test, Total, Want, figure_name};

impl Lowering<'_> {
    pub(super) fn table(&mut self, query: &Query, file: &str) -> Given {
        let sql = self.facts.table(file).map(|table| Sql { query, table }.text()).unwrap_or_default();
        let id =
            self.add("query", json!({ "title": query.to_string(), "tool": "query_data", "args": { "files": literal(file), "sql": sql } }));
        let of_columns = match query.want {
            Want::Columns => "columns.join(\"\\n\")",
            Want::CountColumns => "columns.length",
            _ => {
                let is_log = self.facts.table(file).is_some_and(TableFacts::is_log) && query.want == Want::Rows(Vec::new());
                return Given {
                    separator: self.facts.table(file).map_or(',', |table| table.separator),
                    log: is_log.then(|| file.to_owned()),
                    ..Given::new(id, if query.is_scalar() { ResultShape::Cell } else { ResultShape::Table })
                };
            }
        };
        let code = format!("return deps.{id}.output.{of_columns};");
        Given::new(self.add("columns", json!({ "title": query.to_string(), "code": code, "depends_on": [id] })), ResultShape::Value)
    }
}

/// Picks the rows of a table's text by their places.
const RECORDS: &str = r#"const records = [];
let from = 0, quoted = false;
for (let at = 0; at <= text.length; at++) {
  if (text[at] === '"') quoted = !quoted;
  if (at < text.length && (text[at] !== "\n" || quoted)) continue;
  const record = text.slice(from, at).replace(/\r$/, "");
  if (record !== "") records.push(record);
  from = at + 1;
}
if (truncated || rows.some((row) => records[row.rowid] === undefined)) throw new Error("not every row is in the text of the file");
const end = text.includes("\r\n") ? "\r\n" : "\n";
"#;

impl Lowering<'_> {
    /// Whether whole rows of a table go to another of its kind: each stays as it is written, with its zeros and quotes.
    pub(super) fn stays_as_written(&self, query: &Query, target: &Target) -> bool {
        let Source::Table(file) = &query.source else { return false };
        let ending = |path: &str| path.rsplit('.').next().unwrap_or_default().to_lowercase();
        let is_same = ["csv", "tsv"].contains(&ending(file).as_str()) && ending(file) == ending(&target.path) && !target.append;
        is_same
            && query.want == Want::Rows(Vec::new())
            && query.group.is_empty()
            && self.facts.table(file).is_some_and(|table| table.column("rowid").is_none())
    }

    /// The text of a table with some of its rows.
    pub(super) fn rows_as_written(&mut self, query: &Query, target: &Target) -> Option<Given> {
        let Source::Table(file) = &query.source else { return None };
        Some(self.records(query, file, &target.path, "return [records[0], ...rows.map((row) => records[row.rowid])].join(end) + end;"))
    }

    /// Writes a table without some of its rows.
    pub(super) fn delete_rows(&mut self, query: &Query, file: &str) {
        // Of several that are equally high, none is the highest.
        let tied = match query.part {
            Some(Range::Top(count)) => {
                format!("if (rows.length > {count}) throw new Error(rows.length + \" rows come first together, so nothing was done\");\n")
            }
            _ => String::new(),
        };
        let rest =
            "const gone = new Set(rows.map((row) => row.rowid));\nreturn records.filter((record, at) => !gone.has(at)).join(end) + end;";
        let none = "if (rows.length === 0) throw new Error(\"there are no such rows, so nothing was done\");\n";
        let given = self.records(query, file, file, &format!("{none}{tied}{rest}"));
        self.write(&[given], &Target { path: file.to_owned(), append: false });
    }

    /// The text that code makes of the records of a table, and of the rows that a query finds in it.
    fn records(&mut self, query: &Query, file: &str, target: &str, code: &str) -> Given {
        let found = self.table(&Query { want: Want::Rows(vec!["rowid".into()]), ..query.clone() }, file);
        if let Some(node) = self.nodes.last_mut() {
            node["title"] = json!(query.to_string());
        }
        let read =
            self.add("read_file", json!({ "title": format!("read {file}"), "tool": "read_file", "args": { "path": literal(file) } }));
        let code = format!("const text = deps.{read}.output, {{ rows, truncated }} = deps.{}.output;\n{RECORDS}{code}", found.id);
        let title = format!("make the text of {target}");
        let id = self.add("report", json!({ "title": title, "code": code, "depends_on": [found.id, read] }));
        Given::new(id, ResultShape::Text)
    }
}

struct Sql<'a> {
    query: &'a Query,
    table: &'a TableFacts,
}

impl Sql<'_> {
    fn text(&self) -> String {
        let all = self.rows();
        match self.query.part {
            Some(Range::Last(count)) if !self.by_place() => {
                format!("SELECT * FROM ({all}) LIMIT -1 OFFSET (SELECT count(*) - {count} FROM ({all}))")
            }
            _ => all,
        }
    }

    /// Whether the last rows are those that stand last in the file.
    fn by_place(&self) -> bool {
        matches!(self.query.want, Want::Rows(_)) && self.query.sort.is_empty()
    }

    fn rows(&self) -> String {
        let Self { query, .. } = self;
        let from = format!("FROM {}", name(&self.table.name));
        let conditions: Vec<String> = query.filters.iter().map(condition).collect();
        let holds = conditions.join(" AND ");
        let unfiltered = self.filtered(&query.whole.iter().map(condition).collect::<Vec<_>>());
        let only = self.filtered(&conditions);
        let list = |fields: &[String]| {
            if fields.is_empty() { "*".to_owned() } else { fields.iter().map(|field| name(field)).collect::<Vec<_>>().join(", ") }
        };
        match &query.want {
            Want::Columns | Want::CountColumns | Want::Lacking => format!("SELECT * {from} LIMIT 0"),
            Want::Percent if query.group.is_empty() => {
                format!("SELECT {} AS {VALUE} {from}{unfiltered}", self.share(&holds))
            }
            Want::Exists => format!("SELECT CASE WHEN count(*) > 0 THEN 'yes' ELSE 'no' END AS {VALUE} {from}{only}"),
            Want::Distinct(fields) if fields.len() == 1 => {
                let field = name(&fields[0]);
                let and = if only.is_empty() { "WHERE" } else { "AND" };
                format!("SELECT DISTINCT {field} {from}{only} {and} {field} IS NOT NULL{}", self.order(false))
            }
            Want::Distinct(fields) => format!("SELECT DISTINCT {} {from}{only}{}", list(fields), self.order(false)),
            Want::Duplicates(None) => {
                let columns = self.table.columns.iter().map(|column| name(&column.name)).collect::<Vec<_>>().join(", ");
                format!("SELECT {columns}, count(*) AS \"count\" {from}{only} GROUP BY {columns} HAVING count(*) > 1")
            }
            Want::Duplicates(Some(field)) => {
                let field = name(field);
                let only = if only.is_empty() { format!(" WHERE {field} IS NOT NULL") } else { format!("{only} AND {field} IS NOT NULL") };
                format!("SELECT {field}, count(*) AS \"count\" {from}{only} GROUP BY {field} HAVING count(*) > 1")
            }
            Want::Rows(fields) => match query.part {
                Some(Range::Last(count)) if self.by_place() => {
                    let last = format!("SELECT rowid {from}{only} ORDER BY rowid DESC LIMIT {count}");
                    format!(
                        "SELECT {} {from} WHERE rowid IN ({last}) ORDER BY rowid{}",
                        list(fields),
                        if query.reverse { " DESC" } else { "" }
                    )
                }
                Some(Range::Top(1)) if !query.group.is_empty() && query.sort.len() == 1 => {
                    let (key, direction) = &query.sort[0];
                    let best = if *direction == Direction::Descending { "max" } else { "min" };
                    let (group, key) = (name(&query.group[0]), name(key));
                    let bests = format!("SELECT {group}, {best}({key}) {from}{only} GROUP BY {group}");
                    let and = if only.is_empty() { "WHERE" } else { "AND" };
                    format!("SELECT {} {from}{only} {and} ({group}, {key}) IN ({bests}) ORDER BY {group}, rowid", list(fields))
                }
                Some(Range::Top(count)) if !query.reverse && query.sort.len() == 1 => {
                    let (key, direction) = &query.sort[0];
                    let (sign, order) = last_of(*direction);
                    let key = name(key);
                    let and = if only.is_empty() { "WHERE" } else { "AND" };
                    let last = format!(
                        "SELECT {key} {from}{only} {and} {key} IS NOT NULL ORDER BY {key}{order} LIMIT 1 OFFSET min({count}, (SELECT count({key}) {from}{only})) - 1"
                    );
                    format!(
                        "SELECT {} {from}{only} {and} {key} {sign} ({last}) ORDER BY {key}{order}, rowid",
                        list(&self.with_order(fields))
                    )
                }
                _ => format!("SELECT {} {from}{only}{}", list(&self.with_order(fields)), self.order(true)),
            },
            Want::Count | Want::CountDistinct(_) | Want::Total(..) | Want::Figures(_) | Want::Percent => self.totals(&from, &only),
        }
    }

    /// How many of 100 rows are so.
    fn share(&self, holds: &str) -> String {
        self.rounded(format!("100.0 * count(CASE WHEN {holds} THEN 1 END) / count(*)"))
    }

    fn filtered(&self, conditions: &[String]) -> String {
        // Lines of a log that are none of its entries, such as a stack's, don't count.
        let entries = self.table.is_log().then(|| "(\"time\" IS NOT NULL OR \"level\" IS NOT NULL)".to_owned());
        let all: Vec<String> = entries.iter().chain(conditions).cloned().collect();
        if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) }
    }

    fn totals(&self, from: &str, only: &str) -> String {
        let Self { query, .. } = self;
        let keys: Vec<String> = query.group.iter().map(|field| group(field)).collect();
        // Of the fewest, a group without such rows has least.
        let least = query.sort.first().is_some_and(|(key, direction)| *key == query.value_name() && *direction == Direction::Ascending)
            || query.having.is_some_and(|(relation, number)| matches!(relation, Relation::Less | Relation::AtMost) || number == 0.0);
        let unfiltered = self.filtered(&query.whole.iter().map(condition).collect::<Vec<_>>());
        let holds = query.filters.iter().map(condition).collect::<Vec<_>>().join(" AND ");
        let rate = query.want == Want::Percent;
        let (only, count) = match !holds.is_empty() && (rate || query.want == Want::Count && least) {
            true => (unfiltered.as_str(), format!("count(CASE WHEN {holds} THEN 1 END)")),
            false => (only, "count(*)".to_owned()),
        };
        let alias = if keys.is_empty() { VALUE.to_owned() } else { name(&query.value_name()) };
        let value = match &query.want {
            Want::CountDistinct(field) => format!("count(DISTINCT {})", name(field)),
            Want::Total(Total::Median, field) => return self.median(field, &keys, &alias, from, only),
            // The sum of nothing is none.
            Want::Total(Total::Sum, field) if keys.is_empty() => self.rounded(format!("coalesce({}, 0)", function(Total::Sum, field))),
            Want::Total(total, field) => self.rounded(function(*total, field)),
            Want::Percent if !holds.is_empty() => self.share(&holds),
            Want::Percent => self.rounded(format!("100.0 * count(*) / (SELECT count(*) {from}{only})")),
            Want::Figures(figures) => {
                let figure = |figure: &Figure| {
                    let value =
                        figure.as_ref().map_or_else(|| "count(*)".to_owned(), |(total, field)| self.rounded(function(*total, field)));
                    format!("{value} AS {}", name(&figure_name(figure)))
                };
                figures.iter().map(figure).collect::<Vec<_>>().join(", ")
            }
            _ => count,
        };
        let value = if matches!(query.want, Want::Figures(_)) { value } else { format!("{value} AS {alias}") };
        if keys.is_empty() {
            return format!("SELECT {value} {from}{only}");
        }
        let shown: Vec<String> =
            keys.iter().zip(&query.group).map(|(key, field)| format!("{key} AS {}", name(shown_name(field)))).collect();
        let having = query.having.map(|(relation, number)| format!(" HAVING {alias} {} {number}", relation.sign().replace("==", "=")));
        let having = having.unwrap_or_default();
        let groups = format!("SELECT {}, {value} {from}{only} GROUP BY {}{having}", shown.join(", "), keys.join(", "));
        if let (Some(Range::Top(count)), [(key, direction)]) = (query.part, &query.sort[..])
            && *key == query.value_name()
        {
            let (sign, order) = last_of(*direction);
            let last = format!(
                "SELECT {alias} FROM groups ORDER BY {alias}{order} NULLS LAST LIMIT 1 OFFSET min({count}, (SELECT count(*) FROM groups)) - 1"
            );
            return format!("WITH groups AS ({groups}) SELECT * FROM groups WHERE {alias} {sign} ({last}) ORDER BY {alias}{order}, 1");
        }
        groups + &self.order(false)
    }

    fn rounded(&self, figure: String) -> String {
        match self.query.round {
            None => figure,
            Some(0) => format!("CAST(round({figure}) AS INTEGER)"),
            Some(decimals) => format!("round({figure}, {decimals})"),
        }
    }

    /// The middle value, or the mean of both middle values, of each group.
    fn median(&self, field: &str, keys: &[String], alias: &str, from: &str, only: &str) -> String {
        let field = name(field);
        let only = if only.is_empty() { format!(" WHERE {field} IS NOT NULL") } else { format!("{only} AND {field} IS NOT NULL") };
        let shown: Vec<String> =
            keys.iter().zip(&self.query.group).map(|(key, field)| format!("{key} AS {}, ", name(shown_name(field)))).collect();
        let names: Vec<String> = self.query.group.iter().map(|field| name(shown_name(field))).collect();
        let part = if keys.is_empty() { String::new() } else { format!("PARTITION BY {}", keys.join(", ")) };
        let ranked = format!(
            "SELECT {}{field} AS \"middle\", row_number() OVER ({part} ORDER BY {field}) AS \"place\", count(*) OVER ({part}) AS \"of\" {from}{only}",
            shown.concat()
        );
        let group = if names.is_empty() { String::new() } else { format!(" GROUP BY {}{}", names.join(", "), self.order(false)) };
        let listed: String = names.iter().map(|name| format!("{name}, ")).collect();
        format!(
            "SELECT {listed}{} AS {alias} FROM ({ranked}) WHERE \"place\" IN ((\"of\" + 1) / 2, (\"of\" + 2) / 2){group}",
            self.rounded("avg(\"middle\")".into())
        )
    }

    /// What rows are ordered by is shown beside what was asked for.
    fn with_order(&self, fields: &[String]) -> Vec<String> {
        let by = self.query.sort.iter().map(|(field, _)| field).filter(|field| !fields.is_empty() && !fields.contains(field));
        fields.iter().chain(by).cloned().collect()
    }

    fn order(&self, by_place: bool) -> String {
        let Self { query, .. } = self;
        let key = |(field, direction): &(String, Direction)| {
            let down = (*direction == Direction::Descending) != query.reverse;
            format!("{}{} NULLS LAST", name(field), if down { " DESC" } else { "" })
        };
        let mut keys: Vec<String> = query.sort.iter().map(key).collect();
        match keys.is_empty() {
            false if by_place => keys.push("rowid".into()),
            true if query.reverse && by_place => keys.push("rowid DESC".into()),
            true if !query.group.is_empty() => keys.push("1".into()),
            _ => {}
        }
        let order = if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) };
        match query.part {
            Some(Range::First(count) | Range::Top(count)) => order + &format!(" LIMIT {count}"),
            Some(Range::From(from)) => order + &format!(" LIMIT -1 OFFSET {}", from - 1),
            Some(Range::Lines(from, to)) => order + &format!(" LIMIT {} OFFSET {}", to - from + 1, from - 1),
            Some(Range::Last(_)) | None => order,
        }
    }
}

/// How what comes first in an order compares with the last of it, and the order.
fn last_of(direction: Direction) -> (&'static str, &'static str) {
    if direction == Direction::Descending { (">=", " DESC") } else { ("<=", "") }
}

fn function(total: Total, field: &str) -> String {
    let function = match total {
        Total::Sum => "sum",
        Total::Average | Total::Median => "avg",
        Total::Largest => "max",
        Total::Smallest => "min",
    };
    format!("{function}({})", name(field))
}

/// A name of a table or column.
fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `hour` for the hour of a time.
fn shown_name(field: &str) -> &str {
    field.split_once(" of the ").filter(|(part, _)| ["hour", "day", "month"].contains(part)).map_or(field, |(part, _)| part)
}

/// What rows are grouped by: a column, or a part of the time.
fn group(field: &str) -> String {
    let part = |of: &str, from: u8, length: u8| format!("substr({}, {from}, {length})", name(of));
    match field.split_once(" of the ") {
        Some(("hour", of)) => format!("{} || ':00'", part(of, 1, 13)),
        Some(("day", of)) => part(of, 1, 10),
        Some(("month", of)) => part(of, 1, 7),
        Some(("clock", of)) => part(of, 12, 8),
        Some(("text", "log")) => joined(&["time", "level", "component", "message"]),
        Some(("text", "requests")) => joined(&["ip", "user", "time", "method", "path", "protocol", "status", "referer", "agent"]),
        _ => name(field),
    }
}

/// Some columns as one text.
fn joined(columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|column| format!("coalesce({}, '')", name(column))).collect();
    format!("({})", columns.join(" || ' ' || "))
}

fn value(value: &Literal) -> String {
    match value {
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Truth(truth) => i32::from(*truth).to_string(),
        Literal::Column(column) => name(column),
    }
}

fn condition(filter: &RowFilter) -> String {
    let field = group(&filter.field);
    let test = match &filter.test {
        Test::Compare(Relation::NotEqual, literal) => format!("{field} IS NOT {}", value(literal)),
        Test::Compare(comparison, literal) => format!("{field} {} {}", comparison.sign().replace("==", "="), value(literal)),
        Test::OneOf(values) => format!("{field} IN ({})", values.iter().map(value).collect::<Vec<_>>().join(", ")),
        Test::Between(from, to) => format!("{field} BETWEEN {} AND {}", value(from), value(to)),
        Test::Contains(text, mode) => {
            let (field, text) = if mode.any_case { (format!("lower({field})"), text.to_lowercase()) } else { (field, text.clone()) };
            match mode.word && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
                true => format!("(' ' || {field} || ' ') GLOB '*[^a-zA-Z0-9_]{text}[^a-zA-Z0-9_]*'"),
                false => format!("instr({field}, {}) > 0", value(&Literal::Text(text))),
            }
        }
        Test::Starts(text) => format!("substr({field}, 1, {}) = {}", text.chars().count(), value(&Literal::Text(text.clone()))),
        Test::Ends(text) => format!("substr({field}, -{}) = {}", text.chars().count(), value(&Literal::Text(text.clone()))),
        Test::Empty => format!("({field} IS NULL OR {field} IN ('', '[]'))"),
    };
    if filter.not { format!("({test}) IS NOT TRUE") } else { test }
}
