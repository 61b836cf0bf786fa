//! The form for a new task, or for a mission where the workflow has steps.

use orange_core::plan::{Execution, Intervene};

use orange_api::ListedWorkflow;

use super::Catalog;
use super::effect::Order;
use super::text_field::TextField;

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormField {
    Project,
    Branch,
    /// The work: the summary of a task, the prompt of a mission.
    Summary,
    /// More about it.
    Context,
    /// The workflow.
    Workflow,
    /// The first status.
    Status,
    /// Execution of a mission: with a pause after every step, or without.
    Execution,
    /// At which ends of steps a mission pauses.
    Intervene,
    /// The harness of the workers.
    Harness,
    /// The harness of the reviewers.
    ReviewHarness,
}

/// A choice among names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    pub names: Vec<String>,
    /// The number of the chosen one.
    pub chosen: usize,
}

/// The values for a new task or mission so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWorkForm {
    /// The active field.
    pub field: FormField,
    /// True if the workflow has steps, so that a mission follows it.
    pub is_mission: bool,
    /// The number of the order that carries it out, while that runs.
    pub sent: Option<u64>,
    /// Reason for its refusal, or for the failure of a text's editor.
    pub refusal: Option<String>,
    project: Pick,
    branch: TextField,
    summary: TextField,
    context: TextField,
    workflow: Pick,
    /// True if the person has chosen the workflow, and not the project.
    is_workflow_chosen: bool,
    status: Pick,
    execution: Pick,
    intervene: Pick,
    harness: Pick,
    review_harness: Pick,
}

/// The first name of a choice that may be left to the workflow.
pub const AS_WORKFLOW_SAYS: &str = "as the workflow says";

impl FormField {
    /// Those of a task, in order.
    const OF_TASK: [FormField; 8] = [
        FormField::Project,
        FormField::Branch,
        FormField::Summary,
        FormField::Context,
        FormField::Workflow,
        FormField::Status,
        FormField::Harness,
        FormField::ReviewHarness,
    ];

    /// Those of a mission, in order.
    const OF_MISSION: [FormField; 8] = [
        FormField::Project,
        FormField::Branch,
        FormField::Summary,
        FormField::Workflow,
        FormField::Execution,
        FormField::Intervene,
        FormField::Harness,
        FormField::ReviewHarness,
    ];

    pub fn name(self, is_mission: bool) -> &'static str {
        match self {
            FormField::Project => "project",
            FormField::Branch => "branch",
            FormField::Summary if is_mission => "prompt",
            FormField::Summary => "summary",
            FormField::Context => "context",
            FormField::Workflow => "workflow",
            FormField::Status => "status",
            FormField::Execution => "execution",
            FormField::Intervene => "intervene",
            FormField::Harness => "harness",
            FormField::ReviewHarness => "reviewers",
        }
    }

    /// The part of a text that it takes: a branch has no spaces.
    pub fn fit(self, text: &str) -> String {
        let is_fit = |letter: &char| {
            self != FormField::Branch || letter.is_ascii_alphanumeric() || "-_/.".contains(*letter)
        };
        text.chars().filter(is_fit).collect()
    }
}

impl Pick {
    fn of(names: Vec<String>, wanted: Option<&str>) -> Pick {
        let chosen = names.iter().position(|name| Some(name.as_str()) == wanted).unwrap_or(0);
        Pick { names, chosen }
    }

    /// These names, and before them that the workflow says it.
    fn optional<'n>(names: impl IntoIterator<Item = &'n str>, wanted: Option<&str>) -> Pick {
        let names = std::iter::once(AS_WORKFLOW_SAYS).chain(names).map(str::to_owned);
        Pick::of(names.collect(), wanted)
    }

    /// The chosen name.
    pub fn name(&self) -> Option<&str> {
        self.names.get(self.chosen).map(String::as_str)
    }

    /// The chosen name, unless the workflow says it.
    fn wish(&self) -> Option<&str> {
        self.name().filter(|name| *name != AS_WORKFLOW_SAYS)
    }

    fn step(&mut self, forward: bool) {
        let count = self.names.len().max(1);
        self.chosen = (self.chosen + if forward { 1 } else { count - 1 }) % count;
    }

    /// Chooses what was chosen before, if it is still there.
    fn keep(&mut self, before: &Pick) {
        let kept = self.names.iter().position(|name| Some(name.as_str()) == before.name());
        self.chosen = kept.unwrap_or(self.chosen);
    }
}

