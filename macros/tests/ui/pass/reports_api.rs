//! The outputs of steps as types: a struct for each step, an enum for each output with words, and how they are read from a report.
#![deny(warnings, clippy::all)]

use orange_core::plan::{Inputs, Operand, StepTest, Value, ValueFault, ValueRef};

orange_macros::workflow!("fixtures/reports.toml");

use reports::{PLAN, PanelVerdict, SelfOutputs, SelfOutputs2, SplitOutputs, SplitType, Step};

fn is_small(outputs: &SplitOutputs) -> bool {
    match outputs.type_ {
        SplitType::Low | SplitType::Low2 => outputs.parts.len() < 3 && outputs.score < 5,
        SplitType::Self_ => outputs.is_done && outputs.note.is_empty(),
    }
}

fn reported(word: &str) -> Inputs {
    let values = [
        ("parts", Value::List(vec!["a".to_owned(), "b".to_owned()])),
        ("type", Value::Text(word.to_owned())),
        ("score", Value::Number(-3)),
        ("is-done", Value::Bool(true)),
        ("note", Value::Text(String::new())),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn main() {
    let outputs = SplitOutputs::read(&reported("LOW")).unwrap();
    assert_eq!((outputs.type_, outputs.parts.len(), outputs.score), (SplitType::Low2, 2, -3));
    assert!(is_small(&outputs));

    let unknown = SplitOutputs::read(&reported("huge"));
    assert!(matches!(unknown, Err(ValueFault::Mistyped { name, .. }) if name == "type"));
    let mut missing = reported("low");
    missing.remove("note");
    assert!(matches!(SplitOutputs::read(&missing), Err(ValueFault::Missing { name, .. }) if name == "note"));
    let mut more = reported("low");
    more.insert("other".to_owned(), Value::Bool(true));
    assert!(matches!(SplitOutputs::read(&more), Err(ValueFault::Unknown { name, .. }) if name == "other"));

    let words = Inputs::from([("outputs".to_owned(), Value::Text("a-b".to_owned()))]);
    assert_eq!(SelfOutputs::read(&words).map(|it| it.outputs), Ok(SelfOutputs2::AB2));
    assert_eq!("bad".parse(), Ok(PanelVerdict::Bad));

    let good = |test: &StepTest<'_>| match test.of {
        Operand::Step(step, _) if step == Step::Panel.id() => {
            test.answer_of_items([Some(ValueRef::Text("good")), Some(ValueRef::Text("good"))])
        }
        Operand::Step(..) | Operand::Input(_) => None,
    };
    assert!(Step::Each.condition_holds(&good) && !Step::Part.condition_holds(&good));
    assert!(PLAN.is_concurrent() && PLAN.step(Step::Part.id()).is_fan_out());
}
