//! Random missions: the reducer does what the reference does, and what the design promises holds after every event.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::conditions;
use super::random::{self, RESULTS, Random, Tables};
use super::random_items;
use super::reference::{Accepted, MissionReference};
use super::std;
use crate::mission::*;
use crate::plan::{Plan, Policy, StepId, WorktreeUse};

/// `ORANGE_SEEDS` runs more of them.
const SEEDS: u64 = 3_000;

#[test]
fn missions_follow_the_reference() {
    let seeds = std::env::var("ORANGE_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(SEEDS);
    let workers = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
    let work = |worker: u64| {
        (worker..seeds)
            .step_by(workers as usize)
            .filter_map(|it| simulate(it).err())
            .take(4)
            .collect::<Vec<_>>()
    };
    let reports: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|it| scope.spawn(move || work(it))).collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker ends")).collect()
    });
    if let Some(shortest) = reports.iter().min_by_key(|it| it.len()) {
        panic!("the shortest of {} failures\n{shortest}", reports.len());
    }
}

#[test]
fn the_simulator_reaches_every_end_and_refusal() {
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let mut random = Random::new(seed);
        {
            let tables = random::tables(&mut random);
            let tables = random::with_asks(&mut random, tables);
            random_items::with_items(&mut random, tables)
        }
        .with(|plan| {
            let mut run = Simulation::new(plan, random::policy(&mut random));
            run.seen = Some(BTreeSet::new());
            run.happen_at_random(&mut random, 40).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            seen.extend(run.seen.unwrap_or_default());
        });
    }
    let all = "Blocked Queued Assigned Running Asked Completed Failed Skipped Cancelled Pending Paused Boundary Warning Cap \
               Error Exhausted Obstacle Closed HasBegun NoSuchStep Stale NoSuchAttempt HasEnded NotQueued Busy \
               ResultNeeded ResultUndeclared Output NotPaused OtherPause NothingToAccept NotFailed NothingToRetry Reported \
               NotYours NotAsked Answered NoSuchAnswer OtherCommit Rejected Ask Stuck Land NotLanding Changed Items Because Lost Withdrawn handled EndAgent Repeated Continued Start Ended";
    let missing: Vec<&str> = all.split(' ').filter(|it| !seen.contains(*it)).collect();
    assert!(missing.is_empty(), "no run shows {missing:?}");
}

/// One random plan, with random events, until it has ended; or what went wrong.
fn simulate(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let tables = random::tables(&mut random);
    let tables = random::with_asks(&mut random, tables);
    let tables = random_items::with_items(&mut random, tables);
    let policy = random::policy(&mut random);
    tables.with(|plan| {
        let mut run = Simulation::new(plan, policy);
        let length = random.below(40);
        let ended = run.happen_at_random(&mut random, length);
        ended.and_then(|()| run.happen_until_it_ends(&mut random, &tables)).map_err(|why| {
            let (events, why) = shortest(plan, policy, run.events, why);
            let events: Vec<String> = events.iter().map(|it| format!("  {it:?}")).collect();
            format!("seed {seed}: {why}\nplan, {policy:?}:\n{tables}events:\n{}", events.join("\n"))
        })
    })
}

/// The events without those that the failure does not need.
fn shortest(
    plan: &Plan<'_>,
    policy: Policy,
    mut events: Vec<Event>,
    mut why: String,
) -> (Vec<Event>, String) {
    let failure = |events: &[Event]| {
        let mut run = Simulation::new(plan, policy);
        events.iter().find_map(|it| run.happens(it.clone()).err())
    };
    let mut index = 0;
    while index < events.len() {
        let mut fewer = events.clone();
        fewer.remove(index);
        match failure(&fewer) {
            Some(other) => (events, why, index) = (fewer, other, 0),
            None => index += 1,
        }
    }
    (events, why)
}

/// One mission beside its reference.
struct Simulation<'p> {
    plan: &'p Plan<'p>,
    mission: Mission,
    reference: MissionReference<'p>,
    events: Vec<Event>,
    /// The attempts whose end was accepted.
    accepted: BTreeSet<(StepId, u32)>,
    /// Steps that were skipped; since then no loop step after them has completed, and no person granted a round or retried the mission.
    skipped: BTreeSet<StepId>,
    /// A person has retried the mission, which queues failed steps whatever they depend on.
    has_been_retried: bool,
    /// The most attempts that the cap allows, with what persons have granted and tried again; none without a cap.
    allowed: Option<usize>,
    /// Names of what has happened, where a test asks for them.
    seen: Option<BTreeSet<String>>,
}

