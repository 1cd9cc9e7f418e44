//! The tools as offered to a model: legal names and back, and the tools that every agent has.

use serde_json::{Value, json};

use crate::models::ToolOffer;
use crate::plan::ToolInfo;

/// Hands in the result.
pub(super) const RETURN_RESULT: &str = "return_result";

pub(super) const ASK_OPERATOR: &str = "ask_operator";

/// Wants another plan for what comes after this step.
pub(super) const REQUEST_REPLAN: &str = "request_replan";

/// Longest name that servers accept.
const LONGEST_NAME: usize = 64;

/// What is on offer, and what each name means.
pub(super) struct Offers {
    offers: Vec<ToolOffer>,
    /// Beside the first offers, in order.
    tools: Vec<ToolInfo>,
}

impl Offers {
    /// These tools and those that every agent has. A result has to match the schema, if there is one.
    pub fn new(tools: &[ToolInfo], result_schema: Option<&Value>) -> Self {
        let mut offers: Vec<ToolOffer> = Vec::with_capacity(tools.len() + 3);
        for tool in tools {
            let name = legal_name(&tool.name, &offers);
            offers.push(ToolOffer { name, description: tool.description.clone(), parameters: tool.input_schema.clone() });
        }
        offers.push(return_result(result_schema));
        offers.push(ask_operator());
        offers.push(request_replan());
        Self { offers, tools: tools.to_vec() }
    }

    pub fn list(&self) -> &[ToolOffer] {
        &self.offers
    }

    /// The tool behind an offered name; its own name is taken, too.
    pub fn tool(&self, name: &str) -> Option<&ToolInfo> {
        let offered = self.offers.iter().zip(&self.tools).find(|(offer, _)| offer.name == name);
        offered.map(|(_, tool)| tool).or_else(|| self.tools.iter().find(|tool| tool.name == name))
    }

    /// Offered names, for words to the model.
    pub fn names(&self) -> String {
        self.offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// `server:tool` becomes `server__tool`; other illegal characters `_`; a taken name gets a number.
fn legal_name(name: &str, taken: &[ToolOffer]) -> String {
    let legal: String = name
        .replace(':', "__")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .take(LONGEST_NAME)
        .collect();
    let free = |name: &str| ![RETURN_RESULT, ASK_OPERATOR, REQUEST_REPLAN].contains(&name) && taken.iter().all(|offer| offer.name != name);
    if free(&legal) {
        return legal;
    }
    let stem: String = legal.chars().take(LONGEST_NAME - 4).collect();
    (2..=999).map(|n| format!("{stem}_{n}")).find(|name| free(name)).unwrap_or(legal)
}

fn return_result(schema: Option<&Value>) -> ToolOffer {
    // References inside a schema point to its root, so such a schema can't be put into another one.
    let whole = schema.filter(|schema| !schema.to_string().contains("\"$ref\""));
    let result = whole.cloned().unwrap_or_else(|| json!({ "description": "Any JSON value." }));
    ToolOffer {
        name: RETURN_RESULT.to_owned(),
        description: "Hands in the result of this step as JSON and ends it. Use it when later steps need data rather than text.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "result": result }, "required": ["result"] }),
    }
}

fn ask_operator() -> ToolOffer {
    ToolOffer {
        name: ASK_OPERATOR.to_owned(),
        description:
            "Asks the person who runs the plan and waits for the answer. Only for what no tool can find out and you must not assume."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "One clear question." },
                "options": { "type": "array", "items": { "type": "string" }, "description": "Choices to offer, if any." }
            },
            "required": ["question"]
        }),
    }
}

fn request_replan() -> ToolOffer {
    ToolOffer {
        name: REQUEST_REPLAN.to_owned(),
        description: "Says that the steps after this one make no sense any more because of what you found out, so that a new plan is \
                      proposed once this step has ended. Then finish this step with what you have."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "reason": { "type": "string", "description": "What you found out, in one or two sentences." } },
            "required": ["reason"]
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Risk, Verdict};

    fn tool(name: &str) -> ToolInfo {
        ToolInfo {
            name: name.into(),
            description: String::new(),
            input_schema: json!({}),
            risk: Risk::Read,
            verdict: Verdict::Allow,
            reach: None,
        }
    }

    #[test]
    fn names_with_colons_are_made_legal_and_found_again() {
        let offers = Offers::new(&[tool("git:log"), tool("git__log"), tool("größe")], None);
        let names: Vec<&str> = offers.list().iter().map(|offer| offer.name.as_str()).collect();
        assert_eq!(names, ["git__log", "git__log_2", "gr__e", "return_result", "ask_operator", "request_replan"]);
        assert_eq!(offers.tool("git__log").map(|tool| tool.name.as_str()), Some("git:log"));
        assert_eq!(offers.tool("git__log_2").map(|tool| tool.name.as_str()), Some("git__log"));
        assert_eq!(offers.tool("git:log").map(|tool| tool.name.as_str()), Some("git:log"));
        assert!(offers.tool("rm").is_none());
    }

    #[test]
    fn names_are_never_longer_than_servers_accept_nor_twice_the_same() {
        let long = "x".repeat(100);
        let offers = Offers::new(&[tool(&long), tool(&format!("{long}y")), tool(RETURN_RESULT)], None);
        let names: Vec<&str> = offers.list().iter().map(|offer| offer.name.as_str()).collect();
        assert!(names.iter().all(|name| name.len() <= 64));
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    }
}
