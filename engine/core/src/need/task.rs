//! The need of a task.

use alloc::format;
use alloc::string::String;

use super::{Agent, Doing, Need, NeedKind, Wait, asked, idle, limited, working};
use alloc::borrow::ToOwned;

use crate::{
    Actor, Actors, Checks, Condition, Fact, Gate, LifeFacts, Machine, Missing, Outcome, REVIEW_ROUND,
    SectionGate, StateId, check_section, fingerprint, section,
};

/// The section in which an agent asks a person something.
const QUESTIONS: &str = "## Questions";

/// Known facts about a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskFacts<'f> {
    /// Its machine, and what that reads; `None` for a task that is `lost`.
    pub life: Option<(&'f Machine<'f>, &'f LifeFacts<'f>)>,
    /// Reason why no machine can lead it on: its workflow is gone, or no longer has its state.
    pub lost: Option<Lost<'f>>,
    /// Its living agents, the one first that needs somebody most.
    pub agents: &'f [Agent<'f>],
    /// True if an agent is alive; `None` where neither tmux nor a record can tell.
    pub is_alive: Option<bool>,
    /// Time of its entry into its state.
    pub entered: Option<&'f str>,
    /// Time of the last end of its work: the end of an agent, a stop, a hook that failed.
    pub halted: Option<&'f str>,
    /// Reason for the end of its last agent, if that is known; also of an end that is not recorded yet.
    pub end: Option<&'f str>,
    /// True if a person has stopped its agents.
    pub is_stopped: bool,
    /// True if its transition is not finished, and a process works at that.
    pub is_moving: bool,
    /// Sentence about its transition that is not finished, if no process works at that.
    pub unfinished: Option<&'f str>,
    /// Until when it waits before an agent starts again.
    pub wait: Option<Wait<'f>>,
    /// Obstacle for which its start waits, in words; `None` for a task that was started.
    pub queued: Option<&'f str>,
    /// Reason why its start would be refused, and the remedy, if that is known.
    pub forbidden: Option<&'f str>,
    /// True if it has a worktree.
    pub has_worktree: bool,
    /// True if it has a worktree, or can have one.
    pub has_room: bool,
    /// Its hooks that wait.
    pub hooks: Option<Hooks<'f>>,
    /// Limit of its budget that is reached, or the budget of a day or a month for which it waits.
    pub budget: Option<ReachedBudget<'f>>,
    /// The tasks that it has created, where its state waits for them.
    pub children: Option<CreatedCount>,
    /// Reason for which the engine or its workflow calls a person.
    pub attention: Option<&'f str>,
    /// Its pull request.
    pub pull_request: Option<KnownPullRequest<'f>>,
    /// A fact whose watch rule has waited too long for an agent that is at work.
    pub overdue: Option<OverdueFact<'f>>,
    /// True if git was asked about a merge.
    pub is_merge_known: bool,
    /// Reason why git would refuse a merge: `None` if nothing is known to be in the way.
    pub unmergeable: Option<&'f str>,
    /// True if the branch conflicts with its base.
    pub conflicts: bool,
    /// True if the branch and its base both have new commits, without a conflict.
    pub has_diverged: bool,
    /// True if a merge by `orange` is recorded.
    pub is_merged: bool,
    /// True if something shows the work of its last agent.
    pub has_logs: bool,
}

/// Reason why no machine can lead a task on.
#[derive(Clone, Copy, Debug)]
pub struct Lost<'f> {
    /// In one sentence.
    pub why: &'f str,
    /// True if it can still be cancelled.
    pub can_cancel: bool,
}

/// Hooks that wait because one of them has failed.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<'f> {
    /// The one that has failed.
    pub name: &'f str,
    /// Its error message.
    pub error: &'f str,
    /// True if a person may have them run again.
    pub may_retry: bool,
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug)]
pub struct ReachedBudget<'f> {
    /// In one sentence.
    pub why: &'f str,
    /// Since when, if that is known.
    pub since: Option<&'f str>,
    /// True if it is the task's own, which a person can raise; that of a day or a month ends by itself.
    pub is_own: bool,
}

/// A fact whose watch rule has waited too long for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverdueFact<'f> {
    /// The fact.
    pub fact: Fact,
    /// Time since when it waits.
    pub since: &'f str,
    /// The minutes for which it may wait.
    pub minutes: u32,
}

/// Number of the tasks that a task has created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedCount {
    /// The unfinished ones.
    pub open: usize,
    /// All of them.
    pub all: usize,
}

