//! A mission with one attempt at one step, for a program that keeps the other steps.

use std::path::{Component, Path};

use orange_api::{AttemptGate, DeclaredValue, NewAttempt};
use orange_core::Permissions;
use orange_core::plan::{
    Execution, Field, Intervene, Output, Plan, Policy, RoleId, Step, StepCondition, StepGate, StepId,
    StepPiece, StepPrompt, StepValue,
};

use super::start::{MissionWishes, PolicyWishes, start};
use crate::app::App;
use crate::machines::is_name;
use crate::store::effective::effective;
use crate::store::{Owned, WorkItemDir, WorkItemKind, list, projects};
use crate::{Error, ErrorKind, Result};

/// A result that no agent can report: a result is one word.
const NO_RESULT: &str = "no result";

/// The prompt of an agent, which another program has written whole.
const MISSION_PROMPT: &[StepPiece<'static>] = &[StepPiece::Value(StepValue::MissionPrompt)];

/// Starts an attempt. Returns the mission with its key if there is one.
///
/// # Errors
/// `usage` for a key, a step or a number that cannot be used; those of [`start`].
pub fn run(app: &App, new: &NewAttempt) -> Result<WorkItemDir> {
    check(new)?;
    let project = projects::get(&app.home, &new.project)?;
    if let Some(dir) = with_key(app, &project.name, &new.key)? {
        return Ok(dir);
    }
    let settings = effective(&app.home, &project)?;
    let results: Vec<&str> = new.results.iter().map(String::as_str).collect();
    let [worked, held, asked] = step_names(&new.step);
    let outputs = outputs(new)?;
    let argv = pieces(&new.run);
    let argv = texts(&argv);
    let of_gates: Vec<_> = new.gates.iter().map(|it| pieces(program(it))).collect();
    let of_gates: Vec<_> = of_gates.iter().map(|it| texts(it)).collect();
    let gates: Vec<StepGate<'_>> = new.gates.iter().zip(&of_gates).map(|(it, run)| gate(it, run)).collect();
    let steps: Vec<Step<'_>> = steps(new, &results, &argv, [&worked, &held, &asked])
        .into_iter()
        .enumerate()
        .map(|(at, step)| match at {
            0 => Step { outputs: &outputs, gates: &gates, ..step },
            _ => step,
        })
        .collect();
    let order: Vec<StepId> = (0..).take(steps.len()).map(StepId).collect();
    let plan = Plan {
        name: &new.key,
        version: "",
        description: "One attempt of another program",
        source_hash: &new.key,
        policy: Policy { execution: Execution::Step, intervene: Intervene::Never },
        notices: false,
        roles: &[&new.role, "any"],
        steps: &steps,
        order: &order,
        ..Plan::EMPTY
    };
    let started = start(
        app,
        MissionWishes {
            project: &project,
            plan: &plan,
            prompt: Some(&new.prompt),
            branch: Some(&new.branch),
            policy: PolicyWishes::default(),
            notices: false,
            attempts_before: new.attempt - 1,
            inputs: &[],
            source: None,
            harness: settings.worker(),
            review_harness: settings.reviewer(),
        },
    )?;
    Ok(started.dir)
}

/// The mission of the attempt with this key. One that cannot be read keeps its branch, so that no second agent starts there.
fn with_key(app: &App, project: &str, key: &str) -> Result<Option<WorkItemDir>> {
    let has_key = |owned: &Owned| owned.workflow == key;
    let mut missions =
        list::journals(&app.home, &[WorkItemKind::Mission], Some(project), &|_, owned| has_key(owned))?;
    missions.retain(|known| known.may_be(has_key));
    let found = list::each(missions, |it| {
        let is_it = it.task.as_ref().is_ok_and(|task| has_key(&task.owned));
        is_it.then_some(it.dir)
    });
    Ok(found.into_iter().next())
}

fn check(new: &NewAttempt) -> Result<()> {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_graphic());
    let wrong = |what: &str, help: &'static str| Error::new(ErrorKind::Usage, what.to_owned()).help(help);
    if !is_name(&new.key) {
        let what = format!("`{}` is not a valid key of an attempt", new.key.escape_debug());
        return Err(wrong(&what, "use lower-case letters, digits and `-`; the first is a letter"));
    }
    if !is_word(&new.step) || !is_word(&new.role) {
        return Err(wrong(
            "a step and a role are one word each",
            "set `step` and `role` to words without spaces",
        ));
    }
    if let Some(wrong) = new.gates.iter().find_map(fault_of) {
        return Err(Error::new(ErrorKind::Usage, wrong)
            .help("a gate is a program, or a file below the top folder of the worktree"));
    }
    if new.attempt == 0 || new.stuck_after == 0 {
        return Err(wrong("`attempt` and `stuck_after` begin at 1", "set both to 1 or more"));
    }
    Ok(())
}

/// The id of the step, and two others.
fn step_names(step: &str) -> [String; 3] {
    [step.to_owned(), format!("{step}-worktree"), format!("{step}-result")]
}

/// The fault of a gate that the compiler would refuse.
fn fault_of(gate: &AttemptGate) -> Option<String> {
    let is_inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    match gate {
        AttemptGate::Program { run, timeout } => (run.first().is_none_or(String::is_empty) || *timeout == 0)
            .then(|| "a gate has no program, or no time for it".to_owned()),
        AttemptGate::File { file, .. } => (file.is_empty() || !Path::new(file).components().all(is_inside))
            .then(|| format!("the gate of the file `{}` leads out of the worktree", file.escape_debug())),
    }
}

