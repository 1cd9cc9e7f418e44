//! Pages as readable text: well in the worker, or roughly where a page breaks the converter.

use html2text::config;

/// Column that text is wrapped at.
const WIDTH: usize = 120;

/// Headings, lists, links and tables as plain text. May take for ever on a hostile page: only for the worker.
pub(super) fn to_text(html: &str) -> Result<String, String> {
    let text = config::plain().link_footnotes(false).no_table_borders().string_from_read(html.as_bytes(), WIDTH);
    text.map_err(|cause| cause.to_string())
}

/// The text between tags, in linear time: scripts and styles left out, the usual entities put in.
pub(in crate::tools) fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        rest = &rest[open..];
        let hidden = ["script", "style", "!--"].iter().find(|name| starts(&rest[1..], name));
        let end = match hidden {
            Some(&"!--") => rest.find("-->").map(|at| at + 3),
            Some(name) => close(rest, name),
            None => rest.find('>').map(|at| at + 1),
        };
        let Some(end) = end else {
            rest = "";
            break;
        };
        text.push(' ');
        rest = &rest[end..];
    }
    text.push_str(rest);
    let text = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, sign)| text.replace(entity, sign));
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn starts(text: &str, name: &str) -> bool {
    text.as_bytes().get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
}

/// Behind the end tag of an element whose inside is no text.
fn close(text: &str, name: &str) -> Option<usize> {
    let tag = format!("</{name}");
    let at = text.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))?;
    text[at..].find('>').map(|end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_readable() {
        let text = to_text("<h1>Title</h1><p>Some <b>words</b>.<ul><li>one<li>two</ul><script>evil()</script>").unwrap();
        assert!(text.contains("Title") && text.contains("Some **words**.") && text.contains("* one") && !text.contains("evil"), "{text}");
    }

    #[test]
    fn stripping_leaves_the_text_of_any_page() {
        assert_eq!(strip_tags("<p>a &lt; b<SCRIPT>x</Script><!-- <p> -->c</p>\n\n<i>d"), "a < b c\nd");
        assert_eq!(strip_tags("a<b"), "a");
        assert_eq!(strip_tags("<script>never closed"), "");
        assert_eq!(strip_tags("<ä>ü<"), "ü");
        assert!(strip_tags(&"<b>".repeat(500_000)).is_empty());
    }
}
