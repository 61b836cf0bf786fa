//! Mending by example.

use orange_codegen::{Source, compile};

use super::*;

const FLOW: &str = "\
# A flow.
name: flow
version: 1
states:
  pending: {}    # starts here
  working: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: working}
  - from: working   # and on
    to: 'done'
";

fn findings(text: &str) -> Vec<Diagnostic> {
    compile(&Source::new("flow.yml", text)).diagnostics
}

#[track_caller]
fn check(broken: &str, made: usize, expect: &str) {
    let mended = mend(broken, Reach::Safe, findings);
    assert_eq!((mended.text.as_str(), mended.made), (expect, made), "{:?}", mended.refused);
    assert_eq!(mend(&mended.text, Reach::Safe, findings).made, 0);
}

#[test]
fn only_the_wrong_bytes_change() {
    check(FLOW, 0, FLOW);
    check(&FLOW.replace("'done'", "'doen'"), 1, FLOW);
    check(&FLOW.replace("transitions", "transistions").replace("to: working", "to: wroking"), 2, FLOW);
    check(&FLOW.replace('\n', "\r\n").replace("doen", "done"), 0, &FLOW.replace('\n', "\r\n"));
    check(&FLOW.replace("states:", "staets:").replace("terminal: true", "terminl: yes"), 3, FLOW);
}

#[test]
fn a_fix_may_bring_the_next_one_to_light() {
    let broken = FLOW.replace("to: 'done'", "to: 'done'\n    when: \"reviw_round =< 1 and crash_count = 1\"");
    let expect =
        FLOW.replace("to: 'done'", "to: 'done'\n    when: \"review_round <= 1 && crash_count == 1\"");
    let mended = mend(&broken, Reach::Safe, findings);
    assert_eq!(mended.text, expect, "{:?}", mended.refused);
}

#[test]
fn what_makes_something_else_wrong_is_not_made() {
    let broken = FLOW.replace(
        "    to: 'done'\n",
        "    to: 'done'\n  - {from: working, to: done, when: \"review_round =< 1\"}\n",
    );
    let mended = mend(&broken, Reach::Safe, findings);
    assert_eq!((mended.text.as_str(), mended.made), (broken.as_str(), 0));
    let [refused] = &mended.refused[..] else { panic!("{:?}", mended.refused) };
    assert_eq!(refused.title, "write `<=`");
    assert!(
        refused.why.starts_with("there would be a new error[A07 ambiguous-transitions]: "),
        "{}",
        refused.why
    );
}

#[test]
fn one_that_is_refused_holds_no_other_up() {
    let broken = FLOW
        .replace(
            "    to: 'done'\n",
            "    to: 'done'\n  - {from: working, to: done, when: \"review_round =< 1\"}\n",
        )
        .replace("to: working", "to: wroking");
    let mended = mend(&broken, Reach::Safe, findings);
    assert_eq!((mended.text, mended.made), (broken.replace("wroking", "working"), 1));
    assert_eq!(mended.refused.len(), 1);
}

#[test]
fn unsafe_fixes_are_made_on_request() {
    let find = |text: &str| {
        let mut found = findings(text);
        for finding in &mut found {
            if let Some(fix) = &mut finding.fix {
                fix.safe = false;
            }
        }
        found
    };
    let broken = FLOW.replace("to: working", "to: wroking");
    assert_eq!(mend(&broken, Reach::Safe, find).text, broken);
    assert_eq!(mend(&broken, Reach::All, find).text, FLOW);
}

#[test]
fn fixes_at_one_place_are_made_one_after_the_other() {
    let fix = |at, text: &str| Fix::replace("x", orange_codegen::Span::at(at), text);
    assert!(apply::overlap(&fix(3, "a"), &fix(3, "b")));
    assert!(!apply::overlap(&fix(3, "a"), &fix(4, "b")));
}

#[test]
fn mending_ends_whatever_the_fixes_do() {
    let endless = |text: &str| {
        let span = orange_codegen::Span::at(text.len() as u32);
        (text.len()..5_000)
            .map(|_| Diagnostic::new(&orange_codegen::catalogue::S01, span, "more"))
            .map(|it| it.fix(Fix::replace("add", span, "x")))
            .collect()
    };
    let mended = mend("", Reach::Safe, endless);
    assert!(mended.made < MAX_CHECKS && mended.refused.is_empty());
}

/// The findings of these checks, those of a list as one fault.
fn faults(faults: &[&[&'static orange_codegen::catalogue::Check]]) -> Vec<Diagnostic> {
    let finding = |check| Diagnostic::new(check, orange_codegen::Span::at(0), "wrong");
    let one = |fault: &&[&'static _]| {
        let all: Vec<Diagnostic> = fault.iter().copied().map(finding).collect();
        Diagnostic { fault: if all.len() > 1 { all.clone() } else { Vec::new() }, ..all[0].clone() }
    };
    faults.iter().map(one).collect()
}

#[test]
fn a_finding_behind_its_cause_is_not_new() {
    use orange_codegen::catalogue::{C46, S06, S07};
    let before = faults(&[&[&C46, &S07]]);
    assert_eq!(judge(&before, &faults(&[&[&S07]])), EditEffect::Better);
    assert_eq!(judge(&before, &faults(&[&[&C46], &[&S07]])), worse("there would be no less to find"));
    let new = "there would be a new warn[S06 name-mismatch]: wrong";
    assert_eq!(judge(&before, &faults(&[&[&S06]])), worse(new));
    assert_eq!(judge(&before, &faults(&[&[&S07, &S06]])), worse(new));
}

fn worse(why: &str) -> EditEffect {
    EditEffect::Worse(why.to_owned())
}

#[test]
fn errors_hide_what_is_not_an_error() {
    use orange_codegen::catalogue::{A01, A07, S06};
    let before = faults(&[&[&A01]]);
    assert_eq!(judge(&before, &faults(&[&[&S06], &[&S06]])), EditEffect::Better);
    let new = "there would be a new error[A07 ambiguous-transitions]: wrong";
    assert_eq!(judge(&before, &faults(&[&[&A07]])), worse(new));
}

#[test]
fn a_diff_says_what_changes() {
    let diff = unified("flow.yml", FLOW, &FLOW.replace("'done'", "done"));
    assert!(diff.starts_with("--- a/flow.yml\n+++ b/flow.yml\n@@ -8,4 +8,4 @@\n"), "{diff}");
    assert!(diff.ends_with("-    to: 'done'\n+    to: done\n"), "{diff}");
    assert_eq!(unified("flow.yml", FLOW, FLOW), "");
}
