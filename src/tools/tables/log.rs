//! Logs: lines with time, level, component and message in the usual forms (also syslog, logfmt and JSON lines), access logs in the common and
//! combined form, and any other text as lines. A line in no such form keeps its number and its text, and is counted.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::LazyLock};

use crate::text::counted;

use super::{
    nested::JsonRows,
    table::{Cell, Column, ColumnKind, Table, TableFormat},
};

const APP: [&str; 5] = ["line", "time", "level", "component", "message"];
const ACCESS: [&str; 11] = ["line", "ip", "user", "time", "method", "path", "protocol", "status", "bytes", "referer", "agent"];
const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
/// Lines that show what a text is.
const SAMPLE: usize = 200;

/// Names of fields and words of levels, read from `log.toml`.
#[derive(Default, Deserialize)]
struct LogNames {
    time: Vec<String>,
    level: Vec<String>,
    component: Vec<String>,
    message: Vec<String>,
    levels: BTreeMap<String, Vec<String>>,
}

/// A file that can't be read would leave logs as lines; a test reads it.
static NAMES: LazyLock<LogNames> = LazyLock::new(|| toml::from_str(include_str!("log.toml")).unwrap_or_default());

/// What the lines of a text are; a file that is called a log may be full of what the programs said besides.
pub(super) fn format(text: &str, called_log: bool) -> TableFormat {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE).collect();
    let share = |is: &dyn Fn(&str) -> bool| lines.iter().filter(|line| is(line)).count() * 100 / lines.len().max(1);
    let least = if called_log { 10 } else { 50 };
    // Prose may begin with the word of a level.
    let is_entry = |line: &str| entry(line).is_some_and(|entry| called_log || entry.time.is_some() || line.starts_with('{'));
    if share(&|line| visit(line).is_some()) >= 50 {
        TableFormat::Access
    } else if share(&is_entry) >= least {
        TableFormat::Log
    } else {
        TableFormat::Lines
    }
}

pub(super) fn lines(mut table: Table, text: &str) -> Table {
    table.columns = vec![column("line", ColumnKind::Number), column("text", ColumnKind::Text)];
    table.rows = text.lines().enumerate().map(|(at, line)| vec![line_number(at), Cell::Text(line.to_owned())]).collect();
    table
}

fn column(name: &str, kind: ColumnKind) -> Column {
    Column::new(name.into(), kind)
}

fn line_number(at: usize) -> Cell {
    Cell::Integer(i64::try_from(at + 1).unwrap_or(i64::MAX))
}

fn parsed_rows(mut table: Table, mut rows: JsonRows, text: &str, parse: fn(&str) -> Option<Map<String, Value>>) -> Table {
    let mut first = None;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut fields = Map::from_iter([("line".to_owned(), json!(at + 1))]);
        fields.extend(parse(line).unwrap_or_else(|| {
            table.unreadable += 1;
            first.get_or_insert(at + 1);
            Map::from_iter([("message".to_owned(), json!(line))])
        }));
        rows.add(Value::Object(fields));
    }
    if let Some(line) = first {
        let lines = counted(table.unreadable, "line");
        let note = format!("in no form of a log in {}: {lines}, kept as text; first: line {line}", table.file);
        table.notes.push(note);
    }
    let plain = table.clone();
    rows.into_table(table).unwrap_or_else(|_| lines(Table { format: TableFormat::Lines, ..plain }, text))
}

/// Time, level, component and message of each line.
pub(super) fn app(table: Table, text: &str) -> Table {
    parsed_rows(table, JsonRows::begin(&APP), text, |line| entry(line).map(LogEntry::fields))
}

/// The requests of an access log.
pub(super) fn access(table: Table, text: &str) -> Table {
    parsed_rows(table, JsonRows::begin(&ACCESS), text, visit)
}

/// One line of a log.
#[derive(Default)]
struct LogEntry {
    time: Option<String>,
    level: Option<&'static str>,
    component: Option<String>,
    message: String,
    /// What a structured line has besides.
    more: Map<String, Value>,
}

