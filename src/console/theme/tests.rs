//! Themes as files, as layers, and as what a terminal shows.

use ratatui::style::{Color, Modifier};

use super::*;

fn themed(text: &str, depth: Depth) -> Result<Theme, ThemeError> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("own.toml"), text).unwrap();
    load("own", Some(directory.path()), depth)
}

fn complaint(text: &str) -> String {
    themed(text, Depth::True).unwrap_err().to_string()
}

#[test]
fn every_shipped_theme_resolves_at_every_depth_and_says_what_it_is() {
    for (name, about) in shipped() {
        assert!(!about.is_empty(), "{name}");
        for depth in [Depth::Mono, Depth::Ansi16, Depth::Ansi256, Depth::True] {
            let theme = load(name, None, depth).unwrap();
            assert_ne!(theme.style(Role::Selection), theme.style(Role::Text), "{name} {depth:?}");
        }
    }
}

#[test]
fn without_colour_no_role_has_one_and_what_needs_a_ground_is_reversed_but_the_selection() {
    for (name, _) in shipped() {
        let theme = load(name, None, Depth::Mono).unwrap();
        for role in Role::ALL {
            let style = theme.style(*role);
            assert_eq!((style.fg, style.bg), (None, None), "{name} {role:?}");
        }
        assert!(!theme.style(Role::Selection).add_modifier.contains(Modifier::REVERSED) || name != "terminal" && name != "mono", "{name}");
        for role in [Role::Badge, Role::Cursor, Role::Active] {
            assert!(theme.style(role).add_modifier.contains(Modifier::REVERSED), "{name} {role:?}");
        }
    }
}

#[test]
fn each_depth_keeps_to_its_colours() {
    let text = "[roles]\ntext = \"#7aa2f7 on #16181d\"\n";
    let colours = |depth| themed(text, depth).map(|theme| (theme.style(Role::Text).fg, theme.style(Role::Text).bg)).unwrap();
    assert_eq!(colours(Depth::True), (Some(Color::Rgb(122, 162, 247)), Some(Color::Rgb(22, 24, 29))));
    assert_eq!(colours(Depth::Ansi256), (Some(Color::Indexed(111)), Some(Color::Indexed(234))));
    assert_eq!(colours(Depth::Ansi16), (Some(Color::LightBlue), Some(Color::Black)));
    assert_eq!(colours(Depth::Mono), (None, None));
}

#[test]
fn the_environment_decides_the_depth_and_no_color_wins() {
    let depth = |vars: &'static [(&str, &str)]| {
        Depth::detect(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    };
    assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")]), Depth::Mono);
    assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "")]), Depth::Ansi256);
    assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
    assert_eq!(depth(&[("TERM", "xterm")]), Depth::Ansi16);
    assert_eq!(depth(&[("TERM", "dumb")]), Depth::Mono);
}

#[test]
fn a_theme_inherits_what_it_does_not_name() {
    let theme = themed("inherits = \"dark\"\n[roles]\nerror = \"bold magenta\"\n", Depth::True).unwrap();
    let dark = load("dark", None, Depth::True).unwrap();
    assert_eq!(theme.style(Role::Error).fg, Some(Color::Magenta));
    assert_eq!(theme.style(Role::Running), dark.style(Role::Running));
}

#[test]
fn a_theme_of_new_colours_alone_recolours_its_parent() {
    let theme = themed("inherits = \"dark\"\n[palette]\nblue = \"#010203\"\n", Depth::True).unwrap();
    assert_eq!(theme.style(Role::Accent).fg, Some(Color::Rgb(1, 2, 3)));
}

#[test]
fn an_error_names_file_line_and_role_and_a_way_out() {
    let said = complaint("about = \"x\"\n[roles]\ntext = \"default\"\nerror = \"bold rde\"\n");
    assert!(said.contains("own.toml:4: role `error`: `rde` is neither a colour nor a modifier\nhint: "), "{said}");
    let said = complaint("[roles]\nerorr = \"red\"\n");
    assert!(said.contains("own.toml:2: there is no role `erorr`\nhint: roles are text,"), "{said}");
    let said = complaint("[palette]\nred = \"#12345\"\n");
    assert!(said.contains("own.toml:2: palette colour `red`: `#12345` is not a colour\nhint: "), "{said}");
    let said = complaint("[roles]\ntext = 4\n");
    assert!(said.contains("own.toml:2: "), "{said}");
    let said = complaint("[roles]\ntext = \"red blue\"\n");
    assert!(said.contains("`blue` is a second colour"), "{said}");
    assert!(load("nope", None, Depth::True).unwrap_err().to_string().contains("use terminal, mono"));
    assert!(matches!(load("./no/such.toml", None, Depth::True), Err(ThemeError::Unreadable { .. })));
}

