//! Reads a configuration and reports its errors with their places.

use orange_codegen::syntax::{self, Node, NodeKind};
use orange_codegen::{Format, Level, LineIndex, Source, Span, suggest};

use super::glob::Glob;
use super::{Config, ForPaths, PageUrl};
use crate::answer::Failure;
use crate::levels::{Levels, WARNINGS};

/// The words for levels.
const LEVELS: [(&str, Level); 4] =
    [("allow", Level::Allow), ("info", Level::Info), ("warn", Level::Warn), ("deny", Level::Deny)];

/// The valid parts of the configuration, and all its errors.
pub(super) fn read(path: &str, text: String) -> (Config, Vec<Failure>) {
    let source = Source { format: Format::Toml, ..Source::new(path, text) };
    let (tree, found) = syntax::parse(&source);
    let mut reader = Reader { index: LineIndex::new(&source.text), path, failures: Vec::new() };
    for finding in found {
        reader.fault(
            finding.span,
            &finding.message,
            finding.help.as_deref().unwrap_or("mend the file's TOML"),
        );
    }
    let config = tree.map(|tree| reader.config(&tree)).unwrap_or_default();
    (config, reader.failures)
}

struct Reader<'s> {
    index: LineIndex<'s>,
    path: &'s str,
    failures: Vec<Failure>,
}

impl Reader<'_> {
    fn config(&mut self, tree: &Node) -> Config {
        let mut config = Config::default();
        for (key, name, value) in self.entries(tree, "this file") {
            match name {
                "docs" => config.docs = self.docs(value),
                "lints" => config.lints = self.lints(value),
                "paths" => {
                    config.paths = self.list(value, "paths").iter().filter_map(|it| self.paths(it)).collect();
                }
                _ => self.unknown_key(key, name, &["docs", "lints", "paths"]),
            }
        }
        config
    }

    fn docs(&mut self, node: &Node) -> Option<PageUrl> {
        let url = text(node).and_then(PageUrl::new);
        if url.is_none() {
            let help = "write `docs = \"https://example.org/lints/{name}.md\"`: `{name}` stands for the name of a check";
            self.fault(node.span, "`docs` takes the URL of published pages, with `{name}`", help);
        }
        url
    }

    fn paths(&mut self, table: &Node) -> Option<ForPaths> {
        let (mut files, mut lints) = (None, Levels::default());
        for (key, name, value) in self.entries(table, "`paths`") {
            match name {
                "files" => files = Some(self.globs(value)),
                "lints" => lints = self.lints(value),
                _ => self.unknown_key(key, name, &["files", "lints"]),
            }
        }
        if files.is_none() {
            self.fault(table.span, "`paths` needs the key `files`", "add `files = [\"drafts/**\"]`");
        }
        files.map(|files| ForPaths { files, lints })
    }

    fn globs(&mut self, node: &Node) -> Vec<Glob> {
        let items = match &node.kind {
            NodeKind::Sequence(items) => items.as_slice(),
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => std::slice::from_ref(node),
        };
        items.iter().filter_map(|it| self.glob(it)).collect()
    }

    fn glob(&mut self, node: &Node) -> Option<Glob> {
        let help = "write a path below this folder; `*` stands for a part of a name, `**` for any folders";
        let Some(pattern) = text(node) else {
            self.fault(node.span, "`files` takes paths", help);
            return None;
        };
        Glob::new(pattern).map_err(|wrong| self.fault(node.span, wrong, help)).ok()
    }

    fn lints(&mut self, table: &Node) -> Levels {
        let mut levels = Levels::default();
        for (key, name, value) in self.entries(table, "`lints`") {
            let Some((level, span)) = self.level(value) else { continue };
            if name != WARNINGS {
                if let Err(wrong) = levels.set(name, level) {
                    self.fault(key.span, &wrong.message, &wrong.help);
                }
            } else if level == Level::Deny {
                levels.deny_warnings();
            } else {
                let message = format!("`{WARNINGS}` takes `deny`");
                self.fault(span, &message, "write `warnings = \"deny\"`, or name one check");
            }
        }
        levels
    }

    /// `"warn"`, or `{ level = "warn", reason = "…" }`.
    fn level(&mut self, node: &Node) -> Option<(Level, Span)> {
        let NodeKind::Mapping(_) = &node.kind else { return self.word(node) };
        let mut level = None;
        for (key, name, value) in self.entries(node, "a level") {
            match name {
                "level" => level = Some(value),
                "reason" if text(value).is_some() => {}
                "reason" => {
                    self.fault(value.span, "`reason` takes text", "write why the check has this level")
                }
                _ => self.unknown_key(key, name, &["level", "reason"]),
            }
        }
        if level.is_none() {
            self.fault(node.span, "a level is missing here", "write `{ level = \"warn\", reason = \"…\" }`");
        }
        level.and_then(|it| self.word(it))
    }

    fn word(&mut self, node: &Node) -> Option<(Level, Span)> {
        let word = text(node).unwrap_or_default();
        let level = LEVELS.iter().find(|(it, _)| *it == word);
        if level.is_none() {
            let help = match suggest::closest(word, LEVELS.map(|(it, _)| it)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "write \"allow\", \"info\", \"warn\" or \"deny\"".to_owned(),
            };
            self.fault(node.span, "this is not a level", &help);
        }
        level.map(|(_, level)| (*level, node.span))
    }

    fn entries<'n>(&mut self, node: &'n Node, what: &str) -> Vec<(&'n Node, &'n str, &'n Node)> {
        match &node.kind {
            NodeKind::Mapping(entries) => {
                entries.iter().filter_map(|(key, value)| Some((key, text(key)?, value))).collect()
            }
            NodeKind::Scalar(_) | NodeKind::Sequence(_) => {
                self.fault(node.span, &format!("{what} takes a table"), "see docs/linting.md for its form");
                Vec::new()
            }
        }
    }

    fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.kind {
            NodeKind::Sequence(items) => items,
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => {
                self.fault(node.span, &format!("`{what}` takes a list"), &format!("write `[[{what}]]`"));
                &[]
            }
        }
    }

    fn unknown_key(&mut self, key: &Node, name: &str, known: &[&str]) {
        let help = match suggest::closest(name, known.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("the keys here are `{}`", known.join("`, `")),
        };
        self.fault(key.span, &format!("unknown key `{name}`"), &help);
    }

    fn fault(&mut self, span: Span, message: &str, help: &str) {
        let at = self.index.position(span.start);
        self.failures.push(Failure::new(format!("{}:{}:{}: {message}", self.path, at.line, at.column), help));
    }
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(&scalar.text.value),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    }
}
