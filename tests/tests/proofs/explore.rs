//! Everything that somebody could do to a task, and the exploration of what comes of it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use orange_analysis::walk::{Act, WalkEnd};
use orange_core::{Actor, Fact};
use orange_testkit::Random;
use orange_tests::monitor::{self, TaskActor};
use orange_tests::plan::{Applies, DECLARED, Outside, Plan};

use crate::run::{SeenAnswers, WatchedWalk, command_line, who};

/// One thing to do: the act, who writes, whether the engine does it.
#[derive(Clone, Debug)]
pub(crate) struct ExploredAct {
    pub act: Act,
    pub author: TaskActor,
    pub by_engine: bool,
}

const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];
/// No guard and no exit rule of these workflows counts so far.
const TURNS: usize = 8;
/// The tasks from which it is tried what a gate lets through.
const MOST_TRIED: usize = 40;
const TEXTS: [&str; 8] = [
    "",
    "Something.",
    "DONE: all",
    "REMAINING: none\nDONE: all",
    "Verdict: PASS",
    "Verdict: FAIL",
    "Verdict: DISCUSS",
    "The result is PASS.",
];

fn deed(act: Act) -> ExploredAct {
    ExploredAct { act, author: TaskActor::Person, by_engine: false }
}

/// Everything that can be done here.
pub(crate) fn deeds(plan: &Plan, run: &WatchedWalk<'_>) -> Vec<ExploredAct> {
    let mut deeds = Vec::new();
    let status = run.monitor.status;
    let name = |at: usize| plan.states[at].name.clone();
    if run.hooks_wait() {
        deeds.push(deed(Act::RetryHooks));
    }
    let alive: Vec<Actor> = AGENTS.into_iter().filter(|it| run.is_alive(*it)).collect();
    for it in plan.transitions.iter().filter(|it| it.from == status) {
        let agents = alive.iter().map(|it| it.kind());
        let programs = DECLARED.into_iter().filter(|program| it.by.contains(program));
        for by in agents.chain([Actor::Human.kind()]).chain(programs) {
            deeds.push(deed(Act::Request { to: name(it.to), by: by.to_owned() }));
        }
    }
    for agent in &alive {
        deeds.extend(
            ends(plan, status).into_iter().map(|ended| deed(Act::End { agent: *agent, name: None, ended })),
        );
    }
    if alive.is_empty() || plan.states[status].respawn.is_some() {
        deeds.push(deed(Act::Spawn));
        deeds.push(deed(Act::Respawn));
    }
    deeds.extend(times(plan, status).map(|seconds| deed(Act::Elapse { after: Some(seconds) })));
    deeds.extend(facts(plan, status).map(|fact| deed(Act::Fact { fact })));
    if run.is_awaited {
        deeds.push(ExploredAct { by_engine: true, ..deed(Act::Respawn) });
    }
    deeds.extend(answers(plan, run).map(deed));
    let counts_for_work = |section: &str| {
        let mut gates = (0..plan.states.len()).flat_map(|state| monitor::gates(plan, state));
        gates.any(|gate| gate.of.is_some() && gate.section == section)
    };
    let is_judged = run.judged_about(false).iter().any(|(section, _)| counts_for_work(section));
    if is_judged && !alive.is_empty() && run.walk.has_workspace() {
        deeds.push(deed(Act::Commit { is_sync: false }));
    }
    for section in run.sections().filter(|it| is_read(plan, status, it)) {
        for author in alive.iter().map(|it| who(*it)).chain([TaskActor::Person]) {
            for text in TEXTS {
                let act = Act::Write { heading: section.to_owned(), text: text.to_owned() };
                deeds.push(ExploredAct { author, ..deed(act) });
            }
        }
    }
    deeds
}

/// The facts for which the rules of a state wait, each once.
fn facts(plan: &Plan, status: usize) -> impl Iterator<Item = Fact> {
    let is_watched = move |fact: &Fact| {
        let mut rules = plan.watch.iter().filter(|it| it.status == status);
        rules.any(|it| it.fact == fact.to_string())
    };
    Fact::ALL.into_iter().filter(is_watched)
}

