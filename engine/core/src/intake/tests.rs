//! Decisions about labelled issues, of values.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::*;

const ADA: Account<'_> = Account { login: "ada", is_bot: false, may_write: true };
const EVE: Account<'_> = Account { login: "eve", is_bot: false, may_write: false };

fn issue() -> IssueFacts<'static> {
    IssueFacts {
        is_open: true,
        author: Some(ADA),
        label: Some(LabelEvent { by: Some(ADA), at: 1000 }),
        edited_at: None,
        blockers: &[],
    }
}

#[track_caller]
fn check(issue: IssueFacts<'_>, known: IntakeFacts, expect: IntakeVerdict) {
    let (authors, labelled_by) = (IntakeAuthors::default(), Authors::Write);
    let rule = IntakeRule { authors: &authors, labelled_by: &labelled_by, max_open: 3, max_per_day: 5 };
    assert_eq!(rule.judge(&issue, &known), expect, "{issue:?} {known:?}");
}

#[test]
fn an_issue_that_a_writer_labelled_is_taken() {
    check(issue(), IntakeFacts::default(), IntakeVerdict::Take);
    let before = IssueFacts { edited_at: Some(999), ..issue() };
    check(
        before,
        IntakeFacts { failures: 2, open: 2, today: 4, ..IntakeFacts::default() },
        IntakeVerdict::Take,
    );
}

#[test]
fn each_rule_refuses_what_it_is_about() {
    let none = IntakeFacts::default();
    let by = |by| IssueFacts { label: Some(LabelEvent { by, at: 1000 }), ..issue() };
    check(IssueFacts { is_open: false, ..issue() }, none, IntakeVerdict::Closed);
    check(issue(), IntakeFacts { is_known: true, ..none }, IntakeVerdict::Known);
    check(issue(), IntakeFacts { has_open_task: true, ..none }, IntakeVerdict::Known);
    check(issue(), IntakeFacts { failures: 3, ..none }, IntakeVerdict::Quarantined);
    check(IssueFacts { label: None, ..issue() }, none, IntakeVerdict::NoLabelEvent);
    check(by(None), none, IntakeVerdict::LabelledBy);
    check(by(Some(EVE)), none, IntakeVerdict::LabelledBy);
    check(by(Some(Account { is_bot: true, ..ADA })), none, IntakeVerdict::LabelledBy);
    check(IssueFacts { author: Some(EVE), ..issue() }, none, IntakeVerdict::Author);
    check(IssueFacts { author: None, ..issue() }, none, IntakeVerdict::Author);
    for edited in [1000, 1001] {
        check(IssueFacts { edited_at: Some(edited), ..issue() }, none, IntakeVerdict::Edited);
    }
    check(IssueFacts { blockers: &[Blocker { is_task: false }], ..issue() }, none, IntakeVerdict::Blocked);
    check(IssueFacts { blockers: &[Blocker { is_task: true }], ..issue() }, none, IntakeVerdict::Take);
    check(issue(), IntakeFacts { open: 3, ..none }, IntakeVerdict::MaxOpen);
    check(issue(), IntakeFacts { today: 5, ..none }, IntakeVerdict::MaxPerDay);
}

#[test]
fn a_list_of_people_is_the_whole_list() {
    let named = Authors::Logins(vec!["eve".to_owned()]);
    let judged = |authors: &IntakeAuthors, labelled_by: &Authors| {
        let issue = IssueFacts { author: Some(EVE), ..issue() };
        IntakeRule { authors, labelled_by, max_open: 1, max_per_day: 1 }
            .judge(&issue, &IntakeFacts::default())
    };
    assert_eq!(judged(&IntakeAuthors::Anyone, &Authors::Write), IntakeVerdict::Take);
    assert_eq!(judged(&IntakeAuthors::Of(named.clone()), &Authors::Write), IntakeVerdict::Take);
    assert_eq!(judged(&IntakeAuthors::Anyone, &named), IntakeVerdict::LabelledBy);
}