/// Known facts about a pull request.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownPullRequest<'f> {
    /// Its checks, of the branch's commit.
    pub checks: Checks,
    /// The merge that its forge was asked for.
    pub merge: Option<KnownForgeMerge<'f>>,
    /// Number of the request to run its failed checks again that is not answered, and the most requests for a commit.
    pub rerun: Option<(u32, u32)>,
}

/// A merge of a pull request that its forge was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownForgeMerge<'f> {
    /// The forge has accepted it and has not made it yet, since then.
    Queued {
        /// Time of its answer.
        since: &'f str,
    },
    /// The forge does not make it, for this reason.
    Refused {
        /// In its words.
        why: &'f str,
    },
}

impl<'f> TaskFacts<'f> {
    /// Returns the need of the task; `None` if nothing is known of its state.
    pub fn need(&self) -> Option<Need<'f>> {
        if let Some(lost) = self.lost {
            return Some(
                asked(self.agents).unwrap_or_else(|| Need::new(NeedKind::Stuck, self.since(), lost.why)),
            );
        }
        let (machine, facts) = self.life?;
        let status = facts.view.status;
        if machine.state(status).terminal && self.hooks.is_none() {
            let why = format!("the task is {}", machine.state(status).name);
            return Some(Need::new(NeedKind::Over, self.entered, why));
        }
        let need = asked(self.agents)
            .or_else(|| self.used_up(machine, status))
            .or_else(|| self.hook_failed())
            .or_else(|| Some(Need::new(NeedKind::Crashed, self.entered, self.unfinished?)))
            .or_else(|| self.is_moving.then(|| self.moving(machine, status)))
            .or_else(|| self.unstarted())
            .or_else(|| self.overdue())
            .or_else(|| self.with_agents(machine, facts))
            .or_else(|| self.without_agents(machine, facts))
            .or_else(|| self.called())
            .or_else(|| limited(self.agents, self.wait.as_ref(), self.since()));
        let need = need.unwrap_or_else(|| working(self.agents, self.since(), "its agents work"));
        Some(Need { since: need.since.or_else(|| self.since()), ..need })
    }

    /// Start of the present standstill: the later of the entry into the state and the last end in it.
    pub(super) fn since(&self) -> Option<&'f str> {
        // Times of one form and length sort like texts.
        self.entered.max(self.halted)
    }

    /// A budget stops the task where an agent would work.
    fn used_up(&self, machine: &Machine<'_>, status: StateId) -> Option<Need<'f>> {
        let ReachedBudget { why, since, is_own } = self.budget?;
        let is_concerned = self.hooks.is_some() || self.queued.is_some() || machine.has_agent(status);
        let kind = if is_own { NeedKind::Budget } else { NeedKind::Limit };
        is_concerned.then(|| Need::new(kind, since, why))
    }

    fn hook_failed(&self) -> Option<Need<'f>> {
        let Hooks { name, error, .. } = self.hooks?;
        Some(Need::new(NeedKind::HookFailed, self.since(), format!("the hook {name} has failed: {error}")))
    }

    fn moving(&self, machine: &Machine<'_>, status: StateId) -> Need<'f> {
        let name = machine.state(status).name;
        Need::new(NeedKind::Working, self.entered, format!("the transition to {name} is under way"))
    }

    fn unstarted(&self) -> Option<Need<'f>> {
        let why = self.queued?;
        Some(match self.forbidden.or(self.attention) {
            Some(stuck) => Need::new(NeedKind::Stuck, self.since(), stuck),
            None => Need::new(NeedKind::Queued, self.since(), why),
        })
    }

    /// A fact that leads the task on has waited for its agent for a while. The agent does not hear of it.
    fn overdue(&self) -> Option<Need<'f>> {
        let OverdueFact { fact, since, minutes } = self.overdue?;
        let is_at_work = |agent: &Agent<'_>| matches!(agent.doing, Doing::Works | Doing::Quiet);
        if !self.agents.iter().any(is_at_work) {
            return None;
        }
        let kind = match fact {
            Fact::ChecksRed | Fact::ChecksRedEarly | Fact::RequiredRed | Fact::RequiredRedEarly => {
                NeedKind::ChecksRed
            }
            Fact::BaseConflict | Fact::MergeableConflict => NeedKind::Conflict,
            Fact::ChecksGreen
            | Fact::RequiredGreen
            | Fact::Approved
            | Fact::ChangesRequested
            | Fact::ThreadsOpen
            | Fact::MergeableClean
            | Fact::MergeableBlocked
            | Fact::BaseMoved
            | Fact::ChildrenMerged
            | Fact::ChildrenEnded => NeedKind::ReviewReady,
        };
        let minutes = if minutes == 1 { String::from("a minute") } else { format!("{minutes} minutes") };
        let why = format!("{}: that waits for its agent for more than {minutes}", fact.sentence());
        Some(Need::new(kind, Some(since), why))
    }

    /// In a state in which an agent works.
    fn with_agents(&self, machine: &Machine<'_>, facts: &LifeFacts<'_>) -> Option<Need<'f>> {
        let status = facts.view.status;
        let is_crash_state = machine.commands.crash == Some(status);
        if !machine.has_agent(status) && !is_crash_state {
            return None;
        }
        if let Some(agent) = idle(self.agents) {
            return Some(match () {
                () if is_crash_state => Need::of_agent(NeedKind::Stuck, agent),
                () if machine.asks(status) => self.question(agent, facts),
                () if agent.has_asked(facts.view.body) => self.question(agent, facts),
                () => Need::of_agent(NeedKind::IdleWithoutArtifact, agent),
            });
        }
        let is_gone = self.is_alive == Some(false) && self.wait.is_none();
        if !is_gone {
            return None;
        }
        let name = machine.state(status).name;
        let why = || match self.attention.or(self.end) {
            Some(why) => String::from(why),
            None => format!("no agent is alive in {name}"),
        };
        let kind = match () {
            () if is_crash_state => NeedKind::Stuck,
            () if self.is_stopped => {
                let why = format!("a person has stopped the agent in {name}");
                return Some(Need::new(NeedKind::Paused, self.since(), why));
            }
            () => NeedKind::Crashed,
        };
        Some(Need::new(kind, self.since(), why()))
    }

    fn question(&self, agent: &Agent<'f>, facts: &LifeFacts<'_>) -> Need<'f> {
        let need = Need::of_agent(NeedKind::Question, agent);
        let is_written = agent.doing == Doing::Waits && agent.has_asked(facts.view.body);
        let why =
            format!("agent {} has written {QUESTIONS} in TASK.md and waits for the answers", agent.spawn);
        if is_written { Need { why, ..need } } else { need }
    }

    /// In a state in which nobody but a person or a program leads the task on.
    fn without_agents(&self, machine: &Machine<'_>, facts: &LifeFacts<'_>) -> Option<Need<'f>> {
        let status = facts.view.status;
        let state = machine.state(status);
        if machine.has_agent(status) || status == machine.initial {
            return None;
        }
        if machine.commands.crash == Some(status) {
            let busy = self.agents.iter().any(|agent| agent.doing == Doing::Works);
            let why = self.attention.map_or_else(|| format!("the task is {}", state.name), String::from);
            return (!busy).then(|| Need::new(NeedKind::Stuck, self.since(), why));
        }
        if let Some(programs) = machine.waits_for_programs(status) {
            return Some(match self.attention {
                Some(attention) => Need::new(NeedKind::Stuck, self.since(), attention),
                None => {
                    Need::new(NeedKind::Queued, self.entered, format!("{} waits for {programs}", state.name))
                }
            });
        }
        if let Some(CreatedCount { open, all }) = self.children.filter(|it| it.open > 0) {
            return Some(match self.attention {
                Some(attention) => Need::new(NeedKind::Stuck, self.since(), attention),
                None => {
                    let why = format!("{} waits for {open} of {all} tasks that it has created", state.name);
                    Need::new(NeedKind::Queued, self.entered, why)
                }
            });
        }
        if let Some((number, most)) = self.pull_request.and_then(|it| it.rerun).filter(|_| !self.conflicts) {
            let why = format!("its checks run again, {number} of {most}");
            return Some(Need::new(NeedKind::Queued, self.entered, why));
        }
        let checks = self.pull_request.map(|it| it.checks);
        let (kind, why) = match () {
            () if self.conflicts => {
                let why = self.unmergeable.unwrap_or("the branch conflicts with its base");
                (NeedKind::Conflict, String::from(why))
            }
            () if checks == Some(Checks::Red) => {
                (NeedKind::ChecksRed, String::from("a check of the pull request has failed"))
            }
            () if self.queued_merge().is_some() => {
                (NeedKind::Queued, String::from("its pull request is queued for merge"))
            }
            () => (NeedKind::ReviewReady, String::new()),
        };
        if kind == NeedKind::Queued {
            return Some(Need::new(kind, self.queued_merge(), why));
        }
        if kind != NeedKind::ReviewReady {
            return Some(Need::new(kind, self.since(), why));
        }
        let verdict = machine.standing_verdict(facts);
        let round = Some(facts.view.counter(REVIEW_ROUND)).filter(|round| *round > 0);
        let found = match (&verdict, round) {
            (Some(verdict), Some(round)) => format!(", {} in round {round}", verdict),
            (Some(verdict), None) => format!(", {}", verdict),
            (None, _) => String::new(),
        };
        let called = self.attention.map(|attention| format!("; {attention}")).unwrap_or_default();
        let stopped = self.unmergeable.filter(|_| self.pull_request.is_none());
        let stopped = stopped.map(|why| format!("; it cannot be merged: {why}")).unwrap_or_default();
        let other = machine.verdict_of_other_work(facts).map(|why| format!("; {why}")).unwrap_or_default();
        let refused = match self.pull_request.and_then(|it| it.merge) {
            Some(KnownForgeMerge::Refused { why }) => format!("; its forge did not merge it: {why}"),
            Some(KnownForgeMerge::Queued { .. }) | None => String::new(),
        };
        let why = format!("{} waits for a person{found}{other}{stopped}{refused}{called}", state.name);
        Some(Need { verdict, round, ..Need::new(kind, self.since(), why) })
    }

    /// Since when the forge has accepted a merge that it has not made yet.
    fn queued_merge(&self) -> Option<&'f str> {
        match self.pull_request?.merge? {
            KnownForgeMerge::Queued { since } => Some(since),
            KnownForgeMerge::Refused { .. } => None,
        }
    }

    /// Agents work, and still a person is called.
    fn called(&self) -> Option<Need<'f>> {
        Some(Need::new(NeedKind::HookFailed, self.since(), self.attention?))
    }
}

