//! One query over tables in an SQLite in memory. Runs in the sandbox's worker: whatever the SQL does, it reads these tables and nothing else,
//! within limits on time, memory, rows and sizes, each with an error of its own.

use rusqlite::{
    Connection, Error, ErrorCode, ToSql,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    params_from_iter,
    types::{ToSqlOutput, ValueRef},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

use super::totals;
use crate::tools::tables::{self, Cell, Column, ColumnKind, Table, TableError, TableFormat};

/// Most rows of an answer.
pub(super) const ROWS: usize = 10_000;
/// Largest answer in bytes.
const ANSWER: usize = 2 << 20;
/// Largest text in a table or a result, in bytes.
const TEXT: i32 = 4 << 20;
/// The declared type of a column of true and false.
const BOOLEAN: &str = "BOOLEAN";
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 1_000;

/// A query and the files that it is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryJob {
    pub sql: String,
    pub files: Vec<QueryFile>,
    /// Give this many rows at most.
    pub max_rows: Option<usize>,
    /// Files that can't be read are empty tables.
    #[serde(default)]
    pub unreadable: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryFile {
    pub path: String,
    pub text: String,
    pub format: Option<TableFormat>,
}

/// Why there is no answer, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryFault {
    pub message: String,
    pub hint: Option<String>,
}

/// What a query may use.
#[derive(Clone, Copy)]
pub struct QueryLimits {
    pub time: Duration,
    /// Memory of SQLite in bytes, for the whole process: only for a worker.
    pub memory: Option<u64>,
}

/// The answer: columns, rows, and what there is to know about the tables.
///
/// # Errors
/// Files that can't be read as tables, SQL that is wrong or not allowed, and each limit.
pub fn answer(job: &QueryJob, limits: QueryLimits) -> Result<Value, QueryFault> {
    let tables = read(job).map_err(|error| QueryFault { message: error.to_string(), hint: None })?;
    // The tables help whoever wrote wrong SQL.
    let hint = || Some(tables.iter().map(described).collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty());
    let fault = |error: &Error| {
        let (message, own) = explained(error, limits.time);
        QueryFault { message, hint: own.or_else(hint) }
    };
    let database = load(&tables, limits).map_err(|error| fault(&error))?;
    let found = rows(&database, job).map_err(|error| fault(&error))??;
    let shown = |table: &Table| {
        let mut shown = json!({
            "name": table.name, "file": table.file, "format": table.format, "rows": table.rows.len(), "unreadable": table.unreadable,
            "columns": table.columns,
        });
        if let Some(fault) = &table.fault {
            shown["fault"] = json!(fault);
        }
        shown
    };
    let mut notes: Vec<String> = tables.iter().flat_map(|table| table.notes.clone()).collect();
    let lossy = job.files.iter().filter(|file| file.text.contains(char::REPLACEMENT_CHARACTER));
    notes
        .extend(lossy.map(|file| format!("{} has characters that are no UTF-8: they are `\u{fffd}`, and texts may look alike", file.path)));
    if job.sql.contains("component") || found.columns.iter().any(|column| column == "component") {
        let of_none = |file: &str| format!("no line of {file} names its component as in `[db]` or `db:`, so the column component is empty");
        notes.extend(tables.iter().filter(|table| names_no_component(table)).map(|table| of_none(&table.file)));
    }
    if found.truncated {
        notes.push(format!("cut after {} rows, as `max_rows` says; there are more", found.rows.len()));
    }
    let mut answer = json!({
        "columns": found.columns, "count": found.rows.len(), "rows": found.rows, "truncated": found.truncated,
        "tables": tables.iter().map(shown).collect::<Vec<_>>(), "notes": notes,
    });
    if !found.decimals.is_empty() {
        answer["decimals"] = Value::Object(found.decimals);
    }
    Ok(answer)
}

