//! The same request in plainer words, for one that can't be read as it is: nothing that could change its meaning is dropped, and what is
//! guessed is said.

use super::{
    Compiled, Compiler, OpenRequest, lists, lower,
    readings::{Reader, changes_text},
    rows,
    sentence::sentence,
    slots::{self, SlotValue},
    tree::{Clause, Operation, Step, Target},
    words::{self, Word},
};

/// Shortest word of dagdeck's own that a slip is read as.
const SLIP: usize = 5;
/// The way of rewording that guesses.
const GUESS: &str = "slips";

/// Other words for the same, and what was guessed.
type Reworded = Option<(Vec<Word>, Vec<String>)>;

/// A way to reword.
type Rewording<'a> = fn(&Compiler<'a>, &[Word]) -> Reworded;

impl<'a> Compiler<'a> {
    /// Each way to reword on top of those before it, until the request is understood.
    pub(super) fn reworded(&self, words: &[Word]) -> Option<Compiled> {
        let (mut said, mut remarks) = (words.to_vec(), Vec::new());
        let ways: [(&str, Rewording<'a>); 7] = [
            ("place", Self::with_place),
            ("denial", Self::without_denial),
            ("courtesy", Self::without_courtesy),
            ("synonyms", Self::by_synonyms),
            ("each", Self::for_each),
            ("pronouns", Self::with_pronouns),
            (GUESS, Self::with_slips),
        ];
        // What hangs on a condition is read as it is said.
        let hangs = words.iter().any(|word| ["if", "unless", "otherwise", "when", "else"].iter().any(|known| word.is(known)));
        for (name, way) in ways.into_iter().filter(|(name, _)| !hangs || !["synonyms", "each"].contains(name)) {
            let Some((next, guessed)) = way(self, &said) else { continue };
            said = next;
            remarks.extend(guessed);
            match &self.fresh_read(&said).readings[..] {
                [] => {}
                // What changes something is never done on a guess.
                [steps] if name == GUESS && steps.iter().any(lower::has_effect) => {
                    let problems = vec![format!("{}? Say it so if {} is meant", remarks.join(", "), slots::quoted(&sentence(steps)))];
                    return Some(Compiled { open: OpenRequest { problems, ..OpenRequest::default() }, ..Compiled::default() });
                }
                [steps] => return Some(Compiled { steps: steps.clone(), remarks, ..Compiled::default() }),
                several => return Some(Compiled::choice(several)),
            }
        }
        if hangs { None } else { self.in_order(words).or_else(|| self.in_order(&said)) }
    }

    /// `how many are paid? the orders are in orders.csv`, `data/x.csv: how many rows`: the file that is asked about, apart from the question.
    fn with_place(&self, words: &[Word]) -> Reworded {
        let is_file = |word: &&Word| self.facts.located(&word.text).is_some_and(|path| !self.facts.is_folder(&path));
        let is_mark = |word: &Word| [".", "?", "!", ",", ";", ":", "(", ")", "-", "–"].iter().any(|mark| word.is(mark));
        let file = words.iter().position(|word| is_file(&word)).filter(|_| words.iter().filter(is_file).count() == 1)?;
        let says_where = |word: &Word| is_mark(word) || lists::has("saying_where", &word.lower) && !word.quoted;
        let behind = words[file + 1..].iter().position(|word| !says_where(word)).map_or(words.len(), |length| file + 1 + length);
        let from = words[..file].iter().rposition(|word| !says_where(word)).map_or(0, |at| at + 1);
        // What follows a mark, or leads to one.
        let question = if behind == words.len() {
            let mark = (from..file).find(|at| is_mark(&words[*at]))?;
            &words[..mark]
        } else {
            (from == 0 && (file + 1..behind).any(|at| is_mark(&words[at]))).then_some(&words[behind..])?
        };
        let end = question.iter().rposition(|word| !is_mark(word))? + 1;
        Some(([&question[..end], &[Word::made("in"), words[file].clone()]].concat(), Vec::new()))
    }

    /// Without the clause that only says what isn't to be done, where nothing else would do it: `list them, don't delete anything`.
    fn without_denial(&self, words: &[Word]) -> Reworded {
        let is = |at: usize, said: &[&str]| words.get(at).is_some_and(|word| said.iter().any(|known| word.is(known)));
        let effect = |word: &Word| !word.quoted && lists::has("changing", &word.lower);
        let from = (0..words.len()).find(|at| is(*at, &["do"]) && is(at + 1, &["not"]) && words.get(at + 2).is_some_and(effect))?;
        let end = from + 3 + usize::from(is(from + 3, &["it", "them", "anything", "any", "those", "these"]));
        if end < words.len() && !is(end, &[",", ".", ";", "and", "but", "just", "only"]) {
            return None;
        }
        let rest = |at: &usize| !is(*at, &[",", ".", ";", "and", "but", "just", "only"]);
        let next = (end..words.len()).find(rest).unwrap_or(words.len());
        let before = (0..from).rfind(rest).map_or(0, |at| at + 1);
        let left = [&words[..before], &words[next..]].concat();
        (!left.is_empty() && !left.iter().any(effect)).then_some((left, Vec::new()))
    }

    /// Without the words of courtesy in its midst.
    fn without_courtesy(&self, words: &[Word]) -> Reworded {
        let courtesy = lists::words("courtesy").iter().map(|phrase| (phrase.as_str(), ""));
        self.replaced(words, courtesy).filter(|(left, _)| !left.is_empty())
    }

    /// With dagdeck's own words for those that mean the same.
    fn by_synonyms(&self, words: &[Word]) -> Reworded {
        self.replaced(words, lists::choices("synonyms"))
    }

    /// With other words in the place of phrases, the longest first; names of the workspace stay.
    fn replaced<'l>(&self, words: &[Word], pairs: impl Iterator<Item = (&'l str, &'l str)>) -> Reworded {
        let mut pairs: Vec<(Vec<&str>, &str)> = pairs.map(|(phrase, own)| (phrase.split(' ').collect(), own)).collect();
        pairs.sort_by_key(|(parts, _)| std::cmp::Reverse(parts.len()));
        let (mut left, mut at): (Vec<Word>, usize) = (Vec::new(), 0);
        let is_name = |word: &Word| {
            let is_value = self.facts.columns().contains(word.lower.as_str()) || !self.facts.members(&word.lower).is_empty();
            is_value || self.facts.exists(&word.text)
        };
        while at < words.len() {
            let here = |parts: &Vec<&str>| {
                let said = words.get(at..at + parts.len());
                said.is_some_and(|said| said.iter().zip(parts).all(|(word, part)| word.is(part)) && (said.len() > 1 || !is_name(&said[0])))
            };
            let Some((parts, own)) = pairs.iter().find(|(parts, _)| here(parts)) else {
                left.push(words[at].clone());
                at += 1;
                continue;
            };
            let (from, to) = (words[at].from, words[at + parts.len() - 1].to);
            let word = |part: &str| Word { text: part.into(), lower: part.into(), quoted: false, from, to };
            left.extend(own.split_whitespace().map(word));
            at += parts.len();
        }
        (left != words).then_some((left, Vec::new()))
    }

