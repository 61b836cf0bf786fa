//! The reports of a step, and the inputs of a mission, that decisions distinguish: one of each kind.

use std::collections::{BTreeSet, HashSet};

use orange_core::mission::Report;
use orange_core::plan::{
    Comparison, Field, Inputs, Intervene, ItemList, Literal, Operand, OutputId, Plan, StepId, StepTest,
    Value, ValueRef, ValueType,
};

/// The most reports of one step that a search tries.
pub(super) const MOST_REPORTS: usize = 2_000;

/// Number of items up to which a search tries each size of a list.
const ALL_SIZES: usize = 6;

/// The most items of a list that a search tries.
const MOST_ITEMS: usize = 12;

/// The most starts that a search tries.
const MOST_STARTS: usize = 200;

/// Every report of a step that decisions distinguish, up to [`MOST_REPORTS`].
pub(super) fn all(plan: &Plan<'_>, id: StepId, intervene: Intervene) -> Vec<Report> {
    let stands_for = plan.step(id).handles.unwrap_or(id);
    let tests = |field: Field| -> Vec<StepTest<'_>> {
        let is_read = |it: &StepTest<'_>| {
            it.of == Operand::Step(id, field) || it.of == Operand::Step(stands_for, field)
        };
        tests(plan).into_iter().filter(is_read).collect()
    };
    let results: Vec<Option<String>> = match (plan.results_of(id), plan.needs_result(id)) {
        ([], false) => vec![None],
        ([], true) => texts(&tests(Field::Result)).into_iter().map(Some).collect(),
        (declared, _) => declared.iter().map(|it| Some((*it).to_owned())).collect(),
    };
    let warnings = match intervene {
        Intervene::OnWarning => vec![None, Some(String::new())],
        Intervene::Never | Intervene::OnError | Intervene::Always => vec![None],
    };
    let summaries = texts(&tests(Field::Summary));
    let values = (0..).map(OutputId).zip(plan.outputs_of(id)).map(|(number, output)| {
        let values = values(&output.kind, &tests(Field::Output(number)));
        let is_read = |list: ItemList<'_>| {
            list.step().is_some_and(|it| it == id || it == stands_for) && reads(list, number)
        };
        (output.name, of_sizes(values, tried(plan, is_read)))
    });
    let outputs = combined(values.collect());
    let mut reports = Vec::new();
    for result in &results {
        for summary in &summaries {
            for outputs in &outputs {
                for warning in &warnings {
                    reports.push(Report {
                        result: result.clone(),
                        summary: summary.clone(),
                        warning: warning.clone(),
                        outputs: outputs.clone(),
                        answer: None,
                    });
                }
            }
        }
    }
    if plan.step(id).is_fan_out() {
        let mut seen = HashSet::new();
        reports.retain(|it| seen.insert(answers(plan, id, it)));
    }
    reports.truncate(MOST_REPORTS);
    reports
}

/// Answers of the tests of the items of a fan-out to the report of one, and whether it has a warning. Nothing else of it counts.
fn answers(plan: &Plan<'_>, id: StepId, report: &Report) -> (Vec<Option<bool>>, bool) {
    let answer = |test: &StepTest<'_>| match test.of {
        Operand::Step(step, Field::Result) if step == id => {
            Some(test.answer(report.result.as_deref().map(ValueRef::Text)))
        }
        Operand::Step(step, Field::Summary) if step == id => {
            Some(test.answer(Some(ValueRef::Text(&report.summary))))
        }
        Operand::Step(step, Field::Output(output)) if step == id => {
            let name = plan.outputs_of(id).get(output.index())?.name;
            Some(test.answer(report.outputs.get(name).map(Value::as_ref)))
        }
        Operand::Step(..) | Operand::Input(_) => None,
    };
    (tests(plan).iter().filter_map(answer).collect(), report.warning.is_some())
}

/// True if this list is an output with this number.
fn reads(list: ItemList<'_>, number: OutputId) -> bool {
    matches!(list, ItemList::Output(_, output) if output == number)
}

/// Most items that a search tries of a list of which these fan-outs have their items; `None` where there are none.
fn tried(plan: &Plan<'_>, is_read: impl Fn(ItemList<'_>) -> bool) -> Option<usize> {
    let fan_outs = plan.step_ids().filter(|it| plan.step(*it).fan_out.is_some_and(|it| is_read(it.list)));
    fan_outs.map(|it| most_items(plan, it)).max()
}

