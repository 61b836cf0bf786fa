//! The contract of a workflow with agents, status by status: what to write, what to run, what is refused and why. It reads the
//! machine, and leaves out hooks, which agents need not know.

use orange_core::{Actor, Actors, Fields, Gate, Machine, OpenChildren, SectionGate, StateId, Transition};

use crate::workflow::{Contract, Duty, StatusContract};

/// The contract of a workflow, with each status in which an agent has something to ask for.
pub fn of<'m>(machine: &'m Machine<'m>) -> Contract<'m> {
    let statuses = machine.state_ids().map(|status| of_status(machine, status));
    Contract {
        workflow: machine.name.into(),
        statuses: statuses.filter(|it| !it.transitions.is_empty()).collect(),
    }
}

/// The contract for readers, one paragraph for each status.
pub fn text(contract: &Contract<'_>) -> String {
    contract.statuses.iter().map(describe).collect::<Vec<_>>().join("\n\n")
}

/// An example of the sections that pass the gates, if none of these refuses it as old.
pub fn example(gates: &[Gate<'_>]) -> Option<String> {
    let all: Vec<&SectionGate<'_>> = gates.iter().filter_map(|gate| gate_of_example(gate)).collect();
    let mut headings: Vec<&str> = Vec::new();
    for gate in &all {
        if !headings.contains(&gate.section) {
            headings.push(gate.section);
        }
    }
    let sections = headings.iter().map(|heading| {
        let same: Vec<_> = all.iter().copied().filter(|it| it.section == *heading).collect();
        format!("{heading}\n\n{}", content(&same).join("\n"))
    });
    Some(sections.collect::<Vec<_>>().join("\n\n")).filter(|it| !it.is_empty())
}

/// Of several sections of which one is enough, the first.
fn gate_of_example<'g>(gate: &'g Gate<'_>) -> Option<&'g SectionGate<'g>> {
    gate.sections().first()
}

/// An example of the content of a section that these gates read.
fn content(gates: &[&SectionGate<'_>]) -> Vec<String> {
    let verdict = gates.iter().filter(|it| it.asks_for_verdict()).find_map(|it| it.wanted().next());
    let mut lines: Vec<String> = Vec::new();
    if let Some(verdict) = verdict {
        lines.push(format!("Verdict: {verdict}"));
        lines.push("The reasons, each with its place in the code.".to_owned());
    }
    for name in gates.iter().flat_map(|it| wanted_fields(it.fields)) {
        let line = format!("{name}: what there is to say about it");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.push("What there is to say, in at least one line.".to_owned());
    }
    lines
}

/// Names of which lines are enough.
fn wanted_fields<'a>(fields: Fields<'a>) -> &'a [&'a str] {
    match fields {
        Fields::Any(names) => names.get(..1).unwrap_or_default(),
        Fields::All(names) => names,
    }
}

/// Conditions of gates, in a few words; `None` where there are none.
pub fn gate_words(gates: &[Gate<'_>]) -> Option<String> {
    let each = gates.iter().map(|gate| match gate {
        Gate::Section(gate) => section_words(gate),
        Gate::AnySection(any) => any.iter().map(section_words).collect::<Vec<_>>().join(" or "),
        Gate::Command(program) => format!("`{program}` succeeds"),
        Gate::OnMerge(program) => format!("`{program}` succeeds on the result of the merge"),
        Gate::Checks => "the checks of the pull request are green".to_owned(),
        Gate::Children(OpenChildren::Some) => "a task that it has created is open".to_owned(),
        Gate::Children(OpenChildren::None) => "no task that it has created is open".to_owned(),
    });
    Some(each.collect::<Vec<_>>().join(" and ")).filter(|it| !it.is_empty())
}

fn section_words(gate: &SectionGate<'_>) -> String {
    let mut wants = Vec::new();
    if gate.asks_for_verdict() {
        let place = if gate.strict { "first line " } else { "" };
        let lines: Vec<String> = gate.wanted().map(|verdict| format!("`Verdict: {verdict}`")).collect();
        wants.push(format!("{place}{}", joined_with_or(&lines)));
    } else if gate.required {
        wants.push("not empty".to_owned());
    }
    if !gate.fields.is_empty() {
        wants.push(match gate.fields {
            Fields::Any(_) => format!("a line {}", fields(gate)),
            Fields::All(_) => format!("lines {}", fields(gate)),
        });
    }
    if gate.fresh {
        wants.push("rewritten".to_owned());
    }
    wants.extend(gate.of.map(|of| format!("of this {}", of.as_str())));
    if wants.is_empty() {
        return format!("`{}`", gate.section);
    }
    format!("`{}` ({})", gate.section, wants.join(", "))
}

/// Actors that may ask for a transition.
pub fn askers<'m, S: From<&'m str>>(machine: &Machine<'m>, by: Actors) -> Vec<S> {
    let askers = by.iter().filter(|actor| *actor != Actor::Engine);
    askers.map(|actor| machine.actor_name(actor).into()).collect()
}

fn of_status<'m>(machine: &'m Machine<'m>, status: StateId) -> StatusContract<'m> {
    let leaving = machine.transitions.iter().filter(|it| it.from == status && is_for_agents(it));
    let between = |to: StateId| machine.between(status, to).map(|id| machine.transition(id));
    let by = |to: StateId| between(to).fold(Actors::NONE, |by, it| by.joined(it.by));
    let others = || machine.targets(status).filter(|to| !between(*to).any(is_for_agents));
    let for_programs = others().filter(|to| by(*to).declared().next().is_some());
    StatusContract {
        status: machine.state(status).name.into(),
        transitions: leaving.map(|transition| duty(machine, transition)).collect(),
        for_persons: others()
            .filter(|to| by(*to).names(Actor::Human) || by(*to).declared().next().is_none())
            .map(|to| machine.state(to).name.into())
            .collect(),
        for_programs: for_programs
            .map(|to| (machine.state(to).name.into(), askers(machine, by(to))))
            .collect(),
    }
}

fn is_for_agents(transition: &Transition<'_>) -> bool {
    transition.by.allows(Actor::Worker) || transition.by.allows(Actor::Reviewer)
}

fn duty<'m>(machine: &'m Machine<'m>, transition: &Transition<'m>) -> Duty<'m> {
    let to = machine.state(transition.to).name;
    Duty {
        to: to.into(),
        by: askers(machine, transition.by),
        guard: transition.guard.map(|guard| guard.text).map(Into::into),
        gate: gate_words(transition.gates),
        write: example(transition.gates),
        run: format!("orange task update --status {to}"),
        refused: refused(transition),
    }
}

