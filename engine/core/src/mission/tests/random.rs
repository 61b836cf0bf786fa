//! Random plans that a compiler would accept, and random events. The same seed gives the same ones.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{conditions, random_items};
use crate::mission::*;
use crate::plan::*;

pub const RESULTS: [&str; 3] = ["PASS", "FAIL", "MORE"];
const SUMMARIES: [&str; 3] = ["one", "two", ""];

/// A stream of numbers that follows from its seed alone.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below this one.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True so often in a hundred.
    pub fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }

    pub fn one_of<T: Clone>(&mut self, them: &[T]) -> T {
        them[self.below(them.len())].clone()
    }

    fn shuffle<T>(&mut self, them: &mut [T]) {
        for last in (1..them.len()).rev() {
            them.swap(last, self.below(last + 1));
        }
    }
}

/// A step of a plan that owns its tables. Steps name each other by their place in the source.
#[derive(Clone)]
pub struct StepRow {
    pub id: String,
    pub depends_on: Vec<StepId>,
    pub condition: Option<StepCondition<'static>>,
    pub results: Vec<&'static str>,
    pub outputs: Vec<Output<'static>>,
    pub max_retries: u16,
    pub requeue: Vec<StepId>,
    pub on_fail: Option<StepId>,
    pub stuck_after: u16,
    pub ask: Option<Ask<'static>>,
    pub worktree: WorktreeUse,
    pub fan_out: Option<FanOut<'static>>,
}

impl Default for StepRow {
    fn default() -> StepRow {
        StepRow {
            id: String::new(),
            depends_on: Vec::new(),
            condition: None,
            results: Vec::new(),
            outputs: Vec::new(),
            max_retries: 0,
            requeue: Vec::new(),
            on_fail: None,
            stuck_after: 0,
            ask: None,
            worktree: WorktreeUse::Write,
            fan_out: None,
        }
    }
}

/// A plan that owns its tables: its steps, its cap, and the number of agents at once.
#[derive(Clone)]
pub struct Tables(pub Vec<StepRow>, pub Option<u32>, pub u8);

impl Tables {
    /// Calls this with the plan.
    pub fn with<T>(&self, call: impl FnOnce(&Plan<'_>) -> T) -> T {
        let steps: Vec<Step<'_>> =
            (0..).zip(&self.0).map(|(id, row)| step(row, self.handled_by(StepId(id)))).collect();
        let order = self.order();
        call(&Plan {
            name: "random",
            notices: false,
            steps: &steps,
            order: &order,
            inputs: &conditions::INPUTS,
            max_attempts: self.1,
            parallel: self.2,
            ..Plan::EMPTY
        })
    }

    /// Every step after its dependencies and after the step that it handles; among those that may come next, the first.
    fn order(&self) -> Vec<StepId> {
        let mut order: Vec<StepId> = Vec::new();
        while order.len() < self.0.len() {
            let may_come = |id: &StepId| {
                let mut before = self.0[id.index()].depends_on.iter().copied().chain(self.handled_by(*id));
                !order.contains(id) && before.all(|it| order.contains(&it))
            };
            let next = (0..self.0.len()).map(|it| StepId(it as u16)).find(may_come);
            order.push(next.expect("the dependencies have no cycle"));
        }
        order
    }

    /// The step whose failure this one handles.
    pub fn handled_by(&self, id: StepId) -> Option<StepId> {
        self.0.iter().position(|it| it.on_fail == Some(id)).map(|it| StepId(it as u16))
    }

    pub fn upstream(&self, of: StepId) -> BTreeSet<StepId> {
        let direct = &self.0[of.index()].depends_on;
        direct.iter().flat_map(|it| self.upstream_with(*it)).collect()
    }

    fn upstream_with(&self, of: StepId) -> BTreeSet<StepId> {
        let mut found = BTreeSet::from([of]);
        let mut open = vec![of];
        while let Some(step) = open.pop() {
            open.extend(self.0[step.index()].depends_on.iter().copied().filter(|it| found.insert(*it)));
        }
        found
    }

    /// The most completions of loop steps, retries by hand aside.
    pub fn rounds(&self) -> usize {
        self.0.iter().map(|it| usize::from(it.max_retries)).sum()
    }
}

fn step(row: &StepRow, handles: Option<StepId>) -> Step<'_> {
    Step {
        id: &row.id,
        title: &row.id,
        depends_on: &row.depends_on,
        condition: row.condition,
        results: &row.results,
        outputs: &row.outputs,
        max_retries: row.max_retries,
        requeue: &row.requeue,
        on_fail: row.on_fail,
        handles,
        stuck_after: row.stuck_after,
        ask: row.ask.as_ref(),
        worktree: row.worktree,
        fan_out: row.fan_out,
        ..Step::EMPTY
    }
}