/// Most items of a fan-out that a search tries: all, or as many as it takes to have one item of each kind of report, as many completed
/// ones as it needs, and one that has failed. More of them lead to nothing else.
fn most_items(plan: &Plan<'_>, id: StepId) -> usize {
    let kinds = all(plan, id, Intervene::Never).len();
    let enough = plan.step(id).fan_out.and_then(|it| it.enough).map_or(1, usize::from);
    let least = kinds.saturating_add(enough).saturating_add(1);
    plan.most_items(id).min(least.max(ALL_SIZES)).min(MOST_ITEMS)
}

/// True if a fan-out may have more items than a search tries, and these may lead to something else.
pub(crate) fn has_longer_lists(plan: &Plan<'_>) -> bool {
    plan.step_ids().filter(|it| plan.step(*it).is_fan_out()).any(|it| {
        let (most, tried) = (plan.most_items(it), most_items(plan, it));
        // Each item takes an attempt under the cap.
        most > tried && (plan.max_attempts.is_some() || tried == MOST_ITEMS)
    })
}

/// True if the figures of a search are those of fewer items than a fan-out may have.
pub(crate) fn has_fewer_items(plan: &Plan<'_>) -> bool {
    plan.step_ids().any(|it| plan.step(it).is_fan_out() && plan.most_items(it) > most_items(plan, it))
}

/// These lists, each with further items up to this number of all; other values as they are.
fn of_sizes(values: Vec<Value>, most: Option<usize>) -> Vec<Value> {
    let Some(most) = most else { return values };
    let sized = values.into_iter().flat_map(|value| match value {
        Value::List(named) => {
            let longer = named.len()..=most.max(named.len());
            let more = |size: usize| (named.len() + 1..=size).map(|it| format!("item-{it}"));
            longer.map(|size| Value::List(named.iter().cloned().chain(more(size)).collect())).collect()
        }
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => vec![value],
    });
    sized.collect()
}

/// The comments on an answer that decisions distinguish.
pub(super) fn comments(plan: &Plan<'_>, id: StepId) -> Vec<String> {
    let stands_for = plan.step(id).handles.unwrap_or(id);
    let read = [id, stands_for].map(|it| Operand::Step(it, Field::Summary));
    texts(&tests(plan).into_iter().filter(|it| read.contains(&it.of)).collect::<Vec<_>>())
}

/// The inputs with which missions start that decisions distinguish.
pub(super) fn starts(plan: &Plan<'_>) -> Vec<Inputs> {
    let tests = tests(plan);
    let values = plan.inputs.iter().enumerate().map(|(number, input)| {
        let read: Vec<StepTest<'_>> = tests
            .iter()
            .filter(|it| matches!(it.of, Operand::Input(id) if id.index() == number))
            .copied()
            .collect();
        let is_read = |list: ItemList<'_>| matches!(list, ItemList::Input(id) if id.index() == number);
        (input.name, of_sizes(values(&input.kind, &read), tried(plan, is_read)))
    });
    let mut starts = combined(values.collect());
    starts.truncate(MOST_STARTS);
    starts
}

/// These inputs, with the defaults of others, and the first value of those that have none.
pub(crate) fn start_with(plan: &Plan<'_>, inputs: Inputs) -> Inputs {
    let mut all = inputs;
    for input in plan.inputs {
        let value = || match input.default {
            Some(default) => Some(default.value()),
            None => values(&input.kind, &[]).into_iter().next(),
        };
        if !all.contains_key(input.name) {
            all.extend(value().map(|it| (input.name.to_owned(), it)));
        }
    }
    all
}

/// The largest number of completions of a step that a condition distinguishes from one more.
pub(super) fn rounds_read(plan: &Plan<'_>, id: StepId) -> i64 {
    let of_it = tests(plan).into_iter().filter_map(|it| match (it.of, it.is) {
        (Operand::Step(step, Field::Ran), _) if step == id => Some(1),
        (Operand::Step(step, Field::Rounds), Comparison::Is(_, Literal::Number(most))) if step == id => {
            Some(most.saturating_add(1))
        }
        (Operand::Step(..) | Operand::Input(_), _) => None,
    });
    of_it.max().unwrap_or(0).max(0)
}

