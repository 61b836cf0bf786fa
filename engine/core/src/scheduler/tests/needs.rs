//! Steps that need more of a crab than a role.

use alloc::collections::BTreeSet;
use alloc::string::ToString;

use super::cases::check;
use crate::plan::StepId;
use crate::scheduler::{Ability, Item};

#[test]
fn a_step_with_a_need_goes_to_a_crab_with_the_ability() {
    check(
        "register(A,any) park(A) want(m#1,worker/wall) | +m#1 | m#1 |
         register(B,worker,/gates) park(B) | | m#1 |
         register(C,any,/gates,/wall) park(C) | -m C<m#1 | | C:m#1?
         want(n#1,worker) | B<n#1 | | B:n#1? C:m#1?",
    );
}

#[test]
fn a_need_holds_up_no_other_step_of_its_role() {
    check(
        "want(m#1,worker/wall) want(n#1,worker) | +m#1 +n#1 | m#1 n#1 |
         register(A,worker) park(A) | -n A<n#1 | m#1 | A:n#1?",
    );
}

#[test]
fn a_crab_that_loses_an_ability_loses_its_offer() {
    check(
        "register(A,worker,/wall) park(A) want(m#1,worker/wall) | A<m#1 | | A:m#1?
         register(A,worker) | A!m#1 +m#1 | m#1 |
         park(A) | | m#1 |
         register(A,worker,/wall) | -m A<m#1 | | A:m#1?",
    );
}

#[test]
fn a_lane_says_role_and_needs() {
    let of = |lane: &str| Item::of_lane(lane, "m".to_string(), StepId(0), 1);
    for (lane, role, needs) in [
        ("worker", "worker", ""),
        ("worker,wall", "worker", "/wall"),
        ("any,gates,wall", "any", "/gates/wall"),
        ("worker,later", "worker,later", ""),
        ("worker,later,wall", "worker,later", "/wall"),
    ] {
        let item = of(lane);
        assert_eq!((item.role.as_str(), &item.needs), (role, &abilities_of(needs)), "{lane}");
        assert_eq!(item.lane(), lane);
    }
    assert!(Ability::ALL.iter().all(|it| Ability::parse(it.as_str()) == Some(*it)));
}

/// The abilities behind slashes.
pub(super) fn abilities_of(text: &str) -> BTreeSet<Ability> {
    let words = text.split('/').filter(|it| !it.is_empty());
    words.map(|it| Ability::parse(it).unwrap_or_else(|| panic!("there is no ability {it}"))).collect()
}
