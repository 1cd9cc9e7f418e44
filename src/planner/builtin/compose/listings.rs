//! Questions about files, lines of text, and places of a text.

use super::measures::file_filters;
use super::pieces::{AskedFor, Bag, SharedPieces, case, contains, head, looks, order_of, place, source_of, superlative_of};
use crate::planner::builtin::slots::SlotValue;
use crate::planner::builtin::{
    facts::WorkspaceFacts,
    tree::{Direction, FileSet, Match, Query, Range, RowFilter, Source, Test, Total, Want},
};

/// Files and folders: list, count, rank, sizes and lines.
pub(super) fn files(mut bag: Bag, facts: &WorkspaceFacts, previous: Option<&Query>) -> Vec<Query> {
    // In a repository a file can have changed by a commit, too.
    if bag.has("changed") && facts.is_repository() {
        return Vec::new();
    }
    let after = matches!(source_of(previous), Some(Source::Files(_))).then_some(previous).flatten();
    let pronoun = bag.takes("previous");
    let Some(mut set) = place(&mut bag, facts) else { return Vec::new() };
    let by_folder = bag.all("folder_noun");
    for piece in &by_folder {
        let Some(folder) = piece.path("foldernoun").filter(|folder| set.place.is_empty() || set.place == *folder) else {
            return Vec::new();
        };
        set.place = folder;
    }
    let nouns = bag.all("files");
    let folders = bag.take("folders");
    // `the folder photos` is one of its own.
    if folders.as_ref().is_some_and(|noun| !noun.plural) && !set.place.is_empty() && !bag.has("top") && !bag.has("top_by") {
        return Vec::new();
    }
    set.folders = folders.is_some();
    let has_noun = !nouns.is_empty() || set.folders || !by_folder.is_empty();
    for noun in &nouns {
        set.globs.extend(noun.slots.iter().flat_map(|(_, slot)| match slot {
            SlotValue::Globs(globs) => globs.clone(),
            _ => Vec::new(),
        }));
    }
    if nouns.iter().filter(|noun| noun.value.is_empty()).count() > 1 || set.folders && !nouns.is_empty() || by_folder.len() > 1 {
        return Vec::new();
    }
    let has_place = !set.place.is_empty() && by_folder.is_empty();
    if let Some(query) = lines_of_each(bag.clone(), &set) {
        return vec![query];
    }
    let Some(query) = asked_of_files(bag, set.clone(), has_noun || has_place) else { return Vec::new() };
    // Whether the files of a folder's folders count for it, nobody says.
    let place = if set.place.is_empty() { "." } else { &set.place };
    if query.group.iter().any(|field| field == "folder") && (facts.is_deep(place) || !set.also.is_empty()) {
        return Vec::new();
    }
    let there = |mut set: FileSet| {
        if set.place.is_empty() {
            set.place = ".".into();
        }
        Query { source: Source::Files(set), ..query.clone() }
    };
    let follow = |previous: &Query| {
        let Source::Files(before) = &previous.source else { return None };
        let mut joined = before.clone();
        if has_noun && before.folders || !by_folder.is_empty() {
            return None;
        }
        joined.except.extend(set.except.clone());
        if !set.globs.is_empty() {
            // A narrower kind of the same files.
            joined.globs = set.globs.clone();
        }
        merged(previous, Query { source: Source::Files(joined), ..query.clone() })
    };
    match (after, pronoun, has_noun, has_place) {
        (None, true, ..) | (Some(_), true, _, true) => Vec::new(),
        (Some(previous), true, ..) => follow(previous).into_iter().collect(),
        (Some(previous), false, false, false) => follow(previous).into_iter().collect(),
        (Some(_), false, true, false) if set.folders => {
            vec![there(set.clone())]
        }
        // The files of before, or all of them: if both are the same, it is one reading.
        (Some(previous), false, true, false) => follow(previous).into_iter().chain([there(set.clone())]).collect(),
        (None, false, false, false) => Vec::new(),
        (_, false, ..) => vec![there(set.clone())],
    }
}

