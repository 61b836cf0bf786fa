//! The reports of a step, and the inputs of a mission, that decisions distinguish: one of each kind.

use std::collections::BTreeSet;

use orange_core::mission::Report;
use orange_core::plan::{
    Comparison, Field, Inputs, Intervene, Literal, Operand, OutputId, Plan, StepId, StepTest, Value,
    ValueType,
};

/// The most reports of one step that a search tries.
pub(super) const MOST_REPORTS: usize = 2_000;

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
    let values = (0..)
        .map(OutputId)
        .zip(plan.outputs_of(id))
        .map(|(number, output)| (output.name, values(&output.kind, &tests(Field::Output(number)))));
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
    reports.truncate(MOST_REPORTS);
    reports
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
        (input.name, values(&input.kind, &read))
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
