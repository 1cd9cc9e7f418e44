//! Colours as theme files write them, and what a terminal can show of them.

use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: `NO_COLOR`, or a terminal that knows none.
    Mono,
    /// The 16 ANSI colours.
    Ansi16,
    Ansi256,
    True,
}

impl Depth {
    /// What the environment says; `var` looks a variable up.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| var(name).unwrap_or_default();
        let term = get("TERM");
        if !get("NO_COLOR").is_empty() || matches!(term.as_str(), "dumb" | "vt100" | "vt220") {
            Self::Mono
        } else if matches!(get("COLORTERM").as_str(), "truecolor" | "24bit") || term.ends_with("-direct") {
            Self::True
        } else if term.contains("256color") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }

    /// The nearest style that this depth can show. Without colour, what had a background is reversed, so that it stays
    /// as visible as it was.
    pub(super) fn fit(self, style: Style) -> Style {
        let mut fitted = style;
        if self == Self::Mono {
            let had_background = style.bg.is_some();
            (fitted.fg, fitted.bg, fitted.underline_color) = (None, None, None);
            return if had_background { fitted.add_modifier(Modifier::REVERSED) } else { fitted };
        }
        fitted.fg = style.fg.map(|colour| self.nearest(colour));
        fitted.bg = style.bg.map(|colour| self.nearest(colour));
        fitted
    }

    fn nearest(self, colour: Color) -> Color {
        match (self, colour) {
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(nearest_indexed([r, g, b])),
            (Self::Ansi16, Color::Rgb(r, g, b)) => named(ansi_of([r, g, b])),
            (Self::Ansi16, Color::Indexed(index)) if index < 16 => named(index),
            (Self::Ansi16, Color::Indexed(index)) => named(ansi_of(rgb_of(index))),
            (_, colour) => colour,
        }
    }
}

/// A colour that needs no palette: `default`, an ANSI name, a number from 0 to 255, `#rrggbb`.
pub(super) fn parse(word: &str) -> Option<Color> {
    if word == "default" {
        return Some(Color::Reset);
    }
    if let Some(hex) = word.strip_prefix('#') {
        let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6 && !hex.starts_with('+'))?;
        let [_, r, g, b] = value.to_be_bytes();
        return Some(Color::Rgb(r, g, b));
    }
    let named = ANSI.iter().find(|(name, _)| *name == word).map(|(_, colour)| *colour);
    named.or_else(|| word.parse().ok().map(Color::Indexed))
}

/// The 16 ANSI colours in their order, by the names of theme files.
const ANSI: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

fn named(index: u8) -> Color {
    ANSI.get(usize::from(index)).map_or(Color::Reset, |(_, colour)| *colour)
}

/// The ANSI colour of the same hue. Nearest by distance would turn soft colours grey, and hue is what tells states apart.
fn ansi_of([r, g, b]: [u8; 3]) -> u8 {
    let (low, high) = (r.min(g).min(b), r.max(g).max(b));
    if high - low < 40 {
        let light = (u32::from(r) * 30 + u32::from(g) * 59 + u32::from(b) * 11) / 100;
        return match light {
            0..=47 => 0,
            48..=159 => 8,
            160..=239 => 7,
            _ => 15,
        };
    }
    let middle = low + (high - low) / 2;
    let hue = u8::from(r > middle) + 2 * u8::from(g > middle) + 4 * u8::from(b > middle);
    if high > 200 { hue + 8 } else { hue }
}

/// What xterm shows for a number of its palette beyond the first 16, which every terminal colours as it likes.
pub(super) fn rgb_of(index: u8) -> [u8; 3] {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    if index >= 232 {
        return [8 + 10 * (index - 232); 3];
    }
    let cube = usize::from(index.saturating_sub(16));
    [STEPS[cube / 36], STEPS[cube / 6 % 6], STEPS[cube % 6]]
}

fn nearest_indexed(wanted: [u8; 3]) -> u8 {
    let distance = |index: &u8| -> u32 { rgb_of(*index).into_iter().zip(wanted).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    (16..=255).min_by_key(distance).unwrap_or(16)
}
