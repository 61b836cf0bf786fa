//! The oracle: made-up workflows are compiled by the real compiler, and everything that the tables decide is compared
//! with a reference that was written from the documents.
#![allow(clippy::unwrap_used)]

#[path = "oracle/planned.rs"]
mod planned;
#[path = "oracle/steps.rs"]
mod steps;

use std::collections::BTreeMap;
use std::fmt::Debug;

use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Checked, Source, compile};
use orange_core::{
    AgentEnd, Answers as Answered, Checks, Children, Effect, Exit, ExitDecision, LeftState, Machine, Missing,
    ProgramAnswer, Rejection, SeenSection, StateId, TransitionId, View, When, WorkSince, check_section,
    fingerprint,
};
use orange_testkit::Random;
use orange_tests::generate;
use orange_tests::plan::{GuardTree, Plan, PlannedGate, PlannedOutcome};
use orange_tests::reference::{self, GateLack, Move, Refusal, Resolution, Says, Task, TaskFate};
use planned::section_gate;

/// Made-up workflows for each test.
const WORKFLOWS: u64 = 120;

#[test]
fn transitions_resolve_as_the_documents_say() {
    for_each_workflow(|plan, machine| {
        for (from, to) in pairs(plan) {
            let guards = plan.transitions.iter().filter(|it| (it.from, it.to) == (from, to));
            let guards: Vec<_> = guards.filter_map(|it| it.when.as_ref()).collect();
            for counters in generate::distinguishing(&guards, plan.counters.len()) {
                let expect = reference::resolve(plan, from, to, &counters);
                let found = machine.resolve(id(from), id(to), &counters).map(Vec::from_iter);
                assert_eq!(resolution(machine, found), expect, "{from} to {to} with {counters:?} in\n{plan}");
            }
        }
    });
}

#[test]
fn exit_rules_say_what_the_documents_say() {
    for_each_workflow(|plan, machine| {
        for status in 0..plan.states.len() {
            let rules = machine.exit_rules_of(id(status));
            for present in 0..1_u32 << rules.len() {
                let has = |nth: usize| nth < rules.len() && present >> nth & 1 == 1;
                let artifacts: Vec<_> = (0..machine.exit_rules.len())
                    .map(|at| at.checked_sub(rules.start).is_some_and(has))
                    .collect();
                for counters in generate::distinguishing(&clauses(plan, status), plan.counters.len()) {
                    let expect = reference::exit(plan, status, has, &counters);
                    let found = says(machine.exit(id(status), &artifacts, &counters));
                    assert_eq!(
                        found, expect,
                        "{status} with {counters:?} and artifacts {present:b} in\n{plan}"
                    );
                }
            }
        }
    });
}

#[test]
fn requests_are_answered_as_the_documents_say() {
    let mut answers = AnswerCounts::default();
    for_each_workflow(|plan, machine| {
        let random = &mut Random::new(plan.transitions.len() as u64);
        for (status, to) in pairs(plan) {
            for actor in machine.all_actors() {
                let task = task(random, plan, status);
                let expect = reference::request(plan, &task, to, machine.actor_name(actor));
                let found = with_view(&task, |view| {
                    let decision = machine.decide(view, id(to), actor);
                    decision.map(|it| taken(machine, it.transition, &it.effects)).map_err(refusal)
                });
                assert_eq!(found, expect, "{actor} asks for {status} to {to} with {task:?} in\n{plan}");
                answers.count(&expect.map(|_| ()));
            }
        }
    });
    answers.are_all_of(&[
        "Ok(())",
        "Err(NoTransition)",
        "Err(NotAllowed)",
        "Err(GuardFailed)",
        "Err(GateFailed(Section))",
        "Err(GateFailed(Content))",
        "Err(GateFailed(Field))",
        "Err(GateFailed(Success))",
        "Err(GateFailed(Checks))",
        "Err(NotAsked)",
    ]);
}

