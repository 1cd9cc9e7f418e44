//! Theme files: finding, reading and layering them. The first layer that names a role decides it; a palette's names are
//! looked up across all layers, the topmost first, so that a theme may be made of new colours alone.

use crate::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use super::{Depth, Role, Theme, ThemeError, colour};
use crate::text::GlyphSet;

/// The themes that come with the program: name and text.
const SHIPPED: [(&str, &str); 6] = [
    ("terminal", include_str!("../../../themes/terminal.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
];
const BASE: &str = "terminal";

/// A theme file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    about: Option<String>,
    inherits: Option<Spanned<String>>,
    #[serde(default)]
    palette: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    roles: BTreeMap<String, Spanned<String>>,
}

/// One file of the chain, with what is needed to name a line of it.
struct Layer {
    file: String,
    text: String,
    document: ThemeFile,
}

/// Names of the shipped themes with a few words about each.
pub fn shipped() -> Vec<(&'static str, String)> {
    let about = |text: &str| toml::from_str::<ThemeFile>(text).ok().and_then(|document| document.about).unwrap_or_default();
    SHIPPED.iter().map(|(name, text)| (*name, about(text))).collect()
}

/// The theme of that name, or of that path if it holds a slash or ends in `.toml`. Names are looked up in `own` (the
/// person's theme directory) before those shipped.
pub fn load(choice: &str, own: Option<&Path>, depth: Depth) -> Result<Theme, ThemeError> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut chain: Vec<String> = Vec::new();
    let mut next = Some((choice.to_owned(), own.map(Path::to_owned)));
    while let Some((name, directory)) = next {
        let (file, text) = find(&name, directory.as_deref())?;
        if chain.contains(&file) {
            // A person's `dark` may inherit the shipped `dark`; the same file twice is a ring.
            chain.push(file);
            return Err(ThemeError::Ring { chain });
        }
        let layer = parse(&file, text)?;
        next = layer.document.inherits.as_ref().map(|parent| (parent.get_ref().clone(), beside(&file, parent.get_ref(), own)));
        if next.is_none() && file != BASE {
            next = Some((BASE.to_owned(), None));
        }
        chain.push(file);
        layers.push(layer);
    }
    resolve(&layers, depth)
}

/// The shipped default. A test holds that it and every other shipped theme resolve.
pub(super) fn built_in(depth: Depth) -> Theme {
    load(BASE, None, depth).unwrap_or(Theme { styles: [Style::new(); Role::ALL.len()], glyphs: GlyphSet::Unicode })
}

/// Where a parent is looked for: beside the file that names it, unless that would be the file itself.
fn beside(file: &str, parent: &str, own: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(file);
    let directory = path.parent().filter(|_| is_path(file)).map(Path::to_owned).or_else(|| own.map(Path::to_owned))?;
    let names_itself = path.file_stem().is_some_and(|stem| stem == parent);
    if names_itself { None } else { Some(directory) }
}

fn is_path(choice: &str) -> bool {
    choice.contains('/') || choice.ends_with(".toml")
}

/// File name and text of a choice.
fn find(choice: &str, directory: Option<&Path>) -> Result<(String, String), ThemeError> {
    let path = if is_path(choice) {
        Some(PathBuf::from(choice))
    } else {
        directory.map(|directory| directory.join(format!("{choice}.toml"))).filter(|path| path.is_file())
    };
    if let Some(path) = path {
        let text = files::read_text(&path, files::DOCUMENT).map_err(|source| ThemeError::Unreadable { path: path.clone(), source })?;
        return Ok((path.display().to_string(), text));
    }
    SHIPPED
        .iter()
        .find(|(name, _)| *name == choice)
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .ok_or_else(|| ThemeError::Unknown { name: choice.to_owned(), shipped: SHIPPED.iter().map(|(name, _)| *name).collect() })
}