#[test]
fn a_ring_of_themes_is_spelled_out_and_a_shadowing_theme_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, parent: &str| {
        std::fs::write(directory.path().join(format!("{name}.toml")), format!("inherits = \"{parent}\"\n")).unwrap();
    };
    write("a", "b");
    write("b", "a");
    write("dark", "dark");
    let ring = load("a", Some(directory.path()), Depth::True).unwrap_err().to_string();
    assert!(ring.contains("a.toml → ") && ring.contains("b.toml → "), "{ring}");
    assert!(load("dark", Some(directory.path()), Depth::True).is_ok());
}

#[test]
fn every_state_has_its_own_glyph_and_no_state_is_colour_alone() {
    let states: Vec<NodeState> = NodeState::all().collect();
    for glyphs in [GlyphSet::Unicode, GlyphSet::Ascii] {
        let theme = Theme::default().with_glyphs(glyphs);
        let mut seen: Vec<_> = states.iter().map(|state| theme.glyph(of_state(state).0)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), states.len(), "give every node state a glyph of its own in text/glyphs.rs");
    }
}

#[test]
fn the_theme_that_others_inherit_gives_every_role_a_style() {
    let document: toml::Value = toml::from_str(include_str!("../../../themes/terminal.toml")).unwrap();
    let missing: Vec<&str> = Role::ALL.iter().map(|role| role.name()).filter(|name| document["roles"].get(name).is_none()).collect();
    assert!(missing.is_empty(), "add {missing:?} to themes/terminal.toml");
}

/// Red, green and blue as a screen gives them off.
fn light(colour: Color) -> [f64; 3] {
    let shown = match colour {
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(index) => super::colour::rgb_of(index),
        other => panic!("{other:?}"),
    };
    shown.map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

/// How much two colours differ in light, as eyes take it.
fn contrast(one: Color, other: Color) -> f64 {
    let luminance = |colour| {
        let [red, green, blue] = light(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    if one > other { one / other } else { other / one }
}

#[test]
fn a_theme_that_brings_its_ground_can_be_read_there_and_on_the_selected_row() {
    for ((name, _), depth) in shipped().into_iter().flat_map(|theme| [(theme.clone(), Depth::True), (theme, Depth::Ansi256)]) {
        let theme = load(name, None, depth).unwrap();
        let ground = theme.style(Role::Text).bg;
        assert_eq!(ground.is_some(), !["terminal", "mono"].contains(&name), "{name}");
        let without = load(name, None, Depth::Mono).unwrap();
        assert!(!without.style(Role::Text).add_modifier.contains(Modifier::REVERSED), "{name}");
        let Some(ground) = ground else { continue };
        let tint = theme.style(Role::Selection).bg.unwrap_or(ground);
        let least = if name == "high-contrast" { 7.0 } else { 4.5 };
        // Lines and borders say nothing by themselves.
        for role in Role::ALL.iter().filter(|role| **role != Role::Border) {
            let style = theme.style(*role);
            assert!(!style.add_modifier.contains(Modifier::DIM), "{name} {role:?}: how dim a terminal draws it is not known");
            let Some(ink @ (Color::Rgb(..) | Color::Indexed(_))) = style.fg else { continue };
            for below in [style.bg.unwrap_or(ground), style.bg.unwrap_or(tint)] {
                let contrast = contrast(ink, below);
                assert!(contrast >= least, "{name} {depth:?} {role:?}: {contrast:.1}");
            }
        }
    }
}

/// A colour as somebody without one kind of cones sees it (Machado, Oliveira and Fernandes, 2009), in the coordinates of CIELAB.
fn seen(by: [[f64; 3]; 3], colour: Color) -> [f64; 3] {
    let light = light(colour);
    let dot = |row: [f64; 3], of: [f64; 3]| row.iter().zip(of).map(|(a, b)| a * b).sum::<f64>();
    let [r, g, b] = by.map(|row| dot(row, light).clamp(0.0, 1.0));
    let curve = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = curve(dot([0.4124, 0.3576, 0.1805], [r, g, b]) / 0.9505);
    let y = curve(dot([0.2126, 0.7152, 0.0722], [r, g, b]));
    let z = curve(dot([0.0193, 0.1192, 0.9505], [r, g, b]) / 1.089);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[test]
fn the_colour_blind_theme_tells_what_runs_waits_failed_and_ended_apart_with_any_kind_of_eyes() {
    const EYES: [(&str, [[f64; 3]; 3]); 3] = [
        ("no red", [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]]),
        ("no green", [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]]),
        ("no blue", [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]]),
    ];
    let theme = load("colour-blind", None, Depth::True).unwrap();
    let states = [Role::Running, Role::Waiting, Role::Failed, Role::Succeeded, Role::Held];
    for (name, eyes) in EYES {
        let colours = states.map(|role| (role, seen(eyes, theme.style(role).fg.unwrap())));
        for (at, (one, a)) in colours.iter().enumerate() {
            for (other, b) in &colours[at + 1..] {
                let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(apart >= 15.0, "{name}: {one:?} and {other:?} are {apart:.1} apart");
            }
        }
    }
}
