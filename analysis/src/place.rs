//! Paths to parts of a workflow, in words that stay true when lines move: `transitions[stuck→working].hooks[spawn_agent]`.

use std::collections::HashMap;

use orange_codegen::span::Span;
use orange_codegen::syntax::{Node, NodeKind};

/// Keys that name an item of a list; the first one that the item has counts.
const NAMING: [&str; 5] = ["id", "name", "status", "action", "then"];

/// The places of one source.
#[derive(Debug)]
pub struct Places {
    /// Sorted by where they begin, outer ones before inner ones.
    nodes: Vec<Placed>,
    steps: Vec<PathSegment>,
}

#[derive(Debug)]
struct Placed {
    span: Span,
    /// The last step of the path to it.
    step: usize,
    /// The node that it stands in.
    inside: Option<usize>,
}

/// One step of a path from the top: `.hooks`, `[stuck→working]`.
#[derive(Debug)]
struct PathSegment {
    before: Option<usize>,
    name: String,
}

impl Places {
    /// Reads a syntax tree; without one there is only the file as a whole.
    pub fn new(tree: Option<&Node>) -> Self {
        let top = PathSegment { before: None, name: String::new() };
        let mut places = Self { nodes: Vec::new(), steps: vec![top] };
        tree.into_iter().for_each(|tree| places.add(tree, 0));
        places.nodes.sort_by_key(|it| (it.span.start, std::cmp::Reverse(it.span.end)));
        places.nest();
        places
    }

    /// The path to the innermost thing that covers this span: `states.working`, `.` for the file as a whole.
    ///
    /// Items of lists go by what they are about: transitions by their ends, deadlines by their states, hooks by their action,
    /// rules by their status. Where several have one name, the second of them is `[name#2]`.
    pub fn of(&self, span: Span) -> String {
        let covers =
            |it: &usize| self.nodes[*it].span.start <= span.start && span.end <= self.nodes[*it].span.end;
        let nearest = self.nodes.partition_point(|it| it.span.start <= span.start).checked_sub(1);
        let node = std::iter::successors(nearest, |it| self.nodes[*it].inside).find(covers);
        let mut names = Vec::new();
        let mut step = node.map(|it| self.nodes[it].step);
        while let Some(PathSegment { before, name }) = step.map(|it| &self.steps[it]) {
            names.push(name.as_str());
            step = *before;
        }
        names.reverse();
        match names.concat().trim_start_matches('.') {
            "" => ".".to_owned(),
            name => name.to_owned(),
        }
    }

    fn add(&mut self, node: &Node, step: usize) {
        self.place(node.span, step);
        match &node.kind {
            NodeKind::Scalar(_) => {}
            NodeKind::Sequence(items) => {
                let mut seen: HashMap<String, usize> = HashMap::new();
                for (number, item) in items.iter().enumerate() {
                    let name = name(item).unwrap_or_else(|| number.to_string());
                    let times = seen.entry(name.clone()).or_default();
                    *times += 1;
                    let name = if *times == 1 { format!("[{name}]") } else { format!("[{name}#{times}]") };
                    let step = self.step(step, name);
                    self.add(item, step);
                }
            }
            NodeKind::Mapping(entries) => {
                for (key, value) in entries {
                    let step = self.step(step, format!(".{}", key.text().unwrap_or("?")));
                    if key.span.start <= value.span.end {
                        self.place(key.span.to(value.span), step);
                    }
                    self.place(key.span, step);
                    self.add(value, step);
                }
            }
        }
    }

    fn step(&mut self, before: usize, name: String) -> usize {
        self.steps.push(PathSegment { before: Some(before), name });
        self.steps.len() - 1
    }

    fn place(&mut self, span: Span, step: usize) {
        self.nodes.push(Placed { span, step, inside: None });
    }

    /// Finds for each node the one that it stands in.
    fn nest(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.nodes.len() {
            let end = self.nodes[at].span.end;
            while open.last().is_some_and(|it| self.nodes[*it].span.end < end) {
                open.pop();
            }
            self.nodes[at].inside = open.last().copied();
            open.push(at);
        }
    }
}

/// Name of an item of a list.
fn name(item: &Node) -> Option<String> {
    if let Some(text) = item.text() {
        return Some(text.to_owned());
    }
    if let (Some(from), Some(to)) = (item.value_of("from"), item.value_of("to")) {
        return Some(format!("{}→{}", words(from), words(to)));
    }
    if let Some(states) = item.value_of("states") {
        return Some(words(states));
    }
    NAMING.iter().find_map(|key| item.value_of(key)?.text()).map(str::to_owned)
}

