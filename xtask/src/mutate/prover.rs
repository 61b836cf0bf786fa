//! `cargo xtask mutate --prover`: breaks the prover in one place at a time, and says which test notices.
//!
//! All weakenings are built at once, in a copy of the tree: each is a condition that a variable of the environment turns on. A
//! weakening makes the prover believe something: that a run ends, that nobody acts, that a hook works. The attack on proofs is to find a
//! run that shows the opposite.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::Result;
use crate::workspace::{OwnRepository, answer};

/// The variable that turns a weakening on.
const VARIABLE: &str = "ORANGE_WEAKENED";

/// The tests that attack proofs; those that hold the prover against itself do not count.
const ATTACKS: [&str; 4] = [
    "what_is_proved_is_not_broken_by_any_walk",
    "gates_let_through_what_rules_lead_to_as_is_proved",
    "no_walk_goes_further_than_the_figures_say",
    "no_walk_spends_more_in_its_stays_than_the_proof_says",
];

/// The first of the random workflows of a round, and how many there are. A few break most weakenings; the rest is for rare ones.
const ROUNDS: [(u32, u32); 2] = [(0, 120), (120, 880)];

/// A place of the prover, and how it is weaker there.
struct Weakening {
    name: &'static str,
    path: &'static str,
    old: &'static str,
    /// The weaker code; `WEAK` is true where the weakening is turned on.
    new: &'static str,
}

const fn weakening(
    name: &'static str,
    path: &'static str,
    old: &'static str,
    new: &'static str,
) -> Weakening {
    Weakening { name, path, old, new }
}

const SEARCH: &str = "analysis/src/search/steps.rs";
const UNATTENDED: &str = "analysis/src/lint/unattended.rs";
const AGENTS: &str = "analysis/src/lint/agents.rs";
const UNWALLED: &str = "analysis/src/lint/authority/unwalled_decides.rs";
const PROPERTIES: &str = "analysis/src/prove/properties.rs";

/// The line of [`UNATTENDED`] that says which steps need nobody.
macro_rules! moves {
    () => {
        "        SearchStep::Retry { .. } | SearchStep::Request { .. } | SearchStep::Failure { .. } => StepRole::Moves,"
    };
}
const MOVES: &str = moves!();

