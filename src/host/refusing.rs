//! Plans that may not start, and why.

use super::client::Problem;
use crate::plan::{Catalog, Plan, nest, validate::validate};
use crate::text::secret_names;
use crate::tools::KnownSecrets;

/// Errors of a plan stop it before anything is journalled.
pub(super) fn refuse_wrong(plan: &Plan, catalog: &Catalog) -> Result<(), Problem> {
    let findings = validate(plan, catalog);
    let mut errors = findings.iter().filter(|finding| finding.is_error());
    let Some(first) = errors.next() else { return Ok(()) };
    let more = match errors.count() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let fix = first.fix.as_ref().map(|fix| fix.title.clone());
    Err(Problem { message: format!("the plan can't run: {}{more}", first.message), hint: fix })
}

/// A name can't be a marked piece, so no node, tool or agent may be called as a secret is.
pub(super) fn refuse_secret_names(plan: &Plan, secrets: &KnownSecrets) -> Result<(), Problem> {
    let flat = nest::outline(plan);
    let tools = flat.nodes.iter().filter_map(|node| node.kind.tool()).map(|work| work.tool.as_str());
    let agents = flat.nodes.iter().filter_map(|node| node.kind.agent()?.agent.as_deref());
    for name in flat.nodes.iter().map(|node| node.id.as_str()).chain(tools).chain(agents) {
        let mut text = name.to_owned();
        secrets.mask_text(&mut text);
        if let Some(secret) = secret_names(&text).next() {
            let message = format!("the plan can't run: the value of the secret {secret} is in the name of a node, tool or agent of it");
            let hint = format!(
                "rename the node, or in `.env` or the environment the variable {secret}: a name that ends in KEY, TOKEN, SECRET or PASSWORD makes its value a secret"
            );
            return Err(Problem::new(message).hint(hint));
        }
    }
    Ok(())
}
