//! The changes of plans: steps with their dependencies, conditions, roles, results, loops and handlers, and what their agents read.

use std::collections::BTreeSet;

use orange_codegen::model::ANY;
use orange_codegen::syntax::Node;
use orange_codegen::{PromptFiles, Span};
use orange_core::plan::{Field, Plan, StepCondition, StepId, StepSet, StepValue};

use super::mutant::{Maker, Mutant, MutantKind};
use super::tree::{entries, entry, items_of, replaced, text, value};

/// Signs and words of conditions, and what is written in their place.
const SIGNS: [(&str, &str); 10] = [
    ("&&", "||"),
    ("||", "&&"),
    ("==", "!="),
    ("!=", "=="),
    ("<=", "<"),
    (">=", ">"),
    ("any ", "all "),
    ("all ", "any "),
    (".ran", ".rounds > 1"),
    (" in [", " in ['OTHER', "),
];

impl<'m> Maker<'m> {
    /// Every change of a plan, in the order of its parts.
    pub fn plan(&mut self, tree: &'m Node, plan: &Plan<'_>) {
        if let Some(header) = entry(tree, "workflow") {
            self.place = "workflow".to_owned();
            self.policy(header.value);
        }
        let files = items_of(tree, "steps").iter().filter_map(|it| value(it, "prompt_file"));
        let files: Vec<&str> = files.collect();
        for (id, step) in plan.step_ids().zip(items_of(tree, "steps")) {
            self.place = format!("step `{}`", plan.step(id).id);
            self.step(plan, id, step);
            self.prompt(step, &files);
        }
    }

    fn policy(&mut self, header: &'m Node) {
        self.word(MutantKind::Policy, header, "execution", &["step"]);
        self.word(MutantKind::Policy, header, "intervene", &["never", "on-warning", "always"]);
        self.word(MutantKind::Policy, header, "notices", &["false"]);
        self.number(MutantKind::Policy, header, "max_attempts");
        self.number(MutantKind::Policy, header, "parallel");
        for role in items_of(header, "roles") {
            self.leave_out(MutantKind::Role, &format!("`{}` of roles", text(role)), role.span);
        }
    }

    fn step(&mut self, plan: &Plan<'_>, id: StepId, step: &'m Node) {
        let names = |ids: &[StepId]| ids.iter().map(|it| plan.step(*it).id).collect::<Vec<_>>();
        let upstream: Vec<StepId> = plan.upstream(id).iter().collect();
        let all: Vec<StepId> = plan.step_ids().collect();
        let end = entries(step).map(|it| it.value.span).last().unwrap_or(step.span);
        self.leave_out(MutantKind::Step, "it", step.span.to(end));
        let roles: Vec<&str> = plan.roles.iter().copied().filter(|it| *it != ANY).collect();
        self.word(MutantKind::Role, step, "role", &roles);
        self.names(MutantKind::Dependency, step, "depends_on", &names(&without_cycle(plan, id)));
        self.condition(plan, id, &upstream, step);
        self.results(step);
        self.values(step);
        self.work(step);
        self.number(MutantKind::Loop, step, "max_retries");
        if let Some(requeue) = entry(step, "requeue") {
            self.leave_out(MutantKind::Loop, "requeue", requeue.span());
        }
        self.names(MutantKind::Loop, step, "requeue", &names(&upstream));
        self.word(MutantKind::Handler, step, "on_fail", &names(&all));
        let harnesses: BTreeSet<&str> = plan.steps.iter().filter_map(|it| it.harness).collect();
        self.word(MutantKind::Agent, step, "harness", &Vec::from_iter(harnesses));
        self.word(MutantKind::Agent, step, "permissions", &["reduced"]);
        self.number(MutantKind::Agent, step, "timeout");
        self.number(MutantKind::Agent, step, "stuck_after");
        self.flip(MutantKind::Agent, step, "independent");
    }

