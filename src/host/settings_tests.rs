//! `docs/configuration.md`, made from what reads the configuration: the settings by the types that `config.toml` is read into, the
//! environment variables by the table of the page, which a test holds to the source.

use super::config::{Config, SettingOwner};
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

/// The page without what is made: `{user_only}` and `{settings}`. Its table of variables is held to the source by a test.
const PAGE: &str = include_str!("configuration.md");

/// The text of `docs/configuration.md`.
fn document() -> String {
    let schema =
        SchemaSettings::default().with(|settings| settings.inline_subschemas = true).into_generator().into_root_schema_for::<Config>();
    // Plain data always has a JSON form.
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let user_only: Vec<String> = user_only(schema.as_value(), &[]).iter().map(|path| format!("- `{path}`")).collect();
    let mut settings = String::new();
    table(&mut settings, "", schema.as_value(), &defaults);
    PAGE.replace("{user_only}", &user_only.join("\n")).replace("{settings}\n", &settings)
}

/// The settings and tables that a project's file can't have.
fn user_only(schema: &Value, path: &[&str]) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let owned = |(name, schema): (&String, &Value)| {
        let path = [path, &[name.as_str()]].concat();
        match SettingOwner::of(&path) {
            SettingOwner::Project => Vec::new(),
            SettingOwner::Mixed => user_only(schema, &path),
            SettingOwner::User => vec![path.join(".")],
        }
    };
    properties.flat_map(owned).collect()
}

/// One table of the file with its settings, then the tables inside it.
fn table(text: &mut String, path: &str, schema: &Value, defaults: &Value) {
    let settings: Vec<(String, &Value, &Value)> = match (&schema["properties"], &schema["additionalProperties"]) {
        (Value::Object(properties), _) => properties.iter().map(|(name, schema)| (name.clone(), schema, &defaults[name])).collect(),
        (_, entry) => vec![("NAME".to_owned(), entry, &Value::Null)],
    };
    let (tables, rows): (Vec<_>, Vec<_>) = settings.into_iter().partition(|(_, schema, _)| is_table(schema));
    if !path.is_empty() {
        let description = schema["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "\n### `[{path}]`\n\n{description}");
    }
    if !rows.is_empty() {
        text.push_str("\n| setting | type | default | what it does |\n| --- | --- | --- | --- |\n");
    }
    for (name, schema, default) in rows {
        let default = if default.is_null() { String::new() } else { format!("`{default}`") };
        let description = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(text, "| `{name}` | {} | {default} | {description} |", kind(schema));
    }
    for (name, schema, defaults) in tables {
        let inner = if path.is_empty() { name } else { format!("{path}.{name}") };
        table(text, &inner, schema, defaults);
    }
}

fn is_table(schema: &Value) -> bool {
    schema["properties"].is_object() || schema["additionalProperties"].is_object()
}

fn word(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "boolean" => "true or false",
        "integer" => "whole number",
        "array" => "list of texts",
        other => other,
    }
}

/// The type of a setting's value.
fn kind(schema: &Value) -> String {
    let of_several = |schemas: &Vec<Value>| {
        let kinds: Vec<String> = schemas.iter().map(kind).filter(|kind| kind != "null").collect();
        kinds.join(" or ")
    };
    match (&schema["type"], &schema["enum"], &schema["const"]) {
        (_, Value::Array(values), _) => {
            values.iter().filter(|value| !value.is_null()).map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ")
        }
        (_, _, Value::String(value)) => format!("`\"{value}\"`"),
        (Value::String(name), ..) if name == "array" && schema["items"]["type"] == "object" => "list of tables".to_owned(),
        (Value::String(name), ..) => word(name).to_owned(),
        (Value::Array(names), ..) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => schema["oneOf"].as_array().or(schema["anyOf"].as_array()).map(of_several).unwrap_or_default(),
    }
}

#[test]
fn the_document_of_the_configuration_is_what_the_code_reads() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");
    let text = document();
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(file, &text).unwrap();
    }
    assert!(fs::read_to_string(file).is_ok_and(|written| written == text), "run this test with WRITE_DOCS=1; the new text is:\n{text}");
}

#[test]
fn a_project_can_set_nothing_that_leads_elsewhere_runs_or_allows_something() {
    let schema =
        SchemaSettings::default().with(|settings| settings.inline_subschemas = true).into_generator().into_root_schema_for::<Config>();
    let user_only = user_only(schema.as_value(), &[]);
    let expected = [
        "models.base_url",
        "models.api_key_env",
        "models.api_key_command",
        "models.providers",
        "models.prices",
        "models.by_agent",
        "permissions.allow",
        "permissions.rules",
        "tools.fetch.private_hosts",
        "tools.mcp",
        "tools.search.url",
        "tools.command",
        "limits.day",
        "limits.warn_usd",
        "cache",
        "console.keys",
    ];
    assert_eq!(user_only.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected.into_iter().collect());
}

/// Names of variables in the source: upper case with an underscore, or one of the table.
#[test]
fn every_variable_that_is_read_is_in_the_table_and_the_other_way_round() {
    /// What isn't a variable that dagdeck reads for itself.
    const OTHERS: [&str; 7] = [
        "CARGO_MANIFEST_DIR",
        "CARGO_PKG_VERSION",
        "FUNCTION_CALL",
        "LC_ALL",
        "MALFORMED_FUNCTION_CALL",
        "MAX_TOKENS",
        "UNEXPECTED_TOOL_CALL",
    ];
    let mut found = BTreeSet::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let known: BTreeSet<String> = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).map(str::to_owned).collect();
    let is_name =
        |name: &&String| known.contains(*name) || name.contains('_') && !OTHERS.contains(&name.as_str()) && !name.starts_with("GIT_");
    let read: BTreeSet<String> = found.iter().filter(is_name).cloned().collect();
    assert_eq!(read, known, "every variable that is read belongs in the table of src/host/configuration.md, and no other");
}

/// Texts of upper-case letters and underscores outside tests and the table.
fn read(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            read(&path, found);
        }
        // The table of providers names variables too.
        if !(name.ends_with(".rs") || name == "providers.toml") || name.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let is_upper =
            |text: &&str| text.len() > 1 && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') && text.starts_with(|c| c != '_');
        found.extend(code.split('"').filter(is_upper).map(str::to_owned));
    }
}
