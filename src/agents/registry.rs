//! `AgentRegistry`: the agent cards of the project, the user and the program itself, in that order of precedence.
//! A card that went bad keeps its last good version and is reported; readers hold an unchanging `Cards`.

use crate::files;
use indexmap::IndexMap;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::card::{CardError, MAX_BYTES, ToolList, fault};
use super::{Card, shipped::SHIPPED};
use crate::engine::{AgentJob, NodeError};
use crate::plan::AgentInfo;

/// Where cards come from, and what was read there.
#[derive(Debug)]
pub struct AgentRegistry {
    /// By precedence, highest first.
    places: Vec<CardFolder>,
    shipped: BTreeMap<String, Arc<Card>>,
    cards: Arc<Cards>,
}

/// The cards at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cards {
    by_name: BTreeMap<String, Arc<Card>>,
    problems: Vec<CardError>,
}

/// A card as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardSource {
    pub text: String,
    pub file: Option<PathBuf>,
}

/// A folder of cards.
#[derive(Debug)]
struct CardFolder {
    folder: PathBuf,
    origin: String,
    /// In order of file name.
    files: IndexMap<PathBuf, KnownCard>,
    /// Why the folder can't be read, if it can't.
    fault: Option<CardError>,
}

/// One file as it was last read.
#[derive(Debug)]
struct KnownCard {
    text: String,
    good: Option<Arc<Card>>,
    fault: Option<CardError>,
}

/// Whether a reload found something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reloaded {
    /// Cards or problems are other ones now.
    Changed,
    /// All is as it was.
    Same,
}

impl AgentRegistry {
    /// Reads the cards of a workspace and of the user. Folders that don't exist are empty ones.
    pub fn open(workspace: &Path, user_config: Option<&Path>) -> Self {
        let mut places = vec![CardFolder::new(workspace.join(".dagdeck").join("agents"), "project")];
        places.extend(user_config.map(|config| CardFolder::new(config.join("agents"), "user")));
        Self::of(places)
    }

    /// The cards that come with the program, and no others.
    pub fn shipped() -> Self {
        Self::of(Vec::new())
    }

    fn of(places: Vec<CardFolder>) -> Self {
        let shipped = SHIPPED
            .iter()
            .filter_map(|(file, text)| Card::parse(text, file, "shipped").ok())
            .map(|card| (card.name.clone(), Arc::new(card)))
            .collect();
        let mut registry = Self { places, shipped, cards: Arc::default() };
        registry.reload();
        registry
    }

    /// The cards as they are now; what is handed out never changes.
    pub fn cards(&self) -> Arc<Cards> {
        Arc::clone(&self.cards)
    }

    /// Reads again what changed.
    pub fn reload(&mut self) -> Reloaded {
        for place in &mut self.places {
            place.reload();
        }
        let mut cards = Cards { by_name: self.shipped.clone(), problems: Vec::new() };
        for place in self.places.iter().rev() {
            place.add_to(&mut cards);
        }
        if cards == *self.cards {
            return Reloaded::Same;
        }
        self.cards = Arc::new(cards);
        Reloaded::Changed
    }

    /// The card of that name as it is written; without a file where it comes with the program.
    pub fn source(&self, name: &str) -> Option<CardSource> {
        let named = |known: &KnownCard| known.good.as_ref().is_some_and(|card| card.name == name);
        let of_file = self.places.iter().find_map(|place| {
            let (path, known) = place.files.iter().find(|(_, known)| named(known))?;
            Some(CardSource { text: known.text.clone(), file: Some(path.clone()) })
        });
        let shipped = || SHIPPED.iter().find(|(file, _)| file.strip_suffix(".md") == Some(name));
        of_file.or_else(|| Some(CardSource { text: shipped()?.1.to_owned(), file: None }))
    }

    /// The folders that are looked at.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.places.iter().map(|place| place.folder.clone()).collect()
    }
}

impl Cards {
    /// A card by name.
    pub fn get(&self, name: &str) -> Option<&Arc<Card>> {
        self.by_name.get(name)
    }

