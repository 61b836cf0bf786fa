//! Values of another shape than the language has, as authors write them who know other tools, and what to write instead.
//!
//! Each help shows the author's own values.

use super::keys::{ACTIONS, Object};
use crate::source::Format;
use crate::suggest;
use crate::syntax::{Node, NodeKind, Scalar, ScalarForm};

/// The longest value that a help shows, in characters.
const MAX_SHOWN: usize = 160;

/// The longest list that a help shows in full.
const MAX_ITEMS: usize = 4;

/// Writes values in the language of a file.
#[derive(Clone, Copy)]
pub(super) struct ValueWriter<'s> {
    /// The source of the file.
    pub source: &'s str,
    /// Its language.
    pub format: Format,
}

impl ValueWriter<'_> {
    /// Text to write in the place of a value that is not a mapping. `what` is the mapping's name in messages.
    pub(super) fn mapping_instead(self, what: &str, node: &Node) -> Option<String> {
        let text = match (what, &node.kind) {
            ("a hook", NodeKind::Scalar(word)) => self.hook(&word.text.value, &[])?,
            ("`states`", NodeKind::Sequence(items)) => {
                self.entry("states", &self.named(items, &["name", "id", "state"], |rest| self.object(&rest))?)
            }
            ("`prompts`", NodeKind::Sequence(items)) => {
                let text = |rest: Vec<(&str, String)>| {
                    rest.into_iter().next().map_or_else(|| "\"…\"".to_owned(), |(_, text)| text)
                };
                self.entry("prompts", &self.named(items, &["name", "id", "role"], text)?)
            }
            ("`fields`", NodeKind::Sequence(items)) => {
                let zero = |_: Vec<(&str, String)>| "0".to_owned();
                self.entry("fields", &self.named(items, &["name"], zero)?)
            }
            ("a command", NodeKind::Scalar(line)) => {
                let words: Vec<&str> = line.text.value.split_whitespace().collect();
                if words.is_empty() {
                    return None;
                }
                self.object(&[("argv", self.list(words.iter().map(|it| self.text(it))))])
            }
            ("a command", NodeKind::Sequence(words)) if words.iter().all(|it| word(it).is_some()) => {
                self.object(&[("argv", self.value(node))])
            }
            ("`exit_monitoring`", NodeKind::Sequence(_)) => {
                self.entry("exit_monitoring", &self.object(&[("rules", self.value(node))]))
            }
            ("a state", NodeKind::Scalar(name)) if !name.is_null() => {
                self.object(&[("respawn_prompt", self.value(node))])
            }
            (_, NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_)) => return None,
        };
        Some(format!("write `{text}`"))
    }

    /// The one gate that a list of gates is meant to be: its only item, or all of them.
    pub(super) fn gates_instead(self, key: &str, node: &Node) -> Option<String> {
        let NodeKind::Sequence(items) = &node.kind else { return None };
        let gates: Vec<String> = items.iter().map(|it| self.value(it)).collect();
        let gate = match gates.as_slice() {
            [] => return None,
            [gate] => gate.clone(),
            _ => self.object(&[("all", self.list(gates.into_iter()))]),
        };
        Some(format!("write `{}`", self.entry(key, &gate)))
    }

    /// Text to write in the place of a value that is not a list.
    pub(super) fn list_instead(self, key: &str, node: &Node) -> Option<String> {
        let items: Vec<String> = match (key, &node.kind) {
            ("hooks", NodeKind::Scalar(word)) => vec![self.hook(&word.text.value, &[])?],
            ("hooks", NodeKind::Mapping(entries)) if has(entries, "action") => vec![self.value(node)],
            ("hooks", NodeKind::Mapping(entries)) => {
                entries.iter().map(|(name, value)| self.hook_of_entry(name, value)).collect::<Option<_>>()?
            }
            ("transitions", NodeKind::Mapping(entries)) if has(entries, "from") && has(entries, "to") => {
                vec![self.value(node)]
            }
            ("transitions", NodeKind::Mapping(entries)) => {
                entries.iter().flat_map(|it| self.transitions(it)).collect()
            }
            (_, NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_)) => return None,
        };
        if items.is_empty() {
            return None;
        }
        Some(format!("write `{}`", self.entry(key, &self.list(items.into_iter()))))
    }

    /// The clause that a mapping or list under `when` is meant to be.
    pub(super) fn clause_instead(self, node: &Node) -> Option<String> {
        let comparisons: Option<Vec<String>> = match &node.kind {
            NodeKind::Mapping(entries) => {
                entries.iter().map(|(name, value)| comparison(name, value)).collect()
            }
            NodeKind::Sequence(items) => items.iter().map(|it| Some(word(it)?.to_owned())).collect(),
            NodeKind::Scalar(_) => None,
        };
        let clause = comparisons.filter(|it| !it.is_empty())?.join(" && ");
        Some(format!("write `{}`", self.entry("when", &format!("\"{clause}\""))))
    }

    /// The mapping that a hook is meant to be which has its action as a key: `spawn_agent: {prompt: worker}`.
    pub(super) fn hook_of_keys(self, entries: &[(Node, Node)]) -> Option<String> {
        let [(name, value)] = entries else { return None };
        self.hook_of_entry(name, value).map(|it| format!("write `{it}`"))
    }

    /// The list that one text with several of these words is meant to be.
    pub(super) fn words_instead(self, key: &str, node: &Node, known: &[&str]) -> Option<String> {
        let NodeKind::Scalar(scalar) = &node.kind else { return None };
        let text = &scalar.text.value;
        let words: Vec<&str> =
            text.split([',', '|', '/', ' ', '+']).filter(|it| !matches!(*it, "" | "and" | "or")).collect();
        let are_known = words.len() > 1 && words.iter().all(|it| known.contains(it));
        let list = self.list(words.iter().map(|it| self.text(it)));
        are_known.then(|| format!("write `{}`", self.entry(key, &list)))
    }

    /// `{action: notify, message: …}`: an action and its parameters, those that are missing as `…`.
    fn hook(self, name: &str, given: &[(&str, String)]) -> Option<String> {
        let object = action(name)?;
        let missing = object.keys.iter().filter(|key| key.required && key.name != "action");
        let missing = missing.filter(|key| given.iter().all(|(it, _)| *it != key.name));
        let mut entries = vec![("action", self.text(object.what))];
        entries.extend(given.iter().cloned());
        entries.extend(missing.map(|key| (key.name, "…".to_owned())));
        Some(self.object(&entries))
    }

    fn hook_of_entry(self, name: &Node, value: &Node) -> Option<String> {
        let name = word(name)?;
        match &value.kind {
            NodeKind::Mapping(entries) => self.hook(name, &self.entries(entries, &[])),
            NodeKind::Scalar(scalar) if scalar.is_null() => self.hook(name, &[]),
            NodeKind::Scalar(_) | NodeKind::Sequence(_) => {
                let object = action(name)?;
                let first = object.keys.iter().find(|key| key.required && key.name != "action")?;
                self.hook(name, &[(first.name, self.value(value))])
            }
        }
    }

    /// The transitions that an entry like `working: reviewing` or `working -> reviewing: {by: human}` is meant to be.
    fn transitions(self, (name, value): &(Node, Node)) -> Vec<String> {
        let Some(name) = word(name) else { return Vec::new() };
        let ends = ["->", "→", "=>"].iter().find_map(|arrow| name.split_once(arrow));
        let (from, to) = ends.map_or((name, None), |(from, to)| (from.trim(), Some(to.trim())));
        let with = |rest: Vec<(&str, String)>| {
            let mut entries = vec![("from", self.text(from))];
            entries.extend(to.map(|to| ("to", self.text(to))));
            if to.is_none() && rest.iter().all(|(key, _)| *key != "to") {
                entries.push(("to", "…".to_owned()));
            }
            entries.extend(rest);
            self.object(&entries)
        };
        match &value.kind {
            NodeKind::Scalar(scalar) if scalar.is_null() => vec![with(Vec::new())],
            NodeKind::Scalar(_) if to.is_none() => vec![with(vec![("to", self.value(value))])],
            NodeKind::Scalar(_) => vec![with(Vec::new())],
            NodeKind::Sequence(items) if items.iter().all(|it| word(it).is_some()) && to.is_none() => {
                vec![with(vec![("to", self.value(value))])]
            }
            NodeKind::Sequence(items) => items.iter().map(|it| with(self.entries_of(it))).collect(),
            NodeKind::Mapping(_) => vec![with(self.entries_of(value))],
        }
    }

    /// A list of things with a name, as a mapping from their names.
    fn named(
        self,
        items: &[Node],
        names: &[&str],
        value: impl Fn(Vec<(&str, String)>) -> String,
    ) -> Option<String> {
        let item = |node: &Node| match &node.kind {
            NodeKind::Scalar(_) => Some(format!("{}{}", self.key(word(node)?), value(Vec::new()))),
            NodeKind::Mapping(entries) => {
                let named = entries.iter().find(|(key, _)| word(key).is_some_and(|it| names.contains(&it)));
                match (named, entries.as_slice()) {
                    (Some((key, name)), _) => {
                        let rest = self.entries(entries, &[word(key)?]);
                        Some(format!("{}{}", self.key(word(name)?), value(rest)))
                    }
                    (None, [(name, of_name)]) => {
                        let rest = match &of_name.kind {
                            NodeKind::Mapping(entries) => self.entries(entries, &[]),
                            NodeKind::Scalar(scalar) if scalar.is_null() => Vec::new(),
                            NodeKind::Scalar(_) | NodeKind::Sequence(_) => vec![("", self.value(of_name))],
                        };
                        Some(format!("{}{}", self.key(word(name)?), value(rest)))
                    }
                    (None, _) => None,
                }
            }
            NodeKind::Sequence(_) => None,
        };
        let items: Vec<String> = items.iter().map(item).collect::<Option<_>>()?;
        (!items.is_empty()).then(|| format!("{{{}}}", few(items.into_iter())))
    }

    fn entries_of(self, node: &Node) -> Vec<(&str, String)> {
        match &node.kind {
            NodeKind::Mapping(entries) => self.entries(entries, &[]),
            NodeKind::Scalar(_) | NodeKind::Sequence(_) => Vec::new(),
        }
    }

    /// The entries of a mapping without those of some keys.
    fn entries<'n>(self, entries: &'n [(Node, Node)], without: &[&str]) -> Vec<(&'n str, String)> {
        let named = entries.iter().filter_map(|(key, value)| Some((word(key)?, value)));
        named.filter(|(key, _)| !without.contains(key)).map(|(key, it)| (key, self.value(it))).collect()
    }

    /// A value in one line, with the author's own quotes.
    fn value(self, node: &Node) -> String {
        let shown = match &node.kind {
            NodeKind::Scalar(_) => {
                let written = self.source.get(node.span.range()).unwrap_or("…");
                if written.contains('\n') { "…".to_owned() } else { written.to_owned() }
            }
            NodeKind::Sequence(items) => self.list(items.iter().map(|it| self.value(it))),
            NodeKind::Mapping(entries) => self.object(&self.entries(entries, &[])),
        };
        if shown.chars().count() > MAX_SHOWN { "…".to_owned() } else { shown }
    }

    fn object(self, entries: &[(&str, String)]) -> String {
        let entries = entries.iter().map(|(key, value)| self.entry(key, value));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
    }

    fn list(self, items: impl ExactSizeIterator<Item = String>) -> String {
        format!("[{}]", few(items))
    }

    fn entry(self, key: &str, value: &str) -> String {
        format!("{}{value}", self.key(key))
    }

    fn key(self, key: &str) -> String {
        match self.format {
            Format::Yaml => format!("{key}: "),
            Format::Toml => format!("{key} = "),
        }
    }

    fn text(self, text: &str) -> String {
        match self.format {
            Format::Yaml => text.to_owned(),
            Format::Toml => format!("\"{text}\""),
        }
    }
}

