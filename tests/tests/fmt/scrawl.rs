//! Writes a workflow as nobody should: any indentation, any quotes, any order of keys, brackets and comments anywhere.

use orange_codegen::syntax::{Node, NodeKind, ScalarForm};
use orange_testkit::Random;

/// A scrawled text, and what is known of the comments in it.
#[derive(Debug)]
pub(crate) struct Scrawl {
    /// The text.
    pub text: String,
    /// Its comments, each of them different from all others.
    pub notes: Vec<ScrawlComment>,
}

/// A comment.
#[derive(Debug)]
pub(crate) struct ScrawlComment {
    /// From its `#` on.
    pub text: String,
    /// Its subject.
    pub about: CommentSubject,
}

/// Subject of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommentSubject {
    /// The entry with this key, which it stands above.
    Below(String),
    /// The item that it stands above.
    Item,
    /// The item between brackets that it stands behind. It may come to stand above it.
    Bracketed,
    /// The text before it on its line, where this word is.
    Line(String),
    /// Nothing that a test could tell.
    Nothing,
}

/// Keys of which every mapping of known keys has one. Their order says nothing; that of names does.
const TELLING: [&str; 6] = ["name", "from", "action", "section", "status", "when"];

/// Writes a tree as text.
pub(crate) fn scrawl(random: &mut Random, tree: &Node) -> Scrawl {
    let mut writer = ScrawlWriter { random, out: String::new(), notes: Vec::new() };
    if writer.random.chance(30) {
        writer.comment_line(0, CommentSubject::Nothing);
    }
    if writer.random.chance(20) {
        writer.out += "---\n";
    }
    writer.block(tree, 0);
    Scrawl { text: writer.out, notes: writer.notes }
}

struct ScrawlWriter<'r> {
    random: &'r mut Random,
    out: String,
    notes: Vec<ScrawlComment>,
}

