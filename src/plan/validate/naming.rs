//! The nodes that a text names, and what it says of their order: "a and c", "after a", "a.result, then c". A text that says nothing else is
//! read as a whole; in longer ones an id counts only beside a word of order.

use super::asking::plain_words;
use super::check::PlanCheck;
use super::finding::FixKind;
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;

/// What a text says of a node that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedOrder {
    /// It comes before what the text is about.
    Source,
    /// It comes after that.
    Target,
    /// No more than its name.
    Named,
}

/// The words of a text, as far as they name nodes or say an order.
pub(super) struct NamingText {
    words: Vec<NamingWord>,
    /// It says nothing else.
    is_whole: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum NamingWord {
    /// A node; whether it is spelled as its id, and by no common word.
    Node(usize, bool),
    Order(NamedOrder),
    Fill,
    Other,
}

/// The most words of an id that a text may spell with spaces.
const MOST_PARTS: usize = 5;
/// Longer texts are told as stories, and cost time.
const MOST_WORDS: usize = 60;
/// How many other words may be between a word of order and a name.
const BETWEEN: usize = 2;

impl NamingText {
    /// Nothing for a text that names no node.
    pub fn of(check: &PlanCheck, text: &str) -> Option<Self> {
        let parts: Vec<&str> = pieces(text).take(MOST_WORDS + 1).collect();
        if parts.len() > MOST_WORDS {
            return None;
        }
        let mut words = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let most = MOST_PARTS.min(parts.len() - at);
            let found = (1..=most).rev().find_map(|count| Some((node(check, &parts[at..at + count])?, count)));
            match found {
                Some((node, count)) => {
                    words.push(node);
                    at += count;
                }
                None => {
                    let is_denied = at > 0 && ["not", "never", "no"].contains(&parts[at - 1].to_lowercase().as_str());
                    words.extend(compound(check, parts[at]).into_iter().map(|word| if is_denied { denied(parts[at], word) } else { word }));
                    at += 1;
                }
            }
        }
        let names = words.iter().any(|word| matches!(word, NamingWord::Node(..)));
        let is_whole = !words.contains(&NamingWord::Other);
        names.then_some(Self { words, is_whole })
    }

    /// Whether it says nothing but names and an order.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How sure a fix is that writes what it says.
    pub fn kind(&self) -> FixKind {
        if self.is_whole { FixKind::Safe } else { FixKind::Guess }
    }

    /// The nodes that are named by their ids, where these are no common words.
    pub fn exact(&self) -> Vec<usize> {
        self.words.iter().filter_map(|word| if let NamingWord::Node(at, true) = word { Some(*at) } else { None }).collect()
    }

    fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().filter_map(|word| if let NamingWord::Node(at, _) = word { Some(*at) } else { None })
    }

    /// What it says of other nodes to one node.
    pub fn about(&self, own: usize) -> Vec<(usize, NamedOrder)> {
        let names_own = self.nodes().any(|at| at == own);
        if names_own && self.nodes().any(|at| at != own) {
            let pairs = self
                .pairs()
                .into_iter()
                .flat_map(|(before, after)| [(before, after, NamedOrder::Source), (after, before, NamedOrder::Target)]);
            return pairs.filter(|(_, about, _)| *about == own).map(|(at, _, relation)| (at, relation)).collect();
        }
        let (mut said, mut order, mut between) = (Vec::new(), NamedOrder::Named, 0);
        for word in &self.words {
            match *word {
                NamingWord::Order(relation) => (order, between) = (relation, 0),
                NamingWord::Node(at, is_exact) if at != own => {
                    let is_meant = self.is_whole || is_exact && order != NamedOrder::Named && between <= BETWEEN;
                    if is_meant {
                        said.push((at, order));
                    }
                }
                NamingWord::Node(..) | NamingWord::Fill => {}
                NamingWord::Other => between += 1,
            }
        }
        said
    }

    /// Nodes of which one comes before the other, where the text says so between them: "a and b before c", "c after a".
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let mut groups: Vec<(Vec<usize>, Option<NamedOrder>)> = vec![(Vec::new(), None)];
        let mut between = 0;
        for word in &self.words {
            let Some(last) = groups.last_mut() else { break };
            match *word {
                NamingWord::Node(at, is_exact) if self.is_whole || is_exact => {
                    if last.0.is_empty() && between > BETWEEN {
                        last.1 = None;
                    }
                    last.0.push(at);
                    between = 0;
                }
                NamingWord::Order(relation) if !last.0.is_empty() => {
                    groups.push((Vec::new(), Some(relation)));
                    between = 0;
                }
                NamingWord::Order(_) | NamingWord::Node(..) | NamingWord::Fill => {}
                NamingWord::Other => between += 1,
            }
        }
        let mut pairs = Vec::new();
        for both in groups.windows(2) {
            for &one in &both[0].0 {
                for &other in &both[1].0 {
                    match both[1].1 {
                        Some(NamedOrder::Source) => pairs.push((other, one)),
                        Some(NamedOrder::Target) => pairs.push((one, other)),
                        Some(NamedOrder::Named) | None => {}
                    }
                }
            }
        }
        pairs.retain(|(one, other)| one != other);
        pairs
    }
}

