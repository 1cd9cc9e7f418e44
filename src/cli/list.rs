//! `dagdeck agents`, `tools`, `models`: what there is to plan with.

use super::{CliContext, CliError, Exit, Io, ListArgs, ToolsArgs};
use crate::{
    engine::REHEARSAL,
    host::{
        Inventory, Survey, Trust, UseCounts,
        client::{AgentEntry, ModelStatus, ToolEntry, UseCount},
    },
    plan::{AgentKind, ToolServer},
    text::{Plain, counted},
    tools::mcp::{McpError, McpServers, McpStatus},
};
use serde_json::json;

/// Lists agent cards.
///
/// # Errors
/// When the configuration can't be used.
pub fn agents(args: &ListArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let survey = place.survey()?;
    let agents = inventory(&survey, place).agents;
    if args.json {
        io.json(&json!(agents))?;
    } else {
        let width = agents.iter().map(|agent| Plain::line(&agent.info.name).width()).max().unwrap_or(0);
        for AgentEntry { info: agent, used } in &agents {
            let name = Plain::line(&agent.name).pad(width);
            let how = match agent.kind {
                AgentKind::Llm => "by a model",
                AgentKind::Class => "built in",
                AgentKind::Service => "by a service",
                AgentKind::Dynamic => "written by a model",
                AgentKind::Human => "by a person",
            };
            let used = use_label(used, "node").map(|used| format!("; {used}")).unwrap_or_default();
            io.line(&format!("{name}  {how:<18}  {}  ({}{used})", Plain::summary(&agent.description), Plain::line(&agent.origin)))?;
        }
        if agents.iter().any(|agent| agent.used.times > 0) {
            io.say("nodes are counted over all runs of this workspace that are kept");
        }
    }
    for problem in survey.card_problems() {
        io.say(CliError::from(problem).to_string().replacen("error:", "warning:", 1).as_str());
    }
    Ok(Exit::Success)
}

/// What there is, with how it was used as far as there is a journal.
fn inventory(survey: &Survey, place: &CliContext) -> Inventory {
    let workspace = &place.places.workspace;
    let counts = place.store().ok().and_then(|store| UseCounts::read(&store, workspace).ok()).unwrap_or_default();
    // The rules themselves are listed by `dagdeck permissions`, which says what is wrong with their file.
    survey.inventory(&counts, &Trust::of(&place.places.home, workspace).rules().list().unwrap_or_default())
}

/// How often something was used, in words; nothing where it never was.
fn use_label(used: &UseCount, what: &str) -> Option<String> {
    let times = usize::try_from(used.times).unwrap_or(usize::MAX);
    let failed = if used.failed > 0 { format!(", {} failed", used.failed) } else { String::new() };
    let error = used.last_error.as_ref().map(|error| format!(", last: {}", Plain::summary(error))).unwrap_or_default();
    (times > 0).then(|| format!("{}{failed}{error}", counted(times, what)))
}

/// Lists tools with their risk and what is decided about them, or the servers that bring tools.
///
/// # Errors
/// When the configuration can't be used.
pub async fn tools(args: &ToolsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let survey = place.survey()?;
    let servers = survey.servers();
    if let Some(server) = &args.sign_in {
        return sign_in(&servers, server, io).await;
    }
    let failed = if args.start { servers.list(|_, state| !matches!(state, ToolServer::Off { .. })).await } else { Vec::new() };
    for (server, error) in &failed {
        let hint = more(&servers.status(), server, error);
        io.say(&CliError::new(format!("the MCP server `{server}` can't be used: {}", Plain::line(&error.message))).hint(hint).to_string());
    }
    servers.problems().iter().for_each(|problem| io.say(&format!("warning: {}", Plain::line(problem))));
    let listed =
        if args.servers { list_servers(&servers.status(), args.list.json, io) } else { list_tools(&survey, args.list.json, place, io) };
    servers.stop().await;
    listed?;
    Ok(if failed.is_empty() { Exit::Success } else { Exit::Error })
}

/// Signs in to a server: by the browser of this computer, or with what a person pastes from another one's.
async fn sign_in(servers: &McpServers, server: &str, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let wrong = |error: McpError| {
        let message = format!("the MCP server `{}`: {}", Plain::line(server), Plain::line(&error.message));
        CliError::new(message).hint(error.hint.unwrap_or_default())
    };
    let (under_way, file) = servers.sign_in(server).await.map_err(wrong)?;
    io.say(&format!("sign in to `{}` at this address:", Plain::line(server)));
    io.line(Plain::line(under_way.address()).as_str())?;
    io.say("waiting for your browser to come back; if it can't, paste the address that it ends at, or the code in it");
    under_way.finish(pasted_line()).await.map_err(wrong)?;
    io.say(&format!("signed in; the tokens are in {}, for you alone", file.display()));
    Ok(Exit::Success)
}

/// The first line of the standard input, if there is one. Whoever waits for it may leave: the thread ends with the process.
async fn pasted_line() -> Option<String> {
    let (to, line) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().read_line(&mut text);
        if read.is_ok_and(|length| length > 0) {
            // Nobody waits any more once the browser came back.
            let _ = to.send(text);
        }
    });
    line.await.ok()
}

/// Where there is more to read about a server that didn't start.
fn more(status: &[McpStatus], server: &str, error: &McpError) -> String {
    let log = status.iter().find(|status| status.name == server).map(|status| format!("its log is {}", status.log.display()));
    error.hint.clone().or(log).unwrap_or_default()
}

