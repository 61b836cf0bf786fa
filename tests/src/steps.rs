//! Generated step workflows, the same for the same seed, as values and as the text of a file.

// The build script reads this file from another folder.
#[path = "steps/more.rs"]
mod more;

use std::fmt::{self, Display, Formatter};

use orange_testkit::Random;

pub use self::more::{MoreKeys, PlannedWork};

/// Beginnings of names that collide with words of Rust, of TOML or of generated code.
const AWKWARD_NAMES: [&str; 8] = ["type", "Self", "Step", "role_", "PLAN", "fn", "result", "code-review"];
const ROLES: [&str; 3] = ["any", "worker", "self"];
const TEXTS: [&str; 6] =
    ["it's {plain}", "\"quoted\" \\ back", "{{", "日本 é\u{202e}", "\ta\n\nb\n", "${x} {{{ a"];
const PLACEHOLDERS: [&str; 7] =
    ["mission_prompt", "worktree_path", "context", "step", "attempt", "branch", "base"];

/// A step workflow that compiles. References are places in `steps`.
#[derive(Debug)]
pub struct PlannedSteps {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// `execution`
    pub execution: &'static str,
    /// `intervene`
    pub intervene: &'static str,
    /// `notices`
    pub notices: bool,
    /// `budget`, as it is written.
    pub budget: Option<&'static str>,
    /// `max_attempts`
    pub max_attempts: Option<u32>,
    /// `sandbox`, as it is written.
    pub sandbox: Option<&'static str>,
    /// `parallel`
    pub parallel: Option<u8>,
    /// True if it has `inputs`, and `roles.worker`.
    pub has_inputs: bool,
    /// In source order.
    pub steps: Vec<PlannedStep>,
}

