//! Proofs of plans: the fixture, and workflows for which a property does not hold.

mod asks;
mod items;

use std::collections::BTreeMap;

use super::*;
use crate::prove::ProofVerdict;
use orange_codegen::PromptFiles;

const DEV_TASK: &str = include_str!("../../../tests/fixtures/dev-task.toml");

fn source(text: &str) -> Source {
    let files = ["plan", "implement", "review", "pr"].map(|it| (format!("do/{it}.md"), it.to_owned()));
    Source::new("dev-task.toml", text).with_files(PromptFiles::Given(BTreeMap::from(files)))
}

fn proof(text: &str) -> PlanProof {
    let source = source(text);
    let compilation = compile(&source);
    let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    prove(&checked, &source).unwrap()
}

fn verdict<'p>(proof: &'p PlanProof, name: &str) -> &'p ProofVerdict {
    &proof.properties.iter().find(|it| it.name == name).unwrap().verdict
}

#[track_caller]
fn argument<'p>(proof: &'p PlanProof, name: &str) -> &'p str {
    let ProofVerdict::Proved { argument } = verdict(proof, name) else { panic!("{name}: {proof:#?}") };
    argument
}

#[test]
fn everything_is_proved_of_dev_task() {
    let proof = proof(DEV_TASK);
    assert!(PROPERTIES.iter().all(|it| !argument(&proof, it.name).is_empty()));
    assert_eq!(
        argument(&proof, "attempts-bounded"),
        "at most 10 attempts beside retries by hand, each at most 2 agents; by step: plan 1, implement 1, review 4, fix 3, pr 1"
    );
    assert!(argument(&proof, "no-silent-success").ends_with("`pr` has completed"));
}

#[test]
fn every_end_of_dev_task_is_listed() {
    let ends = proof(DEV_TASK).figures.ends;
    let ends: Vec<String> = ends
        .iter()
        .map(|it| {
            format!("{} {} !{} ∞{}", it.status, it.ran.join(" "), it.failed.join(" "), it.exhausted.join(" "))
        })
        .collect();
    let expect = [
        "completed plan implement review pr ! ∞",
        "completed plan implement review fix pr ! ∞",
        "failed plan !plan ∞",
        "failed plan implement !implement ∞",
        "failed plan implement review !review ∞",
        "failed plan implement review pr !pr ∞",
        "failed plan implement review fix !fix ∞",
        "failed plan implement review fix !review ∞",
        "failed plan implement review fix pr !pr ∞",
        "failed plan implement review fix ! ∞fix",
    ];
    assert_eq!(ends, expect);
}

#[test]
fn a_result_that_no_step_reads_ends_in_silence() {
    let text = DEV_TASK.replace(
        "prompt_file = \"do/review.md\"",
        "prompt_file = \"do/review.md\"\nresults = [\"PASS\", \"FAIL\", \"UNSURE\"]",
    );
    let proof = proof(&text);
    let ProofVerdict::Refuted { findings, .. } = verdict(&proof, "no-silent-success") else {
        panic!("{proof:#?}")
    };
    assert_eq!(findings.iter().map(Diagnostic::code).collect::<Vec<_>>(), ["B09"]);
}

#[test]
fn an_end_after_a_handler_says_so() {
    let text = "[workflow]\nname = \"w\"\n[[steps]]\nid = \"publish\"\nprompt = \"p\"\non_fail = \"sorry\"\n\
                [[steps]]\nid = \"sorry\"\nprompt = \"p\"\n";
    let proof = proof(text);
    assert_eq!(
        argument(&proof, "no-silent-success"),
        "in each of the 2 configurations that end as `completed`, `publish` has completed, or `publish` has failed and its \
         handler has completed"
    );
    let ends = proof.figures.ends.iter().filter(|it| it.status == "completed");
    let failed: Vec<_> = ends.map(|it| it.failed.join(" ")).collect();
    assert_eq!(failed, ["", "publish"], "one end of each kind");
}

#[test]
fn a_silent_end_has_a_run() {
    let text = DEV_TASK.replace(
        "depends_on = [\"implement\"]",
        "depends_on = [\"implement\"]\ncondition = \"plan.result == 'GO'\"",
    );
    let text = text.replace("id = \"plan\"", "id = \"plan\"\nresults = [\"GO\", \"STOP\"]");
    let proof = proof(&text);
    let ProofVerdict::Refuted { trace: Some(trace), .. } = verdict(&proof, "no-silent-success") else {
        panic!("{proof:#?}")
    };
    assert!(trace.to_string().ends_with("(without `pr`)"), "{trace}");
}