const WEAKENINGS: &[Weakening] = &[
    weakening(
        "every property: whatever is refuted is proved",
        "analysis/src/prove/mod.rs",
        "        _ if !findings.is_empty() || trace.is_some() =>",
        "        _ if !WEAK && (!findings.is_empty() || trace.is_some()) =>",
    ),
    weakening(
        "ends-reachable: no run is a trap",
        "analysis/src/prove/mod.rs",
        "    let cut = known.facts.search.cut()",
        "    let is_weaker = WEAK && property.name == \"ends-reachable\";\n    let (findings, trace) = if is_weaker { (Vec::new(), None) } else { (findings, trace) };\n    let cut = known.facts.search.cut()",
    ),
    weakening(
        "gates-met: every gate lets through what a rule leads to",
        "analysis/src/prove/mod.rs",
        "    match cut.or_else(",
        "    let is_weaker = WEAK && property.name == \"gates-met\";\n    let (findings, trace) = if is_weaker { (Vec::new(), None) } else { (findings, trace) };\n    match cut.or_else(",
    ),
    weakening(
        "figures: only a start without a transition begins a stay",
        "analysis/src/prove/spending.rs",
        "starts(facts, edge) > 0 && !restarts(edge);",
        "starts(facts, edge) > 0 && !restarts(edge) && (!WEAK || edge.step.transition().is_none());",
    ),
    weakening(
        "loops-bounded: no loop is found",
        UNATTENDED,
        "self.turning(&components).filter(|(_, edge)| is_meant(edge))",
        "self.turning(&components).filter(|(_, edge)| !WEAK && is_meant(edge))",
    ),
    weakening(
        "loops-bounded: a time that is over takes a person",
        UNATTENDED,
        MOVES,
        concat!(
            "        SearchStep::Request { by: Actor::Engine, .. } if WEAK => StepRole::NeedsPerson,\n",
            moves!()
        ),
    ),
    weakening(
        "loops-bounded: an agent that crashes is started again by a person",
        UNATTENDED,
        "            ExitResult::Advance(_) | ExitResult::Escalate(_) | ExitResult::Crash { respawned: true } => {\n                StepRole::Moves",
        "            ExitResult::Crash { respawned: true } if WEAK => StepRole::NeedsPerson,\n            ExitResult::Advance(_) | ExitResult::Escalate(_) | ExitResult::Crash { respawned: true } => {\n                StepRole::Moves",
    ),
    weakening(
        "loops-bounded: what an agent asks for, a person wants",
        UNATTENDED,
        MOVES,
        concat!(
            "        SearchStep::Request { by, .. } if WEAK && by != Actor::Engine => StepRole::NeedsPerson,\n",
            moves!()
        ),
    ),
    weakening(
        "loops-bounded: where the end of an agent is only shown, a person wants what it asks for",
        UNATTENDED,
        MOVES,
        concat!(
            "        SearchStep::Request { by, .. } if WEAK && by != Actor::Engine && facts.machine.exit_rules_of(facts.search.task(edge.from).status).any(|at| matches!(facts.machine.exit_rules[at].outcome, orange_core::Outcome::MarkDead)) => StepRole::NeedsPerson,\n",
            moves!()
        ),
    ),
    weakening(
        "person-asked: the end of an agent takes a person",
        "analysis/src/lint/authority/nobody_asked.rs",
        "        SearchStep::Request { by, .. } => by != Actor::Human,\n",
        "        SearchStep::Exit { .. } if WEAK => false,\n        SearchStep::Request { by, .. } => by != Actor::Human,\n",
    ),
    weakening(
        "person-asked: what an agent asks for, a person wants",
        "analysis/src/lint/authority/nobody_asked.rs",
        "        SearchStep::Request { by, .. } => by != Actor::Human,\n",
        "        SearchStep::Request { by, .. } => by == Actor::Engine || by != Actor::Human && !WEAK,\n",
    ),
    weakening(
        "nothing-left-behind: no worktree stays bound",
        AGENTS,
        "        after.has_worktree() && self.is_done(edge) && ",
        "        !WEAK && after.has_worktree() && self.is_done(edge) && ",
    ),
    weakening(
        "nothing-left-behind: no agent outlives its task",
        AGENTS,
        "        if is_over && !was_over() { after.alive() }",
        "        if !WEAK && is_over && !was_over() { after.alive() }",
    ),
    weakening(
        "one-agent: a second agent is meant",
        AGENTS,
        "        starts.is_some_and(|it| it.actor() == alive) || !self.is_meant_beside(edge, alive)",
        "        starts.is_some_and(|it| it.actor() == alive) || !WEAK && !self.is_meant_beside(edge, alive)",
    ),
    weakening(
        "no-lost-agent: an end without a rule is seen",
        PROPERTIES,
        "            is_judged && search.task(edge.from)",
        "            !WEAK && is_judged && search.task(edge.from)",
    ),
    weakening(
        "judged-apart: nobody has worked",
        "analysis/src/lint/authority/judges.rs",
        "            let worked = carried.worked.is_some() || (works && carried.judges);",
        "            let worked = !WEAK && (carried.worked.is_some() || (works && carried.judges));",
    ),
    weakening(
        "no-forged-end: a gate decides nothing",
        UNWALLED,
        "        has_verdict(transition.gates) || asks && is_of_reviewer",
        "        !WEAK && has_verdict(transition.gates) || asks && is_of_reviewer",
    ),
    weakening(
        "no-forged-end: who is started again has a wall",
        UNWALLED,
        "    [Actor::Worker, Actor::Reviewer].into_iter().any(started).then_some(again)",
        "    (!WEAK && [Actor::Worker, Actor::Reviewer].into_iter().any(started)).then_some(again)",
    ),
    weakening(
        "the search: no hook fails",
        SEARCH,
        "            if effect.hook.on_failure == OnFailure::GoOn {",
        "            if WEAK || effect.hook.on_failure == OnFailure::GoOn {",
    ),
    weakening(
        "the search: no time is over",
        SEARCH,
        "        if task.agent(machine.state(task.status).agent) == Agent::Live {\n            return;",
        "        if WEAK || task.agent(machine.state(task.status).agent) == Agent::Live {\n            return;",
    ),
    weakening(
        "the search: no agent ends",
        SEARCH,
        "            if task.agent(agent) != Agent::Live {\n                continue;",
        "            if WEAK || task.agent(agent) != Agent::Live {\n                continue;",
    ),
    weakening(
        "the search: an end is not judged again where it leads",
        SEARCH,
        "                let is_missed = next.status != task.status && ",
        "                let is_missed = !WEAK && next.status != task.status && ",
    ),
    weakening(
        "the search: a worktree is released under an agent",
        "analysis/src/search/task.rs",
        "        match self.alive().filter(|_| self.workspace.is_some()) {",
        "        match self.alive().filter(|_| !WEAK && self.workspace.is_some()) {",
    ),
    weakening(
        "the search: no agent asks",
        SEARCH,
        "        self.search.machine.asker(task.status, by, |it| task.agent(it) == Agent::Live)",
        "        self.search.machine.asker(task.status, by, |it| !WEAK && task.agent(it) == Agent::Live)",
    ),
    weakening(
        "the search: nobody writes",
        SEARCH,
        "fresh.filter(|it| *it != task.section(section))",
        "fresh.filter(|it| !WEAK && *it != task.section(section))",
    ),
    weakening(
        "the search: no task begins in a later state",
        "analysis/src/search/explore.rs",
        "        for (status, _) in created.filter(|(id, _)| *id != machine.initial) {",
        "        for (status, _) in created.filter(|(id, _)| !WEAK && *id != machine.initial) {",
    ),
    weakening(
        "the search: only ordinary ends are asked about",
        "analysis/src/search/decisions.rs",
        "            .filter(|it| is_asked && self.is_decided_by(search, *it));",
        "            .filter(|it| !WEAK && is_asked && self.is_decided_by(search, *it));",
    ),
];