impl<'p> Simulation<'p> {
    fn new(plan: &'p Plan<'p>, policy: Policy) -> Simulation<'p> {
        Simulation {
            plan,
            mission: Mission::with_inputs(plan, policy, conditions::inputs(plan)),
            reference: MissionReference::new(plan, policy, conditions::inputs(plan)),
            events: Vec::new(),
            accepted: BTreeSet::new(),
            skipped: BTreeSet::new(),
            has_been_retried: false,
            allowed: plan.max_attempts.map(|it| it as usize),
            seen: None,
        }
    }

    fn happen_at_random(&mut self, random: &mut Random, length: usize) -> Result<(), String> {
        for _ in 0..length {
            let event = random::event(random, self.plan, &self.mission, &self.events);
            self.happens(event)?;
        }
        Ok(())
    }

    /// Every agent completes, and a person accepts every failure.
    fn happen_until_it_ends(&mut self, random: &mut Random, tables: &Tables) -> Result<(), String> {
        let granted: usize = self.mission.steps.iter().map(|it| usize::from(it.granted)).sum();
        let steps = tables.0.len();
        let most = 10 + 20 * (steps + 1) * (1 + tables.rounds() + granted);
        for _ in 0..most {
            let event = match self.mission.status {
                MissionStatus::Pending => Event::Begin,
                MissionStatus::Paused => Event::Continue {
                    pause: None,
                    accept_failure: self.mission.asked().is_some(),
                    execution: None,
                    intervene: None,
                },
                MissionStatus::Running => {
                    if let Some((step, attempt)) = self.mission.next_landing() {
                        self.happens(Event::Landed { step, attempt })?;
                        continue;
                    }
                    let working = self.mission.working().next();
                    let first = working.or(self.mission.next(self.plan)).or(self.mission.open_asks().next());
                    let (step, attempt) = first.ok_or("the mission runs, and nothing of it does")?;
                    if let Some(event) = self.asked(random, step) {
                        self.happens(event)?;
                        continue;
                    }
                    let words = match self.plan.results_of(step) {
                        [] => &RESULTS[..],
                        declared => declared,
                    };
                    let result = Some(words[random.below(words.len())].to_string());
                    let outputs = conditions::reported(random, self.plan.outputs_of(step), 0);
                    let report = Report { result, outputs, ..Report::default() };
                    Event::Complete { step, attempt, report }
                }
                MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => return Ok(()),
            };
            self.happens(event)?;
        }
        Err(format!("the mission has not ended after {most} more events"))
    }

    /// The next event of a step that asks a person, if it is one.
    fn asked(&self, random: &mut Random, step: StepId) -> Option<Event> {
        let ask = self.plan.step(step).ask?;
        let attempt = self.mission.step(step).attempt();
        if self.mission.step(step).status == StepStatus::Queued {
            return Some(Event::Ask { step, attempt, commit: None });
        }
        let word = random.one_of(&self.plan.step(step).answers()).to_string();
        let by = ask.who.first().copied().unwrap_or("eve").to_string();
        let answer = Answer { word, comment: String::new(), by, commit: None };
        Some(Event::Answer { step, attempt, answer })
    }

    fn happens(&mut self, event: Event) -> Result<(), String> {
        let before = self.mission.clone();
        self.events.push(event.clone());
        let expected = self.reference.apply(&event);
        let found = self.mission.apply(self.plan, event.clone());
        self.notes(&found);
        match (expected, found) {
            (Err(expected), Err(found)) if expected == found => {
                same("refused event", &before, &self.mission)?
            }
            (Ok(accepted), Ok(effects)) => {
                if let Some(difference) = self.reference.differs_from(&self.mission) {
                    return Err(difference);
                }
                let found: Vec<(StepId, u32)> = self.mission.startable(self.plan).collect();
                let expected = self.reference.startable();
                if found != expected {
                    return Err(format!("startable: expected {expected:?}, found {found:?}"));
                }
                let expected = effects_of(self.plan, &event, &accepted, &before, &self.mission);
                if effects != expected {
                    return Err(format!("effects: expected {expected:?}, found {effects:?}"));
                }
                self.allows(&effects, &event, &before);
                if accepted == Accepted::Repeated {
                    same("repeated event", &before, &self.mission)?;
                } else {
                    self.has_been_retried |= matches!(event, Event::Retry { .. });
                    self.was_accepted(&event)?;
                    self.remembers_skips(&event, &before)?;
                }
            }
            (expected, found) => return Err(format!("answer: expected {expected:?}, found {found:?}")),
        }
        self.promises(&before)
    }

    /// Counts what persons grant beyond the cap, or try again.
    fn allows(&mut self, effects: &[Effect], event: &Event, before: &Mission) {
        let Some(allowed) = &mut self.allowed else { return };
        let most = self.plan.max_attempts.map_or(0, |it| it as usize);
        for effect in effects {
            let Effect::Continued(answer) = effect else { continue };
            if let AnswerEffect::TriedAgain(step) | AnswerEffect::Granted(step) = answer {
                *allowed += (before.step(*step).failed_items() as usize).max(1);
            } else if let AnswerEffect::Extended = answer {
                *allowed += most;
            }
        }
        if matches!(event, Event::Retry { .. }) {
            let failed = |it: &&StepState| it.status == StepStatus::Failed;
            let tried = before.steps.iter().filter(failed).map(|it| (it.failed_items() as usize).max(1));
            *allowed += most + tried.sum::<usize>();
        }
    }

    fn was_accepted(&mut self, event: &Event) -> Result<(), String> {
        let (Event::Complete { step, attempt, .. }
        | Event::Fail { step, attempt, .. }
        | Event::Lose { step, attempt }
        | Event::Abandon { step, attempt }
        | Event::Answer { step, attempt, .. }
        | Event::Expire { step, attempt }) = event
        else {
            return Ok(());
        };
        match self.accepted.insert((*step, *attempt)) {
            true => Ok(()),
            false => Err(format!("attempt {attempt} of {} was accepted twice", self.plan.step(*step).id)),
        }
    }

    /// Checks the promises of the design about every state.
    fn promises(&self, before: &Mission) -> Result<(), String> {
        let now = &self.mission;
        let is = |status: StepStatus| now.steps.iter().filter(|it| it.status == status).count();
        let active = now.steps.iter().filter(|it| it.status.is_active()).count();
        let busy = now.working().count();
        let uses = |wanted: WorktreeUse| {
            now.working().filter(|(step, _)| self.plan.step(*step).worktree == wanted).count()
        };
        let merging = now.jobs().filter(|it| it.status == ItemStatus::Merging).count();
        let unmade = now.jobs().filter(|it| it.status == ItemStatus::Assigned);
        let unmade = unmade.filter(|it| self.plan.step(it.step).worktree == WorktreeUse::Own).count();
        let (writers, readers) = (uses(WorktreeUse::Write) + merging, uses(WorktreeUse::Read) + unmade);
        let works = |step: &StepId| !self.plan.step(*step).is_ask();
        let attempts: usize = self.plan.step_ids().filter(works).map(|it| now.step(it).attempts.len()).sum();
        let shows_diff = |it: StepId| {
            now.step(it).status == StepStatus::Asked && self.plan.step(it).ask.is_some_and(|it| it.shows_diff)
        };
        let is_shown = self.plan.step_ids().any(shows_diff);
        let has_failed =
            now.steps.iter().any(|it| it.is_exhausted || it.status == StepStatus::Failed && !it.is_handled);
        let mission = [
            (writers <= 1, "two agents write in the worktree"),
            (writers == 0 || readers == 0, "an agent reads while another one writes"),
            (busy <= usize::from(self.plan.parallel), "more agents work than the plan allows"),
            (writers == 0 || !is_shown, "a step writes while the changes are shown to a person"),
            (self.allowed.is_none_or(|it| attempts <= it), "more attempts than the cap"),
            (now.status != MissionStatus::Running || active > 0, "the mission runs, and nothing of it does"),
            (!now.status.is_terminal() || active == 0, "the mission has ended, and something runs"),
            (!now.status.is_terminal() || is(StepStatus::Blocked) == 0, "the end leaves a step blocked"),
            (now.status != MissionStatus::Completed || !has_failed, "a failed mission counts as completed"),
            (now.status != MissionStatus::Failed || has_failed, "a mission has failed without a failure"),
            (
                (now.status == MissionStatus::Paused) != now.questions.is_empty(),
                "the questions and the status differ",
            ),
            (now.questions.iter().all(|it| it.number <= now.pauses), "a question is not counted"),
            (now.questions.is_sorted_by(|a, b| a.number < b.number), "the questions are not in order"),
            (now.pauses >= before.pauses, "pauses are counted down"),
        ];
        for (holds, what) in mission {
            holds.then_some(()).ok_or(what)?;
        }
        for (step, (now, before)) in self.plan.step_ids().zip(now.steps.iter().zip(&before.steps)) {
            let rule = self.plan.step(step);
            let most = u32::from(rule.max_retries) + u32::from(now.granted);
            let open: Vec<usize> =
                (0..now.attempts.len()).filter(|it| now.attempts[*it].end.is_none()).collect();
            let mut active: Vec<usize> = now
                .open_jobs()
                .into_iter()
                .filter(|it| it.1.awaits_report())
                .map(|it| it.0 as usize - 1)
                .collect();
            active.sort();
            if now.status == StepStatus::Asked {
                active.push(now.attempts.len() - 1);
            }
            let is_over = |it: &StepState| it.status.is_terminal() && (it.failure.is_none() || it.is_handled);
            let is_early =
                now.status.is_active() && !rule.depends_on.iter().all(|it| is_over(self.mission.step(*it)));
            let keeps = |before: &Attempt, now: &Attempt| {
                before.item == now.item
                    && (before.end.is_none() || before.end == now.end)
                    && (before.landing.is_none() || before.landing == now.landing)
            };
            let kept = before.attempts.iter().zip(&now.attempts).all(|(b, n)| keeps(b, n));
            let step = [
                (u32::from(now.completions) <= most, "has completed too often"),
                (open == active, "has an open attempt that is not its current one, or none"),
                (kept && now.attempts.len() >= before.attempts.len(), "has lost the end of an attempt"),
                (
                    (now.status == StepStatus::Failed) == now.failure.is_some(),
                    "has failed for no reason, or not",
                ),
                (!now.is_handled || now.status == StepStatus::Failed, "is handled, and has not failed"),
                (!now.status.is_active() || now.lost < rule.stuck_after, "is stuck, and still runs"),
                (!now.status.is_active() || now.abandoned < 5, "has lost too many workers, and still runs"),
                (!is_early || self.has_been_retried, "runs before its dependencies have ended"),
                (now.completions >= before.completions, "counts its completions down"),
            ];
            for (holds, what) in step {
                holds.then_some(()).ok_or_else(|| format!("step {} {what}", rule.id))?;
            }
        }
        Ok(())
    }

    /// No step that was skipped runs later, unless a loop step after it has completed since, or a person granted a round
    /// or retried the mission. What such a loop step sends back can be another loop step, which then sends back the skipped one. A step
    /// that ended a standoff is excepted: what it waited for waited for it.
    fn remembers_skips(&mut self, event: &Event, before: &Mission) -> Result<(), String> {
        let is_granted = |it: StepId| self.mission.step(it).granted > before.step(it).granted;
        let by_hand = matches!(event, Event::Retry { .. }) || self.plan.step_ids().any(is_granted);
        let mut sender = None;
        if let Event::Complete { step, .. }
        | Event::Landed { step, .. }
        | Event::Answer { step, .. }
        | Event::Expire { step, .. } = event
        {
            sender = Some(self.plan.step(*step).handles.unwrap_or(*step));
        }
        for step in self.plan.step_ids() {
            let (was, is) = (before.step(step).status, self.mission.step(step).status);
            let stands_for = self.plan.step(step).handles.unwrap_or(step);
            let is_after = |it: StepId| self.plan.upstream(it).has(stands_for);
            if by_hand || sender.is_some_and(|it| self.plan.step(it).is_loop() && is_after(it)) {
                self.skipped.remove(&step);
            }
            if is == StepStatus::Skipped && was != is && !self.reference.standoffs.contains(&step) {
                self.skipped.insert(step);
            }
            if is.is_active() && self.skipped.contains(&step) {
                return Err(format!("step {} was skipped, and runs", self.plan.step(step).id));
            }
        }
        Ok(())
    }

    fn notes(&mut self, answer: &Result<Vec<Effect>, Refusal>) {
        let Some(seen) = &mut self.seen else { return };
        let mut note = |it: String| {
            let name = it.split(['(', ' ', '{']).next().unwrap_or_default().to_string();
            seen.insert(name);
        };
        match answer {
            Ok(effects) => effects.iter().for_each(|it| note(format!("{it:?}"))),
            Err(refusal) => note(format!("{refusal:?}")),
        }
        note(format!("{:?}", self.mission.status));
        self.mission.questions.iter().for_each(|it| note(format!("{:?}", it.reason)));
        for step in &self.mission.steps {
            note(format!("{:?}", step.status));
            step.failure.iter().for_each(|it| note(format!("{it:?}")));
            step.attempts.iter().filter_map(|it| it.end.as_ref()).for_each(|it| note(format!("{it:?}")));
            step.is_handled.then(|| note("handled".to_string()));
        }
    }
}

