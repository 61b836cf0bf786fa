//! Reviewers with names, of which several can be alive at once.
//!
//! They are one agent of the abstract task: it is alive as long as one of them is, and its end is that of the last one. This loses
//! no run. What reviewers write is a step of its own, and the end of one that has judged changes nothing while others are alive, so that
//! it stays as one that can be. What else the end of one among others can do, a crash or another rule, is asked of each that has not
//! judged. But some runs of the search are those of no task: the last reviewer ends without a verdict of others, which have not crashed
//! before.

use orange_core::{Actor, AgentEnd, Hook, Input, LifeFacts, LifeTurn, Machine};

use super::decisions::CoreTask;
use super::ends::{self, RuleIndex};
use super::explore::Explorer;
use super::steps::Origin;
use super::task::{Agent, Task};
use super::{ExitResult, FailedHook, Search, SearchStep};

/// The names of a machine's reviewers, each once; the compiler refuses more than fit into a byte.
#[derive(Clone, Debug, Default)]
pub struct Reviewers<'m>(Vec<&'m str>);

/// The number of a name.
pub type ReviewerIndex = u8;

impl<'m> Reviewers<'m> {
    /// Those that transitions start.
    pub fn of(machine: &Machine<'m>) -> Self {
        let mut names: Vec<&'m str> = Vec::new();
        for name in machine.transitions.iter().flat_map(|it| it.hooks).filter_map(Hook::reviewer) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// True if no reviewer has a name.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bit of the reviewer that this hook starts; 0 for one without a name.
    pub fn bit(&self, hook: &Hook<'_>) -> u8 {
        let at = hook.reviewer().and_then(|name| self.0.iter().position(|it| *it == name));
        at.and_then(|at| 1_u8.checked_shl(at as u32)).unwrap_or_default()
    }

    /// The names of these bits, with their numbers.
    pub fn named(&self, bits: u8) -> impl Iterator<Item = (ReviewerIndex, &'m str)> {
        (0..).zip(self.0.iter().copied()).filter(move |(at, _)| bits >> at & 1 == 1)
    }

    /// The name with this number.
    pub fn name(&self, at: ReviewerIndex) -> &'m str {
        self.0.get(usize::from(at)).copied().unwrap_or_default()
    }
}

impl<'m> Explorer<'_, 'm> {
    /// The end of one reviewer that has not judged, while others are alive.
    pub(super) fn one_of_several_exits(&mut self, from: Origin, task: &Task) {
        let machine = self.search.machine;
        if task.reviewer != Agent::Live || machine.state(task.status).agent != Actor::Reviewer {
            return;
        }
        let rules: Vec<RuleIndex> = ends::rules(machine, task.status).collect();
        let lacking = lacking(self.search, task).into_iter();
        for one in lacking.filter(|it| self.repeated.reviewers >> it & 1 == 0).collect::<Vec<_>>() {
            for end in std::iter::once(None).chain(rules.iter().copied().map(Some)) {
                self.decisions.made += 1;
                let turn = ended(self.search, task, one, end).filter(|turn| !turn.events.is_empty());
                if let Some(turn) = turn {
                    self.one_ended(from, task, one, end, &turn);
                }
            }
        }
    }

    fn one_ended(
        &mut self,
        from: Origin,
        task: &Task,
        one: ReviewerIndex,
        end: Option<RuleIndex>,
        turn: &LifeTurn<'m>,
    ) {
        let passed = self.search.times.passed(self.search.machine, task.passed, end);
        let left = &Task { reviewers: task.reviewers & !(1 << one), passed, ..*task };
        let (agent, wrote, one) = (Actor::Reviewer, None, Some(one));
        let (next, outcome, events) = self.carried(left, turn);
        self.add(from, SearchStep::Exit { agent, one, wrote, end, outcome }, next, events);
        if outcome == (ExitResult::Waits { resumed: false }) {
            let outcome = ExitResult::Waits { resumed: true };
            self.resumes(from, &next, SearchStep::Exit { agent, one, wrote, end, outcome });
        }
        if let Some(decision) = turn.decision() {
            self.failures(
                from,
                left,
                decision,
                FailedHook { by: agent, one, wrote, exit: Some(end), watch: None },
            );
        }
    }
}

