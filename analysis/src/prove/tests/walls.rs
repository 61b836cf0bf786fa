//! Ends that nobody can forge, where all agents have walls.

use super::*;

/// The default workflow with these lines at its top, and with this replaced.
fn walled(top: &str, from: &str, to: &str) -> Proof {
    let text = DEFAULT.replacen("\nstates:", &format!("\n{top}states:"), 1);
    assert!(text.contains(top) && text.contains(from), "{text}");
    proof(&text.replacen(from, to, 1))
}

fn no_forged_end(proof: &Proof) -> Option<&ProofVerdict> {
    proof.properties.iter().find(|it| it.name == "no-forged-end").map(|it| &it.verdict)
}

#[test]
fn a_wall_around_all_agents_leaves_nothing_to_forge() {
    let proof = walled("sandbox: wall\n", "", "");
    let Some(ProofVerdict::Proved { argument }) = no_forged_end(&proof) else { panic!("{proof:#?}") };
    assert!(argument.contains("hooks that start agents demand a wall"), "{argument}");
}

#[test]
fn without_a_demand_nothing_is_claimed() {
    assert!(no_forged_end(&proof(DEFAULT)).is_none());
}

#[test]
fn one_agent_without_a_wall_can_forge_the_end() {
    let proof = walled("", "respawn_prompt: reviewer", "respawn_prompt: reviewer\n    sandbox: wall");
    let Some(ProofVerdict::Refuted { findings, .. }) = no_forged_end(&proof) else { panic!("{proof:#?}") };
    assert_eq!(findings.iter().map(Diagnostic::code).collect::<Vec<_>>(), ["CA4"]);
    assert!(findings[0].trace.as_ref().is_some_and(|it| !it.steps.is_empty()), "{findings:#?}");
}