    /// Leaves each name of a list out, replaces it by each other one, and adds these.
    fn names(&mut self, kind: MutantKind, step: &'m Node, key: &str, names: &[&str]) {
        let listed = items_of(step, key);
        let others = names.iter().filter(|it| listed.iter().all(|item| text(item) != **it));
        for item in listed {
            self.leave_out(kind, &format!("`{}` of {key}", text(item)), item.span);
            others.clone().for_each(|other| self.replace(kind, key, item, other));
        }
        for (other, last) in others.filter_map(|it| Some((it, listed.last()?))) {
            let end = Span::at(last.span.end);
            let text = replaced(self.source, end, &format!(", \"{other}\""));
            self.push(kind, format!("{key} with `{other}`"), end, text);
        }
    }

    /// Lets the condition read another step or field, or compare with another word.
    fn condition(&mut self, plan: &Plan<'_>, id: StepId, upstream: &[StepId], step: &'m Node) {
        let (Some(condition), Some(written)) = (plan.step(id).condition, entry(step, "condition")) else {
            return;
        };
        self.leave_out(MutantKind::Condition, "condition", written.span());
        let Some((read, part, word)) = condition.equality() else { return self.tests(written.value) };
        let steps = upstream.iter().map(|it| StepCondition::equal(*it, part, word));
        let fields = [Field::Result, Field::Summary].map(|field| StepCondition::equal(read, field, word));
        let values = plan.results_of(read).iter().copied().chain(["OTHER"]);
        let values = values.map(|value| StepCondition::equal(read, part, value));
        for other in steps.chain(fields).chain(values) {
            self.replace(MutantKind::Condition, "condition", written.value, &plan.condition_text(&other));
        }
    }

    /// Changes every sign, word and number of a condition that is more than one comparison.
    fn tests(&mut self, condition: &'m Node) {
        let text = text(condition);
        for (from, to) in SIGNS {
            for (at, _) in text.match_indices(from) {
                let other = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
                self.replace(MutantKind::Condition, "condition", condition, &other);
            }
        }
        let quotes: Vec<usize> = text.match_indices('\'').map(|it| it.0).collect();
        for word in quotes.chunks_exact(2) {
            let other = format!("{}OTHER{}", &text[..=word[0]], &text[word[1]..]);
            self.replace(MutantKind::Condition, "condition", condition, &other);
        }
        if quotes.is_empty() {
            self.numbers(MutantKind::Condition, condition.span);
        }
    }

    /// Leaves each output out, and each of its words.
    fn values(&mut self, step: &'m Node) {
        let Some(outputs) = entry(step, "outputs") else { return };
        for output in entries(outputs.value) {
            let name = text(output.key);
            self.leave_out(MutantKind::Result, &format!("`{name}` of outputs"), output.span());
            for word in items_of(output.value, "words") {
                self.leave_out(MutantKind::Result, &format!("`{}` of {name}", text(word)), word.span);
                self.replace(MutantKind::Result, name, word, "OTHER");
            }
        }
    }

    /// Leaves gates and items out, and lets a reader write.
    fn work(&mut self, step: &'m Node) {
        for (at, gate) in items_of(step, "gates").iter().enumerate() {
            self.leave_out(MutantKind::Gate, &format!("gate {}", at + 1), gate.span);
        }
        for key in ["read_only", "worktree", "for_each"] {
            if let Some(key) = entry(step, key) {
                self.leave_out(MutantKind::Agent, text(key.key), key.span());
            }
        }
        for item in items_of(step, "for_each") {
            self.leave_out(MutantKind::Agent, &format!("`{}` of for_each", text(item)), item.span);
        }
        self.number(MutantKind::Agent, step, "enough");
    }

    fn results(&mut self, step: &'m Node) {
        if let Some(results) = entry(step, "results") {
            self.leave_out(MutantKind::Result, "results", results.span());
        }
        for result in items_of(step, "results") {
            self.leave_out(MutantKind::Result, &format!("`{}` of results", text(result)), result.span);
            self.replace(MutantKind::Result, "results", result, "OTHER");
        }
    }

