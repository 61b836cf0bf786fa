//! Changes of a workflow that an editor offers at a place, beside the fixes of findings: declare what is unknown, and give a gate a name
//! or write it out.

use orange_codegen::syntax::{Node, NodeKind};
use orange_codegen::{Diagnostic, Edit, Format, Level, Span, suppress};

use crate::document::Document;

/// A change that an editor offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Effect of the edits, as an imperative.
    pub title: String,
    /// Kind by which editors group actions.
    pub kind: ActionKind,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// It declares the name that a finding misses.
    Declare,
    /// It allows a finding.
    Allow,
    /// It gives something a name.
    Extract,
    /// It writes out what has a name.
    Inline,
}

/// The declaration of the name that a finding says is unknown.
pub fn declare(document: &Document, finding: &Diagnostic) -> Option<Action> {
    let counter = finding.message.strip_prefix("unknown counter `").and_then(|it| it.strip_suffix('`'));
    let written = document.text().get(finding.span.range())?.trim_matches(['"', '\'']);
    let name = counter.unwrap_or(written);
    let (kind, mapping, value) = match finding.code() {
        "A01" | "A02" | "A06" | "A12" => ("state", "states", "{}".to_owned()),
        "A04" | "A05" => ("prompt", "prompts", "\"# Task: {summary}\"".to_owned()),
        "A08" | "S04" if counter.is_some() => ("counter", "fields", "0".to_owned()),
        "A17" => ("gate", "gates", format!("{{section: \"## {}\", required: true}}", heading(name))),
        _ => return None,
    };
    let edit = add(document, mapping, name, &value)?;
    Some(Action {
        title: format!("declare the {kind} `{name}`"),
        kind: ActionKind::Declare,
        edits: vec![edit],
    })
}

/// The comment that allows a finding for this reason. An error cannot be allowed.
pub fn allow(document: &Document, finding: &Diagnostic, reason: &str) -> Option<Action> {
    if finding.level == Level::Error {
        return None;
    }
    let edit = suppress::allow(&document.source, document.tree()?, finding.span, finding.check, reason);
    let title = format!("allow {} {} here, with a reason", finding.code(), finding.name());
    Some(Action { title, kind: ActionKind::Allow, edits: vec![edit] })
}

/// A name for the gate that is written at this place.
pub fn name_gate(document: &Document, offset: u32) -> Option<Action> {
    let gate = gate_at(document.tree()?, offset)?;
    let NodeKind::Mapping(entries) = &gate.kind else { return None };
    let written = on_one_line(document, gate.span)?;
    let section = entries.iter().find(|(key, _)| key.text() == Some("section"));
    let base = section.and_then(|(_, value)| value.text()).map(name_of).filter(|it| !it.is_empty());
    let base = base.unwrap_or_else(|| "gate".to_owned());
    let known: Vec<&str> = named_gates(document).filter_map(|(key, _)| key.text()).collect();
    let names = std::iter::once(base.clone()).chain((2..).map(|it| format!("{base}-{it}")));
    let name = names.into_iter().find(|it| !known.contains(&it.as_str()))?;
    let declared = add(document, "gates", &name, written)?;
    let edits = vec![Edit { span: gate.span, text: name.clone() }, declared];
    Some(Action { title: format!("name this gate `{name}`"), kind: ActionKind::Extract, edits })
}

/// The conditions of the gate whose name stands at this place, in the place of the name.
pub fn write_gate_out(document: &Document, offset: u32) -> Option<Action> {
    let place = gate_at(document.tree()?, offset)?;
    let name = place.text()?;
    let (_, gate) = named_gates(document).find(|(key, _)| key.text() == Some(name))?;
    let written = on_one_line(document, gate.span)?;
    let edits = vec![Edit { span: place.span, text: written.to_owned() }];
    Some(Action { title: format!("write the gate `{name}` out here"), kind: ActionKind::Inline, edits })
}

/// The value of the `gate` or `has_artifact` at this place, and the innermost of several.
fn gate_at(node: &Node, offset: u32) -> Option<&Node> {
    let has = |span: Span| span.start <= offset && offset <= span.end;
    match &node.kind {
        NodeKind::Scalar(_) => None,
        NodeKind::Sequence(items) => {
            items.iter().filter(|it| has(it.span)).find_map(|it| gate_at(it, offset))
        }
        NodeKind::Mapping(entries) => {
            entries.iter().filter(|(key, it)| has(key.span.to(it.span))).find_map(|(key, it)| {
                let is_gate = matches!(key.text(), Some("gate" | "has_artifact"));
                gate_at(it, offset).or(is_gate.then_some(it))
            })
        }
    }
}

fn named_gates(document: &Document) -> impl Iterator<Item = &(Node, Node)> {
    let gates = document.tree().and_then(|it| entry(it, "gates"));
    gates.into_iter().flat_map(|it| match &it.kind {
        NodeKind::Mapping(entries) => entries.as_slice(),
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => &[],
    })
}

fn entry<'t>(tree: &'t Node, name: &str) -> Option<&'t Node> {
    let NodeKind::Mapping(entries) = &tree.kind else { return None };
    entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
}

/// The text of something between braces on one line.
fn on_one_line(document: &Document, span: Span) -> Option<&str> {
    let written = document.text().get(span.range())?;
    (written.starts_with('{') && !written.contains('\n')).then_some(written)
}

