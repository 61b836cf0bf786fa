//! Reviewers with names, several of which can be alive at once: which ones a state has, and which of them have judged.

use alloc::vec::Vec;

use crate::{Effect, Gate, Hook, LifeFacts, Machine, SectionGate, StateId, View, check_section};

impl<'m> Machine<'m> {
    /// The hooks that start the reviewers with names of a state: the first one of each name on the transitions into it.
    pub fn reviewers(&self, state: StateId) -> Vec<&'m Hook<'m>> {
        let into = self.transitions.iter().filter(|it| it.to == state);
        let mut hooks: Vec<&Hook<'m>> = Vec::new();
        for hook in into.flat_map(|it| it.hooks).filter(|hook| hook.reviewer().is_some()) {
            if hooks.iter().all(|it| it.reviewer() != hook.reviewer()) {
                hooks.push(hook);
            }
        }
        hooks
    }

    /// True if an agent with this name, or without one, can be one of a state: where reviewers with names work, each has one of
    /// their names.
    pub(crate) fn has_reviewer(&self, state: StateId, name: Option<&str>) -> bool {
        let mut hooks = self.reviewers(state).into_iter().peekable();
        name.is_none() || hooks.peek().is_none() || hooks.any(|it| it.reviewer() == name)
    }

    /// True if the reviewer of this name has written its verdict, whatever it is: one that the gates of the task's state would
    /// read.
    pub fn has_judged(&self, view: &View<'_>, reviewer: &str) -> bool {
        let own = self.section_gates_of(view.status).filter(|it| it.reviewer == Some(reviewer));
        let mut own = own.filter(|it| it.asks_for_verdict());
        own.any(|gate| {
            let any = SectionGate { verdict: None, verdicts: gate.words(), ..*gate };
            check_section(&any, view.body, view.seen).is_ok()
        })
    }

    /// Requirements of the gates and exit rules of a state on sections.
    pub fn section_gates_of(&self, state: StateId) -> impl Iterator<Item = &'m SectionGate<'m>> {
        self.gates_of(state).flat_map(Gate::sections)
    }

    /// The starts of the reviewers with names of the task's state that are not alive and have not judged; if none of those that
    /// are alive or not is to judge, of all that are not alive. `but` has just ended.
    pub(crate) fn missing_reviewers(&self, facts: &LifeFacts<'_>, but: Option<&str>) -> Vec<Effect<'m>> {
        let state = facts.view.status;
        let respawn = self.state(state).respawn.as_ref().and_then(Hook::spawn);
        let is_alive = |name: &str| Some(name) != but && facts.reviewers.contains(&name);
        let named = self.reviewers(state).into_iter().filter_map(|hook| hook.reviewer().map(|it| (it, hook)));
        let gone: Vec<_> = named.filter(|(name, _)| !is_alive(name)).collect();
        let is_over = gone.iter().all(|(name, _)| self.has_judged(&facts.view, name));
        let is_alone = facts.reviewers.iter().all(|name| Some(*name) == but);
        let wanted = gone.into_iter().filter(|(name, _)| match is_over {
            true => is_alone,
            false => !self.has_judged(&facts.view, name),
        });
        // It counts nothing up: a second start is not a second round.
        wanted
            .map(|(_, hook)| {
                let again = respawn.map(|it| it.prompt);
                let spawn = hook.spawn.map(|it| crate::Spawn { prompt: again.unwrap_or(it.prompt), ..it });
                Effect { hook: Hook { spawn, counter: None, ..*hook }, counter: None }
            })
            .collect()
    }
}

impl<'a> Hook<'a> {
    /// The name of the reviewer that it starts, if that has one.
    pub fn reviewer(&self) -> Option<&'a str> {
        self.spawn.and_then(|it| it.reviewer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::tests::{DONE, MACHINE, REVIEW, WORKING, view};
    use crate::*;
    use alloc::string::String;

    const fn own(
        section: &'static str,
        name: &'static str,
        verdict: Verdict<'static>,
    ) -> SectionGate<'static> {
        SectionGate {
            section,
            required: false,
            verdict: Some(verdict),
            verdicts: &[],
            strict: false,
            fields: Fields::NONE,
            fresh: true,
            of: None,
            reviewer: Some(name),
        }
    }

