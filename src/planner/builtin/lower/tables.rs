//! Questions about tables and logs: one `query_data`.

use crate::planner::builtin::slots::{Literal, Relation};
use serde_json::json;

use super::{Given, Lowering, ResultShape, literal, query::VALUE};
use crate::planner::builtin::facts::TableFacts;
use crate::planner::builtin::tree::{Direction, Match, Query, Range, RowFilter, Test, Total, Want};

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
                    log: is_log.then(|| file.to_owned()),
                    ..Given::new(id, if query.is_scalar() { ResultShape::Cell } else { ResultShape::Table })
                };
            }
        };
        let code = format!("return deps.{id}.output.{of_columns};");
        Given::new(self.add("columns", json!({ "title": query.to_string(), "code": code, "depends_on": [id] })), ResultShape::Value)
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
        matches!(self.query.want, Want::Rows(_)) && self.query.sort.is_none()
    }

    fn rows(&self) -> String {
        let Self { query, .. } = self;
        let from = format!("FROM {}", name(&self.table.name));
        let holds = query.filters.iter().map(condition).collect::<Vec<_>>().join(" AND ");
        let only = if holds.is_empty() { String::new() } else { format!(" WHERE {holds}") };
        let list = |fields: &[String]| {
            if fields.is_empty() { "*".to_owned() } else { fields.iter().map(|field| name(field)).collect::<Vec<_>>().join(", ") }
        };
        match &query.want {
            Want::Columns | Want::CountColumns => format!("SELECT * {from} LIMIT 0"),
            Want::Percent => format!("SELECT 100.0 * count(CASE WHEN {holds} THEN 1 END) / count(*) AS {VALUE} {from}"),
            Want::Exists => format!("SELECT CASE WHEN count(*) > 0 THEN 'yes' ELSE 'no' END AS {VALUE} {from}{only}"),
            Want::Distinct(fields) => format!("SELECT DISTINCT {} {from}{only}{}", list(fields), self.order(false)),
            Want::Duplicates(None) => {
                let columns = self.table.columns.iter().map(|column| name(&column.name)).collect::<Vec<_>>().join(", ");
                format!("SELECT {columns}, count(*) AS \"count\" {from}{only} GROUP BY {columns} HAVING count(*) > 1")
            }
            Want::Duplicates(Some(field)) => {
                let field = name(field);
                let only = if holds.is_empty() { format!(" WHERE {field} IS NOT NULL") } else { format!("{only} AND {field} IS NOT NULL") };
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
                _ => format!("SELECT {} {from}{only}{}", list(&self.with_order(fields)), self.order(true)),
            },
            Want::Count | Want::CountDistinct(_) | Want::Total(..) => self.totals(&from, &only),
        }
    }

    fn totals(&self, from: &str, only: &str) -> String {
        let Self { query, .. } = self;
        let keys: Vec<String> = query.group.iter().map(|field| group(field)).collect();
        let alias = if keys.is_empty() { VALUE.to_owned() } else { name(&query.value_name()) };
        let value = match &query.want {
            Want::CountDistinct(field) => format!("count(DISTINCT {})", name(field)),
            Want::Total(Total::Median, field) => return self.median(field, &keys, &alias, from, only),
            Want::Total(total, field) => {
                let function = match total {
                    Total::Sum => "sum",
                    Total::Average | Total::Median => "avg",
                    Total::Largest => "max",
                    Total::Smallest => "min",
                };
                format!("{function}({})", name(field))
            }
            _ => "count(*)".to_owned(),
        };
        if keys.is_empty() {
            return format!("SELECT {value} AS {alias} {from}{only}");
        }
        let shown: Vec<String> = keys.iter().zip(&query.group).map(|(key, field)| format!("{key} AS {}", name(field))).collect();
        format!("SELECT {}, {value} AS {alias} {from}{only} GROUP BY {}{}", shown.join(", "), keys.join(", "), self.order(false))
    }

    /// The middle value, or the mean of both middle values, of each group.
    fn median(&self, field: &str, keys: &[String], alias: &str, from: &str, only: &str) -> String {
        let field = name(field);
        let only = if only.is_empty() { format!(" WHERE {field} IS NOT NULL") } else { format!("{only} AND {field} IS NOT NULL") };
        let shown: Vec<String> = keys.iter().zip(&self.query.group).map(|(key, field)| format!("{key} AS {}, ", name(field))).collect();
        let names: Vec<String> = self.query.group.iter().map(|field| name(field)).collect();
        let part = if keys.is_empty() { String::new() } else { format!("PARTITION BY {}", keys.join(", ")) };
        let ranked = format!(
            "SELECT {}{field} AS \"middle\", row_number() OVER ({part} ORDER BY {field}) AS \"place\", count(*) OVER ({part}) AS \"of\" {from}{only}",
            shown.concat()
        );
        let group = if names.is_empty() { String::new() } else { format!(" GROUP BY {}{}", names.join(", "), self.order(false)) };
        let listed: String = names.iter().map(|name| format!("{name}, ")).collect();
        format!("SELECT {listed}avg(\"middle\") AS {alias} FROM ({ranked}) WHERE \"place\" IN ((\"of\" + 1) / 2, (\"of\" + 2) / 2){group}")
    }

    /// What rows are ordered by is shown beside what was asked for.
    fn with_order(&self, fields: &[String]) -> Vec<String> {
        let by = self.query.sort.as_ref().map(|(field, _)| field).filter(|field| !fields.is_empty() && !fields.contains(field));
        fields.iter().chain(by).cloned().collect()
    }

    fn order(&self, by_place: bool) -> String {
        let Self { query, .. } = self;
        let mut order = String::new();
        match &query.sort {
            Some((field, direction)) => {
                let down = (*direction == Direction::Descending) != query.reverse;
                let ties = if by_place { ", rowid" } else { "" };
                order = format!(" ORDER BY {}{} NULLS LAST{ties}", name(field), if down { " DESC" } else { "" });
            }
            None if query.reverse && by_place => order.push_str(" ORDER BY rowid DESC"),
            None if !query.group.is_empty() => order.push_str(" ORDER BY 1"),
            None => {}
        }
        match query.part {
            Some(Range::First(count)) => order + &format!(" LIMIT {count}"),
            Some(Range::Lines(from, to)) => order + &format!(" LIMIT {} OFFSET {}", to - from + 1, from - 1),
            Some(Range::Last(_)) | None => order,
        }
    }
}

