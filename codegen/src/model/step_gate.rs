//! `gates` of a step: programs and files that are checked before the report of its agent counts.

use std::path::{Component, Path};

use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::keys::{FILE_GATE, PROGRAM_GATE};
use super::step_number::number;
use super::step_program::{self, ProgramArgument};
use super::step_scope::StepScope;
use super::{Step, StepPiece};
use crate::catalogue::{B41, S04, S09};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::limits::{MAX_GATES, exceeded};
use crate::syntax::{Node, NodeKind};

/// A gate of a step.
#[derive(Clone, Debug)]
pub enum StepGate {
    /// A program that must end with status 0.
    Program {
        /// The program and its arguments; at least one.
        run: Vec<ProgramArgument>,
        /// The seconds that it may take.
        timeout: Option<u32>,
    },
    /// A file that must be there.
    File {
        /// Its path in the worktree.
        file: Spanned<String>,
        /// Text that it must contain.
        contains: Option<String>,
    },
}

impl StepGate {
    /// The program that it runs, and its arguments; none of a file.
    pub fn run(&self) -> &[ProgramArgument] {
        match self {
            StepGate::Program { run, .. } => run,
            StepGate::File { .. } => &[],
        }
    }
}

impl Step {
    /// Its texts with placeholders, in pieces: the prompt, and the arguments of its program and its gates.
    pub fn texts(&self) -> impl Iterator<Item = &[StepPiece]> {
        let of_gates = self.gates.iter().flat_map(StepGate::run);
        let arguments = self.run.iter().chain(of_gates).map(|it| it.pieces.as_slice());
        std::iter::once(self.prompt.pieces.as_slice()).chain(arguments)
    }
}

/// The gates of a step; none where it has no agent.
pub(super) fn gates(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
) -> Vec<StepGate> {
    let Some(field) = fields.get("gates").filter(|_| fields.get("run").is_none()) else {
        return Vec::new();
    };
    let items = decoder.list(&field);
    if items.is_empty() && matches!(field.value.kind, NodeKind::Sequence(_)) {
        let message = format!("the step `{}` has no gate here", shortened(&step.value));
        let found = Diagnostic::new(&S04, field.value.span, message);
        decoder.report(found.help("write `{ run = [\"…\"] }` or `{ file = \"…\" }`, or delete `gates`"));
    }
    if items.len() > MAX_GATES {
        decoder.report(exceeded("gates", MAX_GATES, field.key));
    }
    items.iter().take(MAX_GATES).filter_map(|item| gate(decoder, scope, &field.item(item), step)).collect()
}

fn gate(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    item: &Field<'_>,
    step: &Spanned<String>,
) -> Option<StepGate> {
    if has_key(item.value, "run") {
        let fields = decoder.object(item.value, &PROGRAM_GATE)?;
        let run = fields.get("run").map(|it| step_program::argv(decoder, scope, &it, "the gate"))?;
        let timeout =
            fields.get("timeout").and_then(|it| number(decoder, &it, 1..=u32::MAX)).map(|it| it.value);
        return (!run.is_empty()).then_some(StepGate::Program { run, timeout });
    }
    if !has_key(item.value, "file") && matches!(item.value.kind, NodeKind::Mapping(_)) {
        let message =
            format!("this gate of the step `{}` has neither a program nor a file", shortened(&step.value));
        let found = Diagnostic::new(&S09, item.value.span, message);
        decoder.report(found.help("write `{ run = [\"…\"] }` or `{ file = \"…\" }`"));
        return None;
    }
    let fields = decoder.object(item.value, &FILE_GATE)?;
    let file = fields.get("file").and_then(|it| decoder.string(&it))?;
    let contains = fields.get("contains").and_then(|it| decoder.string(&it));
    if let Some(text) = contains.as_ref().filter(|it| it.value.is_empty()) {
        let message = "every file contains the empty text".to_owned();
        decoder.report(Diagnostic::new(&S04, text.span, message).help("delete `contains`, or write a text"));
    }
    check_path(decoder, &file.value, file.span);
    Some(StepGate::File { file, contains: contains.map(|it| it.value) })
}

/// Reports a path that leads out of the worktree.
fn check_path(decoder: &mut Decoder<'_>, path: &str, span: Span) {
    let is_inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    let is_folder = path.is_empty() || path.ends_with('/') || path.ends_with("/.") || path == ".";
    if is_folder {
        let message = format!("`{}` names no file", shortened(path));
        decoder.report(Diagnostic::new(&S04, span, message).help("write the path of a file in the worktree"));
    } else if !Path::new(path).components().all(is_inside) {
        let message = format!("`{}` leads out of the worktree", shortened(path));
        let found = Diagnostic::new(&B41, span, message);
        decoder.report(found.help("name a file below the top folder of the repository, without `..`"));
    }
}

fn has_key(node: &Node, name: &str) -> bool {
    node.value_of(name).is_some()
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(step: &str, expect: &[&str]) {
        let text = format!("[workflow]\nname = \"flow\"\n[[steps]]\nid = \"fix\"\n{step}\n");
        let compilation = compile(&Source::new("flow.toml", text.clone()));
        let found = compilation.diagnostics.iter();
        let found: Vec<String> =
            found.map(|it| format!("{} {}", it.code(), &text[it.span.range()])).collect();
        assert_eq!(found, expect, "{step}");
    }

    #[track_caller]
    fn check_gate(gate: &str, expect: &[&str]) {
        check(&format!("prompt = \"Fix it.\"\ngates = [{gate}]"), expect);
    }

    #[test]
    fn a_gate_is_a_program_or_a_file() {
        check_gate(r#"{ run = ["make", "{{branch}}"], timeout = 60 }, { file = "NOTES.md" }"#, &[]);
        check_gate(r###"{ file = "a/b.md", contains = "## Cause" }"###, &[]);
        check_gate("{ timeout = 3 }", &["S09 { timeout = 3 }"]);
        check_gate(r#"{ run = ["make"], file = "a" }"#, &["S02 file"]);
        check_gate(r#"{ run = ["make"], timeout = 0 }"#, &["S04 0"]);
        check_gate("{ run = [] }", &["S09 []"]);
        check_gate(r#"{ file = "a", contains = "" }"#, &[r#"S04 """#]);
        check_gate("", &["S04 []"]);
        check_gate("3", &["S04 3"]);
    }

    #[test]
    fn a_gate_reads_no_file_outside() {
        for file in ["../a", "/etc/passwd", "a/../../b"] {
            check_gate(&format!("{{ file = \"{file}\" }}"), &[&format!("B41 \"{file}\"")]);
        }
        for file in ["", ".", "a/"] {
            check_gate(&format!("{{ file = \"{file}\" }}"), &[&format!("S04 \"{file}\"")]);
        }
        check_gate(r#"{ file = "./a..b/c" }"#, &[]);
    }

    #[test]
    fn a_value_is_no_part_of_a_script_of_a_gate() {
        check_gate(r#"{ run = ["sh", "-c", "echo {{branch}}"] }"#, &[r#"B40 "echo {{branch}}""#]);
    }

    #[test]
    fn a_program_has_no_gates() {
        check("run = [\"make\"]\ngates = [{ file = \"a\" }]", &["S04 gates"]);
    }
}