/// The effects for a driver: this follows from the states before and after.
pub fn effects_of(
    plan: &Plan<'_>,
    event: &Event,
    accepted: &Accepted,
    before: &Mission,
    after: &Mission,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    if *accepted == Accepted::Repeated {
        return vec![Effect::Repeated];
    }
    for (step, attempt) in before.working() {
        if after.step(step).attempts[attempt as usize - 1].end == Some(AttemptEnd::Withdrawn) {
            effects.push(Effect::EndAgent { step, attempt });
        }
    }
    if let (Event::Continue { accept_failure, .. }, Some(pause)) = (event, answered(event, before)) {
        effects.push(Effect::Continued(match (asked(pause, before), &pause.reason) {
            (None, PauseReason::Cap(_)) if *accept_failure => AnswerEffect::Capped,
            (None, PauseReason::Cap(_)) => AnswerEffect::Extended,
            (None, _) => AnswerEffect::WentOn,
            (Some(step), _) if *accept_failure => AnswerEffect::Accepted(step),
            (Some(step), PauseReason::Exhausted(_)) => AnswerEffect::Granted(step),
            (Some(step), _) => AnswerEffect::TriedAgain(step),
        }));
    }
    let pause = after.questions.iter().filter(|it| it.number > before.pauses);
    effects.extend(pause.map(|it| Effect::Paused(it.clone())));
    let landing = after.next_landing().filter(|it| before.next_landing() != Some(*it));
    effects.extend(landing.map(|(step, attempt)| Effect::Land { step, attempt }));
    let startable_before: Vec<(StepId, u32)> = before.startable(plan).collect();
    let news = after.startable(plan).filter(|it| !startable_before.contains(it));
    effects.extend(news.map(|(step, attempt)| match plan.step(step).ask {
        Some(_) => Effect::Ask { step, attempt },
        None => Effect::Start { step, attempt },
    }));
    if after.status.is_terminal() {
        effects.push(Effect::Ended(after.status));
    }
    effects
}

/// The question that an event answers.
fn answered<'m>(event: &Event, before: &'m Mission) -> Option<&'m Pause> {
    let Event::Continue { pause, .. } = event else { return None };
    before.questions.iter().find(|it| pause.is_none_or(|number| number == it.number))
}

/// The step about whose failure a question asks, unless a loop step has sent it back meanwhile.
fn asked(pause: &Pause, mission: &Mission) -> Option<StepId> {
    let (PauseReason::Error(step) | PauseReason::Exhausted(step)) = pause.reason else { return None };
    let is_open = !pause.is_pointless && mission.step(step).status == StepStatus::Failed;
    is_open.then_some(step)
}

fn same(what: &str, before: &Mission, after: &Mission) -> Result<(), String> {
    if before == after { Ok(()) } else { Err(format!("a {what} changes the mission")) }
}
