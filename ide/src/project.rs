//! The files of one workflow, itself, its prompts and its scenarios, and the names in them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use orange_analysis::lint::{headings, result_names, status_names};
use orange_analysis::{plan_scenario, scenario};
use orange_codegen::model::keys::{NameKind, Object, PromptKind, STEP_WORKFLOW, Takes, WORKFLOW};
use orange_codegen::model::occurrences::{Occurrence, in_prompt, occurrences};
use orange_codegen::model::visit::{Visited, visit};
use orange_codegen::model::{Definition, ValueKind};
use orange_codegen::prompt_files::folder_of;
use orange_codegen::recognise::WorkflowKind;
use orange_codegen::source::is_scenario_file;
use orange_codegen::syntax::{Node, NodeKind, Text};
use orange_codegen::{Format, PromptFiles, Span};

use crate::document::{Document, DocumentKind};
use crate::workspace::Workspace;

/// The files of one workflow.
#[derive(Debug)]
pub struct Project<'w> {
    /// The workflow.
    pub workflow: Cow<'w, Document>,
    /// The files with its scenarios.
    pub scenarios: Vec<Cow<'w, Document>>,
    /// The texts of the files with its prompts, by the names that the workflow gives them.
    pub prompts: BTreeMap<String, PromptText>,
    /// The names in all of these files.
    pub mentions: Vec<Mention>,
}

/// A file with a prompt.
#[derive(Clone, Debug)]
pub struct PromptText {
    /// The file.
    pub path: PathBuf,
    /// Text of the file.
    pub text: String,
    /// The readers of the text.
    pub kind: PromptKind,
    /// The step that it is the prompt of.
    pub step: Option<String>,
}

/// A name in a file of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The file.
    pub path: PathBuf,
    /// The name in it.
    pub occurrence: Occurrence,
    /// True if it stands in the text of a prompt, as a part of a command or as a heading.
    pub in_text: bool,
}

/// The keys of a document, by which its values are read.
pub fn keys_of(workspace: &Workspace, document: &Document) -> Option<&'static Object> {
    match document.kind {
        DocumentKind::Workflow => Some(keys_of_workflow(document)),
        DocumentKind::Scenarios => {
            let workflow = workspace.workflow_of(document).and_then(|it| workspace.read(&it));
            Some(match workflow.and_then(|it| it.compilation.likeness.kind()) {
                Some(WorkflowKind::Steps) => &plan_scenario::FILE,
                Some(WorkflowKind::Machine) | None => &scenario::FILE,
            })
        }
        DocumentKind::Other => None,
    }
}

/// The keys of a workflow; one of which nothing is understood yet has those that are usual in its language.
fn keys_of_workflow(workflow: &Document) -> &'static Object {
    match workflow.compilation.likeness.kind() {
        Some(WorkflowKind::Machine) => &WORKFLOW,
        Some(WorkflowKind::Steps) => &STEP_WORKFLOW,
        None if workflow.source.format == Format::Toml => &STEP_WORKFLOW,
        None => &WORKFLOW,
    }
}

impl<'w> Project<'w> {
    /// The files of the workflow that a document is a part of; none if no workflow is known that it is a part of.
    pub fn of(workspace: &'w Workspace, document: &'w Document) -> Option<Self> {
        let workflow = match document.kind {
            DocumentKind::Workflow => Cow::Borrowed(document),
            DocumentKind::Scenarios => workspace.read(&workspace.workflow_of(document)?)?,
            DocumentKind::Other => Cow::Borrowed(workspace.workflows_with(&document.path).next()?),
        };
        let scenarios = scenarios(workspace, &workflow.path);
        let prompts = prompt_texts(workspace, &workflow);
        let mut project = Self { workflow, scenarios, prompts, mentions: Vec::new() };
        project.mentions = project.all_mentions(workspace);
        Some(project)
    }

    /// The name at a byte of one of its files.
    pub fn at(&self, path: &Path, offset: u32) -> Option<&Mention> {
        let is_here = |it: &&Mention| {
            let Span { start, end } = it.occurrence.span;
            it.path == path && (start..=end).contains(&offset)
        };
        self.mentions.iter().filter(is_here).min_by_key(|it| it.occurrence.span.range().len())
    }

