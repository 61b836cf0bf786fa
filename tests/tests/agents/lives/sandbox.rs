//! Agents whose commands run in a sandbox: their requests are carried out outside of it.

use std::process::Command;

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use crate::plans::{is_written, worker};
use crate::suite::{self, LifeSuite};
use crate::task::Task;
use crate::world::World;

const SUMMARY: &str = "Paint the oven door";

/// A reviewer in a terminal.
pub(super) fn interactive(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    needs_namespaces(suite);
    let world = World::new(suite);
    reviews_inside(&world, works, reviews);
}

/// A reviewer that has no terminal program and ends with its turn.
pub(super) fn headless(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    needs_namespaces(suite);
    let world = World::new(suite);
    let arguments = match reviews {
        "claude" => {
            r#"["-p", "--permission-mode=acceptEdits", "--allowedTools=Bash(orange:*),Bash({orange}:*),Bash(git diff:*)", "--", "{prompt}"]"#
        }
        _ => r#"["exec", "--sandbox=workspace-write", "--config=allow_login_shell=false", "--", "{prompt}"]"#,
    };
    world.write("orange/harnesses.toml", &format!("[{reviews}]\nreview = {arguments}\n"));
    reviews_inside(&world, works, reviews);
}

/// The reviewer looks at its task, cannot touch the store, and passes the work.
fn reviews_inside(world: &World, works: &str, reviews: &str) {
    world.write(
        "home/.claude/settings.json",
        r#"{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"allowUnsandboxedCommands":false}}"#,
    );
    worker(world, SUMMARY, "agent-review");
    let escape = world.home().join("escape");
    let review = "## Review\n\nVerdict: PASS\n\nLooked at it.";
    let acts = vec![
        ModelAct::run(format!("touch {} || echo confined", escape.display())),
        ModelAct::orange("task next --json"),
        ModelAct::orange("task show --json"),
        ModelAct::quoted("git diff "),
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", review),
        ModelAct::orange("task update --status reviewing"),
    ];
    let plan = world.plan(Plan::new(&[SUMMARY, "git diff ", "Review round: 1"], acts));
    let task = world.create("door", SUMMARY, &["--harness", works, "--review-harness", reviews]);
    task.reaches("reviewing");
    let exchanges = world.report(plan).exchanges;
    assert_eq!(exchanges.len(), 7, "{exchanges:#?}");
    let answer = |place: usize| exchanges[place].answer.clone().unwrap_or_default();
    assert!(answer(0).contains("confined") && !escape.exists(), "there is no sandbox: {exchanges:#?}");
    assert!(exchanges[1..6].iter().all(|exchange| !exchange.is_error), "{exchanges:#?}");
    assert!(answer(1).contains("\"reviewing\"") && answer(2).contains(SUMMARY), "{exchanges:#?}");
    assert!(answer(3).contains("+painted"), "{exchanges:#?}");
    is_written(&task, &["Verdict: PASS"]);
    passed_by_its_reviewer(&task);
}

#[track_caller]
fn passed_by_its_reviewer(task: &Task<'_>) {
    let last = task.events_of("status.changed").pop().unwrap_or_default();
    assert_eq!(last["actor"], "reviewer", "{last}");
    assert!(task.events_of("agent.crashed").is_empty());
}

/// Skips the life where no sandbox can be made: its programs are missing, or the system allows nobody namespaces of their own.
pub(super) fn needs_namespaces(suite: &LifeSuite) {
    for (program, arguments) in [
        ("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "--unshare-net", "true"].as_slice()),
        ("socat", &["-V"]),
    ] {
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/");
        suite.user.runs(&mut command);
        match command.output() {
            Ok(output) if output.status.success() => (),
            Ok(output) => suite::give_up(format!(
                "no sandbox: {program}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )),
            Err(error) => suite::give_up(format!("no sandbox: {program}: {error}")),
        }
    }
}
