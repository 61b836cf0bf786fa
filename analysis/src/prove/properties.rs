//! The properties: what each claims, which run breaks it, and why it holds where none does.

use orange_core::wall::Level;
use orange_core::{Actor, CRASH_COUNT, DEFAULT_STUCK_AFTER, Gate, StateId, TransitionId};

use super::{ProofFacts, Property, bounds};
use crate::lint::authority::{VerdictWriter, demands_wall, forged, forged_run, unasked, unasked_run};
use crate::lint::unattended::{Lasso, Unattended};
use crate::search::task::Agent;
use crate::search::{Edge, EdgeId, ExitResult, SearchStep};
use orange_codegen::diag::Trace;
use orange_codegen::model::Outcome as Rule;

/// Name of the property that walls give.
pub(super) const NO_FORGED_END: &str = "no-forged-end";

/// Every property, in the order in which a reader wants to know.
pub static PROPERTIES: &[Property] = &[
    Property {
        name: "ends-reachable",
        claim: "an end can be reached from everywhere",
        watched_by: &["C02", "C03", "C04"],
        broken: no_end,
        unknown: nothing,
        argument: ends,
    },
    Property {
        name: "nothing-left-behind",
        claim: "no session, window or worktree survives an end",
        watched_by: &["C60", "C61"],
        broken: left_behind,
        unknown: nothing,
        argument: given_back,
    },
    Property {
        name: "one-agent",
        claim: "never two agents in one worktree, except reviewers who are meant to run beside the others",
        watched_by: &["C62"],
        broken: second_agent,
        unknown: nothing,
        argument: one_agent,
    },
    Property {
        name: "no-lost-agent",
        claim: "no agent is lost unseen",
        watched_by: &["C46", "C47", "C4C", "C63", "C68"],
        broken: lost_agent,
        unknown: nothing,
        argument: every_end_counts,
    },
    Property {
        name: "gates-met",
        claim: "no exit rule leads to a gate that refuses what the rule asks for",
        watched_by: &["C41", "C42"],
        broken: |_| None,
        unknown: too_many_cases,
        argument: gates_met,
    },
    Property {
        name: "loops-bounded",
        claim: "every run without a person ends, or comes to where a person is needed",
        watched_by: &["C05", "C25"],
        broken: endless,
        unknown: nothing,
        argument: bounds::argument,
    },
    Property {
        name: "judged-apart",
        claim: "who is judged does not judge: no agent's own work passes by a verdict of its own",
        watched_by: &["CA0"],
        broken: |_| None,
        unknown: unknown_writer,
        argument: judged,
    },
    Property {
        name: "person-asked",
        claim: "a person is asked between an agent's work and its merge, unless the workflow is `unattended`",
        watched_by: &["CA2"],
        broken: merged_unasked,
        unknown: nothing,
        argument: asked,
    },
    Property {
        name: NO_FORGED_END,
        claim: "no end is reached by a verdict that an agent without a wall could have written",
        watched_by: &["CA4"],
        broken: forged_end,
        unknown: no_wall,
        argument: all_walled,
    },
];

fn nothing(_: &ProofFacts<'_, '_>) -> Option<String> {
    None
}

fn no_end(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let facts = known.facts;
    let trap = facts.caught(|id| facts.state(facts.search.task(id).status).terminal)?;
    Some(facts.tell_to(trap, "no transition to an end is open".to_owned()))
}

fn ends(known: &ProofFacts<'_, '_>) -> String {
    let states =
        known.facts.states().filter(|(id, it)| it.terminal && known.facts.nearest[index(*id)].is_some());
    let names: Vec<String> = states.map(|(_, state)| format!("`{}`", state.name.value)).collect();
    let configurations = known.facts.search.size();
    format!("from each of the {configurations} configurations some run leads to {}", names.join(" or "))
}

fn left_behind(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let facts = known.facts;
    let is_left = |edge: &Edge| facts.outliving(edge).is_some() || facts.keeps_workspace(edge);
    trace_to(known, is_left, "something is left behind")
}

fn given_back(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    let ends = |edge: &&Edge| facts.state(facts.search.task(edge.to).status).terminal;
    let count = facts.search.edges().map(|(_, edge)| edge).filter(ends).count();
    format!("none of the {count} steps into an end leaves an agent alive or a worktree bound")
}

fn second_agent(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let facts = known.facts;
    trace_to(known, |edge| facts.is_crowded(edge), "2 live agents")
}

