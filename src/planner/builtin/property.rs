//! Random questions about a table, said in several wordings, give what a slow direct reading of the table gives.

use super::tests::planned_in;
use super::*;
use crate::plan::NodeKind;
use crate::planner::builtin::slots::{Literal, Relation};
use crate::planner::builtin::tree::{Direction, Operation, Query, Range, RowFilter, Source, Test, Total, Want};
use crate::tools::query;
use std::collections::BTreeMap;
use std::fs;

const REGIONS: [&str; 4] = ["North", "South", "West", "East"];
const PRODUCTS: [&str; 3] = ["Lamp", "Desk", "Rug"];

/// Numbers that look random and are the same in each run.
struct QuestionDice(u64);

impl QuestionDice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[derive(Clone)]
struct Sale {
    region: &'static str,
    product: &'static str,
    units: i64,
    revenue: i64,
}

impl Sale {
    fn cell(&self, column: &str) -> String {
        match column {
            "region" => self.region.into(),
            "product" => self.product.into(),
            "units" => self.units.to_string(),
            _ => self.revenue.to_string(),
        }
    }

    fn number(&self, column: &str) -> i64 {
        if column == "units" { self.units } else { self.revenue }
    }
}

fn sales(dice: &mut QuestionDice) -> Vec<Sale> {
    let one = |dice: &mut QuestionDice| Sale {
        region: REGIONS[dice.below(4)],
        product: PRODUCTS[dice.below(3)],
        units: dice.below(12) as i64,
        revenue: 1000 + dice.below(900) as i64,
    };
    (0..40).map(|_| one(dice)).collect()
}

fn filter(dice: &mut QuestionDice) -> RowFilter {
    let compare = |field: &str, relation: Relation, value: Literal| RowFilter {
        field: field.into(),
        test: Test::Compare(relation, value),
        not: false,
    };
    let text = |text: &str| Literal::Text(text.into());
    match dice.below(4) {
        0 => compare("region", Relation::Equal, text(REGIONS[dice.below(4)])),
        1 => RowFilter { not: true, ..compare("region", Relation::Equal, text(REGIONS[dice.below(4)])) },
        2 => compare("product", Relation::Equal, text(PRODUCTS[dice.below(3)])),
        _ => {
            let relation = [Relation::Less, Relation::AtMost, Relation::Greater, Relation::AtLeast][dice.below(4)];
            compare("units", relation, Literal::Number(dice.below(12) as f64))
        }
    }
}

fn question(dice: &mut QuestionDice) -> Query {
    let mut query = Query::rows(Source::Table("sales.csv".into()));
    query.filters.extend((dice.below(3) > 0).then(|| filter(dice)));
    match dice.below(5) {
        0 => {}
        1 => query.want = Want::Count,
        2 => {
            query.want = Want::Count;
            query.group = vec!["product".into()];
        }
        3 => query.want = Want::Total([Total::Sum, Total::Largest, Total::Smallest][dice.below(3)], "revenue".into()),
        _ => {
            query.want = Want::Total(Total::Sum, "units".into());
            query.group = vec!["product".into()];
        }
    }
    if query.want == Want::Rows(Vec::new()) && dice.below(2) > 0 {
        query.sort = vec![("revenue".into(), [Direction::Ascending, Direction::Descending][dice.below(2)])];
        query.part = (dice.below(2) > 0).then(|| Range::Top(1 + dice.below(4) as u64));
    }
    query
}

/// The question as people could ask it, and as it is said back.
fn wordings(query: &Query) -> Vec<String> {
    let condition = |filter: &RowFilter| match (&filter.test, filter.not) {
        (Test::Compare(Relation::Equal, Literal::Text(value)), false) => format!(" where {} is {value}", filter.field),
        (Test::Compare(Relation::Equal, Literal::Text(value)), true) => format!(" except those from {value}"),
        (Test::Compare(relation, Literal::Number(number)), _) => format!(" with {} {} {number}", relation.words(), filter.field)
            .replace(&format!("{} {number}", filter.field), &format!("{number} {}", filter.field)),
        _ => String::new(),
    };
    let conditions: String = query.filters.iter().map(condition).collect();
    let each = query.group.first().map(|group| format!(" for each {group}")).unwrap_or_default();
    let order = query.sort.first().map(|(key, direction)| {
        format!(", sorted by {key} {}", if *direction == Direction::Ascending { "ascending" } else { "descending" })
    });
    let order = order.unwrap_or_default();
    let top = if let Some(Range::Top(count)) = query.part { format!(", top {count}") } else { String::new() };
    let asked = match &query.want {
        Want::Count => {
            vec![format!("how many rows are in sales.csv{conditions}{each}?"), format!("Please count the sales{conditions}{each}")]
        }
        Want::Total(total, column) => {
            let name = match total {
                Total::Sum => "total",
                Total::Largest => "highest",
                _ => "lowest",
            };
            vec![
                format!("what is the {name} {column} in sales.csv{conditions}{each}?"),
                format!("{name} {column} of the sales{conditions}{each}"),
            ]
        }
        _ => vec![format!("show me the rows of sales.csv{conditions}{order}{top}"), format!("list all sales{conditions}{order}{top}")],
    };
    asked.into_iter().chain([Operation::Query(query.clone()).to_string()]).collect()
}

