//! Prints a text whose comments are attached.

use orange_codegen::Span;
use orange_codegen::syntax::layout::{WrittenForm, WrittenNode};

use super::MAX_WIDTH;
use super::attach::{Collection, CollectionItem, CommentLine, CommentedText, Trailing, Value};
use super::scalar;

/// Spaces of one level.
const STEP: usize = 2;

/// Spaces before a comment, at least.
const MIN_GAP: usize = 2;

/// The formatted text, with `\n` at the end of every line.
pub(super) fn print(text: &str, document: &CommentedText<'_>) -> String {
    let mut printer = Printer { text, out: String::new(), dash: None, open: false };
    printer.comments(&document.before, 0);
    if document.starts {
        printer.line(0, "---");
    }
    if document.root.flow
        && let Some(flow) = printer.flow(&document.root).filter(|it| width(it) <= MAX_WIDTH)
    {
        printer.root_in_one_line(&document.root, &flow);
    } else {
        printer.collection(&document.root, 0, true);
    }
    printer.out
}

struct Printer<'t> {
    text: &'t str,
    out: String,
    /// Start of the next line, in the place of its indentation.
    dash: Option<String>,
    /// True if the last scalar keeps the blank lines behind it, so that none may be added.
    open: bool,
}

impl Printer<'_> {
    fn root_in_one_line(&mut self, root: &Collection<'_>, flow: &str) {
        let leading = root.pieces.iter().flat_map(|it| &it.leading);
        for line in leading {
            self.comment(line, 0);
        }
        self.line(0, flow);
        self.comments(&root.tail, 0);
    }

    /// The pieces of a block, each on lines of its own. Between sections there is a blank line.
    fn collection(&mut self, collection: &Collection<'_>, indent: usize, of_sections: bool) {
        let mut after_section = false;
        for (at, piece) in collection.pieces.iter().enumerate() {
            let is_section = of_sections && self.is_section(piece);
            if at > 0 && (piece.blank || is_section || after_section) {
                self.blank();
            }
            after_section = is_section;
            self.comments(&piece.leading, indent);
            if piece.apart && !piece.leading.is_empty() {
                self.blank();
            }
            self.piece(piece, indent);
        }
        if collection.tail.first().is_some_and(|it| it.blank) || after_section && !collection.tail.is_empty()
        {
            self.blank();
        }
        self.comments(&collection.tail, indent);
    }

    /// Comments one below the other; whether a blank line is before the first is for others to say.
    fn comments(&mut self, lines: &[CommentLine<'_>], indent: usize) {
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                self.comment(line, indent);
            } else {
                self.line(indent, line.text);
            }
        }
    }

    fn comment(&mut self, line: &CommentLine<'_>, indent: usize) {
        if line.blank {
            self.blank();
        }
        self.line(indent, line.text);
    }

    fn piece(&mut self, piece: &CollectionItem<'_>, indent: usize) {
        let head = self.head(piece);
        match &piece.value {
            Value::Leaf { written, is_guard } => self.leaf(piece, &head, written, *is_guard, indent),
            Value::Collection(inner) => match self.in_one_line(piece, inner, indent) {
                Some(flow) => self.headline(indent, &format!("{head} {flow}"), piece.trailing.as_ref()),
                None if piece.key.is_some() => {
                    self.headline(indent, &head, piece.trailing.as_ref());
                    self.collection(inner, indent + STEP, false);
                }
                None => {
                    // What stood behind an item in brackets has no line behind its dash.
                    if let Some(trailing) = &piece.trailing {
                        self.line(indent, trailing.text);
                    }
                    // An anchor before the first key, on its line, would be the key's.
                    if piece.anchor.is_some() {
                        self.line(indent, &head);
                    } else {
                        let before = self.dash.take().unwrap_or_else(|| " ".repeat(indent));
                        self.dash = Some(format!("{before}{head} "));
                    }
                    self.collection(inner, indent + STEP, false);
                }
            },
        }
    }

    fn leaf(
        &mut self,
        piece: &CollectionItem<'_>,
        head: &str,
        written: &WrittenNode,
        is_guard: bool,
        indent: usize,
    ) {
        if let WrittenForm::Block { header, indent: inside } = &written.form {
            return self.block(piece, head, written, (*header, *inside), indent);
        }
        if let WrittenForm::Nothing = written.form {
            return self.headline(indent, head, piece.trailing.as_ref());
        }
        let lines = scalar::lines(self.text, written, is_guard, false);
        let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let Some((last, between)) = rest.split_last() else {
            return self.headline(indent, &format!("{head} {first}"), piece.trailing.as_ref());
        };
        self.line(indent, &format!("{head} {first}"));
        between.iter().for_each(|line| self.line(indent + STEP, line));
        self.headline(indent + STEP, last, piece.trailing.as_ref());
    }

    /// A scalar below `|` or `>`: its lines are moved and otherwise left alone.
    fn block(
        &mut self,
        piece: &CollectionItem<'_>,
        head: &str,
        written: &WrittenNode,
        (header, inside): (Span, usize),
        indent: usize,
    ) {
        let signs = &self.text[header.range()];
        let body = self.text[header.end as usize..written.span.end.max(header.end) as usize].split_once('\n');
        let lines: Vec<&str> =
            body.map_or("", |(_, body)| body).lines().map(|it| without_indent(it, inside)).collect();
        let keeps = signs.contains('+');
        let needs_number = lines.iter().find(|it| !it.is_empty()).is_some_and(|it| it.starts_with(' '));
        let number = if needs_number { "2" } else { "" };
        let chomp = if keeps {
            "+"
        } else if signs.contains('-') {
            "-"
        } else {
            ""
        };
        self.headline(indent, &format!("{head} {}{number}{chomp}", &signs[..1]), piece.trailing.as_ref());
        for line in lines {
            self.text_line(indent + STEP, line);
        }
        self.open = keeps;
    }

    /// A key with its colon, or a dash, and the anchor of what follows.
    fn head(&self, piece: &CollectionItem<'_>) -> String {
        let anchor = piece.anchor.map_or(String::new(), |it| format!(" {}", &self.text[it.range()]));
        piece.key.map_or_else(|| format!("-{anchor}"), |key| format!("{}:{anchor}", self.key(key, false)))
    }

    fn key(&self, key: &WrittenNode, in_flow: bool) -> String {
        let anchor = key.anchor.map_or(String::new(), |it| format!("{} ", &self.text[it.range()]));
        let space = if let WrittenForm::Alias = key.form { " " } else { "" };
        format!("{anchor}{}{space}", scalar::lines(self.text, key, false, in_flow).join(" "))
    }

    fn is_section(&self, piece: &CollectionItem<'_>) -> bool {
        match &piece.value {
            Value::Leaf { written, .. } => matches!(written.form, WrittenForm::Block { .. }),
            Value::Collection(inner) => self.in_one_line(piece, inner, 0).is_none(),
        }
    }

    /// A collection between brackets, where the author has put it there and it fits.
    fn in_one_line(
        &self,
        piece: &CollectionItem<'_>,
        inner: &Collection<'_>,
        indent: usize,
    ) -> Option<String> {
        let flow = self.flow(inner)?;
        let used = self.dash.as_deref().map_or(indent, width) + width(&self.head(piece)) + 1;
        (inner.pieces.is_empty() || used + width(&flow) <= MAX_WIDTH).then_some(flow)
    }

    fn flow(&self, collection: &Collection<'_>) -> Option<String> {
        if !collection.flow || collection.commented && !collection.pieces.is_empty() {
            return None;
        }
        let pieces: Option<Vec<String>> = collection.pieces.iter().map(|it| self.flow_piece(it)).collect();
        let inside = pieces?.join(", ");
        Some(if collection.is_mapping { format!("{{{inside}}}") } else { format!("[{inside}]") })
    }

    fn flow_piece(&self, piece: &CollectionItem<'_>) -> Option<String> {
        let value = match &piece.value {
            Value::Leaf { written, is_guard } => {
                match scalar::lines(self.text, written, *is_guard, true).as_slice() {
                    [line] => line.clone(),
                    _ => return None,
                }
            }
            Value::Collection(inner) => self.flow(inner)?,
        };
        let anchor = piece.anchor.map_or(String::new(), |it| format!("{} ", &self.text[it.range()]));
        let key = piece.key.map_or(String::new(), |key| format!("{}: ", self.key(key, true)));
        Some(format!("{key}{anchor}{value}"))
    }

    fn headline(&mut self, indent: usize, text: &str, trailing: Option<&Trailing<'_>>) {
        match trailing {
            Some(Trailing { gap, text: comment }) => {
                self.line(indent, &format!("{text}{}{comment}", " ".repeat((*gap).max(MIN_GAP))));
            }
            None => self.line(indent, text),
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.text_line(indent, text.trim_end());
    }

    fn text_line(&mut self, indent: usize, text: &str) {
        self.open = false;
        match self.dash.take() {
            Some(dash) => self.out.push_str(&dash),
            None if text.is_empty() => {}
            None => self.out.extend(std::iter::repeat_n(' ', indent)),
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn blank(&mut self) {
        if !self.open && !self.out.is_empty() {
            self.out.push('\n');
        }
    }
}

fn without_indent(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indent)..]
}

fn width(text: &str) -> usize {
    text.chars().count()
}