#[test]
fn only_failures_in_a_row_count() {
    use IntakeEnd::{Done, Failed, Retried};
    for (ends, expect) in [
        (vec![], 0),
        (vec![Failed, Failed], 2),
        (vec![Failed, Failed, Done, Failed], 1),
        (vec![Failed, Failed, Failed, Retried], 0),
    ] {
        assert_eq!(failures(ends.clone()), expect, "{ends:?}");
    }
}

#[test]
fn a_source_is_read_as_it_is_written() {
    let issue = Source::Issue { repository: "github.com/o/r", number: 42, event: "LE_x" };
    let slot = Source::Slot { name: "triage", time: "2026-11-27T07:00" };
    for (text, expect, is_foreign) in [
        ("github.com/o/r#42@LE_x", Some(issue), true),
        ("triage@2026-11-27T07:00", Some(slot), false),
        ("github.com/o/r#x@LE_x", None, true),
        ("github.com/o/r#42", None, true),
        ("@x", None, true),
        ("", None, true),
    ] {
        assert_eq!((Source::parse(text), Source::is_foreign(text)), (expect, is_foreign), "{text}");
        expect.map_or_else(|| (), |source| assert_eq!(source.to_string(), text));
    }
    assert_eq!(mark("LE_x-->\n"), "<!-- orange:intake:LE_x -->");
}

/// Whatever the facts are, a task needs a label of a writer that is younger than the text, and room.
#[test]
fn nothing_is_taken_without_a_writer_and_room() {
    const BOOLS: [bool; 2] = [false, true];
    let bot = Account { is_bot: true, ..ADA };
    let accounts = [None, Some(ADA), Some(EVE), Some(bot)];
    let person = |account: Option<Account<'_>>| account.is_some_and(|it| it.may_write && !it.is_bot);
    let all = [IntakeAuthors::Anyone, IntakeAuthors::default()];
    let blocked: [&[Blocker]; 3] = [&[], &[Blocker { is_task: true }], &[Blocker { is_task: false }]];
    let knowns = BOOLS.into_iter().flat_map(|is_known| BOOLS.map(|has_open_task| (is_known, has_open_task)));
    let counts = (0..5)
        .flat_map(|failures| (0..4).flat_map(move |open| (0..5).map(move |today| (failures, open, today))));
    let knowns: Vec<IntakeFacts> = knowns
        .flat_map(|(is_known, has_open_task)| {
            counts.clone().map(move |(failures, open, today)| IntakeFacts {
                is_known,
                has_open_task,
                failures,
                open,
                today,
            })
        })
        .collect();
    let labels = accounts.iter().map(|by| Some(LabelEvent { by: *by, at: 2 })).chain([None]);
    let issues = labels.flat_map(|label| {
        [None, Some(1), Some(2), Some(3)].into_iter().flat_map(move |edited_at| {
            accounts.into_iter().flat_map(move |author| {
                blocked.into_iter().flat_map(move |blockers| {
                    BOOLS.map(|is_open| IssueFacts { is_open, author, label, edited_at, blockers })
                })
            })
        })
    });
    for issue in issues {
        for authors in &all {
            let rule = IntakeRule { authors, labelled_by: &Authors::Write, max_open: 2, max_per_day: 3 };
            let may = issue.is_open
                && person(issue.label.and_then(|label| label.by))
                && (*authors == IntakeAuthors::Anyone || person(issue.author))
                && issue.edited_at.is_none_or(|edited| edited < 2)
                && issue.blockers.iter().all(|blocker| blocker.is_task);
            for known in &knowns {
                let has_room = !known.is_known
                    && !known.has_open_task
                    && known.failures < 3
                    && known.open < 2
                    && known.today < 3;
                let verdict = rule.judge(&issue, known);
                assert_eq!(verdict == IntakeVerdict::Take, may && has_room, "{issue:?} {known:?}");
            }
        }
    }
}
