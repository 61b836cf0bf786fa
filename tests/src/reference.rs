//! A reference for what must happen, written from the documents and not from the code that it tests.
//!
//! It is slow and simple on purpose: it evaluates conditions as trees, reads bodies line by line, and uses nothing of the compiler
//! or the core.

mod body;

use self::body::{ReferenceLine, section};
use crate::plan::{
    Applies, DECLARED, GuardTree, Operator, Outside, Plan, PlannedEnding, PlannedGate, PlannedOutcome,
    PlannedRule, PlannedTransition,
};

const CRASH_COUNT: usize = 1;

/// The parts of a task that decisions read.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Its state.
    pub status: usize,
    /// Its counters.
    pub counters: Vec<u32>,
    /// Its body.
    pub body: String,
    /// The content of sections when a gate passed, the state was entered, and its agent was started.
    pub seen: Vec<(&'static str, String)>,
    /// The content that a gate accepted about other work than the present one.
    pub outdated: Vec<(&'static str, String)>,
    /// The programs that have been asked about what is in the worktree now, and whether they have succeeded.
    pub asked: Vec<(&'static [&'static str], bool)>,
    /// True if the checks of its pull request are green.
    pub is_green: bool,
    /// True if a task that it has created is open.
    pub has_children: bool,
    /// True if another agent is alive.
    pub beside: bool,
    /// Its visits of states, the present one last.
    pub visits: VisitedStates,
}

/// States that a task has visited, in order, each with the seconds that it stayed.
pub type VisitedStates = Vec<(usize, u32)>;

/// The result for a pair of states and counter values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// These transitions of the pair are open.
    Open(Vec<usize>),
    /// None is declared.
    NoTransition,
    /// Some are declared, and no guard holds.
    GuardFailed,
}

/// Reason for the refusal of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No transition is declared.
    NoTransition,
    /// This actor may not ask.
    NotAllowed,
    /// No guard holds.
    GuardFailed,
    /// The artifact does not meet the gate.
    GateFailed(GateLack),
    /// A program has to answer first.
    NotAsked,
}

/// Lack of an artifact, a program or a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateLack {
    /// There is no such section.
    Section,
    /// It is blank.
    Content,
    /// It has neither PASS nor FAIL.
    Verdict,
    /// It has both in one line.
    OneVerdict,
    /// It has the other verdict.
    OtherVerdict,
    /// No field has a line.
    Field,
    /// It has not changed.
    Fresh,
    /// Its verdict is about other work.
    OtherWork,
    /// The program has not been asked.
    Answer,
    /// The program has failed.
    Success,
    /// The checks are not green.
    Checks,
    /// A task that it has created is open, or none is.
    Children,
}

/// The effect of a granted request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The index of the transition among those of the pair.
    pub nth: usize,
    /// The counters that hooks increment, with their new values, in order.
    pub increments: Vec<(usize, u32)>,
}

/// Demand of the exit rules of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Take the transition to this state.
    Then(usize),
    /// It is a crash; the number of crashes that escalates, and whether the agent is started again.
    Crash(u32, bool),
    /// The agent is shown as dead.
    MarkDead,
    /// The agent is started again after this many seconds.
    Wait(u32),
    /// No rule applies.
    Nothing,
}

/// Fate of a task whose agent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskFate {
    /// It goes to this state.
    Advance(usize, Move),
    /// It stays, with this many crashes; whether its agent is started again.
    Crash(u32, bool),
    /// It goes to the crash state, with this many crashes.
    Escalate(u32, Move),
    /// It stays.
    MarkDead,
    /// It stays, and its agent is started again after this many seconds.
    Wait(u32),
    /// A program has to answer first.
    Ask,
}

/// End of an agent: exit status, signal, last lines.
pub type AgentEnding = (Option<i32>, Option<i32>, String);

/// True if a condition holds.
pub fn holds(condition: &GuardTree, counters: &[u32]) -> bool {
    match condition {
        GuardTree::Compare(counter, operator, value) => compare(counters[*counter], *operator, *value),
        GuardTree::Not(inner) => !holds(inner, counters),
        GuardTree::All(parts) => parts.iter().all(|part| holds(part, counters)),
        GuardTree::Any(parts) => parts.iter().any(|part| holds(part, counters)),
    }
}

fn compare(left: u32, operator: Operator, right: u32) -> bool {
    match operator {
        Operator::Less => left < right,
        Operator::LessOrEqual => left <= right,
        Operator::Greater => left > right,
        Operator::GreaterOrEqual => left >= right,
        Operator::Equal => left == right,
        Operator::NotEqual => left != right,
    }
}

