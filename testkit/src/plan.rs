//! A plan of a step workflow for tests.

use orange_core::Permissions;
use orange_core::plan::{
    Execution, Field, Intervene, Plan, Policy, RoleId, Step, StepCondition, StepId, StepPiece, StepPrompt,
    StepValue,
};

/// `work`, which reports `PASS` or `FAIL`; `fix`, which sends it back twice; `report`; `rescue`, which handles `report`.
pub const PLAN: Plan<'static> = Plan {
    name: "toy",
    version: "1",
    description: "",
    source_hash: "00000000000000aa",
    policy: Policy { execution: Execution::Auto, intervene: Intervene::OnError },
    notices: true,
    roles: &["any", "reviewer"],
    steps: &[
        Step {
            id: "work",
            title: "Work",
            results: &["PASS", "FAIL"],
            prompt: StepPrompt {
                pieces: &[StepPiece::Text("Do "), StepPiece::Value(StepValue::MissionPrompt)],
            },
            ..Step::EMPTY
        },
        Step {
            id: "fix",
            title: "Fix",
            depends_on: &[StepId(0)],
            condition: Some(StepCondition::equal(StepId(0), Field::Result, "FAIL")),
            max_retries: 2,
            requeue: &[StepId(0)],
            ..Step::EMPTY
        },
        Step {
            id: "report",
            title: "Report",
            role: RoleId(1),
            depends_on: &[StepId(0)],
            condition: Some(StepCondition::equal(StepId(0), Field::Result, "PASS")),
            on_fail: Some(StepId(3)),
            harness: Some("codex"),
            permissions: Permissions::Reduced,
            timeout: Some(60),
            ..Step::EMPTY
        },
        Step { id: "rescue", title: "Rescue", handles: Some(StepId(2)), ..Step::EMPTY },
    ],
    order: &[StepId(0), StepId(1), StepId(2), StepId(3)],
    ..Plan::EMPTY
};
