//! The cell procedure against examples and against brute force over small counters.

use proptest::prelude::*;

use super::cells::WorkBudget;
use super::{Compare, Expr, Op, decide};
use crate::diag::Witness;
use crate::model::{Counter, CounterId};
use crate::span::Span;
use crate::syntax::Text;

const NAMES: [&str; 3] = ["r", "c", "n"];

fn counters() -> Vec<Counter> {
    NAMES.map(|name| Counter { name: name.to_owned(), start: 0, declared: None }).to_vec()
}

fn guard(text: &str) -> Expr {
    let decoded = Text::decoded(
        text.to_owned(),
        Span::new(0, text.len() as u32),
        0,
        text,
        crate::syntax::Notation::Bare,
    );
    super::parse::parse(&decoded, &mut |name| {
        let at = NAMES.iter().position(|it| *it == name).expect("a counter");
        Ok(CounterId(at as u16))
    })
    .expect(text)
}

fn show(witness: &Witness) -> String {
    let values: Vec<String> = witness.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}: {}", values.join(" "), witness.range)
}

#[track_caller]
fn overlap(guards: &[&str], expect: &[&str]) {
    let guards: Vec<Option<Expr>> = guards.iter().map(|it| (*it != "-").then(|| guard(it))).collect();
    let guards: Vec<Option<&Expr>> = guards.iter().map(Option::as_ref).collect();
    let found = decide::overlaps(&guards, &counters(), &mut WorkBudget::default()).expect("decided");
    let seen: Vec<String> = found
        .iter()
        .map(|it| {
            format!("{}+{} {}", it.first, it.second, it.witness.as_ref().map_or("always".to_owned(), show))
        })
        .collect();
    assert_eq!(seen, expect);
}

#[track_caller]
fn gap(guards: &[&str], expect: Option<&str>) {
    let guards: Vec<Expr> = guards.iter().map(|it| guard(it)).collect();
    let guards: Vec<&Expr> = guards.iter().collect();
    let found = decide::gap(&guards, &counters(), &mut WorkBudget::default()).expect("decided");
    assert_eq!(found.as_ref().map(show).as_deref(), expect);
}

#[test]
fn overlaps_have_the_smallest_witness_and_its_range() {
    overlap(&["r < 2", "r >= 2"], &[]);
    overlap(&["r <= 2", "r >= 2"], &["0+1 r=2: r = 2, and only there"]);
    overlap(&["r > 1", "r > 3"], &["0+1 r=4: r >= 4 (for example 4)"]);
    overlap(&["r < 9", "r < 5"], &["0+1 r=0: r <= 4 (for example 0)"]);
    overlap(&["r > 1", "r < 5"], &["0+1 r=2: r = 2 to 4 (for example 2)"]);
    overlap(&["r != 2 && r != 4", "r > 0"], &["0+1 r=1: r = 1, r = 3 or r >= 5"]);
    overlap(&["r <= 2", "c >= 1"], &["0+1 r=0 c=1: r <= 2 and c >= 1 (for example r = 0, c = 1)"]);
    overlap(&["r == 2 && c <= 1", "c == 1"], &["0+1 r=2 c=1: r = 2 and c = 1, and only there"]);
    overlap(
        &["r == 1", "r == 2", "r < 2", "c > 5"],
        &["0+2 r=1: r = 1, and only there", "2+3 r=0 c=6: r <= 1 and c >= 6 (for example r = 0, c = 6)"],
    );
    overlap(&["-", "-", "r > 0"], &["0+1 always", "0+2 r=1: r >= 1 (for example 1)"]);
    overlap(&["r >= 0", "-"], &["0+1 r=0: for all values"]);
    overlap(&["r >= 4294967295", "r > 4294967294"], &["0+1 r=4294967295: r = 4294967295, and only there"]);
}

#[test]
fn gaps_have_the_smallest_witness_and_its_range() {
    gap(&["r < 2", "r >= 2"], None);
    gap(&["r < 2", "r > 2"], Some("r=2: r = 2, and only there"));
    gap(&["r < 4"], Some("r=4: r >= 4 (for example 4)"));
    gap(&["r < 1 && r > 3"], Some("r=0: for all values"));
    gap(&["r < 2 || c > 0", "r >= 2 && !(c > 1)"], None);
    gap(&["r < 2", "c < 2"], Some("r=2 c=2: r >= 2 and c >= 2 (for example r = 2, c = 2)"));
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = (0u16..3, prop::sample::select(Op::ALL.to_vec()), 0u32..4).prop_map(|(counter, op, value)| {
        Expr::Compare(Compare { span: Span::at(0), counter: CounterId(counter), op, value })
    });
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Or),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
            inner.prop_map(|it| Expr::Not(Box::new(it))),
        ]
    })
}

/// Every combination of small values, the first counter the slowest. No guard above tells 4 and 5 apart.
fn all_values() -> impl Iterator<Item = [u32; 3]> {
    (0..216).map(|it| [it / 36, it / 6 % 6, it % 6])
}

fn values(witness: &Witness) -> [u32; 3] {
    let mut values = [0; 3];
    for (name, value) in &witness.values {
        values[NAMES.iter().position(|it| it == name).expect("a counter")] = *value;
    }
    values
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn brute_force_agrees(guards in prop::collection::vec(expr(), 1..4)) {
        let guards: Vec<&Expr> = guards.iter().collect();
        let (counters, mut work) = (counters(), WorkBudget::default());
        let gap = decide::gap(&guards, &counters, &mut work).expect("decided");
        let brute = all_values().find(|it| !guards.iter().any(|guard| guard.holds(it)));
        prop_assert_eq!(gap.as_ref().map(values), brute);
        let some: Vec<Option<&Expr>> = guards.iter().copied().map(Some).collect();
        let overlaps = decide::overlaps(&some, &counters, &mut work).expect("decided");
        for second in 0..guards.len() {
            let found = overlaps.iter().find(|it| it.second == second);
            let both = |it: &[u32; 3]| guards[second].holds(it) && guards[..second].iter().any(|guard| guard.holds(it));
            prop_assert_eq!(found.and_then(|it| it.witness.as_ref()).map(values), all_values().find(both));
            if let Some(found) = found {
                let at = found.witness.as_ref().map(values).expect("a witness");
                prop_assert!(guards[found.first].holds(&at));
            }
        }
        let beyond = decide::beyond(Some(guards[0]), &guards[1..], &counters, &mut work).expect("decided");
        let only_first = |it: &[u32; 3]| guards[0].holds(it) && !guards[1..].iter().any(|guard| guard.holds(it));
        prop_assert_eq!(beyond.as_ref().map(values), all_values().find(only_first));
        let least = all_values().nth(100).expect("a value");
        let later = decide::later(&guards, &least, &mut work).expect("decided");
        let above = |it: &[u32; 3]| it.iter().zip(&least).all(|(it, least)| it >= least);
        prop_assert_eq!(later, all_values().any(|it| above(&it) && guards.iter().any(|guard| guard.holds(&it))));
        if let Some(values) = brute {
            let around = decide::gap_around(&guards, &values, &counters, &mut work).expect("decided");
            prop_assert_eq!(self::values(&around), values);
        }
        let holds = decide::somewhere(guards[0], &counters, &mut work).expect("decided");
        prop_assert_eq!(holds.as_ref().map(values), all_values().find(|it| guards[0].holds(it)));
    }
}