impl LogEntry {
    fn fields(self) -> Map<String, Value> {
        let named = [
            ("time", self.time.map(Value::from)),
            ("level", self.level.map(Value::from)),
            ("component", self.component.map(Value::from)),
            ("message", Some(Value::from(self.message))),
        ];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        // What a line calls the same stays beside it.
        let more = self
            .more
            .into_iter()
            .map(|(name, value)| if APP.contains(&name.as_str()) { (format!("{name}_"), value) } else { (name, value) });
        named.chain(more).collect()
    }

    /// From fields by the names that they usually have.
    fn of(mut fields: Map<String, Value>) -> Option<Self> {
        let mut take = |names: &[String]| {
            let name = names.iter().find(|name| fields.get(name.as_str()).is_some_and(|value| value.is_string() || value.is_number()))?;
            fields.shift_remove(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let time = take(&NAMES.time);
        let level = take(&NAMES.level);
        let component = take(&NAMES.component);
        let message = take(&NAMES.message);
        let known = level.as_deref().map(level_word);
        // A level of its own (a number) stays a field.
        if let (Some(None), Some(level)) = (known, level) {
            fields.insert("severity".into(), Value::from(level));
        }
        let is_log = known.is_some() || (time.is_some() && message.is_some());
        let time = time.map(|text| take_time(&text).filter(|(_, rest)| rest.is_empty()).map_or(text.clone(), |(time, _)| time));
        is_log.then_some(Self { time, level: known.flatten(), component, message: message.unwrap_or_default(), more: fields })
    }
}

fn level_word(word: &str) -> Option<&'static str> {
    NAMES.levels.iter().find(|(_, words)| words.iter().any(|known| known.eq_ignore_ascii_case(word))).map(|(kept, _)| kept.as_str())
}

/// A line in one of the usual forms.
fn entry(line: &str) -> Option<LogEntry> {
    let line = line.trim_end();
    if line.starts_with('{') {
        return LogEntry::of(serde_json::from_str(line).ok()?);
    }
    if let Some(fields) = logfmt(line) {
        return LogEntry::of(fields);
    }
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let open = line.strip_prefix('[').unwrap_or(line);
    let (time, rest) = take_time(open).map_or((None, line), |(time, rest)| (Some(time), rest.strip_prefix(']').unwrap_or(rest)));
    if let (Some(time), true) = (&time, open.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)) {
        return Some(syslog(time.clone(), rest));
    }
    let mut entry = LogEntry { time, ..LogEntry::default() };
    let rest = entry.heads(rest);
    entry.message = rest.to_owned();
    (entry.time.is_some() || entry.level.is_some()).then_some(entry)
}

impl LogEntry {
    /// Takes level and component off the beginning; what is left is the message.
    fn heads<'l>(&mut self, mut rest: &'l str) -> &'l str {
        loop {
            rest = rest.trim_start_matches([' ', '\t', '|']);
            rest = ["--- ", "- ", ": "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest).trim_start();
            if let Some((inner, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
                let word = inner.trim();
                match level_word(word) {
                    Some(level) if self.level.is_none() => self.level = Some(level),
                    // The number of a process or thread says nothing of where.
                    _ if word.bytes().all(|byte| byte.is_ascii_digit()) => {}
                    _ if self.component.is_none() && is_name(word) => self.component = Some(word.to_owned()),
                    _ => return rest,
                }
                rest = after.strip_prefix(':').unwrap_or(after);
                continue;
            }
            let end = rest.find([' ', '\t', '|']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let bare = word.trim_end_matches([':', ',']);
            let is_upper = bare.bytes().all(|byte| byte.is_ascii_uppercase());
            let level = level_word(bare).filter(|_| is_upper || self.time.is_some());
            if self.level.is_none() && level.is_some() {
                self.level = level;
            } else if self.time.is_some()
                && self.level.is_some()
                && !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_digit())
                && after.trim_start().starts_with("---")
            {
                // A process's number before the dashes.
            } else if is_name(bare)
                && (self.component.is_none() || is_parted(after))
                && (word.ends_with(':') || is_parted(after))
                && self.begun()
            {
                self.component = Some(bare.to_owned());
                // What follows the mark is the message, unless the level is still to come.
                if self.level.is_some() {
                    let after = after.trim_start_matches([' ', '\t', '|']);
                    return ["- ", ": "].iter().find_map(|mark| after.strip_prefix(mark)).unwrap_or(after).trim_start();
                }
            } else {
                return rest;
            }
            rest = after;
        }
    }

    /// Whether the line has shown to be a log's.
    fn begun(&self) -> bool {
        self.time.is_some() || self.level.is_some()
    }
}