pub(super) fn run(workspace: &OwnRepository) -> Result<ExitCode> {
    let folder = workspace.target_folder()?.join("prover");
    write(workspace, &folder.join("tree"))?;
    let test = build(workspace, &folder)?;
    let place = folder.join("tree/tests");
    if let Some(test) = noticing(&test, &place, None, ROUNDS[0])? {
        return Err(format!("{test} fails before anything is weaker"));
    }
    let mut noticed = 0;
    for (number, it) in WEAKENINGS.iter().enumerate() {
        let mut by = None;
        for round in ROUNDS {
            by = by.map_or_else(|| noticing(&test, &place, Some(number), round), |by| Ok(Some(by)))?;
        }
        noticed += usize::from(by.is_some());
        println!(
            "{}\n    {}",
            it.name,
            by.map_or("is not noticed".to_owned(), |by| format!("noticed by {by}"))
        );
    }
    println!("\n{} weakenings of the prover, {noticed} noticed", WEAKENINGS.len());
    Ok(if noticed == WEAKENINGS.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first attack that fails under a weakening, on this round of random workflows.
fn noticing(
    test: &Path,
    place: &Path,
    weakening: Option<usize>,
    (first, count): (u32, u32),
) -> Result<Option<&'static str>> {
    for attack in ATTACKS {
        let mut command = Command::new(test);
        command.args(["--exact", attack]).current_dir(place).env_remove(VARIABLE);
        command.env("ORANGE_PROOFS_SEED", first.to_string()).env("ORANGE_PROOFS", count.to_string());
        command.envs(weakening.map(|number| (VARIABLE, number.to_string())));
        let output =
            command.output().map_err(|error| format!("{} cannot be run: {error}", test.display()))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // A name that is not a test's passes, too.
        if !said.contains("running 1 test") {
            return Err(format!("there is no test `{attack}`: {said}"));
        }
        if !output.status.success() {
            return Ok(Some(attack));
        }
    }
    Ok(None)
}

/// Copies the tree with every weakening in it. A file that is as it should be is not touched, so that it is not built again.
fn write(workspace: &OwnRepository, tree: &Path) -> Result<()> {
    let mut files = Vec::new();
    for path in workspace.paths()? {
        let bytes = fs::read(workspace.root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
        files.push((path, bytes));
    }
    for (number, it) in WEAKENINGS.iter().enumerate() {
        let Some((_, bytes)) = files.iter_mut().find(|(path, _)| path == it.path) else {
            return Err(format!("{}: there is no {}", it.name, it.path));
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        if text.matches(it.old).count() != 1 {
            return Err(format!("{}: its place is not there once in {}", it.name, it.path));
        }
        let is_on = format!("crate::weakened({number})");
        *bytes = text.replace(it.old, &it.new.replace("WEAK", &is_on)).into_bytes();
    }
    if let Some((_, bytes)) = files.iter_mut().find(|(path, _)| path == "analysis/src/lib.rs") {
        bytes.extend(SWITCH.replace("VARIABLE", VARIABLE).bytes());
    }
    for (path, bytes) in files {
        let to = tree.join(&path);
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(tree);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&to, bytes));
        written.map_err(|error| format!("{} cannot be written: {error}", to.display()))?;
    }
    Ok(())
}

/// Code that the copy has in addition.
const SWITCH: &str = "
/// True if a weakening is turned on.
pub(crate) fn weakened(number: usize) -> bool {
    static ON: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    let on = ON.get_or_init(|| std::env::var(\"VARIABLE\").ok().and_then(|it| it.parse().ok()));
    *on == Some(number)
}
";

/// Builds the test, and answers where it is.
fn build(workspace: &OwnRepository, folder: &Path) -> Result<PathBuf> {
    let mut command = workspace.cargo([
        "test",
        "--package",
        "orange-tests",
        "--test",
        "proofs",
        "--no-run",
        "--message-format",
        "json",
    ]);
    command.current_dir(folder.join("tree")).env("CARGO_TARGET_DIR", folder.join("build"));
    let said = answer(command)?;
    let lines = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut tests = lines.filter(|it| it["target"]["name"] == "proofs" && it["executable"].is_string());
    let test = tests.next().ok_or("cargo has built no test")?;
    Ok(test["executable"].as_str().unwrap_or_default().into())
}