/// Adds an entry at the end of a mapping at the top of the document, and the mapping if it is not there.
fn add(document: &Document, mapping: &str, key: &str, value: &str) -> Option<Edit> {
    let text = document.text();
    if document.source.format != Format::Yaml || !is_plain(key) {
        return None;
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(node) = entry(document.tree()?, mapping) else {
        let tree = document.tree()?;
        if text.get(tree.span.start as usize..)?.starts_with('{') {
            return None;
        }
        let before = if text.ends_with('\n') || text.is_empty() { "" } else { line_end };
        let new = format!("{before}{mapping}:{line_end}  {key}: {value}{line_end}");
        return Some(Edit { span: Span::at(text.len() as u32), text: new });
    };
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    if text.get(node.span.start as usize..)?.starts_with('{') {
        let inside = text.get(node.span.start as usize..node.span.end as usize - 1)?.trim_end().len();
        let comma = if entries.is_empty() { "" } else { ", " };
        let at = node.span.start + inside as u32;
        return Some(Edit { span: Span::at(at), text: format!("{comma}{key}: {value}") });
    }
    let ((first, _), (_, last)) = (entries.first()?, entries.last()?);
    let line = text.get(..first.span.start as usize)?.rfind('\n').map_or(0, |it| it + 1);
    let indentation = text.get(line..first.span.start as usize)?;
    if !indentation.bytes().all(|it| it == b' ') {
        return None;
    }
    let content = text.get(..last.span.end as usize)?.trim_end().len();
    let rest = text.get(content..)?;
    let at = content + rest.find(['\r', '\n']).unwrap_or(rest.len());
    Some(Edit { span: Span::at(at as u32), text: format!("{line_end}{indentation}{key}: {value}") })
}

/// True if a name can stand without quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
}

/// `agent-review` as a heading: `Agent review`.
fn heading(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut characters = words.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// A heading as a name: `## Review notes` is `review-notes`.
fn name_of(section: &str) -> String {
    let words = section.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use orange_codegen::PromptFiles;

    use super::*;
    use crate::document::Language;

    fn document(text: &str) -> Document {
        Document::new("/w/a.yml".into(), 1, Language::Other, text.to_owned(), PromptFiles::Nowhere, None)
    }

    fn applied(text: &str, action: &Action) -> String {
        let mut edits = action.edits.clone();
        edits.sort_by_key(|it| std::cmp::Reverse(it.span));
        let mut text = text.to_owned();
        for edit in edits {
            text.replace_range(edit.span.range(), &edit.text);
        }
        text
    }

    /// Declares the name of the first finding that can be declared; the finding is then gone.
    #[track_caller]
    fn check_declared(text: &str, expect: &str) {
        let before = document(text);
        let actions = before.compilation.diagnostics.iter().filter_map(|it| declare(&before, it));
        let action =
            actions.into_iter().next().unwrap_or_else(|| panic!("{:?}", before.compilation.diagnostics));
        let after = applied(text, &action);
        assert_eq!(after, expect);
        let left = document(&after).compilation.diagnostics.len();
        assert!(
            left < before.compilation.diagnostics.len(),
            "{:?}",
            document(&after).compilation.diagnostics
        );
    }

    const FLOW: &str = "name: a\ncommands: {cancel: done}\nstates:\n  pending: {}\n  done: {terminal: true}  # end\ntransitions:\n";

    #[test]
    fn an_unknown_state_is_declared_behind_the_others() {
        let text = format!("{FLOW}  - {{from: pending, to: working}}\n  - {{from: pending, to: done}}\n");
        check_declared(&text, &text.replace("# end\n", "# end\n  working: {}\n"));
        let flow = text.replace(
            "states:\n  pending: {}\n  done: {terminal: true}  # end\n",
            "states: {pending: {}, done: {terminal: true}}\n",
        );
        check_declared(&flow, &flow.replace("true}}\n", "true}, working: {}}\n"));
    }

    #[test]
    fn a_mapping_that_is_absent_is_added_at_the_end() {
        let text = format!("{FLOW}  - {{from: pending, to: done, gate: handed-over}}\n");
        check_declared(
            &text,
            &format!("{text}gates:\n  handed-over: {{section: \"## Handed over\", required: true}}\n"),
        );
    }

    #[test]
    fn an_unknown_counter_is_declared() {
        let text = format!("{FLOW}  - {{from: pending, to: done, when: \"tries < 2\"}}\n");
        check_declared(&text, &format!("{text}fields:\n  tries: 0\n"));
        let raised = format!(
            "fields: {{rounds: 0}}\n{FLOW}  - {{from: pending, to: done, hooks: [{{action: increment, field: tries}}]}}\n"
        );
        check_declared(&raised, &raised.replace("{rounds: 0}", "{rounds: 0, tries: 0}"));
    }

    #[test]
    fn a_gate_gets_a_name_and_loses_it_again() {
        let written = "{section: \"## Review notes\", verdict: PASS}";
        let text = format!("{FLOW}  - {{from: pending, to: done, gate: {written}}}\n");
        let at = text.find("verdict").unwrap() as u32;
        let action = name_gate(&document(&text), at).unwrap();
        let named = applied(&text, &action);
        let expect = text.replace(written, "review-notes") + "gates:\n  review-notes: " + written + "\n";
        assert_eq!(
            (action.title.as_str(), named.as_str()),
            ("name this gate `review-notes`", expect.as_str())
        );
        let at = named.find("review-notes").unwrap() as u32;
        let action = write_gate_out(&document(&named), at).unwrap();
        assert!(applied(&named, &action).starts_with(&text));
        assert_eq!(name_gate(&document(&named), at), None);
    }
}
