//! Rejections: why a request is refused, and what would make it succeed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::section::is_hidden;
use crate::{
    Actor, Actors, CounterId, Fields, Gate, Lack, Machine, Missing, Program, SectionGate, StateId,
    TransitionId, Verdict, View, When, WorkSince, check_section,
};

/// Reason for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No transition is declared for this pair.
    NoTransition {
        /// The current state of the task.
        from: StateId,
        /// The requested state.
        to: StateId,
    },
    /// This actor may not ask for it.
    NotAllowed {
        /// The current state of the task.
        from: StateId,
        /// The requested state.
        to: StateId,
        /// Actor that asked.
        actor: Actor,
    },
    /// Transitions are declared for this pair, and none of their guards holds.
    GuardFailed {
        /// The current state of the task.
        from: StateId,
        /// The requested state.
        to: StateId,
    },
    /// A gate does not hold.
    GateFailed {
        /// The transition, the nearest of several.
        transition: TransitionId,
        /// Actor that asked.
        actor: Actor,
        /// The first of its gates that does not.
        lack: Lack,
    },
    /// All that is missing is the answer of a program.
    NotAsked {
        /// Owner of the gate that asks it.
        asker: Asker,
        /// Number of the gate among those of its owner.
        gate: usize,
    },
}

/// Owner of gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A transition.
    Transition(TransitionId),
    /// The entry of `exit_rules` with this number.
    Rule(usize),
}

impl Rejection {
    /// The code in `--json` answers.
    pub const fn code(&self) -> &'static str {
        match self {
            Rejection::NoTransition { .. } => "no_transition",
            Rejection::NotAllowed { .. } => "not_allowed",
            Rejection::GuardFailed { .. } => "guard_failed",
            Rejection::GateFailed { .. } => "gate_failed",
            Rejection::NotAsked { .. } => "not_asked",
        }
    }

    /// The program that has to answer first, if that is all that is missing.
    pub fn program<'m>(&self, machine: &Machine<'m>) -> Option<&'m Program<'m>> {
        match *self {
            Rejection::NotAsked { asker, gate } => {
                let gates = match asker {
                    Asker::Transition(id) => machine.transition(id).gates,
                    Asker::Rule(rule) => machine.exit_rules[rule].condition.gates(),
                };
                gates.get(gate)?.program()
            }
            Rejection::NoTransition { .. }
            | Rejection::NotAllowed { .. }
            | Rejection::GuardFailed { .. }
            | Rejection::GateFailed { .. } => None,
        }
    }

    /// The reason, in one sentence.
    pub fn message(&self, machine: &Machine<'_>, view: &View<'_>) -> String {
        match *self {
            Rejection::NoTransition { from, to } => {
                let (from, to) = (machine.state(from), machine.state(to));
                if from.terminal {
                    format!("the task is {}, which is final", from.name)
                } else if from.name == to.name {
                    format!("the task is {} already", from.name)
                } else {
                    format!("no transition leads from {} to {}", from.name, to.name)
                }
            }
            Rejection::NotAllowed { from, to, actor } => {
                let (from, to) = (machine.state(from).name, machine.state(to).name);
                format!("{} may not move a task from {from} to {to}", machine.actor_with("a", actor))
            }
            Rejection::GuardFailed { from, to } => {
                let (from_name, to_name) = (machine.state(from).name, machine.state(to).name);
                let guards = guards_between(machine, from, to);
                let values = counters_read(machine, from, to)
                    .into_iter()
                    .map(|id| format!("{} is {}", machine.counter(id).name, view.counter(id)))
                    .collect::<Vec<_>>();
                format!("{from_name} → {to_name} is open when {guards}, and {}", values.join(", "))
            }
            Rejection::GateFailed { transition, actor, .. } => {
                let refused = machine.transition(transition);
                let candidates = machine.candidates(view, refused.to, actor, refused.cause);
                let lacks = candidates.into_iter().map(|id| lacks(machine.transition(id).gates, view));
                each_once(lacks).join(", or, for the other transition there, ")
            }
            Rejection::NotAsked { .. } => self.program(machine).map(not_asked).unwrap_or_default(),
        }
    }

    /// Remedy. `update` is the command that its reader changes a status with, such as `orange task update`.
    pub fn help(&self, machine: &Machine<'_>, view: &View<'_>, update: &str) -> String {
        match *self {
            Rejection::NoTransition { from, .. } => {
                if machine.state(from).terminal {
                    return "create a new task for further work".to_string();
                }
                let targets = names(machine, machine.targets(from));
                format!(
                    "from {} a task can go to {targets}; `orange task next` says what each needs",
                    machine.state(from).name
                )
            }
            Rejection::NotAllowed { from, to, .. } => {
                let by = |by: Actors, id| by.joined(machine.transition(id).by);
                let open = machine.open(from, to, view.counters).fold(Actors::NONE, by);
                let by = if open == Actors::NONE { machine.between(from, to).fold(open, by) } else { open };
                let mut who = by.iter().filter(|actor| *actor != Actor::Engine).peekable();
                if who.peek().is_none() {
                    return "the engine alone takes this transition; `orange task next` says what you can ask for"
                        .to_string();
                }
                format!("this is for: {}", join(who.map(|actor| machine.actor_name(actor))))
            }
            Rejection::GuardFailed { from, to } => {
                let open = machine.targets(from).filter(|target| {
                    *target != to && machine.open(from, *target, view.counters).next().is_some()
                });
                format!("open from {} now: {}", machine.state(from).name, names(machine, open))
            }
            Rejection::GateFailed { transition, actor, .. } => {
                let to = machine.transition(transition).to;
                let gates = |id| machine.transition(id).gates;
                let candidates = machine.candidates(view, to, actor, None).into_iter().map(gates);
                // What the verdict rules out is not a remedy where another transition fits it.
                let fitting = candidates.enumerate().filter(|(at, it)| *at == 0 || !view.is_ruled_out(it));
                let remedies = each_once(fitting.map(|(_, gates)| remedies(gates, view))).join(", or ");
                let (to, merge) = (machine.state(to).name, update.replacen("update", "merge", 1));
                let is_of_merge = gates(transition).iter().any(|gate| matches!(gate, Gate::OnMerge(_)));
                match (is_of_merge, remedies.is_empty()) {
                    (true, true) => format!("`{merge}` asks it, and takes this transition"),
                    (true, false) => format!("{remedies}, then run `{merge}`"),
                    (false, _) => format!("{remedies}, then run `{update} --status {to}` again"),
                }
            }
            Rejection::NotAsked { asker: Asker::Transition(id), .. } => {
                let to = machine.state(machine.transition(id).to).name;
                format!("`{update} --status {to}` asks it")
            }
            Rejection::NotAsked { asker: Asker::Rule(_), .. } => "the end of the agent asks it".to_string(),
        }
    }
}

