//! Plans in the notation of the cases: `cap=3; a; b<-a if a.result=='X' x2 requeue=a on_fail=h; h`. A reader is `r`, a step with its own
//! worktree `own`; `lists` reports a list, over which another step has items with `each=S`, of which `enough=N` must complete.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::random::{StepRow, Tables};
use crate::mission::*;
use crate::plan::*;

/// The output of a step that lists.
const FILES: &[Output<'static>] = &[Output { name: "files", kind: ValueType::List { max_items: 9 } }];

/// `x+y+z`
pub fn files(text: &str) -> Inputs {
    let files = text.split('+').filter(|it| !it.is_empty()).map(ToString::to_string).collect();
    Inputs::from([("files".to_string(), Value::List(files))])
}

/// The items of each step that has some, one letter each.
pub fn items(mission: &Mission) -> String {
    let letter = |it: &ItemState| match it.status {
        ItemStatus::Queued => 'Q',
        ItemStatus::Assigned => 'A',
        ItemStatus::Running => 'R',
        ItemStatus::Landing => 'L',
        ItemStatus::Merging => 'M',
        ItemStatus::Completed => 'C',
        ItemStatus::Failed => 'F',
        ItemStatus::Cancelled => 'X',
    };
    let steps = mission.steps.iter().filter(|it| !it.items.is_empty());
    steps.map(|it| it.items.iter().map(letter).collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// The plan of a text.
pub fn tables(text: &str) -> Tables {
    let (cap, text) = match text.strip_prefix("cap=").and_then(|it| it.split_once(';')) {
        Some((cap, text)) => (cap.parse().ok(), text),
        None => (None, text),
    };
    let (parallel, text) = match text.strip_prefix("parallel=").and_then(|it| it.split_once(';')) {
        Some((parallel, text)) => (parallel.parse().expect("a number"), text),
        None => (DEFAULT_PARALLEL, text),
    };
    let steps: Vec<&str> = text.split(';').map(str::trim).collect();
    let id = |step: &str| step.split([' ', '<']).next().unwrap_or_default().to_string();
    let ids: Vec<String> = steps.iter().map(|it| id(it)).collect();
    let named = |name: &str| match ids.iter().position(|it| it == name) {
        Some(index) => StepId(index as u16),
        None => panic!("no step is called {name}"),
    };
    Tables(steps.iter().map(|it| row(id(it), it, &named)).collect(), cap, parallel)
}

fn row(id: String, step: &str, named: &dyn Fn(&str) -> StepId) -> StepRow {
    let all = |names: &str| names.split(',').map(named).collect::<Vec<_>>();
    let mut row = StepRow { id, stuck_after: 2, ..StepRow::default() };
    let mut items = None;
    let mut enough = None;
    let equal = "=='";
    for word in step.split_whitespace() {
        let value = || word.split_once('=').map_or("", |(_, it)| it);
        if let Some((_, names)) = word.split_once("<-") {
            row.depends_on = all(names);
        } else if word == "all" || word == "any" {
            items = Some(if word == "all" { Items::All } else { Items::Any });
        } else if let Some((read, value)) = word.split_once(equal).or_else(|| word.split_once("!='")) {
            let (step, field) = read.split_once('.').expect("a condition reads step.field");
            let value: &str = value.trim_end_matches('\'').to_string().leak();
            let field = if field == "result" { Field::Result } else { Field::Summary };
            let relation = if word.contains(equal) { Relation::Equal } else { Relation::Unequal };
            let is = Comparison::Is(relation, Literal::Text(value));
            let of = Operand::Step(named(step), field);
            row.condition = Some(StepCondition::Test(StepTest { of, items, is }));
        } else if word.starts_with("requeue=") {
            row.requeue = all(value());
        } else if word.starts_with("on_fail=") {
            row.on_fail = Some(named(value()));
        } else if word.starts_with("each=") {
            let list = ItemList::Output(named(value()), OutputId(0));
            row.fan_out = Some(FanOut { list, enough: None });
        } else if word.starts_with("enough=") {
            enough = value().parse().ok();
        } else if let Some(Ok(bound)) = word.strip_prefix('x').map(str::parse) {
            row.max_retries = bound;
        } else {
            match word {
                "r" => row.worktree = WorktreeUse::Read,
                "own" => row.worktree = WorktreeUse::Own,
                "lists" => row.outputs = FILES.to_vec(),
                "ask" => row.ask = Some(ask(false)),
                "show" => row.ask = Some(ask(true)),
                _ => {}
            }
        }
    }
    if let Some(it) = &mut row.fan_out {
        it.enough = enough;
    }
    if let (1.., [], Some(it)) = (row.max_retries, row.requeue.as_slice(), &row.condition) {
        row.requeue = it.steps();
    }
    row
}

/// An approval by anybody.
fn ask(shows_diff: bool) -> Ask<'static> {
    Ask { who: &[], shows_context: true, shows_diff, is_approval: true, on_timeout: None }
}