impl NewWorkForm {
    /// An empty form. The error says what is missing before a task can be made.
    pub fn new(catalog: &Catalog, project: Option<&str>) -> Result<NewWorkForm, String> {
        if catalog.projects.is_empty() && catalog.has_projects {
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
        let mut form = NewWorkForm {
            field: FormField::Branch,
            is_mission: false,
            sent: None,
            refusal: None,
            project: Pick::of(catalog.projects.iter().map(|it| it.name.clone()).collect(), project),
            branch: TextField::line(""),
            summary: TextField::lines(""),
            context: TextField::lines(""),
            workflow: Pick::default(),
            is_workflow_chosen: false,
            status: Pick::default(),
            execution: Pick::optional(Execution::ALL.map(Execution::as_str), None),
            intervene: Pick::optional(Intervene::ALL.map(Intervene::as_str), None),
            review_harness: harness.clone(),
            harness,
        };
        form.turn_to_project(catalog);
        Ok(form)
    }

    /// The form with the names that are known now. Texts and choices stay; `project` is chosen where none was known.
    pub fn renewed(&self, catalog: &Catalog, project: Option<&str>) -> Result<NewWorkForm, String> {
        let fresh = NewWorkForm::new(catalog, self.project.name().or(project))?;
        let mut form = NewWorkForm { workflow: fresh.workflow, project: fresh.project, ..self.clone() };
        if self.project.name().is_some() || self.is_workflow_chosen {
            form.workflow.keep(&self.workflow);
        }
        form.turn_to_workflow(catalog);
        form.harness = fresh.harness;
        form.harness.keep(&self.harness);
        form.review_harness = fresh.review_harness;
        form.review_harness.keep(&self.review_harness);
        Ok(form)
    }

    /// Selects the workflow of the project.
    fn turn_to_project(&mut self, catalog: &Catalog) {
        let project = catalog.projects.iter().find(|it| Some(it.name.as_str()) == self.project.name());
        let compiled = catalog.names.iter().filter(|it| !matches!(it, ListedWorkflow::Broken { .. }));
        let names = compiled.map(|it| it.name().to_owned()).collect();
        self.workflow = Pick::of(names, project.map(|it| it.workflow.as_str()));
        self.turn_to_workflow(catalog);
    }

    /// Asks what a mission needs where the workflow has steps, and otherwise offers the statuses in which a task may begin.
    pub fn turn_to_workflow(&mut self, catalog: &Catalog) {
        let name = self.workflow.name();
        let listed = catalog.names.iter().find(|it| Some(it.name()) == name);
        self.is_mission = matches!(listed, Some(ListedWorkflow::Plan { .. }));
        let shown = name.and_then(|name| catalog.workflows.get(name));
        let entries = shown.into_iter().flat_map(|it| it.states()).filter(|state| state.entry);
        self.status = Pick::optional(entries.map(|state| state.name.as_str()), self.status.name());
        if !self.fields().contains(&self.field) {
            self.field = FormField::Workflow;
        }
    }

    /// The fields, in order.
    pub fn fields(&self) -> &'static [FormField] {
        if self.is_mission { &FormField::OF_MISSION } else { &FormField::OF_TASK }
    }

    /// Makes the next field active, or the one before.
    pub fn turn(&mut self, forward: bool) {
        let fields = self.fields();
        let number = fields.iter().position(|it| *it == self.field).unwrap_or_default();
        let count = fields.len();
        self.field = fields[(number + if forward { 1 } else { count - 1 }) % count];
    }

    /// True if nothing is written in it.
    pub fn is_empty(&self) -> bool {
        self.fields().iter().filter_map(|field| self.text(*field)).all(TextField::is_blank)
    }

    /// The chosen workflow.
    pub fn workflow(&self) -> Option<&str> {
        self.workflow.name()
    }

    /// The text of a field, if a person writes one there.
    pub fn text(&self, field: FormField) -> Option<&TextField> {
        match field {
            FormField::Branch => Some(&self.branch),
            FormField::Summary => Some(&self.summary),
            FormField::Context => Some(&self.context),
            FormField::Project
            | FormField::Workflow
            | FormField::Status
            | FormField::Execution
            | FormField::Intervene
            | FormField::Harness
            | FormField::ReviewHarness => None,
        }
    }

