//! `ask` of a step: a question to a person, whose answer is the end of the step.

use orange_core::plan::{APPROVE, REJECT};

use super::Step;
use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::step_scope::StepScope;
use crate::catalogue::{S04, S09};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::suggest;

/// The keys that say something of an agent or of a program, or of their reports.
const OF_WORK: [&str; 16] = [
    "prompt",
    "prompt_file",
    "run",
    "role",
    "results",
    "outputs",
    "harness",
    "model",
    "effort",
    "permissions",
    "sandbox",
    "stuck_after",
    "gates",
    "read_only",
    "worktree",
    "enough",
];

/// The keys that say something of a question.
const OF_ASKS: [&str; 4] = ["who", "show", "answers", "on_timeout"];

/// The word with which a timeout is a failure.
const FAIL: &str = "fail";

/// Keys of an ask beside its question. Its answers that complete the step are the results of that.
#[derive(Clone, Debug)]
pub struct StepAsk {
    /// Names of the persons who may answer; empty if everybody may.
    pub who: Vec<Spanned<String>>,
    /// True if the question shows the context of the step.
    pub shows_context: bool,
    /// True if the question shows the changes of the mission.
    pub shows_diff: bool,
    /// True if the answers are `approve` and `reject`.
    pub is_approval: bool,
    /// The answer that counts when nobody has answered in time.
    pub on_timeout: Option<Spanned<String>>,
}

impl Step {
    /// True if a person is asked, and no agent and no program works.
    pub fn is_ask(&self) -> bool {
        self.ask.is_some()
    }
}

/// The ask of a step, and the answers that complete it; `None` of an agent or a program. `words` are the answers that it declares.
pub(super) fn ask(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
    words: Option<Vec<Spanned<String>>>,
) -> Option<(StepAsk, Vec<Spanned<String>>)> {
    let name = shortened(&step.value);
    let Some(field) = fields.get("ask") else {
        for other in OF_ASKS.into_iter().filter_map(|it| fields.get(it)) {
            let message = format!("the step `{name}` does not ask a person, and has `{}`", other.name);
            decoder.report(Diagnostic::new(&S04, other.key, message).help("delete this key, or add `ask`"));
        }
        return None;
    };
    for other in OF_WORK.into_iter().filter_map(|it| fields.get(it)) {
        let message = format!("the step `{name}` asks a person, and has `{}`", other.name);
        let help = match other.name {
            "results" => "delete this key: `answers` are the results of an ask",
            _ => "delete this key, or `ask`",
        };
        decoder.report(Diagnostic::new(&S04, other.key, message).help(help));
    }
    let shows = fields.get("show").map(|it| shown(decoder, &it));
    let is_approval = words.is_none();
    if let (Some(words), Some(field)) = (&words, fields.get("answers")) {
        check_answers(decoder, &field, words);
    }
    let answers = words.unwrap_or_else(|| vec![Spanned::new(APPROVE.to_owned(), field.key)]);
    let ask = StepAsk {
        who: fields.get("who").map(|it| who(decoder, &it)).unwrap_or_default(),
        shows_context: shows.is_none_or(|it| it.0),
        shows_diff: shows.is_none_or(|it| it.1),
        is_approval,
        on_timeout: fields.get("on_timeout").and_then(|it| on_timeout(decoder, fields, &it, &answers)),
    };
    Some((ask, answers))
}

