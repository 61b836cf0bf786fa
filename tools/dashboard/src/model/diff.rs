//! The changes of a task: files, hunks, and comments on lines.

use std::collections::BTreeMap;

/// The changes of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDiff {
    /// Its lines; those that judge the work come first.
    pub lines: Vec<DiffLine>,
    /// The number of the selected line.
    pub selected: usize,
    /// The comments, by the number of their line.
    pub comments: BTreeMap<usize, String>,
}

/// A line of the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: LineKind,
    /// Its text, as git has it.
    pub text: String,
    /// The file that it belongs to.
    pub file: String,
    /// The number of the line in the new file; in the old one for a line that is gone.
    pub number: Option<usize>,
}

/// RowKind of a line of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A remark about the work.
    Said,
    /// The name of a file.
    File,
    /// The beginning of a hunk.
    Hunk,
    /// A line that is new.
    Added,
    /// A line that is gone.
    Removed,
    /// A line that stays, or that says something else.
    Other,
}

impl TaskDiff {
    /// Reads what git writes.
    pub fn parse(text: &str) -> TaskDiff {
        let mut lines = Vec::new();
        let (mut file, mut old, mut new, mut is_hunk) = (String::new(), 0, 0, false);
        for text in text.lines() {
            let text = text.strip_suffix('\r').unwrap_or(text);
            let mut number = None;
            let kind = if let Some(names) = text.strip_prefix("diff --git ") {
                is_hunk = false;
                file = name_of(names);
                LineKind::File
            } else if text.starts_with("@@") {
                (old, new) = begin(text);
                is_hunk = true;
                LineKind::Hunk
            } else if is_hunk && text.starts_with('+') {
                number = Some(new);
                new += 1;
                LineKind::Added
            } else if is_hunk && text.starts_with('-') {
                number = Some(old);
                old += 1;
                LineKind::Removed
            } else {
                if is_hunk && text.starts_with(' ') {
                    number = Some(new);
                    old += 1;
                    new += 1;
                }
                LineKind::Other
            };
            // The name stands in the line of the file already.
            let is_noise = !is_hunk && ["index ", "--- ", "+++ "].iter().any(|it| text.starts_with(it));
            if !is_noise {
                let text = if kind == LineKind::File { file.clone() } else { text.to_owned() };
                lines.push(DiffLine { kind, text, file: file.clone(), number });
            }
        }
        TaskDiff { lines, ..TaskDiff::default() }
    }

    /// Puts what is said about the work before its changes, instead of what was there.
    pub fn judge(&mut self, text: String) {
        let before = self.lines.iter().take_while(|line| line.kind == LineKind::Said).count();
        let said: Vec<DiffLine> = text
            .lines()
            .map(|text| DiffLine {
                kind: LineKind::Said,
                text: text.to_owned(),
                file: "TASK.md".to_owned(),
                number: None,
            })
            .collect();
        let moved = |at: usize| if at < before { at.min(said.len()) } else { at - before + said.len() };
        if self.selected > 0 {
            self.selected = moved(self.selected);
        }
        self.comments =
            std::mem::take(&mut self.comments).into_iter().map(|(at, it)| (moved(at), it)).collect();
        self.lines.splice(..before, said);
        self.selected = self.selected.min(self.lines.len().saturating_sub(1));
    }

    /// True if nothing has changed.
    pub fn is_unchanged(&self) -> bool {
        self.lines.iter().all(|line| line.kind == LineKind::Said)
    }

    /// Adds the comments on older changes, at their lines where those are still there.
    #[must_use]
    pub fn with_comments_of(mut self, older: &TaskDiff) -> TaskDiff {
        for (at, comment) in &older.comments {
            let Some(line) = older.lines.get(*at) else { continue };
            let is_same =
                |it: &DiffLine| (&it.file, &it.text, it.kind) == (&line.file, &line.text, line.kind);
            let found = (0..self.lines.len())
                .filter(|it| is_same(&self.lines[*it]))
                .min_by_key(|it| it.abs_diff(*at));
            // A comment on a line that is gone stays with the nearest line, so that it is not lost.
            let last = self.lines.len().saturating_sub(1);
            let entry = self.comments.entry(found.unwrap_or_else(|| (*at).min(last))).or_default();
            if !entry.is_empty() {
                entry.push_str("; ");
            }
            entry.push_str(comment);
        }
        self.selected = older.selected.min(self.lines.len().saturating_sub(1));
        self
    }