    /// `for each csv file in data, tell me how many lines it has` asks how many lines each of them has.
    fn for_each(&self, words: &[Word]) -> Reworded {
        let is = |at: usize, said: &[&str]| words.get(at).is_some_and(|word| said.iter().any(|known| word.is(known)));
        let from = (0..words.len()).find(|at| is(*at, &["for"]) && is(at + 1, &["each", "every", "all"]))?;
        let begins = |at: usize| lists::has("verbs", &words[at].lower) && !words[at].quoted;
        let set_end = (from + 2..words.len()).find(|at| is(*at, &[",", ":"]) || begins(*at));
        let (set, rest): (&[Word], Vec<Word>) = match set_end {
            Some(end) => {
                let next = end + usize::from(is(end, &[",", ":"]));
                (&words[from + 1..end], [&words[..from], &words[next..]].concat())
            }
            None => (&words[from + 1..], words[..from].to_vec()),
        };
        let pronoun = rest.iter().position(|word| ["it", "its", "they", "their"].iter().any(|known| word.is(known)));
        let said = match pronoun {
            Some(at) if rest[at].lower.starts_with("it") && rest[at].lower.len() == 2 || rest[at].is("they") => {
                [&rest[..at], set, &rest[at + 1..]].concat()
            }
            Some(at) => [&rest[..at], &rest[at + 1..], &[Word::made("of")], set].concat(),
            None => [&rest[..], &[Word::made("of")], set].concat(),
        };
        (rest.len() > 1).then_some((said, Vec::new()))
    }

