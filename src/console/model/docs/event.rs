//! An event with all its fields, and what a node streamed.

use jiff::tz::TimeZone;

use crate::console::model::{Doc, log::StreamedText, texts};
use crate::console::theme::Role;
use crate::engine::{Event, EventLine, NodeFact, Record, Run};
use crate::text::{Plain, counted, date_and_time, offset};

/// Bytes of an event that are shown; the journal keeps all.
const SHOWN: usize = 64 << 10;

/// An event with all its fields.
pub fn event(record: &Record, (run, zone): (&Run, &TimeZone)) -> Doc<'static> {
    let line = record.event.describe(run);
    let mut doc = head(&line, &Plain::line(&record.seq.to_string()), (record, run, zone));
    doc.text(texts::event_role(line.tone), line.what().as_str());
    doc.heading("the whole event");
    doc.text(Role::Code, &texts::pretty_start(&record.event, SHOWN));
    doc
}

fn head(line: &EventLine, which: &Plain, (record, run, zone): (&Record, &Run, &TimeZone)) -> Doc<'static> {
    let mut doc = Doc::default();
    doc.field("event", which);
    let after = Plain::line(", ").then(&offset(record.at.since(run.began()))).then(&Plain::line(" after the start"));
    doc.field("at", &date_and_time(record.at.0, zone).then(&after));
    if let Some(node) = &line.node {
        doc.field("node", &Plain::summary(node));
    }
    if !line.who.is_empty() {
        doc.field("who", &line.who);
    }
    doc.line(Role::Text, Plain::default());
    doc
}

/// What a node streamed, from its first piece on.
pub fn streamed(stream: &StreamedText, records: &[Record], (run, zone): (&Run, &TimeZone)) -> Doc<'static> {
    let pieces = || stream.pieces().iter().filter_map(|at| records.get(*at));
    let (Some(first), Some(last)) = (pieces().next(), pieces().next_back()) else { return Doc::default() };
    if first.seq == last.seq {
        return event(first, (run, zone));
    }
    let which = format!("{} of {} to {}", counted(stream.pieces().len(), "piece"), first.seq, last.seq);
    let mut doc = head(&first.event.describe(run), &Plain::line(&which), (first, run, zone));
    doc.line(Role::Dim, Plain::line(&format!("says {}", stream.amount())));
    doc.heading("what it says");
    let mut text = String::new();
    for record in pieces() {
        let Event::Node { fact: NodeFact::Output { text: piece }, .. } = &record.event else { continue };
        if text.len() + piece.len() > SHOWN {
            text.push('…');
            break;
        }
        text.push_str(piece);
    }
    doc.text(Role::Text, &text);
    doc
}

/// An event as JSON for reading.
pub fn json(record: &Record) -> String {
    serde_json::to_value(&record.event).map(|event| texts::pretty(&event)).unwrap_or_default()
}