/// `the first line of every note`.
fn lines_of_each(mut bag: Bag, set: &FileSet) -> Option<Query> {
    let named = bag.takes("lines") && bag.takes("group_file");
    let head = head(&mut bag)?;
    let SharedPieces { part, reverse } = SharedPieces::take(&mut bag)?;
    let plain = named && matches!(head, AskedFor::Show | AskedFor::None) && !reverse && bag.is_empty() && !set.folders && !set.direct;
    let part = part.filter(|part| plain && matches!(part, Range::First(_) | Range::Last(_)));
    let mut files = set.clone();
    if files.place.is_empty() {
        files.place = ".".into();
    }
    let lines = Query::rows(Source::Matches { text: String::new(), mode: Match::EXACT, files });
    part.map(|part| Query { group: vec!["path".into()], part: Some(part), ..lines })
}

/// A question about the rows of the query before, as one query.
pub(super) fn merged(previous: &Query, next: Query) -> Option<Query> {
    let plain = previous.group.is_empty() && matches!(&previous.want, Want::Rows(_)) && previous.part.is_none() && !previous.reverse;
    let fields = match (&previous.want, &next.want) {
        (Want::Rows(before), Want::Rows(now)) => {
            Want::Rows(before.iter().chain(now.iter().filter(|field| !before.contains(field))).cloned().collect())
        }
        (_, want) => want.clone(),
    };
    // `and the warnings` behind the errors are more of them, not those that are both.
    let apart = next.filters.iter().all(|filter| previous.filters.iter().all(|before| before.field != filter.field));
    // `and then by` something else could mean both orders, or the last.
    let ordered = previous.sort.is_empty() || next.sort.is_empty() || previous.sort == next.sort;
    (plain && apart && ordered).then(|| Query {
        filters: previous.filters.iter().chain(&next.filters).cloned().collect(),
        want: fields,
        sort: if next.sort.is_empty() { previous.sort.clone() } else { next.sort.clone() },
        ..next
    })
}