/// `risk=low` for each, with a blank before it.
pub(super) fn words(values: &Inputs) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::List(items) if items.is_empty() => format!(" {name}="),
        Value::List(items) => items.iter().map(|it| format!(" {name}={}", quoted(it))).collect(),
        Value::Text(_) | Value::Number(_) | Value::Bool(_) => format!(" {name}={}", quoted(&value.text())),
    };
    values.iter().map(one).collect()
}

/// A text as one word of a script.
fn quoted(text: &str) -> String {
    match text.contains(|it: char| it.is_whitespace() || it == ':' || it == '\'') {
        true => format!("'{}'", text.replace('\n', "\\n").replace('\'', "’")),
        false => text.to_owned(),
    }
}

fn tests<'p>(plan: &Plan<'p>) -> Vec<StepTest<'p>> {
    plan.steps.iter().filter_map(|it| it.condition).flat_map(|it| it.tests()).collect()
}

/// The texts that these tests distinguish, and one that none of them names.
fn texts(tests: &[StepTest<'_>]) -> Vec<String> {
    let named: BTreeSet<&str> = tests
        .iter()
        .flat_map(|it| match it.is {
            Comparison::Is(_, Literal::Text(word)) | Comparison::Has(word) => vec![word],
            Comparison::In(words) => words.to_vec(),
            Comparison::Is(..) => Vec::new(),
        })
        .collect();
    let mut other = String::new();
    while named.contains(other.as_str()) {
        other.push('…');
    }
    named.into_iter().map(str::to_owned).chain([other]).collect()
}

/// The values of a type that these tests distinguish; one where there is no test.
pub(super) fn values(kind: &ValueType<'_>, tests: &[StepTest<'_>]) -> Vec<Value> {
    match kind {
        ValueType::Words(words) => {
            let most = if tests.is_empty() { 1 } else { words.len() };
            words.iter().take(most).map(|it| Value::Text((*it).to_owned())).collect()
        }
        ValueType::Text => texts(tests).into_iter().map(Value::Text).collect(),
        ValueType::Bool if tests.is_empty() => vec![Value::Bool(true)],
        ValueType::Bool => vec![Value::Bool(true), Value::Bool(false)],
        ValueType::Number { min, max } => {
            let named = tests.iter().filter_map(|it| match it.is {
                Comparison::Is(_, Literal::Number(number)) => Some(number),
                Comparison::Is(..) | Comparison::In(_) | Comparison::Has(_) => None,
            });
            // Between two numbers that conditions name, one stands for all.
            let cuts: BTreeSet<i64> = named
                .flat_map(|it| [it.saturating_sub(1), it, it.saturating_add(1)])
                .chain([if tests.is_empty() { 0.clamp(*min, *max) } else { *min }])
                .filter(|it| (min..=max).contains(&it))
                .collect();
            let named: BTreeSet<i64> = tests
                .iter()
                .filter_map(|it| match it.is {
                    Comparison::Is(_, Literal::Number(number)) => Some(number),
                    Comparison::Is(..) | Comparison::In(_) | Comparison::Has(_) => None,
                })
                .collect();
            let place = |it: i64| (named.range(..it).count(), named.contains(&it));
            let mut seen = BTreeSet::new();
            cuts.into_iter().filter(|it| seen.insert(place(*it))).map(Value::Number).collect()
        }
        ValueType::List { max_items } => {
            let named: BTreeSet<&str> = tests
                .iter()
                .filter_map(|it| match it.is {
                    Comparison::Has(word) => Some(word),
                    Comparison::Is(..) | Comparison::In(_) => None,
                })
                .collect();
            let mut lists = vec![Vec::new()];
            for word in named.into_iter().take(12) {
                let with: Vec<Vec<String>> = lists
                    .iter()
                    .filter(|it| it.len() < usize::from(*max_items))
                    .map(|it| it.iter().cloned().chain([word.to_owned()]).collect())
                    .collect();
                lists.extend(with);
            }
            lists.into_iter().map(Value::List).collect()
        }
    }
}

/// Every combination of one value of each name, up to [`MOST_REPORTS`].
fn combined(values: Vec<(&str, Vec<Value>)>) -> Vec<Inputs> {
    let mut all = vec![Inputs::new()];
    for (name, values) in values {
        all = values
            .iter()
            .flat_map(|value| {
                all.iter().cloned().map(move |mut it| {
                    it.insert(name.to_owned(), value.clone());
                    it
                })
            })
            .take(MOST_REPORTS)
            .collect();
    }
    all
}
