//! What a workflow asks of agents, status by status: what to write, what to run, what is refused and why (seed 000,
//! "Agent Protocol"). It has what the machine says and no hooks, which agents need not know.

use orange_core::{Actor, Gate, Machine, StateId, Transition, Verdict};
use serde_json::{Value, json};

/// The contract for readers, one paragraph for each status in which an agent has something to ask for.
pub fn text(machine: &Machine<'_>) -> String {
    let statuses = statuses(machine).map(|(status, ways)| of_status(machine, status, &ways));
    statuses.collect::<Vec<_>>().join("\n\n")
}

/// The contract for programs.
pub fn json(machine: &Machine<'_>) -> Value {
    let statuses = statuses(machine).map(|(status, ways)| {
        let ways: Vec<_> = ways.iter().map(|way| way_json(machine, way)).collect();
        json!({ "status": machine.state(status).name, "ways": ways })
    });
    json!({ "workflow": machine.name, "statuses": statuses.collect::<Vec<_>>() })
}

/// A section that passes the gate, unless the gate wants it to be new and it is not.
pub fn example(gate: &Gate<'_>) -> String {
    let content = match (gate.verdict, gate.fields.first()) {
        (Some(verdict), _) => format!("Verdict: {verdict}\nThe reasons, each with its place in the code."),
        (None, Some(field)) => format!("{field}: what there is to say about it"),
        (None, None) => "What there is to say, in at least one line.".to_owned(),
    };
    format!("{}\n\n{content}", gate.section)
}

/// What a gate asks for, in a few words.
pub fn gate_words(gate: &Gate<'_>) -> String {
    let mut wants = Vec::new();
    if let Some(verdict) = gate.verdict {
        let place = if gate.strict { "first line " } else { "" };
        wants.push(format!("{place}`Verdict: {verdict}`"));
    } else if gate.required {
        wants.push("not empty".to_owned());
    }
    if !gate.fields.is_empty() {
        wants.push(format!("a line {}", fields(gate)));
    }
    if gate.fresh {
        wants.push("written anew".to_owned());
    }
    if wants.is_empty() {
        return format!("`{}`", gate.section);
    }
    format!("`{}` ({})", gate.section, wants.join(", "))
}

fn statuses<'m>(machine: &'m Machine<'m>) -> impl Iterator<Item = (StateId, Vec<&'m Transition<'m>>)> {
    let of =
        |from| machine.transitions.iter().filter(move |way| way.from == from && for_agents(way)).collect();
    machine.state_ids().map(move |from| (from, of(from))).filter(|(_, ways): &(_, Vec<_>)| !ways.is_empty())
}

fn for_agents(way: &Transition<'_>) -> bool {
    way.by.allows(Actor::Worker) || way.by.allows(Actor::Reviewer)
}

fn of_status(machine: &Machine<'_>, status: StateId, ways: &[&Transition<'_>]) -> String {
    let mut lines = vec![format!("In {}:", machine.state(status).name)];
    let mut shown: Vec<String> = Vec::new();
    for way in ways {
        lines.push(format!("- {}", duty(machine, way)));
        let refused = refused(way);
        if !refused.is_empty() {
            lines.push(format!("  refused {}", refused.join("; ")));
        }
        let example = way.gate.as_ref().map(example).filter(|example| !shown.contains(example));
        if let Some(example) = example {
            lines.push("  for example:".to_owned());
            lines.push(String::new());
            lines.extend(example.lines().map(|line| format!("      {line}").trim_end().to_owned()));
            lines.push(String::new());
            shown.push(example);
        }
    }
    lines.extend(for_persons(machine, status));
    lines.join("\n").trim_end().to_owned()
}

fn duty(machine: &Machine<'_>, way: &Transition<'_>) -> String {
    let write =
        way.gate.as_ref().map(|gate| format!("write {}, then ", gate_words(gate))).unwrap_or_default();
    format!("{write}run `orange task update --status {}`", machine.state(way.to).name)
}

/// Every reason for which an agent may be refused this way, its guard first, as the engine asks for them.
fn refused(way: &Transition<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for (actor, other) in [(Actor::Worker, Actor::Reviewer), (Actor::Reviewer, Actor::Worker)] {
        if way.by.allows(actor) && !way.by.allows(other) {
            reasons.push(format!("to a {other}"));
        }
    }
    reasons.extend(way.guard.map(|guard| format!("unless {}", guard.text)));
    if let Some(gate) = &way.gate {
        reasons.push(format!("while `{}` {}", gate.section, joined_with_or(&faults(gate))));
    }
    reasons
}

