//! Code actions: the fixes of findings, and changes that `orange-ide` offers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use orange_analysis::lint_within;
use orange_analysis::search::SearchLimits;
use orange_codegen::prompt_files::{OpenTexts, folder_of, normalised};
use orange_codegen::{Diagnostic, Edit, PromptFiles, Source, Span};
use orange_ide::actions::{self, Action, ActionKind};
use orange_ide::scenarios::{self, NewScenario};
use orange_ide::{Document, DocumentKind, TextChange};

use crate::fix;

use super::commands::EXPLAIN;
use super::edits;
use super::requests::Refusal;
use super::view::View;
use super::wire::{self, CodeActionKind as Kind};

/// A fix is tried with a search of so many steps at most, since a person waits for the list.
const MAX_STEPS: usize = 100_000;

/// Kind of the action that makes every safe fix.
const FIX_ALL: &str = "source.fixAll.orange";

/// Kinds of actions that there are.
pub(super) fn kinds() -> Vec<Kind> {
    vec![Kind::QuickFix, Kind::RefactorExtract, Kind::RefactorInline, Kind::new(FIX_ALL)]
}

pub(super) fn answer(
    view: &View<'_>,
    params: wire::CodeActionParams,
) -> Result<Option<Vec<wire::CodeActionResponse>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let span = view.lines(document).span(params.range);
    let list = ActionList { view, document, span, only: params.context.only };
    match document.kind {
        DocumentKind::Workflow => {}
        DocumentKind::Scenarios => return Ok(Some(Vec::new())),
        DocumentKind::Other => {
            let fixes = list.prompt_fixes().into_iter().map(wire::CodeActionResponse::CodeAction);
            return Ok(Some(fixes.collect()));
        }
    }
    let all = [
        list.fixes(),
        list.declarations(),
        list.allowances(),
        list.gates(),
        list.fix_all(),
        list.scenarios(),
        list.explanations(),
    ];
    Ok(Some(all.into_iter().flatten().map(wire::CodeActionResponse::CodeAction).collect()))
}

/// The request, and the document that it is about.
struct ActionList<'v> {
    view: &'v View<'v>,
    document: &'v Document,
    span: Span,
    only: Option<Vec<Kind>>,
}

