//! The templates that come with the program, as text. A new file in `plans/` gets its line here; a test compares the two.

/// File name and text of each shipped template, sorted by name.
pub(super) const SHIPPED: &[(&str, &str)] = &[
    ("compare_topics.toml", include_str!("../../../plans/compare_topics.toml")),
    ("explain_code.toml", include_str!("../../../plans/explain_code.toml")),
    ("fetch_summarize.toml", include_str!("../../../plans/fetch_summarize.toml")),
    ("research_report.toml", include_str!("../../../plans/research_report.toml")),
    ("review_code.toml", include_str!("../../../plans/review_code.toml")),
    ("run_tests.toml", include_str!("../../../plans/run_tests.toml")),
    ("summarize_file.toml", include_str!("../../../plans/summarize_file.toml")),
    ("translate_file.toml", include_str!("../../../plans/translate_file.toml")),
    ("travel_plan.toml", include_str!("../../../plans/travel_plan.toml")),
];