    /// All places at which something is named.
    pub fn mentions_of(&self, occurrence: &Occurrence) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(|it| it.occurrence.is_same(occurrence))
    }

    /// The names of a kind: those that are there in any case, those that the workflow defines, then others that stand somewhere.
    pub fn names(&self, kind: NameKind) -> Vec<String> {
        let built_in: &[&str] =
            if kind == NameKind::Counters { &["review_round", "crash_count"] } else { &[] };
        let mut names: Vec<String> = built_in.iter().map(|it| (*it).to_owned()).collect();
        let has_definitions = !matches!(kind, NameKind::Sections | NameKind::Harnesses | NameKind::Roles);
        let mentions = self.mentions.iter().map(|it| &it.occurrence).filter(|it| it.kind == kind);
        for it in mentions.filter(|it| it.is_definition || !has_definitions) {
            if !names.contains(&it.name) {
                names.push(it.name.clone());
            }
        }
        names
    }

    /// The sections that gates read and scenarios write, then the headings that prompts name.
    pub fn sections(&self) -> Vec<String> {
        let mut sections = self.names(NameKind::Sections);
        sections.retain(|it| !it.trim_matches(['#', ' ']).is_empty());
        let own = texts(&self.workflow);
        let own = own.iter().map(|(text, ..)| text.value.as_str());
        for text in own.chain(self.prompts.values().map(|it| it.text.as_str())) {
            for heading in headings_named(text) {
                if !sections.contains(&heading) {
                    sections.push(heading);
                }
            }
        }
        sections
    }

    /// The number of places that refer to a name.
    pub fn uses(&self, kind: NameKind, name: &str) -> usize {
        let mentions = self.mentions.iter().map(|it| &it.occurrence);
        mentions.filter(|it| it.kind == kind && !it.is_definition && it.name == name).count()
    }

    /// The results of a step, or of all steps.
    pub fn results(&self, step: Option<&str>) -> Vec<String> {
        let mentions = self.mentions.iter().map(|it| &it.occurrence);
        let is_meant =
            |it: &&Occurrence| it.kind == NameKind::Results && (step.is_none() || it.step.as_deref() == step);
        let mut names: Vec<String> = mentions.filter(is_meant).map(|it| it.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The outputs that a step declares.
    pub fn outputs(&self, step: &str) -> Vec<String> {
        let mentions = self.mentions.iter().map(|it| &it.occurrence);
        let is_meant = |it: &&Occurrence| {
            it.kind == NameKind::Outputs && it.is_definition && it.step.as_deref() == Some(step)
        };
        mentions.filter(is_meant).map(|it| it.name.clone()).collect()
    }

    /// The words of an input or of an output.
    pub fn words_of(&self, step: &str, name: &str) -> Vec<String> {
        let Some(Definition::Steps(steps)) = self.workflow.compilation.definition() else {
            return Vec::new();
        };
        let declared = match steps.steps.iter().find(|it| it.id.value == step) {
            Some(step) => &step.outputs,
            None => &steps.inputs,
        };
        match declared.iter().find(|it| it.name.value == name).map(|it| &it.kind) {
            Some(ValueKind::Words(words)) => words.iter().map(|it| it.value.clone()).collect(),
            Some(ValueKind::Text | ValueKind::Number { .. } | ValueKind::Bool | ValueKind::List { .. })
            | None => Vec::new(),
        }
    }

    /// The text of one of its files.
    pub fn text(&self, path: &Path) -> Option<&str> {
        let documents = std::iter::once(&self.workflow).chain(&self.scenarios);
        let mut texts = documents.map(|it| (it.path.as_path(), it.text()));
        let prompt = || self.prompts.values().find(|it| it.path == path).map(|it| it.text.as_str());
        texts.find(|(it, _)| *it == path).map(|(_, text)| text).or_else(prompt)
    }

    fn all_mentions(&self, workspace: &Workspace) -> Vec<Mention> {
        let mut mentions = Vec::new();
        for document in std::iter::once(&self.workflow).chain(&self.scenarios) {
            let Some((tree, keys)) = document.tree().zip(keys_of(workspace, document)) else { continue };
            let here = occurrences(tree, keys).into_iter();
            mentions.extend(here.map(|it| Mention {
                path: document.path.clone(),
                occurrence: it,
                in_text: false,
            }));
        }
        let mut sections: Vec<String> = mentions
            .iter()
            .filter(|it| it.occurrence.kind == NameKind::Sections)
            .map(|it| it.occurrence.name.clone())
            .collect();
        sections.sort();
        sections.dedup();
        for (text, kind, step) in texts(&self.workflow) {
            mentions.extend(mentions_in(&self.workflow.path, text, kind, step, &sections));
        }
        for PromptText { path, text, kind, step } in self.prompts.values() {
            let text = Text::verbatim(text.clone(), Span::new(0, text.len() as u32));
            let values = in_prompt(&text, *kind).into_iter();
            mentions.extend(values.map(|it| Mention { path: path.clone(), occurrence: it, in_text: false }));
            mentions.extend(mentions_in(path, &text, *kind, step.as_deref(), &sections));
        }
        mentions
    }
}

impl Workspace {
    /// The open workflows that name a file as a prompt.
    pub fn workflows_with<'w>(&'w self, prompt: &'w Path) -> impl Iterator<Item = &'w Document> {
        let workflows = self.documents().filter(|it| it.kind == DocumentKind::Workflow);
        workflows.filter(move |it| prompt_texts(self, it).values().any(|it| it.path == prompt))
    }
}

/// Prompts and messages that stand in a workflow itself, each with its step if it is a prompt of one.
fn texts(workflow: &Document) -> Vec<(&Text, PromptKind, Option<&str>)> {
    let mut found = Vec::new();
    let Some(tree) = workflow.tree() else { return found };
    let keys = keys_of_workflow(workflow);
    visit(tree, keys, &mut |ancestors, visited| {
        if let Visited::Value { node, takes: Takes::Prompt(kind) } = visited
            && let NodeKind::Scalar(scalar) = &node.kind
        {
            let step = ancestors.last().and_then(|it| it.node.value_of("id")?.text());
            found.push((&scalar.text, *kind, step));
        }
    });
    found
}

/// The files with prompts that a workflow names.
fn prompt_texts(workspace: &Workspace, workflow: &Document) -> BTreeMap<String, PromptText> {
    let mut found = BTreeMap::new();
    let Some(tree) = workflow.tree() else { return found };
    let keys = keys_of_workflow(workflow);
    let files = PromptFiles::beside(&workflow.path);
    visit(tree, keys, &mut |ancestors, visited| {
        let Visited::Value { node, takes: Takes::Name(NameKind::Files) } = visited else { return };
        let Some(ancestor) = ancestors.last() else { return };
        let Some(name) = node.text() else { return };
        let Some(path) = files.path(name) else { return };
        let Some(text) = workspace.text(&path) else { return };
        let (kind, step) = match ancestor.key {
            "prompt_file" => (PromptKind::Step, ancestor.node.value_of("id").and_then(Node::text)),
            _ => (PromptKind::Task, None),
        };
        let prompt = PromptText { path, text, kind, step: step.map(str::to_owned) };
        found.insert(name.to_owned(), prompt);
    });
    found
}

/// The scenarios of a workflow: those that are open, and those beside it on the disk.
fn scenarios<'w>(workspace: &'w Workspace, workflow: &Path) -> Vec<Cow<'w, Document>> {
    let mut found: Vec<Cow<'w, Document>> =
        workspace.scenarios_of(workflow).into_iter().map(Cow::Borrowed).collect();
    let on_disk = fs::read_dir(folder_of(workflow)).into_iter().flatten().flatten().map(|it| it.path());
    let mut on_disk: Vec<PathBuf> = on_disk.filter(|it| is_scenario_file(it)).collect();
    on_disk.sort();
    for path in on_disk {
        let is_new = workspace.document(&path).is_none();
        let document = if is_new { workspace.read(&path) } else { None };
        let of_it = |it: &Cow<'w, Document>| workspace.workflow_of(it).as_deref() == Some(workflow);
        found.extend(document.filter(of_it));
    }
    found
}