#[test]
fn deaths_end_as_the_documents_say() {
    let mut answers = AnswerCounts::default();
    for_each_workflow(|plan, machine| {
        let random = &mut Random::new(plan.rules.len() as u64);
        for status in (0..plan.states.len()).flat_map(|status| [status; 12]) {
            let task = task(random, plan, status);
            let end = generate::end(random);
            let expect = reference::death(plan, &task, &end);
            let found = with_view(&task, |view| {
                let end = end_of(end.0, end.1, &end.2, task.beside);
                fate(machine, machine.decide_exit(view, &end))
            });
            assert_eq!(found, expect, "death in {status} with {task:?} by {end:?} in\n{plan}");
            answers.count(&match expect {
                TaskFate::Advance(..) => "advance",
                TaskFate::Crash(_, true) => "crash and respawn",
                TaskFate::Crash(_, false) => "crash",
                TaskFate::Escalate(..) => "escalate",
                TaskFate::MarkDead => "mark dead",
                TaskFate::Wait(_) => "wait",
                TaskFate::Ask => "ask",
            });
        }
    });
    answers.are_all_of(
        &["advance", "crash and respawn", "crash", "escalate", "mark dead", "wait", "ask"]
            .map(|it| format!("{it:?}")),
    );
}

#[test]
fn times_are_over_as_the_documents_say() {
    let mut answers = AnswerCounts::default();
    for_each_of(generate::timed_plan, |plan, machine| {
        let random = &mut Random::new(plan.deadlines.len() as u64);
        for status in (0..plan.states.len()).flat_map(|status| [status; 12]) {
            let visits = generate::visits(random, plan, status);
            let (lasted, left) = (visits.last().unwrap().1, left(&visits));
            let over = reference::times_over(plan, &visits);
            let is_overdue = machine.is_overdue(id(status), lasted, &left);
            assert_eq!(is_overdue, !over.is_empty(), "{visits:?} in\n{plan}");
            let task = Task { visits, ..task(random, plan, status) };
            let end = generate::end(random);
            let expect = reference::death(plan, &task, &end);
            let found = with_view(&task, |view| {
                let (code, signal, output) = (end.0, end.1, &*end.2);
                let end = AgentEnd { lasted, left: &left, ..end_of(code, signal, output, task.beside) };
                fate(machine, machine.decide_exit(view, &end))
            });
            assert_eq!(found, expect, "death in {status} with {task:?} by {end:?} in\n{plan}");
            answers.count(&match (reference::overdue(plan, &task.visits), &expect) {
                (Some(to), TaskFate::Advance(found, _)) if to == *found => "taken",
                (Some(_), _) => "refused",
                (None, _) if is_overdue => "notice",
                (None, _) => "not over",
            });
        }
    });
    answers.are_all_of(&["taken", "refused", "notice", "not over"].map(|it| format!("{it:?}")));
}

#[test]
fn bodies_are_read_as_the_documents_say() {
    let mut answers = AnswerCounts::default();
    let random = &mut Random::new(7);
    for _ in 0..60_000 {
        let (planned, body) = (generate::gate(random), generate::body(random));
        let planned = if random.chance(40) { generate::discussed(random, planned) } else { planned };
        let now = orange_core::section(&body, planned.section).unwrap_or_default().to_string();
        let before = if random.chance(50) { now } else { generate::body(random) };
        let seen = if random.chance(50) { vec![(planned.section, before)] } else { Vec::new() };
        let task = Task { body, seen, ..Task::default() };
        let expect = reference::lack(&planned, &task);
        let found = check_section(&section_gate(&planned), &task.body, &seen_of(&task)).err().map(lack);
        assert_eq!(found, expect, "{planned} and\n{}", task.body);
        answers.count(&expect);
    }
    let lacks = ["Section", "Content", "Verdict", "OneVerdict", "OtherVerdict", "Field", "Fresh"]
        .map(|it| format!("Some({it})"));
    answers.are_all_of(&lacks);
    answers.are_all_of(&["None"]);
}

