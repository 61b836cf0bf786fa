//! A step, a role or a result that a match forgets is the compiler's to find.

orange_macros::workflow!("fixtures/steps.toml");

use steps::{CodeReviewResult, Step};

fn is_last(step: Step) -> bool {
    match step {
        Step::Ship | Step::Stuck | Step::Sign => true,
        Step::Self_ | Step::CodeReview | Step::Rescue | Step::Release | Step::Approve => false,
    }
}

fn passes(result: CodeReviewResult) -> bool {
    match result {
        CodeReviewResult::Pass => true,
    }
}

fn main() {
    is_last(Step::Ship);
    passes(CodeReviewResult::Pass);
}