/// Help for a file of another program, recognised by the keys at its top.
pub(super) fn of_another_program(tree: &Node) -> Option<String> {
    let NodeKind::Mapping(entries) = &tree.kind else { return None };
    let jobs = entries.iter().find(|(key, _)| word(key) == Some("jobs")).map(|(_, jobs)| jobs)?;
    let NodeKind::Mapping(jobs) = &jobs.kind else { return None };
    let names: Vec<String> =
        jobs.iter().filter_map(|(job, of_job)| Some((word(job)?, of_job))).map(step).collect();
    if !has(entries, "on") || names.is_empty() {
        return None;
    }
    Some(format!(
        "this is a workflow of GitHub Actions; a step workflow of Orange has `workflow: {{name: …}}` and \
         `steps: [{}]`, and `orange-workflow init --steps` writes one",
        few(names.into_iter())
    ))
}

/// `{id: test, depends_on: [build], …}` for a job of GitHub Actions.
fn step((job, of_job): (&str, &Node)) -> String {
    let needs = match &of_job.kind {
        NodeKind::Mapping(entries) => {
            entries.iter().find(|(key, _)| word(key) == Some("needs")).map(|it| &it.1)
        }
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => None,
    };
    let needs: Vec<&str> = match needs.map(|it| (it, &it.kind)) {
        Some((_, NodeKind::Sequence(items))) => items.iter().filter_map(word).collect(),
        Some((one, NodeKind::Scalar(_))) => word(one).into_iter().collect(),
        Some((_, NodeKind::Mapping(_))) | None => Vec::new(),
    };
    match needs.as_slice() {
        [] => format!("{{id: {job}, …}}"),
        needs => format!("{{id: {job}, depends_on: [{}], …}}", needs.join(", ")),
    }
}