/// The transitions that are open.
pub fn resolve(plan: &Plan, from: usize, to: usize, counters: &[u32]) -> Resolution {
    let declared = between(plan, from, to);
    let open =
        |transition: &PlannedTransition| transition.when.as_ref().is_none_or(|when| holds(when, counters));
    let found: Vec<usize> = (0..declared.len()).filter(|nth| open(declared[*nth])).collect();
    match found.is_empty() {
        false => Resolution::Open(found),
        true if declared.is_empty() => Resolution::NoTransition,
        true => Resolution::GuardFailed,
    }
}

/// The transitions of a pair that are not for facts alone.
fn between(plan: &Plan, from: usize, to: usize) -> Vec<&PlannedTransition> {
    let transitions =
        plan.transitions.iter().filter(|transition| transition.from == from && transition.to == to);
    transitions.filter(|transition| transition.cause.is_none()).collect()
}

/// The answer to a request: the transition exists, the actor may ask, a guard holds, the gate passes.
pub fn request(plan: &Plan, task: &Task, to: usize, actor: &str) -> Result<Move, Refusal> {
    let declared = between(plan, task.status, to);
    if declared.is_empty() {
        return Err(Refusal::NoTransition);
    }
    if actor != "engine" && !declared.iter().any(|transition| is_for(transition, actor)) {
        return Err(Refusal::NotAllowed);
    }
    let Resolution::Open(open) = resolve(plan, task.status, to, &task.counters) else {
        return Err(Refusal::GuardFailed);
    };
    let Some(nth) = chosen(&declared, &open, task, actor) else { return Err(Refusal::NotAllowed) };
    match lack_of(&declared[nth].gates, task) {
        Some(GateLack::Answer) => Err(Refusal::NotAsked),
        Some(lack) => Err(Refusal::GateFailed(lack)),
        None => Ok(Move { nth, increments: increments(declared[nth], task) }),
    }
}

/// Lack of the first of these gates that does not hold. "The program is asked only when everything else holds."
fn lack_of(gates: &[PlannedGate], task: &Task) -> Option<GateLack> {
    let lacks: Vec<GateLack> = gates.iter().filter_map(|gate| lack(gate, task)).collect();
    lacks.iter().find(|it| **it != GateLack::Answer).or(lacks.first()).copied()
}

fn is_for(transition: &PlannedTransition, actor: &str) -> bool {
    let is_anyone = transition.by.is_empty() && !DECLARED.contains(&actor);
    is_anyone || transition.by.contains(&actor)
}

/// The transition that the actor gets, or comes nearest to; the engine asks as another where none is for it (`docs/workflow.md`,
/// "Transitions").
fn chosen(declared: &[&PlannedTransition], open: &[usize], task: &Task, actor: &str) -> Option<usize> {
    let of =
        |actor: &str| open.iter().copied().filter(|nth| is_for(declared[*nth], actor)).collect::<Vec<_>>();
    let stands_for = ["engine", "worker", "reviewer", "human"].into_iter().chain(DECLARED);
    let mine = match actor {
        "engine" => stands_for.map(of).find(|found| !found.is_empty())?,
        _ => of(actor),
    };
    let lacks =
        |nth: usize| declared[nth].gates.iter().filter_map(|gate| lack(gate, task)).collect::<Vec<_>>();
    let fits =
        mine.iter().copied().filter(|nth| !lacks(*nth).contains(&GateLack::OtherVerdict)).collect::<Vec<_>>();
    let among = if fits.is_empty() { mine } else { fits };
    let is_refused = |nth: usize| lacks(nth).iter().any(|it| *it != GateLack::Answer);
    among.into_iter().min_by_key(|nth| (is_refused(*nth), lacks(*nth).len()))
}

fn increments(transition: &PlannedTransition, task: &Task) -> Vec<(usize, u32)> {
    let mut counters = task.counters.clone();
    let count_up = |counter: &usize| {
        counters[*counter] = counters[*counter].saturating_add(1);
        (*counter, counters[*counter])
    };
    transition.increments.iter().map(count_up).collect()
}

/// Demand of the exit rules of a state; `has` returns whether the nth rule's artifact exists, or the agent ended as it says.
pub fn exit(plan: &Plan, status: usize, has: impl Fn(usize) -> bool, counters: &[u32]) -> Says {
    let Some(nth) = decides(plan, status, has) else { return Says::Nothing };
    match &rules_of(plan, status)[nth].outcome {
        PlannedOutcome::Then(to) => Says::Then(*to),
        PlannedOutcome::ThenWhen(clauses) => {
            let clause = clauses.iter().find(|(when, _)| holds(when, counters));
            clause.map_or(Says::Nothing, |(_, to)| Says::Then(*to))
        }
        PlannedOutcome::Crash { stuck_after, respawn } => Says::Crash(stuck_after.unwrap_or(2), *respawn),
        PlannedOutcome::MarkDead => Says::MarkDead,
        PlannedOutcome::Wait(seconds) => Says::Wait(*seconds),
    }
}

