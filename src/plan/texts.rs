//! Every text of a node that names other nodes or inputs, in one list: reading, checking and renaming go through it. `until` of a
//! loop is read among the names of its body, so it belongs to the body and is not in the list.

use super::{
    DecisionNode, MergeNode, NameScope, Node, NodeKind, Path, ToolInput, expr, names_in_code,
    reference::{references, references_in_text},
};
use serde_json::Value;

/// The field of the native form that holds a text: `objective`, `args.path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace<'a> {
    pub field: &'static str,
    pub key: Option<&'a str>,
}

impl TextPlace<'_> {
    pub fn path(self) -> String {
        self.key.map_or_else(|| self.field.to_owned(), |key| format!("{}.{key}", self.field))
    }
}

macro_rules! node_texts {
    ($(#[$doc:meta])* $visit:ident, $Text:ident, $($mutable:ident)?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $Text<'a> {
            /// Text with references between braces.
            Template(&'a $($mutable)? String),
            /// JSON whose texts may hold references.
            Json(&'a $($mutable)? Value),
            /// JavaScript, which reads `deps` and `inputs`.
            Code(&'a $($mutable)? String),
            /// An expression whose value the node works with.
            Expression(&'a $($mutable)? String),
            /// A condition that is asked before the node starts.
            Condition(&'a $($mutable)? String),
            /// A condition over the node's own result.
            ResultCondition(&'a $($mutable)? String),
        }

        /// Goes through the texts of a node, in the order of the document.
        pub fn $visit<'a>(node: &'a $($mutable)? Node, mut visit: impl FnMut(TextPlace<'a>, $Text<'a>)) {
            let at = |field| TextPlace { field, key: None };
            match &$($mutable)? node.kind {
                NodeKind::Agent(agent) | NodeKind::Decision(DecisionNode::Agent(agent)) => {
                    let texts = [
                        ("role", &$($mutable)? agent.role),
                        ("goal", &$($mutable)? agent.goal),
                        ("objective", &$($mutable)? agent.objective),
                    ];
                    for (field, text) in texts {
                        if let Some(text) = text {
                            visit(at(field), $Text::Template(text));
                        }
                    }
                }
                NodeKind::Tool(tool) => match &$($mutable)? tool.input {
                    ToolInput::Query(query) => visit(at("query"), $Text::Template(query)),
                    ToolInput::Args(args) => {
                        for (key, value) in args {
                            visit(TextPlace { field: "args", key: Some(key) }, $Text::Json(value));
                        }
                    }
                },
                NodeKind::Code(code) => visit(at("code"), $Text::Code(&$($mutable)? code.code)),
                NodeKind::Decision(DecisionNode::Expression(text)) => visit(at("decide"), $Text::Expression(text)),
                NodeKind::Map(map) => visit(at("over"), $Text::Expression(&$($mutable)? map.over)),
                NodeKind::Merge(merge) => {
                    if let Some(template) = &$($mutable)? merge.template {
                        visit(at("merge.template"), $Text::Json(template));
                    }
                }
                NodeKind::Transform(transform) => visit(at("value"), $Text::Json(&$($mutable)? transform.value)),
                NodeKind::Approval(ask) => visit(at("ask.text"), $Text::Template(&$($mutable)? ask.text)),
                NodeKind::Subplan(_) | NodeKind::Loop(_) => {}
            }
            let policy = &$($mutable)? node.policy;
            for (field, text) in [("when", &$($mutable)? policy.when), ("skip_if", &$($mutable)? policy.skip_if)] {
                if let Some(text) = text {
                    visit(at(field), $Text::Condition(text));
                }
            }
            if let Some(text) = &$($mutable)? policy.replan_when {
                visit(at("replan_when"), $Text::ResultCondition(text));
            }
            if let Some(inputs) = &$($mutable)? policy.inputs {
                for (key, value) in inputs {
                    visit(TextPlace { field: "inputs", key: Some(key) }, $Text::Json(value));
                }
            }
        }
    };
}

node_texts!(
    /// A text of a node.
    node_texts,
    NodeText,
);
node_texts!(
    /// A text of a node, to change it.
    node_texts_mut,
    NodeTextMut,
    mut
);

/// Text as it is, else compact JSON.
pub fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Goes through the texts inside a JSON value, to change them.
pub fn each_text_mut(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text_mut(value, change)),
        Value::Object(map) => map.values_mut().for_each(|value| each_text_mut(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl NodeText<'_> {
    /// The paths that it reads; none where it can't be read.
    pub fn paths(&self, scope: &dyn NameScope) -> Vec<Path> {
        let found = match self {
            Self::Template(text) => references_in_text(text, scope),
            Self::Json(value) => references(value, scope),
            Self::Expression(text) | Self::Condition(text) | Self::ResultCondition(text) => {
                return expr::check(text, scope).unwrap_or_default();
            }
            Self::Code(_) => Vec::new(),
        };
        found.into_iter().flat_map(|found| found.paths).collect()
    }
}

/// The paths that a node works with: of its texts and named inputs. Conditions are no part of it, since they decide whether it works;
/// code is read by `names_in_code`.
pub fn reads(node: &Node, scope: &dyn NameScope) -> Vec<Path> {
    let mut reads = Vec::new();
    node_texts(node, |_, text| match text {
        NodeText::Condition(_) | NodeText::ResultCondition(_) => {}
        text => reads.extend(text.paths(scope)),
    });
    reads
}

/// Whether a node works with the results of its dependencies also where no text names them.
pub fn takes_results(kind: &NodeKind) -> bool {
    match kind {
        NodeKind::Agent(_) | NodeKind::Code(_) | NodeKind::Decision(DecisionNode::Agent(_)) => true,
        NodeKind::Merge(MergeNode { template }) => template.is_none(),
        _ => false,
    }
}

/// Names of the plan's inputs that a node's texts, conditions and code name, each once.
pub fn inputs_read(node: &Node, scope: &dyn NameScope) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    node_texts(node, |_, text| match text {
        NodeText::Code(code) => names_in_code(code, "inputs").into_iter().for_each(&mut add),
        text => text.paths(scope).iter().filter_map(Path::input).for_each(&mut add),
    });
    names
}
