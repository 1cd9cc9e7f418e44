//! Nodes out of a streamed answer, each as soon as its object closes. Tolerates words and fences around the JSON. Pure.

use crate::plan::dialect::exact_json;
use serde_json::Value;

/// Keys under which the dialects list their nodes.
const LISTS: [&str; 4] = ["nodes", "dag", "tasks", "steps"];

/// Reads an answer piece by piece.
#[derive(Debug, Default)]
pub(super) struct AnswerScanner {
    /// What is open, outermost first.
    open: Vec<Open>,
    string: InString,
    /// The last text read in an object outside of nodes: a key once a colon follows.
    word: String,
    /// The key whose value comes next.
    key: Option<String>,
    /// The node that is being read, and how deep it is.
    node: Option<(String, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Object,
    List,
    /// The list of nodes.
    Nodes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InString {
    #[default]
    No,
    Yes,
    Escaped,
}

impl AnswerScanner {
    /// Takes a piece, gives the node objects that it completes.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Value> {
        piece.chars().filter_map(|c| self.step(c)).collect()
    }

    fn step(&mut self, c: char) -> Option<Value> {
        if let Some((node, _)) = &mut self.node {
            node.push(c);
        }
        match (self.string, c) {
            (InString::Escaped, _) => self.string = InString::Yes,
            (InString::Yes, '\\') => self.string = InString::Escaped,
            (InString::Yes, '"') => self.string = InString::No,
            (InString::Yes, _) if self.node.is_none() => self.word.push(c),
            (InString::Yes, _) => {}
            (InString::No, _) => return self.structure(c),
        }
        None
    }

    fn structure(&mut self, c: char) -> Option<Value> {
        match c {
            // Quotes outside of JSON are prose.
            '"' if !self.open.is_empty() => {
                self.string = InString::Yes;
                self.word.clear();
            }
            ':' if self.open.last() == Some(&Open::Object) => self.key = Some(std::mem::take(&mut self.word)),
            ',' => self.key = None,
            '[' => {
                let listed = self.key.take().is_some_and(|key| LISTS.contains(&key.as_str()));
                let is_nodes = self.node.is_none() && (listed || self.open.is_empty());
                self.open.push(if is_nodes { Open::Nodes } else { Open::List });
            }
            '{' => {
                if self.node.is_none() && self.open.last() == Some(&Open::Nodes) {
                    self.node = Some(("{".to_owned(), self.open.len()));
                }
                self.key = None;
                self.open.push(Open::Object);
            }
            '}' | ']' => {
                self.open.pop();
                if let Some((text, _)) = self.node.take_if(|(_, depth)| *depth == self.open.len()) {
                    return exact_json(&text).ok();
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ids(text: &str) -> Vec<String> {
        let nodes = AnswerScanner::default().push(text);
        nodes.iter().map(|node| node["id"].to_string()).collect()
    }

    #[test]
    fn a_node_comes_out_the_moment_it_closes() {
        let mut scanner = AnswerScanner::default();
        assert!(scanner.push("{\"nodes\": [{\"id\": \"a\", \"args\": {\"x\": [1, {}]}").is_empty());
        assert_eq!(scanner.push("}"), [json!({"id": "a", "args": {"x": [1, {}]}})]);
        assert!(scanner.push(", {\"id\": \"b\"").is_empty());
    }

    #[test]
    fn cuts_may_fall_anywhere() {
        let text = r#"{"nodes":[{"id":"a","objective":"say \"}]\" and \\"},{"id":"é"}]}"#;
        let whole = AnswerScanner::default().push(text);
        assert_eq!(whole.len(), 2);
        for (at, _) in text.char_indices() {
            let mut scanner = AnswerScanner::default();
            let mut nodes = scanner.push(&text[..at]);
            nodes.extend(scanner.push(&text[at..]));
            assert_eq!(nodes, whole, "cut at {at}");
        }
    }

    #[test]
    fn prose_fences_and_other_lists_are_looked_past() {
        assert_eq!(ids("Sure, \"here\" [is] {it}:\n```json\n{\"tags\": [{\"id\": 0}], \"nodes\": [{\"id\": 1}]}\n```"), ["1"]);
        assert_eq!(ids("{\"plan\": {\"nodes\": [{\"id\": 1}], \"edges\": [{\"id\": 2}]}}"), ["1"]);
        assert_eq!(ids("[{\"id\": 1}, {\"id\": 2}]"), ["1", "2"]);
        assert_eq!(ids("{\"goal\": \"nodes\", \"x\": [{\"id\": 1}]}"), Vec::<String>::new());
        assert_eq!(ids("{\"nodes\": [{\"id\": 1, \"nodes\": [{\"id\": 2}]}]}"), ["1"]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_nodes_hold_they_come_out_as_they_went_in(texts in proptest::collection::vec(".*", 0..5), prose in "[^\\[\\]{}]*", cut in 1..9usize) {
            let nodes: Vec<Value> = texts.iter().map(|text| json!({"id": text, text: {"nodes": [{text: text}]}})).collect();
            let answer = format!("{prose}{}", json!({"goal": texts.concat(), "nodes": nodes}));
            let mut scanner = AnswerScanner::default();
            let chars: Vec<char> = answer.chars().collect();
            let found: Vec<Value> = chars.chunks(cut).flat_map(|piece| scanner.push(&piece.iter().collect::<String>())).collect();
            proptest::prop_assert_eq!(found, nodes);
        }

        #[test]
        fn no_text_can_upset_it(text in r#"[\[\]{}:,"\\a ]*|.*"#) {
            let _nodes = AnswerScanner::default().push(&text);
        }
    }

    #[test]
    fn rubbish_gives_nothing_and_does_no_harm() {
        for text in ["]]]}}}", "{\"nodes\": [{]}", "\"\"\"", "{\"nodes\": \"[{}]\"}", "\\\\{[\"\\"] {
            assert_eq!(ids(text), Vec::<String>::new(), "{text}");
        }
    }
}