/// Reports asks that handle the failure of a step with outputs: a person who answers reports none.
pub(super) fn check_handlers(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, tables: &[&ObjectFields<'_>]) {
    for (table, handled) in tables.iter().zip(&scope.handles) {
        let (Some(field), Some(handled)) = (table.get("ask"), handled) else { continue };
        if scope.outputs.get(handled.index()).is_some_and(|it| !it.is_empty()) {
            let message = format!(
                "this step handles `{}` and has to report its outputs, and a person who answers reports none",
                scope.steps.name(handled.0)
            );
            decoder.report(
                Diagnostic::new(&S04, field.key, message).help("let an agent or a program handle it"),
            );
        }
    }
}

/// True for the context, and for the changes, if the question shows them.
fn shown(decoder: &mut Decoder<'_>, field: &Field<'_>) -> (bool, bool) {
    let mut shows = (false, false);
    for item in decoder.list(field) {
        match decoder.word(&field.item(item), &[("context", true), ("diff", false)]).map(|it| it.value) {
            Some(true) => shows.0 = true,
            Some(false) => shows.1 = true,
            None => {}
        }
    }
    shows
}

fn check_answers(decoder: &mut Decoder<'_>, field: &Field<'_>, words: &[Spanned<String>]) {
    if words.is_empty() {
        let found = Diagnostic::new(&S09, field.value.span, "there is no answer to give");
        decoder.report(found.help("write the answers, such as `[\"now\", \"later\"]`, or delete this key"));
    }
    for word in words.iter().filter(|it| it.value == FAIL) {
        let message = "an answer cannot be `fail`, which `on_timeout` has for a failure";
        decoder.report(Diagnostic::new(&S04, word.span, message).help("give the answer another name"));
    }
}

fn who(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<Spanned<String>> {
    let names: Vec<Spanned<String>> =
        decoder.list(field).iter().filter_map(|item| decoder.string(&field.item(item))).collect();
    if names.is_empty() {
        let found = Diagnostic::new(&S09, field.value.span, "nobody is named who may answer");
        decoder.report(
            found.help("name the persons, or delete this key: then everybody may who answers pauses"),
        );
    }
    for name in &names {
        let is_group = name.value.starts_with('@');
        if is_group || name.value.trim().is_empty() {
            let message = format!("`{}` does not name a person", shortened(&name.value));
            let help = match is_group {
                true => "there are no groups: name each person",
                false => "write the name that the person has at the machine where missions run",
            };
            decoder.report(Diagnostic::new(&S04, name.span, message).help(help));
        }
    }
    names
}

fn on_timeout(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    field: &Field<'_>,
    answers: &[Spanned<String>],
) -> Option<Spanned<String>> {
    if fields.get("timeout").is_none() {
        let found =
            Diagnostic::new(&S04, field.key, "`on_timeout` without `timeout`: this ask waits for ever");
        decoder.report(found.help("add `timeout`, in seconds, or delete this key"));
    }
    let word = decoder.string(field)?;
    if word.value == FAIL || answers.iter().any(|it| it.value == word.value) {
        return Some(word).filter(|it| it.value != FAIL);
    }
    let message = match word.value == REJECT {
        true => "nobody rejects when the time is over: `fail` says that the step fails then".to_owned(),
        false => format!("`{}` is none of the answers", shortened(&word.value)),
    };
    let known = answers.iter().map(|it| it.value.as_str()).chain([FAIL]);
    let help = suggest::help(&word.value, "answers", known);
    decoder.report(Diagnostic::new(&S04, word.span, message).help_if(help));
    None
}

#[cfg(test)]
mod tests {
    use orange_core::plan::Ask;

    use crate::lower::{PlanArena, lower_plan};
    use crate::{Compilation, Source, compile};

    fn compiled(step: &str) -> (String, Compilation) {
        let text = format!("[workflow]\nname = \"flow\"\n[[steps]]\nid = \"q\"\n{step}\n");
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

    /// Calls this with the ask, its results and its timeout.
    fn lowered(step: &str, call: impl FnOnce(&Ask<'_>, &[&str], Option<u32>)) {
        let (_, compilation) = compiled(step);
        let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        call(plan.steps[0].ask.unwrap(), plan.steps[0].results, plan.steps[0].timeout);
    }

    #[test]
    fn an_ask_has_no_keys_of_work() {
        check("ask = \"Good?\"", &[]);
        check("ask = \" \"", &["S09 \" \""]);
        check("ask = \"Good?\"\nprompt = \"Look.\"", &["S04 prompt"]);
        check("ask = \"Good?\"\nrun = [\"make\"]\nresults = [\"A\"]", &["S04 run", "S04 results"]);
        check("ask = \"Good?\"\nharness = \"codex\"\nrole = \"x\"", &["S04 harness", "S04 role"]);
        check("prompt = \"Look.\"\nwho = [\"ada\"]", &["S04 who"]);
        check("ask = \"{{contxt}}\"", &["B19 {{contxt}}"]);
    }

    #[test]
    fn its_answers_and_people_are_words_that_mean_something() {
        check("ask = \"When?\"\nanswers = []", &["S09 []"]);
        check("ask = \"When?\"\nanswers = [\"now\", \"fail\"]", &["S04 \"fail\""]);
        check("ask = \"When?\"\nwho = [\"@leads\"]", &["S04 \"@leads\""]);
        check("ask = \"When?\"\nwho = []", &["S09 []"]);
        check("ask = \"When?\"\nshow = [\"log\"]", &["S04 \"log\""]);
    }

    #[test]
    fn a_timeout_names_an_answer_or_fails() {
        check("ask = \"Q\"\non_timeout = \"approve\"", &["S04 on_timeout"]);
        check("ask = \"Q\"\ntimeout = 9\non_timeout = \"reject\"", &["S04 \"reject\""]);
        check(
            "ask = \"Q\"\ntimeout = 9\nanswers = [\"now\"]\non_timeout = \"approve\"",
            &["S04 \"approve\""],
        );
        lowered("ask = \"Q\"\ntimeout = 9\non_timeout = \"approve\"", |ask, _, timeout| {
            assert_eq!((ask.on_timeout, timeout), (Some("approve"), Some(9)));
        });
        lowered("ask = \"Q\"\ntimeout = 9\non_timeout = \"fail\"", |ask, _, _| {
            assert_eq!(ask.on_timeout, None)
        });
    }

    #[test]
    fn without_answers_it_asks_for_an_approval_and_shows_everything() {
        lowered("ask = \"Q\"", |ask, results, timeout| {
            let expect =
                Ask { who: &[], shows_context: true, shows_diff: true, is_approval: true, on_timeout: None };
            assert_eq!((*ask, results, timeout), (expect, &["approve"][..], None));
        });
        lowered(
            "ask = \"Q\"\nanswers = [\"now\", \"later\"]\nshow = [\"context\"]\nwho = [\"ada\"]",
            |ask, results, _| {
                assert_eq!((results, ask.who, ask.is_approval), (&["now", "later"][..], &["ada"][..], false));
                assert!(ask.shows_context && !ask.shows_diff);
            },
        );
    }

    #[test]
    fn a_question_can_stand_alone_and_has_no_items() {
        lowered("ask = \"Q\"\nshow = []", |ask, _, _| assert!(!ask.shows_context && !ask.shows_diff));
        check("ask = \"Q\"\nread_only = true", &["S04 read_only"]);
        check("ask = \"Q\"\nfor_each = [\"a\"]\nenough = 1", &["B33 for_each", "S04 enough"]);
    }

    #[test]
    fn no_person_reports_outputs_for_another_step() {
        let step = "prompt = \"p\"\non_fail = \"r\"\n[steps.outputs]\nn = { type = \"number\" }\n[[steps]]\nid = \"r\"\nask = \"Q\"";
        check(step, &["S04 ask"]);
    }
}
