//! The open documents, over the files on the disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orange_codegen::PromptFiles;
use orange_codegen::prompt_files::{OpenTexts, folder_of};
use orange_codegen::source::SCENARIOS;
use orange_codegen::syntax::limits::MAX_BYTES;

use crate::change::TextChange;
use crate::document::{Document, DocumentKind, Language};

/// The open documents by their paths.
#[derive(Debug, Default)]
pub struct Workspace {
    documents: BTreeMap<PathBuf, Document>,
    /// Their texts, for those who read prompts.
    texts: SharedTexts,
}

/// Texts by their paths, also for a check on another thread.
type SharedTexts = Arc<Mutex<BTreeMap<PathBuf, String>>>;

impl Workspace {
    /// Opens a document, or opens it again.
    pub fn open(&mut self, path: PathBuf, version: i32, language: Language, text: String) -> &Document {
        self.put(path, version, language, text, None)
    }

    /// Gives an open document its next text, and says how that differs from the last one; nothing if it is not open.
    pub fn change(
        &mut self,
        path: &Path,
        version: i32,
        text: String,
    ) -> Option<(&Document, Option<TextChange>)> {
        let document = self.documents.get(path)?;
        let change = TextChange::between(document.text(), &text);
        let edited = change.map(|it| it.span.start + it.len);
        let document = self.put(path.to_owned(), version, document.language, text, edited);
        Some((document, change))
    }

    /// Reads an open document again, since the files that it names have changed.
    pub fn read_again(&mut self, path: &Path) -> Option<&Document> {
        let (version, text) = (self.document(path)?.version, self.document(path)?.text().to_owned());
        self.change(path, version, text).map(|it| it.0)
    }

    /// Closes a document.
    pub fn close(&mut self, path: &Path) -> Option<Document> {
        texts(&self.texts).remove(path);
        self.documents.remove(path)
    }

    /// An open document.
    pub fn document(&self, path: &Path) -> Option<&Document> {
        self.documents.get(path)
    }

    /// All open documents.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.values()
    }

    /// A document: the open one, or else that of the disk.
    pub fn read(&self, path: &Path) -> Option<Cow<'_, Document>> {
        if let Some(document) = self.documents.get(path) {
            return Some(Cow::Borrowed(document));
        }
        let text = self.text(path)?;
        let prompt_files = self.prompt_files(path);
        Some(Cow::Owned(Document::new(path.to_owned(), 0, Language::default(), text, prompt_files, None)))
    }

    /// The files in a folder and in its folders, by their names from there.
    pub fn files_in(&self, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let entries =
            |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        for path in entries(folder) {
            match path.is_dir() {
                true => found.extend(entries(&path).filter(|it| it.is_file())),
                false => found.push(path),
            }
        }
        let names = found.iter().filter_map(|it| it.strip_prefix(folder).ok()?.to_str().map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The text of a file: that of the open document, or else that on the disk.
    pub fn text(&self, path: &Path) -> Option<String> {
        if let Some(document) = self.documents.get(path) {
            return Some(document.text().to_owned());
        }
        let is_readable = |it: fs::Metadata| it.is_file() && it.len() <= MAX_BYTES as u64;
        fs::metadata(path).is_ok_and(is_readable).then(|| fs::read_to_string(path).ok()).flatten()
    }

    /// The workflow of a file of scenarios: the one that it names, or else the one of the same stem beside it.
    pub fn workflow_of(&self, scenarios: &Document) -> Option<PathBuf> {
        let folder = scenarios.path.parent()?;
        if let Some(named) = orange_analysis::scenario::workflow(&scenarios.source) {
            return Some(folder.join(named));
        }
        let name = scenarios.path.file_name()?.to_str()?;
        let stem = name.strip_suffix(SCENARIOS)?;
        let mut candidates =
            ["yml", "yaml", "toml"].map(|it| folder.join(format!("{stem}.{it}"))).into_iter();
        candidates.find(|it| self.documents.contains_key(it) || it.is_file())
    }

    /// The open scenarios of a workflow.
    pub fn scenarios_of(&self, workflow: &Path) -> Vec<&Document> {
        let scenarios = self.documents().filter(|it| it.kind == DocumentKind::Scenarios);
        scenarios.filter(|it| self.workflow_of(it).as_deref() == Some(workflow)).collect()
    }

    /// The open workflows that name a file as a prompt.
    pub fn users_of(&self, file: &Path) -> Vec<PathBuf> {
        let workflows = self.documents().filter(|it| it.kind == DocumentKind::Workflow && it.path != file);
        workflows.filter(|it| it.includes(file)).map(|it| it.path.clone()).collect()
    }

    fn put(
        &mut self,
        path: PathBuf,
        version: i32,
        language: Language,
        text: String,
        edited: Option<u32>,
    ) -> &Document {
        texts(&self.texts).insert(path.clone(), text.clone());
        let prompt_files = self.prompt_files(&path);
        let document = Document::new(path.clone(), version, language, text, prompt_files, edited);
        self.documents.entry(path).insert_entry(document).into_mut()
    }

    /// The prompts that a document may name; a document that is in no file has none.
    fn prompt_files(&self, path: &Path) -> PromptFiles {
        if !path.is_absolute() {
            return PromptFiles::Nowhere;
        }
        let shared = Arc::clone(&self.texts);
        let open = OpenTexts::new(move |path| texts(&shared).get(path).cloned());
        PromptFiles::Over(folder_of(path), open)
    }
}

fn texts(shared: &SharedTexts) -> MutexGuard<'_, BTreeMap<PathBuf, String>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