fn is_parted(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    after.starts_with("- ") || after.starts_with(": ") || after.starts_with("| ")
}

/// A word that components are called by.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.len() <= 80
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.:/$#@".contains(letter))
}

/// `host program[7]: message` after a time.
fn syslog(time: String, rest: &str) -> LogEntry {
    let rest = rest.trim_start();
    let after = rest.split_once(' ').map_or("", |(_, after)| after);
    let (program, message) = after.split_once(": ").unwrap_or(("", rest));
    let name = program.split('[').next().unwrap_or_default();
    let component = is_name(name).then(|| name.to_owned());
    let message = if component.is_some() { message } else { rest };
    let level = message.split([':', ' ']).next().and_then(level_word);
    LogEntry { time: Some(time), level, component, message: message.to_owned(), more: Map::new() }
}

/// `key=value key="two words"`: at least two, and a level or message among them.
fn logfmt(line: &str) -> Option<Map<String, Value>> {
    let (mut fields, mut rest) = (Map::new(), line.trim());
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        if key.is_empty() || !key.chars().all(|letter| letter.is_alphanumeric() || "_-.@".contains(letter)) {
            return None;
        }
        let (value, next) = match after.strip_prefix('"') {
            Some(inner) => quoted(inner)?,
            None => after.split_once(' ').map_or((after.to_owned(), ""), |(value, next)| (value.to_owned(), next)),
        };
        fields.insert(key.to_owned(), Value::from(value));
        rest = next.trim_start();
    }
    (fields.len() > 1).then_some(fields)
}

/// The text up to the closing quote, and what follows.
fn quoted(inner: &str) -> Option<(String, &str)> {
    let (mut text, mut letters) = (String::new(), inner.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, &inner[at + 1..])),
            '\\' => text.extend(letters.next().map(|(_, escaped)| escaped)),
            _ => text.push(letter),
        }
    }
    None
}

/// A time at the beginning, in ISO form as far as it is known, and what follows.
fn take_time(text: &str) -> Option<(String, &str)> {
    const DAY: &str = "dddd-dd-dd";
    const CLOCK: &str = "dd:dd:dd";
    if let Some(month) = text.get(..3).filter(|_| fits(text.get(3..).unwrap_or_default(), " _d dd:dd:dd")) {
        let month = month_number(month)?;
        let day = text.get(4..6)?.trim();
        return Some((format!("{month:02}-{day:0>2}T{}", text.get(7..15)?), &text[15..]));
    }
    let (day, clock) = match text.get(10..11) {
        Some("T" | " " | "_") if fits(text, DAY) || fits(text, "dddd/dd/dd") => (format!("{}T", text[..10].replace('/', "-")), &text[11..]),
        _ => (String::new(), text),
    };
    if !fits(clock, CLOCK) {
        return None;
    }
    let mut rest = &clock[8..];
    let mut time = format!("{day}{}", &clock[..8]);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(part) = rest.strip_prefix(['.', ',']).filter(|part| digits(part) > 0) {
        time = format!("{time}.{}", &part[..digits(part)]);
        rest = &part[digits(part)..];
    }
    let offset = match rest {
        _ if rest.starts_with('Z') => 1,
        _ if fits(rest, "+dd:dd") || fits(rest, "-dd:dd") => 6,
        _ if fits(rest, "+dddd") || fits(rest, "-dddd") => 5,
        _ => 0,
    };
    let (offset, rest) = rest.split_at(offset);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', ']', '|', ':', ',', '-']);
    ends.then(|| (format!("{time}{offset}"), rest))
}