    fn number(&mut self, kind: MutantKind, step: &'m Node, key: &str) {
        if let Some(number) = entry(step, key) {
            self.leave_out(kind, key, number.span());
            self.numbers(kind, number.span());
        }
    }

    /// Gives the agent the prompt of another step, and leaves each placeholder out. Checks read the one for the context, and no other.
    fn prompt(&mut self, step: &'m Node, files: &[&str]) {
        let (Some(file), PromptFiles::Given(prompts)) =
            (entry(step, "prompt_file"), &self.source.prompt_files)
        else {
            return;
        };
        self.another(MutantKind::Prompt, "prompt_file", file.value, files);
        let name = text(file.value);
        let Some(prompt) = prompts.get(name) else { return };
        for value in StepValue::ALL {
            let placeholder = format!("{{{{{}}}}}", value.name());
            if prompt.contains(&placeholder) {
                self.made.push(Mutant {
                    kind: MutantKind::Prompt,
                    place: self.place.clone(),
                    change: format!("`{placeholder}` of {name} left out"),
                    line: self.lines.position(file.key.span.start).line,
                    is_prose: value != StepValue::Context,
                    file: Some(name.to_owned()),
                    text: prompt.replace(&placeholder, ""),
                });
            }
        }
    }

    /// Leaves a key out, and gives it each of these words; its default is not among them, since that is what it is without the key.
    fn word(&mut self, kind: MutantKind, node: &'m Node, key: &str, words: &[&str]) {
        if let Some(word) = entry(node, key) {
            self.leave_out(kind, key, word.span());
            words.iter().for_each(|other| self.replace(kind, key, word.value, other));
        }
    }
}