#[test]
fn verdicts_of_several_reviewers_are_asked_as_the_documents_say() {
    const OWN: [(&str, &str); 3] =
        [("one", "## Review: one"), ("two", "## Review: two"), ("three", "## Review: three")];
    let mut answers = AnswerCounts::default();
    for seed in 0..WORKFLOWS {
        let random = &mut Random::new(seed);
        let reviewers = &OWN[..1 + random.below(3)];
        let (every, verdict) = (random.chance(50), *random.pick(&["PASS", "FAIL"]));
        let whose = if every { "all" } else { "any" };
        let hooks = reviewers
            .iter()
            .map(|(name, _)| format!("      - {{action: spawn_reviewer, prompt: p, name: {name}}}\n"));
        let text = format!(
            "name: made-up\nstates: {{a: {{}}, b: {{}}, c: {{terminal: true}}}}\ntransitions:\n  \
             - from: a\n    to: b\n    hooks:\n{}  - {{from: b, to: c, gate: {{section: '## Review', verdict: {verdict}, \
             verdicts: {whose}}}}}\nprompts: {{p: hi}}\n",
            hooks.collect::<String>()
        );
        let compilation = compile(&Source::new("made-up.yml", &text));
        let checked = compilation.checked.unwrap_or_else(|| panic!("{text}{:#?}", compilation.diagnostics));
        let arena = Arena::default();
        let machine = lower(&checked, &arena).unwrap();
        let gate = |(_, section): &(&str, &'static str)| PlannedGate {
            section,
            verdict: Some(verdict),
            ..PlannedGate::default()
        };
        let own: Vec<PlannedGate> = reviewers.iter().map(gate).collect();
        for _ in 0..20 {
            let said = ["", "Verdict: PASS\n", "Verdict: FAIL\n", "Later.\n"];
            let sections = OWN.iter().filter(|_| random.chance(80)).map(|(_, it)| *it).collect::<Vec<_>>();
            let body: String =
                sections.iter().map(|it| format!("{it}\n{}", random.pick::<&str>(&said))).collect();
            let task = Task { status: 1, counters: vec![0, 0], body, ..Task::default() };
            let expect = reference::verdicts(every, &own, &task);
            let found =
                with_view(&task, |view| machine.decide(view, id(2), orange_core::Actor::Human).is_ok());
            assert_eq!(found, expect, "{}\n{text}", task.body);
            answers.count(&(whose, verdict, expect));
        }
    }
    let all = ["all", "any"].iter().flat_map(|it| ["PASS", "FAIL"].map(|verdict| (*it, verdict)));
    let all =
        all.flat_map(|(it, verdict)| [true, false].map(|expect| format!("{:?}", (it, verdict, expect))));
    answers.are_all_of(&all.collect::<Vec<_>>());
}

#[test]
fn what_passed_once_is_not_fresh() {
    let random = &mut Random::new(11);
    for _ in 0..10_000 {
        let planned = PlannedGate { section: "## Review", fresh: true, ..PlannedGate::default() };
        let body = generate::body(random);
        let Some(content) = orange_core::section(&body, planned.section) else { continue };
        let task = Task { seen: vec![(planned.section, content.to_owned())], ..Task::default() };
        for when in [When::Passed, When::Entered, When::Started] {
            let seen = SeenSection { when, ..seen_of(&task)[0] };
            let found = check_section(&section_gate(&planned), &body, &[seen]);
            assert_eq!(found, Err(Missing::Fresh { when }), "{body:?}");
        }
        assert_eq!(check_section(&section_gate(&planned), &body, &[]), Ok(()), "{body:?}");
    }
}

#[test]
fn overlaps_are_found_exactly() {
    let random = &mut Random::new(3);
    let mut found = [0, 0];
    for _ in 0..1_500 {
        let guards: Vec<_> = (0..2 + random.below(2)).map(|_| generate::condition(random, 2, 3, 4)).collect();
        let text = overlapping(&guards);
        let expect = some_values(|values| holding(&guards, values) > 1);
        let witness = witness(&text, "A07");
        assert_eq!(witness.is_some(), expect, "{text}");
        if let Some(values) = witness {
            assert!(holding(&guards, &values) > 1, "{values:?} is not a witness of the overlap in\n{text}");
        }
        found[usize::from(expect)] += 1;
    }
    assert!(found.iter().all(|count| *count > 100), "{found:?}");
}