    /// With "it" read as the only file that was named before, and said.
    fn with_pronouns(&self, words: &[Word]) -> Reworded {
        let at = words.iter().position(|word| word.is("it"))?;
        // What is moved, renamed or deleted isn't there any more.
        let has = |known: &[&str]| words[..at].iter().any(|word| known.iter().any(|known| word.is(known)));
        if has(&["move", "mv", "rename", "delete", "remove", "rm"]) && has(&["and", "then"]) && !has(&["if", "unless"]) {
            return None;
        }
        // After a question it is the answer.
        let names_a_file = |word: &Word| word.is("if") || word.is("unless") || lists::has("effects", &word.lower);
        words.first().filter(|word| names_a_file(word) || at > 0 && !lists::has("effects", &words[at - 1].lower))?;
        let mut named: Vec<&Word> = words[..at].iter().filter(|word| words::path_text(word).is_some()).collect();
        named.dedup_by(|a, b| a.text == b.text);
        let [file] = named[..] else { return None };
        let replaced = words.iter().map(|word| if word.is("it") { file.clone() } else { word.clone() }).collect();
        Some((replaced, vec![format!("read \"it\" as {}", file.text)]))
    }

    /// With slips in dagdeck's own words read as these, and what was read as what.
    fn with_slips(&self, words: &[Word]) -> Reworded {
        let mut remarks = Vec::new();
        let corrected: Vec<Word> = words
            .iter()
            .map(|word| {
                let fixed = self.slip(word, &rows::VOCABULARY);
                remarks.extend(fixed.map(|fixed| format!("read {} as {fixed}", word.text)));
                fixed.map_or_else(|| word.clone(), |fixed| Word { text: fixed.to_owned(), lower: fixed.to_owned(), ..word.clone() })
            })
            .collect();
        (!remarks.is_empty()).then_some((corrected, remarks))
    }

