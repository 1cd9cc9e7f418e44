//! The templates that come with the program, as text. A new file in `plans/` gets its line here; a test compares the two.

/// File name and text of each shipped template, sorted by name.
pub(super) const SHIPPED: &[(&str, &str)] = &[
    ("calculate.toml", include_str!("../../../plans/calculate.toml")),
    ("compare_files.toml", include_str!("../../../plans/compare_files.toml")),
    ("compare_topics.toml", include_str!("../../../plans/compare_topics.toml")),
    ("count_lines.toml", include_str!("../../../plans/count_lines.toml")),
    ("csv_stats.toml", include_str!("../../../plans/csv_stats.toml")),
    ("csv_to_json.toml", include_str!("../../../plans/csv_to_json.toml")),
    ("directory_overview.toml", include_str!("../../../plans/directory_overview.toml")),
    ("explain_code.toml", include_str!("../../../plans/explain_code.toml")),
    ("fetch_summarize.toml", include_str!("../../../plans/fetch_summarize.toml")),
    ("find_text.toml", include_str!("../../../plans/find_text.toml")),
    ("find_todos.toml", include_str!("../../../plans/find_todos.toml")),
    ("json_query.toml", include_str!("../../../plans/json_query.toml")),
    ("largest_files.toml", include_str!("../../../plans/largest_files.toml")),
    ("log_digest.toml", include_str!("../../../plans/log_digest.toml")),
    ("replace_text.toml", include_str!("../../../plans/replace_text.toml")),
    ("research_report.toml", include_str!("../../../plans/research_report.toml")),
    ("review_code.toml", include_str!("../../../plans/review_code.toml")),
    ("run_tests.toml", include_str!("../../../plans/run_tests.toml")),
    ("summarize_file.toml", include_str!("../../../plans/summarize_file.toml")),
    ("translate_file.toml", include_str!("../../../plans/translate_file.toml")),
    ("travel_plan.toml", include_str!("../../../plans/travel_plan.toml")),
    ("word_count.toml", include_str!("../../../plans/word_count.toml")),
    ("write_text.toml", include_str!("../../../plans/write_text.toml")),
];