#[test]
fn gaps_are_found_exactly() {
    let random = &mut Random::new(5);
    let mut found = [0, 0];
    for _ in 0..3_000 {
        let depth = 1 + random.below(2);
        let clauses: Vec<_> =
            (0..1 + random.below(3)).map(|_| generate::condition(random, depth, 3, 3)).collect();
        let text = choosing(&clauses);
        let expect = some_values(|values| holding(&clauses, values) != 1);
        let witness = witness(&text, "A09");
        assert_eq!(witness.is_some(), expect, "{text}");
        if let Some(values) = witness {
            assert_ne!(holding(&clauses, &values), 1, "{values:?} is not a witness in\n{text}");
        }
        found[usize::from(expect)] += 1;
    }
    assert!(found.iter().all(|count| *count > 20), "{found:?}");
}

/// Number of times that each answer was given, so that a test that no longer reaches one says so.
#[derive(Default)]
struct AnswerCounts(BTreeMap<String, usize>);

impl AnswerCounts {
    fn count(&mut self, answer: &impl Debug) {
        *self.0.entry(format!("{answer:?}")).or_default() += 1;
    }

    #[track_caller]
    fn are_all_of(&self, expect: &[impl AsRef<str>]) {
        for answer in expect {
            let count = self.0.get(answer.as_ref()).copied().unwrap_or_default();
            assert!(
                count >= 20,
                "{} was the answer {count} times; all answers: {:#?}",
                answer.as_ref(),
                self.0
            );
        }
    }
}

const COUNTERS: [&str; 3] = ["review_round", "crash_count", "tries"];

/// Two states and a transition for each guard.
fn overlapping(guards: &[GuardTree]) -> String {
    let transition = |guard: &GuardTree| {
        format!("  - {{from: x, to: y, when: \"{}\"}}\n", guard.text(&COUNTERS.map(str::to_string)))
    };
    let transitions: String = guards.iter().map(transition).collect();
    format!("name: a\nfields: {{tries: 0}}\nstates: {{x: {{}}, y: {{}}}}\ntransitions:\n{transitions}")
}

/// An exit rule with a clause for each condition.
fn choosing(clauses: &[GuardTree]) -> String {
    let clause = |condition: &GuardTree| {
        format!("        - {{when: \"{}\", then: y}}\n", condition.text(&COUNTERS.map(str::to_string)))
    };
    let clauses: String = clauses.iter().map(clause).collect();
    format!(
        "name: a\nfields: {{tries: 0}}\nstates: {{x: {{}}, y: {{}}}}\ntransitions:\n  - {{from: x, to: y}}\n\
         exit_monitoring:\n  rules:\n    - status: x\n      then_when:\n{clauses}"
    )
}

/// The values that the compiler gives as a witness, if it finds this fault.
fn witness(text: &str, code: &str) -> Option<[u32; 3]> {
    let compiled = compile(&Source::new("a.yml", text));
    let found = compiled.diagnostics.into_iter().find(|it| it.code() == code)?;
    let witness = found.witness.unwrap_or_else(|| panic!("no witness: {}\n{text}", found.message));
    let value =
        |name| witness.values.iter().find(|(counter, _)| counter == name).map_or(0, |(_, value)| *value);
    Some(COUNTERS.map(value))
}

/// True if it is so for some counters, each no larger than guards over constants below 5 can tell apart.
fn some_values(is_so: impl Fn(&[u32]) -> bool) -> bool {
    (0..6_u32.pow(3)).any(|at| is_so(&[at % 6, at / 6 % 6, at / 36]))
}

fn holding(conditions: &[GuardTree], values: &[u32]) -> usize {
    conditions.iter().filter(|condition| reference::holds(condition, values)).count()
}