/// What the question comes to, row by row: cells of each line of the answer.
fn direct(query: &Query, sales: &[Sale]) -> Vec<Vec<String>> {
    let holds = |sale: &&Sale| {
        query.filters.iter().all(|filter| {
            let test = match &filter.test {
                Test::Compare(_, Literal::Text(value)) => sale.cell(&filter.field) == *value,
                Test::Compare(relation, Literal::Number(number)) => {
                    let own = sale.number(&filter.field) as f64;
                    match relation {
                        Relation::Less => own < *number,
                        Relation::AtMost => own <= *number,
                        Relation::Greater => own > *number,
                        _ => own >= *number,
                    }
                }
                _ => false,
            };
            test != filter.not
        })
    };
    let mut rows: Vec<&Sale> = sales.iter().filter(holds).collect();
    let figure = |rows: &[&Sale]| -> Option<i64> {
        match &query.want {
            Want::Total(total, column) => {
                let numbers = rows.iter().map(|sale| sale.number(column));
                match total {
                    Total::Sum if rows.is_empty() => None,
                    Total::Sum => Some(numbers.sum()),
                    Total::Largest => numbers.max(),
                    _ => numbers.min(),
                }
            }
            _ => Some(rows.len() as i64),
        }
    };
    if let Some(group) = query.group.first() {
        let mut groups: BTreeMap<String, Vec<&Sale>> = BTreeMap::new();
        rows.iter().for_each(|sale| groups.entry(sale.cell(group)).or_default().push(sale));
        return groups.into_iter().map(|(name, rows)| vec![name, figure(&rows).unwrap_or_default().to_string()]).collect();
    }
    if query.want != Want::Rows(Vec::new()) {
        return vec![figure(&rows).map(|figure| figure.to_string()).into_iter().collect()];
    }
    if let Some((key, direction)) = query.sort.first() {
        rows.sort_by_key(|sale| sale.number(key) * if *direction == Direction::Ascending { 1 } else { -1 });
        if let Some(Range::Top(count)) = query.part
            && let Some(last) = rows.get((count as usize).min(rows.len()).saturating_sub(1)).map(|sale| sale.number(key))
        {
            let kept = |sale: &&Sale| if *direction == Direction::Ascending { sale.number(key) <= last } else { sale.number(key) >= last };
            rows.retain(kept);
        }
    }
    let all = ["region", "product", "units", "revenue"];
    rows.into_iter().map(|sale| all.map(|column| sale.cell(column)).to_vec()).collect()
}

/// What the plan's query answers.
fn answered(plan: &Plan, text: &str) -> Option<Vec<Vec<String>>> {
    let tools: Vec<_> =
        plan.nodes.iter().filter_map(|node| if let NodeKind::Tool(tool) = &node.kind { Some(tool) } else { None }).collect();
    let [only] = tools[..] else { return None };
    let crate::plan::ToolInput::Args(args) = &only.input else { return None };
    let found = query(args.get("sql")?.as_str()?, "sales.csv", text)?;
    let columns: Vec<String> = found["columns"].as_array()?.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let cell = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.as_f64().map_or(String::new(), |number| number.to_string())),
        _ => None,
    };
    let rows = found["rows"].as_array()?.iter();
    Some(rows.map(|row| columns.iter().filter_map(|name| cell(&row[name])).collect()).collect())
}

#[test]
fn questions_in_several_wordings_are_answered_as_by_hand() {
    let mut dice = QuestionDice(13);
    let all = sales(&mut dice);
    let text: String = std::iter::once("region,product,units,revenue\n".to_owned())
        .chain(all.iter().map(|sale| format!("{},{},{},{}\n", sale.region, sale.product, sale.units, sale.revenue)))
        .collect();
    let folder = tempfile::TempDir::new().unwrap();
    fs::write(folder.path().join("sales.csv"), &text).unwrap();
    let (mut wrong, mut refused, mut asked) = (Vec::new(), Vec::new(), 0);
    for _ in 0..40 {
        let query = question(&mut dice);
        let expected = direct(&query, &all);
        for said in wordings(&query) {
            asked += 1;
            let plan = planned_in(folder.path(), &said).plan;
            match (OpenRequest::of(&plan).is_empty(), answered(&plan, &text)) {
                (false, _) => refused.push(said),
                (true, found) if found.as_ref() == Some(&expected) => {}
                (true, found) => wrong.push((said, found, expected.clone())),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(refused.len() * 10 < asked, "{} of {asked} refused: {refused:#?}", refused.len());
}