impl ActionList<'_> {
    /// True if the client wants this kind, or one that it belongs to.
    fn wants(&self, kind: &Kind) -> bool {
        let Some(only) = &self.only else { return *kind != Kind::new(FIX_ALL) };
        only.iter().any(|it| {
            let rest = kind.as_str().strip_prefix(it.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || it.as_str().is_empty())
        })
    }

    /// The findings of the newest text that touch the place.
    fn findings(&self) -> Vec<&Diagnostic> {
        let Some(state) = self.view.checks.state(&self.document.path) else { return Vec::new() };
        let touches = |it: Span| it.start <= self.span.end && self.span.start <= it.end;
        state.findings().into_iter().filter(|it| touches(it.span)).collect()
    }

    /// Fixes that leave fewer findings, as `check --fix` makes them.
    fn fixes(&self) -> Vec<wire::CodeAction> {
        let findings: Vec<_> = self.findings().into_iter().filter(|it| it.fix.is_some()).collect();
        if findings.is_empty() || !self.wants(&Kind::QuickFix) {
            return Vec::new();
        }
        let (text, check) = (self.document.text(), |text: &str| self.checked(text));
        let before = check(text);
        let fixes = findings.into_iter().filter_map(|finding| {
            let fix = finding.fix.as_ref()?;
            fix::tried(text, fix, &before, check)?;
            let title = match fix.safe {
                true => fix.title.clone(),
                false => format!("{} (changes behaviour)", fix.title),
            };
            let action = self.action(title, Kind::QuickFix, &fix.edits);
            Some(wire::CodeAction { is_preferred: fix.safe.then_some(true), ..action })
        });
        fixes.collect()
    }

    /// Fixes of what workflows find in this file, which they include, where they leave fewer findings.
    fn prompt_fixes(&self) -> Vec<wire::CodeAction> {
        let text = self.document.text();
        if !self.wants(&Kind::QuickFix) || normalised(text) != text {
            return Vec::new();
        }
        let users = self.view.workspace.users_of(&self.document.path);
        let workflows = users.iter().filter_map(|it| self.view.workspace.document(it));
        let mut found: Vec<wire::CodeAction> = Vec::new();
        for workflow in workflows {
            let Some(state) = self.view.checks.state(&workflow.path) else { continue };
            let fixes = state.findings().into_iter().filter_map(|it| {
                let (place, fix) = (it.file.as_ref()?, it.file_fix.as_ref()?);
                let is_here = workflow.source.prompt_files.path(&place.file)? == self.document.path;
                let touches = place.span.start <= self.span.end && self.span.start <= place.span.end;
                (is_here && touches).then_some(fix)
            });
            let check = |text: &str| self.checked_with(workflow, text);
            let mut before = None;
            for fix in fixes {
                let before: &Vec<Diagnostic> = before.get_or_insert_with(|| check(text));
                if fix::tried(text, fix, before, check).is_some() {
                    let action = self.action(fix.title.clone(), Kind::QuickFix, &fix.edits);
                    let is_preferred = fix.safe.then_some(true);
                    found.push(wire::CodeAction { is_preferred, ..action });
                }
            }
        }
        // Two workflows may find the same in a file that both include.
        found.dedup();
        found
    }

    /// The findings of a workflow that includes this file, with another text of the file.
    fn checked_with(&self, workflow: &Document, text: &str) -> Vec<Diagnostic> {
        let open = self.view.workspace.documents().map(|it| (it.path.clone(), it.text().to_owned()));
        let mut open: BTreeMap<PathBuf, String> = open.collect();
        open.insert(self.document.path.clone(), text.to_owned());
        let texts = OpenTexts::new(move |path| open.get(path).cloned());
        let files = PromptFiles::Over(folder_of(&workflow.path), texts);
        self.judged(&workflow.source.clone().with_files(files))
    }

    /// The text after every safe fix, in one edit.
    fn fix_all(&self) -> Vec<wire::CodeAction> {
        let kind = Kind::new(FIX_ALL);
        if !self.wants(&kind) {
            return Vec::new();
        }
        let text = self.document.text();
        let fixed = fix::mend(text, fix::Reach::Safe, |text| self.checked(text)).text;
        let Some(TextChange { span, len }) = TextChange::between(text, &fixed) else { return Vec::new() };
        let new = fixed.get(span.start as usize..(span.start + len) as usize).unwrap_or_default();
        let edit = Edit { span, text: new.to_owned() };
        vec![self.action("make every safe fix".to_owned(), kind, &[edit])]
    }

    fn declarations(&self) -> Vec<wire::CodeAction> {
        let findings = self.findings().into_iter();
        self.offered(findings.filter_map(|it| actions::declare(self.document, it)).collect())
    }

    /// Comments that allow what was found. The person writes the reason: where the client has no holes for that, the check of comments
    /// without one asks for it.
    fn allowances(&self) -> Vec<wire::CodeAction> {
        if !self.wants(&Kind::QuickFix) {
            return Vec::new();
        }
        let has_holes = edits::has_holes(self.view);
        let reason = if has_holes { "REASON" } else { "" };
        let found = self.findings().into_iter().filter_map(|it| actions::allow(self.document, it, reason));
        let action = |it: Action| match it.edits.as_slice() {
            [edit] if has_holes => {
                let edit = edits::with_hole(self.view, self.document, edit, "REASON");
                wire::CodeAction { title: it.title, kind: Some(Kind::QuickFix), edit: Some(edit), ..empty() }
            }
            edits => self.action(it.title.clone(), Kind::QuickFix, edits),
        };
        found.map(action).collect()
    }

    fn gates(&self) -> Vec<wire::CodeAction> {
        let at = self.span.start;
        let gates = [actions::name_gate(self.document, at), actions::write_gate_out(self.document, at)];
        self.offered(gates.into_iter().flatten().collect())
    }

    fn offered(&self, actions: Vec<Action>) -> Vec<wire::CodeAction> {
        let kind = |it: &Action| match it.kind {
            ActionKind::Declare | ActionKind::Allow => Kind::QuickFix,
            ActionKind::Extract => Kind::RefactorExtract,
            ActionKind::Inline => Kind::RefactorInline,
        };
        let wanted = actions.into_iter().filter(|it| self.wants(&kind(it)));
        wanted.map(|it| self.action(it.title.clone(), kind(&it), &it.edits)).collect()
    }

    /// Commands that show the pages of the checks that have found something here.
    fn explanations(&self) -> Vec<wire::CodeAction> {
        if !self.wants(&Kind::QuickFix) {
            return Vec::new();
        }
        let mut checks: Vec<_> = self.findings().into_iter().map(|it| it.check).collect();
        checks.dedup();
        let action = |check: &orange_codegen::catalogue::Check| {
            let title = format!("explain {} {}", check.code, check.name);
            let command = wire::Command {
                title: title.clone(),
                tooltip: None,
                command: EXPLAIN.to_owned(),
                arguments: Some(vec![wire::LspAny::from(check.code)]),
            };
            wire::CodeAction { title, kind: Some(Kind::QuickFix), command: Some(command), ..empty() }
        };
        checks.into_iter().map(action).collect()
    }

    /// The runs of findings, as scenarios.
    fn scenarios(&self) -> Vec<wire::CodeAction> {
        if !self.wants(&Kind::QuickFix) {
            return Vec::new();
        }
        let of_run = |it: &Diagnostic| {
            let NewScenario { edit, is_new_file } =
                scenarios::of_run(self.view.workspace, self.document, it)?;
            let edit = match is_new_file {
                true => edits::makes_files(self.view).then(|| edits::new_file(self.view, &edit))?,
                false => edits::of_files(self.view, &[edit]),
            };
            let title = format!("make the run of {} a scenario", it.name());
            Some(wire::CodeAction { title, kind: Some(Kind::QuickFix), edit: Some(edit), ..empty() })
        };
        self.findings().into_iter().filter_map(of_run).collect()
    }

    fn action(&self, title: String, kind: Kind, edits: &[Edit]) -> wire::CodeAction {
        let edit = edits::of_document(self.view, self.document, edits);
        wire::CodeAction { title, kind: Some(kind), edit: Some(edit), ..empty() }
    }

    /// The findings of a text of this document.
    fn checked(&self, text: &str) -> Vec<Diagnostic> {
        self.judged(&Source { text: text.to_owned(), ..self.document.source.clone() })
    }

    fn judged(&self, source: &Source) -> Vec<Diagnostic> {
        let limits = SearchLimits { steps: MAX_STEPS, ..SearchLimits::default() };
        let found = lint_within(source, &limits).diagnostics;
        self.view.checks.rules().judged(source, found).file.compilation.diagnostics
    }
}

fn empty() -> wire::CodeAction {
    wire::CodeAction {
        title: String::new(),
        kind: None,
        diagnostics: None,
        is_preferred: None,
        disabled: None,
        edit: None,
        command: None,
        data: None,
        tags: None,
    }
}