/// The steps for which a step can wait without a cycle.
fn without_cycle(plan: &Plan<'_>, id: StepId) -> Vec<StepId> {
    let waiting = plan.downstream(&StepSet::of(plan, &[id]));
    let may = |it: &StepId| *it != id && !waiting.has(*it) && plan.step(*it).handles.is_none();
    plan.step_ids().filter(may).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use orange_codegen::{Source, compile};

    use super::super::mutant;
    use super::*;

    const PLAN: &str = r#"[workflow]
name = "flow"
execution = "auto"
roles = ["writer", "reader"]

[[steps]]
id = "draft"
role = "writer"
prompt = "Write."

# It reads.
[[steps]]
id = "check"
role = "reader"
prompt_file = "check.md"
depends_on = ["draft"]
results = ["GOOD", "BAD"]
permissions = "reduced"
timeout = 60
stuck_after = 3

[[steps]]
id = "mend"
role = "writer"
prompt = "Mend. {{context}}"
depends_on = ["check"]
condition = "check.result == 'BAD'"
max_retries = 2
requeue = ["check"]
on_fail = "rescue"
harness = "codex"

[[steps]]
id = "rescue"
prompt = "Rescue. {{context}}"
"#;

    fn source() -> Source {
        let prompts = BTreeMap::from([("check.md".to_owned(), "{{context}} {{branch}}".to_owned())]);
        Source::new("flow.toml", PLAN).with_files(PromptFiles::Given(prompts))
    }

    /// The mutants of one kind.
    fn changes(kind: MutantKind) -> Vec<String> {
        let mutants = mutant::all(&source()).unwrap();
        mutants.iter().filter(|it| it.kind == kind).map(Mutant::name).collect()
    }

    #[test]
    fn every_part_of_a_plan_is_changed() {
        assert_eq!(
            changes(MutantKind::Dependency),
            [
                "step `check`: `draft` of depends_on left out",
                "step `mend`: `check` of depends_on left out",
                "step `mend`: depends_on `draft` for `check`",
                "step `mend`: depends_on with `draft`",
            ]
        );
        assert_eq!(
            changes(MutantKind::Condition),
            [
                "step `mend`: condition left out",
                "step `mend`: condition `draft.result == 'BAD'` for `check.result == 'BAD'`",
                "step `mend`: condition `check.summary == 'BAD'` for `check.result == 'BAD'`",
                "step `mend`: condition `check.result == 'GOOD'` for `check.result == 'BAD'`",
                "step `mend`: condition `check.result == 'OTHER'` for `check.result == 'BAD'`",
            ]
        );
        assert_eq!(
            changes(MutantKind::Loop),
            [
                "step `mend`: max_retries left out",
                "step `mend`: 3 for 2 in max_retries = 2",
                "step `mend`: 1 for 2 in max_retries = 2",
                "step `mend`: requeue left out",
                "step `mend`: `check` of requeue left out",
                "step `mend`: requeue `draft` for `check`",
                "step `mend`: requeue with `draft`",
            ]
        );
        let numbers = [
            (MutantKind::Step, 4),
            (MutantKind::Role, 8),
            (MutantKind::Result, 5),
            (MutantKind::Handler, 4),
            (MutantKind::Agent, 8),
            (MutantKind::Policy, 2),
            (MutantKind::Prompt, 2),
        ];
        for (kind, number) in numbers {
            assert_eq!(changes(kind).len(), number, "{:?}", changes(kind));
        }
    }

    #[test]
    fn values_items_and_gates_are_changed() {
        let text = r#"[workflow]
name = "flow"
parallel = 3

[[steps]]
id = "plan"
prompt = "Plan."
outputs = { risk = { words = ["low", "high"] } }
gates = [{ file = "PLAN.md" }]

[[steps]]
id = "each"
prompt = "{{item}}"
depends_on = ["plan"]
for_each = ["a", "b"]
enough = 1
read_only = true
condition = "plan.ran && plan.risk == 'low'"
"#;
        let mutants = mutant::all(&Source::new("flow.toml", text)).unwrap();
        let of = |kind| {
            mutants.iter().filter(|it| it.kind == kind).map(|it| it.change.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of(MutantKind::Gate), ["gate 1 left out"]);
        assert_eq!(
            of(MutantKind::Result),
            [
                "`risk` of outputs left out",
                "`low` of risk left out",
                "risk `OTHER` for `low`",
                "`high` of risk left out",
                "risk `OTHER` for `high`",
            ]
        );
        let agents = of(MutantKind::Agent);
        for wanted in
            ["read_only left out", "for_each left out", "`a` of for_each left out", "enough left out"]
        {
            assert!(agents.contains(&wanted.to_owned()), "{wanted}: {agents:?}");
        }
        let conditions = of(MutantKind::Condition);
        assert_eq!(conditions.len(), 5, "{conditions:?}");
        assert!(
            conditions[1].starts_with("condition `plan.ran || plan.risk == 'low'` for "),
            "{conditions:?}"
        );
        assert_eq!(of(MutantKind::Policy).len(), 3);
    }

    #[test]
    fn a_step_is_left_out_whole_and_a_prompt_in_its_file() {
        let source = source();
        let mutants = mutant::all(&source).unwrap();
        let find = |name: &str| mutants.iter().find(|it| it.name() == name).unwrap();
        let without = find("step `check`: it left out").applied(&source);
        let (before, after) =
            (PLAN.find("# It reads").unwrap(), PLAN.find("[[steps]]\nid = \"mend\"").unwrap());
        assert_eq!(without.text, [&PLAN[..before], &PLAN[after..]].concat());
        let prompt = find("step `check`: `{{branch}}` of check.md left out");
        assert!(prompt.is_prose);
        let changed = prompt.applied(&source);
        assert_eq!(
            (changed.text.as_str(), changed.prompt_files.read("check.md").unwrap()),
            (PLAN, "{{context}} ".to_owned())
        );
        assert!(mutants.iter().all(|it| it.file.is_some() || it.text != PLAN));
        assert!(compile(&source).checked.is_some());
    }
}
