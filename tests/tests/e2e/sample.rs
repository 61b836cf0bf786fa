//! A few runs of a search that show every kind of step in it: each transition from a state, by each actor, after
//! whatever is written before, with whatever its hooks do beside.

use std::collections::BTreeSet;

use orange_analysis::search::{ConfigurationId, Edge, EdgeId, Search};

/// More steps than this are never needed to find the next kind of step.
const BUDGET: usize = 1_000_000;

/// The runs, one after the other, until every kind of step was shown.
pub(crate) struct RunSample<'s> {
    search: &'s Search<'s>,
    starts: Vec<ConfigurationId>,
    shown: BTreeSet<String>,
}

impl<'s> RunSample<'s> {
    pub(crate) fn of(search: &'s Search<'s>) -> Self {
        let starts =
            search.configurations().map(|(id, _)| id).filter(|id| search.arrival(*id).is_none()).collect();
        Self { search, starts, shown: BTreeSet::new() }
    }

    fn kind(&self, edge: &Edge) -> String {
        let status = self.search.task(edge.from).status;
        format!("{status:?} {:?} {:?}", edge.step, self.search.events(edge))
    }

    fn path(&self, from: ConfigurationId, ends: impl Fn(&Edge) -> bool) -> Option<Vec<EdgeId>> {
        let mut budget = BUDGET;
        self.search.walk(from, |_| true, ends, &mut budget)
    }

    /// From here to the nearest kind of step that was not shown, and on from there; what ends the task comes last.
    fn run_from(&mut self, start: ConfigurationId) -> Vec<EdgeId> {
        let mut run = Vec::new();
        let mut at = start;
        loop {
            let is_new = |edge: &Edge| !self.shown.contains(&self.kind(edge));
            let goes_on = |edge: &Edge| !self.search.edges_from(edge.to).is_empty();
            let path = self.path(at, |edge| is_new(edge) && goes_on(edge)).or_else(|| self.path(at, is_new));
            let Some(path) = path else { return run };
            for id in path {
                let edge = self.search.edge(id);
                self.shown.insert(self.kind(edge));
                at = edge.to;
                run.push(id);
            }
        }
    }
}

impl Iterator for RunSample<'_> {
    type Item = Vec<EdgeId>;

    fn next(&mut self) -> Option<Vec<EdgeId>> {
        let starts = self.starts.clone();
        starts.into_iter().map(|start| self.run_from(start)).find(|run| !run.is_empty())
    }
}
