//! The search against one that reduces nothing: both come to the same configurations by the same steps, as far as decisions tell them
//! apart.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

mod panel;
mod sources;

use std::collections::BTreeSet;

use orange_analysis::lint;
use orange_analysis::search::task::{ABSENT, Task};
use orange_analysis::search::{Edge, FailedHook, Search, SearchLimits, SearchStep, Wrote};
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Source, compile};
use proptest::prelude::*;

use self::panel::{BEFORE, BESIDE, BETWEEN, CRASH, OF_GATES, OF_HOOKS, Panel, any_panel};
use self::sources::sources;

/// Workflows with more configurations than this are left out.
const MAX_CONFIGURATIONS: usize = 3_000;

/// A search, seen without what the reduced one leaves out: in whose place a reviewer stands, sections that count for nothing any more,
/// and answers of programs.
struct Seen<'s, 'm> {
    search: &'s Search<'m>,
    /// The reviewers that the reduced search exchanges with each other.
    classes: Vec<Vec<u8>>,
}

impl Seen<'_, '_> {
    fn all(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let configurations = self.search.configurations().map(|(_, task)| self.task(task)).collect();
        let steps = self.search.edges().filter_map(|(_, edge)| self.edge(edge)).collect();
        (configurations, steps)
    }

    fn task(&self, task: &Task) -> String {
        let shared: Vec<_> = (0..self.search.sections.len()).filter(|at| self.owner(*at).is_none()).collect();
        let shared: Vec<_> = shared.into_iter().map(|at| self.section(task, at)).collect();
        let classes = self.classes.iter().map(|class| {
            let mut states: Vec<_> = class.iter().map(|it| self.reviewer(task, *it)).collect();
            states.sort();
            states
        });
        let classes: Vec<_> = classes.collect();
        let others = self.classes.iter().flatten().fold(task.reviewers, |bits, it| bits & !(1 << it));
        let counters: Vec<_> = (0..8).map(|slot| task.counter(slot)).collect();
        let agents = (task.worker, task.reviewer, others, task.session, task.beside, task.renamed);
        let rest = (task.status, task.workspace, task.unhandled_exit, task.waiting, task.passed);
        format!("{rest:?} {agents:?} {counters:?} {shared:?} {classes:?}")
    }

    /// The reviewer of a class that writes a section.
    fn owner(&self, section: usize) -> Option<u8> {
        let name = self.search.sections.get(section).reviewer?;
        let mut all = self.classes.iter().flatten().copied();
        all.find(|it| self.search.reviewers.name(*it) == name)
    }

    fn owned(&self, reviewer: u8) -> Vec<usize> {
        (0..self.search.sections.len()).filter(|at| self.owner(*at) == Some(reviewer)).collect()
    }

    /// State of a reviewer that others can be exchanged with.
    fn reviewer(&self, task: &Task, it: u8) -> (bool, Vec<(u8, bool, bool)>) {
        let sections = self.owned(it).into_iter().map(|at| self.section(task, at)).collect();
        (task.reviewers >> it & 1 == 1, sections)
    }

    fn section(&self, task: &Task, at: usize) -> (u8, bool, bool) {
        let (section, written) = (self.search.sections.get(at), task.section(at));
        let is_terminal = self.search.machine.state(task.status).terminal;
        let gates = self.search.machine.transitions.iter().flat_map(|it| it.section_gates());
        let rules = self.search.machine.exit_rules.iter().flat_map(|it| it.condition.section_gates());
        let mut gates = gates.chain(rules).filter(|gate| gate.section == section.heading);
        let is_read =
            self.search.machine.section_gates_of(task.status).any(|gate| gate.section == section.heading);
        let counts_for_nothing = (written.is_stale() || !is_read) && gates.all(|gate| gate.fresh);
        if section.asked.is_some() || is_terminal || counts_for_nothing {
            return (ABSENT, false, false);
        }
        (written.content, written.seen, written.stood)
    }

    /// A step; none if it changes nothing that is seen.
    fn edge(&self, edge: &Edge) -> Option<String> {
        let before = self.search.task(edge.from);
        let (from, to) = (self.task(before), self.task(self.search.task(edge.to)));
        let is_seen = from != to || !matches!(edge.step, SearchStep::Write(_) | SearchStep::Commit(_));
        is_seen.then(|| format!("{from} {} {to}", self.step(before, &edge.step)))
    }

