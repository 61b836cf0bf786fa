//! Step workflows: the schema of their files.

use super::Step;
use super::Steps;
use super::decoder::{Decoder, Field, Fields};
use super::gate::flag;
use super::header;
use super::keys::{STEP, STEP_HEADER, STEP_WORKFLOW};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::Node;
use crate::syntax::limits::{MAX_PROMPTS, exceeded};

/// A step workflow.
pub(super) fn steps(decoder: &mut Decoder<'_>, tree: &Node) -> Option<Steps> {
    let fields = decoder.object(tree, &STEP_WORKFLOW)?;
    let header = fields.get("workflow").and_then(|it| decoder.object(it.value, &STEP_HEADER));
    let steps = fields.get("steps").map(|it| list(decoder, &it)).unwrap_or_default();
    let header = header?;
    Some(Steps {
        name: header::name(decoder, &header)?,
        version: header.get("version").and_then(|it| decoder.scalar(&it)).map(|it| it.value),
        description: header.get("description").and_then(|it| decoder.string(&it)).map(|it| it.value),
        steps,
    })
}

fn list(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<Step> {
    let mut items = decoder.list(field);
    if items.is_empty() {
        let found = Diagnostic::new(&S04, field.key, "a step workflow has at least one step");
        decoder.report(found.help("add `[[steps]]` with an `id` and a `prompt_file`"));
    }
    if items.len() > MAX_PROMPTS {
        decoder.report(exceeded("steps", MAX_PROMPTS, field.key));
        items = &items[..MAX_PROMPTS];
    }
    items.iter().filter_map(|item| step(decoder, item)).collect()
}

fn step(decoder: &mut Decoder<'_>, node: &Node) -> Option<Step> {
    let fields = decoder.object(node, &STEP)?;
    let id = fields.get("id").and_then(|it| decoder.string(&it));
    let step = Step {
        span: node.span,
        id: id.clone().unwrap_or(Spanned::new(String::new(), node.span)),
        role: string(decoder, &fields, "role"),
        prompt_file: string(decoder, &fields, "prompt_file"),
        depends_on: strings(decoder, &fields, "depends_on").unwrap_or_default(),
        condition: fields.get("condition").and_then(|it| decoder.text(&it)).cloned(),
        max_retries: fields
            .get("max_retries")
            .and_then(|it| Some(Spanned::new(decoder.integer(&it)?, it.value.span))),
        requeue: strings(decoder, &fields, "requeue"),
        results: strings(decoder, &fields, "results"),
        on_fail: string(decoder, &fields, "on_fail"),
        independent: flag(decoder, &fields, "independent"),
    };
    id.map(|_| step)
}

fn string(decoder: &mut Decoder<'_>, fields: &Fields<'_>, key: &str) -> Option<Spanned<String>> {
    fields.get(key).and_then(|it| decoder.string(&it))
}

fn strings(decoder: &mut Decoder<'_>, fields: &Fields<'_>, key: &str) -> Option<Vec<Spanned<String>>> {
    let field = fields.get(key)?;
    Some(decoder.list(&field).iter().filter_map(|item| decoder.string(&field.item(item))).collect())
}
