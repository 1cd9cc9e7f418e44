//! Drawings of small plans, compared whole.

use super::*;
use crate::text::GlyphSet;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn sample() -> Plan {
    read(json!({"goal": "look through the logs", "nodes": [
        {"id": "list", "tool": "list_directory", "args": {"path": "logs"}},
        {"id": "config", "tool": "read_file", "args": {"path": "app.toml"}},
        {"id": "sort", "decide": "list.kind", "depends_on": ["list"]},
        {"id": "errors", "agent": "log_analyzer", "objective": "x"},
        {"id": "slow", "agent": "performance_expert", "objective": "x"},
        {"id": "refine", "body": {"nodes": [
            {"id": "draft", "agent": "writer", "objective": "x"},
            {"id": "judge", "agent": "critic", "objective": "x", "depends_on": ["draft"]},
            {"id": "facts", "tool": "read_file", "args": {"path": "x"}},
            {"id": "merge", "merge": true, "depends_on": ["judge", "facts"]},
        ]}, "until": "judge.score > 0.8", "max_iterations": 3, "depends_on": ["errors", "slow", "config"]},
        {"id": "report", "tool": "write_file", "args": {"path": "r.md", "content": "x"}, "depends_on": ["refine", "list"]},
    ], "edges": [
        {"from": "sort", "to": "errors", "when": "errors"},
        {"from": "sort", "to": "slow", "when": "performance", "default": true},
        {"from": "sort", "to": "report", "when": "nothing to do"},
    ]}))
}

#[test]
fn a_plan_is_drawn_with_its_sub_plans_in_frames_and_words_on_its_edges() {
    insta::assert_snapshot!("unicode", text(&sample(), GlyphSet::Unicode));
    insta::assert_snapshot!("ascii", text(&sample(), GlyphSet::Ascii));
}

/// Edges of the sample whose number is even were taken, others died, those of bodies wait.
fn state(pane: &Pane, edge: usize) -> EdgeStroke {
    match (pane.owner, edge % 2) {
        (Some(_), _) => EdgeStroke::Waiting,
        (None, 0) => EdgeStroke::Taken,
        (None, _) => EdgeStroke::Dead,
    }
}

/// The lines of a window as text.
fn lines(drawing: &GraphDrawing, window: Window, glyphs: GlyphSet) -> Vec<String> {
    let view = drawing.view(window, &state);
    let row = |y: u32| (window.x..window.x + window.width).map(|x| view.stroke(x, y).symbol(glyphs)).collect::<String>();
    (window.y..window.y + window.height).map(row).collect()
}

#[test]
fn taken_dead_and_waiting_edges_are_told_apart_without_colour() {
    let drawing = GraphDrawing::new(&sample(), BoxText::Ids, &|_| true);
    let size = drawing.size();
    let whole = Window { x: 0, y: 0, width: size.width, height: size.height };
    insta::assert_snapshot!("lines", lines(&drawing, whole, GlyphSet::Unicode).join("\n"));
    insta::assert_snapshot!("lines_ascii", lines(&drawing, whole, GlyphSet::Ascii).join("\n"));
}

#[test]
fn a_window_shows_its_part_of_the_whole_drawing() {
    let drawing = GraphDrawing::new(&sample(), BoxText::Ids, &|_| true);
    let size = drawing.size();
    let whole = lines(&drawing, Window { x: 0, y: 0, width: size.width, height: size.height }, GlyphSet::Unicode);
    for (x, y, width, height) in [(3, 2, 20, 10), (30, 9, 25, 1), (41, 5, 1, 30), (0, 20, 60, 12)] {
        let part = lines(&drawing, Window { x, y, width, height }, GlyphSet::Unicode);
        for (row, line) in part.iter().enumerate() {
            let expected = whole.get(y as usize + row).map(String::as_str).unwrap_or_default().chars();
            let expected: String = expected.chain(std::iter::repeat(' ')).skip(x as usize).take(width as usize).collect();
            assert_eq!(*line, expected, "row {row} of the window at {x}, {y}");
        }
    }
}

#[test]
fn a_folded_sub_plan_is_one_box_with_a_count() {
    let text = |drawing: &GraphDrawing| drawing.nodes().iter().map(|node| format!("{} {}", node.id, node.caption)).collect::<Vec<_>>();
    let folded = GraphDrawing::new(&sample(), BoxText::Ids, &|_| false);
    assert!(text(&folded).contains(&"refine loop, 4 nodes".to_owned()), "{:?}", text(&folded));
    assert!(folded.place("refine/judge").is_none());
    let open = GraphDrawing::new(&sample(), BoxText::Ids, &|_| true);
    assert!(text(&open).contains(&"refine/judge critic".to_owned()), "{:?}", text(&open));
    let (frame, inner) = (open.area(open.place("refine").unwrap()), open.area(open.place("refine/judge").unwrap()));
    assert!(frame.x < inner.x && inner.x + inner.width < frame.x + frame.width && inner.y + inner.height < frame.y + frame.height);
}

#[test]
fn steps_lead_along_edges_between_siblings_and_through_bodies() {
    let drawing = GraphDrawing::new(&sample(), BoxText::Ids, &|_| true);
    let walk = |from: &str, steps: &[GraphMove]| {
        let mut here = NodeId::new(from);
        for step in steps {
            here = drawing.step(&here, *step).cloned().unwrap_or(here);
        }
        here.to_string()
    };
    assert_eq!(walk("list", &[GraphMove::Down]), "sort");
    assert_eq!(walk("sort", &[GraphMove::Up, GraphMove::Right]), "config");
    assert_eq!(walk("errors", &[GraphMove::Right]), "slow");
    assert_eq!(walk("errors", &[GraphMove::Down]), "refine");
    assert_eq!(walk("refine", &[GraphMove::Down]), "refine/draft");
    assert_eq!(walk("refine/draft", &[GraphMove::Down]), "refine/judge");
    assert_eq!(walk("refine/facts", &[GraphMove::Down]), "refine/merge");
    assert_eq!(walk("refine/merge", &[GraphMove::Down]), "report");
    assert_eq!(walk("refine/draft", &[GraphMove::Up]), "refine");
    assert_eq!(walk("report", &[GraphMove::Down, GraphMove::Right]), "report", "there is nothing below and beside");
    assert_eq!(drawing.first().map(NodeId::as_str), Some("list"));
    assert_eq!(drawing.last().map(NodeId::as_str), Some("report"));
}

#[test]
fn edges_that_close_a_cycle_are_listed() {
    let plan = read(json!({"nodes": [{"id": "a", "value": 1, "depends_on": ["b"]}, {"id": "b", "value": 1, "depends_on": ["a", "gone"]}]}));
    let drawn = text(&plan, GlyphSet::Unicode);
    assert!(drawn.contains("without a line") && drawn.contains("b → a") ^ drawn.contains("a → b"), "{drawn}");
    assert_eq!(text(&Plan::default(), GlyphSet::Unicode), "");
}
