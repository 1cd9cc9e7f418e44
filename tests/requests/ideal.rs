//! What a perfect program would do, made from what is expected: so that no request expects what can't be.

use crate::{
    corpus::{Answer, Cell, Change, Ends, Form, Part, Request, load},
    judge::{Ran, Verdict, judge},
    world::{Entry, Tree, Workspaces},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Style {
    List,
    Csv,
    Markdown,
    Json,
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

fn table(rows: &[Vec<Cell>], style: Style) -> String {
    let row = |row: &Vec<Cell>, mark: &str| row.iter().map(plain).collect::<Vec<_>>().join(mark);
    let header = |mark: &str| (0..rows.first().map_or(0, Vec::len)).map(|at| format!("column{at}x")).collect::<Vec<_>>().join(mark);
    match style {
        Style::List => rows.iter().map(|cells| row(cells, ": ") + "\n").collect(),
        Style::Csv => rows.iter().fold(header(",") + "\n", |text, cells| text + &row(cells, ",") + "\n"),
        Style::Markdown => {
            let head = format!("| {} |\n| --- |\n", header(" | "));
            rows.iter().fold(head, |text, cells| format!("{text}| {} |\n", row(cells, " | ")))
        }
        Style::Json => {
            let value = |cell: &Cell| if let Cell::Number(number) = cell { json!(number) } else { json!(plain(cell)) };
            let entry =
                |cells: &Vec<Cell>| cells.iter().enumerate().map(|(at, cell)| (format!("column{at}x"), value(cell))).collect::<Map<_, _>>();
            Value::Array(rows.iter().map(|cells| Value::Object(entry(cells))).collect()).to_string() + "\n"
        }
    }
}

fn output(answer: &Answer, style: Style) -> String {
    let style = match answer.form {
        Some(Form::Json) => Style::Json,
        Some(Form::Markdown) => Style::Markdown,
        Some(Form::Yaml) => Style::List,
        None => style,
    };
    let numbers = answer.numbers.iter().map(|number| format!("The number is {number}.\n"));
    let said = answer.text.as_ref().map(|text| match answer.form {
        Some(Form::Json) => json!({ "said": text }).to_string() + "\n",
        Some(Form::Yaml) => format!("said: {text}\n"),
        Some(Form::Markdown) | None => text.clone(),
    });
    let mut text: String = numbers.chain(said).chain(answer.files.iter().map(|file| format!("{file}\n"))).collect();
    text.extend(answer.yes.map(|yes| if yes { "Yes.\n" } else { "No.\n" }));
    if answer.rows.is_empty() { text } else { text + &table(&answer.rows, style) }
}

fn after(request: &Request, before: &Tree) -> Tree {
    let quoted = |text: String| if text.contains(',') { format!("\"{text}\"") } else { text };
    let mut tree = before.clone();
    for (path, change) in &request.changes {
        let mut write = |text: &str| tree.insert(path.clone(), Entry::File(text.as_bytes().to_vec()));
        match change {
            Change::Gone => tree.remove(path),
            Change::Folder => tree.insert(path.clone(), Entry::Folder),
            Change::Same(other) => tree.insert(path.clone(), before[other].clone()),
            Change::Text(text) | Change::Json(text) | Change::Yaml(text) => write(text),
            Change::Says(answer) => write(&output(answer, Style::Markdown)),
            Change::Table(rows) => {
                let mark = if path.ends_with(".tsv") { "\t" } else { "," };
                let line = |cells: &Vec<Cell>| cells.iter().map(|cell| quoted(plain(cell))).collect::<Vec<_>>().join(mark) + "\n";
                write(&rows.iter().map(line).collect::<String>())
            }
        };
    }
    tree
}

#[test]
fn what_is_expected_is_right_in_every_form() {
    let mut worlds: BTreeMap<String, Workspaces> = BTreeMap::new();
    for request in Part::BOTH.into_iter().flat_map(load).filter(|request| request.ends == Ends::Answered) {
        let world = worlds.entry(request.world.clone()).or_insert_with(|| Workspaces::named(&request.world));
        let after = after(&request, &world.tree);
        for answer in request.answer.iter().chain(&request.or).map(Some).chain(request.answer.is_none().then_some(None)) {
            for style in [Style::List, Style::Csv, Style::Markdown, Style::Json] {
                let out = answer.map_or_else(|| "done".to_owned(), |answer| output(answer, style));
                let ran =
                    Ran { code: Some(0), out, err: String::new(), tools: Vec::new(), after: after.clone(), staged: world.staged.clone() };
                let judged = judge(&request, world, &ran);
                assert!(judged.verdict == Verdict::Right, "{}: {} ({style:?})\n{}", request.ask, judged.reason, ran.out);
            }
        }
    }
}
