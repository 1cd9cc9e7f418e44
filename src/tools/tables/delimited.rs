//! CSV and its like. The first line is the header; cells are taken without the spaces around them; a line with another number of cells
//! than the header is left out and counted.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::table::{COLUMNS, Cell, Column, ColumnKind, Table, column_names, looks_numeric, number};
use crate::text::counted;

/// What may separate cells.
const SEPARATORS: [u8; 4] = *b",;\t|";

pub(super) fn read(mut table: Table, text: &str, separator: Option<u8>) -> Result<Table, String> {
    let separator = separator.unwrap_or_else(|| separator_of(text));
    let mut reader =
        ReaderBuilder::new().delimiter(separator).flexible(true).has_headers(false).trim(Trim::All).from_reader(text.as_bytes());
    let (mut record, mut width, mut begins) = (StringRecord::new(), None, Vec::new());
    let (mut cells, mut uneven): (Vec<Vec<String>>, Option<u64>) = (Vec::new(), None);
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Err(cause) => return Err(format!("{} can't be read: {cause}", table.file)),
            Ok(true) if record.iter().all(str::is_empty) && record.len() < width.unwrap_or(2) => continue,
            Ok(true) => {}
        }
        let line = record.position().map_or(0, csv::Position::line);
        match width {
            None if record.len() > COLUMNS => return Err(format!("{} has more than {COLUMNS} columns", table.file)),
            None => {
                width = Some(record.len());
                table.columns =
                    column_names(record.iter().map(str::to_owned)).into_iter().map(|name| Column::new(name, ColumnKind::Text)).collect();
            }
            Some(width) if width == record.len() => {
                cells.push(record.iter().map(str::to_owned).collect());
                begins.push(line);
            }
            // A quote that isn't closed takes all lines after it along.
            Some(_) => {
                let lines = record.iter().map(|cell| cell.matches('\n').count()).sum::<usize>() + 1;
                table.unreadable += lines;
                uneven.get_or_insert(line);
            }
        }
    }
    if let Some(line) = uneven {
        let (lines, cells) = (counted(table.unreadable, "line"), counted(table.columns.len(), "cell"));
        let note = format!("left out of {}: {lines} without the {cells} of the header; first: line {line}", table.file);
        table.notes.push(note);
    }
    let numeric: Vec<bool> = (0..table.columns.len()).map(|at| is_numeric(&mut table, &cells, &begins, at)).collect();
    for (at, column) in table.columns.iter_mut().enumerate().filter(|(at, _)| numeric[*at]) {
        column.decimals = decimals(cells.iter().map(|row| row[at].as_str()));
    }
    table.rows = cells.into_iter().map(|row| row.into_iter().zip(&numeric).map(|(text, numeric)| cell(text, *numeric)).collect()).collect();
    Ok(table)
}

/// How many decimals all of the numbers have, if all have as many and some.
fn decimals<'c>(cells: impl Iterator<Item = &'c str>) -> Option<usize> {
    let mut of_each = cells.filter(|cell| !cell.is_empty()).map(|cell| cell.split_once('.').map_or(0, |(_, part)| part.len()));
    let first = of_each.next().filter(|first| *first > 0)?;
    of_each.all(|count| count == first).then_some(first)
}

fn cell(text: String, numeric: bool) -> Cell {
    match numeric {
        _ if text.is_empty() => Cell::Null,
        true => number(&text).unwrap_or(Cell::Text(text)),
        false => Cell::Text(text),
    }
}

