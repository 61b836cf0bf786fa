//! Runs that pass a gate and come back to its state while what it let through still stands.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::search::{ConfigurationId, EdgeId, Quick, Search};

/// Steps that are looked at for all runs that come back, at least.
const MIN_BUDGET: usize = 200_000;

/// The steps of a state that have to do with one section.
#[derive(Debug)]
pub struct SectionSteps<O> {
    /// Those in which a gate lets the section through.
    pub passing: Vec<EdgeId>,
    /// Those in which it is accepted, a gate having seen it and nobody having written it again, and by whom.
    pub accepting: HashMap<EdgeId, O, Quick>,
}

/// One search for such runs.
#[derive(Debug)]
pub struct ComingBack<'s, 'm> {
    search: &'s Search<'m>,
    section: usize,
    /// First arrival of a run at each configuration behind the gate.
    came: HashMap<ConfigurationId, Arrival, Quick>,
    /// The configurations that are still to be looked at, and their distances from the start.
    queue: VecDeque<(ConfigurationId, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Arrival {
    Gate(EdgeId),
    Step(EdgeId),
}

impl<O> Default for SectionSteps<O> {
    fn default() -> Self {
        Self { passing: Vec::new(), accepting: HashMap::default() }
    }
}

/// Number of steps that may be looked at for all runs of a search that come back: a few times as many as it has.
pub fn budget(search: &Search<'_>) -> usize {
    search.edges().count().saturating_mul(2).max(MIN_BUDGET)
}

/// By configuration: how many steps it is away from a task as it is created.
pub fn distances(search: &Search<'_>) -> Vec<u32> {
    let mut distances = Vec::with_capacity(search.size());
    for (id, _) in search.configurations() {
        let before = search.arrival(id).map(|edge| distances[search.edge(edge).from as usize]);
        distances.push(before.map_or(0, |it: u32| it + 1));
    }
    distances
}

impl<'s, 'm> ComingBack<'s, 'm> {
    /// A search for runs on which nobody writes this section.
    pub fn of(search: &'s Search<'m>, section: usize) -> Self {
        Self { search, section, came: HashMap::default(), queue: VecDeque::new() }
    }

    /// For everybody who accepts what still stands, a shortest run that shows it. No more than `budget` steps are
    /// looked at, and what is left of it stays.
    pub fn runs<O: Copy + Ord>(
        mut self,
        steps: &SectionSteps<O>,
        distances: &[u32],
        budget: &mut usize,
    ) -> BTreeMap<O, Vec<EdgeId>> {
        let mut runs = BTreeMap::new();
        let distance = |id: EdgeId| distances[self.search.edge(id).from as usize] + 1;
        let mut gates = steps.passing.iter().map(|id| (*id, distance(*id))).peekable();
        loop {
            let next = self.queue.front().map(|(_, distance)| *distance);
            let gate = gates.next_if(|(_, gate)| next.is_none_or(|next| *gate <= next));
            let open = match gate {
                Some((id, distance)) => self.visit(Arrival::Gate(id)).map(|at| (at, distance)),
                None if self.queue.is_empty() => return runs,
                None => self.queue.pop_front(),
            };
            let Some((at, distance)) = open else { continue };
            for (id, edge) in self.search.numbered_from(at) {
                let Some(left) = budget.checked_sub(1) else { return runs };
                *budget = left;
                if let Some(owner) = steps.accepting.get(&id) {
                    runs.entry(*owner).or_insert_with(|| self.run(id));
                }
                if edge.step.wrote().is_none_or(|it| usize::from(it.section) != self.section) {
                    let new = self.visit(Arrival::Step(id));
                    self.queue.extend(new.map(|to| (to, distance + 1)));
                }
            }
        }
    }

    /// The configuration that a run arrives at, if none has been there.
    fn visit(&mut self, arrival: Arrival) -> Option<ConfigurationId> {
        let to = self.search.edge(arrival.edge()).to;
        let is_new = !self.came.contains_key(&to);
        is_new.then(|| {
            self.came.insert(to, arrival);
            to
        })
    }

    /// The run that ends with a step: by a shortest path to the gate, and on from there.
    fn run(&self, last: EdgeId) -> Vec<EdgeId> {
        let mut after = vec![last];
        loop {
            let first = after[after.len() - 1];
            match self.came.get(&self.search.edge(first).from) {
                Some(Arrival::Step(id)) => after.push(*id),
                Some(Arrival::Gate(id)) => {
                    let mut run = self.search.run_through(*id);
                    run.extend(after.iter().rev());
                    return run;
                }
                None => return self.search.run_through(last),
            }
        }
    }
}

impl Arrival {
    fn edge(self) -> EdgeId {
        match self {
            Self::Gate(id) | Self::Step(id) => id,
        }
    }
}
