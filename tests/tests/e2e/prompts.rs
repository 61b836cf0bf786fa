//! Prompts of agents: commands and names that work where the agents are.

use crate::world::World;

/// A workflow whose prompt names the remote's default branch, as prompts do that were written before `{base}`.
const NAMES_ORIGIN_HEAD: &str = "\
name: flow
version: 1
states: {pending: {terminal: false}, working: {terminal: false}, cancelled: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: [pending, working], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {worker: \"{summary}: git diff origin/HEAD...HEAD, git log {base}..HEAD\"}
";

#[test]
fn a_prompt_has_the_fork_point_and_the_program() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    let begun = world.git(&world.repo(), &["rev-parse", "--short=12", "main"]);
    task.reaches("agent-review");
    let worker = task.agent(1).prompt();
    let command = format!("{} task update --status agent-review", world.program.display());
    assert!(worker.contains(&command), "{worker}");
    task.agent(2).begun();
    // The branch has moved on, and so may the default branch.
    let reviewer = task.agent(2).prompt();
    assert!(reviewer.contains(&format!("git diff {begun}...HEAD")), "{reviewer}");
    let diff = world.git(&task.worktree(), &["diff", "--name-only", &format!("{begun}...HEAD")]);
    assert!(!diff.is_empty(), "the work is in the diff that the prompt of the reviewer names");
}

#[test]
fn a_prompt_that_says_origin_head_works_without_it() {
    let world = World::new();
    world.workflow("flow.yml", NAMES_ORIGIN_HEAD);
    let base_of = |branch: &str| {
        let task = world.create(branch, "See origin/HEAD [agents: hang]", &["--workflow", "flow"]);
        task.agent(1).begun();
        let prompt = task.agent(1).prompt();
        task.ok("cancel", &["--yes"]);
        prompt
    };
    let begun = world.git(&world.repo(), &["rev-parse", "--short=12", "main"]);
    let expect =
        |head: &str| format!("See origin/HEAD [agents: hang]: git diff {head}...HEAD, git log {begun}..HEAD");
    assert_eq!(base_of("one"), expect("origin/HEAD"));
    world.git(&world.repo(), &["remote", "set-head", "origin", "--delete"]);
    assert_eq!(base_of("two"), expect(&begun));
    world.git(&world.repo(), &["remote", "remove", "origin"]);
    assert_eq!(base_of("three"), expect(&begun));
}
