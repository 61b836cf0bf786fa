//! Reason that a step waits for a crab, in words.

use std::collections::BTreeSet;

use orange_core::scheduler::{ANY, Ability, Crab};

use super::{ColonyState, StoredMission};
use crate::model;

impl ColonyState {
    /// Reason that no step of a mission starts; `None` when it waits for nothing of this colony, or a crab has one.
    pub fn why_waits(&self, stored: &StoredMission) -> Option<String> {
        if self.scheduler.leases.contains_key(&stored.row.id) {
            return None;
        }
        let steps = model::mission::work(stored.plan, &stored.mission).map(|(step, _)| {
            (stored.plan.role(stored.plan.step(step).role), Ability::needed_by(stored.plan, step))
        });
        self.why_no_step(steps)
    }

    fn why_no_step<'r>(&self, steps: impl Iterator<Item = (&'r str, BTreeSet<Ability>)>) -> Option<String> {
        let mut reasons: Vec<String> = Vec::new();
        for (role, needs) in steps {
            let reason = self.why_no_crab(role, &needs)?;
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The name of a crab, or its id where that is all there is.
    pub fn name_of<'c>(&'c self, crab: &'c str) -> &'c str {
        self.crabs.iter().find(|it| it.0 == crab).map_or(crab, |it| it.1.as_str())
    }

    fn why_no_crab(&self, role: &str, needs: &BTreeSet<Ability>) -> Option<String> {
        let of_role = || self.scheduler.crabs.iter().filter(|(_, it)| it.takes_role(role));
        let takers = || of_role().filter(|(_, it)| it.can(needs));
        let able = || takers().map(|it| it.1).filter(|it| it.fault.is_none());
        let role = if role == ANY { "a step".to_owned() } else { format!("a step of the role {role}") };
        if able().any(Crab::is_idle) {
            return None;
        }
        if able().any(|it| it.mission.is_some()) {
            return Some(format!("every crab that takes {role} is at work"));
        }
        if able().next().is_some() {
            return Some(format!("no crab that takes {role} is connected"));
        }
        let faulty = takers().find_map(|(id, it)| Some((id, it.fault.as_deref()?)));
        Some(match faulty {
            Some((id, fault)) => {
                format!("every crab that takes {role} has a fault; {}: {fault}", self.name_of(id))
            }
            None if of_role().next().is_none() => format!("the colony has no crab that takes {role}"),
            None => format!("no crab that takes {role} {}", lack(needs)),
        })
    }
}

/// Abilities that crabs lack, with the remedy.
fn lack(needs: &BTreeSet<Ability>) -> String {
    let words = needs.iter().map(|it| match it {
        Ability::Gates => "checks gates (upgrade its orange-fleet)",
        Ability::Wall => {
            "can make a wall (`orange doctor --wall` on its machine says why; then start it again)"
        }
    });
    words.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use orange_core::scheduler::Scheduler;

    use super::*;
    use crate::host::Colony;

    fn state(crabs: &[(&str, Crab)]) -> ColonyState {
        let crabs = crabs.iter().map(|(id, it)| ((*id).to_owned(), it.clone())).collect();
        let colony = Colony {
            id: "c".to_owned(),
            name: "c".to_owned(),
            repository: String::new(),
            base: None,
            created: 0,
        };
        let names = vec![("b".to_owned(), "Sage".to_owned(), 0)];
        let scheduler = Scheduler { crabs, ..Scheduler::default() };
        ColonyState { colony, scheduler, crabs: names, waiting: Vec::new() }
    }

    fn why(crabs: &[(&str, Crab)]) -> Option<String> {
        state(crabs).why_no_crab("worker", &BTreeSet::new())
    }

    #[test]
    fn a_step_waits_for_a_reason() {
        let of = |role: &str| Crab { roles: vec![role.to_owned()], ..Crab::default() };
        let busy = || Crab { mission: Some("m".to_owned()), ..of("worker") };
        let faulty = || Crab { fault: Some("the disk is full".to_owned()), ..of("any") };
        let check = |crabs: &[(&str, Crab)], expect: Option<&str>| assert_eq!(why(crabs).as_deref(), expect);
        let none = "the colony has no crab that takes a step of the role worker";
        check(&[], Some(none));
        check(&[("a", of("planner"))], Some(none));
        check(&[("a", of("worker"))], Some("no crab that takes a step of the role worker is connected"));
        let fault = "every crab that takes a step of the role worker has a fault; Sage: the disk is full";
        check(&[("b", faulty())], Some(fault));
        let all_busy = "every crab that takes a step of the role worker is at work";
        check(&[("a", busy()), ("b", faulty())], Some(all_busy));
        check(&[("a", busy()), ("b", Crab { is_parked: true, ..of("any") })], None);
    }

    #[test]
    fn a_step_with_a_need_waits_for_a_crab_with_the_ability() {
        let crab = |abilities: &[Ability]| Crab {
            roles: vec!["worker".to_owned()],
            is_parked: true,
            abilities: abilities.iter().copied().collect(),
            ..Crab::default()
        };
        let why = |crabs: &[(&str, Crab)], needs: &[Ability]| {
            state(crabs).why_no_crab("worker", &needs.iter().copied().collect())
        };
        let check = |has: &[Ability], needs: &[Ability], part: Option<&str>| {
            let found = why(&[("a", crab(has))], needs);
            let is_it = found.as_deref().zip(part).is_some_and(|(found, part)| found.contains(part));
            assert!(is_it || found.is_none() && part.is_none(), "{found:?} {part:?}");
        };
        let both = Ability::ALL;
        check(&[], &[], None);
        check(&both, &both, None);
        check(&[Ability::Gates], &both, Some("no crab that takes a step of the role worker checks gates"));
        check(&[Ability::Gates], &[Ability::Wall], Some("worker can make a wall (`orange doctor --wall`"));
        check(&[], &[Ability::Gates], Some("worker checks gates (upgrade its orange-fleet)"));
        let busy = Crab { mission: Some("m".to_owned()), ..crab(&both) };
        let found = why(&[("a", crab(&[])), ("b", busy)], &[Ability::Wall]);
        assert_eq!(found.unwrap(), "every crab that takes a step of the role worker is at work");
        let none = "the colony has no crab that takes a step of the role worker";
        assert_eq!(why(&[], &[Ability::Wall]).unwrap(), none);
    }

    #[test]
    fn a_mission_waits_when_none_of_its_steps_has_a_crab() {
        let crab = Crab { roles: vec!["worker".to_owned()], is_parked: true, ..Crab::default() };
        let check = |crab: &Crab, expect: Option<&str>| {
            let state = state(&[("a", crab.clone())]);
            let why = state.why_no_step(["planner", "worker"].into_iter().map(|it| (it, BTreeSet::new())));
            assert_eq!(why.as_deref(), expect);
        };
        check(&crab, None);
        let busy = Crab { mission: Some("m".to_owned()), ..crab };
        let why = "the colony has no crab that takes a step of the role planner; \
                   every crab that takes a step of the role worker is at work";
        check(&busy, Some(why));
    }
}
