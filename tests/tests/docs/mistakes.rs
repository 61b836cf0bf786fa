//! Mistakes that authors make, each one in a workflow that ships, and what `check` says of them. The table on the page is the
//! expectation: `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` writes it again.

use std::fs;

use orange_analysis::lint;
use orange_codegen::diag::Diagnostic;
use orange_codegen::{Level, Source};

use crate::page::{MarkdownPage, root};

const PAGE: &str = "docs/linting.md";
const BEGIN: &str = "| mistake | found by | where |\n|---|---|---|\n";

/// A mistake: what it is, in words, and the text that is replaced, with what.
type Mistake = (&'static str, &'static str, &'static str);

/// The mistakes in each workflow.
const MISTAKES: &[(&str, &[Mistake])] = &[
    ("default.yml", IN_DEFAULT),
    ("minimal.yml", IN_MINIMAL),
    ("persistent.yml", IN_PERSISTENT),
    ("dev-task.toml", IN_DEV_TASK),
];

const HANDOFF: &str = "    gate:
      section: \"## Handoff\"
      required: true
      fresh: true
    reset: questions
    hooks:
      - action: kill_session
      - action: spawn_agent
        prompt: reviewer
        harness: review       # use task.review_harness
        permissions: reduced
        increment: review_round
";

const IN_DEFAULT: &[Mistake] = &[
    ("a state's name is misspelled in a transition", "  - from: working\n    to: agent-review\n", "  - from: working\n    to: agent-reveiw\n"),
    ("a key is misspelled", "exit_monitoring:\n", "exit_monitorng:\n"),
    ("a prompt's name is misspelled", "prompt: worker_fix\n", "prompt: worker-fix\n"),
    ("a key is written twice", "  stuck:\n    terminal: false\n", "  stuck:\n    terminal: false\n    terminal: false\n"),
    ("a line is indented by a tab", "  done:\n    terminal: true", "  done:\n\tterminal: true"),
    ("a boolean is a word", "  done:\n    terminal: true", "  done:\n    terminal: yes"),
    ("the version is a word", "version: 1\n", "version: one\n"),
    ("a harness that is none", "harness: review       #", "harness: reviewer     #"),
    ("the initial state is an end", "version: 1\n", "version: 1\ninitial: done\n"),
    ("`merge` leads to a state that is not an end", "version: 1\n", "version: 1\ncommands: {merge: working}\n"),
    ("a transition is declared twice", "  - from: stuck\n    to: cancelled\n", "  - from: stuck\n    to: cancelled\n  - from: stuck\n    to: cancelled\n"),
    ("`terminal` is forgotten at the end", "  done:\n    terminal: true", "  done:\n    terminal: false"),
    ("a state cannot be cancelled", "  - from: clarification\n    to: cancelled\n    hooks:\n      - action: kill_session\n      - action: release_workspace\n", ""),
    ("a heading is misspelled in the gate of a verdict", "    gate:\n      section: \"## Review\"\n      verdict: PASS", "    gate:\n      section: \"## Reveiw\"\n      verdict: PASS"),
    ("the gate of a verdict is forgotten", "    by: [reviewer, human]\n    gate:\n      section: \"## Review\"\n      verdict: PASS\n      strict: true\n      fresh: true\n    hooks", "    by: [reviewer, human]\n    hooks"),
    ("a worker may go round the review", "  - from: working\n    to: cancelled\n", "  - {from: working, to: reviewing, hooks: [{action: kill_session}]}\n\n  - from: working\n    to: cancelled\n"),
    ("a worker that waits for answers may ask for ever", "    when: \"questions < 2\"\n", ""),
    ("an option of a command is misspelled", "{orange} task update --status agent-review (triggers", "{orange} task update --statsu agent-review (triggers"),
    ("the gate of the handoff is forgotten", HANDOFF, "    reset: questions
    hooks:
      - action: kill_session
      - {action: spawn_agent, prompt: reviewer, harness: review, permissions: reduced, increment: review_round}
"),
    ("the gate takes an empty handoff", HANDOFF, "    gate: {section: \"## Handoff\", fresh: true}
    reset: questions
    hooks:
      - action: kill_session
      - {action: spawn_agent, prompt: reviewer, harness: review, permissions: reduced, increment: review_round}
"),
    ("the gate takes the handoff of the round before", HANDOFF, "    gate: {section: \"## Handoff\", required: true}
    reset: questions
    hooks:
      - action: kill_session
      - {action: spawn_agent, prompt: reviewer, harness: review, permissions: reduced, increment: review_round}
"),
    ("the worker is not ended when its review begins", HANDOFF, "    gate: {section: \"## Handoff\", required: true, fresh: true}
    reset: questions
    hooks:
      - {action: spawn_agent, prompt: reviewer, harness: review, permissions: reduced, increment: review_round}
"),
    ("the session is ended after the reviewer was started in it", HANDOFF, "    gate: {section: \"## Handoff\", required: true, fresh: true}
    reset: questions
    hooks:
      - {action: spawn_agent, prompt: reviewer, harness: review, permissions: reduced, increment: review_round}
      - action: kill_session
"),
    ("the counter never rises", "        permissions: reduced\n        increment: review_round\n\n  # Mend", "        permissions: reduced\n\n  # Mend"),
    ("a reviewer may write", "        permissions: reduced\n        increment: review_round\n\n  # Mend", "        permissions: full\n        increment: review_round\n\n  # Mend"),
    ("the worker may not write", "        prompt: worker\n        harness: task         # use task.harness\n        permissions: full", "        prompt: worker\n        harness: task         # use task.harness\n        permissions: reduced"),
    ("the verdicts of two gates are swapped", "      verdict: PASS\n      strict: true\n      fresh: true\n    hooks:\n      - action: kill_session\n\n  - from: agent-review\n    to: working\n    by: [reviewer, human]\n    gate:\n      section: \"## Review\"\n      verdict: FAIL", "      verdict: FAIL\n      strict: true\n      fresh: true\n    hooks:\n      - action: kill_session\n\n  - from: agent-review\n    to: working\n    by: [reviewer, human]\n    gate:\n      section: \"## Review\"\n      verdict: PASS"),
    ("the verdict of an exit rule is the other one", "        verdict: PASS\n        strict: true\n        fresh: true\n      then: reviewing", "        verdict: FAIL\n        strict: true\n        fresh: true\n      then: reviewing"),
    ("a verdict is read from prose", "      verdict: PASS\n      strict: true\n", "      verdict: PASS\n"),
    ("`by` is forgotten where a verdict decides; harmless, since no worker is alive there", "    to: reviewing\n    by: [reviewer, human]\n", "    to: reviewing\n"),
    ("the guard of the transition to a person is forgotten", "    when: \"review_round >= 2\"\n", ""),
    ("a guard is changed, and the exit rule is not", "    when: \"review_round < 2\"\n    hooks", "    when: \"review_round < 3\"\n    hooks"),
    ("the guards of an exit rule leave a gap", "        - when: \"review_round >= 2\"", "        - when: \"review_round > 2\""),
    ("the guards of an exit rule overlap", "        - when: \"review_round >= 2\"", "        - when: \"review_round >= 1\""),
    ("a counter is misspelled in a guard", "    when: \"review_round >= 2\"", "    when: \"review_rounds >= 2\""),
    ("the worktree is never taken", "      - action: acquire_workspace\n      - action: spawn_agent\n        prompt: worker\n", "      - action: spawn_agent\n        prompt: worker\n"),
    ("the worktree is not given back at the end", "    to: done\n    hooks:\n      - action: release_workspace\n", "    to: done\n    hooks:\n"),
    ("a cancelled task keeps its worktree", "  - from: working\n    to: cancelled\n    hooks:\n      - action: kill_session\n      - action: release_workspace\n", "  - from: working\n    to: cancelled\n    hooks:\n      - action: kill_session\n"),
    ("a cancelled task keeps its agent", "  - from: working\n    to: cancelled\n    hooks:\n      - action: kill_session\n      - action: release_workspace\n", "  - from: working\n    to: cancelled\n    hooks:\n      - action: release_workspace\n"),
    ("an agent that ends without a handoff has no rule", "    - status: working\n      no_artifact: true\n      action: crash\n      stuck_after: 2\n\n", ""),
    ("an agent with a handoff has no rule", "    - status: working\n      has_artifact:\n        section: \"## Handoff\"\n        required: true\n        fresh: true\n      then: agent-review\n", ""),
    ("the first crash is already the last", "      no_artifact: true\n      action: crash\n      stuck_after: 2\n\n    - status: agent-review", "      no_artifact: true\n      action: crash\n      stuck_after: 0\n\n    - status: agent-review"),
    ("an agent that starts again has the prompt of another one", "  working:\n    terminal: false\n    respawn_prompt: worker_respawn", "  working:\n    terminal: false\n    respawn_prompt: reviewer"),
    ("a state with an agent is marked as waiting for a person", "  agent-review:\n    terminal: false\n", "  agent-review:\n    terminal: false\n    wait: human\n"),
    ("the tests are a command for a shell", "    to: reviewing\n    by: [reviewer, human]\n    gate:\n      section: \"## Review\"\n      verdict: PASS\n      strict: true\n      fresh: true\n    hooks:\n", "    to: reviewing\n    by: [reviewer, human]\n    gate:\n      section: \"## Review\"\n      verdict: PASS\n      strict: true\n      fresh: true\n    hooks:\n      - {action: run_command, argv: [make, test, \"&&\", make, lint]}\n"),
    ("the reviewer's prompt has no command", "       - PASS → {orange} task update --status reviewing\n       - FAIL → {orange} task update --status working\n       - FAIL, and working is refused because the rounds are used up → {orange} task update --status stuck\n", "       as the skill says\n"),
    ("the reviewer's prompt swaps the commands", "       - PASS → {orange} task update --status reviewing\n       - FAIL → {orange} task update --status working\n", "       - PASS → {orange} task update --status working\n       - FAIL → {orange} task update --status reviewing\n"),
    ("a prompt names a state that is not there", "       - PASS → {orange} task update --status reviewing\n", "       - PASS → {orange} task update --status reviewed\n"),
    ("a prompt names a transition that is not there", "    7. {orange} task update --status agent-review (triggers review agent)\n\n    IMPORTANT", "    7. {orange} task update --status reviewing\n\n    IMPORTANT"),
    ("a prompt calls a command that is none", "    7. {orange} task update --status agent-review (triggers review agent)\n\n    IMPORTANT", "    7. {orange} update --status agent-review (triggers review agent)\n\n    IMPORTANT"),
    ("a placeholder is misspelled", "    # Task: {summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps", "    # Task: {sumary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps"),
    ("a placeholder has two pairs of braces", "    # Task: {summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps", "    # Task: {{summary}}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps"),
    ("a placeholder is a variable of a shell", "    # Task: {summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps", "    # Task: {summary}\n\n    Project: {project}\n    Branch: $branch\n\n    Steps"),
    ("a prompt has a bound that no guard has", "    Review round: {review_round}\n\n    You MUST", "    Review round: {review_round} of 3\n\n    You MUST"),
    ("a prompt has a bound in words that no guard has", "    Review round: {review_round}\n\n    You MUST", "    Review round: {review_round}, and there are three rounds.\n\n    You MUST"),
    ("a placeholder begins with a capital letter", "    # Task: {summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps", "    # Task: {Summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps"),
    ("a placeholder has angle brackets", "    # Task: {summary}\n\n    Project: {project}\n    Branch: {branch}\n\n    Steps", "    # Task: {summary}\n\n    Project: {project}\n    Branch: <branch>\n\n    Steps"),
    ("a prompt shows another verdict than gates read", "the first line \"Verdict: PASS\" or \"Verdict: FAIL\"", "the first line \"Verdict: APPROVED\" or \"Verdict: REJECTED\""),
    ("the prompt never says to write what the gate asks for", "    6. Write ## Handoff to TASK.md (DONE/REMAINING/DECISIONS/UNCERTAIN)\n    7. {orange} task update --status agent-review (triggers review agent)\n\n    IMPORTANT:\n    - Do NOT push to remote (no git push) — human handles that\n    - Do NOT set --status reviewing directly — always use agent-review\n    - ALWAYS write ## Handoff to TASK.md before setting --status agent-review\n      (the command will fail if ## Handoff is missing or as it was)\n", "    6. Write ## Summary to TASK.md\n    7. {orange} task update --status agent-review (triggers review agent)\n"),
];

const IN_MINIMAL: &[Mistake] = &[
    (
        "the worktree is given back before the branch is pushed",
        "      fresh: true\n    hooks:\n      - action: kill_session\n",
        "      fresh: true\n    hooks:\n      - action: kill_session\n      - action: release_workspace\n      - action: push_branch\n",
    ),
    (
        "no transition leads from the state for a person back to work",
        "  - from: stuck\n    to: working\n    hooks:\n      - action: spawn_agent\n        prompt: worker\n        harness: task\n        permissions: full\n",
        "",
    ),
    (
        "a state is declared and nothing leads there",
        "  - from: working\n    to: stuck\n    hooks:\n      - action: kill_session\n",
        "",
    ),
    (
        "the handoff says why the work cannot go on, and ships later",
        "      required: true\n      fresh: true\n    hooks:\n      - action: kill_session\n",
        "      required: true\n    hooks:\n      - action: kill_session\n",
    ),
    (
        "an agent starts beside one that is alive",
        "  - from: working\n    to: stuck\n    hooks:\n      - action: kill_session\n",
        "  - from: working\n    to: stuck\n",
    ),
];

const IN_PERSISTENT: &[Mistake] = &[
    ("the worker, who is alive, may merge", "    to: done\n    by: human\n", "    to: done\n"),
    (
        "the worker, who is alive, may pass its review",
        "    to: reviewing\n    by: [reviewer, human]\n",
        "    to: reviewing\n",
    ),
    ("a merge takes the verdict on earlier work", "      of: patch\n", ""),
    (
        "the reviewer's window stays",
        "      - action: kill_reviewer\n      - action: notify_worker\n        message: |\n          The review failed",
        "      - action: notify_worker\n        message: |\n          The review failed",
    ),
    (
        "the counter rises after the reviewer was named by it",
        "        permissions: reduced\n        increment: review_round\n",
        "        permissions: reduced\n      - {action: increment_counter, counter: review_round}\n",
    ),
];

const IN_DEV_TASK: &[Mistake] = &[
    ("a dependency is misspelled", "depends_on = [\"implement\"]", "depends_on = [\"implment\"]"),
    ("a step depends on itself", "depends_on = [\"implement\"]", "depends_on = [\"review\"]"),
    (
        "two steps wait for each other",
        "prompt_file = \"do/implement.md\"\ndepends_on = [\"plan\"]",
        "prompt_file = \"do/implement.md\"\ndepends_on = [\"review\"]",
    ),
    (
        "a condition has another operator",
        "condition = \"review.result == 'FAIL'\"",
        "condition = \"review.result = 'FAIL'\"",
    ),
    (
        "a condition has a result that is not declared",
        "condition = \"review.result == 'FAIL'\"",
        "condition = \"review.result == 'FAILED'\"",
    ),
    (
        "a condition reads a step that runs later",
        "condition = \"review.result == 'FAIL'\"",
        "condition = \"pr.result == 'FAIL'\"",
    ),
    (
        "two steps run on the same result",
        "condition = \"review.result == 'PASS'\"",
        "condition = \"review.result == 'FAIL'\"",
    ),
    ("nobody judges the fix", "max_retries = 3\nrequeue = [\"review\"]\n", ""),
    ("the loop has no bound", "max_retries = 3\n", ""),
    ("the bound is 0", "max_retries = 3\n", "max_retries = 0\n"),
    ("nobody hears of the last failure", "on_fail = \"hand-over\"\n", ""),
    ("a role is misspelled", "role = \"reviewer\"", "role = \"revewer\""),
    ("a prompt's file is not there", "do/review.md", "do/reviews.md"),
    (
        "the pull request does not wait for the review",
        "depends_on = [\"review\"]\ncondition = \"review.result == 'PASS'\"",
        "depends_on = [\"implement\"]",
    ),
    ("a reviewer may write", "permissions = \"reduced\"\n", ""),
    (
        "the worker may not write",
        "depends_on = [\"plan\"]\n",
        "depends_on = [\"plan\"]\npermissions = \"reduced\"\n",
    ),
    ("a word that `execution` does not have", "execution = \"auto\"", "execution = \"manual\""),
];

#[test]
fn what_check_finds_of_each_mistake_is_on_the_page() {
    let page = MarkdownPage::read(PAGE);
    let (before, rest) = page.text.split_once(BEGIN).unwrap();
    let end = rest.find("\n\n").unwrap();
    let rows: String = MISTAKES.iter().flat_map(|(file, all)| all.iter().map(|it| row(file, it))).collect();
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        let text = [before, BEGIN, rows.trim_end(), &rest[end..]].concat();
        fs::write(root().join(PAGE), text).unwrap();
    } else {
        assert_eq!(&rest[..end], rows.trim_end(), "ORANGE_REWRITE=1 writes the rows again");
    }
}

/// One fault is one finding, in nine of ten.
#[test]
fn most_mistakes_are_found_and_most_of_them_once() {
    let all = || MISTAKES.iter().flat_map(|(file, all)| all.iter().map(move |it| found(file, it).len()));
    let (count, missed) = (all().count(), all().filter(|it| *it == 0).count());
    let often = all().filter(|it| *it > 1).count();
    assert!(count >= 60 && missed * 20 <= count, "{missed} of {count} are not found");
    assert!(often * 10 <= count, "{often} of {count} are found more than once");
}

fn row(file: &str, mistake: &Mistake) -> String {
    let found = found(file, mistake);
    let of = |part: fn(&(String, String)) -> &str| found.iter().map(part).collect::<Vec<_>>().join(", ");
    let by = if found.is_empty() { "nothing".to_owned() } else { of(|it| &it.0) };
    format!("| {}, in `{file}` | {by} | {} |\n", mistake.0, of(|it| &it.1))
}

/// Findings, as the check and the line, counted from the mistake's first one.
fn found(file: &str, (what, old, new): &Mistake) -> Vec<(String, String)> {
    let source = Source::read(&root().join("workflows").join(file)).unwrap();
    let (before, after) = source.text.split_once(old).unwrap_or_else(|| panic!("{file}, {what}: {old}"));
    let text = [before, new, after].concat();
    let mistake = before.len()..=before.len() + new.len();
    let changed = Source::new(&source.path, text).with_files(source.prompt_files.clone());
    let findings = lint(&changed).diagnostics.into_iter().filter(|it| it.level <= Level::Info);
    let place = |it: &Diagnostic| {
        let mut spans = [it.span].into_iter().chain(it.labels.iter().map(|label| label.span));
        if mistake.contains(&(it.span.start as usize)) {
            return "there".to_owned();
        }
        let line = line(&changed.text, it.span.start as usize);
        let also = spans.any(|span| mistake.contains(&(span.start as usize)));
        format!("`{line}`{}", if also { ", and there" } else { "" })
    };
    findings.map(|it| (format!("[{}](lints/{}.md)", it.code(), it.check.name), place(&it))).collect()
}

fn line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    text[start..].lines().next().unwrap_or_default().trim()
}