fn asked_of_files(mut bag: Bag, set: FileSet, known: bool) -> Option<Query> {
    let filters = file_filters(&mut bag, set.folders)?;
    // Of a folder there is neither.
    if set.folders && filters.iter().any(|filter| ["size", "lines"].contains(&filter.field.as_str())) {
        return None;
    }
    let head = head(&mut bag)?;
    let ordered = bag.0.iter().any(|piece| order_of(piece).is_some());
    let lines = bag.takes("lines");
    let their_lines = bag.takes("their_lines");
    let sizes = bag.takes("size");
    let their_size = bag.takes("their_size");
    bag.takes("only").then_some(()).map_or(Some(()), |()| None)?;
    let group = groups_of_files(&mut bag);
    // `delete every .tmp file` is all of them; `the lines of each file` is a number for each.
    let each = bag.takes("group_file");
    let per_file = each && (lines || sizes || head == AskedFor::Count);
    if set.folders && (sizes || their_size) || each && head == AskedFor::None && !per_file {
        return None;
    }
    if per_file {
        bag.takes("has");
    }
    let verb = bag.take("sort_verb");
    let (mut sort, top) = rank(&mut bag, only_measure(lines || their_lines, sizes || their_size), verb.is_some())?;
    match (verb, &mut sort[..]) {
        (None, _) => {}
        (Some(verb), [(field, direction)]) if verb.value == "rank" && field != "path" && !ordered => *direction = Direction::Descending,
        (Some(_), [_]) => {}
        _ => return None,
    }
    let SharedPieces { part, reverse } = SharedPieces::take(&mut bag)?;
    if set.folders && !sort.is_empty() && sort.iter().any(|(field, _)| ["size", "lines"].contains(&field.as_str())) {
        return None;
    }
    let cuts_lines = part.is_some() && (lines || their_lines);
    if cuts_lines || !bag.is_empty() || reverse || part.is_some() && top.is_some() || lines && (sizes || set.folders) {
        return None;
    }
    let shown = [("lines", their_lines || lines && per_file), ("size", their_size || sizes && per_file)];
    let fields: Vec<String> = shown.into_iter().filter(|(_, is_shown)| *is_shown).map(|(field, _)| field.to_owned()).collect();
    let measured = only_measure(lines, sizes && !lines);
    let want = match (head, measured, per_file) {
        (AskedFor::Exists, None, false) => Want::Exists,
        (AskedFor::Count, Some("lines"), false) | (AskedFor::None | AskedFor::Show, Some("lines"), false)
            if group.is_empty() && head != AskedFor::Count && top.is_none() =>
        {
            return None;
        }
        // `count the lines of the files, longest first` are those of each.
        (AskedFor::Count, Some("lines"), false) if !sort.is_empty() && group.is_empty() => Want::Rows(vec!["lines".into()]),
        (AskedFor::Count, Some("lines"), false) => Want::Total(Total::Sum, "lines".into()),
        (_, Some("lines"), false) if !group.is_empty() => Want::Total(Total::Sum, "lines".into()),
        (AskedFor::Show | AskedFor::None, Some("size"), false) => Want::Total(Total::Sum, "size".into()),
        (_, Some(_), true) | (AskedFor::Show | AskedFor::None, None, false) => Want::Rows(fields),
        (AskedFor::Count, None, false) if their_lines => Want::Rows(fields),
        (AskedFor::Count, None, false) if top.is_none() && part.is_none() && fields.is_empty() => Want::Count,
        _ => return None,
    };
    // A clause of nothing but a question word says nothing about files.
    if !known && matches!(&want, Want::Rows(fields) if fields.is_empty()) && sort.is_empty() && part.is_none() && filters.is_empty() {
        return None;
    }
    let rows = matches!(want, Want::Rows(_));
    let scalar = !rows && group.is_empty();
    if scalar && (!sort.is_empty() || top.is_some() || part.is_some()) || rows && !group.is_empty() {
        return None;
    }
    Some(Query { filters, want, group, sort, part: top.map(Range::Top).or(part), ..Query::rows(Source::Files(set)) })
}

/// What is measured of files, if it is one thing.
fn only_measure(lines: bool, sizes: bool) -> Option<&'static str> {
    match (lines, sizes) {
        (true, false) => Some("lines"),
        (false, true) => Some("size"),
        _ => None,
    }
}

fn groups_of_files(bag: &mut Bag) -> Vec<String> {
    [("group_kind", "kind"), ("group_folder", "folder")]
        .iter()
        .filter(|(piece, _)| bag.takes(piece))
        .map(|(_, field)| (*field).to_owned())
        .collect()
}

/// Whether a superlative can speak of a measure of files.
fn suits(superlative: &str, measure: &str) -> bool {
    match measure {
        "modified" => ["newest", "oldest"].contains(&superlative),
        "size" | "lines" => ["largest", "smallest", "longest", "shortest", "highest", "lowest"].contains(&superlative),
        _ => false,
    }
}

type FieldOrder = (String, Direction);

