//! The skill for agents, held against the machines: it has every transition that agents may ask for, and doing what it says is
//! accepted.

use std::fs;
use std::path::Path;

use orange_core::{
    Actor, Answers, Children, Gate, Machine, OpenChildren, Rejection, StateId, Transition, View, Workflow,
};
use orange_engine::{contract, skill};

fn machines() -> Vec<&'static Machine<'static>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "yml" || it == "toml"));
    files.retain(|file| !file.ends_with("Cargo.toml") && !file.to_string_lossy().contains(".test."));
    files.sort();
    let texts = files.iter().map(|file| (file, fs::read_to_string(file).unwrap()));
    let found: Vec<_> = texts
        .filter_map(|(file, text)| orange_codegen::custom::workflow(&file.to_string_lossy(), &text).ok())
        .filter_map(|it| if let Workflow::Machine(machine) = it.workflow { Some(machine) } else { None })
        .collect();
    assert!(found.len() >= 3, "{found:?}");
    found
}

/// Counter values under which the guard holds, or under which it does not.
fn counters(machine: &Machine<'_>, transition: &Transition<'_>, holds: bool) -> Option<Vec<u32>> {
    let starts: Vec<u32> = machine.counters.iter().map(|counter| counter.default).collect();
    let Some(guard) = transition.guard else { return holds.then_some(starts) };
    let one_changed = (0..machine.counters.len()).flat_map(|at| {
        (0..9).map({
            let starts = starts.clone();
            move |value| {
                starts.iter().enumerate().map(|(it, start)| if it == at { value } else { *start }).collect()
            }
        })
    });
    one_changed.into_iter().find(|values: &Vec<u32>| guard.holds(values) == holds)
}

fn ask(
    machine: &Machine<'_>,
    transition: &Transition<'_>,
    counters: &[u32],
    body: &str,
    actor: Actor,
) -> Result<StateId, Rejection> {
    let is_split = transition.gates.contains(&Gate::Children(OpenChildren::Some));
    let children = if is_split { Children::Open } else { Children::None };
    let answers = Answers { children, ..Answers::default() };
    let view = View { status: transition.from, counters, body, seen: &[], answers };
    machine.decide(&view, transition.to, actor).map(|decision| decision.to)
}

/// Paragraph of the text about a status.
fn paragraph<'t>(text: &'t str, status: &str) -> &'t str {
    let begin = text.find(&format!("In {status}:\n")).unwrap_or_else(|| panic!("nothing about {status}"));
    let rest = &text[begin..];
    rest.find("\n\nIn ").map_or(rest, |end| &rest[..end])
}

#[test]
fn the_engine_accepts_and_refuses_what_the_contract_says() {
    let mut looked_at = 0;
    for machine in machines() {
        let text = contract::text(&contract::of(machine));
        for transition in machine.transitions {
            let agents = [Actor::Worker, Actor::Reviewer].map(|actor| (actor, transition.by.allows(actor)));
            let Some((actor, _)) = agents.into_iter().find(|(_, may)| *may) else { continue };
            looked_at += 1;
            let said = paragraph(&text, machine.state(transition.from).name);
            let run = format!("run `orange task update --status {}`", machine.state(transition.to).name);
            assert!(said.contains(&run), "{}: {said}", machine.name);

            let body = contract::example(transition.gates).unwrap_or_default();
            let open = counters(machine, transition, true).unwrap();
            assert_eq!(
                ask(machine, transition, &open, &body, actor),
                Ok(transition.to),
                "{}: {body}",
                machine.name
            );
            for line in body.lines().filter(|line| !line.is_empty()) {
                assert!(
                    said.contains(&format!("      {line}")),
                    "{}: `{line}` is not in: {said}",
                    machine.name
                );
            }

            if let Some(words) = contract::gate_words(transition.gates) {
                assert!(said.contains(&words), "{}: {said}", machine.name);
                let refused = ask(machine, transition, &open, "", actor);
                assert!(matches!(refused, Err(Rejection::GateFailed { .. })), "{refused:?}");
                for gate in transition.section_gates() {
                    assert!(said.contains(&format!("while `{}` is missing", gate.section)), "{said}");
                }
            }
            if let Some(closed) = counters(machine, transition, false) {
                let alone = machine.between(transition.from, transition.to).count() == 1;
                let refused = ask(machine, transition, &closed, &body, actor);
                assert!(!alone || matches!(refused, Err(Rejection::GuardFailed { .. })), "{refused:?}");
                assert!(said.contains(&format!("unless {}", transition.guard.unwrap().text)), "{said}");
            }
            for (other, _) in agents.into_iter().filter(|(_, may)| !may) {
                let refused = ask(machine, transition, &open, &body, other);
                assert!(refused.is_err(), "{other} got through");
                assert!(said.contains(&format!("to a {other}")), "{said}");
            }
        }
    }
    assert!(looked_at > 25, "only {looked_at} transitions");
}

#[test]
fn the_skill_has_each_contract_and_each_harness_header() {
    let machines = machines();
    let skill = skill::text(&machines);
    for machine in &machines {
        assert!(skill.contains(&contract::text(&contract::of(machine))), "{} is missing", machine.name);
    }
    let (frontmatter, _) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let keys: Vec<_> = frontmatter.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(keys[0], ("name", "orange"));
    assert_eq!(keys[1].0, "description");
    assert!(keys[1].1.len() <= 1024 && !keys[1].1.contains(": "), "no longer plain YAML of 1024 characters");
    assert!(skill.contains(skill::MARK));
    // Agents follow a contract and know nothing of what happens behind it.
    for hook in ["kill_session", "spawn_agent", "release_workspace", "exit rule", "crash_count"] {
        assert!(!skill.contains(hook), "{hook} is none of an agent's business");
    }
}
