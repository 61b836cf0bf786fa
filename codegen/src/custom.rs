//! Compiling in memory: for a binary that follows workflows beside those it was built with.

use std::path::Path;

use orange_core::Machine;

use crate::lower::{Arena, lower};
use crate::plain::Renderer;
use crate::{Diagnostic, Level, PromptFiles, Source, compile};

/// The machine of a workflow's text, for as long as the process lives; `path` says where the text stands and which
/// language it is in. It goes through the same stages as what is compiled in, and passes the same checks.
///
/// Its memory is never given back, so a caller keeps what it got for a text.
///
/// # Errors
/// All that is wrong with it, each with its place and what to write instead.
pub fn machine(path: &str, text: &str) -> Result<&'static Machine<'static>, String> {
    let source = Source::new(path, text).with_files(PromptFiles::beside(Path::new(path)));
    let compilation = compile(&source);
    let Some(checked) = compilation.checked else { return Err(rendered(&source, &compilation.diagnostics)) };
    let arena: &'static Arena<'static> = Box::leak(Box::default());
    let machine = lower(Box::leak(Box::new(checked)), arena).map_err(|errors| rendered(&source, &errors))?;
    Ok(Box::leak(Box::new(machine)))
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