impl core::fmt::Display for Tables {
    /// One step a line, in the notation of the cases.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = |it: &StepId| self.0[it.index()].id.as_str();
        let names = |them: &[StepId]| them.iter().map(name).collect::<Vec<_>>().join(",");
        for row in &self.0 {
            write!(f, "  {}", row.id)?;
            if !row.depends_on.is_empty() {
                write!(f, "<-{}", names(&row.depends_on))?;
            }
            if let Some(condition) = &row.condition {
                write!(f, " if {}", self.with(|plan| plan.condition_text(condition)))?;
            }
            if row.max_retries > 0 {
                write!(f, " x{} requeue={}", row.max_retries, names(&row.requeue))?;
            }
            if !row.outputs.is_empty() {
                let names: Vec<&str> = row.outputs.iter().map(|it| it.name).collect();
                write!(f, " outputs={}", names.join(","))?;
            }
            if !row.results.is_empty() {
                write!(f, " results={}", row.results.join(","))?;
            }
            if let Some(handler) = &row.on_fail {
                write!(f, " on_fail={}", name(handler))?;
            }
            match row.worktree {
                WorktreeUse::Write => {}
                WorktreeUse::Read => write!(f, " r")?,
                WorktreeUse::Own => write!(f, " own")?,
            }
            if let Some(fan_out) = &row.fan_out {
                write!(f, " {fan_out:?}")?;
            }
            if let Some(ask) = &row.ask {
                write!(f, " {ask:?}")?;
            }
            if row.stuck_after != 2 {
                write!(f, " stuck_after={}", row.stuck_after)?;
            }
            writeln!(f, ";")?;
        }
        let order: Vec<StepId> = self.order();
        writeln!(f, "  order {}", names(&order))?;
        writeln!(f, "  parallel {}", self.2)?;
        self.1.map_or(Ok(()), |it| writeln!(f, "  cap {it}"))
    }
}

/// A plan of up to 40 steps, mostly of up to nine.
pub fn tables(random: &mut Random) -> Tables {
    let size = if random.percent(3) { 10 + random.below(31) } else { 1 + random.below(9) };
    let handlers = if size > 1 && random.percent(40) { random.below(size / 2) + 1 } else { 0 };
    let steps = size - handlers;
    let mut tables = Tables(Vec::new(), None, DEFAULT_PARALLEL);
    for index in 0..steps {
        let mut row = StepRow { stuck_after: 1 + random.below(3) as u16, ..StepRow::default() };
        for before in (0..index).rev() {
            if row.depends_on.len() < 3 && random.percent(if before + 1 == index { 70 } else { 20 }) {
                row.depends_on.push(StepId(before as u16));
            }
        }
        random.shuffle(&mut row.depends_on);
        row.outputs = conditions::outputs(random);
        if random.percent(25) {
            row.results = RESULTS[..1 + random.below(3)].to_vec();
        }
        tables.0.push(row);
        let upstream: Vec<StepId> = tables.upstream(StepId(index as u16)).into_iter().collect();
        if upstream.is_empty() {
            continue;
        }
        let row = &mut tables.0[index];
        if random.percent(60) {
            let is_result = random.percent(85);
            let value = if is_result { random.one_of(&RESULTS) } else { random.one_of(&SUMMARIES) };
            let field = if is_result { Field::Result } else { Field::Summary };
            row.condition = Some(StepCondition::equal(random.one_of(&upstream), field, value));
        }
        let outputs: Vec<Vec<Output<'static>>> = tables.0.iter().map(|it| it.outputs.clone()).collect();
        let row = &mut tables.0[index];
        if row.condition.is_some() && random.percent(50) {
            let readable: Vec<_> = upstream.iter().map(|it| (*it, outputs[it.index()].clone())).collect();
            row.condition = Some(conditions::condition(random, &readable, 3));
        }
        if random.percent(if row.condition.is_some() { 50 } else { 5 }) {
            row.max_retries = 1 + random.below(3) as u16;
            let read = row.condition.and_then(|it| it.steps().first().copied());
            row.requeue = match read {
                Some(read) if random.percent(60) => vec![read],
                _ => (0..1 + random.below(2)).map(|_| random.one_of(&upstream)).collect(),
            };
            row.requeue.sort();
            row.requeue.dedup();
        }
    }
    let mut owners: Vec<usize> = (0..steps).collect();
    random.shuffle(&mut owners);
    for owner in owners.into_iter().take(handlers) {
        tables.0[owner].on_fail = Some(StepId(tables.0.len() as u16));
        let results = if random.percent(20) { vec!["PASS", "FAIL"] } else { Vec::new() };
        tables.0.push(StepRow { results, stuck_after: 1 + random.below(3) as u16, ..StepRow::default() });
    }
    let mut places: Vec<u16> = (0..tables.0.len() as u16).collect();
    if random.percent(50) {
        random.shuffle(&mut places);
    }
    // From a stream of its own, so that everything else stays as it is without caps.
    let mut random = Random(random.0.rotate_left(17) | 1);
    tables.1 = random.percent(30).then(|| 1 + random.below(2 * tables.0.len()) as u32);
    tables.placed(&places)
}

