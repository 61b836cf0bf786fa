//! Highlights in a picture: a run, and the places of findings.

use orange_codegen::{LineIndex, Span};
use orange_core::mission::MissionStatus;

use super::run::{Run, RunStep};
use super::{Graph, GraphEdge};
use crate::answer::Failure;

impl Graph {
    /// Puts a line below the picture; the first is its headline.
    pub(crate) fn say(&mut self, line: impl Into<String>) {
        self.caption.push(line.into());
    }

    /// Highlights the states and the edges that are declared at this place.
    pub(crate) fn point_at(&mut self, span: Span) {
        let holds = |spans: &[Span]| spans.iter().any(|it| it.start <= span.start && span.end <= it.end);
        for node in self.nodes.iter_mut().filter(|it| holds(&it.spans)) {
            node.mark.on = true;
        }
        for edge in self.edges.iter_mut().filter(|it| holds(&it.spans)) {
            edge.mark.on = true;
        }
    }

    /// Highlights a run and numbers its steps.
    ///
    /// # Errors
    ///
    /// It is not a run of this workflow.
    pub(crate) fn follow(&mut self, run: &Run, index: &LineIndex<'_>) -> Result<(), Failure> {
        let mut at = self.known(&run.start)?;
        self.nodes[at].mark.on = true;
        for (step, number) in run.steps.iter().zip(1..) {
            if let Some(label) = &step.label {
                self.say(format!("{number}. {label} → {}", step.to));
            }
            if self.is_end_of_mission(&step.to) {
                break;
            }
            let to = self.known(&step.to)?;
            self.go(at, to, step, number, index)?;
            self.nodes[to].mark.on = true;
            at = to;
        }
        if let Some(end) = &run.end {
            self.say(format!("In the end: {end}."));
        }
        Ok(())
    }

    /// The number of the node with this name.
    pub(super) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|it| it.name == name)
    }

    /// The names of all nodes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|it| it.name.as_str())
    }

    /// True if a mission has ended where a run of steps says this.
    fn is_end_of_mission(&self, name: &str) -> bool {
        let is_end = MissionStatus::from_name(name).is_some_and(MissionStatus::is_terminal);
        self.has_steps && is_end && self.node(name).is_none()
    }

    fn known(&self, name: &str) -> Result<usize, Failure> {
        self.node(name).ok_or_else(|| {
            Failure::new(
                format!("the trace goes through `{name}`, which is not a state of `{}`", self.name),
                "see whether it is the trace of another workflow",
            )
        })
    }

    /// Numbers the edges that a step takes. A step that stays in its state takes none, unless an edge leads there; and of
    /// the steps of a workflow, the one that runs next need not have waited for the last one.
    fn go(
        &mut self,
        from: usize,
        to: usize,
        step: &RunStep,
        number: usize,
        index: &LineIndex<'_>,
    ) -> Result<(), Failure> {
        let between = |it: &&mut GraphEdge| (it.from, it.to) == (from, to);
        let follows = |it: &GraphEdge| step.line.is_some_and(|line| it.stands_in(line, index));
        let is_followed = self.edges.iter().any(|it| (it.from, it.to) == (from, to) && follows(it));
        let mut taken = 0;
        for edge in self.edges.iter_mut().filter(between).filter(|it| !is_followed || follows(it)) {
            edge.mark.on = true;
            edge.mark.steps.push(number);
            taken += 1;
        }
        if taken == 0 && (from == to || self.has_steps) {
            self.nodes[to].mark.steps.push(number);
        } else if taken == 0 {
            return Err(self.no_arrow(from, to));
        }
        Ok(())
    }

    fn no_arrow(&self, from: usize, to: usize) -> Failure {
        let name = |at: usize| format!("`{}`", self.nodes[at].name);
        let mut targets: Vec<String> =
            self.edges.iter().filter(|it| it.from == from).map(|it| name(it.to)).collect();
        targets.dedup();
        let help = if targets.is_empty() {
            format!("nothing leads on from {}", name(from))
        } else {
            format!("from {} it goes to {}", name(from), targets.join(", "))
        };
        Failure::new(
            format!("the trace goes from {} to {}, and no transition does", name(from), name(to)),
            help,
        )
    }
}

impl GraphEdge {
    /// True if a declaration of it covers this line.
    fn stands_in(&self, line: u32, index: &LineIndex<'_>) -> bool {
        let covers =
            |it: &Span| (index.position(it.start).line..=index.position(it.end).line).contains(&line);
        self.spans.iter().any(covers)
    }
}
