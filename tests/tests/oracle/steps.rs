//! Random step workflows: their plans say what their files say.

use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Source, compile};
use orange_core::plan::{Field, ItemList, Operand, Plan, StepId, StepPiece, WorktreeUse};
use orange_tests::steps::{PlannedSteps, PlannedWork, steps, wide_steps};

use super::WORKFLOWS;

#[test]
fn plans_say_what_their_files_say() {
    let wide = (0..WORKFLOWS).map(wide_steps);
    for planned in (0..WORKFLOWS).map(steps).chain(wide) {
        let text = planned.to_string();
        let compilation = compile(&Source::new("made-up.toml", &text));
        let checked = compilation.checked.unwrap_or_else(|| panic!("{text}{:#?}", compilation.diagnostics));
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        let policy = (plan.policy.execution.as_str(), plan.policy.intervene.as_str());
        assert_eq!((plan.name, plan.description), (&*planned.name, &*planned.description));
        assert_eq!((policy, plan.notices), ((planned.execution, planned.intervene), planned.notices));
        assert_eq!(plan.steps.len(), planned.steps.len());
        assert_eq!(
            (plan.parallel, plan.inputs.len()),
            (planned.parallel.unwrap_or(4), if planned.has_inputs { 3 } else { 0 })
        );
        let mut ended = Vec::new();
        for id in plan.order {
            let step = plan.step(*id);
            assert!(step.depends_on.iter().chain(&step.handles).all(|it| ended.contains(it)), "{text}");
            ended.push(*id);
            same_step(&plan, *id, &planned);
        }
        assert_eq!(ended.len(), plan.steps.len());
    }
}

fn same_step(plan: &Plan<'_>, id: StepId, planned: &PlannedSteps) {
    let (step, expect) = (plan.step(id), &planned.steps[id.index()]);
    let places = |ids: &[StepId]| ids.iter().map(|it| it.index()).collect::<Vec<_>>();
    assert_eq!((step.id, step.title), (&*expect.id, expect.title.unwrap_or(&expect.id)));
    let role = if step.is_ask() { "any" } else { expect.role };
    assert_eq!(plan.role(step.role), role);
    let text = match expect.more.work {
        PlannedWork::Agent | PlannedWork::Person(_) => step.prompt,
        PlannedWork::Program(_) => step.run[2],
    };
    let prompt = text.pieces.iter().map(|piece| match piece {
        StepPiece::Text(text) => (*text).to_owned(),
        StepPiece::Value(value) => format!("{{{{{}}}}}", value.name()),
        StepPiece::Read(operand) => format!("{{{{{}}}}}", plan.operand_text(*operand)),
    });
    assert_eq!(prompt.collect::<String>(), expect.prompt);
    assert_eq!(places(step.depends_on), expect.depends_on);
    assert_eq!(step.condition.map(|it| plan.condition_text(&it)), planned.condition_of(expect));
    let words: Vec<&str> = expect.results.iter().map(String::as_str).collect();
    let words = if step.is_ask() && words.is_empty() { vec!["approve"] } else { words };
    assert_eq!(step.results, words);
    same_keys(plan, id, planned);
    assert_eq!((step.max_retries, places(step.requeue)), (expect.max_retries, expect.requeue.clone()));
    let handled = planned.steps.iter().position(|it| it.on_fail == Some(id.index()));
    assert_eq!((step.on_fail.map(StepId::index), step.handles.map(StepId::index)), (expect.on_fail, handled));
}

/// Compares the keys of agents, programs and persons, and those of fan-outs.
fn same_keys(plan: &Plan<'_>, id: StepId, planned: &PlannedSteps) {
    let (step, expect) = (plan.step(id), &planned.steps[id.index()]);
    let of_role = planned.has_role_table() && expect.role == "worker";
    let or_role = |own: Option<&'static str>, of: &'static str| own.or(of_role.then_some(of));
    let (agent, ends) = match expect.more.work {
        PlannedWork::Agent => {
            let agent = (
                or_role(expect.harness, "codex"),
                or_role(expect.model, "small"),
                or_role(expect.effort, "low"),
            );
            assert_eq!(format!("{:?}", step.permissions).to_lowercase(), expect.permissions);
            (agent, (expect.timeout, expect.stuck_after))
        }
        PlannedWork::Program(_) => ((None, None, None), (expect.timeout.or(Some(600)), expect.stuck_after)),
        PlannedWork::Person(keys) => {
            let ask = step.ask.unwrap();
            let has_all = keys.contains("who");
            assert_eq!(
                (ask.who.len(), ask.shows_context, ask.shows_diff),
                (if has_all { 2 } else { 0 }, has_all, false)
            );
            ((None, None, None), (has_all.then_some(9), 2))
        }
    };
    assert_eq!((step.harness, step.model, step.effort.map(|it| it.as_str())), agent);
    assert_eq!((step.timeout, step.stuck_after), ends);
    let more = &expect.more;
    assert_eq!(step.outputs.len(), more.outputs.len());
    assert_eq!(step.gates.len(), more.gates.len());
    let worktree = match step.worktree {
        WorktreeUse::Write => None,
        WorktreeUse::Read => Some("read_only = true"),
        WorktreeUse::Own => Some("worktree = \"own\""),
    };
    assert_eq!(worktree, more.worktree);
    let list = step.fan_out.map(|it| match it.list {
        ItemList::Output(of, output) => {
            format!("\"{}\"", plan.operand_text(Operand::Step(of, Field::Output(output))))
        }
        ItemList::Input(input) => format!("\"{}\"", plan.operand_text(Operand::Input(input))),
        ItemList::Fixed(items) => format!("{items:?}"),
    });
    assert_eq!((list, step.fan_out.and_then(|it| it.enough)), (more.for_each.clone(), more.enough));
}