/// The exit rule that decides, by its place among those of the state; `has` as for [`exit`].
pub fn decides(plan: &Plan, status: usize, has: impl Fn(usize) -> bool) -> Option<usize> {
    let rules = rules_of(plan, status);
    let is_there = |nth: usize| matches!(rules[nth].applies, Applies::HasArtifact(_)) && has(nth);
    let applies = |nth: usize| match rules[nth].applies {
        Applies::Always => true,
        Applies::HasArtifact(_) | Applies::Ended(_) => has(nth),
        Applies::NoArtifact => !(0..rules.len()).any(is_there),
    };
    (0..rules.len()).find(|nth| applies(*nth))
}

/// Fate of a task whose agent ended like this.
pub fn death(plan: &Plan, task: &Task, end: &AgentEnding) -> TaskFate {
    if let Some(to) = overdue(plan, &task.visits) {
        return advance(plan, task, to, false);
    }
    let rules = rules_of(plan, task.status);
    let met: Vec<_> = rules.iter().map(|it| is_met(&rules, it, task, end)).collect();
    if met.iter().find(|it| **it != Some(false)) == Some(&None) {
        return TaskFate::Ask;
    }
    let has = |nth: usize| met[nth] == Some(true);
    match exit(plan, task.status, has, &task.counters) {
        Says::Then(to) => {
            let rule = met.iter().position(|it| *it == Some(true)).map(|nth| &rules[nth].applies);
            let verdict = match rule {
                Some(Applies::HasArtifact(gates)) => gates.iter().any(PlannedGate::asks_for_verdict),
                Some(Applies::Always | Applies::NoArtifact | Applies::Ended(_)) | None => false,
            };
            advance(plan, task, to, verdict)
        }
        Says::Crash(stuck_after, respawn) => crash(plan, task, stuck_after, respawn),
        Says::Wait(seconds) => TaskFate::Wait(seconds),
        Says::MarkDead | Says::Nothing => TaskFate::MarkDead,
    }
}

/// True if a rule's condition holds; `None` if a program has to answer first.
fn is_met(rules: &[&PlannedRule], rule: &PlannedRule, task: &Task, end: &AgentEnding) -> Option<bool> {
    match &rule.applies {
        Applies::Always => Some(true),
        Applies::Ended(ending) => Some(ended_so(ending, end)),
        Applies::HasArtifact(gates) => match lack_of(gates, task) {
            Some(GateLack::Answer) => None,
            lack => Some(lack.is_none()),
        },
        Applies::NoArtifact => {
            let artifacts = rules.iter().filter(|it| matches!(it.applies, Applies::HasArtifact(_)));
            let first = artifacts.map(|it| is_met(rules, it, task, end)).find(|it| *it != Some(false));
            first.map_or(Some(true), |it| it.map(|_| false))
        }
    }
}

/// State to which a task goes because a time is over (`docs/workflow.md`, "States"): a longer one comes before a shorter one.
pub fn overdue(plan: &Plan, visits: &[(usize, u32)]) -> Option<usize> {
    let times = times_over(plan, visits);
    let leading = times.iter().filter_map(|(after, then)| Some((*after, (*then)?)));
    leading.rev().max_by_key(|(after, _)| *after).map(|(_, to)| to)
}

/// The times that are over, a notice or not: how long they are, and where they lead.
pub fn times_over(plan: &Plan, visits: &[(usize, u32)]) -> Vec<(u32, Option<usize>)> {
    let over = times(plan, visits).into_iter().filter(|(after, passed, _)| passed >= after);
    over.map(|(after, _, then)| (after, then)).collect()
}

/// For how long a task has been in its state when the next time is over of which it has no notice yet.
pub fn next_time(plan: &Plan, visits: &[(usize, u32)]) -> u32 {
    let left = |(after, passed, then): (u32, u32, Option<usize>)| {
        let left = after.saturating_sub(passed);
        (left == 0 && then.is_none(), left)
    };
    let next = times(plan, visits).into_iter().map(left).min().map_or(0, |(_, left)| left);
    visits.last().map_or(0, |(_, lasted)| lasted + next)
}