    fn step(&self, before: &Task, step: &SearchStep) -> String {
        let wrote = |it: Option<Wrote>| {
            let it = it.filter(|it| it.content != ABSENT)?;
            let at = usize::from(it.section);
            let is_asked = self.search.sections.get(at).asked.is_some();
            let owner = self.owner(at).map(|owner| {
                let which = self.owned(owner).iter().position(|it| *it == at);
                (self.reviewer(before, owner), which)
            });
            (!is_asked).then(|| format!("{owner:?} {:?} {}", owner.is_none().then_some(at), it.content))
        };
        let one = |it: Option<u8>| {
            let is_exchanged = |it: u8| self.classes.iter().flatten().any(|other| *other == it);
            it.map(|it| {
                (is_exchanged(it).then(|| self.reviewer(before, it)), (!is_exchanged(it)).then_some(it))
            })
        };
        match *step {
            SearchStep::Write(it) => format!("write {:?}", wrote(Some(it))),
            SearchStep::Request { transition, by, wrote: it, watch } => {
                format!("request {transition:?} {by:?} {watch:?} {:?}", wrote(it))
            }
            SearchStep::Exit { agent, one: it, wrote: of, end, outcome } => {
                format!("exit {agent:?} {:?} {:?} {end:?} {outcome:?}", one(it), wrote(of))
            }
            SearchStep::Failure { transition, hook, failed } => {
                let FailedHook { by, one: it, wrote: of, exit, watch } = failed;
                format!(
                    "failure {transition:?} {hook} {by:?} {watch:?} {:?} {:?} {exit:?}",
                    one(it),
                    wrote(of)
                )
            }
            SearchStep::Start
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Respawn
            | SearchStep::Retry { .. } => {
                format!("{step:?}")
            }
        }
    }
}

/// Number of configurations of the search and of the one that reduces nothing; none if a workflow is too large to compare them.
fn compared(source: &Source) -> Option<(usize, usize)> {
    let checked = compile(source).checked?;
    let arena = Arena::default();
    let machine = lower(&checked, &arena).ok()?;
    let limits =
        SearchLimits { configurations: MAX_CONFIGURATIONS, is_reduced: false, ..SearchLimits::default() };
    let whole = Search::within(&machine, &limits);
    if whole.cut().is_some() {
        return None;
    }
    let reduced = Search::run(&machine);
    assert_eq!(reduced.cut(), None, "{}", source.path);
    let classes: Vec<Vec<u8>> = reduced.exchangeable().map(Iterator::collect).collect();
    let [one, other] = [&reduced, &whole].map(|search| Seen { search, classes: classes.clone() }.all());
    for (what, one, other) in [("configuration", one.0, other.0), ("step", one.1, other.1)] {
        let lost: Vec<_> = other.difference(&one).take(3).collect();
        assert!(lost.is_empty(), "{}: the reduced search lacks a {what}: {lost:#?}", source.path);
        let more: Vec<_> = one.difference(&other).take(3).collect();
        assert!(more.is_empty(), "{}: only the reduced search has a {what}: {more:#?}", source.path);
    }
    // Which of several reviewers a finding names, and where it begins a loop, is chance.
    let found = |limits: &SearchLimits<'_>| -> BTreeSet<&str> {
        lint::findings_within(&checked, source, limits).iter().map(|it| it.code()).collect()
    };
    assert_eq!(found(&SearchLimits::default()), found(&limits), "{}: {}", source.path, source.text);
    Some((reduced.size(), whole.size()))
}

#[test]
fn a_reduced_search_takes_every_step_and_no_other() {
    let all: Vec<_> = sources("yaml", "yml").iter().filter_map(compared).collect();
    let smaller = all.iter().filter(|(reduced, whole)| reduced < whole).count();
    assert!(all.len() > 300 && smaller > 50, "{} compared, {smaller} of them smaller", all.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 400, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn a_panel_of_any_kind_is_reduced_without_a_loss(panel in any_panel()) {
        prop_assume!(compared(&panel.source()).is_some());
    }
}

#[test]
fn panels_are_reduced_where_their_reviewers_can_be_exchanged() {
    let plain = Panel {
        reviewers: vec![OF_HOOKS[1], "", ""],
        between: "",
        before: BEFORE[0],
        gates: [OF_GATES[0], OF_GATES[1]],
        beside: "",
        crash: CRASH[0],
        again: false,
    };
    let classes = |panel: &Panel| {
        let checked = compile(&panel.source()).checked.expect("a panel that compiles");
        let arena = Arena::default();
        let machine = lower(&checked, &arena).expect("a state machine");
        let search = Search::run(&machine);
        let classes: Vec<Vec<u8>> = search.exchangeable().map(Iterator::collect).collect();
        classes
    };
    assert_eq!(classes(&plain), [[0, 1, 2]]);
    let two = Panel { reviewers: vec!["", ""], ..plain.clone() };
    let (reduced, whole) = compared(&two.source()).expect("a panel that compiles");
    assert!(3 * reduced < whole, "{reduced} of {whole}");
    let none: [Vec<u8>; 0] = [];
    assert_eq!(classes(&Panel { gates: [OF_GATES[2], OF_GATES[3]], ..plain.clone() }), none);
    // A hook that stops the others leaves them behind, and a reviewer of which a gate speaks is not like another.
    assert_eq!(classes(&Panel { between: BETWEEN[1], ..plain.clone() }), [[1, 2]]);
    assert_eq!(classes(&Panel { reviewers: vec!["", "", OF_HOOKS[2]], ..plain.clone() }), [[0, 1]]);
    assert_eq!(
        classes(&Panel { beside: BESIDE[2], gates: [OF_GATES[1], OF_GATES[1]], ..plain.clone() }),
        [[1, 2]]
    );
    // A reviewer that is alive is started again.
    assert_eq!(classes(&Panel { again: true, ..plain.clone() }), none);
}
