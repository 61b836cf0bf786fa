//! One open document: its text, and what the compiler says of it.

use std::path::{Path, PathBuf};

use orange_analysis::compiled;
use orange_codegen::model::Definition;
use orange_codegen::source::{Format, is_scenario_file};
use orange_codegen::syntax::{Node, RecoveredTree, Recovery, parse_tolerant};
use orange_codegen::{Compilation, Likeness, PromptFiles, Source, compile_recovered};

/// A text of another program that is longer than this is recognised by its lines, without a parser.
const PARSED_IN_ANY_CASE: usize = 32 << 10;

/// One version of a document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its file, or the name of a document that is in no file.
    pub path: PathBuf,
    /// Its version, as the editor numbers it.
    pub version: i32,
    /// The language in which the editor shows it.
    pub language: Language,
    /// Its text, and the files that it names.
    pub source: Source,
    /// Kind of its text.
    pub kind: DocumentKind,
    /// Its syntax tree as far as there is one, where it is a workflow or has scenarios.
    pub syntax: RecoveredTree,
    /// Findings of the compiler without a search, and the definition, also while it has errors; empty where it is not a workflow.
    pub compilation: Compilation,
}

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A workflow.
    Workflow,
    /// Scenarios of a workflow.
    Scenarios,
    /// Anything else; a workflow may name it as a prompt.
    Other,
}

/// The language in which an editor shows a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// A workflow in YAML, which somebody has chosen.
    Workflow,
    /// A workflow in TOML, which somebody has chosen.
    WorkflowToml,
    /// Scenarios, which somebody has chosen.
    Scenarios,
    /// Any other: the text decides.
    #[default]
    Other,
}

impl Language {
    /// The language of this id of an editor.
    pub fn of_id(id: &str) -> Self {
        match id {
            "orange-workflow" => Self::Workflow,
            "orange-workflow-toml" => Self::WorkflowToml,
            "orange-scenarios" => Self::Scenarios,
            _ => Self::Other,
        }
    }

    /// The id that an editor should give this text; none where it is of another program.
    pub fn recognise(path: &Path, text: &str) -> Option<&'static str> {
        if is_of_github(path) {
            return None;
        }
        if is_scenario_file(path) {
            return Some("orange-scenarios");
        }
        let source = Source::new(path.to_string_lossy(), text);
        match (Likeness::of(&source), source.format) {
            (Likeness::Workflow(_), Format::Yaml) => Some("orange-workflow"),
            (Likeness::Workflow(_), Format::Toml) => Some("orange-workflow-toml"),
            (Likeness::Almost(_) | Likeness::Other, _) => None,
        }
    }
}

impl Document {
    /// Reads a text that somebody edits at this byte, and asks the compiler about it if it is a workflow.
    pub fn new(
        path: PathBuf,
        version: i32,
        language: Language,
        text: String,
        prompt_files: PromptFiles,
        edited: Option<u32>,
    ) -> Self {
        let mut source = Source::new(path.to_string_lossy(), text).with_files(prompt_files);
        match language {
            Language::WorkflowToml => source.format = Format::Toml,
            Language::Workflow | Language::Scenarios => source.format = Format::Yaml,
            Language::Other => {}
        }
        let mut document = Self {
            path,
            version,
            language,
            source,
            kind: DocumentKind::Other,
            syntax: RecoveredTree { tree: None, recovery: Recovery::Whole, faults: Vec::new() },
            compilation: Compilation::default(),
        };
        match kind_by_name(&document.path, language) {
            DocumentKind::Workflow => document.compile(edited),
            DocumentKind::Scenarios => {
                document.kind = DocumentKind::Scenarios;
                document.syntax = parse_tolerant(&document.source, edited);
                document.compilation.diagnostics.clone_from(&document.syntax.faults);
            }
            DocumentKind::Other => {}
        }
        document
    }

    fn compile(&mut self, edited: Option<u32>) {
        if !may_be_workflow(&self.source, self.language) {
            return;
        }
        let syntax = parse_tolerant(&self.source, edited);
        let compilation = compile_recovered(&self.source, &syntax);
        let is_chosen = self.language != Language::Other;
        if is_chosen || matches!(compilation.likeness, Likeness::Workflow(_)) {
            self.kind = DocumentKind::Workflow;
            self.syntax = syntax;
            self.compilation = compiled(compilation);
        }
    }

