//! Reports that follow from the ends of programs.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use crate::mission::*;
use crate::plan::*;

/// The report in words: `PASS: summary`, or `failed: reason`.
fn report(results: &[&str], outcome: ProgramOutcome<'_>) -> String {
    let steps = [Step { id: "test", results, ..Step::EMPTY }];
    let plan = Plan { steps: &steps, order: &[StepId(0)], ..Plan::EMPTY };
    match ProgramReport::of(&plan, StepId(0), outcome) {
        ProgramReport::Completed(Report { result, summary, .. }) => {
            format!("{}: {summary}", result.unwrap_or_default())
        }
        ProgramReport::Failed(reason) => format!("failed: {reason}"),
    }
}

fn ended(code: Option<i32>) -> ProgramOutcome<'static> {
    let failure = if code == Some(0) { "" } else { "it says why" };
    ProgramOutcome { code, failure, printed: "ok 3\n", output: Ok(ProgramOutput::default()) }
}

fn writes(result: &str, summary: &str) -> Result<ProgramOutput, String> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
    Ok(ProgramOutput { result: some(result), summary: some(summary), outputs: Inputs::new() })
}

/// D1: with `FAIL` among its results, a program says no by its exit status.
#[test]
fn an_exit_status_is_a_result_only_where_fail_is_declared() {
    let both = ["PASS", "FAIL"];
    assert_eq!(report(&both, ended(Some(0))), "PASS: ok 3");
    for no in [1, 2, 125] {
        assert_eq!(report(&both, ended(Some(no))), "FAIL: ok 3");
        assert_eq!(report(&[], ended(Some(no))), "failed: it says why");
        assert_eq!(report(&["PASS"], ended(Some(no))), "failed: it says why");
    }
    for killed in [Some(126), Some(127), Some(137), Some(-1), None] {
        assert_eq!(report(&both, ended(killed)), "failed: it says why");
    }
    assert_eq!(report(&[], ended(Some(0))), "PASS: ok 3");
}

#[test]
fn its_output_comes_before_what_it_printed() {
    let output = writes("MORE", "three of four");
    let ended_with = |code| ProgramOutcome { output: output.clone(), ..ended(code) };
    assert_eq!(report(&[], ended_with(Some(0))), "MORE: three of four");
    assert_eq!(report(&["PASS", "FAIL", "MORE"], ended_with(Some(1))), "FAIL: three of four");
    assert_eq!(
        report(&["PASS", "FAIL"], ended_with(Some(0))),
        "failed: its result is `MORE`, and the step declares PASS, FAIL"
    );
    assert_eq!(report(&["DONE"], ended(Some(0))), "failed: its result is `PASS`, and the step declares DONE");
}

/// Case D3 of the design.
#[test]
fn an_output_that_cannot_be_read_fails_the_step() {
    let wrong = |code| ProgramOutcome { output: Err("it is not an object".to_owned()), ..ended(code) };
    assert_eq!(report(&["PASS", "FAIL"], wrong(Some(0))), "failed: it is not an object");
    assert_eq!(report(&["PASS", "FAIL"], wrong(Some(1))), "failed: it is not an object");
    assert_eq!(report(&[], wrong(Some(2))), "failed: it says why");
}

#[test]
fn outputs_fit_their_declarations() {
    let outputs = [Output { name: "warnings", kind: ValueType::Number { min: 0, max: 9 } }];
    let steps = [Step { id: "test", outputs: &outputs, ..Step::EMPTY }];
    let plan = Plan { steps: &steps, order: &[StepId(0)], ..Plan::EMPTY };
    let with = |value: Option<Value>| {
        let outputs = value.map(|it| ("warnings".to_string(), it)).into_iter().collect();
        let outcome = ProgramOutcome {
            output: Ok(ProgramOutput { outputs, ..ProgramOutput::default() }),
            ..ended(Some(0))
        };
        ProgramReport::of(&plan, StepId(0), outcome)
    };
    let ProgramReport::Completed(report) = with(Some(Value::Number(3))) else { panic!("3 fits") };
    assert_eq!(report.outputs.get("warnings"), Some(&Value::Number(3)));
    for wrong in [None, Some(Value::Number(10)), Some(Value::Text("many".to_owned()))] {
        assert!(matches!(with(wrong), ProgramReport::Failed(why) if why.contains("warnings")));
    }
}

#[test]
fn a_program_that_prints_nothing_has_a_summary() {
    let silent = ProgramOutcome { printed: " \n", ..ended(Some(0)) };
    assert_eq!(report(&[], silent), "PASS: it ended with status 0 and printed nothing");
}