/// The other answers of the programs and checks that gates of a state ask.
fn answers(plan: &Plan, run: &WatchedWalk<'_>) -> impl Iterator<Item = Act> {
    let SeenAnswers { succeeding, is_green, has_children } = run.answered().clone();
    monitor::gates(plan, run.monitor.status).filter_map(|it| it.outside).map(move |outside| match outside {
        Outside::Command(argv) => {
            let program = command_line(argv);
            let succeeds = !succeeding.contains(&program);
            Act::Answer { program, succeeds }
        }
        Outside::Checks => Act::Checks { word: if is_green { "red" } else { "green" }.to_owned() },
        Outside::Children { .. } => {
            Act::Children { word: if has_children { "none" } else { "some" }.to_owned() }
        }
    })
}

/// True if a gate or a rule of a state reads a section.
fn is_read(plan: &Plan, status: usize, section: &str) -> bool {
    monitor::gates(plan, status).any(|it| it.section == section)
}

fn ends(plan: &Plan, status: usize) -> Vec<WalkEnd> {
    let mut ends = vec![WalkEnd::of(Some(0), None, String::new())];
    for rule in plan.rules.iter().filter(|it| it.status == status) {
        if let Applies::Ended(ending) = &rule.applies {
            let output = ending.output.unwrap_or_default().to_owned();
            ends.push(WalkEnd::of(ending.codes.first().copied(), ending.signals.first().copied(), output));
        }
    }
    ends.extend(times(plan, status).map(|lasted| WalkEnd { lasted, ..WalkEnd::default() }));
    ends
}

/// The timeout and the deadlines of a state, in seconds.
fn times(plan: &Plan, status: usize) -> impl Iterator<Item = u32> {
    let deadlines = plan.deadlines.iter().filter(move |it| it.states.contains(&status)).map(|it| it.after);
    plan.states[status].timeout.map(|(seconds, _)| seconds).into_iter().chain(deadlines)
}

/// Does it. A text is always a new one, unless `again`.
pub(crate) fn perform(run: &mut WatchedWalk<'_>, deed: &ExploredAct, again: bool) -> bool {
    let mut act = deed.act.clone();
    if let Act::Write { text, .. } = &mut act
        && !again
        && !text.is_empty()
    {
        *text += &format!("\nStep {}.", run.script.len());
    }
    run.act(&act, deed.author, deed.by_engine).is_ok()
}

/// A deed, and the action that was made to fail meanwhile.
type DoneAct = (ExploredAct, Option<String>);

/// A graph of what a task came to.
pub(crate) struct Explored<'r> {
    pub runs: Vec<WatchedWalk<'r>>,
    /// By exit rule, by its place in the plan: how often a gate has refused what it led to, and let it through.
    pub led: BTreeMap<usize, [u32; 2]>,
    /// By run: where its deeds led.
    next: Vec<Option<Vec<(usize, DoneAct)>>>,
    /// True if no person does anything.
    is_unattended: bool,
}

impl<'r> Explored<'r> {
    /// Explores everything that can be done, up to so many different tasks.
    pub(crate) fn from(
        plan: &'r Plan,
        starts: Vec<WatchedWalk<'r>>,
        most: usize,
        random: &mut Random,
    ) -> Self {
        Self::explore(plan, starts, most, random, false)
    }

    /// Explores it without a person, from tasks in every state that was come to.
    pub(crate) fn unattended(&self, plan: &'r Plan, most: usize, random: &mut Random) -> Self {
        let by_state: BTreeMap<_, _> =
            self.runs.iter().map(|run| ((run.monitor.status, run.is_manned()), run)).collect();
        Self::explore(plan, by_state.into_values().cloned().collect(), most, random, true)
    }

    fn explore(
        plan: &'r Plan,
        starts: Vec<WatchedWalk<'r>>,
        most: usize,
        random: &mut Random,
        is_unattended: bool,
    ) -> Self {
        let mut it = Self { runs: Vec::new(), led: BTreeMap::new(), next: Vec::new(), is_unattended };
        let mut known = HashMap::new();
        let mut open = Vec::new();
        for run in starts {
            known.insert(key(plan, &run), it.runs.len());
            open.push(it.runs.len());
            it.runs.push(run);
            it.next.push(None);
        }
        while !open.is_empty() && it.runs.len() < most {
            let at = open.swap_remove(random.below(open.len()));
            let mut led = Vec::new();
            for (next, done) in it.steps(plan, at) {
                if let Some((rule, is_met)) = next.led {
                    it.led.entry(rule).or_default()[usize::from(is_met)] += 1;
                }
                let to = *known.entry(key(plan, &next)).or_insert_with(|| {
                    open.push(it.runs.len());
                    it.runs.push(next);
                    it.next.push(None);
                    it.runs.len() - 1
                });
                led.push((to, done));
            }
            it.next[at] = Some(led);
        }
        it
    }

