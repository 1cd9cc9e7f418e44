//! `examine`: what is configured, what is missing, and how to mend it. Each check stands alone, so that one fault hides no other.

use super::{
    client::{ModelList, ModelStatus, Problem},
    config::{Config, check_project},
    mcp::servers,
    models::Models,
    places::Folders,
};
use crate::models::{
    client::Learned,
    config::{AUTO, Lookup, ModelsConfig},
};
use crate::plan::SandboxLimits;
use crate::store::{RunFilter, Store};
use crate::text::counted;
use crate::tools::{
    KnownSecrets, McpConfig, SearchService,
    sandbox::{SandboxConfig, confinement, javascript, protects_mounts},
};
use crate::{agents, files};
use serde::Serialize;
use serde_json::json;
use std::{path::Path, sync::Arc, time::Duration};

/// How long the model's server may take to say which models it has.
const PATIENCE: Duration = Duration::from_secs(5);

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorCheck {
    /// What was looked at.
    pub name: &'static str,
    pub health: Health,
    /// What was found, in words.
    pub found: String,
    /// How to mend or to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Fine,
    /// It is not there, and dagdeck works without it.
    Absent,
    Broken,
}

impl DoctorCheck {
    fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, health: Health::Fine, found: found.into(), remedy: None }
    }

    fn absent(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, health: Health::Absent, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn broken(name: &'static str, problem: impl Into<Problem>) -> Self {
        let problem = problem.into();
        Self { name, health: Health::Broken, found: problem.message, remedy: problem.hint }
    }
}

/// Looks at everything that dagdeck needs or can use. `wanted` is the model named on the command line.
pub async fn examine(places: &Folders, wanted: Option<&str>, env: Lookup<'_>) -> Vec<DoctorCheck> {
    let (user, project) = places.config_files();
    let loaded = Config::load(user.as_deref(), &project);
    let of_project = places.workspace.join(".dagdeck/config.toml");
    let unusable: Vec<String> = files::read_text(&of_project, files::DOCUMENT)
        .map(|text| check_project(&of_project, &text).iter().map(ToString::to_string).collect())
        .unwrap_or_default();
    let configuration = match &loaded {
        Ok(_) if !project.exists() && !unusable.is_empty() => {
            let why = Problem::new(unusable.join("; ")).hint("remove these settings from the project's file; your own file may have them");
            DoctorCheck::broken("configuration", why)
        }
        Ok(_) => DoctorCheck::fine("configuration", describe_files(user.as_deref(), &of_project, &project)),
        Err(error) => DoctorCheck::broken("configuration", error.clone()),
    };
    let config = loaded.unwrap_or_default();
    let models = Models::new(config.models.clone(), env, Learned::open(&places.home));
    let mut checks = vec![
        workspace(&places.workspace),
        configuration,
        journal(&places.home),
        cards(places),
        sandbox(&config.tools.sandbox).await,
        search(env),
        servers_of(places, &config.tools.mcp, env),
        classes(&config.models),
        model(&models, wanted).await,
    ];
    checks.extend(further(&models).await);
    checks
}

/// Servers beside the usual one.
async fn further(models: &Models) -> Vec<DoctorCheck> {
    let servers = tokio::time::timeout(PATIENCE, models.further()).await;
    let slow = || vec![DoctorCheck::broken("model servers", Problem::new("the further servers of models didn't answer in time"))];
    let check = |(name, listed): (String, Result<usize, Problem>)| match listed {
        Ok(count) => DoctorCheck::fine("model server", format!("{name}, {}", counted(count, "model"))),
        Err(problem) => DoctorCheck::broken("model server", Problem { message: format!("{name}: {}", problem.message), ..problem }),
    };
    servers.map_or_else(|_| slow(), |servers| servers.into_iter().map(check).collect())
}

/// The files that count; else where they would be. Of the workspace's file `trusted` is what counts.
fn describe_files(user: Option<&Path>, project: &Path, trusted: &Path) -> String {
    let name = |files: &mut dyn Iterator<Item = &Path>, between: &str| {
        files.map(|file| file.display().to_string()).collect::<Vec<_>>().join(between)
    };
    let mut files = user.into_iter().chain([project]);
    let counts = |file: &&Path| if *file == project { trusted.exists() } else { file.exists() };
    let there = name(&mut files.clone().filter(counts), ", ");
    match there.is_empty() {
        true if project.exists() => {
            format!("all settings have their defaults; {} counts once you trust it: dagdeck trust", project.display())
        }
        true => format!("all settings have their defaults; settings go in {}", name(&mut files, " or ")),
        false => there,
    }
}

fn workspace(folder: &Path) -> DoctorCheck {
    match std::fs::read_dir(folder) {
        Ok(_) => DoctorCheck::fine("workspace", folder.display().to_string()),
        Err(error) => DoctorCheck::broken(
            "workspace",
            Problem::new(format!("`{}` can't be read: {error}", folder.display())).hint("choose another folder with --workspace"),
        ),
    }
}

fn journal(home: &Path) -> DoctorCheck {
    let opened = Store::open(home).and_then(|store| Ok((store.runs(RunFilter::All)?.len(), store.path().display().to_string())));
    match opened {
        Ok((runs, path)) => DoctorCheck::fine("journal", format!("{path}, {}", counted(runs, "run"))),
        Err(error) => DoctorCheck::broken("journal", error),
    }
}

