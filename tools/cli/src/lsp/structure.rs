//! The structure of a text: outline, folds, selections, links and tokens, and its layout.

use orange_analysis::insight::WorkflowInsight;
use orange_codegen::model::Definition;
use orange_codegen::model::keys::{NameKind, PromptKind};
use orange_codegen::source::Format;
use orange_codegen::{Edit, Source, Span};
use orange_ide::links::links;
use orange_ide::outline::{OutlineEntry, OutlineKind, outline};
use orange_ide::ranges::{folds, selections};
use orange_ide::tokens::{Token, TokenKind, in_prompt_file, tokens};
use orange_ide::{Document, DocumentKind};
use similar::{DiffOp, TextDiff};

use crate::fmt::{NotFormatted, format};

use super::convert::Lines;
use super::requests::Refusal;
use super::view::View;
use super::{uri, wire};

pub(super) fn symbols(
    view: &View<'_>,
    params: wire::DocumentSymbolParams,
) -> Result<Option<wire::DocumentSymbolResponse>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let lines = view.lines(document);
    let all = outline(document).into_iter().map(|it| symbol(&lines, it)).collect();
    Ok(Some(wire::DocumentSymbolResponse::DocumentSymbolList(all)))
}

fn symbol(lines: &Lines<'_>, entry: OutlineEntry) -> wire::DocumentSymbol {
    let kind = match entry.kind {
        OutlineKind::State => wire::SymbolKind::Class,
        OutlineKind::Transition => wire::SymbolKind::Event,
        OutlineKind::Prompt => wire::SymbolKind::String,
        OutlineKind::Gate => wire::SymbolKind::Interface,
        OutlineKind::Counter => wire::SymbolKind::Variable,
        OutlineKind::Step | OutlineKind::Scenario => wire::SymbolKind::Function,
        OutlineKind::Role => wire::SymbolKind::Constant,
    };
    #[expect(deprecated, reason = "the field has no default")]
    wire::DocumentSymbol {
        name: entry.name,
        detail: entry.detail,
        kind,
        tags: None,
        deprecated: None,
        range: lines.range(entry.span),
        selection_range: lines.range(entry.named),
        children: Some(entry.children.into_iter().map(|it| symbol(lines, it)).collect()),
    }
}

pub(super) fn folding(
    view: &View<'_>,
    params: wire::FoldingRangeParams,
) -> Result<Option<Vec<wire::FoldingRange>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let fold = |it: orange_ide::ranges::Fold| wire::FoldingRange {
        start_line: it.first,
        start_character: None,
        end_line: it.last,
        end_character: None,
        kind: it.is_comment.then_some(wire::FoldingRangeKind::Comment),
        collapsed_text: None,
    };
    Ok(Some(folds(document).into_iter().map(fold).collect()))
}

pub(super) fn selection(
    view: &View<'_>,
    params: wire::SelectionRangeParams,
) -> Result<Option<Vec<wire::SelectionRange>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let lines = view.lines(document);
    let all = params.positions.into_iter().map(|position| {
        let spans = selections(document, lines.offset(position));
        let outermost = wire::SelectionRange { range: lines.range(Span::new(0, u32::MAX)), parent: None };
        let inner = spans.into_iter().rev().skip(1);
        inner.fold(outermost, |parent, span| wire::SelectionRange {
            range: lines.range(span),
            parent: Some(Box::new(parent)),
        })
    });
    Ok(Some(all.collect()))
}

pub(super) fn document_links(
    view: &View<'_>,
    params: wire::DocumentLinkParams,
) -> Result<Option<Vec<wire::DocumentLink>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let lines = view.lines(document);
    let link = |it: orange_ide::links::FileLink| wire::DocumentLink {
        range: lines.range(it.span),
        target: Some(wire::Uri::from(uri::of(&it.path))),
        tooltip: None,
        data: None,
    };
    Ok(Some(links(view.workspace, document).into_iter().map(link).collect()))
}

pub(super) fn formatting(
    view: &View<'_>,
    params: wire::DocumentFormattingParams,
) -> Result<Option<Vec<wire::TextEdit>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    if document.kind != DocumentKind::Workflow || document.source.format == Format::Toml {
        return Ok(None);
    }
    let edits = layout_edits(&document.source)?;
    let lines = view.lines(document);
    let edit = |it: Edit| wire::TextEdit { range: lines.range(it.span), new_text: it.text };
    Ok(Some(edits.into_iter().map(edit).collect()))
}

