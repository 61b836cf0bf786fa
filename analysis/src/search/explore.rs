//! The exploration of a machine, configuration after configuration.

use orange_core::StateId;

use super::decisions::Decisions;
use super::numbers::Numbers;
use super::steps::Origin;
use super::symmetry::Repeated;
use super::task::{Event, Task};
use super::{ConfigurationId, Cut, Edge, EdgeId, HookIndex, Search, SearchLimits, SearchStep};

/// Data that the search needs only while it runs.
pub(super) struct Explorer<'s, 'm> {
    numbers: Numbers,
    pub(super) decisions: Decisions<'m>,
    /// Number of hooks that were run.
    pub(super) hooks: usize,
    limits: &'s SearchLimits<'s>,
    /// Reviewers and sections that need no step of their own in the configuration that is looked at.
    pub(super) repeated: Repeated,
    /// True if a reviewer that was exchanged was alive when it was started.
    pub(super) is_wrong: bool,
    pub(super) search: &'s mut Search<'m>,
}

impl<'s, 'm> Explorer<'s, 'm> {
    pub(super) fn new(search: &'s mut Search<'m>, limits: &'s SearchLimits<'s>) -> Self {
        Self {
            numbers: Numbers::new(),
            decisions: Decisions::new(search),
            hooks: 0,
            limits,
            repeated: Repeated::default(),
            is_wrong: false,
            search,
        }
    }

    /// Looks at every configuration within the limits; false if reviewers were exchanged that cannot be.
    pub(super) fn explore(mut self) -> bool {
        self.explore_all();
        !self.is_wrong
    }

    fn explore_all(&mut self) {
        let machine = self.search.machine;
        self.explore_from(machine.initial);
        self.search.ordinary = self.search.configurations.len();
        let states = (0u16..).map(StateId).zip(machine.states);
        // Where a transition leads from the initial state, a new task begins there and takes it.
        let created =
            states.filter(|(id, it)| it.entry && machine.between(machine.initial, *id).next().is_none());
        for (status, _) in created.filter(|(id, _)| *id != machine.initial) {
            self.explore_from(status);
        }
    }

    /// Looks at everything that a task comes to which is created in this state, and that is not known yet.
    fn explore_from(&mut self, status: StateId) {
        let mut task = Task::new(status);
        self.search.counters.start(&mut task);
        self.visit(task);
        while self.search.cut.is_none()
            && !self.is_wrong
            && self.search.rows.len() <= self.search.configurations.len()
        {
            self.steps_from(self.search.rows.len() as ConfigurationId - 1);
            self.search.rows.push(self.search.edges.len() as u32);
            self.search.cut = self.too_much();
        }
    }

    /// Limit that the search has exceeded, if any: nothing more is looked at then.
    pub(super) fn too_much(&self) -> Option<Cut> {
        let steps = self.search.edges.len() + self.hooks + self.decisions.made;
        if self.search.configurations.len() > self.limits.configurations {
            Some(Cut::Configurations(self.limits.configurations))
        } else if steps > self.limits.steps {
            Some(Cut::Steps(self.limits.steps))
        } else {
            self.limits.is_stopped().then_some(Cut::Stopped)
        }
    }

    /// The number of a configuration, a new one if need be.
    fn visit(&mut self, task: Task) -> (ConfigurationId, bool) {
        let (number, is_new) = self.numbers.number(&mut self.search.configurations, task);
        if is_new {
            self.search.arrivals.push(None);
        }
        (number, is_new)
    }

    pub(super) fn add(
        &mut self,
        from: Origin,
        step: SearchStep,
        task: Task,
        events: Vec<(HookIndex, Event)>,
    ) {
        let (task, exchange) = self.search.symmetry.canonical(&task);
        let (to, is_new) = self.visit(task);
        let id = self.search.edges.len() as EdgeId;
        if is_new {
            self.search.arrivals[to as usize] = Some(id);
        }
        let start = self.search.events.len() as u32;
        self.search.events.extend(events);
        let events = start..self.search.events.len() as u32;
        let (from, exchange) = (from.configuration, exchange.after(from.exchange));
        self.search.edges.push(Edge { from, to, step, events, exchange });
    }
}
