//! The form for a new task.

use super::Catalog;
use super::effect::Order;
use super::line::Line;

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The project.
    Project,
    /// The branch.
    Branch,
    /// What is to be done.
    Summary,
    /// More about it.
    Context,
    /// The workflow.
    Workflow,
    /// The first status.
    Status,
    /// The harness of the workers.
    Harness,
    /// The harness of the reviewers.
    ReviewHarness,
}

/// A choice among names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// The names.
    pub names: Vec<String>,
    /// The number of the chosen one.
    pub chosen: usize,
}

/// What is known about the new task so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The active field.
    pub field: Field,
    /// The project.
    pub project: Pick,
    /// The branch; made from the id if it is empty.
    pub branch: Line,
    /// What is to be done; without it, the agent asks.
    pub summary: Line,
    /// More about it.
    pub context: Line,
    /// The workflow.
    pub workflow: Pick,
    /// The first status; the first name stands for the workflow's own.
    pub status: Pick,
    /// The harness of the workers.
    pub harness: Pick,
    /// The harness of the reviewers.
    pub review_harness: Pick,
}

/// The first status as the workflow says.
pub const INITIAL: &str = "as the workflow begins";

impl Field {
    /// All of them, in order.
    pub const ALL: [Field; 8] = [
        Field::Project,
        Field::Branch,
        Field::Summary,
        Field::Context,
        Field::Workflow,
        Field::Status,
        Field::Harness,
        Field::ReviewHarness,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Field::Project => "project",
            Field::Branch => "branch",
            Field::Summary => "summary",
            Field::Context => "context",
            Field::Workflow => "workflow",
            Field::Status => "status",
            Field::Harness => "harness",
            Field::ReviewHarness => "reviewers",
        }
    }
}

impl Pick {
    fn of(names: Vec<String>, wanted: Option<&str>) -> Pick {
        let chosen = names.iter().position(|name| Some(name.as_str()) == wanted).unwrap_or(0);
        Pick { names, chosen }
    }

    /// The chosen name.
    pub fn name(&self) -> Option<&str> {
        self.names.get(self.chosen).map(String::as_str)
    }

    fn step(&mut self, forward: bool) {
        let count = self.names.len().max(1);
        self.chosen = (self.chosen + if forward { 1 } else { count - 1 }) % count;
    }
}

impl Form {
    /// An empty form. The error says what is missing before a task can be made.
    pub fn new(catalog: &Catalog, project: Option<&str>) -> Result<Form, String> {
        if catalog.projects.is_empty() {
            return Err(
                "there is no project yet: `orange project add PATH` makes one of a repository".to_owned()
            );
        }
        let installed: Vec<_> = catalog.harnesses.iter().filter(|it| it.installed).collect();
        if installed.is_empty() && !catalog.harnesses.is_empty() {
            let known: Vec<_> = catalog.harnesses.iter().map(|it| it.name.as_str()).collect();
            return Err(format!("no coding agent is installed; orange can use {}", known.join(", ")));
        }
        let usual = installed.iter().find(|it| it.default).map(|it| it.name.as_str());
        let names: Vec<_> = installed.iter().map(|it| it.name.clone()).collect();
        let harness = Pick::of(names, usual);
        let mut form = Form {
            field: Field::Branch,
            project: Pick::of(catalog.projects.iter().map(|it| it.name.clone()).collect(), project),
            branch: Line::default(),
            summary: Line::default(),
            context: Line::default(),
            workflow: Pick::default(),
            status: Pick::default(),
            review_harness: harness.clone(),
            harness,
        };
        form.turn_to_project(catalog);
        Ok(form)
    }

    /// Selects the workflow of the project.
    fn turn_to_project(&mut self, catalog: &Catalog) {
        let project = catalog.projects.iter().find(|it| Some(it.name.as_str()) == self.project.name());
        let of_tasks = catalog.names.iter().filter(|it| it.states.is_some());
        let names = of_tasks.map(|it| it.name.clone()).collect();
        self.workflow = Pick::of(names, project.map(|it| it.workflow.as_str()));
        self.turn_to_workflow(catalog);
    }