/// Not before something is after it, and the other way round.
fn denied(written: &str, word: NamingWord) -> NamingWord {
    match (written.to_lowercase().as_str(), word) {
        ("before", NamingWord::Order(_)) => NamingWord::Order(NamedOrder::Source),
        ("after", NamingWord::Order(_)) => NamingWord::Order(NamedOrder::Target),
        _ => word,
    }
}

/// A text in pieces: words, and arrows as a word of their own.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || ",;:|&+()[]{}\"'`/=<>$#@→⇒".contains(c);
    // A sign alone between spaces says an order of nodes, too: `a < b`.
    let is_arrow =
        |piece: &str| ["->", "=>", ">>", "< ", "> "].iter().any(|arrow| piece.starts_with(arrow)) || piece.starts_with(['→', '⇒']);
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            if is_arrow(rest) {
                let end =
                    rest.char_indices().nth(if rest.starts_with(['-', '=', '>', '<']) { 2 } else { 1 }).map_or(rest.len(), |(at, _)| at);
                rest = &rest[end..];
                return Some("then");
            }
            let end = rest.char_indices().find(|(at, c)| is_end(*c) || is_arrow(&rest[*at..])).map_or(rest.len(), |(at, _)| at);
            if end == 0 {
                rest = &rest[rest.chars().next().map_or(1, char::len_utf8)..];
                continue;
            }
            let piece = rest[..end].trim_matches(['.', '!', '?', '-']);
            rest = &rest[end..];
            if !piece.is_empty() {
                return Some(piece);
            }
        }
    })
}

/// The node that some pieces spell together: by its id, or as `steps.a.output`.
fn node(check: &PlanCheck, parts: &[&str]) -> Option<NamingWord> {
    let is_common = |name: &str| NAMES.naming.common.contains(&name);
    if let [one] = parts {
        let by_path = || {
            let mut steps = one.split('.').filter(|step| !NAMES.foreign.before.contains(step));
            check.graph.position(steps.next().filter(|_| one.contains('.'))?)
        };
        if let Some(at) = check.graph.position(one).or_else(by_path) {
            return Some(NamingWord::Node(at, !is_common(one)));
        }
    }
    let at = check.alike(&parts.concat())?;
    Some(NamingWord::Node(at, false))
}

/// The words of a piece that is no id: `depends_on`, `after-a`.
fn compound(check: &PlanCheck, piece: &str) -> Vec<NamingWord> {
    let said = plain_words(piece);
    let mut words = Vec::new();
    for word in said.split(' ').filter(|word| !word.is_empty()) {
        words.push(if NAMES.naming.sources.contains(&word) {
            NamingWord::Order(NamedOrder::Source)
        } else if NAMES.naming.targets.contains(&word) {
            NamingWord::Order(NamedOrder::Target)
        } else if NAMES.naming.fill.contains(&word) {
            NamingWord::Fill
        } else if let Some(at) = check.alike(word).filter(|_| words.contains(&NamingWord::Order(NamedOrder::Source))) {
            NamingWord::Node(at, false)
        } else {
            NamingWord::Other
        });
    }
    words
}

/// Whether a field sorts or describes, so that the name of a node alone is no link.
pub(super) fn sorts(name: &str) -> bool {
    NAMES.naming.sorts.contains(&plain(name).as_str())
}