/// What files are ordered by, and how many of them are wanted.
fn rank(bag: &mut Bag, measured: Option<&str>, sorts: bool) -> Option<(Vec<FieldOrder>, Option<u64>)> {
    let field = |superlative: &str| match superlative {
        "largest" | "smallest" => Some("size"),
        "longest" | "shortest" => Some("lines"),
        "newest" | "oldest" => Some("modified"),
        _ => None,
    };
    let mut orders = Vec::new();
    let mut top = None;
    if let Some(piece) = bag.take("top") {
        top = Some(if piece.slot("number").is_some() { piece.count("number")? } else { 1 });
        let by = bag.take("top_by");
        let measure = by.as_ref().and_then(|by| by.choice("measure"));
        let superlative = piece.choice("superlative").or_else(|| by.as_ref().and_then(|by| by.choice("superlative")));
        if piece.value == "bare" && superlative.is_none() {
            return None;
        }
        match (superlative, measure) {
            (Some(superlative), None) => orders.push((field(superlative)?.to_owned(), looks(superlative))),
            (None, Some(measure)) if piece.slot("number").is_some() => orders.push((measure.to_owned(), Direction::Descending)),
            (Some(superlative), Some(measure)) if field(superlative).is_none_or(|field| field == measure) => {
                orders.push((measure.to_owned(), looks(superlative)))
            }
            // `the files sorted by size, top 3`
            (None, None) if piece.value.is_empty() && bag.has("sort_files") => {}
            _ => return None,
        }
    } else if let Some(by) = bag.take("top_by") {
        // `has the most lines`
        let superlative = by.choice("superlative")?;
        let field = match (by.choice("measure"), field(superlative)) {
            (Some(measure), None) if measure != "path" => measure,
            (Some(measure), Some(own)) if measure == own => measure,
            (None, Some(own)) => own,
            // The longest name is no measure of a file.
            _ => return None,
        };
        orders.push((field.to_owned(), looks(superlative)));
        top = Some(1);
    }
    for piece in bag.all("sort_files") {
        match (piece.choice("measure"), piece.choice("superlative")) {
            (Some(measure), _) => {
                let held = if order_of(&piece).is_some() { Some(piece.clone()) } else { bag.take("order") };
                held.as_ref().and_then(superlative_of).is_none_or(|first| suits(first, measure)).then_some(())?;
                let said = held.as_ref().and_then(order_of);
                // `files by size` doesn't say which come first.
                if said.is_none() && piece.value == "bare" && !sorts && measure != "path" {
                    return None;
                }
                orders.push((measure.to_owned(), said.unwrap_or(Direction::Ascending)));
            }
            (None, Some(superlative)) => orders.push((field(superlative)?.to_owned(), looks(superlative))),
            _ => return None,
        }
    }
    if bag.takes("sort_plain") {
        orders.push(("path".into(), Direction::Ascending));
    }
    if orders.is_empty()
        && let Some(order) = bag.take("order")
    {
        match (superlative_of(&order).and_then(field), order_of(&order), measured) {
            (Some(field), Some(direction), _) => orders.push((field.to_owned(), direction)),
            // `the lines of each file, highest first`
            (None, Some(direction), Some(measure)) => orders.push((measure.to_owned(), direction)),
            _ => return None,
        }
    }
    orders.dedup();
    (orders.len() < 2).then_some((orders, top))
}

/// Where a text is searched for, whether files are named by what they are, and whether it is one file.
fn searched(bag: &mut Bag, facts: &WorkspaceFacts) -> Option<(FileSet, bool, bool)> {
    let mut set = place(bag, facts)?;
    let mut nouns = bag.all("files");
    let by_folder = bag.all("folder_noun");
    if let [noun] = &by_folder[..]
        && set.place.is_empty()
        && nouns.is_empty()
    {
        set.place = noun.path("foldernoun")?;
        nouns = by_folder;
    } else if !by_folder.is_empty() {
        return None;
    }
    let file = bag.all("file");
    set.globs = nouns
        .iter()
        .flat_map(|noun| &noun.slots)
        .flat_map(|(_, slot)| if let SlotValue::Globs(globs) = slot { globs.clone() } else { Vec::new() })
        .collect();
    match &file[..] {
        [] => {}
        [file] if set.place.is_empty() && set.globs.is_empty() => set.place = file.path("file")?,
        _ => return None,
    }
    let in_file = !file.is_empty();
    if in_file && !facts.exists(&set.place) || nouns.len() > 1 || set.direct {
        return None;
    }
    if set.place.is_empty() {
        set.place = ".".into();
    }
    Some((set, !nouns.is_empty(), in_file))
}

/// Places of a text in files, and files that have it.
pub(super) fn matches(mut bag: Bag, facts: &WorkspaceFacts) -> Vec<Query> {
    ask_matches(&mut bag, facts).filter(|_| bag.is_empty()).into_iter().collect()
}

