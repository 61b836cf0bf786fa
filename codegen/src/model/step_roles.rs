//! `roles` of a step workflow: what the steps of a role have unless they say otherwise.

use super::decoder::{Decoder, Field, ObjectFields};
use super::hooks::PERMISSIONS;
use super::keys::ROLE;
use super::step_prompt::{self, PromptParts};
use super::step_scope::StepScope;
use super::{Effort, Permissions, WrittenSandbox, sandbox};
use crate::catalogue::B16;
use crate::span::Spanned;

/// Defaults of the steps of one role.
#[derive(Debug)]
pub(super) struct RoleDefaults {
    /// Name of the role.
    pub(super) name: Spanned<String>,
    pub(super) agent: AgentKeys,
    /// Beginning of their prompts.
    pub(super) parts: PromptParts,
}

/// The keys about the agent that a role and a step share.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentKeys {
    pub(super) harness: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) effort: Option<Spanned<Effort>>,
    pub(super) permissions: Option<Permissions>,
    pub(super) sandbox: Option<WrittenSandbox>,
}

impl AgentKeys {
    /// The keys as they stand in a table.
    pub(super) fn of(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Self {
        let permissions = fields.get("permissions").and_then(|it| decoder.word(&it, &PERMISSIONS));
        Self {
            harness: fields.get("harness").and_then(|it| decoder.string(&it)),
            model: fields.get("model").and_then(|it| decoder.scalar(&it)),
            effort: fields
                .get("effort")
                .and_then(|it| decoder.word(&it, &Effort::ALL.map(|it| (it.as_str(), it)))),
            permissions: permissions.map(|it| it.value),
            sandbox: fields.get("sandbox").and_then(|it| sandbox::sandbox(decoder, &it)),
        }
    }

    /// The keys of a step, which has the others from its role. A model belongs to a harness: a step that names another harness has no model
    /// and no effort of its role.
    pub(super) fn with_those_of(self, role: &AgentKeys) -> Self {
        let is_other = self
            .harness
            .as_ref()
            .is_some_and(|own| role.harness.as_ref().is_none_or(|of_role| own.value != of_role.value));
        let (model, effort) = if is_other { (None, None) } else { (role.model.clone(), role.effort) };
        Self {
            harness: self.harness.or_else(|| role.harness.clone()),
            model: self.model.or(model),
            effort: self.effort.or(effort),
            permissions: self.permissions.or(role.permissions),
            sandbox: self.sandbox,
        }
    }
}

/// Every role that has a table.
pub(super) fn roles(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &Field<'_>,
) -> Vec<RoleDefaults> {
    let entries = decoder.names(field);
    let mut roles = Vec::new();
    for entry in entries {
        let Some(fields) = decoder.object(entry.value, &ROLE) else { continue };
        let parts = fields.get("prompt_file").map(|it| step_prompt::parts(decoder, scope, &it));
        roles.push(RoleDefaults {
            name: Spanned::new(entry.name.value.to_owned(), entry.name.span),
            agent: AgentKeys::of(decoder, &fields),
            parts: parts.unwrap_or_default(),
        });
    }
    roles
}

/// Reports the roles that no step has and that the workflow does not declare.
pub(super) fn check(decoder: &mut Decoder<'_>, defaults: &[RoleDefaults], known: &[Spanned<String>]) {
    for role in defaults {
        if !known.iter().any(|it| it.value == role.name.value) {
            let names = known.iter().map(|it| it.value.as_str());
            decoder.unknown(&B16, ("role", "roles"), &role.name.as_str(), names);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::model::{Definition, StepPiece, StepValue, Steps};
    use crate::{Checked, Compilation, PromptFiles, Source, compile};

    const FLOW: &str = r#"
[workflow]
name = "flow"

[roles.worker]
harness = "codex"
model = "gpt-5.5"
effort = "high"
permissions = "reduced"
prompt_file = ["house.md", "worker.md"]

[[steps]]
id = "one"
role = "worker"
prompt_file = ["part.md", "one.md"]

[[steps]]
id = "two"
role = "worker"
depends_on = ["one"]
prompt = "Two."
effort = "max"
permissions = "full"

[[steps]]
id = "three"
role = "worker"
depends_on = ["two"]
prompt_file = "one.md"
harness = "claude"

[[steps]]
id = "four"
depends_on = ["three"]
prompt = "Four."
"#;

    fn compiled(text: &str) -> Compilation {
        let files = [
            ("house.md", "House.\n"),
            ("worker.md", "You are {{step}}"),
            ("part.md", "{{branch}}"),
            ("one.md", "One.\n\n"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        compile(&Source::new("flow.toml", text).with_files(PromptFiles::Given(BTreeMap::from(files))))
    }

    fn checked(text: &str) -> Checked {
        let compilation = compiled(text);
        compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    fn steps(checked: &Checked) -> &Steps {
        match checked.definition() {
            Definition::Steps(steps) => steps,
            Definition::Machine(_) => panic!("it is a step workflow"),
        }
    }

    #[test]
    fn a_step_has_the_keys_of_its_role_unless_it_names_others() {
        let checked = checked(FLOW);
        let keys = |at: usize| {
            let step = &steps(&checked).steps[at];
            let [harness, model] =
                [&step.harness, &step.model].map(|it| it.as_ref().map_or("-", |it| &it.value));
            let effort = step.effort.map_or("-", |it| it.value.as_str());
            format!("{harness} {model} {effort} {:?}", step.permissions)
        };
        assert_eq!(keys(0), "codex gpt-5.5 high Reduced");
        assert_eq!(keys(1), "codex gpt-5.5 max Full");
        assert_eq!(keys(2), "claude - - Reduced", "a model is a word of one harness");
        assert_eq!(keys(3), "- - - Full");
    }

    #[test]
    fn parts_are_joined_with_a_blank_line_the_role_first() {
        let checked = checked(FLOW);
        let text = |at: usize| crate::hash::written(&steps(&checked).steps[at].prompt);
        assert_eq!(text(0), "House.\n\nYou are {{step}}\n\n{{branch}}\n\nOne.\n\n");
        assert_eq!(text(1), "House.\n\nYou are {{step}}\n\nTwo.");
        assert_eq!(text(3), "Four.");
        assert!(steps(&checked).steps[0].prompt.pieces.contains(&StepPiece::Value(StepValue::Branch)));
        let names: Vec<&str> = checked.prompt_files().into_keys().collect();
        assert_eq!(names, ["house.md", "one.md", "part.md", "worker.md"]);
    }

    #[test]
    fn another_part_is_another_plan() {
        let hash = |house: &str| {
            let files = [("house.md", house), ("one.md", "One."), ("part.md", "P"), ("worker.md", "W")];
            let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
            let source = Source::new("flow.toml", FLOW).with_files(PromptFiles::Given(BTreeMap::from(files)));
            compile(&source).checked.map(|it| it.hash().to_owned())
        };
        assert!(hash("a").is_some());
        assert_ne!(hash("a"), hash("b"));
    }

    #[test]
    fn what_a_role_cannot_mean_is_reported() {
        let found = |from: &str, to: &str| -> Vec<String> {
            let text = FLOW.replace(from, to);
            let found = compiled(&text).diagnostics;
            found.iter().map(|it| format!("{} {}", it.code(), &text[it.span.range()])).collect()
        };
        assert_eq!(found("[roles.worker]", "[roles.wroker]"), ["B16 wroker"]);
        assert_eq!(found("\"part.md\", ", "\"../part.md\", "), ["B41 \"../part.md\""]);
        assert_eq!(found("effort = \"high\"", "effort = \"huge\""), ["S04 \"huge\""]);
        assert_eq!(found("[\"part.md\", \"one.md\"]", "[]"), ["S09 []"]);
        assert!(found("", "").is_empty());
    }
}
