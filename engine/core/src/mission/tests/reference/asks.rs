//! Asks: a person is asked, and the first answer is the end of the step.

use super::*;

impl MissionReference<'_> {
    pub(super) fn put(
        &mut self,
        step: StepId,
        attempt: u32,
        commit: Option<String>,
    ) -> Result<Accepted, Refusal> {
        self.must_be_open()?;
        self.must_be_ask(step)?;
        self.must_be_current(step, attempt)?;
        let place = attempt as usize - 1;
        match self.known(step).stand {
            Stand::Asked if self.known(step).shown[place] == commit => return Ok(Accepted::Repeated),
            Stand::Asked => {}
            Stand::Queued if self.status == MissionStatus::Paused => return Err(Refusal::Paused),
            Stand::Queued => {
                self.works_instead_of(step).map_or(Ok(()), |it| Err(Refusal::Busy(it)))?;
            }
            Stand::Blocked
            | Stand::Assigned
            | Stand::Running
            | Stand::Completed
            | Stand::Failed(_)
            | Stand::Handled(_)
            | Stand::Skipped
            | Stand::Cancelled => {
                return Err(Refusal::NotQueued(self.as_mission().steps[step.index()].status));
            }
        }
        self.of(step).stand = Stand::Asked;
        self.of(step).shown[place] = commit;
        Ok(Accepted::New)
    }

    pub(super) fn answered(
        &mut self,
        step: StepId,
        attempt: u32,
        answer: &Answer,
    ) -> Result<Accepted, Refusal> {
        let ask = self.must_be_ask(step)?;
        let origin = self.origin(step, attempt, Answerer::Person(answer.by.clone()));
        let says = |short: String, long: String| if answer.comment.trim().is_empty() { short } else { long };
        let rejects = ask.is_approval && answer.word == "reject";
        let end = if rejects {
            let short = format!("{} rejected it", answer.by);
            let reason = says(short.clone(), format!("{short}: {}", answer.comment.trim()));
            AttemptEnd::Rejected { reason, answer: origin.clone() }
        } else {
            let short = format!("{} answered `{}`", answer.by, answer.word);
            AttemptEnd::Completed(Report {
                result: Some(answer.word.clone()),
                summary: says(short, answer.comment.trim().to_owned()),
                answer: Some(origin.clone()),
                ..Report::default()
            })
        };
        if self.has_ended_so(step, attempt, &end)? {
            return Ok(Accepted::Repeated);
        }
        if !ask.who.is_empty() && !ask.who.contains(&answer.by.as_str()) {
            return Err(Refusal::NotYours(step));
        }
        let is_known = match ask.is_approval {
            true => ["approve", "reject"].contains(&answer.word.as_str()),
            false => self.rule(step).words.contains(&answer.word),
        };
        if !is_known {
            return Err(Refusal::NoSuchAnswer(step));
        }
        if answer.commit.as_ref().is_some_and(|it| Some(it) != origin.commit.as_ref()) {
            return Err(Refusal::OtherCommit { shown: origin.commit });
        }
        self.ends(step, end, false);
        Ok(Accepted::New)
    }

    pub(super) fn expires(&mut self, step: StepId, attempt: u32) -> Result<Accepted, Refusal> {
        let ask = self.must_be_ask(step)?;
        let end = match ask.on_timeout {
            None => AttemptEnd::Failed { reason: "nobody answered in time".to_owned() },
            Some(word) => AttemptEnd::Completed(Report {
                result: Some(word.to_owned()),
                summary: format!("nobody answered in time, so that `{word}` counts"),
                answer: Some(self.origin(step, attempt, Answerer::Timeout)),
                ..Report::default()
            }),
        };
        if self.has_ended_so(step, attempt, &end)? {
            return Ok(Accepted::Repeated);
        }
        self.ends(step, end, true);
        Ok(Accepted::New)
    }

    /// A person who has decided is not asked again; an end that nobody has decided asks like any failure.
    fn ends(&mut self, step: StepId, end: AttemptEnd, asks: bool) {
        if let Some(last) = self.of(step).tries.last_mut() {
            *last = Some(end.clone());
        }
        match end {
            AttemptEnd::Completed(report) => self.completes(step, Some(report)),
            AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. } => {
                self.of(step).stand = Stand::Failed(StepFailure::Reported(reason));
                if asks && self.pauses_at_errors() {
                    return self.pause(PauseReason::Error(step));
                }
            }
            AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn => {}
        }
        let before = self.pauses;
        self.cascade();
        if self.pauses == before {
            self.ends_if_over();
        }
    }

    fn origin(&self, step: StepId, attempt: u32, by: Answerer) -> Answered {
        let shown = self.known(step).shown.get((attempt as usize).wrapping_sub(1));
        Answered { by, commit: shown.cloned().flatten() }
    }

    fn has_ended_so(&self, step: StepId, attempt: u32, end: &AttemptEnd) -> Result<bool, Refusal> {
        let known = self.known(step);
        let before = known.tries.get((attempt as usize).wrapping_sub(1)).cloned().flatten();
        if before.as_ref() == Some(end) {
            return Ok(true);
        }
        let by_a_person = match before {
            Some(AttemptEnd::Completed(Report { result, answer: Some(answer), .. })) => {
                result.map(|it| (it, answer.by))
            }
            Some(AttemptEnd::Rejected { answer, .. }) => Some(("reject".to_owned(), answer.by)),
            _ => None,
        };
        let open = self.must_be_open().and_then(|()| self.must_be_current(step, attempt));
        match (open, by_a_person) {
            (Ok(()) | Err(Refusal::Closed(_)), Some((answer, by))) => Err(Refusal::Answered { answer, by }),
            (Err(refusal), _) => Err(refusal),
            (Ok(()), None) if known.tries[attempt as usize - 1].is_some() => Err(Refusal::HasEnded),
            (Ok(()), None) if known.stand != Stand::Asked => {
                Err(Refusal::NotAsked(self.as_mission().steps[step.index()].status))
            }
            (Ok(()), None) => Ok(false),
        }
    }

    fn must_be_ask(&self, step: StepId) -> Result<Ask<'_>, Refusal> {
        if step.index() >= self.known.len() {
            return Err(Refusal::NoSuchStep);
        }
        self.rule(step).ask.ok_or_else(|| Refusal::NotAsked(self.as_mission().steps[step.index()].status))
    }

    /// Refuses what only an agent or a program may say, about a step that asks a person.
    pub(super) fn must_be_work(&self, step: StepId) -> Result<(), Refusal> {
        match self.rules.get(step.index()) {
            None => Err(Refusal::NoSuchStep),
            Some(rule) if rule.ask.is_some() => Err(Refusal::NotYours(step)),
            Some(_) => Ok(()),
        }
    }

    /// The step because of which this one has to wait.
    pub(super) fn works_instead_of(&self, step: StepId) -> Option<StepId> {
        self.works_beside(step, &[])
    }

    fn works_beside(&self, step: StepId, besides: &[(StepId, u32)]) -> Option<StepId> {
        let rule = self.rule(step);
        let writes = rule.ask.is_none() && rule.worktree == WorktreeUse::Write;
        let mut others = if self.uses_worktree(step) { self.writers(besides) } else { Vec::new() };
        if writes {
            others.extend(self.readers(besides));
        }
        let at_work = self.at_work(besides);
        if rule.ask.is_none() && at_work.len() >= self.parallel {
            others.extend(at_work);
        }
        others.first().copied()
    }

    fn uses_worktree(&self, step: StepId) -> bool {
        self.rule(step).ask.is_none_or(|it| it.shows_diff)
    }

    /// The attempts that start now, in source order: none that uses the worktree passes one that has to wait.
    pub fn startable(&self) -> Vec<(StepId, u32)> {
        let mut found = Vec::new();
        if self.status != MissionStatus::Running {
            return found;
        }
        let mut is_held = self.first_to_land().is_some();
        for (step, attempt, _) in self.jobs().into_iter().filter(|it| it.2 == ItemStatus::Queued) {
            if !self.uses_worktree(step) {
                found.push((step, attempt));
                continue;
            }
            is_held = is_held || self.works_beside(step, &found).is_some();
            if !is_held {
                found.push((step, attempt));
            }
        }
        found
    }
}