/// Everything that can be wrong with the section of a gate.
fn faults(gate: &Gate<'_>) -> Vec<String> {
    let mut faults = vec!["is missing".to_owned()];
    if gate.required || gate.verdict.is_some() || !gate.fields.is_empty() {
        faults.push("is empty".to_owned());
    }
    if let Some(verdict) = gate.verdict {
        let other = if verdict == Verdict::Pass { Verdict::Fail } else { Verdict::Pass };
        faults.push(
            if gate.strict { "does not begin with its verdict" } else { "has no line with one verdict" }
                .to_owned(),
        );
        faults.push(format!("says {other}"));
    }
    if !gate.fields.is_empty() {
        faults.push(format!("has no line {}", fields(gate)));
    }
    if gate.fresh {
        faults.push("is what was accepted before".to_owned());
    }
    faults
}

/// Where only persons may send a task from here.
fn for_persons(machine: &Machine<'_>, status: StateId) -> Option<String> {
    let theirs = machine
        .targets(status)
        .filter(|to| !machine.between(status, *to).any(|id| for_agents(machine.transition(id))));
    let names: Vec<_> = theirs.map(|to| format!("`{}`", machine.state(to).name)).collect();
    (!names.is_empty()).then(|| format!("- leave {} to a person", joined_with_or(&names)))
}

fn way_json(machine: &Machine<'_>, way: &Transition<'_>) -> Value {
    json!({
        "to": machine.state(way.to).name,
        "by": way.by.iter().filter(|actor| *actor != Actor::Engine).map(Actor::as_str).collect::<Vec<_>>(),
        "guard": way.guard.map(|guard| guard.text),
        "gate": way.gate.as_ref().map(gate_words),
        "write": way.gate.as_ref().map(example),
        "run": format!("orange task update --status {}", machine.state(way.to).name),
        "refused": refused(way),
    })
}

fn fields(gate: &Gate<'_>) -> String {
    let names: Vec<_> = gate.fields.iter().map(|name| format!("`{name}:`")).collect();
    joined_with_or(&names)
}

fn joined_with_or(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use orange_core::Actors;

    use super::*;
    use crate::flow::tests::MACHINES;

    #[test]
    fn a_contract_has_what_to_write_to_run_and_what_is_refused() {
        let expect = "\
In pending:
- run `orange task update --status working`

In working:
- write `## Handoff` (not empty, written anew), then run `orange task update --status agent-review`
  refused while `## Handoff` is missing, is empty or is what was accepted before
  for example:

      ## Handoff

      What there is to say, in at least one line.

- run `orange task update --status stuck`

In agent-review:
- write `## Review` (`Verdict: FAIL`), then run `orange task update --status working`
  refused unless review_round < 2; while `## Review` is missing, is empty, has no line with one verdict or says PASS
  for example:

      ## Review

      Verdict: FAIL
      The reasons, each with its place in the code.

- run `orange task update --status stuck`
  refused unless review_round < 2
- run `orange task update --status done`

In stuck:
- run `orange task update --status agent-review`";
        assert_eq!(text(MACHINES[0]), expect);
        let json = json(MACHINES[0]);
        assert_eq!(json["statuses"][1]["ways"][0]["to"], "agent-review");
        assert_eq!(json["statuses"].as_array().map(Vec::len), Some(4), "nothing is asked in done");
    }

    #[test]
    fn what_is_for_persons_alone_is_not_asked_of_agents() {
        let way = |by| Transition { by, ..MACHINES[0].transitions[0] };
        assert!(for_agents(&way(Actors::ANYONE)) && for_agents(&way(Actors::NONE.with(Actor::Reviewer))));
        assert!(!for_agents(&way(Actors::NONE.with(Actor::Human))));
        let reviewers = way(Actors::NONE.with(Actor::Reviewer).with(Actor::Human));
        assert_eq!(refused(&reviewers), ["to a worker"]);
    }

    #[test]
    fn a_gate_in_a_few_words() {
        let gate = Gate {
            section: "## S",
            required: false,
            verdict: None,
            strict: false,
            fields: &[],
            fresh: false,
        };
        assert_eq!(gate_words(&gate), "`## S`");
        let fields = Gate { fields: &["A", "B"], ..gate };
        assert_eq!(gate_words(&fields), "`## S` (a line `A:` or `B:`)");
        assert_eq!(joined_with_or(&faults(&fields)), "is missing, is empty or has no line `A:` or `B:`");
        let strict = Gate { verdict: Some(Verdict::Pass), strict: true, fresh: true, ..gate };
        assert_eq!(gate_words(&strict), "`## S` (first line `Verdict: PASS`, written anew)");
    }
}
