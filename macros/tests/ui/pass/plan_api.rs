//! The API on which a program with a step workflow may rely: matches without wildcards, results that are types, a plan that a
//! mission follows.
#![deny(warnings, clippy::all)]

use orange_core::mission::Mission;
use orange_core::plan::Field;

orange_macros::workflow!("fixtures/steps.toml");
orange_macros::workflow! { path: "fixtures/dev-task.toml", name: small }

use steps::{CodeReviewResult, PLAN, Role, SelfResult, Step};

const REVIEWER: Role = Step::CodeReview.role();

const fn is_last(step: Step) -> bool {
    match step {
        Step::Ship | Step::Stuck => true,
        Step::Self_ | Step::CodeReview | Step::Fix | Step::Rescue => false,
        Step::Sign | Step::Release | Step::Approve => false,
    }
}

fn next(result: CodeReviewResult) -> Step {
    match result {
        CodeReviewResult::Pass => Step::Ship,
        CodeReviewResult::Fail => Step::Fix,
    }
}

fn main() {
    assert_eq!(REVIEWER, Role::CodeReviewer);
    assert_eq!(Step::ALL.into_iter().filter(|step| is_last(*step)).count(), 2);
    assert_eq!("FAIL".parse().map(next), Ok(Step::Fix));
    assert_eq!(SelfResult::try_from("no-go"), Ok(SelfResult::NoGo));
    let unknown = "MAYBE".parse::<CodeReviewResult>().unwrap_err();
    assert_eq!(unknown.to_string(), "no result of `code-review` `MAYBE`; there is: PASS, FAIL");

    assert_eq!(Step::Ship.depends_on(), [Step::CodeReview, Step::Self_]);
    assert_eq!(Step::Fix.on_fail(), Some(Step::Stuck));
    assert_eq!(Step::Rescue.results(), SelfResult::NAMES);
    let failed = |step, field| (step == Step::CodeReview && field == Field::Result).then_some("FAIL");
    assert!(Step::Fix.condition_holds(failed) && !Step::Ship.condition_holds(failed));

    let mission = Mission::new(&PLAN, PLAN.policy);
    assert_eq!(mission.steps.len(), Step::ALL.len());
    assert_eq!(PLAN.step(Step::Fix.id()).max_retries, 2);
    assert_eq!(format!("{:>8}|", small::Step::Pr), "      pr|");
}