fn ask_matches(bag: &mut Bag, facts: &WorkspaceFacts) -> Option<Query> {
    let of_files = bag.has("with_text");
    let found: Vec<_> = ["matches", "search", "contains", "with_text"].iter().flat_map(|piece| bag.all(piece)).collect();
    let [piece] = &found[..] else { return None };
    let lacks = piece.value.starts_with("not");
    if piece.value == "agent" {
        return None;
    }
    let (text, mode) = match piece.choice("todo") {
        Some(mark) => (mark.to_owned(), Match::EXACT),
        None => {
            let (text, quoted) = piece.text("text").or_else(|| piece.text("quoted"))?;
            let mode = case(&text, quoted);
            (text, mode)
        }
    };
    let mode = Match { any_case: mode.any_case || bag.takes("any_case"), word: piece.value.ends_with("word") };
    let (set, names_files, in_file) = searched(bag, facts)?;
    // In pictures no words stand.
    if of_files && (!names_files || facts.has_pictures(&set.place, &set.globs)) {
        return None;
    }
    let head = head(bag)?;
    let lines = bag.takes("lines") || ["line", "lines"].contains(&piece.first.as_str());
    let per_file = bag.takes("group_file");
    let order = if per_file { bag.take("sort_count") } else { None };
    let sort = order.map(|order| ("count".to_owned(), order_of(&order).unwrap_or(Direction::Descending)));
    let SharedPieces { part, reverse } = SharedPieces::take(bag)?;
    let numbered = bag.takes("numbered");
    // `files that contain X`: files are wanted, not places.
    let wants_files = names_files && (piece.piece == "contains" || of_files) && !lines;
    let want = match (head, per_file) {
        (AskedFor::Show | AskedFor::None, false) if lacks && wants_files && part.is_none() => Want::Lacking,
        _ if lacks => return None,
        (AskedFor::Exists, false) => Want::Exists,
        (AskedFor::Count, true) => Want::Count,
        (AskedFor::Count, false) if wants_files => Want::CountDistinct("path".into()),
        // Lines that contain it, or its occurrences.
        (AskedFor::Count, false) if piece.piece == "contains" && !in_file => Want::Count,
        // Occurrences in one text are counted by a row of their own; how many occurrences is not how many lines.
        (AskedFor::Count, false) if in_file && !lines && piece.choice("todo").is_none() => return None,
        (AskedFor::Count, false) if lines || piece.choice("todo").is_some() => Want::Count,
        (AskedFor::Count, false) => Want::Total(Total::Sum, "times".into()),
        (AskedFor::Show | AskedFor::None, false) if wants_files => Want::Distinct(vec!["path".into()]),
        (AskedFor::Show | AskedFor::None, false) => Want::Rows(Vec::new()),
        _ => return None,
    };
    if head == AskedFor::None && piece.piece == "contains" && !lines && !wants_files
        || reverse
        || numbered && want != Want::Rows(Vec::new())
    {
        return None;
    }
    // Lines of one text are a question about that text.
    if in_file && (piece.piece == "contains" || lines) {
        return None;
    }
    let group = if per_file { vec!["path".to_owned()] } else { Vec::new() };
    let sort = sort.into_iter().collect();
    Some(Query { want, group, sort, part, ..Query::rows(Source::Matches { text, mode, files: set }) })
}