fn describe(status: &StatusContract<'_>) -> String {
    let mut lines = vec![format!("In {}:", status.status)];
    let mut shown: Vec<&str> = Vec::new();
    for Duty { gate, write, run, refused, .. } in &status.transitions {
        let write_first = gate.as_ref().map(|gate| format!("write {gate}, then ")).unwrap_or_default();
        lines.push(format!("- {write_first}run `{run}`"));
        if !refused.is_empty() {
            lines.push(format!("  refused {}", refused.join("; ")));
        }
        if let Some(example) = write.as_deref().filter(|example| !shown.contains(example)) {
            lines.push("  for example:".to_owned());
            lines.push(String::new());
            lines.extend(example.lines().map(|line| format!("      {line}").trim_end().to_owned()));
            lines.push(String::new());
            shown.push(example);
        }
    }
    let is_for_programs = |to: &str| status.for_programs.iter().any(|(it, _)| it == to);
    let for_persons = status.for_persons.iter().filter(|to| !is_for_programs(to));
    let for_persons: Vec<_> = for_persons.map(|name| format!("`{name}`")).collect();
    if !for_persons.is_empty() {
        lines.push(format!("- leave {} to a person", joined_with_or(&for_persons)));
    }
    for (to, by) in &status.for_programs {
        let person = Actor::Human.kind();
        let by: Vec<_> = by.iter().map(|it| if *it == person { "a person" } else { it }.to_owned()).collect();
        lines.push(format!("- leave `{to}` to {}", joined_with_or(&by)));
    }
    lines.join("\n").trim_end().to_owned()
}

/// Every reason to refuse an agent this transition, in the order in which the engine checks them: its guard first.
fn refused(transition: &Transition<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for (actor, other) in [(Actor::Worker, Actor::Reviewer), (Actor::Reviewer, Actor::Worker)] {
        if transition.by.allows(actor) && !transition.by.allows(other) {
            reasons.push(format!("to a {other}"));
        }
    }
    reasons.extend(transition.guard.map(|guard| format!("unless {}", guard.text)));
    let faulty = |gate: &Gate<'_>| match gate {
        Gate::Section(gate) => format!("while `{}` {}", gate.section, joined_with_or(&faults(gate))),
        Gate::AnySection(any) => {
            let each: Vec<_> = any.iter().map(|gate| format!("`{}`", gate.section)).collect();
            format!("while none of {} is as it must be", joined(&each, "and"))
        }
        Gate::Command(program) => format!("while `{program}` fails, which Orange runs in the worktree"),
        Gate::OnMerge(program) => {
            format!("while `{program}` fails, which `orange task merge` runs on the result of the merge")
        }
        Gate::Checks => "while the checks of the pull request are not green".to_owned(),
        Gate::Children(OpenChildren::Some) => "while no task that it has created is open".to_owned(),
        Gate::Children(OpenChildren::None) => "while a task that it has created is open".to_owned(),
    };
    reasons.extend(transition.gates.iter().map(faulty));
    reasons
}