    /// All cards, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Card>> {
        self.by_name.values()
    }

    /// The public side of all cards, sorted by name.
    pub fn infos(&self) -> Vec<AgentInfo> {
        self.iter().map(|card| card.info()).collect()
    }

    /// Files that can't be used, with line and message.
    pub fn problems(&self) -> &[CardError] {
        &self.problems
    }

    /// The card that a job asks for: by name, or made of its role and goal.
    ///
    /// # Errors
    /// When no card has the name.
    pub fn for_job(&self, job: &AgentJob) -> Result<Arc<Card>, NodeError> {
        let Some(name) = &job.agent else {
            let role = job.role.as_deref().unwrap_or("a careful assistant");
            // Without an objective the goal is the objective, and is not said twice.
            let objective = job.objective.as_deref().filter(|text| !text.trim().is_empty());
            let beside = objective.and(job.goal.as_deref());
            let tools = if job.tools.is_some() { ToolList::Given } else { ToolList::Open };
            return Ok(Arc::new(Card::inline(role, beside, tools)));
        };
        self.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            NodeError::permanent(format!("there is no agent `{name}`")).hint(format!("known agents: {}", known.join(", ")))
        })
    }
}

impl CardFolder {
    fn new(folder: PathBuf, origin: &str) -> Self {
        Self { folder, origin: origin.to_owned(), files: IndexMap::new(), fault: None }
    }

    fn reload(&mut self) {
        let paths = match card_files(&self.folder) {
            Ok(paths) => paths,
            Err(error) => {
                // What was read before stays: a folder that can't be listed for a moment takes no card away.
                self.fault = Some(fault(&self.folder.display().to_string(), None, format!("the folder can't be read: {error}")));
                return;
            }
        };
        self.fault = None;
        self.files.retain(|path, _| paths.contains(path));
        for path in paths {
            let last = self.files.shift_remove(&path);
            let known = read(&path, &self.origin, last);
            self.files.insert(path, known);
        }
    }

    fn add_to(&self, cards: &mut Cards) {
        let mut first_file: BTreeMap<&str, &Path> = BTreeMap::new();
        cards.problems.extend(self.fault.clone());
        for (path, known) in &self.files {
            cards.problems.extend(known.fault.clone());
            let Some(card) = &known.good else { continue };
            if let Some(first) = first_file.get(card.name.as_str()) {
                let message = format!("`{}` is already the name of another card: {}", card.name, first.display());
                cards.problems.push(fault(&path.display().to_string(), None, message).hint("rename one of them"));
                continue;
            }
            first_file.insert(&card.name, path);
            cards.by_name.insert(card.name.clone(), Arc::clone(card));
        }
    }
}

fn card_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = files::with_ending(folder, "md")?;
    paths.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    Ok(paths)
}

