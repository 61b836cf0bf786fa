//! `graph`: draws a workflow, and highlights a run of it or a finding.

use std::path::Path;

use orange_analysis::lint;
use orange_codegen::catalogue::Check;
use orange_codegen::{Checked, Diagnostic, LineIndex};

use crate::answer::{Answer, Failure};
use crate::args::{self, Drawing};
use crate::cmd::one;
use crate::graph::{Graph, Run, dot, headline, mermaid, read, svg};
use crate::input::not_both_from_stdin;
use crate::levels;
use crate::report::File;
use crate::screen::Styles;

pub(super) fn run(args: &args::Graph, styles: Styles) -> Result<Answer, Answer> {
    not_both_from_stdin(&args.file, Path::new(args.trace.as_deref().unwrap_or_default()))?;
    // Findings alone need a search, and a run names its states.
    let (file, checked) = match (&args.trace, &args.highlight) {
        (None, Some(_)) => one::load(&args.file, styles)?,
        (Some(_), _) | (None, None) => one::compiled(&args.file, styles)?,
    };
    let mut graph = Graph::new(checked.definition());
    let check = args.highlight.as_deref().map(named).transpose()?;
    match (&args.trace, check) {
        (Some(trace), check) => show(&mut graph, trace, &file, check)?,
        (None, Some(check)) => highlight(&mut graph, &file, &found(&file, &checked, check)?)?,
        (None, None) => {}
    }
    let text = match args.format {
        Drawing::Mermaid => mermaid(&graph),
        Drawing::Dot => dot(&graph),
        Drawing::Svg => svg(&graph)?,
    };
    Ok(one::deliver(text, args.output.as_deref())?)
}

/// Highlights the run that `--trace` names.
fn show(graph: &mut Graph, trace: &str, file: &File, check: Option<&Check>) -> Result<(), Failure> {
    let shown = read(trace, graph, &file.source.path, check)?;
    graph.say(shown.headline);
    graph.follow(&shown.run, &LineIndex::new(&file.source.text))
}

/// Highlights every place of the findings of a check, and the first trace among them.
fn highlight(graph: &mut Graph, file: &File, found: &[Diagnostic]) -> Result<(), Failure> {
    for finding in found {
        graph.say(headline(finding));
        graph.point_at(finding.span);
        for label in &finding.labels {
            graph.point_at(label.span);
        }
    }
    match found.iter().find_map(|it| it.trace.as_ref()) {
        Some(trace) => {
            let index = LineIndex::new(&file.source.text);
            graph.follow(&Run::of(trace, &index), &index)
        }
        None => Ok(()),
    }
}

/// The findings of a check, or else those that a comment allows: a picture may show them, too.
fn found(file: &File, checked: &Checked, check: &Check) -> Result<Vec<Diagnostic>, Failure> {
    let of_check = |all: Vec<Diagnostic>| all.into_iter().filter(|it| it.check == check).collect();
    let mut found: Vec<Diagnostic> = of_check(file.findings().to_vec());
    if found.is_empty() {
        found = of_check(lint::findings(checked, &file.source));
    }
    if found.is_empty() {
        return Err(Failure::new(
            format!("--highlight: there is no finding of `{}` in {}", check.name, file.source.path),
            "`orange-workflow check` shows what is found",
        ));
    }
    Ok(found)
}

fn named(check: &str) -> Result<&'static Check, Failure> {
    levels::find(check)
        .map_err(|help| Failure::new(format!("--highlight: there is no check `{check}`"), help))
}