impl ScrawlWriter<'_> {
    /// A collection on lines of its own; the first begins where the writer stands, if that is behind a dash.
    fn block(&mut self, node: &Node, indent: usize) {
        match &node.kind {
            NodeKind::Mapping(entries) => {
                for (at, (key, value)) in self.shuffled(entries).into_iter().enumerate() {
                    self.start(at, indent, CommentSubject::Below(plain_text(key)));
                    self.entry(key, value, indent);
                }
            }
            NodeKind::Sequence(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.start(at, indent, CommentSubject::Item);
                    self.item(item, indent);
                }
            }
            NodeKind::Scalar(_) => unreachable!("scalars are written in a line"),
        }
        if self.random.chance(10) {
            self.comment_line(indent, CommentSubject::Nothing);
        }
    }

    /// Begins a piece: blank lines, comments, indentation. Not the first, which may be behind a dash.
    fn start(&mut self, at: usize, indent: usize, about: CommentSubject) {
        if self.out.ends_with("- ") {
            return;
        }
        self.blank_lines();
        if self.random.chance(12) && (at > 0 || indent > 0) {
            self.comment_line(indent, about);
            self.blank_lines();
        }
        self.out += &" ".repeat(indent);
    }

    fn entry(&mut self, key: &Node, value: &Node, indent: usize) {
        let word = plain_text(key);
        let written = self.scalar(key, false);
        self.out += &format!("{written}:");
        match &value.kind {
            NodeKind::Scalar(_) => self.leaf(value, indent, &word),
            NodeKind::Mapping(_) | NodeKind::Sequence(_) if is_empty(value) || self.random.chance(25) => {
                self.flow_behind(value, &word);
            }
            NodeKind::Mapping(_) => {
                self.end_of_line(CommentSubject::Line(word.clone()));
                let step = 1 + self.random.below(6);
                self.block(value, indent + step);
            }
            NodeKind::Sequence(_) => {
                self.end_of_line(CommentSubject::Line(word.clone()));
                let step = self.random.below(5);
                self.block(value, indent + step);
            }
        }
    }

    fn item(&mut self, value: &Node, indent: usize) {
        self.out.push('-');
        match &value.kind {
            NodeKind::Scalar(_) => {
                let word = plain_text(value);
                self.leaf(value, indent, &word);
            }
            NodeKind::Mapping(_) | NodeKind::Sequence(_) if is_empty(value) || self.random.chance(25) => {
                self.spaces();
                self.flow(value);
                self.end_of_line(CommentSubject::Bracketed);
            }
            NodeKind::Mapping(_) | NodeKind::Sequence(_) => {
                self.out.push(' ');
                self.block(value, indent + 2);
            }
        }
    }

    /// A scalar behind a key or a dash.
    fn leaf(&mut self, value: &Node, indent: usize, word: &str) {
        let NodeKind::Scalar(scalar) = &value.kind else { unreachable!("a leaf is a scalar") };
        let text = &scalar.text.value;
        let is_text = text.ends_with('\n') && !text.starts_with([' ', '\n']) && !text.ends_with("\n\n");
        if scalar.style == ScalarForm::Quoted && is_text && !text.contains(['\t', '\r']) {
            self.out += " |";
            self.end_of_line(CommentSubject::Line(word.to_owned()));
            let indent = indent + 1 + self.random.below(5);
            for line in text.lines() {
                let indent = if line.is_empty() { 0 } else { indent };
                self.out += &format!("{}{line}\n", " ".repeat(indent));
            }
            return;
        }
        let written = self.scalar(value, false);
        if self.random.chance(5) && !written.is_empty() {
            self.out += &format!("\n{}{written}", " ".repeat(indent + 1));
            self.out.push('\n');
            return;
        }
        self.spaces();
        self.out += &written;
        let word = written.trim_matches(['"', '\'']).to_owned();
        self.end_of_line(if written.is_empty() {
            CommentSubject::Nothing
        } else {
            CommentSubject::Line(word)
        });
    }

    /// A scalar in one line, in one of the forms with the same meaning.
    fn scalar(&mut self, node: &Node, in_flow: bool) -> String {
        let NodeKind::Scalar(scalar) = &node.kind else { unreachable!("a scalar is wanted") };
        let text = &scalar.text.value;
        let is_word = text.starts_with(|it: char| it.is_ascii_alphabetic())
            && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it));
        let is_no_text =
            text.bytes().all(|it| it.is_ascii_digit()) || matches!(text.as_str(), "true" | "false" | "null");
        let is_plain =
            scalar.style == ScalarForm::Plain && !(in_flow && text.contains(['[', ']', '{', '}', ',']));
        match self.random.below(3) {
            _ if scalar.style == ScalarForm::Plain && is_no_text => text.clone(),
            0 if is_word || is_plain => text.clone(),
            1 if !text.contains(['\n', '\t', '\r']) => format!("'{}'", text.replace('\'', "''")),
            _ => format!("\"{}\"", text.chars().map(escaped).collect::<String>()),
        }
    }

    fn flow_behind(&mut self, value: &Node, word: &str) {
        self.spaces();
        self.flow(value);
        let is_split = self.out.lines().next_back().is_some_and(|line| !line.contains(word));
        self.end_of_line(if is_split {
            CommentSubject::Nothing
        } else {
            CommentSubject::Line(word.to_owned())
        });
    }

    fn flow(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Scalar(_) => {
                let written = self.scalar(node, true);
                self.out += &written;
            }
            NodeKind::Sequence(items) => {
                self.out.push('[');
                for item in items {
                    self.break_in_flow();
                    self.flow(item);
                    self.comma();
                }
                self.out.push(']');
            }
            NodeKind::Mapping(entries) => {
                self.out.push('{');
                for (key, value) in self.shuffled(entries) {
                    self.break_in_flow();
                    self.flow(key);
                    self.out += ": ";
                    self.flow(value);
                    self.comma();
                }
                self.out.push('}');
            }
        }
    }

    fn comma(&mut self) {
        let space = if self.random.chance(20) { " " } else { "" };
        self.out += &format!("{space}, ");
        if self.random.chance(2) {
            self.note(CommentSubject::Nothing);
            self.out += &format!("\n{}", " ".repeat(30));
        }
    }

    fn break_in_flow(&mut self) {
        if self.random.chance(4) {
            self.out += &format!("\n{}", " ".repeat(30));
        }
    }

    /// Ends the line, perhaps with a comment.
    fn end_of_line(&mut self, about: CommentSubject) {
        if self.random.chance(15) {
            self.spaces();
            self.note(about);
        } else if self.random.chance(10) {
            self.spaces();
        }
        self.out.push('\n');
    }

    fn comment_line(&mut self, indent: usize, about: CommentSubject) {
        self.out += &" ".repeat(indent);
        self.note(about);
        self.out.push('\n');
    }

    fn note(&mut self, about: CommentSubject) {
        let text = format!("# note {:04}: it's [so] \"odd\" | {{x}}", self.notes.len());
        self.out += &text;
        self.notes.push(ScrawlComment { text, about });
    }

    fn blank_lines(&mut self) {
        for _ in 0..if self.random.chance(20) { 1 + self.random.below(3) } else { 0 } {
            self.out += if self.random.chance(30) { " \n" } else { "\n" };
        }
    }

    fn spaces(&mut self) {
        let count = 1 + if self.random.chance(20) { self.random.below(20) } else { 0 };
        self.out += &" ".repeat(count);
    }

    fn shuffled<'n>(&mut self, entries: &'n [(Node, Node)]) -> Vec<&'n (Node, Node)> {
        let mut shuffled: Vec<_> = entries.iter().collect();
        if entries.iter().any(|(key, _)| TELLING.contains(&plain_text(key).as_str())) {
            for last in (1..shuffled.len()).rev() {
                shuffled.swap(last, self.random.below(last + 1));
            }
        }
        shuffled
    }
}

/// A character as it stands between double quotes.
fn escaped(it: char) -> String {
    match it {
        '"' | '\\' => format!("\\{it}"),
        '\n' => "\\n".to_owned(),
        _ if it.is_control() || matches!(it, '\u{2000}'..='\u{206f}') => format!("\\u{:04x}", u32::from(it)),
        _ => it.to_string(),
    }
}

fn plain_text(node: &Node) -> String {
    match &node.kind {
        NodeKind::Scalar(scalar) => scalar.text.value.clone(),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => String::new(),
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Scalar(_) => false,
        NodeKind::Sequence(items) => items.is_empty(),
        NodeKind::Mapping(entries) => entries.is_empty(),
    }
}