/// One of its steps.
#[derive(Debug)]
pub struct PlannedStep {
    /// Its name.
    pub id: String,
    /// `title`
    pub title: Option<&'static str>,
    /// `role`
    pub role: &'static str,
    /// `prompt`, with placeholders.
    pub prompt: String,
    /// The steps before it, in the order in which they are written.
    pub depends_on: Vec<usize>,
    /// Parts of `condition`: a step, `result` or `summary`, and the value that this is compared with.
    pub condition: Option<(usize, &'static str, String)>,
    /// `results`
    pub results: Vec<String>,
    /// `max_retries`; 0 where there is none.
    pub max_retries: u16,
    /// `requeue`
    pub requeue: Vec<usize>,
    /// `on_fail`
    pub on_fail: Option<usize>,
    /// `harness`
    pub harness: Option<&'static str>,
    /// `model`
    pub model: Option<&'static str>,
    /// `effort`
    pub effort: Option<&'static str>,
    /// `sandbox`, as it is written.
    pub sandbox: Option<&'static str>,
    /// `permissions`
    pub permissions: &'static str,
    /// `timeout`
    pub timeout: Option<u32>,
    /// `stuck_after`
    pub stuck_after: u16,
    /// Keys of values, programs, persons and fan-outs.
    pub more: MoreKeys,
}

/// A step workflow of 1 to 40 steps.
pub fn steps(seed: u64) -> PlannedSteps {
    steps_of(seed, 40)
}

/// A step workflow of 1 to 20 steps with every key of the language but those of prompt files.
pub fn wide_steps(seed: u64) -> PlannedSteps {
    let mut planned = steps_of(seed, 20);
    more::widen(&mut Random::new(seed ^ 0x00fa_4000), &mut planned);
    planned
}

/// A step workflow of a few steps, whose loops end soon.
pub fn small_steps(seed: u64) -> PlannedSteps {
    shortened(steps_of(seed, 6))
}

/// A step workflow of a few steps, whose loops end soon, with every key but those of prompt files.
pub fn small_wide_steps(seed: u64) -> PlannedSteps {
    let mut planned = steps_of(seed, 4);
    more::widen(&mut Random::new(seed ^ 0x00fa_4000), &mut planned);
    shortened(planned)
}

/// The workflow with loops that end soon.
fn shortened(mut planned: PlannedSteps) -> PlannedSteps {
    for step in &mut planned.steps {
        step.max_retries = step.max_retries.min(1 + step.max_retries % 2);
        step.stuck_after = step.stuck_after.min(2);
    }
    planned
}

fn steps_of(seed: u64, most: usize) -> PlannedSteps {
    let random = &mut Random::new(seed);
    let count = 1 + random.below(most);
    let mut steps: Vec<PlannedStep> = Vec::new();
    for at in 0..count {
        let step = step(random, &steps, at);
        steps.push(step);
    }
    handlers(random, &mut steps);
    // From a stream of its own, so that everything else stays as it is without these keys.
    let mut more = Random::new(seed ^ 0x00ca_9000);
    let max_attempts = more.chance(30).then(|| 1 + more.below(2 * count) as u32);
    for step in &mut steps {
        step.model = more.chance(20).then_some("gpt-5.5");
        step.effort = more.chance(20).then(|| *more.pick(&["low", "medium", "high", "max"]));
    }
    let sandbox = more.chance(30).then(|| *more.pick(&SANDBOXES));
    for step in &mut steps {
        step.sandbox = more.chance(20).then(|| *more.pick(&SANDBOXES));
    }
    PlannedSteps {
        name: format!("steps-{seed}"),
        description: (*random.pick(&TEXTS)).to_owned(),
        execution: random.pick::<&str>(&["step", "auto"]),
        intervene: random.pick::<&str>(&["never", "on-warning", "on-error", "always"]),
        notices: random.chance(50),
        budget: random.chance(30).then_some("{cost = 5.00, starts = 40}"),
        max_attempts,
        sandbox,
        parallel: None,
        has_inputs: false,
        steps,
    }
}

/// Demands on the confinement of agents.
const SANDBOXES: [&str; 3] =
    ["\"wall\"", "{git = \"read\", worktree = \"read\"}", "{level = \"wall\", network = \"model\"}"];

fn step(random: &mut Random, before: &[PlannedStep], at: usize) -> PlannedStep {
    let mut depends_on: Vec<usize> = (0..at).filter(|_| random.chance(150 / at.max(2))).collect();
    if random.chance(30) {
        depends_on.reverse();
    }
    let upstream = upstream(before, &depends_on);
    let condition = (!upstream.is_empty() && random.chance(60)).then(|| condition(random, before, &upstream));
    let is_loop = !upstream.is_empty() && random.chance(30);
    let mut requeue: Vec<usize> = upstream.iter().copied().filter(|_| is_loop && random.chance(40)).collect();
    if is_loop && requeue.is_empty() {
        requeue.push(*random.pick(&upstream));
    }
    let result = |it| format!("{}{it}", random.pick(&["PASS-", "no_", "Self", "ok"]));
    let results = (0..at % 4).map(result).collect();
    PlannedStep {
        id: format!("{}{at}", random.pick(&AWKWARD_NAMES)),
        title: random.chance(30).then(|| *random.pick(&["A title", "it's \"one\""])),
        role: random.pick::<&str>(&ROLES),
        prompt: prompt(random),
        depends_on,
        condition,
        results,
        max_retries: if is_loop { 1 + random.below(1000) as u16 } else { 0 },
        requeue,
        on_fail: None,
        harness: random.chance(20).then_some("codex"),
        model: None,
        effort: None,
        sandbox: None,
        permissions: random.pick::<&str>(&["full", "reduced"]),
        timeout: random.chance(20).then(|| 1 + random.below(100_000) as u32),
        stuck_after: 1 + random.below(5) as u16,
        more: MoreKeys::default(),
    }
}

fn prompt(random: &mut Random) -> String {
    let mut text = String::from("Do it: ");
    for _ in 0..random.below(5) {
        match random.chance(50) {
            true => text += random.pick::<&str>(&TEXTS),
            false => text += &format!("{{{{{}}}}}", random.pick(&PLACEHOLDERS)),
        }
    }
    text
}

fn condition(
    random: &mut Random,
    before: &[PlannedStep],
    upstream: &[usize],
) -> (usize, &'static str, String) {
    let read = *random.pick(upstream);
    let field = *random.pick(&["result", "result", "summary"]);
    let results = &before[read].results;
    let value = if results.is_empty() { "GO".to_owned() } else { random.pick(results).clone() };
    (read, field, value)
}

/// Every step upstream of one that waits for these.
fn upstream(before: &[PlannedStep], depends_on: &[usize]) -> Vec<usize> {
    let mut found = vec![false; before.len()];
    let mut open = depends_on.to_vec();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut found[at], true) {
            open.extend(&before[at].depends_on);
        }
    }
    (0..before.len()).filter(|at| found[*at]).collect()
}

/// Gives some steps a handler, at the end or among those that nothing else starts or waits for.
fn handlers(random: &mut Random, steps: &mut Vec<PlannedStep>) {
    for at in 0..steps.len() {
        if random.chance(20) {
            let id = format!("handler-{at}");
            let mut handler = step(random, &[], 0);
            handler.id = id;
            steps[at].on_fail = Some(steps.len());
            steps.push(handler);
        }
    }
}

impl Display for PlannedSteps {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, description, execution, intervene, notices, steps, .. } = self;
        writeln!(f, "[workflow]\nname = {}\ndescription = {}", text(name), text(description))?;
        if steps.len().is_multiple_of(2) {
            writeln!(f, "version = 3\nroles = [\"worker\", \"self\"]")?;
        }
        writeln!(f, "execution = \"{execution}\"\nintervene = \"{intervene}\"\nnotices = {notices}")?;
        let optional = [
            self.max_attempts.map(|it| format!("max_attempts = {it}")),
            self.sandbox.map(|it| format!("sandbox = {it}")),
            self.budget.map(|it| format!("budget = {it}")),
            self.parallel.map(|it| format!("parallel = {it}")),
        ];
        optional.iter().flatten().try_for_each(|line| writeln!(f, "{line}"))?;
        if self.has_inputs {
            write!(f, "{}", more::INPUTS)?;
        }
        if self.has_role_table() {
            write!(f, "{}", more::WORKER)?;
        }
        self.steps.iter().try_for_each(|step| self.write(f, step))
    }
}

