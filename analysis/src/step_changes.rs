//! Differences between two step workflows. A mission keeps the plan with which it was started, so they concern later missions only.

use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::model::{Definition, Steps};
use orange_codegen::{Checked, Span};
use orange_core::plan::{Plan, Step, StepId};

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepChange {
    /// The step; `None` for the workflow as a whole.
    pub step: Option<String>,
    /// Kind of difference.
    pub what: DifferenceKind,
    /// Place in the old workflow, if it is there.
    pub old: Option<Span>,
    /// Place in the new workflow, if it is there.
    pub new: Option<Span>,
}

/// Kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The old workflow has no such step.
    Added,
    /// The new workflow has no such step.
    Removed,
    /// The value of a key; a prompt is too long to be shown.
    Key {
        /// Its name; `order` is the order in which steps run that are ready together.
        key: &'static str,
        /// Old value; empty if there was none.
        before: String,
        /// New value; empty if there is none.
        after: String,
    },
}

/// Every difference, in the order of the new workflow; then the steps that are gone. `None` if one of the two has no steps.
pub fn step_changes(old: &Checked, new: &Checked) -> Option<Vec<StepChange>> {
    let arenas = [PlanArena::default(), PlanArena::default()];
    let old = ComparedWorkflow::of(old, &arenas[0])?;
    let new = ComparedWorkflow::of(new, &arenas[1])?;
    let mut found = Vec::new();
    let (old_name, new_name) = (Some(old.steps.name.span), Some(new.steps.name.span));
    for (key, before, after) in different(old.keys(&new), new.keys(&old)) {
        let what = DifferenceKind::Key { key, before, after };
        found.push(StepChange { step: None, what, old: old_name, new: new_name });
    }
    for id in new.plan.step_ids() {
        let step = new.plan.step(id);
        let place = Some(new.span(id));
        let change = |what, old| StepChange { step: Some(step.id.to_owned()), what, old, new: place };
        match old.plan.step_named(step.id) {
            None => found.push(change(DifferenceKind::Added, None)),
            Some(before) => {
                let keys = different(old.step_keys(before), new.step_keys(id));
                let span = Some(old.span(before));
                let keys =
                    keys.map(|(key, before, after)| change(DifferenceKind::Key { key, before, after }, span));
                found.extend(keys);
            }
        }
    }
    let gone = old.plan.step_ids().filter(|it| new.plan.step_named(old.plan.step(*it).id).is_none());
    found.extend(gone.map(|it| StepChange {
        step: Some(old.plan.step(it).id.to_owned()),
        what: DifferenceKind::Removed,
        old: Some(old.span(it)),
        new: None,
    }));
    Some(found)
}

/// One of the two workflows.
struct ComparedWorkflow<'s> {
    steps: &'s Steps,
    plan: Plan<'s>,
}

/// A key and its value, as text.
type ComparedKeys = Vec<(&'static str, String)>;

impl<'s> ComparedWorkflow<'s> {
    fn of(checked: &'s Checked, arena: &'s PlanArena<'s>) -> Option<Self> {
        let Definition::Steps(steps) = checked.definition() else { return None };
        Some(Self { steps, plan: lower_plan(checked, arena)? })
    }

    fn span(&self, id: StepId) -> Span {
        self.steps.steps[id.index()].id.span
    }

    fn keys(&self, other: &Self) -> ComparedKeys {
        let Plan { name, version, description, policy, notices, roles, order, budget, max_attempts, .. } =
            self.plan;
        let is_in_both = |it: &&StepId| other.plan.step_named(self.plan.step(**it).id).is_some();
        let order: Vec<StepId> = order.iter().filter(is_in_both).copied().collect();
        vec![
            ("name", name.to_owned()),
            ("version", version.to_owned()),
            ("description", description.to_owned()),
            ("execution", policy.execution.as_str().to_owned()),
            ("intervene", policy.intervene.as_str().to_owned()),
            ("notices", notices.to_string()),
            ("budget", budget.words()),
            ("max_attempts", max_attempts.map(|it| it.to_string()).unwrap_or_default()),
            ("roles", roles.join(", ")),
            ("order", self.names(&order)),
        ]
    }

    fn step_keys(&self, id: StepId) -> ComparedKeys {
        let step: &Step<'_> = self.plan.step(id);
        let number = |it: u64| if it == 0 { String::new() } else { it.to_string() };
        vec![
            ("title", step.title.to_owned()),
            ("role", self.plan.role(step.role).to_owned()),
            ("depends_on", self.names(step.depends_on)),
            ("condition", step.condition.map(|it| self.plan.condition_text(&it)).unwrap_or_default()),
            ("results", step.results.join(", ")),
            ("max_retries", number(step.max_retries.into())),
            ("requeue", self.names(step.requeue)),
            ("on_fail", step.on_fail.map(|it| self.plan.step(it).id.to_owned()).unwrap_or_default()),
            ("harness", step.harness.unwrap_or_default().to_owned()),
            ("model", step.model.unwrap_or_default().to_owned()),
            ("effort", step.effort.map(|it| it.as_str().to_owned()).unwrap_or_default()),
            ("permissions", format!("{:?}", step.permissions).to_lowercase()),
            ("sandbox", step.sandbox.words()),
            ("timeout", number(step.timeout.unwrap_or(0).into())),
            ("stuck_after", number(step.stuck_after.into())),
            ("prompt", format!("{:?}", step.prompt)),
            ("ask", step.ask.map(|it| format!("{it:?}")).unwrap_or_default()),
            ("run", step.run.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", ")),
        ]
    }

    fn names(&self, ids: &[StepId]) -> String {
        ids.iter().map(|it| self.plan.step(*it).id).collect::<Vec<_>>().join(", ")
    }
}