/// Whether a column holds numbers; notes one that looks so and is text.
fn is_numeric(table: &mut Table, cells: &[Vec<String>], begins: &[u64], at: usize) -> bool {
    let filled = || cells.iter().zip(begins).map(|(row, line)| (row[at].as_str(), *line)).filter(|(text, _)| !text.is_empty());
    let (mut plain, mut alike, mut first) = (0, 0, None);
    for (text, line) in filled() {
        if number(text).is_some() {
            plain += 1;
        } else {
            first.get_or_insert((text, line));
            alike += usize::from(looks_numeric(text));
        }
    }
    let all = filled().count();
    let Some((text, line)) = first else {
        table.columns[at].kind = if all > 0 { ColumnKind::Number } else { ColumnKind::Text };
        return all > 0;
    };
    if (plain + alike) * 2 >= all {
        let name = &table.columns[at].name;
        let note =
            format!("{}.{name} is text: {} of {all} cells are no plain decimals, such as `{text}` (line {line})", table.name, all - plain);
        table.notes.push(note);
    }
    false
}

/// The one that the header has most of, outside quotes.
/// What separates the cells of a text.
pub(crate) fn separator(text: &str) -> char {
    char::from(separator_of(text))
}

fn separator_of(text: &str) -> u8 {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut quoted = false;
    let mut counts = [0_usize; SEPARATORS.len()];
    for byte in header.bytes() {
        quoted ^= byte == b'"';
        if let Some(at) = SEPARATORS.iter().position(|separator| *separator == byte && !quoted) {
            counts[at] += 1;
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    SEPARATORS.into_iter().zip(counts).find(|(_, count)| *count == most).map_or(b',', |(separator, _)| separator)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, ColumnKind, Table, read};

    fn table(text: &str) -> Table {
        read("data/t.csv", text, None).unwrap().remove(0)
    }

    fn kinds(table: &Table) -> Vec<(&str, ColumnKind)> {
        table.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect()
    }

    #[test]
    fn cells_are_typed_by_column_and_empty_ones_are_null() {
        let table = table("name, n ,x\nAnn,1,0.5\n\"B, b\",,2\n\n");
        assert_eq!(kinds(&table), [("name", ColumnKind::Text), ("n", ColumnKind::Number), ("x", ColumnKind::Number)]);
        assert_eq!(table.rows[0], [Cell::Text("Ann".into()), Cell::Integer(1), Cell::Real(0.5)]);
        assert_eq!(table.rows[1], [Cell::Text("B, b".into()), Cell::Null, Cell::Integer(2)]);
        assert_eq!((table.rows.len(), table.notes.len(), table.unreadable), (2, 0, 0));
    }

    #[test]
    fn numbers_in_other_clothes_are_text_and_reported() {
        for odd in ["1,234", "1.234,5", "007", "5%", "$5", "12345678901234567890"] {
            let table = table(&format!("id;v\na;1\nb;{odd}\nc;2\n"));
            assert_eq!(table.columns[1].kind, ColumnKind::Text, "{odd}");
            assert_eq!(table.notes, [format!("t.v is text: 1 of 3 cells are no plain decimals, such as `{odd}` (line 3)")]);
            assert_eq!(table.rows[0][1], Cell::Text("1".into()));
        }
        assert!(table("day,code\n2024-05-04,A1\n2024-05-05,B2\n").notes.is_empty());
    }

    #[test]
    fn lines_that_do_not_fit_the_header_are_left_out_and_counted() {
        let table = table("a,b\n1,2\n3\n4,5,6\n7,8\n");
        assert_eq!((table.rows.len(), table.unreadable), (2, 2));
        assert!(table.notes[0].starts_with("left out of data/t.csv: 2 lines") && table.notes[0].ends_with("line 3"), "{:?}", table.notes);
        let open = super::super::read("t.csv", "a,b\n1,\"2\n3,4\n5,6\n", None).unwrap().remove(0);
        assert_eq!(open.rows.len() + open.unreadable, 1, "{open:?}");
    }

    #[test]
    fn columns_without_a_name_or_with_the_same_one_are_parsed_rows() {
        assert_eq!(kinds(&table("a,,A,a\n1,2,3,4\n")).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a", "column_2", "A_2", "a_3"]);
        assert!(super::super::read("t.csv", "", None).unwrap()[0].columns.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a0,;\"\n\r\t .|-]{0,80}") {
            if let Ok(tables) = read("t.csv", &text, None) {
                let table = &tables[0];
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            }
        }
    }
}