impl PlannedSteps {
    /// True if it says what the steps of the role `worker` have.
    pub fn has_role_table(&self) -> bool {
        let works = |it: &PlannedStep| it.role == "worker" && !matches!(it.more.work, PlannedWork::Person(_));
        self.has_inputs && (self.steps.len().is_multiple_of(2) || self.steps.iter().any(works))
    }

    /// The condition of a step, as it is written.
    pub fn condition_of(&self, step: &PlannedStep) -> Option<String> {
        let equality = step.condition.as_ref().map(|(read, field, value)| {
            let read = &self.steps[*read];
            let items = if read.more.for_each.is_some() { "any " } else { "" };
            format!("{items}{}.{field} == '{value}'", read.id)
        });
        match (equality, step.more.test.clone()) {
            (Some(equality), Some(test)) => Some(format!("{equality} && {test}")),
            (equality, test) => equality.or(test),
        }
    }

    /// True if it is a last step: nothing waits for it but loops, and it is neither a loop nor a handler.
    pub fn is_last(&self, at: usize) -> bool {
        let is_part = |at: usize| {
            self.steps[at].requeue.is_empty() && self.steps.iter().all(|it| it.on_fail != Some(at))
        };
        is_part(at) && !(0..self.steps.len()).any(|other| is_part(other) && self.waits_for(other, at))
    }

    /// True if a step runs after another, at once or later.
    fn waits_for(&self, step: usize, other: usize) -> bool {
        let before = &self.steps[step].depends_on;
        before.contains(&other) || before.iter().any(|it| self.waits_for(*it, other))
    }

    fn write(&self, f: &mut Formatter<'_>, step: &PlannedStep) -> fmt::Result {
        let name = |at: &usize| text(&self.steps[*at].id);
        let names = |places: &[usize]| places.iter().map(name).collect::<Vec<_>>().join(", ");
        let PlannedStep { id, role, prompt, permissions, stuck_after, more, .. } = step;
        writeln!(f, "[[steps]]\nid = {}", text(id))?;
        match more.work {
            PlannedWork::Agent => writeln!(f, "prompt = {}\npermissions = \"{permissions}\"", text(prompt))?,
            PlannedWork::Program(argument) => {
                writeln!(f, "run = [\"make\", {}, {}]", text(argument), text(prompt))?;
            }
            PlannedWork::Person(keys) => write!(f, "ask = {}\n{keys}", text(prompt))?,
        }
        let is_person = matches!(more.work, PlannedWork::Person(_));
        if !is_person {
            writeln!(f, "role = \"{role}\"\nstuck_after = {stuck_after}")?;
        }
        writeln!(f, "depends_on = [{}]", names(&step.depends_on))?;
        if let Some(condition) = self.condition_of(step) {
            writeln!(f, "condition = {}", text(&condition))?;
        }
        if !step.results.is_empty() {
            let results: Vec<_> = step.results.iter().map(|it| text(it)).collect();
            let key = if is_person { "answers" } else { "results" };
            writeln!(f, "{key} = [{}]", results.join(", "))?;
        }
        if step.max_retries > 0 {
            writeln!(f, "max_retries = {}\nrequeue = [{}]", step.max_retries, names(&step.requeue))?;
        }
        let is_agent = more.work == PlannedWork::Agent;
        let lists = [("gates", more.gates.join(", ")), ("outputs", more.declared().join(", "))];
        let [gates, outputs] = lists.map(|(key, items)| (!items.is_empty()).then_some((key, items)));
        let optional = [
            step.title.map(|it| format!("title = {}", text(it))),
            step.on_fail.map(|it| format!("on_fail = {}", name(&it))),
            step.harness.filter(|_| is_agent).map(|it| format!("harness = {}", text(it))),
            step.model.filter(|_| is_agent).map(|it| format!("model = {}", text(it))),
            step.effort.filter(|_| is_agent).map(|it| format!("effort = {}", text(it))),
            step.sandbox.filter(|_| is_agent).map(|it| format!("sandbox = {it}")),
            step.timeout.filter(|_| !is_person).map(|it| format!("timeout = {it}")),
            gates.map(|(key, items)| format!("{key} = [{items}]")),
            outputs.map(|(key, items)| format!("{key} = {{ {items} }}")),
            more.worktree.map(str::to_owned),
            more.for_each.as_ref().map(|it| format!("for_each = {it}")),
            more.enough.map(|it| format!("enough = {it}")),
            (self.steps.len() == 1).then(|| "independent = true".to_owned()),
        ];
        optional.iter().flatten().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// A string of TOML.
fn text(text: &str) -> String {
    let mut written = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => written += "\\\"",
            '\\' => written += "\\\\",
            it if it.is_ascii_control() => written += &format!("\\u{:04x}", u32::from(it)),
            it => written.push(it),
        }
    }
    written + "\""
}
