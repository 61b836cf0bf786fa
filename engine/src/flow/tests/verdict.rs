//! Verdicts by request.

use super::*;
use crate::flow::verdict::verdict;

fn body(lab: &TaskLab) -> String {
    lab.task().body
}

fn judge(lab: &TaskLab, text: &str) -> crate::Result<String> {
    verdict(&lab.app, &lab.dir, "fail", text).map(|(section, _)| section)
}

#[test]
fn only_a_reviewer_writes_a_verdict() {
    let mut lab = TaskLab::new(REVIEW, "Open code:\n```");
    refused(judge(&lab, "x"), ErrorKind::NotAllowed, "only a reviewer");
    lab.agent(1, Actor::Worker);
    lab.asks_as(1);
    refused(judge(&lab, "x"), ErrorKind::NotAllowed, "only a reviewer");
    lab.app.caller = Caller::Person;
    lab.agent(2, Actor::Reviewer);
    lab.asks_as(2);
    let before = body(&lab);
    refused(judge(&lab, "## Handoff\nDONE: x"), ErrorKind::Refused, "the heading `## Handoff`");
    assert_eq!(body(&lab), before);
    assert_eq!(judge(&lab, "It breaks.").unwrap(), "## Review");
    assert!(body(&lab).ends_with("```\n\n## Review\n\nVerdict: FAIL\n\nIt breaks.\n"), "{}", body(&lab));
    if let Caller::Agent { secret, .. } = &mut lab.app.caller {
        *secret = Some("another".to_owned());
    }
    refused(judge(&lab, "x"), ErrorKind::NotAllowed, "ORANGE_SECRET");
}

#[test]
fn a_state_without_a_gate_has_no_verdict() {
    let mut lab = TaskLab::new(WORKING, "");
    lab.agent(1, Actor::Reviewer);
    lab.asks_as(1);
    let error =
        refused(judge(&lab, "x"), ErrorKind::Refused, "no gate of working reads a verdict of a reviewer");
    assert!(error.help.contains("orange task next"), "{}", error.help);
}
