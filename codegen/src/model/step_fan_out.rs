//! `for_each` of a step, and its use of the worktree: one item for each element of a list, readers, and worktrees of their own.

use orange_core::plan::{MOST_ITEMS, MOST_PARALLEL};

use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::different::different;
use super::step_number::number;
use super::step_scope::StepScope;
use super::step_values::ValueKind;
use super::{InputId, Operand, OutputId, Step, StepId, WorktreeUse, step_condition};
use crate::catalogue::{B32, B33, S04};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::NodeKind;
use crate::syntax::limits::exceeded;

/// Help for a value of `for_each` that is not a list.
const FORM: &str =
    "write a list output, `\"plan.parts\"`, a list input, `\"inputs.names\"`, or a list, `[\"a\", \"b\"]`";

/// One item of a step for each element of a list.
#[derive(Clone, Debug)]
pub struct StepFanOut {
    /// Place of the list.
    pub span: Span,
    /// The list.
    pub list: StepItemList,
    /// Number of items that must complete; all of them where it is absent.
    pub enough: Option<Spanned<u16>>,
}

/// List of a fan-out.
#[derive(Clone, Debug)]
pub enum StepItemList {
    /// A list that a step reports.
    Output(Spanned<StepId>, OutputId),
    /// A list that the mission is started with.
    Input(InputId),
    /// These texts.
    Fixed(Vec<Spanned<String>>),
}

impl Step {
    /// True if it has one item for each element of a list.
    pub fn is_fan_out(&self) -> bool {
        self.fan_out.is_some()
    }
}

/// `parallel` of a workflow.
pub(super) fn parallel(decoder: &mut Decoder<'_>, header: &ObjectFields<'_>) -> Option<Spanned<u8>> {
    header.get("parallel").and_then(|it| number(decoder, &it, 1..=MOST_PARALLEL))
}

/// Use of the mission's worktree; a step that says nothing writes.
pub(super) fn worktree(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
) -> Spanned<WorktreeUse> {
    let only_reads = fields.get("read_only").filter(|it| decoder.boolean(it) == Some(true));
    let own = fields.get("worktree").filter(|it| decoder.word(it, &[("own", ())]).is_some());
    match (only_reads, own) {
        (Some(_), Some(own)) => {
            let message =
                format!("the step `{}` only reads, and has a worktree of its own", shortened(&step.value));
            let found = Diagnostic::new(&S04, own.key, message);
            decoder.report(found.help("delete `worktree`, or `read_only` if it writes"));
            Spanned::new(WorktreeUse::Read, own.key)
        }
        (Some(field), None) => Spanned::new(WorktreeUse::Read, field.key),
        (None, Some(field)) => Spanned::new(WorktreeUse::Own, field.key),
        (None, None) => Spanned::new(WorktreeUse::Write, step.span),
    }
}

/// The fan-out of a step; `None` of a plain step, and of one whose list is reported.
pub(super) fn fan_out(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    fields: &ObjectFields<'_>,
    (id, step): (StepId, &Spanned<String>),
) -> Option<StepFanOut> {
    let enough = fields.get("enough");
    let Some(field) = fields.get("for_each") else {
        if let Some(enough) = enough {
            let message = format!("the step `{}` has `enough`, and no items", shortened(&step.value));
            decoder.report(
                Diagnostic::new(&B33, enough.key, message).help("delete this key, or add `for_each`"),
            );
        }
        return None;
    };
    check_step(decoder, scope, fields, (id, step));
    let list = match field.value.kind {
        NodeKind::Sequence(_) => fixed(decoder, &field)?,
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => named(decoder, scope, &field)?,
    };
    let enough = enough.and_then(|it| number(decoder, &it, 1..=MOST_ITEMS));
    if let Some(enough) = &enough {
        let most = most_items(scope, &list);
        if enough.value > most {
            let message = format!("{} items must complete, and the list has at most {most}", enough.value);
            let found = Diagnostic::new(&B33, enough.span, message).label(field.value.span, "the list");
            let found = found.label(enough.span, "more than it has");
            decoder.report(found.help("write a smaller number; without `enough`, all items must complete"));
        }
    }
    Some(StepFanOut { span: field.value.span, list, enough })
}

