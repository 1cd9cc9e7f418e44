//! The tools that come with dagdeck, one file each. A new one is a file here, its `mod`, and its line in `all`.

mod append_file;
mod calculator;
mod current_time;
mod delete_file;
mod edit_file;
mod fetch_url;
mod file_tool;
#[cfg(test)]
mod fixture;
mod git;
mod list_directory;
mod make_directory;
mod paths;
pub(super) mod query_data;
mod read_file;
mod run_command;
mod run_javascript;
mod run_python;
mod scratch;
mod search_files;
mod shared;
mod summarize;
mod transfer;
mod web_search;
mod write_file;

pub(super) use scratch::sweep_scratch;

use super::{Tool, ToolsConfig};
use file_tool::FileTool;
use shared::{AbandonFlag, access, arguments, beginning, blocking, decode, describe};
use std::sync::Arc;

/// All that this computer can offer.
pub(super) fn all(config: &ToolsConfig) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(append_file::tool()),
        Arc::new(calculator::Calculator::new()),
        Arc::new(transfer::copying()),
        Arc::new(current_time::CurrentTime::new()),
        Arc::new(delete_file::tool()),
        Arc::new(edit_file::tool()),
        Arc::new(fetch_url::FetchUrl::new(config)),
        Arc::new(list_directory::tool()),
        Arc::new(make_directory::tool()),
        Arc::new(transfer::moving()),
        Arc::new(query_data::QueryData::new(config)),
        Arc::new(read_file::tool()),
        Arc::new(run_command::RunCommand::new(config)),
        Arc::new(run_javascript::RunJavascript::new(config)),
        Arc::new(search_files::tool()),
        Arc::new(summarize::Summarize::new()),
        Arc::new(web_search::WebSearch::new(config)),
        Arc::new(write_file::tool()),
    ];
    if let Some(git) = git::Git::new(config) {
        tools.push(Arc::new(git));
    }
    if let Some(python) = run_python::RunPython::new(config) {
        tools.push(Arc::new(python));
    }
    tools
}