    /// The text of the active field, if a person writes one there.
    pub fn active_text(&mut self) -> Option<&mut TextField> {
        match self.field {
            FormField::Branch => Some(&mut self.branch),
            FormField::Summary => Some(&mut self.summary),
            FormField::Context => Some(&mut self.context),
            FormField::Project
            | FormField::Workflow
            | FormField::Status
            | FormField::Execution
            | FormField::Intervene
            | FormField::Harness
            | FormField::ReviewHarness => None,
        }
    }

    /// The choice of a field, if it has one.
    pub fn pick(&self, field: FormField) -> Option<&Pick> {
        match field {
            FormField::Project => Some(&self.project),
            FormField::Workflow => Some(&self.workflow),
            FormField::Status => Some(&self.status),
            FormField::Execution => Some(&self.execution),
            FormField::Intervene => Some(&self.intervene),
            FormField::Harness => Some(&self.harness),
            FormField::ReviewHarness => Some(&self.review_harness),
            FormField::Branch | FormField::Summary | FormField::Context => None,
        }
    }

    /// Takes the next choice of the active field, or the one before.
    pub fn step(&mut self, forward: bool, catalog: &Catalog) {
        match self.field {
            FormField::Project => {
                self.project.step(forward);
                self.is_workflow_chosen = false;
                self.turn_to_project(catalog);
            }
            FormField::Workflow => {
                self.workflow.step(forward);
                self.is_workflow_chosen = true;
                self.turn_to_workflow(catalog);
            }
            FormField::Status => self.status.step(forward),
            FormField::Execution => self.execution.step(forward),
            FormField::Intervene => self.intervene.step(forward),
            FormField::Harness => self.harness.step(forward),
            FormField::ReviewHarness => self.review_harness.step(forward),
            FormField::Branch | FormField::Summary | FormField::Context => {}
        }
    }

    /// The order that carries it out.
    pub fn order(&self) -> Order {
        if self.is_mission { self.mission() } else { self.task() }
    }

    /// The order that creates the task.
    fn task(&self) -> Order {
        let mut words = ["task", "create"].map(str::to_owned).to_vec();
        words.extend(NewWorkForm::flags(&[
            ("--project", self.project.name()),
            ("--workflow", self.workflow.name()),
            ("--harness", self.harness.name()),
            ("--review-harness", self.review_harness.name()),
            ("--status", self.status.wish()),
        ]));
        let input = written(&self.context);
        if input.is_some() {
            words.push("--context=-".to_owned());
        }
        words.push("--".to_owned());
        let summary = written(&self.summary);
        // An empty branch is made from the summary behind it.
        if summary.is_some() || !self.branch.is_blank() {
            words.push(self.branch.text().to_owned());
        }
        words.extend(summary);
        Order { label: format!("create {}", self.branch_or("a task")), words, input, ..Order::default() }
    }

    /// The order that starts the mission.
    fn mission(&self) -> Order {
        let mut words = ["mission", "start"].map(str::to_owned).to_vec();
        words.extend(NewWorkForm::flags(&[
            ("--project", self.project.name()),
            ("--branch", Some(self.branch.text()).filter(|branch| !branch.is_empty())),
            ("--execution", self.execution.wish()),
            ("--intervene", self.intervene.wish()),
            ("--harness", self.harness.name()),
            ("--review-harness", self.review_harness.name()),
        ]));
        words.push("--".to_owned());
        words.extend(self.workflow.name().map(str::to_owned));
        let input = written(&self.summary);
        words.extend(input.is_some().then(|| "-".to_owned()));
        Order { label: format!("start {}", self.branch_or("a mission")), words, input, ..Order::default() }
    }

    fn flags(choices: &[(&str, Option<&str>)]) -> Vec<String> {
        let flag = |(flag, value): &(&str, Option<&str>)| Some(format!("{flag}={}", (*value)?));
        choices.iter().filter_map(flag).collect()
    }

    fn branch_or<'n>(&'n self, other: &'n str) -> &'n str {
        if self.branch.is_blank() { other } else { self.branch.text() }
    }
}

/// The text of a field, as it was written; none where it is blank.
fn written(field: &TextField) -> Option<String> {
    (!field.is_blank()).then(|| field.text().to_owned())
}
