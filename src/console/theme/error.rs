//! What can be wrong with a theme: file, line, role, and a way out.

use std::path::PathBuf;

/// Why a theme can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// Nobody knows a theme of that name.
    #[error("there is no theme `{name}`\nhint: use {}, or the path of a theme file", shipped.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        shipped: Vec<&'static str>,
    },
    /// The file can't be read.
    #[error("can't read theme `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// A line says something that can't be used.
    #[error("{file}:{line}: {message}\nhint: {hint}")]
    Line {
        /// The file, or the shipped theme's name.
        file: String,
        /// From 1.
        line: usize,
        /// What is wrong, naming the role.
        message: String,
        hint: String,
    },
    /// Themes inherit from each other in a ring.
    #[error("themes inherit from each other in a circle: {}\nhint: remove one `inherits` line", chain.join(" → "))]
    Ring {
        /// First and last are the same.
        chain: Vec<String>,
    },
}