fn one_agent(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    let most = facts.search.configurations().map(|(_, task)| task.live_agents()).max().unwrap_or(0);
    let mut several = facts.search.configurations().filter(|(_, task)| task.live_agents() > 1);
    match most {
        0 | 1 => "at most one agent is alive in any configuration".to_owned(),
        _ if several.any(|(_, task)| task.agent(Actor::Worker) == Agent::Live) => {
            "a second one is alive only where `spawn_reviewer` started it beside the worker".to_owned()
        }
        _ => format!(
            "no agent is alive beside a worker; up to {most} reviewers with names are, which one transition starts"
        ),
    }
}

/// An end that no exit rule decides about, or a crash too many that moves nothing.
fn lost_agent(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    trace_to(known, |edge| is_lost(known, edge), "nobody learns of it")
}

fn is_lost(known: &ProofFacts<'_, '_>, edge: &Edge) -> bool {
    let (facts, search) = (known.facts, known.facts.search);
    let status = search.task(edge.from).status;
    let SearchStep::Exit { agent, outcome, .. } = edge.step else { return false };
    match outcome {
        ExitResult::Advance(_) | ExitResult::Escalate(_) | ExitResult::Waits { .. } => false,
        // An end that is judged once more was learned of before.
        ExitResult::Marked => {
            let mut rules = facts.machine.exit_rules_of(status).map(|at| &facts.machine.exit_rules[at]);
            let is_judged =
                agent == facts.machine.state(status).agent || rules.all(|rule| rule.only_notifies());
            is_judged && search.task(edge.from).unhandled_exit.is_none() && search.deciding(edge).is_none()
        }
        ExitResult::Crash { .. } => {
            let outcomes = facts.machine.exit_rules_of(status).map(|at| &facts.exit_rules[at].outcome);
            let limit = |it: &Rule| match it {
                Rule::Crash { stuck_after, .. } => Some(*stuck_after),
                Rule::Then(_) | Rule::ThenWhen(_) | Rule::MarkDead | Rule::Wait { .. } => None,
            };
            // A rule whose transition is refused counts as the state's first rule for crashes does.
            let own = search.deciding(edge).and_then(|at| limit(&facts.exit_rules[at].outcome));
            let limit = own.or_else(|| outcomes.filter_map(limit).next()).unwrap_or(DEFAULT_STUCK_AFTER);
            search.value(search.task(edge.to), CRASH_COUNT) >= limit
        }
    }
}

fn every_end_counts(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    let own = |edge: &Edge| match edge.step {
        SearchStep::Exit { agent, outcome, .. } => {
            let is_resumed = outcome == ExitResult::Waits { resumed: true };
            !is_resumed && agent == facts.machine.state(facts.search.task(edge.from).status).agent
        }
        SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Request { .. }
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. }
        | SearchStep::Respawn => false,
    };
    let ends: Vec<&Edge> = facts.search.edges().map(|(_, edge)| edge).filter(|edge| own(edge)).collect();
    let moved = ends.iter().filter(|edge| edge.step.transition().is_some()).count();
    let crashed =
        |edge: &&&Edge| matches!(edge.step, SearchStep::Exit { outcome: ExitResult::Crash { .. }, .. });
    let crashes = ends.iter().filter(crashed).count();
    let waited =
        |edge: &&&Edge| matches!(edge.step, SearchStep::Exit { outcome: ExitResult::Waits { .. }, .. });
    let waits = ends.iter().filter(waited).count();
    let shown = ends.len() - moved - crashes - waits;
    let waiting =
        if waits == 0 { String::new() } else { format!(", {waits} wait until it is started again") };
    format!(
        "of the {} ends that an agent can have, {moved} move the task on, {crashes} count as crashes{waiting} and \
         {shown} show the session as dead",
        ends.len()
    )
}

fn gates_met(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    let gated = (0u32..).map(TransitionId).zip(&facts.transitions).filter(|(_, it)| !it.gates.is_empty());
    let ruled = gated.clone().map(|(id, _)| id).filter(|id| facts.is_ruled(*id));
    let asks_outside = |id: TransitionId| {
        let mut gates = facts.machine.transition(id).gates.iter();
        gates.any(|gate| {
            matches!(gate, Gate::Command(_) | Gate::OnMerge(_) | Gate::Checks | Gate::Children(_))
        })
    };
    let where_so =
        if ruled.clone().any(asks_outside) { ", where its program or its checks agree" } else { "" };
    match (gated.count(), ruled.count()) {
        (0, _) => "there is no gate".to_owned(),
        (count, ruled) => format!(
            "exit rules lead to {ruled} of {count} gates, and each lets through whatever a rule that leads to it asks for{where_so}"
        ),
    }
}

