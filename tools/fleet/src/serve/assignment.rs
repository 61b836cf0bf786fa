//! Assignment of a run, which a crab is sent: everything that its agent needs.

use orange_api::AttemptGate;
use orange_api::gateway::TaskAssigned;
use orange_core::plan::{StepGate, StepId, StepPrompt, StepValues};
use sha2::{Digest, Sha256};

use super::answer::attempt_status;
use super::error::ApiError;
use super::gateway::{Gateway, unknown_run};
use crate::host::{Colony, StoredMission};

/// The assignment of an attempt at a step, as it is now.
pub async fn assignment(
    gateway: &Gateway,
    mission: &str,
    step: StepId,
    attempt: u32,
) -> Result<TaskAssigned, ApiError> {
    let unknown = || unknown_run(&format!("{mission}.?.{attempt}"));
    let stored = gateway.host.mission(mission).await?.ok_or_else(unknown)?;
    let is_there =
        stored.mission.steps.get(step.index()).is_some_and(|it| (1..=it.attempt()).contains(&attempt));
    if !is_there {
        return Err(unknown());
    }
    let colony = gateway.colony_of(&stored.row.colony).await?;
    Ok(assigned(stored, colony, step, attempt))
}

fn assigned(stored: StoredMission, colony: Colony, id: StepId, attempt: u32) -> TaskAssigned {
    let StoredMission { row, plan, mission, prompt, runs } = stored;
    let step = plan.step(id);
    let context = mission.context(plan, id);
    let run_id = format!("{}.{}.{attempt}", row.id, step.id);
    let base = base(&colony);
    let values = StepValues {
        mission_prompt: &prompt,
        worktree_path: "",
        context: &context,
        step: step.id,
        attempt,
        branch: &row.branch,
        base: &base,
        item: "",
        reads: &step.texts().flat_map(|it| mission.reads(plan, it)).collect::<Vec<_>>(),
    };
    let filled = |run: &[StepPrompt<'_>], values: &StepValues<'_>| -> Vec<String> {
        run.iter().map(|it| it.fill(values)).collect()
    };
    let rest: String = step.gates.iter().map(|it| filled(it.run(), &values).concat()).collect();
    let rest = step.prompt.render(&values) + &filled(step.run, &values).concat() + &rest;
    let worktree_token = token(&run_id, &rest);
    let values = StepValues { worktree_path: &worktree_token, ..values };
    let (prompt, program) = (step.prompt.render(&values), filled(step.run, &values));
    let gates = step.gates.iter().map(|it| gate(it, filled(it.run(), &values))).collect();
    let run = runs.into_iter().rfind(|it| it.step == step.id && it.attempt == attempt).unwrap_or_default();
    TaskAssigned {
        run_id,
        status: attempt_status(&mission, id, attempt, run.offered.is_some()),
        step_id: step.id.to_owned(),
        title: step.title.to_owned(),
        attempt,
        role: plan.role(step.role).to_owned(),
        prompt,
        run: program,
        gates,
        worktree_token,
        context,
        branch: row.branch,
        mission_id: row.id,
        colony_id: colony.id,
        repository: colony.repository,
        base: colony.base,
        harness: step.harness.map(str::to_owned),
        model: step.model.map(str::to_owned),
        effort: step.effort,
        permissions: step.permissions,
        sandbox: plan.demand_on(id),
        results: plan.results_of(id).iter().map(|it| (*it).to_owned()).collect(),
        needs_result: plan.needs_result(id),
        outputs: plan.outputs_of(id).iter().map(orange_api::DeclaredValue::of_output).collect(),
        timeout: step.timeout,
        stuck_after: step.stuck_after,
        worktree_path: run.worktree,
    }
}

/// A gate with the values of the attempt.
fn gate(gate: &StepGate<'_>, run: Vec<String>) -> AttemptGate {
    match gate {
        StepGate::Program { timeout, .. } => AttemptGate::Program { run, timeout: *timeout },
        StepGate::File { file, contains } => {
            AttemptGate::File { file: (*file).to_owned(), contains: (*contains).to_owned() }
        }
    }
}

/// Name in prompts of the branch from which work starts, in a clone whose remote is `origin`.
fn base(colony: &Colony) -> String {
    format!("origin/{}", colony.base.as_deref().unwrap_or("HEAD"))
}

/// A text that stands nowhere else in a prompt: it follows from the whole of it, so that nobody can write it down before.
fn token(run: &str, rest: &str) -> String {
    let digest = Sha256::new().chain_update(run).chain_update([0]).chain_update(rest).finalize();
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("ORANGE-WORKTREE-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_a_worktree_follows_from_the_prompt() {
        let one = token("m.plan.1", "do it");
        assert_eq!(one, token("m.plan.1", "do it"));
        assert_ne!(one, token("m.plan.1", &format!("do it {one}")));
        assert_ne!(one, token("m.plan.2", "do it"));
        assert_eq!(one.len(), "ORANGE-WORKTREE-".len() + 32);
    }
}