/// The times of a task's state: how long they are, how much of that has passed, and where they lead.
fn times(plan: &Plan, visits: &[(usize, u32)]) -> Vec<(u32, u32, Option<usize>)> {
    let Some((status, lasted)) = visits.last().copied() else { return Vec::new() };
    let within = |states: &[usize]| -> u32 {
        visits.iter().rev().take_while(|(state, _)| states.contains(state)).map(|(_, lasted)| lasted).sum()
    };
    let own = plan.deadlines.iter().filter(|it| it.states.contains(&status));
    let deadlines = own.map(|it| (it.after, within(&it.states), it.then));
    let timeout = plan.states[status].timeout.map(|(seconds, then)| (seconds, lasted, then));
    deadlines.chain(timeout).collect()
}

/// True if an agent ended as a rule says (`docs/workflow.md`, "When an agent has ended").
pub fn ended_so(ending: &PlannedEnding, (code, signal, output): &AgentEnding) -> bool {
    let PlannedEnding { codes, signals, output: wanted } = ending;
    let listed = |number: &Option<i32>, of: &[i32]| number.is_some_and(|it| of.contains(&it));
    let exit = (codes, signals) == (&vec![], &vec![]) || listed(code, codes) || listed(signal, signals);
    exit && wanted.is_none_or(|wanted| one_line(output).contains(&one_line(wanted)))
}

/// Lower case, with one space for each run of white space.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        let letter = if letter.is_whitespace() { ' ' } else { letter.to_ascii_lowercase() };
        if letter != ' ' || !line.ends_with(' ') {
            line.push(letter);
        }
    }
    line
}

fn rules_of(plan: &Plan, status: usize) -> Vec<&PlannedRule> {
    plan.rules.iter().filter(|rule| rule.status == status).collect()
}

/// Takes a rule's transition. A failed gate or guard is a crash, and so is a verdict beside another agent; the state's own crash rule
/// counts it.
fn advance(plan: &Plan, task: &Task, to: usize, verdict: bool) -> TaskFate {
    match request(plan, task, to, "engine") {
        Ok(taken) => {
            let gates = &between(plan, task.status, to)[taken.nth].gates;
            if !task.beside || !(verdict || gates.iter().any(PlannedGate::asks_for_verdict)) {
                return TaskFate::Advance(to, taken);
            }
        }
        Err(Refusal::NotAsked) => return TaskFate::Ask,
        Err(_) => {}
    }
    let own = rules_of(plan, task.status).into_iter().find_map(|rule| match rule.outcome {
        PlannedOutcome::Crash { stuck_after, respawn } => Some((stuck_after.unwrap_or(2), respawn)),
        PlannedOutcome::Then(_)
        | PlannedOutcome::ThenWhen(_)
        | PlannedOutcome::MarkDead
        | PlannedOutcome::Wait(_) => None,
    });
    let (stuck_after, respawn) = own.unwrap_or((2, false));
    crash(plan, task, stuck_after, respawn)
}

fn crash(plan: &Plan, task: &Task, stuck_after: u32, respawn: bool) -> TaskFate {
    let count = task.counters[CRASH_COUNT].saturating_add(1);
    if count < stuck_after {
        return TaskFate::Crash(count, respawn);
    }
    let Some(to) = plan.crash else { return TaskFate::Crash(count, false) };
    let declared = between(plan, task.status, to);
    let nth = match resolve(plan, task.status, to, &task.counters) {
        Resolution::Open(open) => chosen(&declared, &open, task, "engine").unwrap_or_default(),
        Resolution::GuardFailed => 0,
        Resolution::NoTransition => return TaskFate::Crash(count, false),
    };
    TaskFate::Escalate(count, Move { nth, increments: increments(declared[nth], task) })
}

/// Lack of the task's body, or of something outside of it, for this gate.
pub fn lack(gate: &PlannedGate, task: &Task) -> Option<GateLack> {
    match gate.outside {
        Some(Outside::Command(argv)) => match task.asked.iter().find(|(program, _)| *program == argv) {
            None => Some(GateLack::Answer),
            Some((_, succeeded)) => (!succeeded).then_some(GateLack::Success),
        },
        Some(Outside::Checks) => (!task.is_green).then_some(GateLack::Checks),
        Some(Outside::Children { some }) => (some != task.has_children).then_some(GateLack::Children),
        None => lack_of_section(gate, task),
    }
}

