//! `run` of a step: the program that does its work, and its arguments.

use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::step_scope::StepScope;
use super::{Step, StepPiece, step_prompt};
use crate::catalogue::{B40, S04, S09};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::NodeKind;

/// Programs whose argument after `-c` is a script.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// The keys that say something of an agent.
const OF_AGENTS: [&str; 8] =
    ["prompt", "prompt_file", "harness", "model", "effort", "permissions", "sandbox", "gates"];

/// A program of a step, or one of its arguments.
#[derive(Clone, Debug)]
pub struct ProgramArgument {
    /// Place of the argument in the file.
    pub span: Span,
    /// The text in pieces. A value stays within its argument.
    pub pieces: Vec<StepPiece>,
}

impl Step {
    /// True if a program does its work, and no agent.
    pub fn is_program(&self) -> bool {
        !self.run.is_empty()
    }
}

/// The program of a step; empty where it has none.
pub(super) fn program(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
) -> Vec<ProgramArgument> {
    let Some(field) = fields.get("run") else { return Vec::new() };
    if fields.get("ask").is_some() {
        // The ask reports it.
        return Vec::new();
    }
    for key in OF_AGENTS {
        if let Some(other) = fields.get(key) {
            let message =
                format!("the step `{}` runs a program, which has no `{key}`", shortened(&step.value));
            decoder.report(Diagnostic::new(&S04, other.key, message).help("delete this key, or `run`"));
        }
    }
    argv(decoder, scope, &field, &format!("the step `{}`", shortened(&step.value)))
}

/// A program and its arguments; `of` says whose, in messages.
pub(super) fn argv(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &Field<'_>,
    of: &str,
) -> Vec<ProgramArgument> {
    let mut argv = Vec::new();
    for item in decoder.list(field) {
        if decoder.scalar(&field.item(item)).is_none() {
            continue;
        }
        if let NodeKind::Scalar(scalar) = &item.kind {
            let pieces = step_prompt::pieces(decoder, scope, &scalar.text);
            argv.push(ProgramArgument { span: item.span, pieces });
        }
    }
    let is_named =
        argv.first().is_some_and(|it| it.pieces.iter().any(|piece| *piece != StepPiece::Text(String::new())));
    if !is_named {
        let message = format!("the program of {of} has no name");
        let help = "write the program and its arguments, such as `[\"cargo\", \"test\"]`";
        decoder.report(Diagnostic::new(&S09, field.value.span, message).help(help));
    }
    check_values(decoder, &argv);
    argv
}

/// Reports values that would be read as a program, or as a part of a shell's script.
fn check_values(decoder: &mut Decoder<'_>, argv: &[ProgramArgument]) {
    let Some(program) = argv.first() else { return };
    if has_value(program) {
        let message = "a placeholder stands in the name of a program";
        let help = "name the program here, and give it the value as an argument";
        decoder.report(Diagnostic::new(&B40, program.span, message).help(help));
        return;
    }
    let name = text(program);
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_script = |it: &ProgramArgument| {
        let text = text(it);
        text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
    };
    let script = argv.iter().skip(1).position(is_script).and_then(|it| argv.get(it + 2));
    let Some(script) = script.filter(|it| SHELLS.contains(&name) && has_value(it)) else { return };
    let message = format!("`{name}` would read the value of a placeholder as a part of its script");
    let help = "pass it as an argument after the script, which has it as `\"$1\"`: [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{{context}}\"]";
    decoder.report(Diagnostic::new(&B40, script.span, message).help(help));
}

fn has_value(argument: &ProgramArgument) -> bool {
    argument.pieces.iter().any(|it| !matches!(it, StepPiece::Text(_)))
}

fn text(argument: &ProgramArgument) -> String {
    argument.pieces.iter().map(|it| if let StepPiece::Text(text) = it { text.as_str() } else { "" }).collect()
}

#[cfg(test)]
mod tests {
    use crate::model::Definition;
    use crate::{Compilation, Source, compile};

    fn compiled(step: &str) -> (String, Compilation) {
        let text = format!("[workflow]\nname = \"flow\"\n[[steps]]\nid = \"test\"\n{step}\n");
        let compilation = compile(&Source::new("flow.toml", text.clone()));
        (text, compilation)
    }

    #[track_caller]
    fn check(step: &str, expect: &[&str]) {
        let (text, compilation) = compiled(step);
        let found = compilation.diagnostics.iter();
        let found: Vec<String> =
            found.map(|it| format!("{} {}", it.code(), &text[it.span.range()])).collect();
        assert_eq!(found, expect, "{step}");
    }

    #[test]
    fn a_step_has_a_prompt_or_a_program() {
        check(r#"run = ["cargo", "test", 3]"#, &[]);
        check("", &["S09 \"test\""]);
        check("run = [\"make\"]\nprompt = \"Make.\"", &["S04 prompt"]);
        check("run = [\"make\"]\nharness = \"codex\"\neffort = \"low\"", &["S04 harness", "S04 effort"]);
        check("run = []", &["S09 []"]);
        check("run = [\"\"]", &["S09 [\"\"]"]);
    }

    #[test]
    fn a_value_is_no_part_of_a_script() {
        check(r#"run = ["sh", "-c", "echo {{context}}"]"#, &[r#"B40 "echo {{context}}""#]);
        check(r#"run = ["/bin/bash", "-ec", "echo {{branch}}"]"#, &[r#"B40 "echo {{branch}}""#]);
        check(r#"run = ["{{branch}}"]"#, &[r#"B40 "{{branch}}""#]);
        check(r#"run = ["sh", "-c", "echo \"$1\"", "sh", "{{context}}"]"#, &[]);
        check(r#"run = ["git", "-c", "user.name={{step}}", "log"]"#, &[]);
        check(r#"run = ["make", "BRANCH={{branch}}"]"#, &[]);
        check(r#"run = ["make", "{{brunch}}"]"#, &["B19 {{brunch}}"]);
    }

    #[test]
    fn a_program_has_ten_minutes_and_full_permissions() {
        let (_, compilation) = compiled(r#"run = ["make"]"#);
        let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
        assert!(matches!(checked.definition(), Definition::Steps(it) if it.steps[0].is_program()));
        let arena = crate::lower::PlanArena::default();
        let plan = crate::lower::lower_plan(&checked, &arena).unwrap();
        assert_eq!(plan.steps[0].timeout, Some(600));
        assert!(plan.steps[0].is_program() && plan.steps[0].prompt.pieces.is_empty());
    }
}
