//! Pages: texts that the server writes and a client shows, with addresses of the scheme `orange`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use orange_analysis::catalogue;
use orange_codegen::catalogue::Check;
use orange_codegen::{Checked, Source, compile};
use orange_ide::{Document, DocumentKind, changes, check, hover};
use orange_system::exec::{CallOutput, ProgramCall};
use orange_system::variables;

use super::later::{LateAnswer, Work};
use super::requests::Refusal;
use super::scenario_runs::ScenarioRun;
use super::view::View;
use super::{uri, wire};
use crate::cmd::{diff, prove};
use crate::json::TestAnswer;
use crate::output;
use crate::screen::Style;

/// The scheme of the addresses of pages.
pub(super) const SCHEME: &str = "orange";

/// The style of pages.
const STYLE: Style = Style { drawn: true, colour: false, width: 100, is_terminal: false };

/// Git answers at once, or somebody has configured it to ask a question.
const PATIENCE_WITH_GIT: Duration = Duration::from_secs(10);

/// A page.
#[derive(Clone, Debug)]
pub(super) enum Page {
    /// The page of a check.
    Check(&'static Check),
    /// A page about a workflow.
    Workflow(WorkflowPage, wire::Uri),
}

/// A page about a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WorkflowPage {
    /// The contract of a state.
    Contract(String),
    /// The proof.
    Proof,
    /// The results of the scenarios.
    Scenarios,
    /// The changes since the last commit.
    Changes,
}

impl Page {
    /// The page of this address.
    pub(super) fn at(address: &str) -> Result<Self, Refusal> {
        let unknown = || Refusal(format!("{address} is not the address of a page"));
        let rest = address.strip_prefix(SCHEME).and_then(|it| it.strip_prefix(':')).ok_or_else(unknown)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = uri::decoded(path.trim_start_matches('/'));
        if let Some(code) = path.strip_prefix("checks/").and_then(|it| it.strip_suffix(".md")) {
            return crate::levels::find(code).map(Self::Check).map_err(Refusal);
        }
        let of_state = path.strip_prefix("contract/").and_then(|it| it.strip_suffix(".txt"));
        let page = match path.as_str() {
            "proof.txt" => WorkflowPage::Proof,
            "scenarios.txt" => WorkflowPage::Scenarios,
            "changes.txt" => WorkflowPage::Changes,
            _ => WorkflowPage::Contract(of_state.ok_or_else(unknown)?.to_owned()),
        };
        Ok(Self::Workflow(page, wire::Uri::from(uri::decoded(query))))
    }

    /// The address by which a client asks for this text.
    pub(super) fn address(&self) -> String {
        let (path, workflow) = match self {
            Self::Check(check) => return format!("{SCHEME}:/checks/{}.md", check.code),
            Self::Workflow(WorkflowPage::Contract(state), it) => {
                (format!("contract/{}.txt", uri::encoded(state)), it)
            }
            Self::Workflow(WorkflowPage::Proof, it) => ("proof.txt".to_owned(), it),
            Self::Workflow(WorkflowPage::Scenarios, it) => ("scenarios.txt".to_owned(), it),
            Self::Workflow(WorkflowPage::Changes, it) => ("changes.txt".to_owned(), it),
        };
        format!("{SCHEME}:/{path}?{}", uri::encoded(&workflow.0))
    }

    /// The workflow that it is about.
    pub(super) fn workflow(&self) -> Option<PathBuf> {
        match self {
            Self::Check(_) => None,
            Self::Workflow(_, workflow) => Some(uri::path(&workflow.0)),
        }
    }
}

/// `workspace/textDocumentContent`.
pub(super) fn content(
    view: &View<'_>,
    params: wire::TextDocumentContentParams,
) -> Result<Work<wire::TextDocumentContentResult>, Refusal> {
    let text = text(view, &Page::at(&params.uri.0)?)?;
    Ok(Box::new(move |stop| Ok(LateAnswer::from(wire::TextDocumentContentResult::new(text(stop)?)))))
}

/// `orange/page`.
pub(super) fn page(view: &View<'_>, params: wire::PageParams) -> Result<Work<wire::PageText>, Refusal> {
    let text = text(view, &Page::at(&params.uri.0)?)?;
    Ok(Box::new(move |stop| Ok(LateAnswer::from(wire::PageText { text: text(stop)? }))))
}

/// The computation of the text of a page.
pub(super) type PageWork = Box<dyn FnOnce(&AtomicBool) -> Result<String, Refusal> + Send>;