fn lack_of_section(gate: &PlannedGate, task: &Task) -> Option<GateLack> {
    let Some(all) = section(&task.body, gate.section) else { return Some(GateLack::Section) };
    let lines: Vec<ReferenceLine> = all.iter().filter(|line| !line.comment).cloned().collect();
    let blank = lines.iter().all(|line| line.text.trim().is_empty());
    if blank && (gate.required || gate.asks_for_verdict() || !gate.fields.is_empty()) {
        return Some(GateLack::Content);
    }
    if gate.asks_for_verdict() {
        let words = if gate.words.is_empty() { &["PASS", "FAIL"][..] } else { &gate.words };
        match verdict(&lines, gate.strict, words) {
            Ok(found) if gate.verdict.is_none_or(|wanted| wanted == found) => {}
            Ok(_) => return Some(GateLack::OtherVerdict),
            Err(lack) => return Some(lack),
        }
    }
    let is_written =
        |name: &&str| lines.iter().filter(|line| !line.code).any(|line| is_field(&line.text, name));
    let written = gate.fields.iter().filter(|name| is_written(name)).count();
    let wanted = if gate.every_field { gate.fields.len() } else { gate.fields.len().min(1) };
    if written < wanted {
        return Some(GateLack::Field);
    }
    let same = |before: &String| {
        let (before, now) = (before.lines().collect::<Vec<_>>(), all.iter().map(|line| line.text.as_str()));
        before.join("\n").trim() == now.collect::<Vec<_>>().join("\n").trim()
    };
    let stood = |contents: &[(&'static str, String)]| {
        contents.iter().any(|(section, before)| *section == gate.section && same(before))
    };
    if gate.fresh && (stood(&task.seen) || stood(&task.outdated)) {
        return Some(GateLack::Fresh);
    }
    (gate.of.is_some() && stood(&task.outdated)).then_some(GateLack::OtherWork)
}

/// True if the verdicts of several reviewers meet a gate: that of each, or that of one of them (`docs/workflow.md`, "Several
/// reviewers").
pub fn verdicts(every: bool, own: &[PlannedGate], task: &Task) -> bool {
    let said = own.iter().filter(|gate| lack(gate, task).is_none()).count();
    if every { said == own.len() } else { said > 0 }
}

fn verdict<'w>(lines: &[ReferenceLine], strict: bool, known: &[&'w str]) -> Result<&'w str, GateLack> {
    let spelled = |word: &str| known.iter().copied().find(|it| it.to_ascii_lowercase() == word);
    if strict {
        let first = lines.iter().find(|line| !line.text.trim().is_empty()).ok_or(GateLack::Verdict)?;
        let marks = ['*', '_', '`'];
        let said: String = first.text.chars().filter(|it| !marks.contains(it)).collect();
        let said = said.trim().trim_start_matches(|it| "#>- \t".contains(it)).to_ascii_lowercase();
        let word = said.strip_prefix("verdict:").map(str::trim);
        return word.and_then(spelled).ok_or(GateLack::Verdict);
    }
    let words = |line: &ReferenceLine| {
        let text = line.text.to_ascii_lowercase();
        let mut words: Vec<_> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(spelled).collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let telling: Vec<_> = lines.iter().filter(|line| !line.code && !words(line).is_empty()).collect();
    let named =
        telling.iter().find(|line| line.text.trim_start().to_ascii_lowercase().starts_with("verdict:"));
    match named.or(telling.first()).map(|line| words(line)).as_deref() {
        Some([word]) => Ok(word),
        Some([_, _, ..]) => Err(GateLack::OneVerdict),
        Some([]) | None => Err(GateLack::Verdict),
    }
}

fn is_field(line: &str, wanted: &str) -> bool {
    line.split_once(':').is_some_and(|(name, value)| name == wanted && !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(gate: &PlannedGate, body: &str, expect: Option<GateLack>) {
        let task = Task { body: body.to_string(), ..Task::default() };
        assert_eq!(lack(gate, &task), expect, "{body:?}");
    }

    #[test]
    fn it_reads_as_the_documents_say() {
        let review = PlannedGate { section: "## Review", verdict: Some("PASS"), ..PlannedGate::default() };
        let strict = PlannedGate { strict: true, ..review.clone() };
        check(&review, "## Review\nAll tests pass, but.\nVerdict: FAIL", Some(GateLack::OtherVerdict));
        check(&review, "## Review\nLooks fine.\nPASS", None);
        check(&strict, "## Review\nLooks fine.\nVerdict: PASS", Some(GateLack::Verdict));
        check(&strict, "## Review\n\nVerdict: pass\n", None);
        check(&strict, "## Review\n**Verdict: PASS**", None);
        check(&review, "```\n## Review\nPASS\n```", Some(GateLack::Section));
        check(&review, "## Review\nPASS\n## Review\n# End\nPASS", Some(GateLack::Content));
    }
}