/// The edits that format a text, each of whole lines.
fn layout_edits(source: &Source) -> Result<Vec<Edit>, Refusal> {
    let formatted = format(source).map_err(|refused| {
        Refusal(match refused {
            NotFormatted::Broken => "the syntax has a fault: mend it, then format".to_owned(),
            NotFormatted::Different(how) => {
                format!("the formatted workflow would differ ({how}), so that the text stays as it is")
            }
        })
    })?;
    let diff = TextDiff::from_lines(source.text.as_str(), formatted.as_str());
    let starts = |slices: &[&str]| -> Vec<u32> {
        let ends = slices.iter().scan(0, |end, line| {
            *end += line.len() as u32;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let (old, new) = (starts(diff.old_slices()), starts(diff.new_slices()));
    let edits = diff.ops().iter().filter(|it| !matches!(it, DiffOp::Equal { .. })).map(|it| {
        let (from, to) = (it.old_range(), it.new_range());
        let text = &formatted[new[to.start] as usize..new[to.end] as usize];
        Edit { span: Span::new(old[from.start], old[from.end]), text: text.to_owned() }
    });
    Ok(edits.collect())
}

/// Types of tokens, in the order of the numbers that stand for them.
const TYPES: [&str; 14] = [
    "class",
    "string",
    "interface",
    "variable",
    "function",
    "enumMember",
    "type",
    "macro",
    "parameter",
    "namespace",
    "operator",
    "number",
    "keyword",
    "property",
];

/// Modifiers of tokens, in the order of their bits.
const MODIFIERS: [&str; 3] = ["definition", "readonly", "deprecated"];

/// The types and the modifiers of tokens: a terminal state is `readonly`, one that no run reaches is `deprecated`.
pub(super) fn legend() -> wire::SemanticTokensLegend {
    let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
    wire::SemanticTokensLegend { token_types: owned(&TYPES), token_modifiers: owned(&MODIFIERS) }
}

pub(super) fn semantic_tokens(
    view: &View<'_>,
    params: wire::SemanticTokensParams,
) -> Result<Option<wire::SemanticTokens>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let all = match document.kind {
        DocumentKind::Workflow | DocumentKind::Scenarios => {
            let dead = unreached(view, document);
            tokens(view.workspace, document, &|state| dead.contains(&state))
        }
        DocumentKind::Other => match prompt_kind(view, document) {
            Some(kind) => in_prompt_file(document.text(), kind),
            None => return Ok(None),
        },
    };
    Ok(Some(wire::SemanticTokens { result_id: None, data: encoded(&view.lines(document), &all) }))
}

/// The states that no run reaches, if this very text has been checked.
fn unreached<'v>(view: &View<'v>, document: &Document) -> Vec<&'v str> {
    match view.insight(document).map(|it| &it.known) {
        Some(Ok(WorkflowInsight::Machine(machine))) => {
            let states = machine.states.iter().filter(|it| it.is_reached == Some(false));
            states.map(|it| it.name.as_str()).collect()
        }
        _ => Vec::new(),
    }
}

/// The readers of a prompt that stands in this file, if an open workflow names it.
fn prompt_kind(view: &View<'_>, document: &Document) -> Option<PromptKind> {
    let workflow = view.workspace.workflows_with(&document.path).next()?;
    Some(match workflow.compilation.definition()? {
        Definition::Machine(_) => PromptKind::Task,
        Definition::Steps(_) => PromptKind::Step,
    })
}

/// Each token as the protocol writes it: its place counts from the one before.
fn encoded(lines: &Lines<'_>, all: &[Token]) -> Vec<wire::SemanticToken> {
    let mut before = wire::Position { line: 0, character: 0 };
    let encode = |it: &Token| {
        let range = lines.range(it.span);
        let delta_line = range.start.line - before.line;
        let from = if delta_line == 0 { before.character } else { 0 };
        before = range.start;
        let modifiers = [it.is_definition, it.is_terminal, it.is_unreachable];
        let bits = modifiers.iter().enumerate().map(|(bit, is_set)| u32::from(*is_set) << bit).sum();
        wire::SemanticToken {
            delta_line,
            delta_start: range.start.character - from,
            length: range.end.character - range.start.character,
            token_type: token_type(it.kind),
            token_modifiers_bitset: bits,
        }
    };
    all.iter().map(encode).collect()
}

/// The number of a type among [`TYPES`].
fn token_type(kind: TokenKind) -> u32 {
    let name = match kind {
        TokenKind::Name(kind) => match kind {
            NameKind::States => "class",
            NameKind::Prompts | NameKind::Files => "string",
            NameKind::Gates => "interface",
            NameKind::Counters => "variable",
            NameKind::Steps | NameKind::Actions => "function",
            NameKind::Results | NameKind::Verdicts => "enumMember",
            NameKind::Inputs | NameKind::Outputs => "property",
            NameKind::Roles | NameKind::Actors | NameKind::Reviewers | NameKind::Harnesses => "type",
            NameKind::Values => "parameter",
            NameKind::Workflows => "namespace",
            NameKind::Sections => "keyword",
        },
        TokenKind::Operator => "operator",
        TokenKind::Number => "number",
        TokenKind::Heading => "keyword",
        TokenKind::Verdict => "enumMember",
        TokenKind::Command => "macro",
        TokenKind::Flag => "property",
    };
    TYPES.iter().position(|it| *it == name).unwrap_or_default() as u32
}
