//! Compiling in memory: for a binary that follows workflows beside those it was built with.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use orange_core::{Compiled, Workflow};

use crate::lower::{Arena, PlanArena, lower, lower_plan};
use crate::plain::Renderer;
use crate::{Checked, Diagnostic, Level, PromptFiles, Source, compile};

/// The definitions that were compiled, by their hash: each takes memory once, however often its file is read again.
static KNOWN: Mutex<BTreeMap<String, Compiled<'static>>> = Mutex::new(BTreeMap::new());

/// The machine or the plan of a workflow's text, for as long as the process lives; `path` says where the text stands, where the
/// files of its prompts are, and which language it is in. It goes through the same stages as what is compiled in, and passes the same
/// checks.
///
/// # Errors
/// All that is wrong with it, each with its place and what to write instead.
pub fn workflow(path: &str, text: &str) -> Result<Compiled<'static>, String> {
    let source = Source::new(path, text).with_files(PromptFiles::beside(Path::new(path)));
    let compilation = compile(&source);
    let Some(checked) = compilation.checked else { return Err(rendered(&source, &compilation.diagnostics)) };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.get(checked.hash()) {
        return Ok(*compiled);
    }
    let checked: &'static Checked = Box::leak(Box::new(checked));
    let workflow = leaked(checked).map_err(|errors| rendered(&source, &errors))?;
    let files = checked.prompt_files().into_iter().map(|(name, text)| (name, &*text.leak()));
    let compiled = Compiled { workflow, files: files.collect::<Vec<_>>().leak() };
    known.insert(checked.hash().to_owned(), compiled);
    Ok(compiled)
}

fn leaked(checked: &'static Checked) -> Result<Workflow<'static>, Vec<Diagnostic>> {
    let plans: &'static PlanArena<'static> = Box::leak(Box::default());
    if let Some(plan) = lower_plan(checked, plans) {
        return Ok(Workflow::Plan(Box::leak(Box::new(plan))));
    }
    let arena: &'static Arena<'static> = Box::leak(Box::default());
    Ok(Workflow::Machine(Box::leak(Box::new(lower(checked, arena)?))))
}

fn rendered(source: &Source, found: &[Diagnostic]) -> String {
    let renderer = Renderer::new(source);
    let errors = found.iter().filter(|it| it.level == Level::Error);
    errors.map(|error| renderer.render(error)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "name: flow\nversion: 1\nstates:\n  a: {terminal: false}\n  b: {terminal: true}\n\
                        transitions:\n  - {from: a, to: b}\n";

    fn machine(path: &str, text: &str) -> Result<&'static orange_core::Machine<'static>, String> {
        workflow(path, text).map(|it| match it.workflow {
            Workflow::Machine(machine) => machine,
            Workflow::Plan(plan) => panic!("{plan:?}"),
        })
    }

    #[test]
    fn a_step_workflow_becomes_a_plan_with_the_prompts_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.toml");
        let text = "[workflow]\nname = 'two'\n[[steps]]\nid = 'a'\nprompt_file = 'a.md'\n";
        let compiled = || match workflow(&path.display().to_string(), text).map(|it| it.workflow) {
            Ok(Workflow::Plan(plan)) => plan,
            other => panic!("{other:?}"),
        };
        std::fs::write(folder.path().join("a.md"), "do it").unwrap();
        let first = compiled();
        assert_eq!((first.name, first.steps.len()), ("two", 1));
        assert!(std::ptr::eq(first, compiled()));
        std::fs::write(folder.path().join("a.md"), "do it well").unwrap();
        assert_ne!(compiled().source_hash, first.source_hash);
        std::fs::remove_file(folder.path().join("a.md")).unwrap();
        let errors = workflow(&path.display().to_string(), text).unwrap_err();
        assert!(errors.contains("error[B18 missing-prompt-file]"), "{errors}");
    }

    #[test]
    fn a_text_becomes_the_machine_that_a_build_would_have() {
        let machine = machine("flow.yml", FLOW).unwrap();
        assert_eq!((machine.name, machine.states.len(), machine.transitions.len()), ("flow", 2, 1));
        assert_eq!(machine.source_hash, crate::hash::source(FLOW));
    }

    #[test]
    fn every_error_has_its_place() {
        let errors =
            machine("/x/flow.yml", &FLOW.replace("to: b", "to: bb, hooks: [{action: fly}]")).unwrap_err();
        assert!(errors.contains("/x/flow.yml:7:") && errors.contains("error[A01 unknown-to]"), "{errors}");
        assert!(errors.contains("`fly`") && errors.contains("= help: "), "{errors}");
    }

    #[test]
    fn warnings_stop_nothing() {
        assert!(machine("elsewhere.yml", FLOW).is_ok());
    }
}
