//! Behaviour of a scheduler, case by case. A line is `events | effects | what waits | leases`; what it leaves out is not compared.
//!
//! Events, about crabs `A B C`, and about missions with the numbers of their attempts, such as `m#1`, or `m.2#1` for another step:
//! `register(A,worker) leave(A) park(A) unpark(A) beat(A,m#1) back(A,m#1,WHY) sweep`, and `sweep(2)` where two are known of; `want(m#1,worker)`, `runs(m#1)` and `want(m)` are what a
//! mission wants, `want(m#1,worker+m.2#1,planner)` where one of two steps is to start, each a newer version of it than the one before, `same(…)` repeats that version, and `older(…)` is one before it.
//! `register(A,worker,/wall)` has an ability, and `want(m#1,worker/wall)` needs it.
//! `!` before an event: it is refused and changes nothing; `=`: it changes nothing.
//!
//! Effects: `A<m#1` is an offer, `+m#1` pushes, `-m` removes, `A!m#1` ends an agent, `A~m#1` is a loss. They are those of all events of the line.
//! Leases: `A:m#1`, with `?` until it is accepted, and `*` when its agent runs. The role of a step stays what it was.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::colony::TestColony;
use super::needs::abilities_of;
use crate::plan::StepId;
use crate::scheduler::*;

#[test]
fn a_parked_crab_gets_a_new_step() {
    check("register(A,worker) park(A) | | | \n want(m#1,worker) | A<m#1 | | A:m#1?");
}

#[test]
fn a_step_waits_for_a_crab() {
    check("register(A,worker) want(m#1,worker) | +m#1 | m#1 | \n park(A) | -m A<m#1 | | A:m#1?");
}

#[test]
fn a_step_waits_for_a_crab_with_its_role() {
    check("register(A,worker) park(A) want(m#1,reviewer) | +m#1 | m#1 |");
}

#[test]
fn roles_are_compared_as_written() {
    check(
        "register(A,Worker) park(A) want(m#1,worker) | +m#1 | m#1 |\n register(B,worker) park(B) | -m B<m#1",
    );
}

#[test]
fn the_specialist_comes_before_any() {
    check("register(A,any) park(A) register(B,worker) park(B) want(m#1,worker) | B<m#1 | | B:m#1?");
}