/// The reviewers that have not judged, if several are alive.
fn lacking(search: &Search<'_>, task: &Task) -> Vec<ReviewerIndex> {
    if task.reviewers.count_ones() < 2 {
        return Vec::new();
    }
    let asked = CoreTask::about(search, task);
    let view = asked.facts().view;
    let named = search.reviewers.named(task.reviewers);
    named.filter(|(_, name)| !search.machine.has_judged(&view, name)).map(|(at, _)| at).collect()
}

fn ended<'m>(
    search: &Search<'m>,
    task: &Task,
    one: ReviewerIndex,
    end: Option<RuleIndex>,
) -> Option<LifeTurn<'m>> {
    let asked = CoreTask::about(search, task);
    let names: Vec<&str> = search.reviewers.named(task.reviewers).map(|(_, name)| name).collect();
    let facts = LifeFacts { workspace: task.workspace, reviewers: &names, ..asked.facts() };
    let reviewer = Some(search.reviewers.name(one));
    let example = search.example(task, end);
    let end = AgentEnd { is_beside: true, reviewer, ..example.end() };
    search.machine.life(&facts, Input::Ended { agent: Actor::Reviewer, end }).ok()
}

#[cfg(test)]
mod tests {
    use orange_codegen::lower::{Arena, lower};
    use orange_codegen::{Source, compile};

    use super::*;

    const PANEL: &str = "\
name: flow
states: {working: {}, reviewing: {respawn_prompt: review}, ready: {}, stuck: {}, done: {terminal: true}}
transitions:
  - from: working
    to: reviewing
    hooks:
      - {action: acquire_workspace}
      - {action: spawn_reviewer, prompt: review, name: a}
      - {action: spawn_reviewer, prompt: review, name: b}
  - {from: reviewing, to: ready, gate: {section: '## R', verdict: PASS, verdicts: all, strict: true}, hooks: [{action: kill_session}]}
  - {from: reviewing, to: stuck, gate: {section: '## R', verdict: FAIL, verdicts: any, strict: true}, hooks: [{action: kill_session}]}
  - {from: [ready, stuck], to: done}
exit_monitoring:
  rules:
    - {status: reviewing, has_artifact: {section: '## R', verdict: PASS, verdicts: all, strict: true}, then: ready}
    - {status: reviewing, no_artifact: true, action: crash, stuck_after: 3, respawn: true}
prompts: {review: hi}
";

    /// Possible contents of the sections `## R: a` and `## R: b` when reviewers go to a state, each pair once.
    fn written(search: &Search<'_>, to: &str) -> Vec<[String; 2]> {
        let label = |task: &Task, heading: &str| {
            let at = search.sections.find(heading).unwrap();
            let text = search.sections.get(at).contents[usize::from(task.section(at).content)].text.clone();
            text.unwrap_or_default()
        };
        let request =
            |step: &SearchStep| matches!(step, SearchStep::Request { by: Actor::Reviewer, wrote: None, .. });
        let edges = search.edges().map(|(_, edge)| edge).filter(|edge| request(&edge.step));
        let there = edges.filter(|edge| search.machine.state(search.task(edge.to).status).name == to);
        let mut all: Vec<[String; 2]> =
            there.map(|edge| ["## R: a", "## R: b"].map(|it| label(search.task(edge.from), it))).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn runs_of_several_reviewers_are_searched() {
        let checked = compile(&Source::new("flow.yml", PANEL)).checked.expect("sound");
        let arena = Arena::default();
        let machine = lower(&checked, &arena).expect("a state machine");
        let search = Search::run(&machine);
        assert_eq!(search.cut(), None);
        let most = search.configurations().map(|(_, task)| task.live_agents()).max();
        assert_eq!(most, Some(2));
        let (pass, fail) = ("Verdict: PASS".to_owned(), "Verdict: FAIL".to_owned());
        assert_eq!(written(&search, "ready"), [[pass.clone(), pass.clone()]]);
        let failed = written(&search, "stuck");
        assert!(failed.iter().all(|it| it.contains(&fail)), "{failed:?}");
        assert!(
            failed.contains(&[fail.clone(), String::new()]) && failed.contains(&[pass, fail]),
            "{failed:?}"
        );
        let crashes = |step: &SearchStep| {
            matches!(step, SearchStep::Exit { one: Some(_), outcome: ExitResult::Crash { .. }, .. })
        };
        let mut crashed = search.edges().filter(|(_, edge)| crashes(&edge.step));
        assert!(crashed.all(|(_, edge)| search.task(edge.to).live_agents() == 2), "it is started again");
        assert!(search.edges().any(|(_, edge)| crashes(&edge.step)), "one of two can crash alone");
    }
}