/// `review_round < 2` for `review_round: "< 2"`, and `review_round == 2` for `review_round: 2`.
fn comparison(counter: &Node, value: &Node) -> Option<String> {
    let (counter, value) = (word(counter)?, word(value)?.trim());
    match value.starts_with(['<', '>', '=', '!']) {
        true => Some(format!("{counter} {value}")),
        false => value.parse::<u32>().is_ok().then(|| format!("{counter} == {value}")),
    }
}

fn action(name: &str) -> Option<&'static Object> {
    let meant = suggest::closest(name, ACTIONS.iter().map(|it| it.what))?;
    ACTIONS.iter().find(|it| it.what == meant)
}

fn has(entries: &[(Node, Node)], key: &str) -> bool {
    entries.iter().any(|(it, _)| word(it) == Some(key))
}

/// The text of a scalar that says something in one line.
fn word(node: &Node) -> Option<&str> {
    let is_said =
        |it: &&Scalar| !it.is_null() && it.style != ScalarForm::Broken && !it.text.value.contains('\n');
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(scalar).filter(is_said).map(|it| it.text.value.as_str()),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    }
}

fn few(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len() > MAX_ITEMS;
    let shown = items.take(MAX_ITEMS).chain(more.then(|| "…".to_owned()));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use crate::source::Source;

    /// The helps of a workflow with these lines for `hooks` and the like.
    #[track_caller]
    fn check(name: &str, text: &str, expect: &str) {
        let found = crate::compile(&Source::new(name, text)).diagnostics;
        let helps: Vec<&str> = found.iter().filter_map(|it| it.help.as_deref()).collect();
        assert!(helps.contains(&expect), "{expect}\nis none of\n{}", helps.join("\n"));
    }

    #[track_caller]
    fn transition(keys: &str, expect: &str) {
        check(
            "a.yml",
            &format!(
                "name: a\nstates: {{x: {{}}, y: {{terminal: true}}}}\ntransitions:\n  - {{from: x, to: y, {keys}}}\n"
            ),
            expect,
        );
    }

    #[test]
    fn hooks() {
        transition("hooks: [kill_session]", "write `{action: kill_session}`");
        transition("hooks: [kill_sesion]", "write `{action: kill_session}`");
        transition("hooks: [spawn_agent]", "write `{action: spawn_agent, prompt: …}`");
        transition("hooks: kill_session", "write `hooks: [{action: kill_session}]`");
        transition("hooks: {action: kill_session}", "write `hooks: [{action: kill_session}]`");
        transition("hooks: [spawn_agent: {prompt: go}]", "write `{action: spawn_agent, prompt: go}`");
        transition("hooks: [{notify: 'Look.'}]", "write `{action: notify, message: 'Look.'}`");
        transition("hooks: [kill_session: ]", "write `{action: kill_session}`");
        transition(
            "hooks: {kill_session: , notify: {message: x}}",
            "write `hooks: [{action: kill_session}, {action: notify, message: x}]`",
        );
    }

    #[test]
    fn gates_guards_and_actors() {
        let (handoff, review) =
            ("{section: '## Handoff', required: true}", "{section: '## Review', verdict: PASS}");
        transition(&format!("gate: [{handoff}]"), &format!("write `gate: {handoff}`"));
        transition(
            &format!("gate: [{handoff}, {review}]"),
            &format!("write `gate: {{all: [{handoff}, {review}]}}`"),
        );
        transition("when: {review_round: 2}", "write `when: \"review_round == 2\"`");
        transition(
            "when: {review_round: '< 2', crash_count: 0}",
            "write `when: \"review_round < 2 && crash_count == 0\"`",
        );
        transition("when: ['review_round < 2']", "write `when: \"review_round < 2\"`");
        transition("by: 'worker, human'", "write `by: [worker, human]`");
        transition("by: worker and human", "write `by: [worker, human]`");
    }

    #[test]
    fn names_of_lists() {
        check("a.yml", "name: a\nstates: [x, y]\n", "write `states: {x: {}, y: {}}`");
        check(
            "a.yml",
            "name: a\nstates:\n  - name: x\n  - {name: y, terminal: true}\n  - z:\n  - v: {terminal: true}\n",
            "write `states: {x: {}, y: {terminal: true}, z: {}, v: {terminal: true}}`",
        );
        check(
            "a.yml",
            "name: a\nstates: [a, b, c, d, e]\n",
            "write `states: {a: {}, b: {}, c: {}, d: {}, …}`",
        );
        let prompts = "write `prompts: {worker: \"Do {summary}.\", other: \"…\"}`";
        let items = "  - {name: worker, text: \"Do {summary}.\"}\n  - other\n";
        check("a.yml", &format!("name: a\nstates: {{x: {{}}}}\nprompts:\n{items}"), prompts);
        check("a.toml", "name = 'a'\nstates = ['x']\n", "write `states = {x = {}}`");
    }

    #[test]
    fn commands_rules_states_and_counters() {
        transition("gate: {command: make test}", "write `{argv: [make, test]}`");
        transition("gate: {command: [make, test]}", "write `{argv: [make, test]}`");
        let file = |lines: &str| format!("name: a\nstates: {{x: {{}}, y: {{terminal: true}}}}\n{lines}\n");
        check(
            "a.yml",
            &file("exit_monitoring:\n  - {status: x, action: crash}"),
            "write `exit_monitoring: {rules: [{status: x, action: crash}]}`",
        );
        check("a.yml", &file("fields: [tries, more]"), "write `fields: {tries: 0, more: 0}`");
        check(
            "a.yml",
            "name: a\nstates: {x: worker, y: {terminal: true}}\n",
            "write `{respawn_prompt: worker}`",
        );
    }

    #[test]
    fn transitions() {
        let check = |lines: &str, expect: &str| {
            check(
                "a.yml",
                &format!(
                    "name: a\nstates: {{x: {{}}, y: {{}}, z: {{terminal: true}}}}\ntransitions:\n{lines}"
                ),
                expect,
            );
        };
        check("  x: y\n  y: [x, z]\n", "write `transitions: [{from: x, to: y}, {from: y, to: [x, z]}]`");
        check(
            "  x -> y:\n    by: human\n  y → z:\n",
            "write `transitions: [{from: x, to: y, by: human}, {from: y, to: z}]`",
        );
        check(
            "  x:\n    - {to: y, when: 'review_round < 2'}\n    - to: z\n",
            "write `transitions: [{from: x, to: y, when: 'review_round < 2'}, {from: x, to: z}]`",
        );
        check("  from: x\n  to: y\n  by: human\n", "write `transitions: [{from: x, to: y, by: human}]`");
        check("  x: {by: human}\n", "write `transitions: [{from: x, to: …, by: human}]`");
    }

    #[test]
    fn other_programs() {
        check(
            "ci.yml",
            "on: push\njobs:\n  build: {runs-on: x}\n  test: {needs: build}\n  ship: {needs: [build, test]}\n",
            "this is a workflow of GitHub Actions; a step workflow of Orange has `workflow: {name: …}` and `steps: \
             [{id: build, …}, {id: test, depends_on: [build], …}, {id: ship, depends_on: [build, test], …}]`, and \
             `orange-workflow init --steps` writes one",
        );
    }
}
