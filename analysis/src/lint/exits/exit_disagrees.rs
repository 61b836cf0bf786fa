//! C4E: what an agent has written lets it leave when it asks, and counts for something else when it ends.

use std::collections::BTreeSet;

use orange_core::{SectionGate, TransitionId, check_section};

use super::C4E;
use super::text::condition_of;
use crate::lint::{ActorKind, Facts};
use crate::search::task::ABSENT;
use crate::search::{ConfigurationId, EdgeId, ExitResult, SearchStep, Wrote};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{self, Gate};

/// A request and an end after the same words, of which the engine thinks differently.
struct Disagreement {
    request: EdgeId,
    transition: TransitionId,
    exit: EdgeId,
    outcome: ExitResult,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    for (id, task) in facts.search.configurations() {
        if facts.machine.exit_rules_of(task.status).is_empty() {
            continue;
        }
        for it in disagreements(facts, id) {
            if reported.insert(it.transition) {
                found.push(finding(facts, &it));
            }
        }
    }
    found
}

fn disagreements(facts: &Facts<'_>, id: ConfigurationId) -> Vec<Disagreement> {
    let agent = facts.machine.state(facts.search.task(id).status).agent;
    let exits: Vec<(EdgeId, Option<Wrote>, ExitResult)> = facts
        .search
        .numbered_from(id)
        .filter_map(|(edge, it)| match it.step {
            SearchStep::Exit { agent: of, one: None, wrote, end: None, outcome } if of == agent => {
                Some((edge, wrote, outcome))
            }
            SearchStep::Exit { .. }
            | SearchStep::Request { .. }
            | SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Failure { .. }
            | SearchStep::Retry { .. }
            | SearchStep::Respawn => None,
        })
        .collect();
    let requests = facts.search.numbered_from(id).filter_map(|(edge, it)| match it.step {
        SearchStep::Request { transition, by, wrote, .. } if by == agent => Some((edge, wrote, transition)),
        SearchStep::Request { .. }
        | SearchStep::Exit { .. }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. }
        | SearchStep::Respawn => None,
    });
    let pairs = requests.filter_map(|(request, wrote, transition)| {
        let (exit, _, outcome) = *exits.iter().find(|(_, of, _)| *of == wrote)?;
        let it = Disagreement { request, transition, exit, outcome };
        (it.is_one(facts) && !it.is_loose(facts)).then_some(it)
    });
    pairs.collect()
}

impl Disagreement {
    /// True if the agent that asks comes to a state to which rules lead for other words alone, or has done what a gate wants and
    /// counts as crashed. A rule that is shadowed, or refused by guard or gate, is the fault of other checks.
    fn is_one(&self, facts: &Facts<'_>) -> bool {
        let machine = facts.machine;
        let transition = machine.transition(self.transition);
        let agrees = match self.outcome {
            ExitResult::Advance(id) => machine.transition(id).to == transition.to,
            ExitResult::Marked | ExitResult::Waits { .. } => true,
            ExitResult::Escalate(_) | ExitResult::Crash { .. } => false,
        };
        if agrees {
            return false;
        }
        let exit = facts.search.edge(self.exit);
        let leading = machine
            .exit_rules_of(transition.from)
            .filter(|at| facts.exit_rules[*at].outcome.targets().any(|to| to == transition.to));
        let leading: Vec<usize> = leading.collect();
        let is_ruled =
            !leading.is_empty() && leading.iter().all(|at| facts.deciding().sections(*at).next().is_some());
        let deciding = facts.deciding().rule(self.exit);
        let is_shadowed =
            leading.iter().any(|at| Some(*at) != deciding && facts.deciding().holds(facts, *at, exit));
        // What an agent writes when it gives up is not work: to end with it is a crash, which leads there, too.
        let is_work = !transition.gates.is_empty()
            && facts.actor_kinds[self.transition.0 as usize] != ActorKind::Person
            && !facts.gives_up(self.transition);
        match self.outcome {
            ExitResult::Advance(_) => is_ruled && !is_shadowed,
            ExitResult::Escalate(_) | ExitResult::Crash { .. } => {
                let rule = deciding.map(|at| &facts.exit_rules[at].outcome);
                let is_meant = matches!(rule, Some(model::Outcome::Crash { .. }));
                is_meant && !is_shadowed && (is_ruled || is_work)
            }
            ExitResult::Marked | ExitResult::Waits { .. } => false,
        }
    }
}