/// The [`fingerprint`] of the questions to a person in a text, if it has any.
pub fn questions(body: &str) -> Option<u64> {
    section(body, QUESTIONS).filter(|content| !content.trim().is_empty()).map(fingerprint)
}

impl Agent<'_> {
    /// True if it has written questions: those that stood there before it began are not its own.
    fn has_asked(&self, body: &str) -> bool {
        questions(body).is_some_and(|now| self.asked_before != Some(now))
    }
}

impl Machine<'_> {
    /// True if an agent works in a state: one is started there, or exit rules draw conclusions from its end.
    pub fn has_agent(&self, id: StateId) -> bool {
        let mut rules = self.exit_rules_of(id).map(|rule| &self.exit_rules[rule]);
        let mut judges = || {
            rules.any(|rule| {
                let is_deadline = matches!(rule.condition, Condition::Overdue(_) | Condition::Spent);
                !is_deadline && !matches!(rule.outcome, Outcome::MarkDead)
            })
        };
        !self.state(id).terminal && id != self.initial && (self.restart(id, None).is_some() || judges())
    }

    /// True if it is the state in which an agent asks a person what to do.
    fn asks(&self, id: StateId) -> bool {
        let commands = &self.commands;
        commands.clarify == Some(id) && commands.clarify != commands.spawn
    }

    /// The declared actors for which a state waits, if only they lead on from it; anybody may cancel a task.
    pub fn waits_for_programs(&self, id: StateId) -> Option<String> {
        let leaving = &self.transitions[self.row(id)];
        let onwards = leaving.iter().filter(|it| self.commands.cancel != Some(it.to));
        let by = onwards.fold(Actors::NONE, |by, it| by.joined(it.by));
        let declared = by.declared().map(|actor| self.actor_name(actor));
        let declared = declared.collect::<alloc::vec::Vec<_>>();
        (!by.names(Actor::Human) && !declared.is_empty()).then(|| declared.join(" or "))
    }

    /// Description of the work of a verdict that a gate here refuses because it is of other work.
    fn verdict_of_other_work(&self, facts: &LifeFacts<'_>) -> Option<String> {
        let mut gates = self.transition_gates_of(facts.view.status).flat_map(Gate::sections);
        let since = |gate: &SectionGate<'_>| {
            let found = check_section(gate, facts.view.body, facts.view.seen);
            let Err(Missing::OtherWork { since }) = found else { return None };
            Some(since.message(gate.section))
        };
        gates.find_map(|gate| gate.of.and_then(|_| since(gate)))
    }

    /// The verdict with which a task can have come to its state, if it still stands in its text.
    fn standing_verdict(&self, facts: &LifeFacts<'_>) -> Option<String> {
        let into = self.transitions.iter().filter(|it| it.to == facts.view.status);
        let gates = into.flat_map(|it| it.section_gates());
        let stands = |gate: &SectionGate<'_>| {
            let gate = SectionGate { fresh: false, of: None, ..*gate };
            let verdict = gate.standing_verdict(facts.view.body, facts.view.seen)?;
            Some(verdict.as_str().to_owned())
        };
        gates.filter_map(stands).next()
    }
}
