//! The grammar by example, and what people write instead.

use super::*;
use crate::span::Span;

const COUNTERS: [&str; 3] = ["review_round", "crash_count", "r"];

fn parsed(input: &str) -> Result<Expr, Vec<ClauseFault>> {
    let text = Text::verbatim(input.to_owned(), Span::new(0, input.len() as u32));
    parse(&text, &mut |name| {
        let at = COUNTERS.iter().position(|it| *it == name);
        at.map(|at| CounterId(at as u16)).ok_or(Unknown {
            message: format!("no counter `{name}`"),
            help: None,
            instead: None,
        })
    })
}

fn show(expr: &Expr) -> String {
    let join = |all: &[Expr], sign| format!("({})", all.iter().map(show).collect::<Vec<_>>().join(sign));
    match expr {
        Expr::Or(any) => join(any, " || "),
        Expr::And(all) => join(all, " && "),
        Expr::Not(inner) => format!("!{}", show(inner)),
        Expr::Compare(it) => {
            format!("{}{}{}", COUNTERS[usize::from(it.counter.0)], it.op.as_str(), it.value)
        }
    }
}

#[track_caller]
fn check(input: &str, expect: &str) {
    assert_eq!(show(&parsed(input).expect(input)), expect, "{input}");
}

#[track_caller]
fn wrong(input: &str, place: &str, message: &str, help: &str) {
    let faults = parsed(input).expect_err(input);
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    let seen = (&input[fault.range.clone()], fault.message.as_str(), fault.help.as_deref().unwrap_or(""));
    assert_eq!(seen, (place, message, help), "{input}");
}

#[test]
fn the_whole_grammar() {
    check("r < 2", "r<2");
    check(" r>=2&&crash_count==0 ", "(r>=2 && crash_count==0)");
    check("r < 1 || r > 2 && r != 5", "(r<1 || (r>2 && r!=5))");
    check("(r < 1 || r > 2) && !(r <= 5)", "((r<1 || r>2) && !r<=5)");
    check("!!r < 1", "!!r<1");
    check("((r < 4294967295))", "r<4294967295");
    check("r\n<\t00002", "r<2");
}

#[test]
fn what_people_write_instead() {
    let ops = "one of `<`, `>`, `<=`, `>=`, `==`, `!=`";
    wrong("r =< 2", "=<", "expected a comparison, found `=<`", "did you mean `<=`?");
    wrong("r => 2", "=>", "expected a comparison, found `=>`", "did you mean `>=`?");
    wrong("r = 2", "=", "expected a comparison, found `=`", "did you mean `==`?");
    wrong("r <> 2", "<>", "expected a comparison, found `<>`", "did you mean `!=`?");
    wrong("r <=> 2", "<=>", "`<=>` is not a comparison", &format!("write {ops}"));
    wrong("r < 2 & r > 0", "&", "expected `&&`, found `&`", "did you mean `&&`?");
    wrong("r < 2 and r > 0", "and", "expected `&&`, found `and`", "did you mean `&&`?");
    wrong("r < 2 | r > 0", "|", "expected `||`, found `|`", "did you mean `||`?");
    wrong("r < 2 OR r > 0", "OR", "expected `||`, found `OR`", "did you mean `||`?");
    wrong(
        "r is 2",
        "is",
        &format!("expected {ops}, found `is`"),
        "write what `r` is compared with, for example `r < 2`",
    );
    wrong(
        "2 < r",
        "2",
        "expected the name of a counter, found the number 2",
        "write the counter on the left: `review_round < 2`",
    );
}

#[test]
fn integers_must_fit() {
    let long = "1234567890123456789012345678901234567890";
    wrong(
        &format!("r < {long}"),
        long,
        &format!("the integer {long} does not fit a counter"),
        "counters go up to 4294967295",
    );
    wrong(
        "r < -1",
        "-1",
        "counters are never negative",
        "counters count from 0; write an integer without a sign",
    );
    wrong("r < 1.5", "1.", "counters are whole numbers", "write an integer");
    wrong("r < two", "two", "expected an integer, found `two`", "a counter is compared with an integer only");
    wrong("r <", "", "expected an integer, found the end", "write an integer after `<`");
    wrong("r < é", "é", "expected an integer, found `é`", "a counter is compared with an integer only");
}

#[test]
fn brackets_and_leftovers() {
    wrong("(r < 2", "(", "this `(` is never closed", "add a `)`");
    wrong("r < 2)", ")", "this `)` closes nothing", "delete it");
    wrong(
        "r < 2 r > 1",
        "r",
        "expected `&&`, `||` or the end, found `r`",
        "join comparisons with `&&` or `||`",
    );
    wrong(
        "",
        "",
        "the clause is empty",
        "write a comparison such as `review_round < 2`, or leave `when` out",
    );
    let name = "a comparison reads `counter op integer`, for example `review_round < 2`";
    wrong("r < 2 &&", "", "expected the name of a counter, found the end", name);
    wrong("$", "$", "expected the name of a counter, found `$`", name);
}

#[test]
fn unknown_counters_are_all_reported() {
    let faults = parsed("x < 1 && y > 2 || r == 1").expect_err("two unknown");
    assert_eq!(faults.iter().map(|it| it.range.clone()).collect::<Vec<_>>(), [0..1, 9..10]);
}

#[test]
fn depth_and_size_are_bounded() {
    for deep in ["!".repeat(100_000), "(".repeat(100_000)] {
        assert!(parsed(&(deep + "r < 1")).expect_err("too deep")[0].message.starts_with("nested too deeply"));
    }
    check(&("!".repeat(64) + "r < 1"), &("!".repeat(64) + "r<1"));
    let wide = vec!["r == 1"; 300].join(" || ");
    assert!(parsed(&wide).expect_err("too wide")[0].message.starts_with("too many comparisons"));
}