fn month_number(name: &str) -> Option<usize> {
    MONTHS.match_indices(name).find(|(at, _)| at % 3 == 0).map(|(at, _)| at / 3 + 1).filter(|_| name.len() == 3)
}

/// Whether a text begins as a pattern says: `d` is a digit, `_` a digit or a space.
fn fits(text: &str, pattern: &str) -> bool {
    let is = |(byte, wanted): (&u8, u8)| match wanted {
        b'd' => byte.is_ascii_digit(),
        b'_' => byte.is_ascii_digit() || *byte == b' ',
        wanted => *byte == wanted,
    };
    text.len() >= pattern.len() && text.as_bytes().iter().zip(pattern.bytes()).all(is)
}

/// A line of an access log.
fn visit(line: &str) -> Option<Map<String, Value>> {
    let (ip, rest) = line.split_once(' ')?;
    let (who, rest) = rest.split_once(" [")?;
    let (time, rest) = rest.split_once("] \"")?;
    let (request, rest) = quoted(rest)?;
    let mut numbers = rest.trim_start().splitn(3, ' ');
    let status: u16 = numbers.next()?.parse().ok()?;
    let bytes = numbers.next().and_then(|bytes| bytes.parse::<u64>().ok());
    let mut more = numbers.next().unwrap_or_default().trim_start();
    let mut texts = Vec::new();
    while let Some((text, rest)) = more.strip_prefix('"').and_then(quoted) {
        texts.push(text);
        more = rest.trim_start();
    }
    let known = |text: &str| (!text.is_empty() && text != "-").then(|| text.to_owned());
    // `04/May/2024:12:00:00 +0000`
    let day = time.get(7..11).zip(month_number(time.get(3..6)?)).zip(time.get(..2));
    let iso = day.and_then(|((year, month), day)| {
        let offset = time.get(21..26).map(|offset| format!("{}:{}", &offset[..3], &offset[3..])).unwrap_or_default();
        Some(format!("{year}-{month:02}-{day}T{}{offset}", time.get(12..20)?))
    });
    let mut parts = request.splitn(3, ' ');
    let mut part = || parts.next().and_then(known);
    Some(Map::from_iter([
        ("ip".into(), json!(ip)),
        ("user".into(), json!(who.rsplit(' ').next().and_then(known))),
        ("time".into(), json!(iso.unwrap_or_else(|| time.to_owned()))),
        ("method".into(), json!(part())),
        ("path".into(), json!(part())),
        ("protocol".into(), json!(part())),
        ("status".into(), json!(status)),
        ("bytes".into(), json!(bytes)),
        ("referer".into(), json!(texts.first().and_then(|text| known(text)))),
        ("agent".into(), json!(texts.get(1).and_then(|text| known(text)))),
    ]))
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Table, TableFormat, read};

    /// Time, level, component and message of a line.
    fn parsed(line: &str) -> [String; 4] {
        let table = read("a.log", line, Some(TableFormat::Log)).unwrap().remove(0);
        [1, 2, 3, 4].map(|at| table.rows[0][at].as_text().unwrap_or_else(|| "-".into()))
    }

    fn column<'t>(table: &'t Table, name: &str) -> &'t Cell {
        &table.rows[0][table.columns.iter().position(|column| column.name == name).unwrap()]
    }

    #[test]
    fn lines_of_logs_are_read_in_their_usual_forms() {
        for (line, expected) in [
            ("2024-05-04 12:00:01 INFO [db] pool up", ["2024-05-04T12:00:01", "INFO", "db", "pool up"]),
            ("2024-05-04T12:00:01.123Z ERROR auth: bad: token", ["2024-05-04T12:00:01.123Z", "ERROR", "auth", "bad: token"]),
            ("[2024-05-04 12:00:01,5] [WARNING] [http-1] slow", ["2024-05-04T12:00:01.5", "WARN", "http-1", "slow"]),
            ("2024-05-04 12:00:01 - auth.jwt - ERROR - expired", ["2024-05-04T12:00:01", "ERROR", "auth.jwt", "expired"]),
            ("2024-05-04 12:00:01.000  INFO 77 --- [main] c.e.App : Started", ["2024-05-04T12:00:01.000", "INFO", "c.e.App", "Started"]),
            ("2024/05/04 12:00:01 [error] 31#31: open() failed", ["2024-05-04T12:00:01", "ERROR", "-", "31#31: open() failed"]),
            ("2024-05-04T12:00:01+02:00 WARN Disk at 91 %", ["2024-05-04T12:00:01+02:00", "WARN", "-", "Disk at 91 %"]),
            ("12:00:01 | DEBUG | cache | miss", ["12:00:01", "DEBUG", "cache", "miss"]),
            ("ERROR: it broke", ["-", "ERROR", "-", "it broke"]),
            ("[ERROR] [db] it broke", ["-", "ERROR", "db", "it broke"]),
            ("May  4 12:00:01 web sshd[7]: Accepted key", ["05-04T12:00:01", "-", "sshd", "Accepted key"]),
            (
                "time=\"2024-05-04T12:00:01Z\" level=warn component=api msg=\"two words\" n=3",
                ["2024-05-04T12:00:01Z", "WARN", "api", "two words"],
            ),
            (
                "{\"ts\": \"2024-05-04T12:00:01Z\", \"level\": \"error\", \"msg\": \"x\", \"n\": 3}",
                ["2024-05-04T12:00:01Z", "ERROR", "-", "x"],
            ),
            ("2024-05-04 12:00:01 INFO", ["2024-05-04T12:00:01", "INFO", "-", ""]),
            ("2024-05-04 12:00:01 ERROR Failed to open: no file", ["2024-05-04T12:00:01", "ERROR", "-", "Failed to open: no file"]),
        ] {
            assert_eq!(parsed(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_without_a_form_are_kept_and_counted() {
        let text = "2024-05-04 12:00:01 ERROR x\n  at main.rs:3\n\nError while reading\n";
        let table = read("a.log", text, None).unwrap().remove(0);
        assert_eq!((table.format, table.rows.len(), table.unreadable), (TableFormat::Log, 3, 2));
        assert_eq!(table.rows[2][0], Cell::Integer(4));
        assert_eq!(table.rows[1][4], Cell::Text("  at main.rs:3".into()));
        assert!(table.notes[0].starts_with("in no form of a log in a.log: 2 lines"));
    }

    #[test]
    fn access_logs_give_their_requests() {
        let line = "10.0.0.1 - ann [04/May/2024:12:00:01 +0200] \"GET /a?b=1 HTTP/1.1\" 404 12 \"-\" \"curl \\\"x\\\"\"";
        let table = read("access.log", line, None).unwrap().remove(0);
        assert_eq!(table.format, TableFormat::Access);
        let text = |name| column(&table, name).as_text();
        assert_eq!((text("ip").unwrap().as_str(), text("user").as_deref()), ("10.0.0.1", Some("ann")));
        assert_eq!((text("time").as_deref(), text("path").as_deref()), (Some("2024-05-04T12:00:01+02:00"), Some("/a?b=1")));
        assert_eq!((column(&table, "status"), column(&table, "bytes")), (&Cell::Integer(404), &Cell::Integer(12)));
        assert_eq!((text("referer"), text("agent").as_deref()), (None, Some("curl \"x\"")));
        let common = read("a.log", "::1 - - [04/May/2024:12:00:01 +0000] \"-\" 400 -\n", None).unwrap().remove(0);
        assert_eq!(
            (column(&common, "status"), column(&common, "bytes"), column(&common, "method")),
            (&Cell::Integer(400), &Cell::Null, &Cell::Null)
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[0-9T:.,Z+\\[\\]{}\"=| a-zA-Z\u{e9}\\\\\n-]{0,80}", time: bool) {
            let text = if time { format!("2024-05-04 12:00:01 {text}") } else { text };
            for format in [TableFormat::Log, TableFormat::Access, TableFormat::Lines] {
                let table = read("t.log", &text, Some(format)).unwrap().remove(0);
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            }
            let _ = read("t", &text, None);
        }
    }
}