#[track_caller]
fn for_each_workflow(judge: impl FnMut(&Plan, &Machine<'_>)) {
    for_each_of(generate::plan, judge);
}

#[track_caller]
fn for_each_of(plan: impl Fn(u64) -> Plan, mut judge: impl FnMut(&Plan, &Machine<'_>)) {
    for plan in (0..WORKFLOWS).map(plan) {
        let checked = checked(&plan.to_string());
        let arena = Arena::default();
        let machine = lower(&checked, &arena).unwrap_or_else(|found| panic!("{found:#?}\n{plan}"));
        assert!(machine.states.iter().map(|it| it.name).eq(plan.states.iter().map(|it| &it.name)));
        assert!(machine.counters.iter().map(|it| it.name).eq(&plan.counters));
        judge(&plan, &machine);
    }
}

#[track_caller]
fn checked(text: &str) -> Checked {
    let compiled = compile(&Source::new("made-up.yml", text));
    compiled.checked.unwrap_or_else(|| panic!("{:#?}\n{text}", compiled.diagnostics))
}

fn pairs(plan: &Plan) -> impl Iterator<Item = (usize, usize)> + use<> {
    let count = plan.states.len();
    (0..count).flat_map(move |from| (0..count).map(move |to| (from, to)))
}

fn clauses(plan: &Plan, status: usize) -> Vec<&GuardTree> {
    let rules = plan.rules.iter().filter(|rule| rule.status == status);
    rules
        .flat_map(|rule| match &rule.outcome {
            PlannedOutcome::ThenWhen(clauses) => clauses.iter().map(|(when, _)| when).collect(),
            PlannedOutcome::Then(_)
            | PlannedOutcome::Crash { .. }
            | PlannedOutcome::MarkDead
            | PlannedOutcome::Wait(_) => Vec::new(),
        })
        .collect()
}

fn task(random: &mut Random, plan: &Plan, status: usize) -> Task {
    let counters = plan.counters.iter().map(|_| random.below(7) as u32).collect();
    let seen =
        (0..random.below(3)).map(|_| (generate::gate(random).section, generate::body(random))).collect();
    let (body, beside) = (generate::body(random), random.chance(50));
    let asked = generate::PROGRAMS.iter().filter(|_| random.chance(60)).copied().collect::<Vec<_>>();
    let asked = asked.into_iter().map(|it| (it, random.chance(60))).collect();
    let (is_green, has_children, visits) = (random.chance(50), random.chance(50), Vec::new());
    let headings = generate::SECTIONS.into_iter().filter(|_| body.len() % 3 == 0);
    let outdated =
        headings.filter_map(|it| Some((it, orange_core::section(&body, it)?.to_owned()))).collect();
    Task { status, counters, body, seen, outdated, asked, is_green, has_children, beside, visits }
}

/// Times at which a task was created, and left each visited state but the last.
fn left(visits: &[(usize, u32)]) -> Vec<LeftState> {
    let mut left = Vec::new();
    let mut ago = 0;
    for at in (0..visits.len()).rev() {
        ago += visits[at].1;
        let state = at.checked_sub(1).map(|before| id(visits[before].0));
        left.push(LeftState { state, ago });
    }
    left
}

fn with_view<T>(task: &Task, judge: impl FnOnce(&View<'_>) -> T) -> T {
    let seen = seen_of(task);
    let asked = task.asked.iter();
    let programs: Vec<ProgramAnswer<'_>> = asked
        .map(|(argv, succeeded)| ProgramAnswer { argv, failure: (!succeeded).then_some("it fails") })
        .collect();
    let others =
        [Checks::NoPullRequest, Checks::Unseen, Checks::Outdated, Checks::None, Checks::Pending, Checks::Red];
    let checks = if task.is_green { Checks::Green } else { others[task.body.len() % others.len()] };
    let others = [Children::None, Children::Merged, Children::Ended];
    let children = if task.has_children { Children::Open } else { others[task.body.len() % others.len()] };
    judge(&View {
        status: id(task.status),
        counters: &task.counters,
        body: &task.body,
        seen: &seen,
        answers: Answered { programs: &programs, checks, children, is_merge: true },
    })
}

fn seen_of(task: &Task) -> Vec<SeenSection<'_>> {
    let seen = |(section, content): &(&'static str, String)| SeenSection {
        section,
        fingerprint: fingerprint(content),
        when: When::Entered,
        work: WorkSince::default(),
    };
    let outdated = |it: &(&'static str, String)| SeenSection {
        when: When::Passed,
        work: WorkSince::Changed { has_same_patch: false, commits: None },
        ..seen(it)
    };
    task.seen.iter().map(seen).chain(task.outdated.iter().map(outdated)).collect()
}

fn id(state: usize) -> StateId {
    StateId(state as u16)
}

/// Number of a transition among those of its pair.
fn nth(machine: &Machine<'_>, id: TransitionId) -> usize {
    let transition = machine.transition(id);
    machine.between(transition.from, transition.to).position(|it| it == id).unwrap()
}

fn taken(machine: &Machine<'_>, transition: TransitionId, effects: &[Effect<'_>]) -> Move {
    let increments = effects.iter().filter_map(|effect| effect.counter);
    Move {
        nth: nth(machine, transition),
        increments: increments.map(|(counter, value)| (usize::from(counter.0), value)).collect(),
    }
}

fn resolution(machine: &Machine<'_>, found: Result<Vec<TransitionId>, Rejection>) -> Resolution {
    match found.map_err(refusal) {
        Ok(open) => Resolution::Open(open.into_iter().map(|id| nth(machine, id)).collect()),
        Err(Refusal::NoTransition) => Resolution::NoTransition,
        Err(Refusal::GuardFailed) => Resolution::GuardFailed,
        Err(refusal @ (Refusal::NotAllowed | Refusal::GateFailed(_) | Refusal::NotAsked)) => {
            panic!("{refusal:?} from resolve")
        }
    }
}

fn refusal(rejection: Rejection) -> Refusal {
    match rejection {
        Rejection::NoTransition { .. } => Refusal::NoTransition,
        Rejection::NotAllowed { .. } => Refusal::NotAllowed,
        Rejection::GuardFailed { .. } => Refusal::GuardFailed,
        Rejection::GateFailed { lack: it, .. } => Refusal::GateFailed(lack(it.missing)),
        Rejection::NotAsked { .. } => Refusal::NotAsked,
    }
}

fn lack(missing: Missing) -> GateLack {
    match missing {
        Missing::Section => GateLack::Section,
        Missing::Content => GateLack::Content,
        Missing::Verdict => GateLack::Verdict,
        Missing::OneVerdict { .. } => GateLack::OneVerdict,
        Missing::OtherVerdict { .. } => GateLack::OtherVerdict,
        Missing::Field { .. } => GateLack::Field,
        Missing::Fresh { .. } => GateLack::Fresh,
        Missing::OtherWork { .. } => GateLack::OtherWork,
        Missing::Any => GateLack::Verdict,
        Missing::Answer => GateLack::Answer,
        Missing::Success => GateLack::Success,
        Missing::Checks { .. } => GateLack::Checks,
        Missing::Children => GateLack::Children,
        Missing::Merge => panic!("every request of this walk may merge"),
    }
}

fn says(exit: Exit) -> Says {
    match exit {
        Exit::Then(to) => Says::Then(usize::from(to.0)),
        Exit::Crash { stuck_after, respawn } => Says::Crash(stuck_after, respawn),
        Exit::MarkDead => Says::MarkDead,
        Exit::Wait { resume_after } => Says::Wait(resume_after),
        Exit::Unmatched => Says::Nothing,
    }
}

fn end_of(code: Option<i32>, signal: Option<i32>, output: &str, is_beside: bool) -> AgentEnd<'_> {
    AgentEnd { code, signal, output, is_beside, ..AgentEnd::PLAIN }
}

fn fate(machine: &Machine<'_>, decision: Result<ExitDecision<'_>, Rejection>) -> TaskFate {
    let Ok(decision) = decision.map_err(|it| assert_eq!(refusal(it), Refusal::NotAsked)) else {
        return TaskFate::Ask;
    };
    match decision {
        ExitDecision::Advance { decision: it, .. } => {
            TaskFate::Advance(usize::from(it.to.0), taken(machine, it.transition, &it.effects))
        }
        ExitDecision::Crash { count, respawn, .. } => TaskFate::Crash(count, respawn),
        ExitDecision::Escalate { count, decision, .. } => {
            TaskFate::Escalate(count, taken(machine, decision.transition, &decision.effects))
        }
        ExitDecision::MarkDead { .. } => TaskFate::MarkDead,
        ExitDecision::Wait { resume_after, .. } => TaskFate::Wait(resume_after),
    }
}
