//! The run of a finding as a scenario, in the file of scenarios of its workflow.

use orange_analysis::scenario;
use orange_codegen::lower::{Arena, lower};
use orange_codegen::source::SCENARIOS;
use orange_codegen::syntax::NodeKind;
use orange_codegen::{Diagnostic, Span};

use crate::document::Document;
use crate::names::{FileEdit, Location};
use crate::project::Project;
use crate::workspace::Workspace;

/// A scenario, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewScenario {
    /// The edit of the file with the scenarios.
    pub edit: FileEdit,
    /// True if there is no such file yet.
    pub is_new_file: bool,
}

/// The scenario that repeats the run of a finding: at the end of the first file with scenarios of the workflow, or in a new one. None
/// where scenarios cannot say what happens in the run, or where the file is not written in lines.
pub fn of_run(workspace: &Workspace, document: &Document, finding: &Diagnostic) -> Option<NewScenario> {
    let trace = finding.trace.as_ref()?;
    let arena = Arena::default();
    let machine = lower(document.compilation.checked.as_ref()?, &arena).ok()?;
    let text = scenario::of_trace(&machine, &finding.message, trace)?;
    let project = Project::of(workspace, document)?;
    let Some(file) = project.scenarios.first() else {
        let stem = document.path.file_stem()?.to_str()?;
        let location =
            Location { path: document.path.with_file_name(format!("{stem}{SCENARIOS}")), span: Span::at(0) };
        return Some(NewScenario { edit: FileEdit { location, text, in_text: false }, is_new_file: true });
    };
    let (at, indentation) = end_of_list(file)?;
    let item = text.strip_prefix("scenarios:\n")?.trim_end();
    let lines = item.lines().map(|it| format!("\n{indentation}{}", it.strip_prefix("  ").unwrap_or(it)));
    let location = Location { path: file.path.clone(), span: Span::at(at) };
    let text = format!("\n{}", lines.collect::<String>());
    Some(NewScenario { edit: FileEdit { location, text, in_text: false }, is_new_file: false })
}

/// The end of the last scenario, and what stands before the dashes of the list, which is the last thing in its file.
fn end_of_list(file: &Document) -> Option<(u32, String)> {
    let NodeKind::Mapping(entries) = &file.tree()?.kind else { return None };
    let (key, list) = entries.last()?;
    let NodeKind::Sequence(items) = &list.kind else { return None };
    let text = file.text();
    let first = items.first().filter(|_| key.text() == Some("scenarios"))?.span.start as usize;
    let line = &text[text[..first].rfind('\n').map_or(0, |it| it + 1)..first];
    let indentation = line.trim_end().strip_suffix('-')?;
    indentation.trim().is_empty().then(|| (text.trim_end().len() as u32, indentation.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Language;
    use crate::names::edited;
    use orange_analysis::lint;
    use orange_codegen::{Source, compile};

    const FLOW: &str = "\
name: flow
states:
  pending: {}
  left: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: left, by: human}
  - {from: pending, to: done, by: human}
";

    /// A scenario of every finding with a run goes into a file that the workflow then has, and passes.
    #[track_caller]
    fn check(scenarios: Option<&str>) -> usize {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("flow.yml");
        let beside = scratch.path().join("flow.test.yml");
        if let Some(text) = scenarios {
            std::fs::write(&beside, text).unwrap();
        }
        let mut workspace = Workspace::default();
        workspace.open(path.clone(), 1, Language::Workflow, FLOW.to_owned());
        let document = workspace.document(&path).unwrap();
        let findings = lint(&Source::new("flow.yml", FLOW)).diagnostics;
        let mut count = 0;
        for finding in &findings {
            let Some(new) = of_run(&workspace, document, finding) else { continue };
            assert_eq!(new.edit.location.path, beside);
            assert_eq!(new.is_new_file, scenarios.is_none());
            let text = edited(scenarios.unwrap_or_default(), &beside, &[new.edit]);
            let (read, found) = scenario::read(&Source::new("flow.test.yml", text.as_str()));
            assert!(found.is_empty(), "{found:?}\n{text}");
            let compilation = compile(&Source::new("flow.yml", FLOW));
            let arena = Arena::default();
            let machine = lower(compilation.checked.as_ref().unwrap(), &arena).unwrap();
            for it in read.unwrap().all {
                assert!(scenario::run(&machine, &it).failed.is_empty(), "{text}");
            }
            count += 1;
        }
        count
    }

    #[test]
    fn a_run_becomes_a_scenario_that_passes() {
        assert!(check(None) > 0);
        let one = "scenarios:\n    - name: other\n      steps:\n        - {request: done}\n";
        assert!(check(Some(one)) > 0);
        assert_eq!(check(Some("scenarios: [{name: other, steps: [{request: done}]}]\n")), 0);
    }
}
