//! A bike rental: trips, stations, logs, settings, sources and notes, kept as they are in `depot.toml`.

use serde::Deserialize;

#[derive(Deserialize)]
struct Kept {
    file: Vec<KeptFile>,
}

#[derive(Deserialize)]
struct KeptFile {
    path: String,
    text: String,
}

pub fn files() -> Vec<(String, String)> {
    let kept: Kept = toml::from_str(include_str!("depot.toml")).unwrap();
    kept.file.into_iter().map(|file| (file.path, file.text)).collect()
}