    /// The one word of dagdeck's own that a word is a letter away from. Names of files, columns and values never are slips.
    fn slip<'v>(&self, word: &Word, known: &[&'v str]) -> Option<&'v str> {
        let plain = !word.quoted
            && word.lower.len() >= SLIP
            && word.lower.chars().all(char::is_alphabetic)
            && word.text.chars().skip(1).eq(word.lower.chars().skip(1));
        let is_name = self.facts.spelled(&word.text).is_some()
            || self.facts.by_stem(&word.lower).is_some()
            || self.facts.columns().contains(word.text.as_str())
            || !self.facts.members(&word.lower).is_empty();
        if !plain || is_name || known.contains(&word.lower.as_str()) || lists::knows(&word.lower) || lists::has("no_slips", &word.lower) {
            return None;
        }
        let mut near = known.iter().filter(|own| {
            let starts = own.chars().next() == word.lower.chars().next();
            own.len() >= SLIP && starts && is_slip(own, &word.lower) && strsim::osa_distance(own, &word.lower) == 1
        });
        let first = near.next()?;
        near.next().is_none().then_some(first)
    }

    /// Clause by clause: what one makes, moves or changes is there for the next, and "it" is what the one before was about.
    fn in_order(&self, words: &[Word]) -> Option<Compiled> {
        let reader = Reader::new(self.facts, self.request, words, self.templates, &self.effort);
        for (stop, next) in reader.cuts(0, words.len()).into_iter().skip(1) {
            let [steps] = &self.fresh_read(&words[..stop]).readings[..] else { continue };
            let Some((path, source)) = steps.last().and_then(outcome) else { continue };
            let (opens, _) = reader.trim(next, words.len());
            // Without a verb beside what changes something it may belong to that.
            if steps.last().is_some_and(lower::has_effect) && words.get(opens).is_some_and(|word| !lists::has("verbs", &word.lower)) {
                continue;
            }
            let facts = self.facts.with(&path, source.as_deref());
            let rest = pointed(&words[next..], &path);
            let compiler = Compiler { facts: &facts, effort: self.effort.clone(), ..*self };
            let behind = compiler.compile(&rest);
            let writes = |step: &Step| matches!(step, Step::Do(Clause { target: Some(_), .. }));
            let unclear = steps.iter().any(changes_text) && behind.steps.iter().any(writes);
            if behind.open.is_empty() && !behind.steps.is_empty() && !unclear {
                let steps = [&steps[..], &behind.steps].concat();
                let facts = behind.facts.or(Some(facts));
                return Some(Compiled { steps, facts, remarks: behind.remarks, ..Compiled::default() });
            }
        }
        None
    }
}

/// A clause with the path in the place of the words that point back to it.
fn pointed(words: &[Word], path: &str) -> Vec<Word> {
    // A name is no text that is to be written.
    let made = |text: &str| Word { quoted: text == path && text.contains(char::is_whitespace), ..Word::made(text) };
    let mut said: Vec<Word> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.is("there") && at + 1 == words.len() {
            said.extend([made("in"), made(path)]);
        } else if word.is("it") {
            said.push(made(path));
        } else if !word.is("its") {
            said.push(word.clone());
        }
    }
    if words.iter().any(|word| word.is("its")) {
        said.extend([made("of"), made(path)]);
    }
    said
}

/// The path that a step leaves, which the next one can point at, and the file whose text it has.
fn outcome(step: &Step) -> Option<(String, Option<String>)> {
    let Step::Do(Clause { operation, target }) = step else { return None };
    if let Some(Target { path, .. }) = target {
        return Some((path.clone(), None));
    }
    let Operation::Row { name, slots } = operation else { return None };
    let row = rows::row(name).filter(|row| row.needs.effect)?;
    let path = |name: &str| {
        slots.iter().find(|(slot, _)| slot == name).and_then(|(_, slot)| match slot {
            SlotValue::Path(path) | SlotValue::Text { text: path, .. } => Some(path.trim_end_matches('/').to_owned()),
            _ => None,
        })
    };
    match (path("source"), path("target")) {
        (Some(source), Some(target)) => {
            let name = source.rsplit('/').next().unwrap_or(&source);
            Some((if row.name.ends_with("_into") { format!("{target}/{name}") } else { target }, Some(source)))
        }
        (None, None) if row.name != "delete" => path("path").map(|path| (path, None)),
        _ => None,
    }
}

/// Whether a word can be a slip of another: letters swapped, lost, or typed twice. With another letter, or one more at its end, it is a word of
/// its own.
fn is_slip(own: &str, said: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let doubled = || {
        let (own, said): (Vec<char>, Vec<char>) = (own.chars().collect(), said.chars().collect());
        (1..said.len()).any(|at| said[at] == said[at - 1] && [&said[..at], &said[at + 1..]].concat() == own)
    };
    letters(own) == letters(said) || own.len() > said.len() && own.chars().last() == said.chars().last() || doubled()
}