fn read(job: &QueryJob) -> Result<Vec<Table>, TableError> {
    let paths: Vec<String> = job.files.iter().map(|file| file.path.clone()).collect();
    let named = tables::names(&paths).into_iter().zip(&job.files);
    let read = named.map(|(name, file)| match tables::read_as(&name, &file.path, &file.text, file.format) {
        Err(fault) if job.unreadable => {
            let format = file.format.unwrap_or_else(|| tables::format_of(&file.path, &file.text));
            Ok(vec![Table { fault: Some(fault.to_string()), ..Table::empty(name, &file.path, format) }])
        }
        read => read,
    });
    let mut all: Vec<Table> = read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    for table in all.iter_mut().filter(|table| table.columns.is_empty()) {
        table.columns.push(Column::new("value".into(), ColumnKind::Text));
    }
    Ok(all)
}

/// `sales (region text, amount number)`.
fn described(table: &Table) -> String {
    let column = |column: &Column| format!("{} {}", column.name, json!(column.kind).as_str().unwrap_or_default());
    format!("{} ({})", table.name, table.columns.iter().map(column).collect::<Vec<_>>().join(", "))
}

fn load(tables: &[Table], limits: QueryLimits) -> Result<Connection, Error> {
    let mut database = Connection::open_in_memory()?;
    database.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF;")?;
    if let Some(memory) = limits.memory {
        database.execute_batch(&format!("PRAGMA hard_heap_limit = {memory};"))?;
    }
    // "x" is a name and nothing else: a slip must not become a text.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, TEXT)?;
    let filling = database.transaction()?;
    for table in tables {
        fill(&filling, table)?;
    }
    filling.commit()?;
    totals::add(&database)?;
    confine(&mut database, limits.time)?;
    Ok(database)
}

fn fill(database: &Connection, table: &Table) -> Result<(), Error> {
    let declared = |(at, column): (usize, &Column)| {
        let is_real = table.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Real(_))));
        let is_mixed = || table.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Integer(_) | Cell::Real(_) | Cell::Boolean(_))));
        let kind = match (column.kind, column.decimals) {
            (ColumnKind::Number, Some(decimals)) => format!("REAL({decimals})"),
            (ColumnKind::Number, None) if is_real => "REAL".into(),
            (ColumnKind::Number, None) => "INTEGER".into(),
            (ColumnKind::Boolean, _) => BOOLEAN.into(),
            // Cells of JSON keep their own types.
            (ColumnKind::Text, _) if is_mixed() => String::new(),
            (ColumnKind::Text, _) => "TEXT".into(),
        };
        format!("{} {kind}", quoted(&column.name))
    };
    let columns: Vec<String> = table.columns.iter().enumerate().map(declared).collect();
    let name = quoted(&table.name);
    database.execute_batch(&format!("CREATE TABLE {name} ({})", columns.join(", ")))?;
    let places = vec!["?"; columns.len()].join(", ");
    let mut insert = database.prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
    for row in table.rows.iter().filter(|row| !row.is_empty()) {
        insert.execute(params_from_iter(row))?;
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', " "))
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Boolean(truth) => ValueRef::Integer(i64::from(*truth)),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// From now on the database is read, and not for ever.
fn confine(database: &mut Connection, time: Duration) -> Result<(), Error> {
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    ] {
        database.set_limit(limit, most)?;
    }
    let end = Instant::now() + time;
    database.progress_handler(STEPS, Some(move || Instant::now() > end))?;
    database.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => Authorization::Deny,
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Function { .. } | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

fn names_no_component(table: &Table) -> bool {
    let at = table.columns.iter().position(|column| column.name == "component").filter(|_| table.format == TableFormat::Log);
    at.is_some_and(|at| table.rows.iter().all(|row| row[at] == Cell::Null))
}

struct FoundRows {
    columns: Vec<String>,
    /// With how many decimals columns of files are written there.
    decimals: Map<String, Value>,
    rows: Vec<Value>,
    truncated: bool,
}

fn rows(database: &Connection, job: &QueryJob) -> Result<Result<FoundRows, QueryFault>, Error> {
    let mut statement = database.prepare(&job.sql)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(Error::InvalidQuery);
    }
    let columns = tables::column_names(statement.column_names().map(str::to_owned));
    let declared: Vec<String> = statement.columns().map(|column| column.decl_type().unwrap_or_default().to_owned()).collect();
    let of = |kind: &str| kind.strip_prefix("REAL(")?.strip_suffix(')')?.parse::<u64>().ok();
    let decimals = columns.iter().zip(&declared).filter_map(|(name, kind)| Some((name.clone(), json!(of(kind)?)))).collect();
    let mut found = FoundRows { columns, decimals, rows: Vec::new(), truncated: false };
    let (most, mut bytes) = (job.max_rows.unwrap_or(ROWS).min(ROWS), 0);
    let refused = |message: String, hint: &str| Ok(Err(QueryFault { message, hint: Some(hint.into()) }));
    let mut answer = statement.query([])?;
    while let Some(row) = answer.next()? {
        if found.rows.len() == most {
            found.truncated = job.max_rows.is_some();
            if found.truncated {
                break;
            }
            return refused(format!("the result has more than {ROWS} rows"), "filter or group, use LIMIT, or set `max_rows`");
        }
        let mut fields = Map::new();
        for (at, name) in found.columns.iter().enumerate() {
            let value = match (value(row.get_ref(at)?), declared[at].as_str()) {
                (Value::Number(truth), BOOLEAN) => json!(truth.as_i64() != Some(0)),
                (value, _) => value,
            };
            bytes += name.len() + value.as_str().map_or(8, str::len);
            fields.insert(name.clone(), value);
        }
        if bytes > ANSWER {
            return refused("the result is larger than 2 MiB".into(), "select fewer columns or rows");
        }
        found.rows.push(Value::Object(fields));
    }
    Ok(Ok(found))
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => rounded(number),
        ValueRef::Text(bytes) => json!(String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => json!(format!("({} bytes)", bytes.len())),
    }
}