fn parse(file: &str, text: String) -> Result<Layer, ThemeError> {
    match toml::from_str(&text) {
        Ok(document) => Ok(Layer { file: file.to_owned(), text, document }),
        Err(error) => Err(ThemeError::Line {
            file: file.to_owned(),
            line: line_at(&text, error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
            hint: "a theme has `about`, `inherits`, `[palette]` and `[roles]`; each value is a string in quotes".to_owned(),
        }),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn resolve(layers: &[Layer], depth: Depth) -> Result<Theme, ThemeError> {
    for layer in layers {
        check_names(layer, layers)?;
    }
    let mut styles = [Style::new(); Role::ALL.len()];
    for role in Role::ALL {
        let named = layers.iter().find_map(|layer| layer.document.roles.get(role.name()).map(|style| (layer, style)));
        let Some((layer, style)) = named else { continue };
        let read = read_style(layer, role.name(), style, layers)?;
        // Without colour the ground of the screen is the terminal's own, and not reversed.
        let is_ground = *role == Role::Text && depth == Depth::Mono;
        styles[*role as usize] = depth.fit(if is_ground { Style { bg: None, ..read } } else { read });
    }
    Ok(Theme { styles, glyphs: GlyphSet::Unicode })
}

/// Every name in a file must mean something, also those that another layer covers.
fn check_names(layer: &Layer, layers: &[Layer]) -> Result<(), ThemeError> {
    for (name, value) in &layer.document.palette {
        if colour::parse(value.get_ref()).is_none() {
            let message = format!("palette colour `{name}`: `{}` is not a colour", value.get_ref());
            return Err(layer.error(value, message, COLOUR_HINT.to_owned()));
        }
    }
    for (name, style) in &layer.document.roles {
        if name.parse::<Role>().is_err() {
            let known = Role::ALL.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
            return Err(layer.error(style, format!("there is no role `{name}`"), format!("roles are {known}")));
        }
        read_style(layer, name, style, layers)?;
    }
    Ok(())
}

const COLOUR_HINT: &str = "write default, an ANSI name (red, bright-red), a number from 0 to 255, or #rrggbb";

/// `bold italic cyan on black`.
fn read_style(layer: &Layer, role: &str, written: &Spanned<String>, layers: &[Layer]) -> Result<Style, ThemeError> {
    let mut style = Style::new();
    let mut words = written.get_ref().split_whitespace();
    while let Some(word) = words.next() {
        if let Some(modifier) = modifier(word) {
            style = style.add_modifier(modifier);
            continue;
        }
        let background = word == "on";
        let named = if background { words.next().unwrap_or_default() } else { word };
        let Some(colour) = lookup(named, layers) else {
            let message = format!("role `{role}`: `{named}` is neither a colour nor a modifier");
            let names: Vec<_> = layers.iter().flat_map(|layer| layer.document.palette.keys().map(String::as_str)).collect();
            let palette = if names.is_empty() { String::new() } else { format!(", or a palette colour: {}", names.join(", ")) };
            let hint = format!("{COLOUR_HINT}{palette}; modifiers are bold, dim, italic, underlined, reversed");
            return Err(layer.error(written, message, hint));
        };
        let slot = if background { &mut style.bg } else { &mut style.fg };
        if slot.replace(colour).is_some() {
            let message = format!("role `{role}`: `{named}` is a second colour for the same place");
            return Err(layer.error(written, message, "write one colour, optionally followed by `on` and a background".to_owned()));
        }
    }
    Ok(style)
}

fn lookup(name: &str, layers: &[Layer]) -> Option<Color> {
    let own = layers.iter().find_map(|layer| layer.document.palette.get(name));
    own.map_or_else(|| colour::parse(name), |value| colour::parse(value.get_ref()))
}

fn modifier(word: &str) -> Option<Modifier> {
    match word {
        "bold" => Some(Modifier::BOLD),
        "dim" => Some(Modifier::DIM),
        "italic" => Some(Modifier::ITALIC),
        "underlined" => Some(Modifier::UNDERLINED),
        "reversed" => Some(Modifier::REVERSED),
        _ => None,
    }
}

impl Layer {
    fn error(&self, at: &Spanned<String>, message: String, hint: String) -> ThemeError {
        ThemeError::Line { file: self.file.clone(), line: line_at(&self.text, at.span().start), message, hint }
    }
}