    /// Offers the statuses in which a task of the workflow may begin.
    pub fn turn_to_workflow(&mut self, catalog: &Catalog) {
        let chosen = self.status.name().map(str::to_owned);
        let shown = self.workflow.name().and_then(|name| catalog.workflows.get(name));
        let entries = shown.into_iter().flat_map(|it| &it.state_list).filter(|state| state.entry);
        let names =
            std::iter::once(INITIAL.to_owned()).chain(entries.map(|state| state.name.clone())).collect();
        self.status = Pick::of(names, chosen.as_deref());
    }

    /// Makes the next field active, or the one before.
    pub fn turn(&mut self, forward: bool) {
        let number = Field::ALL.iter().position(|it| *it == self.field).unwrap_or_default();
        let count = Field::ALL.len();
        self.field = Field::ALL[(number + if forward { 1 } else { count - 1 }) % count];
    }

    /// Whether nothing is written in it.
    pub fn is_empty(&self) -> bool {
        [&self.branch, &self.summary, &self.context].iter().all(|line| line.text.trim().is_empty())
    }

    /// The line that is typed, if the active field has one.
    pub fn line(&mut self) -> Option<&mut Line> {
        match self.field {
            Field::Branch => Some(&mut self.branch),
            Field::Summary => Some(&mut self.summary),
            Field::Context => Some(&mut self.context),
            Field::Project | Field::Workflow | Field::Status | Field::Harness | Field::ReviewHarness => None,
        }
    }

    /// Types a character; in a field with choices, any one takes the next choice. A branch has no spaces.
    pub fn push(&mut self, letter: char, catalog: &Catalog) {
        let is_fit = self.field != Field::Branch || letter.is_ascii_alphanumeric() || "-_/.".contains(letter);
        match self.line() {
            Some(line) if is_fit => line.push(letter),
            Some(_) => {}
            None => self.step(true, catalog),
        }
    }

    /// Takes the next choice of the active field, or the one before.
    pub fn step(&mut self, forward: bool, catalog: &Catalog) {
        match self.field {
            Field::Project => {
                self.project.step(forward);
                self.turn_to_project(catalog);
            }
            Field::Workflow => {
                self.workflow.step(forward);
                self.turn_to_workflow(catalog);
            }
            Field::Status => self.status.step(forward),
            Field::Harness => self.harness.step(forward),
            Field::ReviewHarness => self.review_harness.step(forward),
            Field::Branch | Field::Summary | Field::Context => {}
        }
    }

    /// The order that creates the task.
    pub fn order(&self) -> Order {
        let mut words = vec!["task".to_owned(), "create".to_owned()];
        let status = self.status.name().filter(|name| *name != INITIAL);
        let choices = [
            ("--project", self.project.name()),
            ("--workflow", self.workflow.name()),
            ("--harness", self.harness.name()),
            ("--review-harness", self.review_harness.name()),
            ("--status", status),
        ];
        for (flag, name) in choices {
            words.extend(name.map(|name| format!("{flag}={name}")));
        }
        let [branch, summary, context] =
            [&self.branch, &self.summary, &self.context].map(|it| it.text.trim());
        if !context.is_empty() {
            words.push("--context=-".to_owned());
        }
        words.push("--".to_owned());
        // An empty branch is made from the id; it stands only before a summary.
        if !branch.is_empty() || !summary.is_empty() {
            words.push(branch.to_owned());
        }
        if !summary.is_empty() {
            words.push(summary.to_owned());
        }
        let name = if branch.is_empty() { "a task" } else { branch };
        Order {
            label: format!("create {name}"),
            words,
            input: (!context.is_empty()).then(|| format!("{context}\n")),
            ..Order::default()
        }
    }
}