    fn steps(&self, plan: &'r Plan, at: usize) -> Vec<(WatchedWalk<'r>, DoneAct)> {
        let run = &self.runs[at];
        if run.is_over() && !run.hooks_wait() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for deed in deeds(plan, run) {
            let mut next = run.clone();
            let is_persons = |next: &WatchedWalk<'_>| {
                next.by_person > run.by_person || is_write(&deed.act) && deed.author == TaskActor::Person
            };
            if !perform(&mut next, &deed, false) || self.is_unattended && is_persons(&next) {
                continue;
            }
            // What has hooks that stop the others has one fail, too.
            for failing in failing(plan, run, &deed) {
                let mut failed = run.clone();
                if failed.failing(&failing, |run| perform(run, &deed, false)) {
                    steps.push((failed, (deed.clone(), Some(failing))));
                }
            }
            steps.push((next, (deed, None)));
        }
        steps
    }

    /// True if a gate lets through what an exit rule leads to, if agents write this or that before they end.
    pub(crate) fn is_let_through(&self, plan: &'r Plan, rule: usize) -> bool {
        if self.led.get(&rule).is_some_and(|[_, met]| *met > 0) {
            return true;
        }
        let there = self.runs.iter().filter(|it| it.monitor.status == plan.rules[rule].status);
        let there = there.take(MOST_TRIED).map(|run| agreed(plan, run));
        let with_written = |run: WatchedWalk<'r>| {
            let written = after(plan, &run, is_write);
            std::iter::once(run).chain(written).collect::<Vec<_>>()
        };
        let mut written = there.flat_map(with_written).flat_map(with_written);
        let ends = |act: &Act| matches!(act, Act::End { .. });
        written.any(|run| after(plan, &run, ends).iter().any(|it| it.led == Some((rule, true))))
    }

    /// A run that was looked at to the end, and from which nothing leads to an end.
    pub(crate) fn trapped(&self) -> Option<&WatchedWalk<'r>> {
        let at = self.reaching(true).iter().position(|it| !it)?;
        Some(&self.runs[at])
    }

    /// A run from which nothing leads to an end, also one that was not looked at to the end: one for each state is
    /// looked at further.
    pub(crate) fn trapped_further(&self, plan: &'r Plan, random: &mut Random) -> Option<WatchedWalk<'r>> {
        let lost = self.runs.iter().zip(self.reaching(false)).filter(|(_, reaches)| !reaches);
        let by_state: BTreeMap<_, _> =
            lost.map(|(run, _)| ((run.monitor.status, run.is_manned(), run.hooks_wait()), run)).collect();
        let further = |run: &WatchedWalk<'r>| {
            let further = Self::from(plan, vec![run.clone()], MOST_TRIED, random);
            further.trapped().cloned()
        };
        self.trapped().cloned().or_else(|| by_state.into_values().find_map(further))
    }

    /// By run: whether it leads to an end; `unknown` says so of those that were not looked at.
    fn reaching(&self, unknown: bool) -> Vec<bool> {
        let is_open = |at: usize| unknown && self.next[at].is_none();
        let mut reaches: Vec<bool> =
            (0..self.runs.len()).map(|at| self.runs[at].is_over() || is_open(at)).collect();
        let mut grows = true;
        while grows {
            grows = false;
            for at in 0..self.runs.len() {
                let leads = |it: &Vec<(usize, DoneAct)>| it.iter().any(|(to, _)| reaches[*to]);
                if !reaches[at] && self.next[at].as_ref().is_some_and(leads) {
                    reaches[at] = true;
                    grows = true;
                }
            }
        }
        reaches
    }
}