impl Tables {
    /// The plan with its steps at other places in the source.
    fn placed(self, places: &[u16]) -> Tables {
        let moved = |it: StepId| StepId(places[it.index()]);
        let mut rows: Vec<StepRow> = vec![StepRow::default(); self.0.len()];
        for (index, mut row) in self.0.into_iter().enumerate() {
            row.depends_on.iter_mut().for_each(|it| *it = moved(*it));
            row.requeue.iter_mut().for_each(|it| *it = moved(*it));
            row.on_fail = row.on_fail.map(moved);
            row.condition = row.condition.map(|it| conditions::moved(&it, &moved));
            row.id = format!("s{}", places[index]);
            rows[usize::from(places[index])] = row;
        }
        Tables(rows, self.1, self.2)
    }
}

/// The plan with asks among its steps, one in three times.
pub fn with_asks(random: &mut Random, mut tables: Tables) -> Tables {
    if !random.percent(33) {
        return tables;
    }
    for index in 0..tables.0.len() {
        let handled = tables.handled_by(StepId(index as u16));
        let reports = |it: StepId| !tables.0[it.index()].outputs.is_empty();
        if reports(StepId(index as u16)) || handled.is_some_and(reports) || random.percent(60) {
            continue;
        }
        let is_approval = random.percent(40);
        let row = &mut tables.0[index];
        row.results = if is_approval { vec![APPROVE] } else { RESULTS[..1 + random.below(3)].to_vec() };
        row.ask = Some(Ask {
            who: random.one_of(&[&[][..], &["ada"], &["ada", "bob"]]),
            shows_context: true,
            shows_diff: random.percent(50),
            is_approval,
            on_timeout: random.percent(50).then(|| random.one_of(&row.results)),
        });
    }
    tables
}

/// A policy; most missions pause rarely.
pub fn policy(random: &mut Random) -> Policy {
    let execution = if random.percent(15) { Execution::Step } else { Execution::Auto };
    let intervene = match random.below(10) {
        0..5 => Intervene::Never,
        5..8 => Intervene::OnError,
        8 => Intervene::OnWarning,
        _ => Intervene::Always,
    };
    Policy { execution, intervene }
}

/// Next event: mostly what an agent or a person would do now, sometimes anything.
pub fn event(random: &mut Random, plan: &Plan<'_>, mission: &Mission, events: &[Event]) -> Event {
    match random.below(100) {
        0..82 => sensible(random, plan, mission),
        82..88 if !events.is_empty() => random.one_of(events),
        82..97 => odd(random, plan, mission),
        97 => Event::Obstruct { reason: random.one_of(&["no worktree", "no harness"]).to_string() },
        98 => answer(random, mission),
        _ if random.percent(40) => Event::Cancel,
        _ => retry(random, plan),
    }
}

/// Event that leads on. A mission that is driven by nothing else ends.
pub fn sensible(random: &mut Random, plan: &Plan<'_>, mission: &Mission) -> Event {
    match mission.status {
        MissionStatus::Pending => Event::Begin,
        MissionStatus::Paused if random.percent(75) => answer(random, mission),
        MissionStatus::Running | MissionStatus::Paused => {
            random_items::work(random, plan, mission).unwrap_or_else(|| answer(random, mission))
        }
        MissionStatus::Failed if random.percent(90) => retry(random, plan),
        MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
            odd(random, plan, mission)
        }
    }
}