/// The headings in a text: signs of a level, and the words behind them that begin with a capital.
fn headings_named(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("# ").filter_map(|(at, _)| {
        let level = &text[text[..=at].trim_end_matches('#').len()..=at];
        let line = text[at + 2..].lines().next()?;
        let words = line.split(' ').map(|it| it.trim_end_matches([',', '.', ':', ';', ')', '`', '"']));
        let words: Vec<&str> = words.take_while(|it| it.starts_with(char::is_uppercase)).collect();
        (!words.is_empty() && level.len() <= 6).then(|| format!("{level} {}", words.join(" ")))
    })
}

/// The names in the commands and headings of a prompt.
fn mentions_in(
    path: &Path,
    text: &Text,
    kind: PromptKind,
    step: Option<&str>,
    sections: &[String],
) -> Vec<Mention> {
    let value = text.value.as_str();
    let named = |kind, range: std::ops::Range<usize>, step: Option<&str>| {
        let span = text.locate(range.start, range.end);
        let (name, step) = (value[range].to_owned(), step.map(str::to_owned));
        let occurrence = Occurrence { span, kind, name, step, is_definition: false };
        Mention { path: path.to_owned(), occurrence, in_text: true }
    };
    match kind {
        PromptKind::Step => result_names(value).map(|it| named(NameKind::Results, it, step)).collect(),
        PromptKind::Task | PromptKind::Message => {
            let statuses = status_names(value).map(|it| named(NameKind::States, it, None));
            let headings = sections.iter().flat_map(|heading| headings(value, heading));
            statuses.chain(headings.map(|it| named(NameKind::Sections, it, None))).collect()
        }
    }
}
