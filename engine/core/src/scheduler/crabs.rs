//! Crabs that come, wait and go.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{ANY, Ability, Crab, Effect, Heads, Refusal, Scheduler};

impl Scheduler {
    /// A crab that comes back keeps its lease, and is without fault. An offer that it has not accepted, and may not take any more, goes to
    /// another one.
    pub(super) fn register(
        &mut self,
        heads: &Heads,
        crab: String,
        roles: Vec<String>,
        abilities: BTreeSet<Ability>,
    ) -> Result<Vec<Effect>, Refusal> {
        let roles = each_once(roles);
        if roles.is_empty() {
            return Err(Refusal::NoRole);
        }
        if let Some((role, holder)) = roles.iter().find_map(|it| Some((it, self.holder(it, &crab)?))) {
            return Err(Refusal::RoleTaken { role: role.clone(), holder });
        }
        let known = self.crabs.remove(&crab).unwrap_or_default();
        self.crabs.insert(crab.clone(), Crab { roles, abilities, fault: None, ..known });
        let mut effects = self.withdraw_offer(&crab);
        effects.extend(self.feed(heads, &crab));
        Ok(effects)
    }

    fn withdraw_offer(&mut self, crab: &str) -> Vec<Effect> {
        let Some(known) = self.crabs.get(crab) else { return Vec::new() };
        let offered = known.mission.as_ref().and_then(|it| self.leases.get(it)).filter(|it| !it.is_accepted);
        let Some(lease) = offered.filter(|it| !known.takes(&it.item)).cloned() else {
            return Vec::new();
        };
        self.end_lease(&lease.item.mission);
        let mut effects = vec![lease.end_agent()];
        effects.extend(self.place(lease.back()));
        effects
    }

    /// The other crab that has this role, if only one may have it.
    fn holder(&self, role: &str, crab: &str) -> Option<String> {
        let mut others = self.crabs.iter().filter(|(id, it)| *id != crab && it.has(role));
        others.next().filter(|_| role != ANY).map(|(id, _)| id.clone())
    }

    pub(super) fn leave(&mut self, crab: &str) -> Result<Vec<Effect>, Refusal> {
        let gone = self.crabs.remove(crab).ok_or(Refusal::NoSuchCrab)?;
        let lease = gone.mission.and_then(|it| self.end_lease(&it));
        Ok(self.lose(lease.into_iter().collect()))
    }

    pub(super) fn park(&mut self, heads: &Heads, crab: &str) -> Result<Vec<Effect>, Refusal> {
        let known = self.crabs.get_mut(crab).ok_or(Refusal::NoSuchCrab)?;
        let lease = known.mission.as_ref().and_then(|it| self.leases.get(it));
        if let Some(offered) = lease.filter(|it| !it.is_accepted) {
            return Ok(vec![Effect::Offer { crab: offered.crab.clone(), item: offered.item.clone() }]);
        }
        known.is_parked = true;
        Ok(self.feed(heads, crab))
    }

    pub(super) fn unpark(&mut self, crab: &str) -> Result<Vec<Effect>, Refusal> {
        self.crabs.get_mut(crab).ok_or(Refusal::NoSuchCrab)?.is_parked = false;
        Ok(Vec::new())
    }
}

/// The roles without repetitions, in the same order.
fn each_once(roles: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for role in roles {
        if !found.contains(&role) {
            found.push(role);
        }
    }
    found
}