/// Reason why the gates are not decided: the exit rules of a state distinguish more cases than are looked at.
fn too_many_cases(known: &ProofFacts<'_, '_>) -> Option<String> {
    let facts = known.facts;
    let cut = facts.asked_cases().find(|it| it.cut)?;
    Some(format!(
        "the exit rules of `{}` and the gates behind them tell more than {} cases apart",
        facts.name(cut.state),
        cut.all.len()
    ))
}

fn endless(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let within_budget = Unattended::within_budget(known.facts);
    let Lasso { run, turn } = within_budget.loops().into_iter().next()?;
    let last = turn.len();
    let run: Vec<EdgeId> = run.into_iter().chain(turn).collect();
    Some(known.facts.tell_loop(&run, last, "and so on".to_owned()))
}

fn unknown_writer(known: &ProofFacts<'_, '_>) -> Option<String> {
    let facts = known.facts;
    facts.judges().writers(facts).find_map(|(state, heading, writer)| {
        let state = facts.name(state);
        match writer {
            VerdictWriter::Unknown(_) => {
                Some(format!("nothing says who writes the verdict in `{heading}` that `{state}` goes by (CA1)"))
            }
            VerdictWriter::Judged(agent) => Some(format!(
                "`written_by` lets a {agent} write the verdict in `{heading}` that `{state}` goes by, and a {agent} has worked on the task",
                agent = agent.kind()
            )),
            VerdictWriter::OfPersons | VerdictWriter::Declared | VerdictWriter::Follows => None,
        }
    })
}

fn judged(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    let writers: Vec<VerdictWriter> = facts.judges().writers(facts).map(|(.., writer)| writer).collect();
    let count = |wanted: &VerdictWriter| writers.iter().filter(|it| *it == wanted).count();
    if writers.is_empty() {
        return "nothing goes by a verdict".to_owned();
    }
    let parts = [
        (count(&VerdictWriter::Follows), "only by agents that have not worked on the task"),
        (count(&VerdictWriter::Declared), "as `written_by` declares, by another than the one who worked"),
        (count(&VerdictWriter::OfPersons), "for persons, who alone go by it"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, how)| format!("{count} {how}")).collect();
    format!("sections with a verdict are written: {}", parts.join("; "))
}

fn merged_unasked(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let run = unasked(known.facts)?;
    Some(unasked_run(known.facts, &run))
}

fn asked(known: &ProofFacts<'_, '_>) -> String {
    let facts = known.facts;
    match (facts.workflow.unattended, facts.workflow.commands.merge) {
        (true, _) => "the workflow says `unattended: true`: it means to merge without a person".to_owned(),
        (false, None) => "no state is that of `orange task merge`".to_owned(),
        (false, Some(merge)) => format!(
            "wherever an agent is alive, each run on to `{}` takes a step that only a person may take",
            facts.name(merge)
        ),
    }
}

fn forged_end(known: &ProofFacts<'_, '_>) -> Option<Trace> {
    let run = forged(known.facts)?;
    Some(forged_run(known.facts, &run))
}

/// Without a demand, whether there are walls is a matter of the project.
fn no_wall(known: &ProofFacts<'_, '_>) -> Option<String> {
    (!demands_wall(known.facts)).then(|| "the workflow demands no wall".to_owned())
}

fn all_walled(known: &ProofFacts<'_, '_>) -> String {
    let hooks = known.facts.machine.transitions.iter().flat_map(|it| it.hooks);
    let starts = hooks.filter(|it| it.spawn().is_some()).count();
    let walled = known.facts.machine.transitions.iter().flat_map(|it| it.hooks);
    let walled = walled.filter_map(|it| it.spawn()).filter(|it| it.sandbox.level == Level::Wall).count();
    format!(
        "{walled} of {starts} hooks that start agents demand a wall, and no agent without one starts before a verdict decides"
    )
}

/// The shortest run to a step that breaks a property.
fn trace_to(known: &ProofFacts<'_, '_>, breaks: impl Fn(&Edge) -> bool, end: &str) -> Option<Trace> {
    let edge = known.facts.search.first_edge(breaks)?;
    Some(known.facts.tell(&known.facts.search.run_through(edge), end.to_owned()))
}

fn index(id: StateId) -> usize {
    usize::from(id.0)
}
