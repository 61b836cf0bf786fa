//! A workflow as nodes and edges: the small view that every drawing language writes out.

mod dot;
mod highlight;
mod machine;
mod mermaid;
mod run;
mod steps;
mod svg;

use orange_codegen::Span;
use orange_codegen::model::Definition;
use orange_codegen::{Compilation, Level};

pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;
pub(crate) use run::{Run, headline, read};
pub(crate) use svg::{svg, svg_with_places};

/// The graph to draw. Texts are as the author wrote them; each language escapes them itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    name: String,
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
    /// The description of the highlights, line by line; empty if there is none.
    caption: Vec<String>,
    /// True if the nodes are steps; else they are states.
    has_steps: bool,
}

/// A state or a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GraphNode {
    name: String,
    /// More text about it.
    lines: Vec<String>,
    kind: GraphNodeKind,
    /// True if a task may be created here.
    entry: bool,
    /// Places of its declarations in the source.
    spans: Vec<Span>,
    mark: Mark,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum GraphNodeKind {
    /// A task or a mission begins here.
    Start,
    /// An agent works here, and exit rules move the task on after its end.
    #[default]
    Work,
    /// Only a person moves the task on.
    Wait,
    /// The engine moves tasks here whose agents crash repeatedly.
    Crash,
    /// A step that runs when another one has failed.
    Handler,
    /// A task or a mission ends here.
    End,
}

/// A transition, an exit rule, a dependency, a step sent back or a handler, between nodes by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GraphEdge {
    from: usize,
    to: usize,
    /// The gate and the guard.
    lines: Vec<String>,
    /// The actors who may ask for it, if not all may.
    by: Option<String>,
    taker: Taker,
    /// Condition under which the engine takes it without that gate and that guard.
    after: Option<String>,
    /// Places of its declarations in the source.
    spans: Vec<Span>,
    mark: Mark,
}

/// Taker of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Taker {
    /// The actors who ask for it.
    #[default]
    Asker,
    /// The actors who ask for it, and also the engine when an agent has ended.
    AskerOrEngine,
    /// The engine, when an agent has ended.
    Engine,
    /// The engine, when a fact holds that the workflow watches.
    Watch,
    /// A loop step, which sends another step back.
    Loop,
    /// The failure of a step, which leads to its handler.
    Failure,
}

/// Highlight of a node or an edge, with the numbers of its steps in a run, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mark {
    on: bool,
    steps: Vec<usize>,
}

impl Graph {
    /// The view of a workflow.
    pub(crate) fn new(definition: &Definition) -> Self {
        match definition {
            Definition::Machine(workflow) => Self::of_machine(workflow),
            Definition::Steps(steps) => Self::of_steps(steps),
        }
    }

    /// The view of a workflow that may have errors, as far as it is understood, with a note on what is left out; `None` of a text in
    /// which nothing of a workflow is understood.
    pub(crate) fn of_compilation(compilation: &Compilation) -> Option<Self> {
        let mut graph = Self::new(compilation.definition()?);
        let mut errors = compilation.diagnostics.iter().filter(|it| it.level == Level::Error);
        if let Some(first) = errors.next() {
            let more = match errors.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            graph.say(format!("Parts with an error are left out: {}{more}", first.message));
        }
        Some(graph)
    }

    /// The note on what is left out, of a graph that nothing is highlighted in yet.
    pub(crate) fn note(&self) -> Option<&str> {
        self.caption.first().map(String::as_str)
    }

    /// Description of the highlights, in one line.
    fn headline(&self) -> Option<&str> {
        self.caption.first().map(String::as_str)
    }

    /// True if anything is highlighted.
    fn is_marked(&self) -> bool {
        self.nodes.iter().any(|it| it.mark.on) || self.edges.iter().any(|it| it.mark.on)
    }
}

impl GraphNode {
    /// All its text.
    fn text(&self) -> Vec<String> {
        std::iter::once(&self.name).chain(&self.lines).cloned().collect()
    }
}

impl GraphEdge {
    /// Its text about the actors who ask for it.
    fn asked(&self) -> Vec<String> {
        self.lines.iter().chain(&self.by).cloned().collect()
    }

    /// True if the engine takes it at a deadline: that ends a task's time in its states, whether an agent is there or not.
    fn is_overdue(&self) -> bool {
        self.after.as_ref().is_some_and(|it| it.starts_with("at the deadline"))
    }

    /// Its text about the engine, if the engine has a line of its own.
    fn ended(&self) -> Vec<String> {
        let lines = if self.taker == Taker::Engine { &self.lines[..] } else { &[] };
        let ended = (!self.is_overdue()).then(|| "agent ended".to_owned());
        ended.into_iter().chain(lines.iter().chain(&self.after).cloned()).collect()
    }
}

impl GraphNodeKind {
    /// Every kind, in the order of a legend.
    const ALL: [Self; 6] = [Self::Start, Self::Work, Self::Wait, Self::Crash, Self::Handler, Self::End];

    /// Its name in classes of styles.
    const fn class(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Work => "work",
            Self::Wait => "wait",
            Self::Crash | Self::Handler => "crash",
            Self::End => "final",
        }
    }

    /// Its meaning, in a legend.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Start => "begins here",
            Self::Work => "moves on by itself",
            Self::Wait => "waits for a person",
            Self::Crash => "after too many crashes",
            Self::Handler => "runs after a failure",
            Self::End => "ends here",
        }
    }
}

impl Mark {
    /// `(1, 4)`, for a line of text.
    fn label(&self) -> Option<String> {
        (!self.steps.is_empty()).then(|| format!("({})", self.numbers()))
    }

    fn numbers(&self) -> String {
        self.steps.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    }
}