/// Reads a card file; a bad one keeps the last good card.
fn read(path: &Path, origin: &str, last: Option<KnownCard>) -> KnownCard {
    let file = path.display().to_string();
    let text = match files::read_text(path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the file can't be read: {error}");
            let (text, good) = last.map_or((String::new(), None), |known| (known.text, known.good));
            return KnownCard { text, good, fault: Some(fault(&file, None, message)) };
        }
    };
    match last {
        Some(known) if known.text == text && (known.fault.is_none() || known.good.is_none()) && !text.is_empty() => known,
        last => match Card::parse(&text, &file, origin) {
            Ok(card) => KnownCard { text, good: Some(Arc::new(card)), fault: None },
            Err(fault) => KnownCard { text, good: last.and_then(|known| known.good), fault: Some(fault) },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn card(name: &str, description: &str) -> String {
        format!("---\nname: {name}\ndescription: {description}\n---\nPrompt of {name}.\n")
    }

    fn put(root: &Path, file: &str, text: &str) -> PathBuf {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn description(cards: &Cards, name: &str) -> Option<String> {
        cards.get(name).map(|card| card.description.clone())
    }

    #[test]
    fn every_shipped_card_is_good_and_listed() {
        let mut listed: Vec<String> = SHIPPED.iter().map(|(file, _)| (*file).to_owned()).collect();
        for (file, text) in SHIPPED {
            let card = Card::parse(text, file, "shipped").unwrap();
            assert_eq!(format!("{}.md", card.name), *file);
            assert!(!card.objective_template.is_empty(), "{file}");
            assert!(card.prompt.len() > 200, "{file}");
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents");
        let mut there: Vec<String> =
            card_files(&folder).unwrap().iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        listed.sort();
        there.sort();
        assert_eq!(listed, there);
        assert!(listed.len() >= 9);
    }

    #[test]
    fn the_project_comes_before_the_user_and_both_before_what_is_shipped() {
        let (project, user) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let registry = AgentRegistry::open(project.path(), Some(user.path()));
        assert!(registry.cards().problems().is_empty());
        let shipped = description(&registry.cards(), "writer");
        assert!(shipped.is_some());
        put(user.path(), "agents/writer.md", &card("writer", "user's"));
        let mut registry = AgentRegistry::open(project.path(), Some(user.path()));
        assert_eq!(description(&registry.cards(), "writer").as_deref(), Some("user's"));
        let path = put(project.path(), ".dagdeck/agents/w.md", &card("writer", "project's"));
        assert_eq!(registry.reload(), Reloaded::Changed);
        assert_eq!(description(&registry.cards(), "writer").as_deref(), Some("project's"));
        assert_eq!(registry.cards().infos().iter().filter(|info| info.name == "writer").count(), 1);
        fs::remove_file(path).unwrap();
        registry.reload();
        assert_eq!(description(&registry.cards(), "writer").as_deref(), Some("user's"));
    }

    #[test]
    fn a_bad_file_is_reported_with_its_line_and_the_last_good_card_stays() {
        let project = TempDir::new().unwrap();
        let file = ".dagdeck/agents/helper.md";
        put(project.path(), file, &card("helper", "first"));
        let mut registry = AgentRegistry::open(project.path(), None);
        let before = registry.cards();
        put(project.path(), file, "---\nname: helper\nmodel: x\n---\n");
        assert_eq!(registry.reload(), Reloaded::Changed);
        assert_eq!(description(&registry.cards(), "helper").as_deref(), Some("first"));
        let cards = registry.cards();
        assert_eq!(cards.problems().len(), 1);
        assert_eq!(cards.problems()[0].line, Some(3));
        assert_eq!(registry.reload(), Reloaded::Same);
        assert_eq!(description(&registry.cards(), "helper").as_deref(), Some("first"));
        put(project.path(), file, &card("helper", "second"));
        registry.reload();
        assert!(registry.cards().problems().is_empty());
        assert_eq!(description(&registry.cards(), "helper").as_deref(), Some("second"));
        assert_eq!(description(&before, "helper").as_deref(), Some("first"));
    }

    #[test]
    fn a_bad_file_does_not_hide_a_shipped_card() {
        let project = TempDir::new().unwrap();
        put(project.path(), ".dagdeck/agents/writer.md", "no front matter");
        let registry = AgentRegistry::open(project.path(), None);
        assert!(registry.cards().get("writer").is_some());
        assert_eq!(registry.cards().problems().len(), 1);
    }

    #[test]
    fn two_files_with_one_name_are_a_problem_and_the_first_holds() {
        let project = TempDir::new().unwrap();
        put(project.path(), ".dagdeck/agents/a.md", &card("twin", "a"));
        put(project.path(), ".dagdeck/agents/b.md", &card("twin", "b"));
        let registry = AgentRegistry::open(project.path(), None);
        assert_eq!(description(&registry.cards(), "twin").as_deref(), Some("a"));
        assert!(registry.cards().problems()[0].message.contains("`twin`"));
    }

    #[test]
    fn files_that_are_no_cards_are_left_alone() {
        let project = TempDir::new().unwrap();
        put(project.path(), ".dagdeck/agents/notes.txt", "x");
        put(project.path(), ".dagdeck/agents/.swap.md", "x");
        fs::create_dir_all(project.path().join(".dagdeck/agents/dir.md")).unwrap();
        assert!(AgentRegistry::open(project.path(), None).cards().problems().is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_and_huge_files_are_problems_not_panics() {
        let project = TempDir::new().unwrap();
        let path = put(project.path(), ".dagdeck/agents/a.md", "");
        fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        put(project.path(), ".dagdeck/agents/b.md", &"x".repeat(300 * 1024));
        let registry = AgentRegistry::open(project.path(), None);
        assert_eq!(registry.cards().problems().len(), 2);
    }

    #[test]
    fn an_unknown_agent_is_refused_with_the_known_names() {
        let cards = AgentRegistry::open(Path::new("/nonexistent"), None).cards();
        let job = AgentJob { agent: Some("wroter".into()), ..AgentJob::default() };
        let error = cards.for_job(&job).unwrap_err();
        assert_eq!(error.message, "there is no agent `wroter`");
        assert!(error.hint.unwrap().contains("writer"));
        let inline = AgentJob { role: Some("a clerk".into()), goal: Some("file it".into()), ..AgentJob::default() };
        assert!(cards.for_job(&inline).unwrap().prompt.contains("Your role: a clerk."));
    }
}
