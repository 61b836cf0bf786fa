//! Known findings, which reports leave out. Each is identified by its check and its place in the workflow, which does not change
//! when lines move.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use orange_analysis::catalogue;
use orange_codegen::{Diagnostic, Level};
use serde::{Deserialize, Serialize};

use crate::answer::Failure;
use crate::paths::{self, Folders};
use crate::report::{File, Report};
use crate::whole;

/// The version of the file's format.
const VERSION: u32 = 1;

/// By file: the known findings, each with the number of times that it is there.
#[derive(Debug)]
pub(crate) struct Baseline {
    /// The folder of the baseline. Its paths are relative to this folder.
    folder: PathBuf,
    known: BTreeMap<String, BTreeMap<KnownFinding, usize>>,
}

/// The part of a finding that does not change when its file is edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFinding {
    check: String,
    place: String,
}

/// The JSON document of the file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineDocument {
    version: u32,
    findings: Vec<BaselineEntry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    file: String,
    check: String,
    place: String,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    count: usize,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// The file does not exist, or is not a baseline of this version.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::new(
                format!("cannot read the baseline {shown}: {error}"),
                format!("write one with --write-baseline {shown}"),
            )
        })?;
        let wrong = |what: String| {
            let help = format!("write it again with --write-baseline {shown}");
            Failure::new(format!("{shown} is not a baseline: {what}"), help)
        };
        let document: BaselineDocument =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if document.version != VERSION {
            return Err(wrong(format!("its version is {}, and {VERSION} is known here", document.version)));
        }
        let mut baseline = Self::empty(path);
        for BaselineEntry { file, check, place, count } in document.findings {
            // The file holds names of checks; a person who edits it may also write a code.
            let check = catalogue::find(&check).map_or(check, |it| it.name.to_owned());
            *baseline.known.entry(file).or_default().entry(KnownFinding { check, place }).or_default() +=
                count;
        }
        Ok(baseline)
    }

    /// A baseline at this path with all findings of a report except errors, which a baseline cannot leave out.
    pub(crate) fn of(report: &Report, path: &Path) -> Self {
        let mut baseline = Self::empty(path);
        let mut folders = Folders::default();
        for file in &report.files {
            let name = baseline.name(file, &mut folders);
            for (_, known) in known(file) {
                *baseline.known.entry(name.clone()).or_default().entry(known).or_default() += 1;
            }
        }
        baseline
    }

    /// The number of known findings, repeated ones included.
    pub(crate) fn len(&self) -> usize {
        self.known.values().flat_map(BTreeMap::values).sum()
    }

    /// Writes the baseline to a file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let entry = |file: &String, known: &KnownFinding, count: usize| BaselineEntry {
            file: file.clone(),
            check: known.check.clone(),
            place: known.place.clone(),
            count,
        };
        let findings = self.known.iter().flat_map(|(file, known)| known.iter().map(move |it| (file, it)));
        let findings = findings.map(|(file, (known, count))| entry(file, known, *count)).collect();
        let cannot = |why: String| {
            let message = format!("cannot write {}: {why}", path.display());
            Failure::new(message, "see whether the folder is there and you may write to it")
        };
        let text = serde_json::to_string_pretty(&BaselineDocument { version: VERSION, findings });
        let text = text.map_err(|error| cannot(error.to_string()))? + "\n";
        whole::write(path, &text).map_err(|error| cannot(error.to_string()))
    }

    /// Removes the known findings from a report, and adds the entries that match nothing. It adds no entries of a file with
    /// errors, which was not checked completely.
    pub(crate) fn apply(&self, report: &mut Report) {
        let mut folders = Folders::default();
        for file in &mut report.files {
            let name = self.name(file, &mut folders);
            let Some(known) = self.known.get(&name) else { continue };
            let before = file.findings().len();
            let left = take_out(file, known.clone());
            report.known += before - file.findings().len();
            if file.findings().iter().all(|it| it.level != Level::Error) {
                report.gone.extend(describe(&name, &left));
            }
        }
    }

    /// The entries of files that no longer exist.
    pub(crate) fn of_missing_files(&self) -> Vec<String> {
        let missing = self.known.iter().filter(|(name, _)| !self.folder.join(name).exists());
        missing.flat_map(|(name, known)| describe(name, known)).collect()
    }

    fn empty(path: &Path) -> Self {
        Self { folder: Folders::default().of(path).to_owned(), known: BTreeMap::new() }
    }

    /// The path of a file, relative to the folder of the baseline.
    fn name(&self, file: &File, folders: &mut Folders) -> String {
        let path = Path::new(&file.source.path);
        paths::relative(&self.folder, &folders.of(path).join(path.file_name().unwrap_or_default()))
    }
}

/// Removes each known finding from a file, as often as the baseline has it. Returns the known findings that match nothing.
fn take_out(file: &mut File, mut left: BTreeMap<KnownFinding, usize>) -> BTreeMap<KnownFinding, usize> {
    let mut stays = vec![true; file.findings().len()];
    for (at, known) in known(file) {
        if let Some(count) = left.get_mut(&known).filter(|it| **it > 0) {
            *count -= 1;
            stays[at] = false;
        }
    }
    let mut stays = stays.into_iter();
    file.compilation.diagnostics.retain(|_| stays.next().unwrap_or(true));
    left.retain(|_, count| *count > 0);
    left
}

/// The findings of a file that a baseline can have, each with its index in the file.
fn known(file: &File) -> Vec<(usize, KnownFinding)> {
    let lesser = |(_, it): &(usize, &Diagnostic)| it.level != Level::Error;
    let mut findings = file.findings().iter().enumerate().filter(lesser).peekable();
    if findings.peek().is_none() {
        return Vec::new();
    }
    let places = file.places();
    findings
        .map(|(at, it)| (at, KnownFinding { check: it.name().to_owned(), place: places.of(it.span) }))
        .collect()
}

fn describe(file: &str, known: &BTreeMap<KnownFinding, usize>) -> Vec<String> {
    let line = |(KnownFinding { check, place }, count): (&KnownFinding, &usize)| {
        let times = if *count == 1 { String::new() } else { format!(", {count} times") };
        format!("{file}: {check} at {place}{times}")
    };
    known.iter().map(line).collect()
}

fn once() -> usize {
    1
}

fn is_once(count: &usize) -> bool {
    *count == 1
}