/// Reports a step that cannot be a fan-out: the answer of a person, the end of a loop and of a handler are one each.
fn check_step(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    fields: &ObjectFields<'_>,
    (id, step): (StepId, &Spanned<String>),
) {
    let (ask, is_handler) = (fields.get("ask"), scope.handles.get(id.index()).copied().flatten().is_some());
    let is_loop = fields.get("requeue").or(fields.get("max_retries")).is_some();
    let Some(field) = fields.get("for_each") else { return };
    let (what, help) = match (ask, is_handler, is_loop) {
        (Some(_), ..) => ("asks a person", "ask once, about all of them"),
        (None, true, _) => ("handles a failure", "let it look at all items: its context has each of them"),
        (None, false, true) => ("sends steps back", "let a step that depends on this one send steps back"),
        (None, false, false) => return,
    };
    let message = format!("the step `{}` {what}, and has `for_each`", shortened(&step.value));
    decoder.report(Diagnostic::new(&B33, field.key, message).help(help));
}

/// A list that the workflow has itself.
fn fixed(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<StepItemList> {
    let nodes = decoder.list(field);
    if nodes.is_empty() {
        let found = Diagnostic::new(&B33, field.value.span, "the list of a fan-out has no item");
        decoder.report(found.help(FORM));
        return None;
    }
    if nodes.len() > usize::from(MOST_ITEMS) {
        decoder.report(exceeded("items", usize::from(MOST_ITEMS), field.key));
        return None;
    }
    let items: Vec<_> = nodes.iter().filter_map(|it| decoder.scalar(&field.item(it))).collect();
    for item in items.iter().filter(|it| it.value.trim().is_empty()) {
        let found = Diagnostic::new(&B33, item.span, "an item of the list is empty");
        decoder.report(found.help("write what `{{item}}` is to say, or delete it"));
    }
    Some(StepItemList::Fixed(different(decoder, items, |it| shortened(it))))
}

/// A list that a step reports or the mission is started with.
fn named(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, field: &Field<'_>) -> Option<StepItemList> {
    let text = decoder.text(field)?;
    let whole = text.locate(0, text.value.len());
    let Some((of, name)) = text.value.split_once('.').filter(|(of, name)| !of.is_empty() && !name.is_empty())
    else {
        let message = format!("`{}` is not a list", shortened(&text.value));
        decoder.report(Diagnostic::new(&B33, whole, message).help(FORM));
        return None;
    };
    let at = text.value.len() - name.len();
    let of = Spanned::new(of.to_owned(), text.locate(0, of.len()));
    let name = Spanned::new(name.to_owned(), text.locate(at, text.value.len()));
    let Some(step) = scope.steps.id(&of.value).map(StepId) else {
        if of.value == step_condition::INPUTS {
            let at = scope.input(decoder, &name)?;
            check_list(decoder, whole, &text.value, &scope.inputs[at].kind)?;
            return Some(StepItemList::Input(InputId(at as u16)));
        }
        decoder.unknown(&B32, ("step", "steps"), &of.as_str(), scope.steps.names());
        return None;
    };
    let Some((part, kind)) = scope.field(step, &name.value) else {
        decoder.unknown(&B32, ("output", "fields"), &name.as_str(), scope.fields(step));
        return None;
    };
    check_list(decoder, whole, &text.value, &kind)?;
    if step_condition::has_items(scope, Operand::Step(step, part)) {
        let message = format!("`{}` has a list for each item of `{}`", text.value, of.value);
        let found = Diagnostic::new(&B33, whole, message);
        decoder.report(found.help("let a step between the two report one list"));
        return None;
    }
    match part {
        super::Field::Output(output) => Some(StepItemList::Output(Spanned::new(step, of.span), output)),
        super::Field::Result | super::Field::Summary | super::Field::Ran | super::Field::Rounds => None,
    }
}

/// Reports a value of another type than a list.
fn check_list(decoder: &mut Decoder<'_>, span: Span, name: &str, kind: &ValueKind) -> Option<()> {
    match kind {
        ValueKind::List { .. } => Some(()),
        ValueKind::Words(_) | ValueKind::Text | ValueKind::Number { .. } | ValueKind::Bool => {
            let message = format!("`{}` is {}, and `for_each` takes a list", shortened(name), kind.what());
            let found = Diagnostic::new(&B33, span, message);
            decoder.report(found.help("declare it with `type = \"list\"`, or write the items here"));
            None
        }
    }
}

/// The most items that a list may have.
fn most_items(scope: &StepScope<'_>, list: &StepItemList) -> u16 {
    let of_kind = |kind: Option<&ValueKind>| match kind {
        Some(ValueKind::List { max_items }) => *max_items,
        Some(ValueKind::Words(_) | ValueKind::Text | ValueKind::Number { .. } | ValueKind::Bool) | None => 0,
    };
    match list {
        StepItemList::Output(step, output) => {
            of_kind(scope.outputs_of(step.value).get(output.index()).map(|it| &it.kind))
        }
        StepItemList::Input(input) => of_kind(scope.inputs.get(input.index()).map(|it| &it.kind)),
        StepItemList::Fixed(items) => items.len() as u16,
    }
}

#[cfg(test)]
mod tests {
    use orange_core::plan::{FanOut, ItemList, Plan, WorktreeUse};

    use crate::lower::{PlanArena, lower_plan};
    use crate::{Compilation, Source, compile};

    /// A step that reports two lists and a word, then these.
    fn compiled(steps: &str) -> (String, Compilation) {
        let text = format!(
            "[workflow]\nname = \"flow\"\n[inputs.names]\ntype = \"list\"\nmax_items = 4\n[inputs.one]\ntype = \"text\"\n\
             [[steps]]\nid = \"plan\"\nprompt = \"p\"\noutputs = {{ parts = {{ type = \"list\", max_items = 3 }}, risk = {{ words = [\"low\"] }} }}\n\
             {steps}\n"
        );
        let compilation = compile(&Source::new("flow.toml", text.clone()));
        (text, compilation)
    }

    #[track_caller]
    fn check(steps: &str, expect: &[&str]) {
        let (text, compilation) = compiled(steps);
        let found = compilation.diagnostics.iter();
        let found: Vec<String> =
            found.map(|it| format!("{} {}", it.code(), &text[it.span.range()])).collect();
        assert_eq!(found, expect, "{steps}");
    }

    /// A step `each` that depends on `plan`.
    fn each(rest: &str) -> String {
        format!("[[steps]]\nid = \"each\"\nprompt = \"{{{{item}}}}\"\ndepends_on = [\"plan\"]\n{rest}\n")
    }

    fn lowered(steps: &str, call: impl FnOnce(&Plan<'_>)) {
        let (_, compilation) = compiled(steps);
        let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
        let arena = PlanArena::default();
        call(&lower_plan(&checked, &arena).unwrap());
    }

    #[test]
    fn a_list_is_an_output_an_input_or_stands_there() {
        let parts = ItemList::Output(orange_core::plan::StepId(0), orange_core::plan::OutputId(0));
        for (list, expect, most) in [
            ("\"plan.parts\"", parts, 3),
            ("\"inputs.names\"", ItemList::Input(orange_core::plan::InputId(0)), 4),
            ("[\"a b\", 7]", ItemList::Fixed(&["a b", "7"]), 2),
        ] {
            lowered(&each(&format!("for_each = {list}\nenough = 2")), |plan| {
                let expect = FanOut { list: expect, enough: Some(2) };
                assert_eq!(plan.steps[1].fan_out, Some(expect));
                assert_eq!(plan.most_items(orange_core::plan::StepId(1)), most);
            });
        }
    }

    #[test]
    fn what_is_no_list_is_refused_at_its_place() {
        let list = |list: &str| each(&format!("for_each = {list}"));
        check(&list("\"plan.risk\""), &["B33 plan.risk"]);
        check(&list("\"plan.rounds\""), &["B33 plan.rounds"]);
        check(&list("\"plan.part\""), &["B32 part"]);
        check(&list("\"plam.parts\""), &["B32 plam"]);
        check(&list("\"inputs.one\""), &["B33 inputs.one"]);
        check(&list("\"inputs.name\""), &["B32 name"]);
        check(&list("\"parts\""), &["B33 parts"]);
        check(&list("[]"), &["B33 []"]);
        check(&list("[\"a\", \" \"]"), &["B33 \" \""]);
        check(&list("[\"a\", \"a\"]"), &["S04 \"a\""]);
        check(&list("\"plan.parts\"").replace("[\"plan\"]", "[]"), &["B07 plan"]);
    }

    #[test]
    fn an_ask_a_handler_and_a_loop_are_no_fan_outs() {
        let list = "for_each = \"plan.parts\"";
        check(&each(&format!("{list}\nmax_retries = 2\nrequeue = [\"plan\"]")), &["B33 for_each"]);
        check(&each(list).replace("prompt = \"{{item}}\"", "ask = \"Good?\""), &["B33 for_each"]);
        let handler = "[[steps]]\nid = \"h\"\nprompt = \"{{item}}\"\nfor_each = [\"a\"]";
        check(&(each("on_fail = \"h\"").replace("{{item}}", "x") + handler), &["B33 for_each"]);
        let second =
            "[[steps]]\nid = \"s\"\nprompt = \"{{item}}\"\ndepends_on = [\"each\"]\nfor_each = \"each.more\"";
        let first = each(&format!("{list}\noutputs = {{ more = {{ type = \"list\" }} }}"));
        check(&(first + second), &["B33 each.more"]);
    }

    #[test]
    fn enough_is_at_most_the_length_of_the_list() {
        check(&each("for_each = \"plan.parts\"\nenough = 4"), &["B33 4"]);
        check(&each("for_each = \"inputs.names\"\nenough = 4"), &[]);
        check(&each("for_each = [\"a\"]\nenough = 0"), &["S04 0"]);
        check(&each("enough = 1").replace("{{item}}", "x"), &["B33 enough"]);
    }

    #[test]
    fn an_item_stands_in_the_texts_of_its_fan_out() {
        check(&each(""), &["B19 {{item}}"]);
        let gates = "gates = [{ run = [\"make\", \"{{item}}\"] }]";
        check(&each(&format!("for_each = [\"a\"]\n{gates}")), &[]);
        check(&each(gates).replace("prompt = \"{{item}}\"", "prompt = \"x\""), &["B19 {{item}}"]);
        let run =
            each("for_each = [\"a\"]").replace("prompt = \"{{item}}\"", "run = [\"make\", \"{{item}}\"]");
        check(&run, &[]);
        check(
            &run.replace("[\"make\", \"{{item}}\"]", "[\"sh\", \"-c\", \"{{item}}\"]"),
            &["B40 \"{{item}}\""],
        );
        let role = "[roles.dev]\nprompt_file = \"dev.md\"\n";
        assert!(compiled(&format!("{}{role}", each("role = \"dev\""))).1.checked.is_none());
    }

    #[test]
    fn tests_of_a_fan_out_say_all_or_any() {
        let after = |condition: &str| {
            let outputs = "outputs = { ok = { type = \"bool\" }, n = { type = \"number\" } }";
            let fan_out = each(&format!("for_each = \"plan.parts\"\n{outputs}"));
            format!(
                "{fan_out}[[steps]]\nid = \"z\"\nprompt = \"z\"\ndepends_on = [\"each\"]\ncondition = \"{condition}\""
            )
        };
        check(&after("any each.ok && all each.n > 3 && each.ran && each.rounds < 3"), &[]);
        check(&after("each.ok"), &["B33 each.ok"]);
        check(&after("each.result == 'X'"), &["B33 each.result"]);
        check(&after("all each.rounds > 2"), &["B33 all"]);
        check(&after("all plan.risk == 'low'"), &["B33 all"]);
        check(&after("any each.n == 'x'"), &["B47 x"]);
        check(&after("any each.m > 1"), &["B32 m"]);
    }

    #[test]
    fn a_step_writes_reads_or_has_a_worktree_of_its_own() {
        let uses = |rest: &str| {
            let mut found = None;
            lowered(&each(rest).replace("{{item}}", "x"), |plan| found = Some(plan.steps[1].worktree));
            found
        };
        assert_eq!(uses(""), Some(WorktreeUse::Write));
        assert_eq!(uses("read_only = false"), Some(WorktreeUse::Write));
        assert_eq!(uses("read_only = true"), Some(WorktreeUse::Read));
        assert_eq!(uses("worktree = \"own\""), Some(WorktreeUse::Own));
        check(&each("read_only = true\nworktree = \"own\"").replace("{{item}}", "x"), &["S04 worktree"]);
        check(&each("worktree = \"mine\"").replace("{{item}}", "x"), &["S04 \"mine\""]);
    }

    #[test]
    fn parallel_is_a_number_from_1_to_32() {
        let text = |parallel: u32| {
            format!(
                "[workflow]\nname = \"flow\"\nparallel = {parallel}\n[[steps]]\nid = \"a\"\nprompt = \"a\"\n"
            )
        };
        for (parallel, fits) in [(0, false), (1, true), (32, true), (33, false)] {
            assert_eq!(
                compile(&Source::new("flow.toml", text(parallel))).checked.is_some(),
                fits,
                "{parallel}"
            );
        }
    }
}
