//! The step workflow of one attempt, which the crab's own `orange` compiles.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::job::Job;

/// The role and the prompt of the steps that never run.
const NEVER: &str =
    "role = \"any\"\nprompt = \"Nothing is left to do here: `orange step complete --summary done`.\"\n";

/// Prefix of the names of the workflows of jobs.
const BEGINS: &str = "run-";

/// The name of the workflow of a job. No other job has it, so that a mission of this name is found again after a kill.
pub fn name(job: &Job) -> String {
    format!("{BEGINS}{}", short_hash(&format!("{}{}", job.run(), job.id)))
}

/// True if a workflow of this name is that of a job.
pub fn is_of_job(workflow: &str) -> bool {
    workflow.starts_with(BEGINS)
}

/// The beginning of a hash, for names.
pub fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(String::new(), |text, byte| {
        let mut text = text;
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

/// The text of the workflow, with the step as it was assigned. The prompt comes from the start of the mission.
///
/// A second step, which is never started, keeps the mission at a pause when the first one has ended. Then the agent is gone and the
/// worktree is still there: the crab commits and pushes what is in it. Where a result is needed and any word is one, the condition of a third step
/// reads it, so that the engine asks the agent for it.
pub fn text(job: &Job) -> String {
    let assigned = &job.assigned;
    let step = &assigned.step_id;
    let held = if step == "held" { "held-here" } else { "held" };
    let mut lines = vec![
        "[workflow]".to_owned(),
        format!("name = {}", quoted(&name(job))),
        format!("description = {}", quoted(&format!("Attempt {} of the fleet", assigned.run_id))),
        "execution = \"step\"\nintervene = \"never\"\nnotices = false\n".to_owned(),
        "[[steps]]".to_owned(),
        format!("id = {}", quoted(step)),
        format!("role = {}", quoted(&assigned.role)),
        "prompt = \"{{mission_prompt}}\"".to_owned(),
    ];
    lines.extend(assigned.harness.iter().map(|it| format!("harness = {}", quoted(it))));
    lines.push(format!("permissions = {}", quoted(assigned.permissions.as_str())));
    lines.extend(assigned.timeout.iter().map(|it| format!("timeout = {it}")));
    lines.push(format!("stuck_after = {}", assigned.stuck_after));
    if !assigned.results.is_empty() {
        let words: Vec<String> = assigned.results.iter().map(|word| quoted(word)).collect();
        lines.push(format!("results = [{}]", words.join(", ")));
    }
    lines.push(format!("\n[[steps]]\nid = {}\n{NEVER}depends_on = [{}]", quoted(held), quoted(step)));
    if assigned.needs_result && assigned.results.is_empty() {
        lines.push(format!(
            "\n[[steps]]\nid = {}\n{NEVER}depends_on = [{}]\ncondition = {}",
            quoted(&format!("{held}-too")),
            quoted(step),
            quoted(&format!("{step}.result == 'a result that no agent reports'"))
        ));
    }
    lines.join("\n") + "\n"
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            // Writing to a string cannot fail.
            _ if letter.is_control() => write!(quoted, "\\u{:04X}", u32::from(letter)).unwrap_or_default(),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use orange_api::gateway::TaskAssigned;
    use orange_codegen::{Source, compile};
    use orange_core::Permissions;

    use super::*;
    use crate::crab::job::tests::assigned;

    #[track_caller]
    fn check(assigned: &TaskAssigned, lines: &[&str]) {
        let text = text(&Job::new(assigned.clone(), "j".to_owned()));
        for line in lines {
            assert!(text.lines().any(|it| it == *line), "{line} is not in\n{text}");
        }
        let compiled = compile(&Source::new("run.toml", &text));
        assert!(compiled.checked.is_some(), "{:?}\n{text}", compiled.diagnostics);
    }

    #[test]
    fn every_key_of_the_step_is_there() {
        let whole = TaskAssigned {
            harness: Some("codex".to_owned()),
            permissions: Permissions::Reduced,
            timeout: Some(60),
            stuck_after: 3,
            results: vec!["PASS".to_owned(), "FAIL".to_owned()],
            needs_result: true,
            ..assigned("review")
        };
        check(
            &whole,
            &[
                "harness = \"codex\"",
                "permissions = \"reduced\"",
                "timeout = 60",
                "stuck_after = 3",
                "results = [\"PASS\", \"FAIL\"]",
            ],
        );
    }

    #[test]
    fn a_step_of_any_name_compiles() {
        check(&assigned("held"), &["id = \"held-here\""]);
        check(&assigned("held-here"), &["id = \"held\""]);
        let needy = TaskAssigned { needs_result: true, ..assigned("plan") };
        check(&needy, &["condition = \"plan.result == 'a result that no agent reports'\""]);
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a\"b\\c\nd\u{7f}"), "\"a\\\"b\\\\c\\u000Ad\\u007F\"");
    }

    #[test]
    fn every_job_has_a_name_of_its_own() {
        let named = |run: &str, id: &str| {
            name(&Job::new(TaskAssigned { run_id: run.to_owned(), ..assigned("plan") }, id.to_owned()))
        };
        assert_eq!(named("m.plan.1", "a"), named("m.plan.1", "a"));
        assert_ne!(named("m.plan.1", "a"), named("m.plan.1", "b"));
        assert_ne!(named("m.plan.1", "a"), named("m.plan.2", "a"));
    }
}