/// As many digits as a double holds for sure, so that a tenth and two tenths are three; a whole number without a point.
fn rounded(number: f64) -> Value {
    let number: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let whole = number as i64;
    if number.abs() < 1e15 && whole as f64 == number { json!(whole) } else { json!(number) }
}

/// An error in words, and what to do about it if that isn't to look at the tables.
fn explained(error: &Error, time: Duration) -> (String, Option<String>) {
    let only = || Some("write one SELECT, or WITH … SELECT".to_owned());
    let code = match error {
        Error::SqliteFailure(failure, _) | Error::SqlInputError { error: failure, .. } => Some(failure.code),
        _ => None,
    };
    match (error, code) {
        (Error::MultipleStatement, _) => ("there is more than one statement".into(), only()),
        (Error::InvalidQuery, _) => ("this statement doesn't read".into(), only()),
        (_, Some(ErrorCode::AuthorizationForStatementDenied)) => ("only reading the tables of the files is allowed".into(), only()),
        (_, Some(ErrorCode::OperationInterrupted)) => {
            (format!("the query was stopped after {} s", time.as_secs_f32()), Some("filter earlier, or join on a column".into()))
        }
        (_, Some(ErrorCode::OutOfMemory)) => ("the query needs too much memory".into(), Some("select fewer columns or rows".into())),
        (_, Some(ErrorCode::TooBig)) => ("a text is longer than 4 MiB".into(), Some("select less text".into())),
        (Error::SqlInputError { msg, .. }, _) => (msg.clone(), None),
        (error, _) => (error.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: QueryLimits = QueryLimits { time: Duration::from_millis(300), memory: None };

    fn job(sql: &str, files: &[(&str, &str)]) -> QueryJob {
        let file = |(path, text): &(&str, &str)| QueryFile { path: (*path).into(), text: (*text).into(), format: None };
        QueryJob { sql: sql.into(), files: files.iter().map(file).collect(), max_rows: None, unreadable: false }
    }

    const SALES: (&str, &str) = ("data/sales.csv", "region,amount,zip\nNorth,0.1,01234\nSouth,7,2\nNorth,0.2,\n");

    fn ask(sql: &str) -> Value {
        answer(&job(sql, &[SALES]), SHORT).unwrap()
    }

    fn fault(sql: &str) -> QueryFault {
        answer(&job(sql, &[SALES]), SHORT).unwrap_err()
    }

    #[test]
    fn texts_that_may_look_alike_are_told() {
        let file = ("names.csv", "name\nM\u{fffd}ller\n");
        let value = answer(&job("SELECT name FROM names", &[file]), SHORT).unwrap();
        assert_eq!(value["notes"], json!(["names.csv has characters that are no UTF-8: they are `\u{fffd}`, and texts may look alike"]));
    }

    #[test]
    fn a_query_groups_and_sorts_and_says_what_the_tables_are() {
        let value = ask("SELECT region, sum(amount) AS total, count(*) AS n FROM sales GROUP BY region ORDER BY total");
        assert_eq!(value["columns"], json!(["region", "total", "n"]));
        assert_eq!(value["rows"], json!([{"region": "North", "total": 0.3, "n": 2}, {"region": "South", "total": 7, "n": 1}]));
        let columns = json!([{"name": "region", "type": "text"}, {"name": "amount", "type": "number"}, {"name": "zip", "type": "text"}]);
        let table = json!({"name": "sales", "file": "data/sales.csv", "format": "csv", "rows": 3, "unreadable": 0, "columns": columns});
        assert_eq!((&value["tables"], &value["count"], &value["truncated"]), (&json!([table]), &json!(2), &json!(false)));
        assert_eq!(value["notes"], json!(["sales.zip is text: 1 of 2 cells are no plain decimals, such as `01234` (line 2)"]));
    }

    #[test]
    fn text_is_never_summed_as_a_number() {
        assert_eq!(fault("SELECT sum(zip) FROM sales").message, "`sum` needs numbers; a value is the text `01234`");
        assert!(fault("SELECT avg(region) OVER () FROM sales").message.contains("needs numbers"));
        assert_eq!(ask("SELECT sum(zip) AS s FROM sales WHERE region = 'South'")["rows"], json!([{"s": 2}]));
        let none = ask("SELECT sum(amount) AS s, avg(amount) AS a, total(amount) AS t FROM sales WHERE region = 'x'");
        assert_eq!(none["rows"], json!([{"s": null, "a": null, "t": 0}]));
        let moving = ask("SELECT sum(amount) OVER (ORDER BY rowid ROWS 1 PRECEDING) AS s FROM sales");
        assert_eq!(moving["rows"], json!([{"s": 0.1}, {"s": 7.1}, {"s": 7.2}]));
    }

    #[test]
    fn files_join_and_keep_their_order() {
        let json = ("names.json", r#"[{"region": "North", "boss": "Ann", "ok": true}]"#);
        let sql =
            "SELECT s.rowid AS line, boss, ok, ok = true AS same FROM sales s LEFT JOIN names n ON n.region = s.region ORDER BY s.rowid";
        let value = answer(&job(sql, &[SALES, json]), SHORT).unwrap();
        assert_eq!(value["rows"][0], json!({"line": 1, "boss": "Ann", "ok": true, "same": 1}));
        assert_eq!(value["rows"][1]["boss"], Value::Null);
    }

    #[test]
    fn a_slip_is_an_error_with_the_tables_and_never_a_text() {
        let error = fault("SELECT \"amout\" FROM sales");
        assert!(error.message.contains("no such column"), "{error:?}");
        assert_eq!(error.hint.unwrap(), "sales (region text, amount number, zip text)");
        assert!(fault("SELECT * FROM sale").message.contains("no such table"));
        assert!(fault("SELEC 1").message.contains("syntax error"));
    }

    #[test]
    fn statements_that_do_not_read_are_refused() {
        for sql in [
            "DELETE FROM sales",
            "INSERT INTO sales VALUES (1, 2, 3)",
            "UPDATE sales SET amount = 0",
            "CREATE TABLE t (x)",
            "CREATE VIRTUAL TABLE t USING fts5(x)",
            "DROP TABLE sales",
            "ATTACH '/etc/passwd' AS p",
            "PRAGMA table_info(sales)",
            "SELECT * FROM pragma_table_info('sales')",
            "SELECT * FROM pragma_database_list",
            "SELECT load_extension('x')",
            "VACUUM INTO '/tmp/x'",
            "BEGIN",
            "SELECT 1; SELECT 2",
            "WITH x AS (SELECT 1) DELETE FROM sales",
            "",
            "-- nothing",
        ] {
            let error = fault(sql);
            assert!(error.hint.is_some(), "{sql}: {error:?}");
        }
        assert_eq!(fault("DROP TABLE sales").message, "only reading the tables of the files is allowed");
        assert_eq!(fault("SELECT 1; SELECT 2").message, "there is more than one statement");
    }

    #[test]
    fn endless_and_huge_queries_end_within_their_limits() {
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";
        for (sql, message) in [
            (format!("{endless} count(*) FROM n"), "stopped after 0.3 s"),
            (format!("{endless} x FROM n"), "more than 10000 rows"),
            (format!("{endless} hex(randomblob(2000)) FROM n"), "larger than 2 MiB"),
            ("SELECT length(randomblob(1000000000))".into(), "longer than 4 MiB"),
            ("SELECT zeroblob(1000000000)".into(), "longer than 4 MiB"),
            ("SELECT printf('%999999999d', 1)".into(), "longer than 4 MiB"),
            ("SELECT replace(hex(zeroblob(2000000)), '00', hex(zeroblob(1000)))".into(), "longer than 4 MiB"),
            (format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000)), ""),
            (format!("SELECT {}", vec!["1"; 200].join(" UNION ALL SELECT ")), ""),
            (format!("SELECT 1 WHERE 'a' LIKE '{}'", "%a".repeat(500)), ""),
            ("SELECT count(*) FROM sales a, sales b, sales c, sales d, sales e, sales f, sales g, sales h, sales i, sales j, sales k, sales l, \
              sales m, sales n, sales o".into(), "stopped after"),
        ] {
            let error = fault(&sql);
            assert!(error.message.contains(message), "{sql}: {error:?}");
        }
    }

    #[test]
    fn a_log_that_names_no_component_says_so_where_components_are_asked_for() {
        let log = ("app.log", "2026-11-26T10:00:00Z ERROR worker-1 timeout after 30 s\n");
        let notes = |sql: &str| answer(&job(sql, &[log]), SHORT).unwrap()["notes"].to_string();
        assert!(notes("SELECT component, count(*) FROM app GROUP BY component").contains("no line of app.log names its component"));
        assert_eq!(notes("SELECT count(*) FROM app WHERE level = 'ERROR'"), "[]");
    }

    #[test]
    fn more_rows_than_wanted_are_cut_and_said_to_be() {
        let cut = QueryJob { max_rows: Some(2), ..job("SELECT region FROM sales", &[SALES]) };
        let value = answer(&cut, SHORT).unwrap();
        assert_eq!((&value["count"], &value["truncated"]), (&json!(2), &json!(true)));
        assert!(value["notes"].to_string().contains("cut after 2 rows"));
        let all = QueryJob { max_rows: Some(3), ..cut };
        assert_eq!(answer(&all, SHORT).unwrap()["truncated"], false);
    }

    #[test]
    fn results_of_one_name_are_kept_apart() {
        assert_eq!(ask("SELECT 1 AS a, 2 AS a")["rows"], json!([{"a": 1, "a_2": 2}]));
        assert_eq!(answer(&job("SELECT * FROM empty", &[("empty.csv", "")]), SHORT).unwrap()["rows"], json!([]));
    }

    proptest::proptest! {
        #[test]
        fn any_file_and_any_sql_end_in_an_answer_or_a_fault(
            csv in "[a-c0-9,\"\n;.-]{0,60}",
            sql in "(SELECT|WITH|select \\*|,|\\(|\\)|'|\"| |t|a|FROM t|WHERE|;|1|sum\\(a\\)|--){1,8}",
        ) {
            let _ = answer(&job(&sql, &[("t.csv", &csv)]), SHORT);
            answer(&job("SELECT count(*) AS n FROM t", &[("t.csv", &csv)]), SHORT).unwrap();
        }
    }
}