/// Lines of a text file.
pub(super) fn lines(mut bag: Bag, facts: &WorkspaceFacts, previous: Option<&Query>) -> Vec<Query> {
    let pronoun = bag.takes("previous");
    let files = bag.all("file");
    let before = match source_of(previous) {
        Some(Source::Lines(file)) => Some(file.clone()),
        _ => None,
    };
    let file = match (&files[..], &before) {
        ([file], _) if !pronoun => file.path("file"),
        ([], Some(file)) => Some(file.clone()),
        _ => None,
    };
    let Some(file) = file.filter(|file| facts.exists(file) && !facts.is_folder(file)) else { return Vec::new() };
    // Conditions on the rows of a table are none on its text.
    if !bag.has("lines")
        && facts.table(&file).is_some_and(|table| !table.is_log() && !table.is_access())
        && ["contains", "starts", "ends"].iter().any(|piece| bag.has(piece))
    {
        return Vec::new();
    }
    let Some(query) = asked_of_lines(bag, &file, before.is_some() && files.is_empty(), facts.table(&file).is_none()) else {
        return Vec::new();
    };
    match previous.filter(|_| files.is_empty()) {
        Some(previous) => merged(previous, query).into_iter().collect(),
        None => vec![query],
    }
}

fn asked_of_lines(mut bag: Bag, file: &str, follows: bool, plain: bool) -> Option<Query> {
    let numbered = bag.takes("numbered");
    let sorts = bag.takes("sort_verb");
    let mut filters = Vec::new();
    for piece in bag.all("contains") {
        filters.push(contains("text", Some(&piece).filter(|piece| piece.value != "agent")?)?);
    }
    if !filters.is_empty() && bag.takes("any_case") {
        for filter in &mut filters {
            if let Test::Contains(_, mode) = &mut filter.test {
                mode.any_case = true;
            }
        }
    }
    for (name, make) in [("starts", Test::Starts as fn(String) -> Test), ("ends", Test::Ends)] {
        for piece in bag.all(name) {
            filters.push(RowFilter { field: "text".into(), test: make(piece.text("text")?.0), not: false });
        }
    }
    let blank = bag.take("blank_lines");
    if let Some(piece) = &blank {
        filters.push(RowFilter { field: "text".into(), test: Test::Empty, not: piece.value == "filled" });
    }
    let head = head(&mut bag)?;
    let lines = bag.takes("lines") || blank.is_some();
    let duplicates = bag.takes("duplicates");
    let distinct = bag.takes("distinct");
    let mut sort: Vec<FieldOrder> = bag.all("sort_plain").iter().map(|_| ("text".to_owned(), Direction::Ascending)).collect();
    if !sort.is_empty() && bag.has("order") {
        let order = bag.take("order").filter(|order| superlative_of(order).is_none())?;
        sort = vec![("text".into(), order_of(&order)?)];
    }
    let SharedPieces { part, reverse } = SharedPieces::take(&mut bag)?;
    // Ranges name lines themselves.
    sort.dedup();
    let is_sorted = !sort.is_empty();
    let named = lines || follows || plain && (is_sorted || reverse) || numbered || matches!(part, Some(Range::Lines(..) | Range::From(_)));
    if sorts && !is_sorted {
        return None;
    }
    if !bag.is_empty() || !named && filters.is_empty() || duplicates && distinct {
        return None;
    }
    if head == AskedFor::None
        && part.is_none()
        && !distinct
        && !duplicates
        && sort.is_empty()
        && !reverse
        && filters.is_empty()
        && !numbered
    {
        return None;
    }
    let want = match (head, duplicates, distinct) {
        (AskedFor::Count, false, true) => Want::CountDistinct("text".into()),
        (AskedFor::Count, false, false) if part.is_none() && sort.is_empty() && !reverse => Want::Count,
        (AskedFor::Exists, false, false) if part.is_none() => Want::Exists,
        (AskedFor::Show | AskedFor::None, true, false) => Want::Duplicates(Some("text".into())),
        (AskedFor::Show | AskedFor::None, false, true) => Want::Distinct(vec!["text".into()]),
        (AskedFor::Show | AskedFor::None, false, false) => Want::Rows(if numbered { vec!["line".into()] } else { Vec::new() }),
        _ => return None,
    };
    let plain_rows = matches!(want, Want::Rows(_));
    if numbered && !plain_rows {
        return None;
    }
    Some(Query { filters, want, sort, part, reverse, ..Query::rows(Source::Lines(file.to_owned())) })
}