    const fn spawn(name: &'static str) -> Hook<'static> {
        let spawn = Spawn::new(PromptId(0), Role::Reviewer, Permissions::Full);
        Hook::spawning(Action::SpawnReviewer, Spawn { reviewer: Some(name), ..spawn })
    }

    const PASSED: &[Gate<'_>] = &[
        Gate::Section(own("## R: a", "a", Verdict::PASS)),
        Gate::Section(own("## R: b", "b", Verdict::PASS)),
    ];
    const FAILED: &[Gate<'_>] =
        &[Gate::AnySection(&[own("## R: a", "a", Verdict::FAIL), own("## R: b", "b", Verdict::FAIL)])];
    const RULES: &[ExitRule<'_>] = &[
        ExitRule { state: REVIEW, condition: Condition::Artifact(PASSED), outcome: Outcome::Then(DONE) },
        ExitRule { state: REVIEW, condition: Condition::Artifact(FAILED), outcome: Outcome::Then(WORKING) },
        ExitRule {
            state: REVIEW,
            condition: Condition::NoArtifact,
            outcome: Outcome::Crash { stuck_after: 3, respawn: true },
        },
    ];

    const BOTH: &[&str] = &["a", "b"];
    const A_PASS: &str = "## R: a\nPASS\n";
    const A_FAIL: &str = "## R: a\nFAIL\n";
    const BOTH_PASS: &str = "## R: a\nPASS\n## R: b\nPASS\n";

    fn with_machine<T>(run: impl FnOnce(&Machine<'_>) -> T) -> T {
        let mut states = MACHINE.states.to_vec();
        let state = &mut states[usize::from(REVIEW.0)];
        (state.agent, state.respawn) = (Actor::Reviewer, Some(spawn("a")));
        let mut transitions = MACHINE.transitions.to_vec();
        transitions[1].hooks = const { &[spawn("a"), spawn("b")] };
        (transitions[2].gates, transitions[2].guard) = (FAILED, None);
        (transitions[3].gates, transitions[3].guard, transitions[3].to) = (PASSED, None, DONE);
        run(&Machine { states: &states, transitions: &transitions, exit_rules: RULES, ..MACHINE })
    }

    fn facts<'v>(body: &'v str, reviewers: &'v [&'v str]) -> LifeFacts<'v> {
        LifeFacts {
            view: view(REVIEW, &[0, 0], body),
            has_summary: true,
            workspace: Some(Workspace::Worktree),
            has_session: true,
            hooks_wait: false,
            restarts: 0,
            reviewers,
            last: None,
        }
    }

    /// State to which the task goes, and the reviewers that are started.
    fn follows(facts: &LifeFacts<'_>, input: Input<'_>) -> Result<(Option<u16>, Vec<String>), Refusal> {
        with_machine(|machine| {
            let turn = machine.life(facts, input)?;
            let started = turn.effects.iter().filter_map(|it| it.hook.reviewer()).map(String::from);
            Ok((turn.decision().map(|it| it.to.0), started.collect()))
        })
    }

    #[track_caller]
    fn ends(reviewer: &str, body: &str, alive: &[&str], expect: (Option<StateId>, &[&str])) {
        let end = AgentEnd { reviewer: Some(reviewer), ..AgentEnd::PLAIN };
        let found = follows(&facts(body, alive), Input::Ended { agent: Actor::Reviewer, end }).unwrap();
        let expect = (expect.0.map(|it| it.0), expect.1.iter().map(|it| String::from(*it)).collect());
        assert_eq!(found, expect);
    }

    #[test]
    fn verdicts_are_judged_when_the_last_one_has_ended() {
        ends("a", A_PASS, BOTH, (None, &[]));
        ends("a", A_FAIL, BOTH, (None, &[]));
        ends("b", A_FAIL, BOTH, (None, &[]));
        ends("b", BOTH_PASS, &["b"], (Some(DONE), &[]));
        ends("b", A_FAIL, &["b"], (Some(WORKING), &[]));
    }

    #[test]
    fn one_without_a_verdict_crashes_and_is_started_again() {
        ends("b", "", BOTH, (None, &["b"]));
        ends("b", A_PASS, BOTH, (None, &["b"]));
        ends("b", A_PASS, &["b"], (None, &["b"]));
        ends("a", "", &["a"], (None, &["a", "b"]));
    }

    #[test]
    fn a_person_starts_those_that_are_missing() {
        let restart = |body, alive: &[&str]| {
            let input = Input::Restart { is_alive: !alive.is_empty() };
            follows(&facts(body, alive), input).map(|(_, started)| started)
        };
        assert_eq!(restart("", &[]), Ok(["a", "b"].map(String::from).to_vec()));
        assert_eq!(restart("", &["a"]), Ok(["b"].map(String::from).to_vec()));
        assert_eq!(restart(A_PASS, &[]), Ok(["b"].map(String::from).to_vec()));
        assert_eq!(restart(BOTH_PASS, &[]), Ok(["a", "b"].map(String::from).to_vec()));
        assert_eq!(restart("", BOTH), Err(Refusal::Alive));
        assert_eq!(restart(A_PASS, &["b"]), Err(Refusal::Alive));
    }

    #[test]
    fn a_verdict_that_another_one_finds_stays_fresh() {
        with_machine(|machine| {
            let sections = |reviewer| {
                let found = machine.found(REVIEW, BOTH_PASS, reviewer);
                found.iter().map(|it| it.section).collect::<Vec<_>>()
            };
            assert_eq!(sections(Some("b")), ["## R: b"]);
            assert_eq!(sections(None), Vec::<&str>::new());
        });
    }

    #[test]
    fn one_of_several_sections_is_enough_and_a_refusal_names_them() {
        with_machine(|machine| {
            let ask = |body, to| machine.decide(&view(REVIEW, &[0, 0], body), to, Actor::Reviewer);
            assert!(ask(A_FAIL, WORKING).is_ok());
            assert!(ask(BOTH_PASS, DONE).is_ok());
            let rejection = ask(A_PASS, WORKING).unwrap_err();
            let message = rejection.message(machine, &view(REVIEW, &[0, 0], A_PASS));
            let expect = "one of these has to hold: the verdict of `## R: a` in TASK.md is PASS, and this needs FAIL; \
                          `## R: b` is missing from TASK.md";
            assert_eq!(message, expect);
        });
    }
}