/// The keys with another value, without the texts of prompts.
fn different(old: ComparedKeys, new: ComparedKeys) -> impl Iterator<Item = (&'static str, String, String)> {
    let pairs = old.into_iter().zip(new).filter(|((_, before), (_, after))| before != after);
    pairs.map(|((key, before), (_, after))| match key {
        "prompt" => (key, String::new(), String::new()),
        _ => (key, before, after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_codegen::{Source, compile};

    const FLOW: &str = "\
[workflow]
name = 'flow'
[[steps]]
id = 'plan'
role = 'planner'
prompt = 'Plan it.'
[[steps]]
id = 'review'
prompt = 'Review it. {{context}}'
depends_on = ['plan']
results = ['PASS', 'FAIL']
[[steps]]
id = 'fix'
prompt = 'Fix it. {{context}}'
depends_on = ['review']
condition = \"review.result == 'FAIL'\"
max_retries = 3
on_fail = 'help'
[[steps]]
id = 'help'
prompt = 'Help. {{context}}'
";

    #[track_caller]
    fn check(old: &str, new: &str, expect: &[(&str, &str)]) {
        let checked = [old, new].map(|text| {
            let compilation = compile(&Source::new("flow.toml", text));
            compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
        });
        let found = step_changes(&checked[0], &checked[1]).unwrap();
        let found = found.into_iter().map(|it| {
            let text = match it.what {
                DifferenceKind::Added => "added".to_owned(),
                DifferenceKind::Removed => "removed".to_owned(),
                DifferenceKind::Key { key, before, after } => format!("{key}: {before} > {after}"),
            };
            (it.step.unwrap_or_default(), text)
        });
        let found: Vec<_> = found.collect();
        let found: Vec<_> = found.iter().map(|(step, text)| (step.as_str(), text.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[track_caller]
    fn check_edit(old: &str, new: &str, expect: &[(&str, &str)]) {
        assert!(FLOW.contains(old), "{old}");
        check(FLOW, &FLOW.replacen(old, new, 1), expect);
    }

    #[test]
    fn every_key_of_a_step_is_compared() {
        check(FLOW, FLOW, &[]);
        let roles = ("", "roles: any, planner > any, worker");
        check_edit("'planner'", "'worker'", &[roles, ("plan", "role: planner > worker")]);
        check_edit("'Plan it.'", "'Plan {{mission_prompt}}.'", &[("plan", "prompt:  > ")]);
        check_edit(
            "['PASS', 'FAIL']",
            "['PASS', 'FAIL', 'UNSURE']",
            &[("review", "results: PASS, FAIL > PASS, FAIL, UNSURE")],
        );
        let condition = "condition: review.result == 'FAIL' > review.result == 'PASS'";
        check_edit("== 'FAIL'", "== 'PASS'", &[("fix", condition)]);
        check_edit("max_retries = 3", "max_retries = 4", &[("fix", "max_retries: 3 > 4")]);
        let requeue = "max_retries = 3\nrequeue = ['plan', 'review']";
        check_edit("max_retries = 3", requeue, &[("fix", "requeue: review > plan, review")]);
        check_edit("on_fail = 'help'\n", "", &[("fix", "on_fail: help > ")]);
        check_edit(
            "depends_on = ['review']",
            "depends_on = ['review', 'plan']",
            &[("fix", "depends_on: review > review, plan")],
        );
        let more =
            "id = 'plan'\ntitle = 'A'\nharness = 'pi'\npermissions = 'reduced'\ntimeout = 9\nstuck_after = 3";
        check_edit(
            "id = 'plan'",
            more,
            &[
                ("plan", "title: plan > A"),
                ("plan", "harness:  > pi"),
                ("plan", "permissions: full > reduced"),
                ("plan", "timeout:  > 9"),
                ("plan", "stuck_after: 2 > 3"),
            ],
        );
    }

    #[test]
    fn steps_come_and_go() {
        let renamed = FLOW.replace("'help'", "'rescue'");
        check(FLOW, &renamed, &[("fix", "on_fail: help > rescue"), ("rescue", "added"), ("help", "removed")]);
    }

    #[test]
    fn the_policy_and_the_order_are_compared() {
        let policy = "name = 'flow'\nexecution = 'step'\nintervene = 'never'\nnotices = false\nversion = '2'";
        check_edit(
            "name = 'flow'",
            policy,
            &[
                ("", "version:  > 2"),
                ("", "execution: auto > step"),
                ("", "intervene: on-error > never"),
                ("", "notices: true > false"),
            ],
        );
        let steps: Vec<_> = ["a", "b"].map(|it| format!("[[steps]]\nid = '{it}'\nprompt = 'x'\n")).into();
        let flow = |steps: String| format!("[workflow]\nname = 'flow'\n{steps}");
        let turned = flow(format!("{}{}", steps[1], steps[0]));
        check(&flow(steps.concat()), &turned, &[("", "order: a, b > b, a")]);
    }
}