/// The text of a page.
pub(super) fn text(view: &View<'_>, page: &Page) -> Result<PageWork, Refusal> {
    let (page, workflow) = match page {
        Page::Check(check) => {
            let check = *check;
            return Ok(Box::new(move |_| Ok(catalogue::page(check).to_owned())));
        }
        Page::Workflow(page, workflow) => (page, workflow),
    };
    let document = view.workspace.read(&uri::path(&workflow.0));
    let document = document.filter(|it| it.kind == DocumentKind::Workflow);
    let document = document.ok_or_else(|| Refusal(format!("{} is not a workflow", workflow.0)))?;
    match page {
        WorkflowPage::Contract(state) => {
            let (state, document) = (state.clone(), document.into_owned());
            Ok(Box::new(move |_| {
                hover::contract(&document, &state)
                    .ok_or_else(|| Refusal(format!("no contract of a state `{state}` is known")))
            }))
        }
        WorkflowPage::Proof => {
            let known = view.checks.state(&document.path).and_then(|it| it.shared_insight());
            let source = document.source.clone();
            Ok(Box::new(move |stop| {
                let insight = match known {
                    Some(known) => known,
                    None => check::workflow(&source, stop).ok_or_else(stopped)?.into(),
                };
                let known = insight.known.as_ref().map_err(|_| has_error(&source))?;
                Ok(output::proof(&prove::proof_of(known, &source), STYLE))
            }))
        }
        WorkflowPage::Scenarios => {
            let missing = || Refusal(format!("{} has no scenarios beside it", document.path.display()));
            let run = ScenarioRun::of(view, &document).ok_or_else(missing)?;
            let source = document.source.clone();
            Ok(Box::new(move |_| {
                let refused = || {
                    let path = &source.path;
                    Refusal(format!("the scenarios of {path} cannot run: {path} or they have an error"))
                };
                let results = run.results().ok_or_else(refused)?;
                Ok(output::scenarios::human(&TestAnswer::new(vec![(*results).clone()])))
            }))
        }
        WorkflowPage::Changes => {
            let new = document.into_owned();
            Ok(Box::new(move |stop| changes_of(&new, stop)))
        }
    }
}

fn stopped() -> Refusal {
    Refusal("the server ends".to_owned())
}

fn has_error(source: &Source) -> Refusal {
    Refusal(format!("{} has an error; see its findings", source.path))
}

/// Changes of a workflow since the last commit. Its prompt files are those of today for both.
fn changes_of(new: &Document, stop: &AtomicBool) -> Result<String, Refusal> {
    let text = committed(&new.path)?;
    let name = new.path.file_name().unwrap_or_default().to_string_lossy();
    let mut old = Source { path: format!("HEAD:{name}"), text, ..new.source.clone() };
    if old.text == new.source.text {
        return Ok(format!("{name} is as in the last commit.\n"));
    }
    let compiled = |source: &Source| -> Result<Checked, Refusal> {
        compile(source).checked.ok_or_else(|| has_error(source))
    };
    let checked = (compiled(&old)?, compiled(&new.source)?);
    let of_tasks = diff::text((&old, &checked.0), (&new.source, &checked.1), STYLE);
    let of_tasks = of_tasks.map_err(|it| Refusal(it.message().to_owned()))?;
    // The name of a workflow is compared with its file.
    old.path.clone_from(&new.source.path);
    let before = check::workflow(&old, stop).ok_or_else(stopped)?;
    let after = check::workflow(&new.source, stop).ok_or_else(stopped)?;
    let mut parts = vec![changes::text(&changes::between(&before, &after))];
    parts.push(match of_tasks.is_empty() {
        true => "Running tasks: no transition, gate or end is another one.\n".to_owned(),
        false => format!("Running tasks\n\n{of_tasks}"),
    });
    Ok(parts.join("\n"))
}

/// The text of a file in the last commit.
fn committed(path: &Path) -> Result<String, Refusal> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|it| it.to_str())) else {
        return Err(Refusal(format!("{} is in no folder, so that no commit has it", path.display())));
    };
    if !path.is_absolute() {
        return Err(Refusal(format!("{} is in no file, so that no commit has it", path.display())));
    }
    let call = ProgramCall::new("git").args(["cat-file", "blob", &format!("HEAD:./{name}")]);
    // A partial clone would fetch the file, and run what its settings name for that.
    let call = call.without(variables::GIT).env("GIT_NO_LAZY_FETCH", "1");
    let output = call.folder(folder).bound(PATIENCE_WITH_GIT).run().and_then(CallOutput::checked);
    let output = output.map_err(|error| Refusal(format!("no commit has {name}: {error}")))?;
    Ok(output.text_as_it_is())
}