#[test]
fn a_crab_of_any_role_takes_what_no_specialist_can() {
    check(
        "register(A,any) park(A) register(B,worker) want(m#1,worker) | A<m#1 | | A:m#1?
         want(n#1,worker) park(B) | +n#1 -n B<n#1 | | A:m#1? B:n#1?",
    );
}

#[test]
fn a_step_of_any_role_prefers_a_crab_of_any_role() {
    check("register(A,worker) park(A) register(B,any) park(B) want(m#1,any) | B<m#1\n want(n#1,any) | A<n#1");
}

#[test]
fn a_crab_that_parks_gets_the_earliest_step_it_takes() {
    let queue = "want(a#1,reviewer) want(b#1,worker) want(c#1,any) | +a#1 +b#1 +c#1 | a#1 b#1 c#1\n";
    check(&[queue, "register(A,worker) park(A) | -b A<b#1"].concat());
    check(&[queue, "register(A,planner) park(A) | -c A<c#1"].concat());
    check(&[queue, "register(A,any) park(A) | -a A<a#1"].concat());
    check(&[queue, "register(A,planner,reviewer) park(A) | -a A<a#1"].concat());
}

#[test]
fn a_named_role_has_one_crab() {
    check(
        "register(A,worker,planner) !register(B,worker) !register(B,any,planner) register(B,reviewer) | | |",
    );
    let mut colony = TestColony::default();
    let register = |crab: &str| {
        let (crab, roles) = (crab.to_string(), vec!["worker".to_string()]);
        Event::Register { crab, roles, abilities: BTreeSet::new() }
    };
    colony.happens(register("atlas-id")).expect("the role is free");
    let refusal = colony.happens(register("other")).expect_err("the role is taken");
    assert_eq!(refusal.words(), "role 'worker' is already taken in this colony by crab 'atlas-id'");
}

#[test]
fn any_number_of_crabs_take_every_step() {
    check("register(A,any) register(B,any) park(A) park(B) want(m#1,x) want(n#1,y) | A<m#1 B<n#1");
}

#[test]
fn a_crab_needs_a_role() {
    check("!register(A) !park(A) !unpark(A) !leave(A) | | |");
}

#[test]
fn a_crab_changes_its_roles() {
    check(
        "register(A,worker) register(A,reviewer) register(B,worker) | | |
         park(A) want(m#1,worker) | +m#1
         park(B) | -m B<m#1",
    );
}

#[test]
fn a_parked_crab_with_a_new_role_gets_what_waits() {
    check(
        "register(A,worker) park(A) want(m#1,reviewer) want(n#1,reviewer) | +m#1 +n#1
         register(A,worker,reviewer) | -m A<m#1 | n#1 | A:m#1?",
    );
}

#[test]
fn of_two_sweeps_that_know_of_as_many_one_counts() {
    check(
        "register(A,worker) want(m#1,worker) park(A) | +m#1 -m A<m#1
         sweep(0) !sweep(0) !sweep(2) | | | A:m#1?
         sweep(1) | +m#1 A~m#1 | m#1 |",
    );
}

#[test]
fn a_crab_that_registers_again_keeps_its_lease() {
    check(
        "register(A,worker) park(A) want(m#1,worker) beat(A,m#1) | A<m#1 | | A:m#1
         register(A,reviewer) | | | A:m#1
         beat(A,m#1) park(A) want(n#1,reviewer) | +n#1 | n#1 | A:m#1",
    );
}

#[test]
fn an_offer_ends_when_its_crab_gives_up_the_role() {
    check(
        "register(A,worker) park(A) want(m#1,worker) | A<m#1
         register(A,reviewer) | A!m#1 +m#1 | m#1 |
         register(B,any) park(B) | -m B<m#1",
    );
    check(
        "register(A,worker) park(A) register(B,any) park(B) want(m#1,worker) | A<m#1
         register(A,reviewer) | A!m#1 B<m#1 | | B:m#1?",
    );
}

#[test]
fn an_offer_is_made_again_when_its_crab_parks() {
    check("register(A,worker) want(m#1,worker) park(A) park(A) | +m#1 -m A<m#1 A<m#1 | | A:m#1?");
}

#[test]
fn a_crab_gets_one_step_at_a_time() {
    check(
        "register(A,any) park(A) want(m#1,worker) beat(A,m#1) park(A) want(n#1,worker) | A<m#1 +n#1 | n#1 | A:m#1
         runs(m#1) | | n#1 | A:m#1*
         want(m) | A!m#1 -n A<n#1 | | A:n#1?",
    );
}

#[test]
fn a_mission_that_has_begun_comes_before_later_ones() {
    check(
        "want(m#1,planner) want(n#1,planner) register(A,any) park(A) beat(A,m#1) runs(m#1) park(A) | +m#1 +n#1 -m A<m#1
         want(m.1#1,worker) | A!m#1 A<m.1#1 | n#1 | A:m.1#1?",
    );
    check(
        "want(n#1,planner) want(m#1,worker) register(A,worker) park(A) beat(A,m#1) runs(m#1) | +n#1 +m#1 -m A<m#1
         register(A,any) park(A) | | n#1 | A:m#1*
         want(m.1#1,worker) | A!m#1 -n A<n#1 +m.1#1 | m.1#1 | A:n#1?",
    );
}

#[test]
fn a_freed_crab_parks_by_itself() {
    check(
        "register(A,any) park(A) want(m#1,worker) beat(A,m#1) runs(m#1) want(n#1,worker) | A<m#1 +n#1
         want(m#2,worker) | A!m#1 +m#2 | m#2 n#1 |
         park(A) | -m A<m#2 | n#1 | A:m#2?",
    );
}

#[test]
fn a_repeated_want_changes_nothing() {
    check(
        "want(m#1,worker) =same(m#1,worker) | +m#1 | m#1
         register(A,any) park(A) =same(m#1,worker) | -m A<m#1 | | A:m#1?
         runs(m#1) =same(runs(m#1)) | | | A:m#1*",
    );
}

#[test]
fn an_older_want_changes_nothing() {
    check(
        "want(m#1,worker) want(m#2,worker) =older(m#1,worker) =older(m) | +m#1 -m +m#2 | m#2
         register(A,any) park(A) =older(m#1,worker) =older(m) | -m A<m#2 | | A:m#2?
         want(m#2,worker) =older(m) | | | A:m#2?",
    );
}

#[test]
fn a_step_keeps_its_place_in_a_newer_version() {
    check(
        "want(m#1,worker) want(n#1,worker) want(m#1,worker) | +m#1 +n#1 -m +m#1 | m#1 n#1\n =older(m) | | m#1 n#1",
    );
}

#[test]
fn what_is_not_wanted_is_withdrawn() {
    check("want(m#1,worker) want(m) | +m#1 -m | |");
    check("register(A,any) park(A) want(m#1,worker) want(m) | A<m#1 A!m#1 | |");
    check("register(A,any) park(A) want(m#1,worker) beat(A,m#1) runs(m#1) want(m) | A<m#1 A!m#1 | |");
    check("register(A,any) park(A) want(m#1,worker) want(m#2,worker) | A<m#1 A!m#1 +m#2 | m#2 |");
}

#[test]
fn a_start_accepts_an_offer() {
    check(
        "register(A,any) park(A) want(m#1,worker) runs(m#1) sweep sweep | A<m#1 | | A:m#1*
         sweep | A~m#1 | |",
    );
}

#[test]
fn a_start_is_a_sign_of_life_and_a_repetition_of_it_is_none() {
    check(
        "register(A,any) park(A) want(m#1,worker) sweep runs(m#1) sweep sweep runs(m#1) | A<m#1 | | A:m#1*
         sweep | A~m#1 | |",
    );
}

#[test]
fn a_step_that_runs_is_not_started() {
    let mut colony = TestColony::default();
    let item = Item::of_lane(ANY, "m".to_string(), StepId(0), 1);
    let (mission, running) = ("m".to_string(), Some((StepId(0), 1)));
    let (next, waiting) = (vec![item], Vec::new());
    let both = Event::Want { mission, version: 1, ticket: 1, next, running, waiting };
    assert_eq!(colony.happens(both), Ok(Vec::new()));
}

#[test]
fn an_offer_without_a_heartbeat_goes_to_another_crab() {
    check(
        "register(A,worker) park(A) want(m#1,worker) register(B,any) park(B) sweep | A<m#1 | | A:m#1?
         sweep | B<m#1 A~m#1 | | B:m#1?
         beat(A,m#1) | A!m#1 | | B:m#1?
         beat(B,m#1) sweep sweep want(n#1,worker) | +n#1 | n#1 | B:m#1
         park(A) | -n A<n#1",
    );
}

#[test]
fn an_offer_without_a_heartbeat_waits_in_its_old_place() {
    check(
        "register(A,any) park(A) want(m#1,worker) want(n#1,worker) sweep sweep | A<m#1 +n#1 +m#1 A~m#1 | m#1 n#1 |
         park(A) | -m A<m#1 | n#1 | A:m#1?",
    );
}

#[test]
fn heartbeats_keep_a_lease() {
    check(
        "register(A,any) park(A) want(m#1,x) sweep beat(A,m#1) | A<m#1 | | A:m#1
         sweep sweep beat(A,m#1) sweep sweep | | | A:m#1
         sweep | +m#1 A~m#1 | m#1 |",
    );
}

#[test]
fn a_crab_that_is_silent_at_work_is_lost_with_its_roles() {
    check(
        "register(A,worker) park(A) want(m#1,x) | +m#1
         want(n#1,worker) runs(n#1) | A<n#1 | m#1 | A:n#1*
         !register(B,worker) sweep sweep sweep | A~n#1 | m#1 |
         register(B,worker) !park(A) !register(A,worker) beat(A,n#1) | A!n#1
         want(n#2,worker) park(B) | +n#2 -n B<n#2",
    );
}

#[test]
fn a_crab_that_leaves_frees_its_roles() {
    check(
        "register(A,worker) park(A) leave(A) register(B,worker) want(m#1,worker) | +m#1\n !leave(A) | | m#1 |",
    );
    check("register(A,worker) park(A) want(m#1,worker) leave(A) | A<m#1 +m#1 A~m#1 | m#1 |");
    check("register(A,worker) park(A) want(m#1,worker) runs(m#1) leave(A) | A<m#1 A~m#1 | |");
    check(
        "register(A,worker) park(A) register(B,any) park(B) want(m#1,worker) beat(A,m#1) | A<m#1
         leave(A) | B<m#1 A~m#1 | | B:m#1?",
    );
}

#[test]
fn a_step_that_is_given_back_goes_to_another_crab() {
    check(
        "register(A,worker) park(A) register(B,any) park(B) want(m#1,worker) want(n#1,worker) | A<m#1 B<n#1
         !back(B,m#1,full) !back(A,m#2,full) !back(C,m#1,full) back(A,m#1,full) | +m#1 | m#1 | B:n#1?
         park(A) =register(C,reviewer) | | m#1 | B:n#1?
         want(n) park(B) | B!n#1 -m B<m#1 | | B:m#1?
         want(o#1,worker) | +o#1
         register(A,worker) | -o A<o#1",
    );
    check("register(A,worker) park(A) register(B,any) park(B) want(m#1,worker) back(A,m#1,no) | A<m#1 B<m#1");
    check(
        "register(A,any) park(A) want(m#1,x) beat(A,m#1) park(A) back(A,m#1,no) register(A,any) | A<m#1 +m#1 | m#1 |",
    );
}

#[test]
fn a_step_that_is_given_back_waits_behind_others() {
    check(
        "register(A,any) park(A) want(m#1,x) want(n#1,x) back(A,m#1,no) | A<m#1 +n#1 +m#1 | n#1 m#1 |
         register(A,any) park(A) back(A,n#1,no) | -n A<n#1 +n#1 | m#1 n#1 |
         register(A,any) park(A) want(k#1,x) back(A,m#1,no) | -m A<m#1 +k#1 +m#1 | k#1 n#1 m#1 |",
    );
}

#[test]
fn an_attempt_that_runs_is_lost_when_it_is_given_back() {
    check(
        "register(A,any) park(A) want(m#1,x) runs(m#1) back(A,m#1,no) | A<m#1 A~m#1 | |\n want(m#2,x) park(A) | +m#2",
    );
}

#[test]
fn a_crab_without_connection_gets_nothing() {
    check("register(A,any) park(A) unpark(A) want(m#1,x) | +m#1 | m#1 |\n park(A) | -m A<m#1");
    check("register(A,any) park(A) want(m#1,x) beat(A,m#1) unpark(A) beat(A,m#1) | A<m#1 | | A:m#1");
}

#[test]
fn several_offers_that_expire_keep_their_order() {
    check(
        "register(A,any) register(B,any) park(B) want(m#1,x) park(A) want(b#1,x) want(c#1,y) | B<m#1 A<b#1 +c#1
         register(C,any) unpark(C) sweep sweep | +m#1 +b#1 B~m#1 A~b#1 | m#1 b#1 c#1 |
         park(C) | -m C<m#1 | b#1 c#1",
    );
}

#[test]
fn a_lost_lease_does_not_feed_its_crab() {
    check(
        "register(A,any) park(A) want(m#1,x) beat(A,m#1) park(A) want(n#1,x) sweep sweep sweep | A<m#1 +n#1 +m#1 A~m#1
         !park(A) register(A,any) park(A) | -m A<m#1",
    );
}

#[test]
fn attempts_of_two_steps_have_the_same_number() {
    check(
        "register(A,any) park(A) want(m#1,x) runs(m#1) want(m.1#1,x) park(A) | A<m#1 A!m#1 +m.1#1 -m A<m.1#1
         beat(A,m#1) !back(A,m#1,no) | A!m#1 | | A:m.1#1?
         beat(A,m.1#1) | | | A:m.1#1",
    );
}

#[test]
fn of_two_steps_of_a_mission_a_crab_gets_the_one_it_takes() {
    let both = "want(m#1,planner+m.1#1,worker) | +m#1 +m.1#1 | m#1 m.1#1 |\n";
    check(&[both, "register(A,worker) park(A) | -m A<m.1#1 | | A:m.1#1?"].concat());
    check(&[both, "register(A,any) park(A) | -m A<m#1 | | A:m#1?"].concat());
    check("register(A,worker) park(A) want(m#1,planner+m.1#1,worker) | A<m.1#1 | | A:m.1#1?");
    check(
        "register(A,worker) park(A) register(B,planner) park(B) want(m#1,planner+m.1#1,worker) | B<m#1 | | B:m#1?
         beat(B,m#1) runs(m#1) want(m.1#1,worker) | B!m#1 A<m.1#1 | | A:m.1#1?",
    );
}

#[test]
fn a_lease_that_ends_without_a_word_brings_back_every_step() {
    let offered = "want(m#1,planner+m.1#1,worker) register(A,worker) park(A) | +m#1 +m.1#1 -m A<m.1#1\n";
    check(&[offered, "leave(A) | +m#1 +m.1#1 A~m.1#1 | m#1 m.1#1 |"].concat());
    check(&[offered, "sweep sweep | +m#1 +m.1#1 A~m.1#1 | m#1 m.1#1 |"].concat());
    check(&[offered, "back(A,m.1#1,full) | +m#1 +m.1#1 | m#1 m.1#1 |"].concat());
    check(&[offered, "register(B,planner) park(B) leave(A) | B<m#1 A~m.1#1 | | B:m#1?"].concat());
    check(&[offered, "register(A,reviewer) | A!m.1#1 +m#1 +m.1#1 | m#1 m.1#1 |"].concat());
    check(&[offered, "runs(m.1#1) leave(A) | A~m.1#1 | |"].concat());
    check(&[offered, "want(m.1#1,worker) leave(A) | +m.1#1 A~m.1#1 | m.1#1 |"].concat());
}

#[test]
fn a_step_that_is_given_back_waits_behind_its_siblings() {
    check(
        "register(A,any) park(A) want(m#1,x+m.1#1,x) want(n#1,x) back(A,m#1,full) | A<m#1 +n#1 +m.1#1 +m#1 | m.1#1 n#1 m#1 |
         want(m#1,x+m.1#1,x) | -m +m.1#1 +m#1 | m.1#1 n#1 m#1 |
         register(A,any) park(A) | -m A<m.1#1 | n#1 | A:m.1#1?",
    );
}

#[test]
fn an_earlier_mission_comes_first_whichever_step_it_has() {
    check(
        "want(m#1,planner+m.1#1,worker) want(n#1,worker) | +m#1 +m.1#1 +n#1 | m#1 m.1#1 n#1 |
         register(A,worker) park(A) beat(A,m.1#1) park(A) | -m A<m.1#1 | n#1 | A:m.1#1
         want(m#1,planner+m.2#1,worker) | A!m.1#1 A<m.2#1 | n#1 | A:m.2#1?
         beat(A,m.2#1) park(A) want(m#1,planner) | A!m.2#1 -n A<n#1 +m#1 | m#1 | A:n#1?",
    );
}

#[test]
fn a_step_that_may_start_later_joins_those_that_wait() {
    check(
        "want(m#1,planner) register(A,worker) park(A) | +m#1 | m#1 |
         want(m#1,planner+m.1#1,reviewer) =same(m#1,planner+m.1#1,reviewer) | -m +m#1 +m.1#1 | m#1 m.1#1 |
         want(m#1,planner+m.1#1,reviewer+m.2#1,worker) | -m A<m.2#1 | | A:m.2#1?
         want(m) | A!m.2#1 | |",
    );
}

#[test]
fn an_attempt_that_runs_without_a_lease_is_lost() {
    check("want(m#1,x) runs(m#1) | +m#1 -m ~m#1 | |");
    check("register(A,any) want(m#1,x) runs(m#2) | +m#1 -m | |");
    check("register(A,any) park(A) want(m#1,x) runs(m#2) | A<m#1 A!m#1 | |");
    check("runs(m#1) | | |");
}

/// Runs the lines.
#[track_caller]
pub(super) fn check(lines: &str) {
    let mut case = ScheduleCase::default();
    for line in lines.lines() {
        let mut columns = line.split('|').map(str::trim);
        let events = columns.next().unwrap_or_default();
        let effects: Vec<String> = events.split_whitespace().flat_map(|it| case.happens(it)).collect();
        let found = [effects.join(" "), case.waiting(), case.leases()];
        for (expected, found) in columns.zip(found) {
            assert_eq!(expected, found, "in `{}`", line.trim());
        }
    }
}

#[derive(Clone, Default)]
struct ScheduleCase {
    colony: TestColony,
    missions: BTreeMap<String, KnownMission>,
}

/// A mission; missions have tickets in the order in which a case names them.
#[derive(Clone, Default)]
struct KnownMission {
    version: u64,
    ticket: u64,
    role: String,
}

impl ScheduleCase {
    #[track_caller]
    fn happens(&mut self, text: &str) -> Vec<String> {
        let name = text.trim_start_matches(['!', '=']);
        let event = self.event(name);
        let before = self.colony.clone();
        let answer = self.colony.happens(event);
        if name != text {
            assert_eq!(answer.is_err(), text.starts_with('!'), "{text}: {answer:?}");
            self.colony.reads = before.reads;
            let is_same = self.colony == before || text.starts_with("=register");
            assert!(is_same, "{text} changes the colony");
        }
        let effects = match answer {
            Ok(effects) => effects,
            Err(refusal) => {
                assert!(text.starts_with('!'), "{text} is refused: {}", refusal.words());
                Vec::new()
            }
        };
        effects.iter().map(word).collect()
    }

    fn event(&mut self, text: &str) -> Event {
        let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
        let arguments = arguments.trim_end_matches(')');
        let words: Vec<&str> = arguments.split(',').filter(|it| !it.is_empty()).collect();
        let word = |it: usize| words.get(it).map_or(String::new(), ToString::to_string);
        let (mission, step, attempt) = numbered(words.get(1).copied().unwrap_or_default());
        match name {
            "register" => {
                let (roles, abilities) =
                    words[1..].iter().partition::<Vec<&str>, _>(|it| !it.starts_with('/'));
                let roles = roles.into_iter().map(ToString::to_string).collect();
                Event::Register { crab: word(0), roles, abilities: abilities_of(&abilities.concat()) }
            }
            "leave" => Event::Leave { crab: word(0) },
            "park" => Event::Park { crab: word(0) },
            "unpark" => Event::Unpark { crab: word(0) },
            "beat" => Event::Heartbeat { leases: vec![(word(0), mission, step, attempt)] },
            "back" => Event::GiveBack { crab: word(0), mission, step, attempt, reason: word(2) },
            "sweep" => Event::Sweep { seen: words.first().and_then(|it| it.parse().ok()) },
            "want" => self.want(1, arguments),
            "runs" => self.want(1, text),
            "same" => self.want(0, arguments),
            "older" => self.want(-1, arguments),
            _ => panic!("there is no event {text}"),
        }
    }

    fn want(&mut self, by: i64, text: &str) -> Event {
        let (is_running, text) = match text.strip_prefix("runs(") {
            Some(rest) => (true, rest.trim_end_matches(')')),
            None => (false, text),
        };
        let (mission, step, attempt) = numbered(text.split([',', '+']).next().unwrap_or_default());
        let ticket = self.missions.len() as u64;
        let known = self
            .missions
            .entry(mission.clone())
            .or_insert(KnownMission { ticket, ..KnownMission::default() });
        let version = known.version.checked_add_signed(by).expect("there is an older version");
        known.version = known.version.max(version);
        let ticket = known.ticket;
        let mut next = Vec::new();
        for step in text.split('+').filter(|_| !is_running && attempt > 0) {
            let (name, role) = step.split_once(',').unwrap_or((step, ""));
            if !role.is_empty() {
                known.role = role.to_string();
            }
            let (mission, step, attempt) = numbered(name);
            let (role, needs) = known.role.split_once('/').unwrap_or((&known.role, ""));
            next.push(Item { mission, step, attempt, role: role.to_string(), needs: abilities_of(needs) });
        }
        let running = is_running.then_some((step, attempt));
        Event::Want { mission, version, ticket, next, running, waiting: Vec::new() }
    }

    fn waiting(&self) -> String {
        let names = self.colony.waiting().into_iter().map(|it| named(&it.item));
        names.collect::<Vec<_>>().join(" ")
    }

    fn leases(&self) -> String {
        let crabs = self.colony.scheduler.crabs.iter();
        let lease = |(crab, known): (&String, &Crab)| {
            let lease = self.colony.scheduler.leases.get(known.mission.as_ref()?)?;
            let mark = match (lease.is_accepted, lease.is_running) {
                (_, true) => "*",
                (true, false) => "",
                (false, false) => "?",
            };
            Some(format!("{crab}:{}{mark}", named(&lease.item)))
        };
        crabs.filter_map(lease).collect::<Vec<_>>().join(" ")
    }
}

fn word(effect: &Effect) -> String {
    match effect {
        Effect::Push(row) => format!("+{}", named(&row.item)),
        Effect::Remove { mission } => format!("-{mission}"),
        Effect::Offer { crab, item } => format!("{crab}<{}", named(item)),
        Effect::EndAgent { crab, mission, step, attempt } => {
            format!("{crab}!{}", attempt_name(mission, *step, *attempt))
        }
        Effect::Lost { crab, item } => format!("{}~{}", crab.clone().unwrap_or_default(), named(item)),
    }
}

fn named(item: &Item) -> String {
    attempt_name(&item.mission, item.step, item.attempt)
}

fn attempt_name(mission: &str, step: StepId, attempt: u32) -> String {
    match step {
        StepId(0) => format!("{mission}#{attempt}"),
        StepId(other) => format!("{mission}.{other}#{attempt}"),
    }
}

/// `m#1`, `m.2#1`, or `m` for no attempt.
fn numbered(text: &str) -> (String, StepId, u32) {
    let (name, attempt) = text.split_once('#').unwrap_or((text, "0"));
    let (mission, step) = name.split_once('.').unwrap_or((name, "0"));
    let number = |it: &str| it.parse::<u16>().expect("a number");
    (mission.to_string(), StepId(number(step)), u32::from(number(attempt)))
}