#[test]
fn more_agents_are_counted_where_a_step_asks_for_them() {
    let proof = proof(&DEV_TASK.replace("max_retries = 3", "max_retries = 1\nstuck_after = 5"));
    let argument = argument(&proof, "attempts-bounded");
    assert!(
        argument.ends_with("review 2 of 2 agents each, fix 1 of 5 agents each, pr 1 of 2 agents each"),
        "{argument}"
    );
}

#[test]
fn a_plan_without_its_source_has_the_same_proof() {
    let source = source(DEV_TASK);
    let checked = compile(&source).checked.unwrap();
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).unwrap();
    let (with, without) = (proof(DEV_TASK), of_plan(&plan));
    for it in PROPERTIES {
        assert_eq!(argument(&with, it.name), argument(&without, it.name));
    }
}

#[test]
fn a_step_that_no_run_starts_is_refuted_without_lints() {
    let text = DEV_TASK
        .replace("prompt_file = \"do/review.md\"", "prompt_file = \"do/review.md\"\nresults = [\"FAIL\"]");
    let source = source(&text);
    let Some(checked) = compile(&source).checked else { panic!("{:#?}", compile(&source).diagnostics) };
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).unwrap();
    let proof = of_plan(&plan);
    let ProofVerdict::Refuted { trace: Some(trace), .. } = verdict(&proof, "every-step-runs") else {
        panic!("{proof:#?}");
    };
    assert_eq!(trace.end.as_deref(), Some("no run starts `pr`"));
}

#[test]
fn a_search_that_was_cut_bounds_nothing() {
    let step = |id: usize| {
        format!("[[steps]]\nid = \"s{id}\"\nprompt = \"Do.\"\nresults = [\"A\", \"B\"]\nindependent = true\n")
    };
    let after = |id: usize| {
        format!(
            "[[steps]]\nid = \"t{id}\"\nprompt = \"Do.\"\ndepends_on = [\"s{id}\"]\ncondition = \"s{id}.result == 'A'\"\n"
        )
    };
    let steps: String = (0..18).map(step).chain((0..18).map(after)).collect();
    let proof = proof(&format!("[workflow]\nname = \"dev-task\"\n{steps}"));
    let figures = &proof.figures;
    assert!(figures.is_cut && figures.attempts.is_none(), "{figures:#?}");
    assert!(figures.by_step.iter().all(|it| it.most.is_none()), "{figures:#?}");
}

#[test]
fn a_proof_says_whether_the_cap_is_reached() {
    let capped =
        |most: u32| DEV_TASK.replace("[workflow]\n", &format!("[workflow]\nmax_attempts = {most}\n"));
    let cut = proof(&capped(3));
    let argument_of = |it: &PlanProof| argument(it, "attempts-bounded").to_owned();
    assert!(
        argument_of(&cut).starts_with("at most 3 attempts beside retries by hand"),
        "{}",
        argument_of(&cut)
    );
    let reached = "the cap of 3 attempts can be reached: plan ─";
    assert!(argument_of(&cut).contains(reached), "{}", argument_of(&cut));
    assert_eq!((cut.figures.attempts, cut.figures.bound), (Some(3), 3));
    let wide = proof(&capped(99));
    assert!(argument_of(&wide).ends_with("no run reaches the cap of 99 attempts"), "{}", argument_of(&wide));
    assert_eq!(wide.figures.bound, proof(DEV_TASK).figures.bound);
}

/// Ten attempts without losses, and at worst each is lost once.
#[test]
fn a_cap_counts_agents_that_end_without_a_word() {
    let text = DEV_TASK.replace("[workflow]\n", "[workflow]\nmax_attempts = 10\n");
    let proof = proof(&text);
    let argument = argument(&proof, "attempts-bounded");
    assert!(argument.contains("can be reached") && argument.contains("ends without a word"), "{argument}");
}

/// Not a search: the sum over the steps of their rounds, times the agents of one round.
#[test]
fn the_bound_follows_from_the_plan_alone() {
    let proof = proof(DEV_TASK);
    assert_eq!(proof.figures.bound, 2 * (1 + 1 + 4 + 4 + 4));
    assert!(proof.figures.attempts.is_some_and(|it| u64::from(it) <= proof.figures.bound));
}