/// A word, or all words of a list.
fn words(node: &Node) -> String {
    match &node.kind {
        NodeKind::Sequence(items) => items.iter().filter_map(Node::text).collect::<Vec<_>>().join(","),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => node.text().unwrap_or("?").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_codegen::source::Source;
    use orange_codegen::syntax;

    /// The place of what stands between `«` and `»`.
    #[track_caller]
    fn check(path: &str, text: &str, expect: &str) {
        let (start, end) = (text.find('«').unwrap_or(0), text.find('»').unwrap_or(0));
        let span = Span::new(start as u32, end.saturating_sub('«'.len_utf8()) as u32);
        let (tree, found) = syntax::parse(&Source::new(path, text.replace(['«', '»'], "")));
        let tree = tree.unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(Places::new(Some(&tree)).of(span), expect, "{text}");
    }

    #[test]
    fn in_yaml() {
        check("a.yml", "name: «flow»\n", "name");
        check("a.yml", "«name»: flow\n", "name");
        check("a.yml", "x: 1\n«name: flow»\n", "name");
        check("a.yml", "# c\nname: flow\n", ".");
        check("a.yml", "states:\n  a: {}\n  b: {terminal: «true»}\n", "states.b.terminal");
        check("a.yml", "states:\n  a: {}\n  b: «{terminal: true}»\n", "states.b");
        check("a.yml", "states:\n  a: {}\n  «b»: {terminal: true}\n", "states.b");
        check("a.yml", "«states:\n  a: {}\n  b: {terminal: true}»\nx: 1\n", "states");
        check("a.yml", "prompts:\n  p: |\n    one\n    «two»\n", "prompts.p");
        check("a.yml", "states: # «here»\n  a: {}\n", "states");
    }

    #[test]
    fn lists_go_by_names() {
        let head = "transitions:\n  - {from: a, to: b}\n  - from: [a, b]\n    to: c\n    hooks:\n";
        check(
            "a.yml",
            &format!("{head}      - {{action: «spawn»}}\n"),
            "transitions[a,b→c].hooks[spawn].action",
        );
        check("a.yml", &format!("{head}      - «{{action: x}}»\n"), "transitions[a,b→c].hooks[x]");
        check(
            "a.yml",
            &format!("{head}      - {{action: x}}\n      - {{action: «x»}}\n"),
            "transitions[a,b→c].hooks[x#2].action",
        );
        check("a.yml", &head.replace("[a, b]", "[a, «b»]"), "transitions[a,b→c].from[b]");
        check("a.yml", "transitions:\n  - {from: a, to: b}\n  - «{from: a, to: b}»\n", "transitions[a→b#2]");
        check("a.yml", "deadlines:\n  - {states: [a, b], after: «4h», then: c}\n", "deadlines[a,b].after");
        check("a.yml", "rules:\n  - {action: crash, status: «w»}\n", "rules[w].status");
        check("a.yml", "x:\n  - [1]\n  - [«2»]\n", "x[1][2]");
    }

    #[test]
    fn in_toml() {
        let text = "name = 'x'\n[states.a]\nterminal = true\n[[transitions]]\nfrom = 'a'\nto = 'b'\n[[transitions]]\nfrom = 'a'\nto = 'c'\n";
        let mark = |what: &str| text.replacen(what, &format!("«{what}»"), 1);
        check("a.toml", &mark("[states.a]"), "states.a");
        check("a.toml", &mark("true"), "states.a.terminal");
        check("a.toml", &mark("[[transitions]]"), "transitions[a→b]");
        check("a.toml", &mark("'c'"), "transitions[a→c].to");
        check(
            "a.toml",
            &text.replacen(
                "\n[[transitions]]\nfrom = 'a'\nto = 'c'",
                "\n«[[transitions]]»\nfrom = 'a'\nto = 'c'",
                1,
            ),
            "transitions[a→c]",
        );
    }

    #[test]
    fn a_place_stays_when_lines_move() {
        let text = "states: {a: {}, b: {}}\ntransitions:\n  - {from: a, to: «b»}\n";
        check("a.yml", text, "transitions[a→b].to");
        check(
            "a.yml",
            &text.replace("transitions:\n", "transitions:\n\n  # More.\n  - {from: b, to: a}\n"),
            "transitions[a→b].to",
        );
    }
}
