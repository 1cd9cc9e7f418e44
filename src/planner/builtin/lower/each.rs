//! One operation on each of several files.

use serde_json::json;

use super::{Given, Lowering, ResultShape, Row, Say, SlotValue, SlotValues, rows};
use crate::planner::builtin::tree::{Operation, Query, Range, Source};

impl Lowering<'_> {
    /// An effect on each file of a listing.
    pub(super) fn on_files(&mut self, operation: &Operation, query: &Query, row: &str, target: Option<&str>) {
        let Some(row) = rows::row(row) else { return };
        if let Source::Table(file) = &query.source {
            return self.delete_rows(query, file);
        }
        let found = self.query(query);
        if let Some(node) = self.nodes.last_mut().filter(|node| node["id"] == found.id)
            && let Some(code) = node["code"].as_str()
        {
            // Of several that are equally new, none is the newest.
            let tied = match query.part {
                Some(Range::Top(count)) => format!(
                    "if (found.length > {count}) throw new Error(found.length + \" files come first together, so nothing was done: \" + found.join(\", \"));\n"
                ),
                _ => String::new(),
            };
            // An effect on nothing is no success.
            node["code"] = json!(format!(
                "const found = (() => {{\n{code}\n}})().map((row) => row.path ?? row);\nif (found.length === 0) throw new Error(\"there are no such files, so nothing was done\");\n{tied}return found;"
            ));
        }
        let list = json!(format!("{{{{{}.result}}}}", found.id));
        let args = match target {
            None => json!({ "path": list }),
            Some(target) => json!({ "source": list, "target": format!("{}/", target.trim_end_matches('/')) }),
        };
        let node = json!({ "title": operation.to_string(), "tool": row.tool, "args": args, "approve": "before", "depends_on": [found.id] });
        self.add(&row.name, node);
    }

    /// A row for each of several files, and what they give as one result.
    pub(super) fn row_of_each(&mut self, row: &Row, slots: &SlotValues, (name, paths): (&String, &[String]), say: Say) -> Option<Given> {
        let of = |path: &String| -> SlotValues {
            let own = |value: &SlotValue, slot: &String| if slot == name { SlotValue::Path(path.clone()) } else { value.clone() };
            slots.iter().map(|(slot, value)| (slot.clone(), own(value, slot))).collect()
        };
        let given: Vec<Option<Given>> = paths.iter().map(|path| self.row(row, &of(path), say)).collect();
        let given: Vec<Given> = given.into_iter().collect::<Option<_>>()?;
        let all: Vec<String> =
            given.iter().zip(paths).map(|(given, path)| format!("[{}, deps.{}.output]", json!(path), given.id)).collect();
        let column = json!(row.each.column.as_deref().unwrap_or("answer"));
        let rows = format!("const found = [{}];\n", all.join(", "));
        let code = if row.each.column.as_deref() == Some("") {
            format!("{rows}return found.filter(([, holds]) => holds).map(([path]) => path);")
        } else if say == Say::Truth {
            format!("{rows}return found.every(([, holds]) => holds === true);")
        } else {
            let sum = format!("rows.push({{ path: \"(total)\", [{column}]: found.reduce((sum, [, answer]) => sum + answer, 0) }});\n");
            let sum = if row.each.sum { sum } else { String::new() };
            format!("{rows}const rows = found.map(([path, answer]) => ({{ path, [{column}]: answer }}));\n{sum}return rows;")
        };
        let ids: Vec<&String> = given.iter().map(|given| &given.id).collect();
        let id = self.add(&format!("{}_of_each", row.name), json!({ "title": row.title(slots), "code": code, "depends_on": ids }));
        Some(Given::new(id, if say == Say::Truth { ResultShape::Value } else { ResultShape::Rows }))
    }
}