fn cards(places: &Folders) -> DoctorCheck {
    let cards = agents::AgentRegistry::open(&places.settings, places.config.as_deref()).cards();
    match cards.problems() {
        [] => DoctorCheck::fine("agents", counted(cards.iter().count(), "agent")),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            DoctorCheck::broken("agents", Problem { message: format!("{first}{more}"), hint: first.hint.clone() })
        }
    }
}

async fn sandbox(config: &SandboxConfig) -> DoctorCheck {
    match javascript(config, "return 6 * 7", json!({}), json!({}), &SandboxLimits::default()).await {
        Ok(outcome) if outcome.value == 42 => match confinement().missing() {
            None => {
                let commands = if protects_mounts(config) {
                    "commands have no network and change nothing outside the workspace"
                } else {
                    "commands have no network and write only in the workspace, but may change modes and times of files elsewhere"
                };
                DoctorCheck::fine("sandbox", format!("JavaScript runs in its own process; {commands}"))
            }
            Some(missing) => DoctorCheck::absent("sandbox", missing, "look at each command before you approve it"),
        },
        Ok(outcome) => DoctorCheck::broken("sandbox", Problem::new(format!("a script gave {} instead of 42", outcome.value))),
        Err(error) => DoctorCheck::broken("sandbox", error),
    }
}

fn search(env: Lookup<'_>) -> DoctorCheck {
    let known = SearchService::ALL.map(SearchService::variable);
    match known.iter().find(|name| env(name).is_some_and(|value| !value.trim().is_empty())) {
        Some(name) => DoctorCheck::fine("web search", format!("by {name}")),
        None => DoctorCheck::absent("web search", "no search service is set up", format!("set one of {}", known.join(", "))),
    }
}

/// What is known of MCP servers without starting any.
fn servers_of(places: &Folders, config: &McpConfig, env: Lookup<'_>) -> DoctorCheck {
    let servers = servers(places, config, &Arc::new(KnownSecrets::of_process(&places.workspace)), env, None);
    let status = servers.status();
    if let Some(problem) = servers.problems().first() {
        return DoctorCheck::broken("MCP servers", Problem::new(problem.clone()).hint("docs/mcp.md shows the form"));
    }
    if status.is_empty() {
        return DoctorCheck::absent("MCP servers", "none are set up", "docs/mcp.md says how");
    }
    let found: Vec<String> = status.iter().map(|server| format!("{} ({})", server.name, server.state)).collect();
    match status.iter().all(|server| server.is_fine) {
        true => DoctorCheck::fine("MCP servers", found.join(", ")),
        false => DoctorCheck::absent("MCP servers", found.join(", "), "`dagdeck tools --servers` says more"),
    }
}

fn classes(config: &ModelsConfig) -> DoctorCheck {
    let all = config.all_classes();
    let open: Vec<&str> = all.iter().filter(|(_, model)| model.is_none()).map(|(class, _)| *class).collect();
    let set: Vec<String> = all.iter().filter_map(|(class, model)| Some(format!("{class} is `{}`", model.as_ref()?))).collect();
    if open.is_empty() {
        return DoctorCheck::fine("model classes", set.join(", "));
    }
    let set = set.iter().map(|class| format!("{class}, ")).collect::<String>();
    let are = if open.len() == 1 { "is not set, so its nodes use" } else { "are not set, so their nodes use" };
    DoctorCheck::fine("model classes", format!("{set}{} {are} the run's model", open.join(", ")))
}

async fn model(models: &Models, wanted: Option<&str>) -> DoctorCheck {
    let choice = models.preset(wanted);
    match models.status(choice.as_deref()) {
        ModelStatus::Absent { how } => {
            DoctorCheck::absent("model", "none; you can answer in its place, or rehearse a plan that needs one", how)
        }
        ModelStatus::Broken { why, how } => DoctorCheck::broken("model", Problem::new(why).hint(how)),
        ModelStatus::Rehearsal => DoctorCheck::fine("model", "none is asked: what needs one is rehearsed"),
        ModelStatus::Operator => DoctorCheck::fine("model", "the operator answers for the model"),
        ModelStatus::Connected { model, provider } => match tokio::time::timeout(PATIENCE, models.list(choice.as_deref())).await {
            Ok(ModelList { usual_problem: Some(problem), .. }) => DoctorCheck::broken("model", problem),
            Ok(list) if model == AUTO => {
                let found = format!("at {provider}; {}", list.why.unwrap_or_default());
                DoctorCheck { remedy: Some("`dagdeck models setup` makes one the default".to_owned()), ..DoctorCheck::fine("model", found) }
            }
            Ok(list) if list.used.as_ref().is_some_and(|used| list.names.contains(used)) => {
                DoctorCheck::fine("model", format!("`{model}` at {provider}"))
            }
            Ok(_) => {
                let found = format!("`{model}` at {provider}, which answers but doesn't list it");
                DoctorCheck { remedy: Some("`dagdeck models` shows what it lists".to_owned()), ..DoctorCheck::fine("model", found) }
            }
            Err(_) => DoctorCheck::broken(
                "model",
                Problem::new(format!("{provider} didn't answer within {} s", PATIENCE.as_secs())).hint("check the address and the network"),
            ),
        },
    }
}