impl Lack {
    /// Description of what the gate lacks, in one sentence.
    fn message(&self, gates: &[Gate<'_>], view: &View<'_>) -> String {
        match &gates[self.gate] {
            Gate::Section(gate) => {
                let is_hidden = self.missing == Missing::Section && is_hidden(view.body, gate.section);
                let note = if is_hidden {
                    ": it stands in a code block or a comment only, where it is not a heading"
                } else {
                    ""
                };
                self.missing.message(gate) + note
            }
            Gate::AnySection(any) => {
                let lacks = any.iter().filter_map(|gate| {
                    let missing = check_section(gate, view.body, view.seen).err()?;
                    Some(missing.message(gate))
                });
                format!("one of these has to hold: {}", lacks.collect::<Vec<_>>().join("; "))
            }
            Gate::Command(program) => match program.answer(&view.answers).and_then(|it| it.failure) {
                Some(failure) => failure.to_string(),
                None => not_asked(program),
            },
            Gate::OnMerge(program) => {
                format!("`{program}` runs on the result of a merge, and this is not a merge")
            }
            Gate::Checks => view.answers.checks.failure().unwrap_or_default().to_string(),
            Gate::Children(wanted) => view.answers.children.failure(*wanted).unwrap_or_default().to_string(),
        }
    }
}

/// Description of what these gates lack, in one sentence. A program is asked once all other gates hold.
fn lacks(gates: &[Gate<'_>], view: &View<'_>) -> String {
    let known = view.lacks(gates).filter(|lack| lack.missing != Missing::Answer);
    known.map(|lack| lack.message(gates, view)).collect::<Vec<_>>().join(", and ")
}

fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// Remedies for all gates that do not hold, as the beginning of a sentence about what to run next.
fn remedies(gates: &[Gate<'_>], view: &View<'_>) -> String {
    let is_mended = |lack: &Lack| !matches!(lack.missing, Missing::Answer | Missing::Merge);
    let lacks: Vec<Lack> = view.lacks(gates).filter(is_mended).collect();
    let is_alone = lacks.len() < 2;
    let remedy = |lack: &Lack| match &gates[lack.gate] {
        Gate::Section(gate) if is_alone => lack.missing.remedy(gate),
        Gate::Section(gate) => format!("for `{}`: {}", gate.section, lack.missing.remedy(gate)),
        Gate::AnySection(any) => {
            let each = any.iter().map(|gate| format!("`{}` ({})", gate.section, what_to_write(gate)));
            format!("write one of {}", each.collect::<Vec<_>>().join(", "))
        }
        Gate::Command(program) if is_alone => format!("mend what `{program}` has found"),
        Gate::Command(program) => format!("for `{program}`: mend what it has found"),
        Gate::OnMerge(_) => String::new(),
        Gate::Checks if is_alone => view.answers.checks.remedy().to_string(),
        Gate::Checks => format!("for the checks: {}", view.answers.checks.remedy()),
        Gate::Children(wanted) => wanted.remedy().to_string(),
    };
    lacks.iter().map(remedy).collect::<Vec<_>>().join("; ")
}

fn not_asked(program: &Program<'_>) -> String {
    format!("`{program}` has not been asked about what stands in the worktree now")
}

impl Missing {
    /// Problem of the artifact, in one sentence.
    pub fn message(&self, gate: &SectionGate<'_>) -> String {
        let section = gate.section;
        match self {
            Missing::Section => format!("`{section}` is missing from TASK.md"),
            Missing::Content => format!("`{section}` in TASK.md is empty"),
            Missing::Verdict if gate.strict => {
                let lines = gate.words().iter().map(|word| format!("`Verdict: {word}`"));
                format!("`{section}` in TASK.md does not begin with {}", one_of(lines))
            }
            Missing::Verdict => {
                let words = one_of(gate.words().iter().map(ToString::to_string));
                format!("`{section}` in TASK.md has no verdict: no line with {words}")
            }
            Missing::OneVerdict { line } => {
                let found = match gate.words() {
                    [one, other] => format!("both {one} and {other}"),
                    words => format!("several of {}", words.join(", ")),
                };
                format!("line {line} of `{section}` in TASK.md has {found}, which is not a verdict")
            }
            Missing::OtherVerdict { found } => {
                let found = gate.words().get(*found).unwrap_or(&"another one");
                let needs =
                    gate.verdict.map(|wanted| format!(", and this needs {wanted}")).unwrap_or_default();
                format!("the verdict of `{section}` in TASK.md is {found}{needs}")
            }
            Missing::Field { field } => {
                let lines = match gate.fields {
                    Fields::Any(_) => fields(gate),
                    Fields::All(_) => format!("`{}:`", field_name(gate, *field)),
                };
                format!("`{section}` in TASK.md has no line that begins with {lines}")
            }
            Missing::Fresh { when } => {
                let before = match when {
                    When::Passed => "it last passed",
                    When::Entered => "the task came to its status",
                    When::Started => "the agent that is to judge was started",
                };
                format!("`{section}` in TASK.md is as it was when {before}")
            }
            Missing::OtherWork { since } => since.message(section),
            Missing::Any
            | Missing::Answer
            | Missing::Success
            | Missing::Merge
            | Missing::Checks { .. }
            | Missing::Children => String::new(),
        }
    }

    /// Remedy for the artifact, as the beginning of a sentence about what to run next.
    pub fn remedy(&self, gate: &SectionGate<'_>) -> String {
        match self {
            Missing::Section | Missing::Content => format!("write it ({})", what_to_write(gate)),
            Missing::Verdict | Missing::OneVerdict { .. } => {
                format!("write `Verdict: {}` as its first line", verdict_word(gate))
            }
            Missing::OtherVerdict { .. } => {
                "ask for the state that fits the verdict, or, if the verdict is wrong, correct it".to_string()
            }
            Missing::Field { field } => format!("write a line `{}: …` into it", field_name(gate, *field)),
            Missing::Fresh { .. } => "write what is true now".to_string(),
            Missing::OtherWork { .. } => {
                format!("let a review judge the present work, and write `{}` again", gate.section)
            }
            Missing::Any
            | Missing::Answer
            | Missing::Success
            | Missing::Merge
            | Missing::Checks { .. }
            | Missing::Children => String::new(),
        }
    }
}

impl WorkSince {
    /// Description of the work that the verdict in a section is about.
    pub fn message(self, section: &str) -> String {
        match self {
            WorkSince::Changed { commits: Some(1), .. } => {
                format!("the verdict of `{section}` in TASK.md is of 1 commit ago")
            }
            WorkSince::Changed { commits: Some(commits), .. } => {
                format!("the verdict of `{section}` in TASK.md is of {commits} commits ago")
            }
            WorkSince::Changed { commits: None, .. } => {
                format!(
                    "the verdict of `{section}` in TASK.md is of commits that are no longer on the branch"
                )
            }
            WorkSince::Unknown | WorkSince::Same => {
                format!("it is not known of which commit the verdict of `{section}` in TASK.md is")
            }
        }
    }
}

fn field_name<'a>(gate: &SectionGate<'a>, field: usize) -> &'a str {
    gate.fields.names().get(field).unwrap_or(&"NAME")
}

fn what_to_write(gate: &SectionGate<'_>) -> String {
    if gate.asks_for_verdict() {
        format!("first line `Verdict: {}`, then the reasons", verdict_word(gate))
    } else if gate.fields.is_empty() {
        "at least one line".to_string()
    } else {
        match gate.fields {
            Fields::Any(_) => format!("at least one line that begins with {}", fields(gate)),
            Fields::All(_) => format!("lines that begin with {}", fields(gate)),
        }
    }
}

/// The verdict that the gate asks for, or those of which it takes each: `PASS`, `PASS|DISCUSS`.
fn verdict_word(gate: &SectionGate<'_>) -> String {
    let wanted: Vec<&str> = gate.wanted().map(Verdict::as_str).collect();
    wanted.join("|")
}

/// The last two with `or` between them, the others with commas: `a, b or c`.
fn one_of(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

fn fields(gate: &SectionGate<'_>) -> String {
    let names: Vec<_> = gate.fields.names().iter().map(|name| format!("`{name}:`")).collect();
    match gate.fields {
        Fields::Any(_) => names.join(" or "),
        Fields::All(_) => names.join(" and "),
    }
}

fn guards_between(machine: &Machine<'_>, from: StateId, to: StateId) -> String {
    let guards = machine.between(from, to).filter_map(|id| machine.transition(id).guard);
    guards.map(|guard| format!("`{}`", guard.text)).collect::<Vec<_>>().join(" or ")
}

fn counters_read(machine: &Machine<'_>, from: StateId, to: StateId) -> Vec<CounterId> {
    let guards = machine.between(from, to).filter_map(|id| machine.transition(id).guard);
    let mut counters: Vec<_> = guards
        .flat_map(|guard| guard.any_of)
        .flat_map(|ranges| ranges.iter())
        .map(|range| range.counter)
        .collect();
    counters.sort_unstable();
    counters.dedup();
    counters
}

fn names(machine: &Machine<'_>, states: impl Iterator<Item = StateId>) -> String {
    join(states.map(|state| machine.state(state).name))
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.collect();
    if words.is_empty() { "nothing".to_string() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{DONE, MACHINE, REVIEW, view};
    use crate::{SeenSection, Transition, VerdictOf, fingerprint};

    #[test]
    fn a_gate_says_of_which_work_a_verdict_is() {
        let transition = |gates| Transition { from: REVIEW, to: DONE, gates, ..MACHINE.transitions[0] };
        let gate = SectionGate {
            section: "## Review",
            required: false,
            verdict: Some(Verdict::PASS),
            verdicts: &[],
            strict: false,
            fields: Fields::NONE,
            fresh: false,
            of: Some(VerdictOf::Commit),
            reviewer: None,
        };
        let gates = [Gate::Section(gate)];
        let transitions = [transition(&gates)];
        let machine = Machine { transitions: &transitions, rows: &[0, 0, 0, 1, 1, 1], ..MACHINE };
        let body = "## Review\nPASS";
        let say = |work| {
            let seen = [SeenSection {
                section: "## Review",
                fingerprint: fingerprint("PASS"),
                when: When::Passed,
                work,
            }];
            let view = View { seen: &seen, ..view(REVIEW, &[], body) };
            let rejection = machine.decide(&view, DONE, Actor::Human).unwrap_err();
            assert_eq!(rejection.code(), "gate_failed");
            (rejection.message(&machine, &view), rejection.help(&machine, &view, "orange task update"))
        };
        let moved = |commits| WorkSince::Changed { has_same_patch: true, commits };
        let (message, help) = say(moved(Some(2)));
        assert_eq!(message, "the verdict of `## Review` in TASK.md is of 2 commits ago");
        assert_eq!(
            help,
            "let a review judge the present work, and write `## Review` again, then run `orange task update --status done` again"
        );
        assert_eq!(say(moved(Some(1))).0, "the verdict of `## Review` in TASK.md is of 1 commit ago");
        assert_eq!(
            say(moved(None)).0,
            "the verdict of `## Review` in TASK.md is of commits that are no longer on the branch"
        );
        assert_eq!(
            say(WorkSince::Unknown).0,
            "it is not known of which commit the verdict of `## Review` in TASK.md is"
        );
    }
}