/// Event about a step that asks a person.
pub fn ask(random: &mut Random, plan: &Plan<'_>, mission: &Mission, step: StepId, attempt: u32) -> Event {
    let commit =
        |random: &mut Random| random.one_of(&[None, Some("c1"), Some("c2")]).map(ToString::to_string);
    let is_queued = mission.step(step).status == StepStatus::Queued;
    match random.below(10) {
        0 => Event::Expire { step, attempt },
        1 => Event::Ask { step, attempt, commit: commit(random) },
        _ if is_queued => Event::Ask { step, attempt, commit: commit(random) },
        _ => {
            let mut words = plan.step(step).answers();
            words.push("PASS");
            let comment = random.one_of(&["", "", "no", " "]).to_string();
            let by = random.one_of(&["ada", "ada", "ada", "bob", "eve"]).to_string();
            let shown = mission.step(step).shown().cloned();
            let commit = if random.percent(80) { shown } else { commit(random) };
            Event::Answer {
                step,
                attempt,
                answer: Answer { word: random.one_of(&words).to_string(), comment, by, commit },
            }
        }
    }
}

pub fn end(random: &mut Random, plan: &Plan<'_>, step: StepId, attempt: u32) -> Event {
    match random.below(100) {
        0..82 => Event::Complete { step, attempt, report: report(random, plan, step) },
        82..90 => Event::Fail { step, attempt, reason: random.one_of(&["red", "blue"]).to_string() },
        90..95 => Event::Abandon { step, attempt },
        _ => Event::Lose { step, attempt },
    }
}

/// A report that is refused only now and then.
fn report(random: &mut Random, plan: &Plan<'_>, step: StepId) -> Report {
    let declared = plan.results_of(step);
    let result = match random.below(20) {
        0 => None,
        1 => Some(random.one_of(&RESULTS)),
        _ if declared.is_empty() => Some(random.one_of(&RESULTS)),
        _ => Some(random.one_of(declared)),
    };
    Report {
        result: result.map(ToString::to_string),
        summary: random.one_of(&SUMMARIES).to_string(),
        warning: random.percent(10).then(|| "look".to_string()),
        outputs: conditions::reported(random, plan.outputs_of(step), 2),
        answer: None,
    }
}

fn answer(random: &mut Random, mission: &Mission) -> Event {
    let open: Vec<u32> = mission.questions.iter().map(|it| it.number).collect();
    let pause = match random.below(10) {
        0..4 => None,
        4..9 if !open.is_empty() => Some(random.one_of(&open)),
        _ => Some(random.below(mission.pauses as usize + 2) as u32),
    };
    let meant = mission.questions.iter().find(|it| pause.is_none_or(|number| number == it.number));
    let asks = meant.is_some_and(|it| {
        matches!(it.reason, PauseReason::Error(_) | PauseReason::Exhausted(_) | PauseReason::Cap(_))
    });
    let accept_failure = random.percent(if asks { 60 } else { 5 });
    let policy = policy(random);
    Event::Continue {
        pause,
        accept_failure,
        execution: random.percent(10).then_some(policy.execution),
        intervene: random.percent(10).then_some(policy.intervene),
    }
}

fn retry(random: &mut Random, plan: &Plan<'_>) -> Event {
    let step = StepId(random.below(plan.steps.len()) as u16);
    Event::Retry { step: random.percent(40).then_some(step) }
}

/// An event about any step and any attempt, there or not.
fn odd(random: &mut Random, plan: &Plan<'_>, mission: &Mission) -> Event {
    let index = random.below(plan.steps.len());
    let step = StepId(if random.percent(3) { plan.steps.len() } else { index } as u16);
    let known = mission.step(StepId(index as u16)).attempt();
    let attempt = if random.percent(60) { known } else { random.below(known as usize + 2) as u32 };
    if random.percent(20) {
        return ask(random, plan, mission, StepId(index as u16), attempt).of(step);
    }
    match random.below(13) {
        0 => Event::Begin,
        12 if random.percent(50) => random_items::of_worktree(random, step, attempt),
        1 => Event::Assign { step, attempt },
        2 => Event::Start { step, attempt },
        _ => end(random, plan, StepId(index as u16), attempt).of(step),
    }
}

impl Event {
    /// The event about another step.
    fn of(mut self, other: StepId) -> Event {
        if let Event::Complete { step, .. }
        | Event::Fail { step, .. }
        | Event::Lose { step, .. }
        | Event::Landed { step, .. }
        | Event::Conflict { step, .. }
        | Event::Ask { step, .. }
        | Event::Answer { step, .. }
        | Event::Expire { step, .. }
        | Event::Abandon { step, .. } = &mut self
        {
            *step = other;
        }
        self
    }
}
