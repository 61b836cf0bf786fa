//! Why a step waits for a crab, in words.

use orange_core::scheduler::{ANY, Crab};

use super::{ColonyState, StoredMission};

impl ColonyState {
    /// Why the next step of a mission waits; `None` when it waits for nothing of this colony, or a crab has it.
    pub fn why_waits(&self, stored: &StoredMission) -> Option<String> {
        let (step, _) = stored.mission.next()?;
        let has_crab = self.scheduler.leases.contains_key(&stored.row.id);
        (!has_crab).then(|| self.why_no_crab(stored.plan.role(stored.plan.step(step).role)))?
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

    fn why(crabs: &[(&str, Crab)]) -> Option<String> {
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
        ColonyState { colony, scheduler, crabs: names, waiting: Vec::new() }.why_no_crab("worker")
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
}
