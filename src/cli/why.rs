//! `dagdeck why`: what a node of a run waits for, down to what a person can do something about.

use super::{Exit, Failure, Io, Place, WhyArgs, ls::short, named, show};
use crate::{
    engine::{Link, Obstacle, Run},
    text::Plain,
};
use serde_json::json;

/// Tells what holds a node up, or what became of it.
///
/// # Errors
/// When there is no such run or node, or the journal can't be read.
pub fn why(args: &WhyArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let (id, records) = show::records(&args.run, place)?;
    let run = Run::replay(&records);
    let links = run.why(&named::node(&args.node, &id, &run, &records)?);
    if args.json {
        io.json(&json!({ "run": id, "node": args.node, "links": links }))?;
        return Ok(Exit::Success);
    }
    for link in &links {
        io.line(Plain::line(&format!("{}{}", "  ".repeat(link.depth), link.sentence)).as_str())?;
    }
    if let Some(hint) = hint(&links, short(&id)) {
        io.say(&hint);
    }
    Ok(Exit::Success)
}

/// What a person can do.
fn hint(links: &[Link], run: &str) -> Option<String> {
    let gates = links.iter().filter_map(|link| match link.obstacle {
        Obstacle::Gate { gate } => Some(gate.0),
        _ => None,
    });
    let gates: Vec<u32> = gates.collect();
    let waits = links.iter().filter(|link| link.obstacle.is_for_people()).count();
    match (waits, gates.as_slice()) {
        (0, _) => None,
        (1, [gate]) => Some(format!("hint: `dagdeck approve {run} {gate}`, `reject` or `answer`, and it goes on")),
        (waits, _) => Some(format!("hint: {waits} of these wait for a person")),
    }
}
