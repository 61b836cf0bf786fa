//! Writing one section of a body.

use orange_core::{Heading, section};

use super::Impossible;

/// Replaces what stands in a section, or adds the section at the end.
pub(super) fn write_section(body: &mut String, heading: &str, text: &str) -> Result<(), Impossible> {
    if Heading::parse(heading).is_none() {
        return Err(Impossible(format!("`{heading}` is not a heading: write `## Name`")));
    }
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
    let text = format!("{}\n", text.trim_end_matches('\n'));
    match section(body, heading).map(|old| (offset(body, old), old.len())) {
        Some((start, length)) => body.replace_range(start..start + length, &text),
        None => body.extend([heading, "\n", &text]),
    }
    Ok(())
}

/// Byte offset of `part` in `text`, of which it is a slice.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, text: &str, expect: &str) {
        let mut body = body.to_owned();
        write_section(&mut body, "## S", text).expect("a heading");
        assert_eq!(body, expect);
    }

    #[test]
    fn a_section_is_replaced_or_added() {
        check("", "x", "## S\nx\n");
        check("intro", "x", "intro\n## S\nx\n");
        check("## S\nold\n## T\nt\n", "new\n", "## S\nnew\n## T\nt\n");
        check("## S", "new", "## S\nnew\n");
    }

    #[test]
    fn what_is_no_heading_is_refused() {
        let mut body = String::from("kept");
        assert!(write_section(&mut body, "Handoff", "x").is_err());
        assert_eq!(body, "kept");
    }
}
