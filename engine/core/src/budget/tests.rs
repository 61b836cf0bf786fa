//! Budgets as plain values.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::{Budget, BudgetFacts, BudgetKind, BudgetVerdict, GRACE, ReachedLimit, amount};

const LIMITS: Budget =
    Budget { cost: Some(5_000_000), tokens: None, fresh_tokens: None, time: Some(3600), starts: Some(3) };

#[track_caller]
fn check(spent: &str, is_alive: bool, since: Option<u64>, expect: BudgetVerdict) {
    let spent = if spent.is_empty() { Budget::default() } else { Budget::parse(spent).unwrap() };
    assert_eq!(
        BudgetFacts { limits: LIMITS, spent, is_alive, is_unpriced: false, since }.verdict(),
        expect,
        "{spent:?}"
    );
}

fn reached(kind: BudgetKind, spent: u64) -> ReachedLimit {
    ReachedLimit { kind, limit: LIMITS.get(kind).unwrap(), spent }
}

#[test]
fn a_task_below_all_limits_goes_on() {
    check("", true, None, BudgetVerdict::Within);
    check("cost=4.999999,time=3599s,starts=2,tokens=900M", true, Some(9000), BudgetVerdict::Within);
}

#[test]
fn a_reached_limit_refuses_starts() {
    let cost = reached(BudgetKind::Cost, 5_000_000);
    check("cost=5", false, None, BudgetVerdict::NoStart(cost));
    check("cost=5,time=1h", false, Some(9000), BudgetVerdict::NoStart(cost));
    check("time=1h", false, None, BudgetVerdict::NoStart(reached(BudgetKind::Time, 3600)));
}

#[test]
fn the_last_allowed_start_may_do_its_work() {
    let starts = reached(BudgetKind::Starts, 3);
    check("starts=3", true, Some(9000), BudgetVerdict::NoStart(starts));
    check("starts=3", false, None, BudgetVerdict::NoStart(starts));
    check("starts=3,time=1h", true, None, BudgetVerdict::EndTurns(reached(BudgetKind::Time, 3600)));
}

#[test]
fn a_living_agent_ends_at_its_turn_then_at_once() {
    let cost = |spent| reached(BudgetKind::Cost, spent);
    check("cost=5", true, None, BudgetVerdict::EndTurns(cost(5_000_000)));
    check("cost=5.999999", true, Some(GRACE - 1), BudgetVerdict::EndTurns(cost(5_999_999)));
    check("cost=6", true, None, BudgetVerdict::EndNow(cost(6_000_000)));
    check("cost=5", true, Some(GRACE), BudgetVerdict::EndNow(cost(5_000_000)));
    // One limit that is far beyond is enough.
    check("cost=5,time=72m", true, None, BudgetVerdict::EndNow(cost(5_000_000)));
}

#[test]
fn a_cost_that_is_unknown_counts_as_reached() {
    let verdict = |limits: Budget, since| {
        let spent = Budget::parse("cost=1").unwrap();
        BudgetFacts { limits, spent, is_alive: true, is_unpriced: true, since }.verdict()
    };
    let cost = reached(BudgetKind::Cost, 1_000_000);
    assert_eq!(verdict(LIMITS, None), BudgetVerdict::EndTurns(cost));
    assert_eq!(verdict(LIMITS, Some(GRACE)), BudgetVerdict::EndNow(cost));
    assert_eq!(verdict(Budget { cost: None, ..LIMITS }, None), BudgetVerdict::Within);
}

#[test]
fn more_budget_lets_a_task_go_on() {
    let limits = LIMITS.plus(Budget::parse("cost=5").unwrap());
    let spent = Budget::parse("cost=5.10").unwrap();
    let facts = BudgetFacts { limits, spent, is_alive: false, is_unpriced: false, since: None };
    assert_eq!(facts.verdict(), BudgetVerdict::Within);
    assert_eq!(limits.starts, Some(3));
}

#[test]
fn limits_of_a_task_come_before_those_of_others() {
    let own = Budget::parse("cost=9").unwrap();
    let expect = Budget { cost: Some(9_000_000), ..LIMITS };
    assert_eq!(own.completed_by(LIMITS), expect);
    assert!(LIMITS.counts_tokens() && !Budget::parse("time=1h,starts=1").unwrap().counts_tokens());
}

#[test]
fn a_budget_is_read_as_it_is_written() {
    for text in [
        "cost=5",
        "cost=0.50,tokens=20M,fresh_tokens=500k,time=2h,starts=12",
        "cost=0.000001",
        "tokens=1234567",
        "time=90s",
        "time=20m",
        "time=1d,starts=1",
    ] {
        assert_eq!(Budget::parse(text).map(|it| it.written()).as_deref(), Ok(text));
    }
    let read = Budget::parse("cost = 5.0, time=120m").unwrap();
    assert_eq!(read.written(), "cost=5,time=2h");
    assert_eq!(read.words(), "$5.00, 2 h");
}

#[test]
fn a_text_without_a_meaning_names_its_part() {
    for (text, part) in [
        ("", "`` is not a kind of budget"),
        ("money=5", "`money` is not a kind of budget: give cost, tokens, fresh_tokens, time, starts"),
        ("cost=5,cost=6", "`cost` stands there twice"),
        ("cost", "`cost` is dollars"),
        ("cost=0", "`cost` is dollars"),
        ("cost=-5", "`cost` is dollars"),
        ("cost=5.", "`cost` is dollars"),
        ("cost=0.0000001", "`cost` is dollars"),
        ("cost=99999999999999999999", "`cost` is dollars"),
        ("tokens=20m", "`tokens` is a number of tokens"),
        ("time=2", "`time` is a number and its unit"),
        ("time=+2h", "`time` is a number and its unit"),
        ("starts=1.5", "`starts` is a number of starts"),
    ] {
        let error = Budget::parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn amounts_have_their_units() {
    let words: Vec<_> = [
        (BudgetKind::Cost, 5_109_999),
        (BudgetKind::Tokens, 21_300),
        (BudgetKind::FreshTokens, 1),
        (BudgetKind::Time, 90),
        (BudgetKind::Time, 1200),
        (BudgetKind::Time, 7200),
        (BudgetKind::Time, 9000),
        (BudgetKind::Starts, 1),
        (BudgetKind::Starts, 12),
    ]
    .map(|(kind, value)| amount(kind, value))
    .to_vec();
    let expect = [
        "$5.10",
        "21300 tokens",
        "1 fresh tokens",
        "90 s",
        "20 min",
        "2 h",
        "2 h 30 min",
        "1 start",
        "12 starts",
    ];
    assert_eq!(words, expect.map(|it| it.to_string()));
    assert_eq!(reached(BudgetKind::Cost, 5_100_000).words(), "$5.10 of $5.00");
}

#[test]
fn a_harness_that_ships_is_known_by_its_figures() {
    use BudgetKind::{Cost, FreshTokens, Starts, Time};
    let known = |harness| [Cost, FreshTokens, Time, Starts].map(|kind| kind.is_reported_by(harness));
    assert_eq!(known("claude"), [Some(true); 4]);
    assert_eq!(known("pi"), [Some(true), Some(false), Some(true), Some(true)]);
    assert_eq!(known("gemini"), [Some(false), Some(false), Some(true), Some(true)]);
    assert_eq!(known("my-own"), [None; 4]);
}
