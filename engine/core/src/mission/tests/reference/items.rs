//! Items: the jobs of a fan-out, and of steps with their own worktrees, whose branches land.

use super::*;

impl KnownStep {
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        let all = self.tries.iter().zip(&self.shown).zip(&self.places);
        all.map(|((end, shown), (item, landing))| Attempt {
            end: end.clone(),
            shown: shown.clone(),
            item: *item,
            landing: landing.clone(),
        })
        .collect()
    }

    pub(super) fn begins_attempt(&mut self, item: Option<u16>) {
        self.tries.push(None);
        self.shown.push(None);
        self.places.push((item, None));
    }

    /// True if an open item is not queued any more.
    pub(super) fn has_left_queue(&self) -> bool {
        self.items.iter().any(|it| it.status.is_open() && it.status != ItemStatus::Queued)
    }

    fn failed_items(&self) -> usize {
        self.items.iter().filter(|it| it.status == ItemStatus::Failed).count()
    }
}

impl MissionReference<'_> {
    pub(super) fn has_items(&self, step: StepId) -> bool {
        let rule = self.rule(step);
        rule.ask.is_none() && (rule.fan_out.is_some() || rule.worktree == WorktreeUse::Own)
    }

    /// The open jobs of a step for agents and programs, and a queued ask.
    pub(super) fn jobs_of(&self, step: StepId) -> Vec<(u32, ItemStatus)> {
        let known = self.known(step);
        if self.has_items(step) {
            let open = known.items.iter().filter(|it| it.status.is_open());
            return open.map(|it| (it.attempt, it.status)).collect();
        }
        let status = match known.stand {
            Stand::Queued => ItemStatus::Queued,
            Stand::Assigned => ItemStatus::Assigned,
            Stand::Running => ItemStatus::Running,
            Stand::Blocked
            | Stand::Asked
            | Stand::Completed
            | Stand::Failed(_)
            | Stand::Handled(_)
            | Stand::Skipped
            | Stand::Cancelled => return Vec::new(),
        };
        Vec::from([(known.tries.len() as u32, status)])
    }

    pub(super) fn jobs(&self) -> Vec<(StepId, u32, ItemStatus)> {
        self.all().flat_map(|step| self.jobs_of(step).into_iter().map(move |it| (step, it.0, it.1))).collect()
    }

    pub(super) fn stands(&mut self, step: StepId, attempt: u32, to: ItemStatus) {
        let has_items = self.has_items(step);
        let known = self.of(step);
        match known.items.iter_mut().find(|it| has_items && it.attempt == attempt) {
            Some(item) => item.status = to,
            None => known.stand = if to == ItemStatus::Running { Stand::Running } else { Stand::Assigned },
        }
    }

    /// The number of the attempt that counts for the job of an attempt.
    pub(super) fn current(&self, step: StepId, attempt: u32) -> u32 {
        let known = self.known(step);
        let place = known.places.get((attempt as usize).wrapping_sub(1)).and_then(|it| it.0);
        let item = place.and_then(|it| known.items.get(usize::from(it)));
        item.map_or(known.tries.len() as u32, |it| it.attempt)
    }

    /// The list of a fan-out, if it is there.
    fn list(&self, step: StepId) -> Option<Vec<String>> {
        let of = match self.rule(step).fan_out?.list {
            ItemList::Fixed(items) => return Some(items.iter().map(|it| (*it).to_owned()).collect()),
            ItemList::Input(input) => Operand::Input(input),
            ItemList::Output(from, output) => Operand::Step(from, Field::Output(output)),
        };
        match self.value(of)? {
            Value::List(items) => Some(items),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
        }
    }

    /// True if the step has something to do: a list that is there and not empty, or items that are to be tried again.
    pub(super) fn has_work(&self, step: StepId) -> bool {
        let is_plain = self.rule(step).fan_out.is_none();
        is_plain || self.known(step).failed_items() > 0 || self.list(step).is_some_and(|it| !it.is_empty())
    }

    pub(super) fn attempts_at_once(&self, step: StepId) -> u32 {
        match (self.known(step).failed_items(), self.rule(step).fan_out) {
            (0, None) => 1,
            (0, Some(_)) => self.list(step).map_or(0, |it| it.len() as u32),
            (failed, _) => failed as u32,
        }
    }

    pub(super) fn queue_items(&mut self, step: StepId) {
        let is_fan_out = self.rule(step).fan_out.is_some();
        if self.known(step).failed_items() == 0 {
            let list =
                if is_fan_out { self.list(step).unwrap_or_default() } else { Vec::from([String::new()]) };
            let item = |text| ItemState {
                text,
                status: ItemStatus::Failed,
                attempt: 0,
                lost: 0,
                abandoned: 0,
                failure: None,
            };
            self.of(step).items = list.into_iter().map(item).collect();
        }
        let known = self.of(step);
        known.stand = Stand::Queued;
        for place in 0..known.items.len() {
            if known.items[place].status != ItemStatus::Failed {
                continue;
            }
            known.begins_attempt(is_fan_out.then_some(place as u16));
            let item = &mut known.items[place];
            (item.lost, item.abandoned, item.failure) = (0, 0, None);
            (item.status, item.attempt) = (ItemStatus::Queued, known.tries.len() as u32);
        }
    }

    /// Takes the word about an item; the step ends with the last of them.
    pub(super) fn item_hears(&mut self, step: StepId, attempt: u32, word: AttemptWord) {
        let (is_own, is_fan_out) =
            (self.rule(step).worktree == WorktreeUse::Own, self.rule(step).fan_out.is_some());
        let stuck_after = self.rule(step).stuck_after;
        let has_attempt = self.has_attempts(1);
        let Some(place) = self.known(step).items.iter().position(|it| it.attempt == attempt) else { return };
        let item = &mut self.of(step).items[place];
        let (lost, abandoned) = match word {
            AttemptWord::Lost => (item.lost + 1, 0),
            AttemptWord::Abandoned => (item.lost, item.abandoned + 1),
            AttemptWord::Completed(_) | AttemptWord::Failed(_) => (0, 0),
        };
        (item.lost, item.abandoned) = (lost, abandoned);
        let failure = match word {
            AttemptWord::Completed(_) => {
                item.status = if is_own { ItemStatus::Landing } else { ItemStatus::Completed };
                return self.item_is_over(step);
            }
            AttemptWord::Failed(reason) => StepFailure::Reported(reason),
            AttemptWord::Lost if lost >= stuck_after => StepFailure::Stuck(lost),
            AttemptWord::Abandoned if abandoned >= 5 => StepFailure::Abandoned(abandoned),
            AttemptWord::Lost | AttemptWord::Abandoned if !has_attempt => StepFailure::Cap,
            AttemptWord::Lost | AttemptWord::Abandoned => {
                self.left -= u32::from(self.most.is_some());
                let known = self.of(step);
                known.begins_attempt(is_fan_out.then_some(place as u16));
                let number = known.tries.len() as u32;
                let item = &mut known.items[place];
                (item.status, item.attempt) = (ItemStatus::Queued, number);
                return;
            }
        };
        item.status = ItemStatus::Failed;
        item.failure = Some(failure);
        self.item_is_over(step);
    }

    fn item_is_over(&mut self, step: StepId) {
        let known = self.known(step);
        if known.items.iter().any(|it| it.status.is_open()) {
            return;
        }
        let (all, failed) = (known.items.len(), known.failed_items());
        let first = known.items.iter().find_map(|it| it.failure.clone());
        let is_capped = known.items.iter().any(|it| it.failure == Some(StepFailure::Cap));
        let Some(fan_out) = self.rule(step).fan_out else {
            return match first {
                Some(why) => self.fail(step, why),
                None => self.all_items_are_done(step),
            };
        };
        let enough = fan_out.enough.map_or(all, |it| all.min(it.into()));
        match all - failed < enough {
            true if is_capped => self.fail(step, StepFailure::Cap),
            true => self.fail(step, StepFailure::Items { failed: failed as u16, of: all as u16 }),
            false => self.all_items_are_done(step),
        }
    }

    fn all_items_are_done(&mut self, step: StepId) {
        let is_fan_out = self.rule(step).fan_out.is_some();
        let known = self.of(step);
        known.rounds += 1;
        let reports = known.reports_of(&known.items);
        let has_warning = reports.iter().any(|it| it.warning.is_some());
        let latest = reports.into_iter().next().filter(|_| !is_fan_out);
        if is_fan_out {
            known.reports = known.items.clone();
        }
        self.completes(step, latest);
        self.after_an_end(step, has_warning);
    }

    /// Takes the end of a landing.
    pub(super) fn lands(&mut self, step: StepId, attempt: u32, end: LandingEnd) -> Result<Accepted, Refusal> {
        self.must_be_work(step)?;
        let place = (attempt as usize).wrapping_sub(1);
        if self.known(step).places.get(place).is_some_and(|it| it.1 == Some(end.clone())) {
            return Ok(Accepted::Repeated);
        }
        self.must_be_open()?;
        self.must_be_current(step, attempt)?;
        let known = self.of(step);
        let merging =
            known.items.iter_mut().find(|it| it.attempt == attempt && it.status == ItemStatus::Merging);
        let item = merging.ok_or(Refusal::NotLanding)?;
        item.status = ItemStatus::Completed;
        if let LandingEnd::Conflict { reason } = &end {
            (item.status, item.failure) = (ItemStatus::Failed, Some(StepFailure::Reported(reason.clone())));
        }
        known.places[place].1 = Some(end);
        self.item_is_over(step);
        Ok(Accepted::New)
    }

    /// The first open job with its own worktree, if it waits to land or does.
    pub(super) fn first_to_land(&self) -> Option<(StepId, u32)> {
        let is_own = |it: &(StepId, u32, ItemStatus)| {
            self.has_items(it.0) && self.rule(it.0).worktree == WorktreeUse::Own
        };
        let first = self.jobs().into_iter().find(is_own)?;
        matches!(first.2, ItemStatus::Landing | ItemStatus::Merging).then_some((first.0, first.1))
    }

    /// While the mission runs, and nobody reads or writes, what is first to land begins to.
    pub(super) fn lets_one_land(&mut self) {
        let is_used = !self.writers(&[]).is_empty() || !self.readers(&[]).is_empty();
        if self.status != MissionStatus::Running || is_used {
            return;
        }
        if let Some((step, attempt)) = self.first_to_land() {
            self.stands(step, attempt, ItemStatus::Merging);
        }
    }

    /// The steps that write in the mission's worktree, with these jobs assigned besides.
    pub(super) fn writers(&self, besides: &[(StepId, u32)]) -> Vec<StepId> {
        let writes = |(step, _, status): &(StepId, u32, ItemStatus)| {
            let works = matches!(status, ItemStatus::Assigned | ItemStatus::Running);
            *status == ItemStatus::Merging
                || works && self.rule(*step).ask.is_none() && self.rule(*step).worktree == WorktreeUse::Write
        };
        self.with(besides).into_iter().filter(writes).map(|it| it.0).collect()
    }

    /// The steps that read there: with jobs, those whose own worktrees are not made yet among them; then those that show it to a person.
    pub(super) fn readers(&self, besides: &[(StepId, u32)]) -> Vec<StepId> {
        let reads = |(step, _, status): &(StepId, u32, ItemStatus)| {
            let rule = self.rule(*step);
            match (rule.ask, rule.worktree, status) {
                (Some(ask), _, ItemStatus::Assigned) => ask.shows_diff,
                (Some(_), ..) => false,
                (None, WorktreeUse::Read, ItemStatus::Assigned | ItemStatus::Running) => true,
                (None, WorktreeUse::Own, ItemStatus::Assigned) => true,
                (None, ..) => false,
            }
        };
        let shown = |it: &StepId| {
            self.known(*it).stand == Stand::Asked && self.rule(*it).ask.is_some_and(|it| it.shows_diff)
        };
        let jobs = self.with(besides).into_iter().filter(reads).map(|it| it.0);
        jobs.chain(self.all().filter(shown)).collect()
    }

    pub(super) fn at_work(&self, besides: &[(StepId, u32)]) -> Vec<StepId> {
        let works = |it: &(StepId, u32, ItemStatus)| {
            matches!(it.2, ItemStatus::Assigned | ItemStatus::Running) && self.rule(it.0).ask.is_none()
        };
        self.with(besides).into_iter().filter(works).map(|it| it.0).collect()
    }

    fn with(&self, besides: &[(StepId, u32)]) -> Vec<(StepId, u32, ItemStatus)> {
        let jobs = self.jobs().into_iter().map(|(step, attempt, status)| {
            let is_besides = besides.contains(&(step, attempt));
            (step, attempt, if is_besides { ItemStatus::Assigned } else { status })
        });
        jobs.collect()
    }

    /// As many attempts again as the plan allows, beside those that were too few for a fan-out.
    pub(super) fn as_many_again(&self) -> u32 {
        let has_fan_outs = self.rules.iter().any(|it| it.fan_out.is_some());
        self.most.unwrap_or(0) + if has_fan_outs { self.left } else { 0 }
    }
}

impl KnownStep {
    /// Reports of the completed ones of these items.
    pub(super) fn reports_of(&self, items: &[ItemState]) -> Vec<Report> {
        let completed = items.iter().filter(|it| it.status == ItemStatus::Completed);
        let report = |it: &ItemState| match &self.tries[it.attempt as usize - 1] {
            Some(AttemptEnd::Completed(report)) => Some(report.clone()),
            _ => None,
        };
        completed.filter_map(report).collect()
    }
}
