//! The cards that come with the program, as text. A new file in `agents/` gets its line here; a test compares the two.

/// File name and text of each shipped card, sorted by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("code_analyzer.md", include_str!("../../agents/code_analyzer.md")),
    ("code_executor.md", include_str!("../../agents/code_executor.md")),
    ("data_analyst.md", include_str!("../../agents/data_analyst.md")),
    ("debug_assistant.md", include_str!("../../agents/debug_assistant.md")),
    ("deep_reasoner.md", include_str!("../../agents/deep_reasoner.md")),
    ("dynamic_agent.md", include_str!("../../agents/dynamic_agent.md")),
    ("operator.md", include_str!("../../agents/operator.md")),
    ("travel_planner.md", include_str!("../../agents/travel_planner.md")),
    ("web_researcher.md", include_str!("../../agents/web_researcher.md")),
    ("writer.md", include_str!("../../agents/writer.md")),
];