/// Everything that can be wrong with the section of a gate.
fn faults(gate: &SectionGate<'_>) -> Vec<String> {
    let mut faults = vec!["is missing".to_owned()];
    if gate.required || gate.asks_for_verdict() || !gate.fields.is_empty() {
        faults.push("is empty".to_owned());
    }
    if gate.asks_for_verdict() {
        faults.push(
            if gate.strict { "does not begin with its verdict" } else { "has no line with one verdict" }
                .to_owned(),
        );
        let others: Vec<String> = gate.others().map(|it| it.to_string()).collect();
        if !others.is_empty() {
            faults.push(format!("says {}", joined_with_or(&others)));
        }
    }
    if !gate.fields.is_empty() {
        faults.push(match gate.fields {
            Fields::Any(_) => format!("has no line {}", fields(gate)),
            Fields::All(_) => format!("lacks one of the lines {}", fields(gate)),
        });
    }
    if gate.fresh {
        faults.push("is what was accepted before".to_owned());
    }
    faults.extend(gate.of.map(|of| format!("was accepted of another {}", of.as_str())));
    faults
}

fn fields(gate: &SectionGate<'_>) -> String {
    let names: Vec<_> = gate.fields.names().iter().map(|name| format!("`{name}:`")).collect();
    match gate.fields {
        Fields::Any(_) => joined_with_or(&names),
        Fields::All(_) => joined(&names, "and"),
    }
}

fn joined_with_or(words: &[String]) -> String {
    joined(words, "or")
}

fn joined(words: &[String], last_word: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {last_word} {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use orange_core::{Actors, Answers, View};

    use super::*;
    use orange_core::Verdict;

    const TRANSITION: Transition<'_> = Transition {
        from: StateId(0),
        to: StateId(1),
        by: Actors::ANYONE,
        cause: None,
        guard: None,
        gates: &[],
        hooks: &[],
        on_hook_failure: None,
    };

    #[test]
    fn what_is_for_persons_alone_is_not_asked_of_agents() {
        let by = |by| Transition { by, ..TRANSITION };
        assert!(is_for_agents(&by(Actors::ANYONE)));
        assert!(is_for_agents(&by(Actors::NONE.with(Actor::Reviewer))));
        assert!(!is_for_agents(&by(Actors::NONE.with(Actor::Human))));
        let reviewers = by(Actors::NONE.with(Actor::Reviewer).with(Actor::Human));
        assert_eq!(refused(&reviewers), ["to a worker"]);
    }

    #[test]
    fn a_gate_in_a_few_words() {
        let gate = SectionGate {
            section: "## S",
            required: false,
            verdict: None,
            verdicts: &[],
            strict: false,
            fields: Fields::NONE,
            fresh: false,
            of: None,
            reviewer: None,
        };
        assert_eq!(section_words(&gate), "`## S`");
        let fields = SectionGate { fields: Fields::Any(&["A", "B"]), ..gate };
        assert_eq!(section_words(&fields), "`## S` (a line `A:` or `B:`)");
        assert_eq!(joined_with_or(&faults(&fields)), "is missing, is empty or has no line `A:` or `B:`");
        let strict = SectionGate { verdict: Some(Verdict::PASS), strict: true, fresh: true, ..gate };
        assert_eq!(section_words(&strict), "`## S` (first line `Verdict: PASS`, rewritten)");
        let of = SectionGate { fresh: false, of: Some(orange_core::VerdictOf::Patch), ..strict };
        assert_eq!(section_words(&of), "`## S` (first line `Verdict: PASS`, of this patch)");
        assert!(joined_with_or(&faults(&of)).ends_with(" or was accepted of another patch"));
        assert_eq!(gate_words(&[]), None);
        let both = SectionGate { section: "## T", fields: Fields::All(&["A", "B"]), ..gate };
        let gates = [strict, both].map(Gate::Section);
        let words = "`## S` (first line `Verdict: PASS`, rewritten) and `## T` (lines `A:` and `B:`)";
        assert_eq!(gate_words(&gates).as_deref(), Some(words));
        assert_eq!(
            joined_with_or(&faults(&both)),
            "is missing, is empty or lacks one of the lines `A:` and `B:`"
        );
    }

    #[test]
    fn an_example_has_each_section_once_with_all_that_is_wanted() {
        let gate = SectionGate {
            section: "## S",
            required: false,
            verdict: Some(Verdict::PASS),
            verdicts: &[],
            strict: true,
            fields: Fields::NONE,
            fresh: false,
            of: None,
            reviewer: None,
        };
        let fields = SectionGate { verdict: None, strict: false, fields: Fields::All(&["A", "B"]), ..gate };
        let other = SectionGate { section: "## T", fields: Fields::Any(&["C", "D"]), ..fields };
        let gates = [gate, other, fields].map(Gate::Section);
        let body = example(&gates).unwrap();
        let view =
            View { status: StateId(0), counters: &[], body: &body, seen: &[], answers: Answers::default() };
        assert_eq!(view.check(&gates), Ok(()), "{body}");
        assert_eq!(body.matches("## S").count(), 1);
        assert_eq!(example(&[]), None);
    }
}
