//! What `text` promises, as properties and as samples.

use proptest::prelude::*;
use strum::VariantArray;
use unicode_width::UnicodeWidthStr;

use super::*;

/// What may never reach a terminal, listed apart from the code that escapes it.
fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fe0f}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}' | '\u{ad}' | '\u{fff9}'..='\u{fffb}')
}

/// Text in which what matters here is frequent.
fn nasty() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z ]{1,12}",
        prop::sample::select(vec![
            "\x1b[31m",
            "\x1b]52;c;aGk=\x07",
            "\u{9b}2J",
            "\u{202e}",
            "\u{2066}",
            "\u{200b}",
            "\u{feff}",
            "\r\n",
            "\r",
            "\n",
            "\t",
            "\0",
            "👩\u{200d}🔬",
            "⚠\u{fe0f}",
            "👍🏽",
            "e\u{301}",
            "\u{301}",
            "漢字",
            "\u{200d}",
            "🇩🇪",
            "\u{e0041}",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// What a real terminal parser shows of a line, and the column its cursor ends in.
fn on_screen(line: &Plain) -> (String, usize) {
    let mut parser = vt100::Parser::new(2.try_into().unwrap(), 400.try_into().unwrap(), 0);
    parser.process(line.as_str().as_bytes());
    (parser.screen().contents(), usize::from(parser.screen().cursor_position().1))
}

#[test]
fn later_lines_hang_below_the_words_of_the_first() {
    let hung = |text: &str| Plain::line(text).wrap_hanging(21).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(hung("  one two three four five"), ["  one two three four", "  five"]);
    assert_eq!(hung("tool   lists a folder or so"), ["tool   lists a folder", "       or so"]);
    assert_eq!(hung("no label, but words and  a gap"), ["no label, but words", "and  a gap"]);
    assert_eq!(hung("as-wide-as-a-line-is.  \u{301}"), ["as-wide-as-a-line-is.", "\u{301}"], "what has no width is kept");
    assert_eq!(hung("          more indent than a third"), ["          more indent", "than a third"]);
}

proptest! {
    #[test]
    fn nothing_that_a_plain_yields_is_obeyed_or_hidden_by_a_terminal(raw in nasty(), width in 0usize..40) {
        let line = Plain::line(&raw);
        let mut all = vec![line.clone(), Plain::summary(&raw), line.truncate(width), line.truncate_start(width),
            line.pad(width), line.pad_start(width), line.skip_columns(width)];
        all.extend(line.wrap(width));
        all.extend(Plain::block(&raw));
        for plain in all {
            prop_assert!(!plain.as_str().chars().any(is_forbidden), "{:?}", plain);
        }
    }

    #[test]
    fn cutting_and_padding_keep_to_the_columns_asked_for(raw in nasty(), width in 0usize..40) {
        let line = Plain::line(&raw);
        prop_assert!(line.truncate(width).width() <= width);
        prop_assert!(line.truncate_start(width).width() <= width);
        prop_assert_eq!(line.pad(width).width(), width);
        prop_assert_eq!(line.pad_start(width).width(), width);
        prop_assert_eq!(line.skip_columns(width).width(), line.width().saturating_sub(width));
    }

    #[test]
    fn wrapping_loses_nothing_but_spaces_and_keeps_to_the_columns(raw in nasty(), width in 2usize..40) {
        let line = Plain::line(&raw);
        let without_spaces = |text: &str| text.replace(' ', "");
        for wrapped in [line.wrap(width), line.wrap_hanging(width)] {
            let joined: String = wrapped.iter().map(|line| without_spaces(line.as_str())).collect();
            prop_assert_eq!(joined, without_spaces(line.as_str()));
            prop_assert!(!wrapped.is_empty());
            prop_assert!(wrapped.iter().all(|line| line.width() <= width), "{:?}", wrapped);
        }
    }

    #[test]
    fn a_stream_shows_the_same_however_it_is_cut(raw in nasty(), cuts in prop::collection::vec(0usize..200, 0..6)) {
        let mut bounds: Vec<usize> = cuts.into_iter().filter(|at| raw.is_char_boundary(*at)).collect();
        bounds.extend([0, raw.len()]);
        bounds.sort_unstable();
        let mut block = Block::default();
        for pair in bounds.windows(2) {
            block.push(&raw[pair[0]..pair[1]]);
        }
        prop_assert_eq!(block.into_lines(), Plain::block(&raw));
    }
}

#[test]
fn a_name_that_is_too_long_is_cut_in_its_middle() {
    let cut = |max| Plain::line("research_of_the_market_2").truncate_middle(max).into_string();
    assert_eq!((cut(24), cut(11), cut(2)), ("research_of_the_market_2".into(), "resea…ket_2".into(), "r…".into()));
    assert_eq!(Plain::line("日本語の名前です").truncate_middle(8).width(), 7);
}

#[test]
fn esc_osc_c1_and_bidi_are_spelled_out() {
    let shown = Plain::line("a\x1b[31mb\x1b]52;c;aGk=\x07\u{9b}2J\u{202e}c\u{200b}d");
    assert_eq!(shown.as_str(), r"a\u{1b}[31mb\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{202e}c\u{200b}d");
    assert_eq!(shown.hidden(), 6);
}

#[test]
fn line_ends_are_marked_in_a_line_folded_in_a_summary_and_kept_in_a_block() {
    let raw = "one\r\n  two\tthree\n";
    assert_eq!(Plain::line(raw).as_str(), "one⏎  two   three⏎");
    assert_eq!(Plain::summary(raw).as_str(), "one two three");
    assert_eq!(Plain::block(raw).iter().map(Plain::as_str).collect::<Vec<_>>(), ["one", "  two   three"]);
    assert_eq!(Plain::block("").len(), 0);
    assert_eq!(Plain::block("\n\n").len(), 2);
    assert_eq!(Plain::line("a\rb").as_str(), r"a\u{d}b");
}

#[test]
fn a_tab_reaches_the_next_stop() {
    assert_eq!(Plain::line("a\tb\t\tc").as_str(), "a   b       c");
    assert_eq!(Plain::line("漢\tb").as_str(), "漢  b");
}

#[test]
fn emoji_lose_only_what_terminals_disagree_on() {
    assert_eq!(Plain::line("⚠\u{fe0f} 👍🏽 👩\u{200d}🔬").as_str(), "⚠ 👍 👩🔬");
    assert_eq!(Plain::line("a\u{fe0f}").as_str(), r"a\u{fe0f}");
    assert_eq!(Plain::line("👩\u{200d}a").as_str(), r"👩\u{200d}a");
    assert_eq!(Plain::line("⚠\u{fe0f}\u{fe0f}").as_str(), r"⚠\u{fe0f}");
}

#[test]
fn marks_need_a_character_to_sit_on_and_do_not_pile_up() {
    assert_eq!(Plain::line("\u{301}e\u{301}").as_str(), "\\u{301}e\u{301}");
    let pile = format!("e{}", "\u{301}".repeat(9));
    assert_eq!(Plain::line(&pile).hidden(), 5);
}

#[test]
fn width_is_what_a_terminal_shows() {
    for raw in [
        "plain",
        "naïve",
        "e\u{301}te\u{301}",
        "漢字かな",
        "⚠\u{fe0f} warn",
        "👩\u{200d}🔬 lab",
        "👍🏽",
        "🇩🇪",
        "a\x1b[2Jb",
        "한국어",
        "→ ✓ ◆",
    ] {
        let line = Plain::line(raw);
        let (shown, column) = on_screen(&line);
        assert_eq!(shown, line.as_str(), "{raw:?}");
        assert_eq!(column, line.width(), "{raw:?}");
    }
}

#[test]
fn cut_text_says_so() {
    let line = Plain::line("漢字 and words");
    assert_eq!(line.truncate(4).as_str(), "漢…");
    assert_eq!(line.truncate_start(6).as_str(), "…words");
    assert_eq!(line.truncate(0).as_str(), "");
    assert_eq!(line.skip_columns(1).as_str(), " 字 and words");
    assert_eq!(line.pad(16).as_str(), "漢字 and words  ");
    assert_eq!(Plain::line("12").pad_start(5).as_str(), "   12");
}

#[test]
fn words_wrap_and_long_words_break() {
    let wrap = |raw: &str, width| Plain::line(raw).wrap(width).into_iter().map(Plain::into_string).collect::<Vec<_>>();
    assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(wrap("  indented text", 10), ["  indented", "text"]);
    assert_eq!(wrap("see abcdefghijklmno now", 8), ["see abcd", "efghijkl", "mno now"]);
    assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(wrap("漢字", 1), ["漢", "字"]);
    assert_eq!(wrap("", 5), [""]);
}

#[test]
fn glyphs_are_as_wide_in_ascii_and_states_are_told_apart() {
    for &glyph in Glyph::VARIANTS {
        let (unicode, ascii) = (GlyphSet::Unicode.get(glyph), GlyphSet::Ascii.get(glyph));
        assert_eq!(unicode.width(), ascii.width(), "{glyph:?}");
        assert!(ascii.is_ascii(), "{glyph:?}");
        assert_eq!(Plain::line(unicode).as_str(), unicode, "{glyph:?}");
    }
    for set in [GlyphSet::Unicode, GlyphSet::Ascii] {
        let mut states: Vec<_> = Glyph::VARIANTS.iter().take_while(|glyph| **glyph != Glyph::Stale).map(|glyph| set.get(*glyph)).collect();
        let count = states.len();
        states.sort_unstable();
        states.dedup();
        assert_eq!(states.len(), count, "{set:?}");
    }
}

#[test]
fn a_cell_has_an_ascii_likeness() {
    assert_eq!(["✓", "╭", "─", "…", "é", "漢"].map(ascii_of), ["+", "+", "-", "~", "?", "?"]);
}

#[test]
fn figures_read_as_a_person_writes_them() {
    let durations = [0, 850, 1_250, 34_900, 184_000, 7_500_000, 273_600_000].map(|ms| duration(ms).into_string());
    assert_eq!(durations, ["0ms", "850ms", "1.2s", "34s", "3m04s", "2h05m", "3d04h"]);
    let counts = [0, 999, 1_250, 34_567, 5_600_000, u64::MAX].map(|n| count(n).into_string());
    assert_eq!(counts, ["0", "999", "1.2k", "34k", "5.6M", "18E"]);
    assert_eq!([512, 1_536, 34_000_000].map(|n| bytes(n).into_string()), ["512 B", "1.5 kB", "34 MB"]);
    let costs = [0.0, 0.000_01, 0.0123, 4.5, f64::NAN].map(|usd| cost(usd).into_string());
    assert_eq!(costs, ["$0", "<$0.0001", "$0.0123", "$4.50", "$?"]);
    assert_eq!(timestamp(1_795_261_102_000).as_str(), "2026-11-21 11:38:22Z");
    assert_eq!(clock(1_795_261_102_000).as_str(), "11:38:22Z");
    assert_eq!(timestamp(u64::MAX).as_str(), "unknown time");
    let offsets = [0, 7_042, 3_723_004].map(|ms| offset(ms).into_string());
    assert_eq!(offsets, ["0:00.000", "0:07.042", "1:02:03.004"]);
}

#[test]
fn a_person_s_clock_has_its_own_midnight() {
    let (at, zone) = (1_795_261_102_104, jiff::tz::TimeZone::fixed(jiff::tz::offset(13)));
    assert_eq!(time_of_day(at, &zone).as_str(), "00:38:22");
    assert_eq!(date_and_time(at, &zone).as_str(), "2026-11-22 00:38:22.104 +13:00");
    let hour = 3_600_000;
    assert_eq!(began(at, at + hour, &zone).as_str(), "00:38");
    assert_eq!(began(at - hour, at, &zone).as_str(), "Nov 21 23:38");
}

#[test]
fn what_looks_like_a_key_is_shown_nowhere_and_in_no_piece_of_a_stream() {
    let keys = [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-abcdefghijklmnopqrstuvwxyz123456",
        "sk-ant-api03-aB3dE6gH9jK2-x_y",
    ];
    for key in keys {
        let text = format!("key={key}; then {key}.");
        let shown = "key=[redacted]; then".to_owned();
        assert!(Plain::line(&text).as_str().starts_with(&shown), "{}", Plain::line(&text));
        assert!(!Plain::summary(&text).as_str().contains(&key[8..]) && has_key(&text), "{text}");
        let mut block = Block::default();
        text.chars().for_each(|c| block.push(c.encode_utf8(&mut [0; 4])));
        assert_eq!(block.into_lines(), [Plain::line(&text)], "however it is cut");
        assert_eq!(Plain::typed(&text).as_str(), text, "{text}");
    }
    for text in [
        "sk-learn-pipeline-version-2-of-all",
        "a_long_name_of_a_file_2026.txt",
        "rm ghp_abc/../../etc/passwd1234567",
        "AKIA is not a key of any size",
    ] {
        assert_eq!((Plain::line(text).as_str(), has_key(text)), (text, false));
    }
}
