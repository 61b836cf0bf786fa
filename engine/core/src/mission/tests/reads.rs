//! Values that prompts read of steps: those of the latest report, and none where there is none yet.

use alloc::string::ToString;

use crate::mission::*;
use crate::plan::*;

const OUTPUTS: &[Output<'static>] = &[
    Output { name: "risk", kind: ValueType::Words(&["low", "high"]) },
    Output { name: "parts", kind: ValueType::List { max_items: 3 } },
];

const fn field(field: Field) -> StepPiece<'static> {
    StepPiece::Read(Operand::Step(StepId(0), field))
}

const PIECES: &[StepPiece<'static>] = &[
    StepPiece::Text("["),
    field(Field::Output(OutputId(0))),
    StepPiece::Text("|"),
    field(Field::Output(OutputId(1))),
    StepPiece::Text("|"),
    field(Field::Summary),
    StepPiece::Text("|"),
    field(Field::Result),
    StepPiece::Text("|"),
    field(Field::Rounds),
    StepPiece::Text("]"),
];

const PLAN: Plan<'static> = Plan {
    steps: &[
        Step { id: "plan", outputs: OUTPUTS, ..Step::EMPTY },
        Step {
            id: "build",
            prompt: StepPrompt { pieces: PIECES },
            depends_on: &[StepId(0)],
            max_retries: 2,
            requeue: &[StepId(0)],
            ..Step::EMPTY
        },
    ],
    order: &[StepId(0), StepId(1)],
    ..Plan::EMPTY
};

fn prompt(mission: &Mission) -> alloc::string::String {
    let prompt = &PLAN.step(StepId(1)).prompt;
    prompt.fill(&StepValues {
        mission_prompt: "",
        worktree_path: "",
        context: "",
        step: "",
        attempt: 1,
        branch: "",
        base: "",
        item: "",
        reads: &mission.reads(&PLAN, prompt),
    })
}

fn complete(mission: &mut Mission, step: u16, attempt: u32, report: Report) {
    let event = Event::Complete { step: StepId(step), attempt, report };
    assert!(mission.apply(&PLAN, event).is_ok());
}

fn planned(risk: &str, parts: &[&str]) -> Report {
    let parts = parts.iter().map(ToString::to_string).collect();
    let outputs = Inputs::from([
        ("risk".to_string(), Value::Text(risk.to_string())),
        ("parts".to_string(), Value::List(parts)),
    ]);
    Report {
        result: Some("PASS".to_string()),
        summary: "{{branch}}".to_string(),
        outputs,
        ..Report::default()
    }
}

#[test]
fn a_prompt_has_what_a_step_has_reported_last() {
    let mut mission = Mission::new(&PLAN, PLAN.policy);
    assert!(mission.apply(&PLAN, Event::Begin).is_ok());
    assert_eq!(prompt(&mission), "[||||0]");
    complete(&mut mission, 0, 1, planned("low", &["a", "b"]));
    assert_eq!(prompt(&mission), "[low|a\nb|{{branch}}|PASS|1]");
    complete(&mut mission, 1, 1, Report::default());
    complete(&mut mission, 0, 2, planned("high", &[]));
    assert_eq!(prompt(&mission), "[high||{{branch}}|PASS|2]");
}

#[test]
fn a_result_that_a_prompt_reads_has_to_be_reported() {
    assert!(PLAN.needs_result(StepId(0)) && !PLAN.needs_result(StepId(1)));
}