fn list_servers(servers: &[McpStatus], as_json: bool, io: &mut Io<'_>) -> Result<(), CliError> {
    if as_json {
        return io.json(&json!(servers));
    }
    if servers.is_empty() {
        io.say("no MCP servers are set up; docs/mcp.md says how");
    }
    let width = servers.iter().map(|server| Plain::line(&server.name).width()).max().unwrap_or(0);
    for server in servers {
        let name = Plain::line(&server.name).pad(width);
        io.line(&format!("{name}  {}  (from {})", Plain::line(&server.state), Plain::line(&server.origin)))?;
        for line in [&server.label].into_iter().chain(&server.problems).filter(|line| !line.is_empty()) {
            io.line(&format!("{:width$}  {}", "", Plain::line(line)))?;
        }
    }
    Ok(())
}

fn list_tools(survey: &Survey, as_json: bool, place: &CliContext, io: &mut Io<'_>) -> Result<(), CliError> {
    let (catalog, tools) = (survey.catalog(), inventory(survey, place).tools);
    if as_json {
        return io.json(&json!(tools));
    }
    let width = tools.iter().map(|tool| Plain::line(&tool.info.name).width()).max().unwrap_or(0);
    io.say(&format!("{}  risk     permission  what it does", Plain::line("tool").pad(width)));
    for ToolEntry { info: tool, is_set_up, used, .. } in &tools {
        let risk: &str = tool.risk.into();
        let verdict = if *is_set_up { tool.verdict.into() } else { "off" };
        let used = use_label(used, "call").map(|used| format!(" ({used})")).unwrap_or_default();
        let name = Plain::line(&tool.name).pad(width);
        io.row(
            &name.then(&Plain::line(&format!("  {risk:<7}  {verdict:<10}  "))),
            &Plain::summary(&format!("{}{used}", tool.description)),
            usize::MAX,
        )?;
    }
    survey.servers().status().iter().try_for_each(|server| list_offers(server, io))?;
    if tools.iter().any(|tool| !tool.is_set_up) {
        io.say("off: not set up, so it is offered to nobody; `dagdeck doctor` says what is missing");
    }
    let waiting: Vec<&str> =
        catalog.servers.iter().filter(|(_, state)| **state == ToolServer::Unlisted).map(|(name, _)| name.as_str()).collect();
    if !waiting.is_empty() {
        io.say(&format!(
            "not started yet, so their tools aren't known: {}; `dagdeck tools --start` starts and lists them",
            waiting.join(", ")
        ));
    }
    Ok(())
}

/// Most resources, and most prompts, of one server in the list.
const MOST_OFFERS: usize = 50;

/// What a server has beside tools: resources as objectives refer to them, and prompts.
fn list_offers(server: &McpStatus, io: &mut Io<'_>) -> Result<(), CliError> {
    let resources = server.offers.resources.iter().flatten().chain(&server.offers.templates);
    let resources: Vec<(String, &str)> =
        resources.map(|one| (format!("resource @{}:{}", server.name, one.uri), one.description.as_str())).collect();
    let prompts = server.offers.prompts.iter().map(|prompt| {
        let arguments = prompt.arguments.iter().map(|one| format!(" {}{}", one.name, if one.is_required { "" } else { "?" }));
        (format!("prompt {}:{}{}", server.name, prompt.name, arguments.collect::<String>()), prompt.description.as_str())
    });
    for offers in [resources, prompts.collect()] {
        for (what, description) in offers.iter().take(MOST_OFFERS) {
            io.row(&Plain::summary(what).then(&Plain::line("  ")), &Plain::summary(description), usize::MAX)?;
        }
        if offers.len() > MOST_OFFERS {
            io.say(&format!(
                "{} more of `{}`: `dagdeck tools --servers --json` lists all",
                offers.len() - MOST_OFFERS,
                Plain::line(&server.name)
            ));
        }
    }
    Ok(())
}

/// Lists the models on offer, which one is used, and why.
///
/// # Errors
/// When the configuration can't be used.
pub async fn models(args: &ListArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let survey = place.survey()?;
    let status = survey.model();
    let list = survey.models().await;
    let is_broken = list.usual_problem.is_some() || matches!(status, ModelStatus::Broken { .. });
    let exit = if is_broken { Exit::Error } else { Exit::Success };
    if let ModelStatus::Absent { how } | ModelStatus::Broken { how, .. } = status {
        io.say(match status {
            ModelStatus::Broken { why, .. } => why,
            _ => "no model is set up: you can answer in its place, or rehearse a plan that needs one",
        });
        io.say(&format!("hint: {}", Plain::line(how)));
    } else if let Some(problem) = list.usual_problem {
        io.say(&CliError::from(problem).to_string());
    }
    for problem in list.problems {
        io.say(&CliError::from(problem).to_string());
    }
    if args.json {
        io.json(&json!({"used": list.used, "why": list.why, "models": list.names, "classes": survey.classes()}))?;
        return Ok(exit);
    }
    if let (Some(used), Some(why)) = (&list.used, &list.why) {
        io.say(&format!("in use: {used} ({why}); `dagdeck models setup` sets up another one"));
    }
    // A rehearsal is no model: `--rehearse` asks for it.
    for name in list.names.iter().filter(|name| *name != REHEARSAL) {
        let mark = if list.used.as_ref() == Some(name) { "*" } else { " " };
        io.line(&format!("{mark} {}", Plain::line(name)))?;
    }
    // A class is no model, so it goes where the words for people go.
    for (class, model) in survey.classes() {
        let model = model.map_or_else(
            || format!("the run's model ([models.classes] {} = \"model\" in config.toml sets another)", Plain::line(&class)),
            |model| Plain::line(&model).to_string(),
        );
        io.say(&format!("class {}: {model}", Plain::line(&class)));
    }
    Ok(exit)
}