impl Disagreement {
    /// True if a gate lets the agent leave only because it takes a verdict from prose: `loose-verdict` says so.
    fn is_loose(&self, facts: &Facts<'_>) -> bool {
        facts.machine.transition(self.transition).section_gates().any(|gate| self.is_loose_by(facts, gate))
    }

    fn is_loose_by(&self, facts: &Facts<'_>, gate: &SectionGate<'_>) -> bool {
        let request = facts.search.edge(self.request);
        let Some(at) = facts.search.sections.find(gate.section) else { return false };
        let wrote = request.step.wrote().filter(|it| usize::from(it.section) == at);
        let content = wrote.map(|it| it.content);
        let stands = facts.search.task(request.from).section(at).content;
        let section = facts.search.sections.get(at);
        let text =
            section.contents[usize::from(content.unwrap_or(stands))].text.as_deref().unwrap_or_default();
        let strict = SectionGate { strict: true, fresh: false, ..*gate };
        let is_prose =
            !gate.strict && check_section(&strict, &format!("{}\n{text}\n", section.heading), &[]).is_err();
        gate.asks_for_verdict() && is_prose
    }
}

fn finding(facts: &Facts<'_>, it: &Disagreement) -> Diagnostic {
    let transition = facts.transition(it.transition);
    let arrow = facts.arrow(transition);
    let words = words(facts, it);
    let becomes = match it.outcome {
        ExitResult::Advance(id) => format!("goes to `{}`", facts.name(facts.machine.transition(id).to)),
        ExitResult::Escalate(_)
        | ExitResult::Crash { .. }
        | ExitResult::Marked
        | ExitResult::Waits { .. } => "counts as crashed".to_owned(),
    };
    let message = format!("{arrow} lets an agent leave {words}, and one that ends with the same {becomes}");
    let place = transition.gates.first().map_or(transition.span, Gate::place);
    let mut found = Diagnostic::new(&C4E, facts.first_line(transition.span), message)
        .label(facts.first_line(place), format!("1. an agent that asks is let through {words}"));
    if let Some(rule) = facts.deciding().rule(it.exit) {
        let rule = facts.exit_rules[rule];
        found =
            found.label(condition_of(facts, rule), format!("2. by this rule one that has ended {becomes}"));
    }
    found.trace(facts.tell(&facts.search.run_through(it.exit), None)).help(format!(
        "let {arrow} and the exit rules of `{}` ask for the same: section, verdict, fields, guard",
        facts.name(transition.from.value)
    ))
}

/// Content of the section that the gate reads, or the rules do, in words.
fn words(facts: &Facts<'_>, it: &Disagreement) -> String {
    let request = facts.search.edge(it.request);
    let mut gates = facts.machine.transition(it.transition).section_gates();
    let rule = facts.deciding().rule(it.exit);
    let read = gates.find_map(|it| facts.search.sections.find(it.section));
    let read = read.or_else(|| rule.and_then(|rule| facts.deciding().sections(rule).next()));
    let (section, content, when) = match (request.step.wrote(), read) {
        (Some(wrote), _) => (usize::from(wrote.section), wrote.content, ""),
        (None, Some(section)) => {
            let content = facts.search.task(request.from).section(section).content;
            (section, content, if content == ABSENT { "" } else { " of before" })
        }
        (None, None) => return "as things are".to_owned(),
    };
    let section = facts.search.sections.get(section);
    let label = &section.contents[usize::from(content)].label;
    match section.asked {
        Some(asked) => format!("when {} answers `{label}`{when}", asked.name()),
        None => format!("with {} ({label}){when}", section.heading),
    }
}

