//! Reason that a step waits for a crab, in words.

use orange_core::scheduler::{ANY, Crab};

use super::{ColonyState, StoredMission};

impl ColonyState {
    /// Reason that no step of a mission starts; `None` when it waits for nothing of this colony, or a crab has one.
    pub fn why_waits(&self, stored: &StoredMission) -> Option<String> {
        if self.scheduler.leases.contains_key(&stored.row.id) {
            return None;
        }
        let roles = stored
            .mission
            .startable(stored.plan)
            .map(|(step, _)| stored.plan.role(stored.plan.step(step).role));
        self.why_no_step(roles)
    }

    fn why_no_step<'r>(&self, roles: impl Iterator<Item = &'r str>) -> Option<String> {
        let mut reasons: Vec<String> = Vec::new();
        for role in roles {
            let reason = self.why_no_crab(role)?;
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

    fn why_no_crab(&self, role: &str) -> Option<String> {
        let takers = || self.scheduler.crabs.iter().filter(|(_, it)| it.takes(role));
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
            None => format!("the colony has no crab that takes {role}"),
        })
    }
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
        state(crabs).why_no_crab("worker")
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
    fn a_mission_waits_when_none_of_its_steps_has_a_crab() {
        let crab = Crab { roles: vec!["worker".to_owned()], is_parked: true, ..Crab::default() };
        let check = |crab: &Crab, expect: Option<&str>| {
            let state = state(&[("a", crab.clone())]);
            let why = state.why_no_step(["planner", "worker"].into_iter());
            assert_eq!(why.as_deref(), expect);
        };
        check(&crab, None);
        let busy = Crab { mission: Some("m".to_owned()), ..crab };
        let why = "the colony has no crab that takes a step of the role planner; \
                   every crab that takes a step of the role worker is at work";
        check(&busy, Some(why));
    }
}
