//! The lines of a task's body, and its sections.

/// A line of a body.
#[derive(Clone, Debug)]
pub(super) struct ReferenceLine {
    pub(super) text: String,
    /// True if it belongs to a fenced code block, including the fences.
    pub(super) code: bool,
    /// True if it belongs to an HTML comment that begins a line.
    pub(super) comment: bool,
}

/// The lines of the last section with this heading, up to a heading of the same or a higher level.
pub(super) fn section(body: &str, wanted: &str) -> Option<Vec<ReferenceLine>> {
    let (level, title) = heading(wanted)?;
    let mut sections: Vec<Vec<ReferenceLine>> = Vec::new();
    let mut inside = false;
    for line in lines(body) {
        match heading(&line.text).filter(|_| !line.code && !line.comment) {
            Some(found) if found == (level, title.clone()) => {
                sections.push(Vec::new());
                inside = true;
                continue;
            }
            Some((found, _)) if found <= level => inside = false,
            Some(_) | None => {}
        }
        if let Some(section) = sections.last_mut().filter(|_| inside) {
            section.push(line);
        }
    }
    sections.pop()
}

fn lines(body: &str) -> Vec<ReferenceLine> {
    let mut open: Option<(char, usize)> = None;
    let mut in_comment = false;
    let mut lines = Vec::new();
    for text in body.lines() {
        let spaces = text.len() - text.trim_start_matches(' ').len();
        if in_comment || (open.is_none() && spaces <= 3 && text[spaces..].starts_with("<!--")) {
            in_comment = !text.contains("-->");
            lines.push(ReferenceLine { text: text.to_string(), code: false, comment: true });
            continue;
        }
        let fence = fence(text);
        let code = open.is_some() || fence.as_ref().is_some_and(|fence| fence.opens);
        open = match (open, fence) {
            (Some((mark, length)), Some(fence))
                if fence.closes && fence.mark == mark && fence.length >= length =>
            {
                None
            }
            (Some(open), _) => Some(open),
            (None, Some(fence)) if fence.opens => Some((fence.mark, fence.length)),
            (None, _) => None,
        };
        lines.push(ReferenceLine { text: text.to_string(), code, comment: false });
    }
    lines
}

/// A line that may open or close a fenced code block (CommonMark).
struct FenceLine {
    mark: char,
    length: usize,
    opens: bool,
    closes: bool,
}

fn fence(line: &str) -> Option<FenceLine> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    if line.len() - text.len() > 3 || length < 3 {
        return None;
    }
    let info = &text[length..];
    Some(FenceLine {
        mark,
        length,
        opens: mark == '~' || !info.contains('`'),
        closes: info.trim().is_empty(),
    })
}

/// The level and the text of a heading (CommonMark, ATX).
fn heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches(' ');
    let level = text.chars().take_while(|c| *c == '#').count();
    let rest = &text[level..];
    let is_heading = line.len() - text.len() <= 3 && (1..=6).contains(&level);
    if !is_heading || !(rest.is_empty() || rest.starts_with(' ') || rest.starts_with('\t')) {
        return None;
    }
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    if words.last().is_some_and(|word| word.chars().all(|c| c == '#')) {
        words.pop();
    }
    Some((level, words.join(" ")))
}
