//! Results of scenarios, for people and for continuous integration.

use super::github::{data, property};
use super::junit::{CaseResult, TestCase, TestSuite, junit};
use super::{printable, put};
use crate::json::{CoverageAnswer, ScenarioAnswer, ScenarioFile, TestAnswer};
use crate::paths::Repositories;

/// A file whose scenarios cannot be run, and why.
pub(crate) struct RefusedFile {
    pub path: String,
    /// The whole text of the error.
    pub why: String,
}

/// Failures and the parts that no scenario has seen, file by file, and a summary.
pub(crate) fn human(answer: &TestAnswer) -> String {
    let mut out = String::new();
    for file in &answer.files {
        let path = printable(&file.file);
        for (scenario, failure) in failures(file) {
            let (line, column) = (failure.location.line, failure.location.column);
            let (name, message) = (printable(&scenario.name), printable(&failure.message));
            put(&mut out, format_args!("{path}:{line}:{column}: {name}: {message}\n"));
        }
        let CoverageAnswer { counted: what, all, seen, missed } = &file.coverage;
        let (what, not) = match *what {
            TRANSITIONS => ("transitions taken", "not taken"),
            _ => ("steps, conditions and loops seen", "not seen"),
        };
        let scenarios = counted(file.scenarios.len());
        put(&mut out, format_args!("{path}: {scenarios}, {seen} of {all} {what}\n"));
        for part in missed {
            put(&mut out, format_args!("  {not}: {}\n", printable(part)));
        }
    }
    let (passed, failed) = (answer.passed, answer.failed);
    put(&mut out, format_args!("{}: {passed} passed, {failed} failed\n", counted(passed + failed)));
    out
}

/// Name of the parts of a state machine workflow that [`CoverageAnswer`] counts.
pub(crate) const TRANSITIONS: &str = "transitions";

/// An annotation for everything that was not as expected, and for each file that cannot be run.
pub(crate) fn github(answer: &TestAnswer, refused: &[RefusedFile]) -> String {
    let mut repositories = Repositories::default();
    let mut out = String::new();
    for file in &answer.files {
        let path = property(&repositories.path(&file.file));
        for (scenario, failure) in failures(file) {
            let (line, column) = (failure.location.line, failure.location.column);
            let (name, message) = (property(&scenario.name), data(&failure.message));
            put(
                &mut out,
                format_args!("::error file={path},line={line},col={column},title={name}::{message}\n"),
            );
        }
    }
    for it in refused {
        let path = property(&repositories.path(&it.path));
        put(&mut out, format_args!("::error file={path},title=cannot be run::{}\n", data(it.why.trim_end())));
    }
    out
}

/// A suite for each file, and a case for each scenario.
pub(crate) fn xml(answer: &TestAnswer, refused: &[RefusedFile]) -> String {
    let suites = answer.files.iter().map(|file| {
        let cases = file.scenarios.iter().map(|it| case(it, &file.file));
        TestSuite { name: file.file.clone(), cases: cases.collect() }
    });
    let refused = refused.iter().map(|it| {
        let case = TestCase { name: "cannot be run".to_owned(), end: CaseResult::Error(it.why.clone()) };
        TestSuite { name: it.path.clone(), cases: vec![case] }
    });
    junit(&suites.chain(refused).collect::<Vec<_>>())
}

fn case(scenario: &ScenarioAnswer, path: &str) -> TestCase {
    let lines = scenario.failures.iter().map(|it| {
        let (line, column) = (it.location.line, it.location.column);
        format!("{path}:{line}:{column}: {}", it.message)
    });
    let end = match scenario.failures.first() {
        None => CaseResult::Passed(None),
        Some(first) => {
            CaseResult::Failed { message: first.message.clone(), text: lines.collect::<Vec<_>>().join("\n") }
        }
    };
    TestCase { name: scenario.name.clone(), end }
}

fn failures(file: &ScenarioFile) -> impl Iterator<Item = (&ScenarioAnswer, &crate::json::ScenarioFailure)> {
    file.scenarios.iter().flat_map(|it| it.failures.iter().map(move |failure| (it, failure)))
}

fn counted(scenarios: usize) -> String {
    if scenarios == 1 { "1 scenario".to_owned() } else { format!("{scenarios} scenarios") }
}