    /// Moves the selection by so many lines.
    pub fn step(&mut self, by: isize) {
        let last = self.lines.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Selects the next line of a kind, or the one before.
    pub fn jump(&mut self, kinds: &[LineKind], forward: bool) {
        let is_wanted = |at: &usize| kinds.contains(&self.lines[*at].kind);
        let found = match forward {
            true => (self.selected + 1..self.lines.len()).find(is_wanted),
            false => (0..self.selected.min(self.lines.len())).rev().find(is_wanted),
        };
        self.selected = found.unwrap_or(self.selected);
    }

    /// Comments on the selected line; an empty comment removes what was there.
    pub fn comment(&mut self, text: &str) {
        match text.trim() {
            "" => drop(self.comments.remove(&self.selected)),
            text => drop(self.comments.insert(self.selected, text.to_owned())),
        }
    }

    /// The comments as a text for the agent: file, line and what is said about it.
    pub fn review(&self) -> String {
        let mut review = String::new();
        for (at, comment) in &self.comments {
            let Some(line) = self.lines.get(*at) else { continue };
            let number = line.number.map(|number| format!(":{number}")).unwrap_or_default();
            // What follows the first line stays in the item of the list.
            let comment = comment.replace('\n', "\n  ");
            review += &format!("- `{}{number}`: {comment}\n", line.file);
            if line.number.is_some() {
                review += &format!("  `{}`\n", line.text.replace('`', "'"));
            }
        }
        review
    }

    /// Number of changed files, added lines and removed lines.
    pub fn size(&self) -> (usize, usize, usize) {
        let count = |kind| self.lines.iter().filter(|line| line.kind == kind).count();
        (count(LineKind::File), count(LineKind::Added), count(LineKind::Removed))
    }
}

/// The name of the new file in `a/old b/new`.
fn name_of(names: &str) -> String {
    let new = names.rfind(" b/").map_or(names, |at| &names[at + 3..]);
    new.trim_matches('"').to_owned()
}

/// The first lines of a hunk, from `@@ -1,2 +3,4 @@`.
fn begin(text: &str) -> (usize, usize) {
    let number = |sign: char| {
        let rest = text.split(sign).nth(1).unwrap_or_default();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(1)
    };
    (number('-'), number('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGES: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -3,3 +3,4 @@ fn a() {
 let a = 1;
-let b = 2;
+let b = 3;
++++ c
 end
diff --git a/new file b/new file
new file mode 100644
--- /dev/null
+++ b/new file
@@ -0,0 +1 @@
+x
";

    #[test]
    fn lines_have_files_and_numbers() {
        let diff = TaskDiff::parse(CHANGES);
        let lines: Vec<_> = diff.lines.iter().map(|it| (it.kind, it.text.as_str(), it.number)).collect();
        assert_eq!(
            lines,
            [
                (LineKind::File, "src/a.rs", None),
                (LineKind::Hunk, "@@ -3,3 +3,4 @@ fn a() {", None),
                (LineKind::Other, " let a = 1;", Some(3)),
                (LineKind::Removed, "-let b = 2;", Some(4)),
                (LineKind::Added, "+let b = 3;", Some(4)),
                (LineKind::Added, "++++ c", Some(5)),
                (LineKind::Other, " end", Some(6)),
                (LineKind::File, "new file", None),
                (LineKind::Other, "new file mode 100644", None),
                (LineKind::Hunk, "@@ -0,0 +1 @@", None),
                (LineKind::Added, "+x", Some(1)),
            ]
        );
        assert_eq!(diff.size(), (2, 3, 1));
    }

    #[test]
    fn comments_follow_their_lines() {
        let mut diff = TaskDiff::parse(CHANGES);
        diff.jump(&[LineKind::Hunk], true);
        diff.step(3);
        diff.comment("Why 3?");
        assert_eq!(diff.review(), "- `src/a.rs:4`: Why 3?\n  `+let b = 3;`\n");
        let newer = TaskDiff::parse(&CHANGES.replace(" let a = 1;\n", " let a = 1;\n+let z = 0;\n"));
        let newer = newer.with_comments_of(&diff);
        assert_eq!(newer.review(), "- `src/a.rs:5`: Why 3?\n  `+let b = 3;`\n");
        let gone = TaskDiff::parse("").with_comments_of(&diff);
        assert_eq!(gone.comments.len(), 1, "a comment is not lost");
    }
}