    /// The names of the files that its prompts stand in, as far as the workflow is understood.
    pub fn prompt_files(&self) -> Vec<&str> {
        match self.compilation.definition() {
            Some(Definition::Machine(it)) => it.prompts.iter().filter_map(|it| it.file.as_deref()).collect(),
            Some(Definition::Steps(it)) => {
                it.steps.iter().flat_map(|it| &it.prompt.files).map(|it| it.name.as_str()).collect()
            }
            None => Vec::new(),
        }
    }

    /// True if this file is one of them.
    pub fn includes(&self, file: &Path) -> bool {
        let path = |name: &&str| self.source.prompt_files.path(name).is_some_and(|it| it == file);
        self.prompt_files().iter().any(path)
    }

    /// Its syntax tree, as far as there is one.
    pub fn tree(&self) -> Option<&Node> {
        self.syntax.tree.as_ref()
    }

    /// Text as the editor has it.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// The kind that a document can have, by its name and the language that somebody has chosen.
fn kind_by_name(path: &Path, language: Language) -> DocumentKind {
    match language {
        Language::Workflow | Language::WorkflowToml => DocumentKind::Workflow,
        Language::Scenarios => DocumentKind::Scenarios,
        Language::Other if is_of_github(path) => DocumentKind::Other,
        Language::Other if is_scenario_file(path) => DocumentKind::Scenarios,
        Language::Other if Format::of_path(&path.to_string_lossy()).is_some() => DocumentKind::Workflow,
        Language::Other => DocumentKind::Other,
    }
}

/// Files of GitHub, such as its workflows, are never those of this program.
fn is_of_github(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str() == ".github")
}

/// True if a text is worth the work of recovering its syntax; keys in quotes are seen only by the parser.
fn may_be_workflow(source: &Source, language: Language) -> bool {
    language != Language::Other
        || Likeness::of_tree(source, None) != Likeness::Other
        || (source.text.len() <= PARSED_IN_ANY_CASE && Likeness::of(source) != Likeness::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, language: Language, text: &str, expect: DocumentKind) {
        let document = Document::new(path.into(), 1, language, text.to_owned(), PromptFiles::Nowhere, None);
        assert_eq!(document.kind, expect, "{path} {language:?}");
        assert_eq!(document.tree().is_some(), expect != DocumentKind::Other);
        if expect != DocumentKind::Workflow {
            assert!(document.compilation.diagnostics.is_empty());
        }
    }

    #[test]
    fn a_workflow_is_recognised_by_its_keys() {
        let states = "name: a\nstates: {}\n";
        check("/w/a.yml", Language::Other, states, DocumentKind::Workflow);
        check("/w/.github/workflows/a.yml", Language::Other, states, DocumentKind::Other);
        check("/w/a.md", Language::Other, states, DocumentKind::Other);
        check("/w/a.test.yml", Language::Other, "scenarios: []\n", DocumentKind::Scenarios);
        check("/w/a.yml", Language::Other, "states:\n  a: {\n", DocumentKind::Workflow);
        check("/w/a.yml", Language::Other, "services: {}\n", DocumentKind::Other);
        check("/w/a.yml", Language::Other, "stages: []\nworkflow: {}\n", DocumentKind::Other);
        check("untitled:1", Language::Workflow, "services: {}\n", DocumentKind::Workflow);
    }

    #[test]
    fn a_long_file_of_another_program_is_not_parsed() {
        let long = "services: {}\n".repeat(4000);
        check("/w/a.yml", Language::Other, &long, DocumentKind::Other);
        let workflow = format!("states:\n{}", "  # more\n".repeat(5000));
        check("/w/a.yml", Language::Other, &workflow, DocumentKind::Workflow);
    }

    #[test]
    fn an_editor_learns_which_language_a_text_is_in() {
        let recognise = |path: &str, text: &str| Language::recognise(Path::new(path), text);
        assert_eq!(recognise("/w/a.yml", "states: {}"), Some("orange-workflow"));
        assert_eq!(recognise("/w/a.toml", "[states]"), Some("orange-workflow-toml"));
        assert_eq!(recognise("/w/a.test.yml", ""), Some("orange-scenarios"));
        assert_eq!(recognise("/w/a.yml", "services: {}"), None);
        assert_eq!(recognise("/w/.github/a.yml", "states: {}"), None);
    }
}
