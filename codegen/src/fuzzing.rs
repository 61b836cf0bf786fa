//! The bodies of the fuzz targets, which are property tests too: what must hold for any input at all.

use crate::guard::parse;
use crate::model::CounterId;
use crate::syntax::layout::layout;
use crate::syntax::{self, Node, NodeKind, Recovery, Text};
use crate::{Compilation, Format, LineIndex, Source, Span, catalogue, compile, compile_recovered, plain};

/// Compiling any bytes ends, and every place that a finding names is one of the text. Gives what came of it, when
/// the bytes are text at all.
///
/// # Panics
/// When that does not hold.
pub fn any_source(format: Format, bytes: &[u8]) -> Option<Compilation> {
    let path = match format {
        Format::Yaml => "fuzz.yml",
        Format::Toml => "fuzz.toml",
    };
    let Ok(source) = Source::from_reader(path, bytes) else { return None };
    let (tree, _) = syntax::parse(&source);
    tree.iter().for_each(|tree| assert_carets(&source.text, tree, Recovery::Whole));
    for comment in layout(&source.text).iter().flat_map(|it| &it.comments) {
        assert_inside(&source.text, *comment);
        assert!(source.text[comment.range()].starts_with('#'));
    }
    let middle = source.text.floor_char_boundary(source.text.len() / 2) as u32;
    for edited in [None, Some(middle), Some(source.text.len() as u32)] {
        let read = syntax::parse_tolerant(&source, edited);
        read.tree.iter().for_each(|tree| assert_carets(&source.text, tree, read.recovery));
        compile_recovered(&source, &read);
    }
    let compilation = compile(&source);
    let index = LineIndex::new(&source.text);
    let renderer = plain::Renderer::new(&source);
    for finding in
        compilation.diagnostics.iter().chain(&compilation.suppressions.faults(catalogue::CHECKS, true))
    {
        assert!(!finding.message.is_empty());
        for span in finding.labels.iter().map(|label| label.span).chain([finding.span]) {
            assert_inside(&source.text, span);
            assert!(index.position(span.start) <= index.position(span.end));
        }
        for edit in finding.fix.iter().flat_map(|it| &it.edits) {
            assert_inside(&source.text, edit.span);
        }
        assert!(renderer.render(finding).starts_with(path));
    }
    Some(compilation)
}

/// Parsing any clause ends, and every place that a fault names is one of the clause.
///
/// # Panics
/// When that does not hold.
pub fn any_guard(clause: &str) {
    let text = Text::verbatim(clause.to_owned(), Span::new(0, clause.len() as u32));
    let parsed = parse::parse(&text, &mut |name| {
        let message = "unknown".to_owned();
        if name.len() < 4 {
            Ok(CounterId(name.len() as u16))
        } else {
            Err(parse::Unknown { message, help: None, instead: None })
        }
    });
    for fault in parsed.err().into_iter().flatten() {
        assert!(clause.get(fault.range.clone()).is_some(), "{fault:?} in {clause:?}");
        assert!(!fault.message.is_empty());
    }
}

/// Every visible character of a decoded text leads back to itself in the source, or to an escape. After a recovery it may lead to
/// nothing.
fn assert_carets(source: &str, node: &Node, recovery: Recovery) {
    assert_inside(source, node.span);
    match &node.kind {
        NodeKind::Scalar(scalar) => {
            let text = &scalar.text;
            for (at, char) in
                text.value.char_indices().filter(|(_, it)| !it.is_whitespace() && !it.is_control())
            {
                let span = text.locate(at, at + char.len_utf8());
                assert_inside(source, span);
                let there = &source[span.range()];
                let is_lost = recovery != Recovery::Whole && there.is_empty();
                assert!(
                    is_lost || there.starts_with([char, '\\']),
                    "{char:?} of {:?} leads to {there:?}",
                    text.value
                );
            }
        }
        NodeKind::Sequence(items) => items.iter().for_each(|it| assert_carets(source, it, recovery)),
        NodeKind::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            assert_carets(source, key, recovery);
            assert_carets(source, value, recovery);
        }),
    }
}

fn assert_inside(text: &str, span: Span) {
    assert!(text.get(span.range()).is_some(), "{span:?} is not a place of the text");
}