impl<'r> Explored<'r> {
    /// A run that no person takes part in and that goes round, as often as one looks.
    pub(crate) fn endless(&self) -> Option<WatchedWalk<'r>> {
        (0..self.runs.len())
            .find_map(|at| self.rounds(at).into_iter().find_map(|round| self.turns(at, &round)))
    }

    /// For each deed from a run: the shortest path back to it.
    fn rounds(&self, start: usize) -> Vec<Vec<&DoneAct>> {
        let firsts = self.next[start].iter().flatten();
        firsts.filter_map(|(to, done)| Some([vec![done], self.path(*to, start)?].concat())).collect()
    }

    fn path(&self, from: usize, to: usize) -> Option<Vec<&DoneAct>> {
        let mut before: BTreeMap<usize, Option<(usize, &DoneAct)>> = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at == to {
                let came = std::iter::successors(before[&at], |(at, _)| before[at]);
                let mut path: Vec<&DoneAct> = came.map(|(_, done)| done).collect();
                path.reverse();
                return Some(path);
            }
            for (next, done) in self.next[at].iter().flatten() {
                if let Entry::Vacant(place) = before.entry(*next) {
                    place.insert(Some((at, done)));
                    queue.push_back(*next);
                }
            }
        }
        None
    }

    /// The run after more turns of a round than any guard counts, if each takes a transition and leads to the same state.
    fn turns(&self, at: usize, round: &[&DoneAct]) -> Option<WatchedWalk<'r>> {
        let mut run = self.runs[at].clone();
        let (status, by_person) = (run.monitor.status, run.by_person);
        for _ in 0..TURNS {
            let moves = run.monitor.unattended;
            for (deed, failing) in round {
                let is_done = match failing {
                    Some(hook) => run.failing(hook, |run| perform(run, deed, false)),
                    None => perform(&mut run, deed, false),
                };
                if !is_done {
                    return None;
                }
            }
            if run.monitor.status != status || run.monitor.unattended == moves || run.by_person > by_person {
                return None;
            }
        }
        Some(run)
    }
}

/// The runs after each such act.
fn after<'r>(plan: &'r Plan, run: &WatchedWalk<'r>, is_meant: fn(&Act) -> bool) -> Vec<WatchedWalk<'r>> {
    let deeds = deeds(plan, run).into_iter().filter(|it| is_meant(&it.act));
    let next = |deed: ExploredAct| {
        let mut next = run.clone();
        perform(&mut next, &deed, false).then_some(next)
    };
    deeds.filter_map(next).collect()
}

/// The run after the programs and checks that gates ask have agreed.
fn agreed<'r>(plan: &'r Plan, run: &WatchedWalk<'r>) -> WatchedWalk<'r> {
    let mut run = run.clone();
    let agrees = |act: &Act| {
        matches!(act, Act::Answer { succeeds: true, .. })
            || matches!(act, Act::Checks { word } if word == "green")
    };
    for act in answers(plan, &run).filter(agrees).collect::<Vec<_>>() {
        perform(&mut run, &deed(act), false);
    }
    run
}

fn is_write(act: &Act) -> bool {
    matches!(act, Act::Write { .. })
}

/// The actions that stop the others when they fail, on transitions that may follow.
pub(crate) fn failing(plan: &Plan, run: &WatchedWalk<'_>, deed: &ExploredAct) -> Vec<String> {
    let status = run.monitor.status;
    let is_meant = |to: usize| match &deed.act {
        Act::Request { to: wanted, .. } => plan.states[to].name == *wanted,
        Act::End { .. } | Act::Elapse { .. } | Act::Fact { .. } => true,
        Act::Write { .. }
        | Act::Answer { .. }
        | Act::Checks { .. }
        | Act::Children { .. }
        | Act::Commit { .. }
        | Act::Spawn
        | Act::Respawn
        | Act::Fail { .. }
        | Act::RetryHooks => false,
    };
    let leaving = plan.transitions.iter().filter(|it| it.from == status && is_meant(it.to));
    let mut actions: Vec<String> =
        leaving.flat_map(|it| &it.hooks).filter(|it| it.stops()).map(|it| it.action.to_owned()).collect();
    actions.sort();
    actions.dedup();
    actions
}

/// Key of the differences for which tasks are looked at apart.
fn key(plan: &Plan, run: &WatchedWalk<'_>) -> u64 {
    let mut hash = DefaultHasher::new();
    run.monitor.status.hash(&mut hash);
    let counters = plan.counters.iter().filter_map(|it| run.walk.counter_named(it));
    for counter in counters {
        run.walk.counter(counter).min(4).hash(&mut hash);
    }
    for section in run.sections() {
        let content = run.walk.section(section);
        content.and_then(|it| it.lines().next()).hash(&mut hash);
        run.is_stale(section).hash(&mut hash);
    }
    for agent in AGENTS {
        run.walk.agent(agent).hash(&mut hash);
    }
    run.answered().hash(&mut hash);
    run.judged_about(true).iter().for_each(|(section, _)| section.hash(&mut hash));
    (run.walk.has_workspace(), run.hooks_wait(), run.is_awaited).hash(&mut hash);
    run.monitor.key().hash(&mut hash);
    hash.finish()
}