/// Arguments as texts without placeholders.
fn pieces(argv: &[String]) -> Vec<[StepPiece<'_>; 1]> {
    argv.iter().map(|it| [StepPiece::Text(it)]).collect()
}

fn texts<'a>(argv: &'a [[StepPiece<'a>; 1]]) -> Vec<StepPrompt<'a>> {
    argv.iter().map(|pieces| StepPrompt { pieces }).collect()
}

/// The program of a gate; none of a file.
fn program(gate: &AttemptGate) -> &[String] {
    match gate {
        AttemptGate::Program { run, .. } => run,
        AttemptGate::File { .. } => &[],
    }
}

fn gate<'a>(gate: &'a AttemptGate, run: &'a [StepPrompt<'a>]) -> StepGate<'a> {
    match gate {
        AttemptGate::Program { timeout, .. } => StepGate::Program { run, timeout: *timeout },
        AttemptGate::File { file, contains } => StepGate::File { file, contains },
    }
}

/// The outputs that the attempt has to report.
fn outputs(new: &NewAttempt) -> Result<Vec<Output<'static>>> {
    let outputs: Option<Vec<_>> = new.outputs.iter().cloned().map(DeclaredValue::leak_output).collect();
    outputs.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "an output has a type that this version does not know")
            .help("install the version of Orange that the gateway has")
    })
}

/// The step of the attempt, and steps that never run. The second step keeps the mission at a pause when the first one has ended,
/// and with it the worktree. Where a result is needed and any word is one, the condition of a third step reads it.
fn steps<'a>(
    new: &'a NewAttempt,
    results: &'a [&'a str],
    run: &'a [StepPrompt<'a>],
    ids: [&'a str; 3],
) -> Vec<Step<'a>> {
    let [worked, held, asked] = ids;
    let never = |id| Step {
        id,
        title: id,
        role: RoleId(1),
        depends_on: &[StepId(0)],
        permissions: Permissions::Reduced,
        stuck_after: 1,
        ..Step::EMPTY
    };
    let attempt = Step {
        id: worked,
        title: worked,
        role: RoleId(0),
        prompt: StepPrompt { pieces: if run.is_empty() { MISSION_PROMPT } else { &[] } },
        run,
        depends_on: &[],
        results,
        harness: new.harness.as_deref(),
        model: new.model.as_deref(),
        effort: new.effort,
        permissions: new.permissions,
        sandbox: new.sandbox,
        timeout: new.timeout,
        stuck_after: new.stuck_after,
        ..never(worked)
    };
    let reads_result = StepCondition::equal(StepId(0), Field::Result, NO_RESULT);
    let mut steps = vec![attempt, never(held)];
    if new.needs_result && results.is_empty() {
        steps.push(Step { condition: Some(reads_result), ..never(asked) });
    }
    steps
}

#[cfg(test)]
mod tests {
    use orange_core::wall::Demand;

    use super::*;

    fn attempt() -> NewAttempt {
        NewAttempt {
            key: "run-1".to_owned(),
            project: "toy".to_owned(),
            branch: "fix".to_owned(),
            step: "review".to_owned(),
            role: "reviewer".to_owned(),
            attempt: 1,
            prompt: "Review it".to_owned(),
            run: Vec::new(),
            gates: Vec::new(),
            harness: None,
            model: None,
            effort: None,
            permissions: Permissions::Full,
            sandbox: Demand::NONE,
            results: Vec::new(),
            needs_result: false,
            outputs: Vec::new(),
            timeout: None,
            stuck_after: 2,
        }
    }

    #[test]
    fn an_attempt_that_needs_any_word_has_a_step_that_reads_it() {
        let conditions = |new: &NewAttempt, results: &[&str]| -> Vec<bool> {
            steps(new, results, &[], ["a", "b", "c"]).iter().map(|step| step.condition.is_some()).collect()
        };
        assert_eq!(conditions(&attempt(), &[]), [false, false]);
        let needy = NewAttempt { needs_result: true, ..attempt() };
        assert_eq!(conditions(&needy, &[]), [false, false, true]);
        assert_eq!(conditions(&needy, &["PASS"]), [false, false], "the step declares its words itself");
    }

    #[test]
    fn a_request_without_sense_is_refused() {
        assert_eq!(check(&attempt()), Ok(()));
        let file = |file: &str| AttemptGate::File { file: file.to_owned(), contains: String::new() };
        assert_eq!(check(&NewAttempt { gates: vec![file("a/b")], ..attempt() }), Ok(()));
        let wrong = [
            NewAttempt { key: "Run".to_owned(), ..attempt() },
            NewAttempt { key: "../x".to_owned(), ..attempt() },
            NewAttempt { key: String::new(), ..attempt() },
            NewAttempt { step: String::new(), ..attempt() },
            NewAttempt { role: "a b".to_owned(), ..attempt() },
            NewAttempt { attempt: 0, ..attempt() },
            NewAttempt { gates: vec![AttemptGate::Program { run: Vec::new(), timeout: 3 }], ..attempt() },
            NewAttempt { gates: vec![file("../x")], ..attempt() },
            NewAttempt { gates: vec![file("/x")], ..attempt() },
            NewAttempt { stuck_after: 0, ..attempt() },
        ];
        for new in wrong {
            assert_eq!(check(&new).unwrap_err().kind, ErrorKind::Usage, "{new:?}");
        }
    }
}