#[cfg(test)]
mod tests {
    use crate::every_finding;
    use orange_codegen::Source;

    /// Asserts the findings of the lint for a worker and a reviewer with these gates on the transitions out of review, and these
    /// rules.
    #[track_caller]
    fn check([pass, fail, stuck]: [&str; 3], rules: &[&str], expect: &[&str]) {
        let rules: String = rules.iter().map(|it| format!("    - {{status: review, {it}}}\n")).collect();
        let text = format!(
            "name: flow
states: {{working: {{respawn_prompt: w}}, review: {{respawn_prompt: r}}, stuck: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: working, to: review, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: r, harness: review, increment: review_round}}]}}
  - {{from: review, to: done, {pass}}}
  - {{from: review, to: working, {fail}, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: w}}]}}
  - {{from: review, to: stuck, {stuck}}}
  - {{from: stuck, to: working}}
exit_monitoring:
  rules:
{rules}prompts:
  w: \"--status review\"
  r: \"Write ## Review: `Verdict: PASS` or `Verdict: FAIL`. --status done, or --status working or --status stuck\"
"
        );
        let found = every_finding(&Source::new("flow.yml", &text)).diagnostics;
        let reported: Vec<&str> =
            found.iter().filter(|it| it.code() == "C4E").map(|it| it.message.as_str()).collect();
        assert_eq!(reported, expect, "{text}");
    }

    const PASS: &str = "gate: {section: '## Review', verdict: PASS, fresh: true}";
    const FAIL: &str = "when: 'review_round < 2', gate: {section: '## Review', verdict: FAIL, fresh: true}";
    const STUCK: &str = "when: 'review_round >= 2', gate: {section: '## Review', verdict: FAIL, fresh: true}";
    const RULES: [&str; 3] = [
        "has_artifact: {section: '## Review', verdict: PASS, fresh: true}, then: done",
        "has_artifact: {section: '## Review', verdict: FAIL, fresh: true}, then_when: [{when: 'review_round < 2', then: working}, {when: 'review_round >= 2', then: stuck}]",
        "action: crash",
    ];

    #[test]
    fn gates_and_rules_that_ask_for_the_same_agree() {
        check([PASS, FAIL, STUCK], &RULES, &[]);
    }

    #[test]
    fn a_transition_that_asks_for_less_than_its_rule_is_reported() {
        let loose = "gate: {section: '## Review', required: true, fresh: true}";
        check(
            [loose, FAIL, STUCK],
            &RULES,
            &[
                "`review → done` lets an agent leave with ## Review (without a verdict), and one that ends with the same counts as crashed",
            ],
        );
        check(
            [PASS, &FAIL.replace("< 2", "< 3"), STUCK],
            &RULES,
            &[
                "`review → working` lets an agent leave with ## Review (Verdict: FAIL), and one that ends with the same goes to `stuck`",
            ],
        );
        check([PASS, FAIL, "by: human"], &RULES, &[]);
    }

    #[test]
    fn work_that_no_rule_knows_is_reported_where_an_agent_asks() {
        let [_, fails, crash] = RULES;
        check(
            [PASS, FAIL, STUCK],
            &[fails, crash],
            &[
                "`review → done` lets an agent leave with ## Review (Verdict: PASS), and one that ends with the same counts as crashed",
            ],
        );
        check([PASS, FAIL, STUCK], &["action: mark_dead"], &[]);
    }

    #[test]
    fn rules_that_are_shadowed_or_refused_are_left_to_other_checks() {
        let [passes, fails, crash] = RULES;
        let any = "has_artifact: {section: '## Review'}, then: stuck";
        check([PASS, FAIL, "by: human"], &[any, passes, fails, crash], &[]);
        let strict = PASS.replace("fresh", "strict: true, fresh");
        check([&strict, FAIL, STUCK], &RULES, &[]);
    }
}