/// A name of a table or column.
fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What rows are grouped by: a column, or a part of the time.
fn group(field: &str) -> String {
    match field {
        "hour" => "substr(\"time\", 1, 13)".to_owned(),
        "day" => "substr(\"time\", 1, 10)".to_owned(),
        field => name(field),
    }
}

fn value(value: &Literal) -> String {
    match value {
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
    }
}

fn condition(filter: &RowFilter) -> String {
    let field = name(&filter.field);
    let test = match &filter.test {
        Test::Compare(Relation::NotEqual, Literal::Text(_) | Literal::Number(_)) => {
            let Test::Compare(_, literal) = &filter.test else { return String::new() };
            format!("{field} IS NOT {}", value(literal))
        }
        Test::Compare(comparison, literal) => format!("{field} {} {}", comparison.sign().replace("==", "="), value(literal)),
        Test::OneOf(values) => format!("{field} IN ({})", values.iter().map(value).collect::<Vec<_>>().join(", ")),
        Test::Between(from, to) => format!("{field} BETWEEN {} AND {}", value(from), value(to)),
        Test::Contains(text, Match::Exact) => format!("instr({field}, {}) > 0", value(&Literal::Text(text.clone()))),
        Test::Contains(text, Match::AnyCase) => format!("instr(lower({field}), {}) > 0", value(&Literal::Text(text.to_lowercase()))),
        Test::Starts(text) => format!("substr({field}, 1, {}) = {}", text.chars().count(), value(&Literal::Text(text.clone()))),
        Test::Ends(text) => format!("substr({field}, -{}) = {}", text.chars().count(), value(&Literal::Text(text.clone()))),
        Test::Empty => format!("({field} IS NULL OR {field} = '')"),
    };
    if filter.not { format!("({test}) IS NOT TRUE") } else { test }
}
