//! A workflow for the tests, and its YAML. It shares no code with the compiler that it tests.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// The actors that every plan declares.
pub const DECLARED: [&str; 2] = ["bot-2", "ci"];

/// A workflow. States, counters and prompts are named by their index.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// In source order.
    pub states: Vec<PlannedState>,
    /// The names of all counters, `review_round` and `crash_count` first.
    pub counters: Vec<String>,
    /// The target of escalations, if the workflow sets one or has a state `stuck`.
    pub crash: Option<usize>,
    /// The target of `orange task merge`, where the workflow names one.
    pub merge: Option<usize>,
    /// The targets of the other commands that the workflow names: `spawn`, `clarify`, `review`, `cancel`.
    pub commands: BTreeMap<&'static str, usize>,
    /// True if its first state is named by `initial`, and if it has texts and numbers that decide nothing.
    pub is_wordy: bool,
    /// `budget`, as it is written.
    pub budget: Option<&'static str>,
    /// `sandbox`, as it is written.
    pub sandbox: Option<&'static str>,
    /// True if its gates have names, which transitions and exit rules use.
    pub names_gates: bool,
    /// `unattended`
    pub unattended: bool,
    /// The names of the prompts.
    pub prompts: Vec<&'static str>,
    /// In source order.
    pub transitions: Vec<PlannedTransition>,
    /// In source order.
    pub watch: Vec<PlannedWatch>,
    /// In source order.
    pub deadlines: Vec<PlannedDeadline>,
    /// In source order.
    pub rules: Vec<PlannedRule>,
}

/// An entry of `watch`.
#[derive(Clone, Debug)]
pub struct PlannedWatch {
    /// The state that has the rule.
    pub status: usize,
    /// The fact, as it is written: `base: conflict`.
    pub fact: &'static str,
    /// Its guard.
    pub when: Option<GuardTree>,
    /// Its number of reruns.
    pub rerun: Option<u8>,
    /// `then`, or `then_when`.
    pub outcome: PlannedOutcome,
}

/// An entry of `deadlines`.
#[derive(Clone, Debug)]
pub struct PlannedDeadline {
    /// The states that it is for.
    pub states: Vec<usize>,
    /// `after`, in seconds.
    pub after: u32,
    /// The state of `then`.
    pub then: Option<usize>,
}

/// One state.
#[derive(Clone, Debug, Default)]
pub struct PlannedState {
    /// Its name.
    pub name: String,
    /// True if no transition leaves it.
    pub terminal: bool,
    /// `respawn_prompt`
    pub respawn: Option<&'static str>,
    /// `entry`
    pub entry: bool,
    /// `wait: human`
    pub waits: bool,
    /// `agent: {workspace: none}`
    pub in_folder: bool,
    /// The other keys of `agent`, as they are written: `model: opus`.
    pub agent: Vec<&'static str>,
    /// `budget`, as it is written.
    pub budget: Option<&'static str>,
    /// `sandbox`, as it is written.
    pub sandbox: Option<&'static str>,
    /// `delegates`, as it is written.
    pub delegates: Option<&'static str>,
    /// `timeout`, in seconds, and the state of `on_timeout`.
    pub timeout: Option<(u32, Option<usize>)>,
}

/// One transition.
#[derive(Clone, Debug, Default)]
pub struct PlannedTransition {
    /// The state it leaves.
    pub from: usize,
    /// The state it enters.
    pub to: usize,
    /// The actors that may ask; empty means anyone but declared actors.
    pub by: Vec<&'static str>,
    /// `cause`
    pub cause: Option<&'static str>,
    /// Its guard.
    pub when: Option<GuardTree>,
    /// Its gates; each must hold.
    pub gates: Vec<PlannedGate>,
    /// The counters that its hooks increment, in order.
    pub increments: Vec<usize>,
    /// The counters of `reset`.
    pub reset: Vec<usize>,
    /// The hooks after those that increment.
    pub hooks: Vec<PlannedHook>,
    /// `on_hook_failure`
    pub on_hook_failure: Option<usize>,
}

/// A hook.
#[derive(Clone, Debug, Default)]
pub struct PlannedHook {
    /// `action`
    pub action: &'static str,
    /// The other parameters, as they are written: `message: go on`.
    pub parameters: Vec<String>,
    /// `prompt`
    pub prompt: Option<&'static str>,
    /// `harness: review`, or `task`.
    pub harness: Option<&'static str>,
    /// `as: reviewer`, or `worker`.
    pub role: Option<&'static str>,
    /// The counter of `increment`.
    pub increment: Option<usize>,
    /// `on_failure`
    pub on_failure: Option<&'static str>,
}

/// A gate: on a section, or on what is outside of the body.
#[derive(Clone, Debug, Default)]
pub struct PlannedGate {
    /// Requirement outside of the body; then it has no other part.
    pub outside: Option<Outside>,
    /// The heading.
    pub section: &'static str,
    /// It must have a line that is not blank.
    pub required: bool,
    /// `PASS` or `FAIL`, or another one of `words`.
    pub verdict: Option<&'static str>,
    /// `verdicts`: those that the section may have, where they are not `PASS` and `FAIL`.
    pub words: Vec<&'static str>,
    /// True if the verdict must come first.
    pub strict: bool,
    /// These fields must have a line: one of them, or each.
    pub fields: Vec<&'static str>,
    /// True if each of them must.
    pub every_field: bool,
    /// True if its content must be new.
    pub fresh: bool,
    /// `of`: what of the work must be as it was when a gate accepted the verdict.
    pub of: Option<&'static str>,
    /// `written_by`; empty where nobody is declared.
    pub written_by: Vec<&'static str>,
}

impl PlannedGate {
    /// True if the section must have a verdict.
    pub fn asks_for_verdict(&self) -> bool {
        self.verdict.is_some() || !self.words.is_empty()
    }

    /// Adds `of` to some gates with a verdict that take what is old.
    pub(crate) fn with_work(self) -> Self {
        let is_of_work = self.verdict.is_some() && !self.fresh && self.written_by.is_empty();
        let of = is_of_work.then_some(if self.strict { "patch" } else { "commit" });
        Self { of: of.filter(|_| self.section != "## Handoff"), ..self }
    }
}

/// Requirement of a gate outside of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// `command`: that this program succeeds.
    Command(&'static [&'static str]),
    /// `checks: green`
    Checks,
    /// `children: some`, or `none`.
    Children { some: bool },
}

/// A guard as a tree.
#[derive(Clone, Debug)]
pub enum GuardTree {
    /// A counter is compared with a constant.
    Compare(usize, Operator, u32),
    /// It does not hold.
    Not(Box<GuardTree>),
    /// All hold.
    All(Vec<GuardTree>),
    /// One holds.
    Any(Vec<GuardTree>),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// One exit rule.
#[derive(Clone, Debug)]
pub struct PlannedRule {
    /// The state that has the rule.
    pub status: usize,
    /// Case in which the rule applies.
    pub applies: Applies,
    /// Reaction of the rule.
    pub outcome: PlannedOutcome,
}

/// Condition of an exit rule.
#[derive(Clone, Debug)]
pub enum Applies {
    Always,
    /// If each of these artifacts exists.
    HasArtifact(Vec<PlannedGate>),
    /// If no artifact of the same state's rules exists.
    NoArtifact,
    /// If the agent ended like this.
    Ended(PlannedEnding),
}

/// The ends that a rule matches; empty parts match every end.
#[derive(Clone, Debug, Default)]
pub struct PlannedEnding {
    /// Exit statuses.
    pub codes: Vec<i32>,
    /// Numbers of the signals that ended it.
    pub signals: Vec<i32>,
    /// Words of its last lines.
    pub output: Option<&'static str>,
}

/// Effect of an exit rule.
#[derive(Clone, Debug)]
pub enum PlannedOutcome {
    /// `then`
    Then(usize),
    /// `then_when`
    ThenWhen(Vec<(GuardTree, usize)>),
    /// `action: crash`
    Crash {
        /// The number of crashes that escalates, if it is given.
        stuck_after: Option<u32>,
        /// True if the agent is started again.
        respawn: bool,
    },
    /// `action: mark_dead`
    MarkDead,
    /// `action: wait`
    Wait(u32),
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 6] = [
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
        Operator::Equal,
        Operator::NotEqual,
    ];

    /// As the guard grammar spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
        }
    }
}

impl GuardTree {
    /// The guard's text, with only the necessary parentheses.
    pub fn text(&self, counters: &[String]) -> String {
        let join = |parts: &[GuardTree], word: &str| {
            parts.iter().map(|part| part.operand(counters)).collect::<Vec<_>>().join(word)
        };
        match self {
            GuardTree::Compare(counter, operator, value) => {
                format!("{} {} {value}", counters[*counter], operator.as_str())
            }
            GuardTree::Not(inner) => format!("!({})", inner.text(counters)),
            GuardTree::All(parts) => join(parts, " && "),
            GuardTree::Any(parts) => join(parts, " || "),
        }
    }

    fn operand(&self, counters: &[String]) -> String {
        match self {
            GuardTree::Compare(..) | GuardTree::Not(_) => self.text(counters),
            GuardTree::All(_) | GuardTree::Any(_) => format!("({})", self.text(counters)),
        }
    }

    /// Every counter that is compared, with the constant.
    pub fn constants(&self) -> Vec<(usize, u32)> {
        match self {
            GuardTree::Compare(counter, _, value) => vec![(*counter, *value)],
            GuardTree::Not(inner) => inner.constants(),
            GuardTree::All(parts) | GuardTree::Any(parts) => {
                parts.iter().flat_map(GuardTree::constants).collect()
            }
        }
    }
}

impl Plan {
    fn state(&self, index: usize) -> &str {
        &self.states[index].name
    }

    /// Every gate of its transitions and exit rules.
    pub fn gates(&self) -> impl Iterator<Item = &PlannedGate> {
        let artifacts = self.rules.iter().flat_map(|it| match &it.applies {
            Applies::HasArtifact(gates) => gates.as_slice(),
            Applies::Always | Applies::NoArtifact | Applies::Ended(_) => &[],
        });
        self.transitions.iter().flat_map(|it| &it.gates).chain(artifacts)
    }

    /// The gates that have names, as they are written, each once.
    fn named_gates(&self) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for gate in self.gates().filter(|_| self.names_gates).map(PlannedGate::to_string) {
            if !named.contains(&gate) {
                named.push(gate);
            }
        }
        named
    }

    /// Gates as a workflow has them: one, or `all` of several; by name where they have one.
    fn all_of(&self, gates: &[PlannedGate]) -> String {
        let named = self.named_gates();
        let name = |gate: String| match named.iter().position(|it| *it == gate) {
            Some(at) => format!("gate-{at}"),
            None => gate,
        };
        let each: Vec<String> = gates.iter().map(|gate| name(gate.to_string())).collect();
        match &each[..] {
            [one] => one.clone(),
            several => format!("{{all: [{}]}}", several.join(", ")),
        }
    }
}

/// The plan as a workflow file.
impl Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name: {}\nversion: 1\nactors: [{}]", self.name, DECLARED.join(", "))?;
        if self.counters.len() > 2 {
            writeln!(f, "fields:")?;
        }
        for counter in &self.counters[2..] {
            writeln!(f, "  {counter}: 0")?;
        }
        let unattended = self.unattended.then(|| "unattended: true".to_owned());
        let budget = self.budget.map(|it| format!("budget: {it}"));
        let sandbox = self.sandbox.map(|it| format!("sandbox: {it}"));
        [unattended, budget, sandbox].iter().flatten().try_for_each(|it| writeln!(f, "{it}"))?;
        if self.is_wordy {
            writeln!(f, "description: Some work.\ninitial: {}", self.state(0))?;
        }
        let commands = [("crash", self.crash), ("merge", self.merge)].into_iter();
        let named = commands.filter_map(|(command, state)| Some((command, state?)));
        let others = self.commands.iter().map(|(command, state)| (*command, *state));
        for (at, (command, state)) in named.chain(others).enumerate() {
            writeln!(f, "{}  {command}: {}", if at == 0 { "commands:\n" } else { "" }, self.state(state))?;
        }
        let gates = self.named_gates();
        for (at, gate) in gates.iter().enumerate() {
            writeln!(f, "{}  gate-{at}: {gate}", if at == 0 { "\ngates:\n" } else { "" })?;
        }
        writeln!(f, "\nstates:")?;
        for state in &self.states {
            state.write(f, self)?;
        }
        let prompts: Vec<String> = self.prompts.iter().map(|it| format!("{it}: Go on.")).collect();
        writeln!(f, "\nprompts: {{{}}}", prompts.join(", "))?;
        writeln!(f, "\ntransitions:{}", if self.transitions.is_empty() { " []" } else { "" })?;
        for transition in &self.transitions {
            transition.write(f, self)?;
        }
        if !self.watch.is_empty() {
            writeln!(f, "\nwatch:")?;
        }
        self.watch.iter().try_for_each(|it| it.write(f, self))?;
        if !self.deadlines.is_empty() {
            writeln!(f, "\ndeadlines:")?;
        }
        for PlannedDeadline { states, after, then } in &self.deadlines {
            let states: Vec<&str> = states.iter().map(|it| self.state(*it)).collect();
            let then = then.map_or(String::new(), |it| format!(", then: {}", self.state(it)));
            writeln!(f, "  - {{states: [{}], after: {after}s{then}}}", states.join(", "))?;
        }
        if !self.rules.is_empty() {
            let poll_interval = if self.is_wordy { "  poll_interval: 5\n" } else { "" };
            writeln!(f, "\nexit_monitoring:\n{poll_interval}  rules:")?;
        }
        for rule in &self.rules {
            rule.write(f, self)?;
        }
        Ok(())
    }
}

impl PlannedState {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "  {}:\n    terminal: {}", self.name, self.terminal)?;
        let timeout = self.timeout.map(|(seconds, to)| {
            let target = to.map_or(String::new(), |it| format!("\n    on_timeout: {}", plan.state(it)));
            format!("timeout: {seconds}s{target}")
        });
        let folder = self.in_folder.then_some("workspace: none");
        let agent: Vec<&str> = folder.into_iter().chain(self.agent.iter().copied()).collect();
        let keys = [
            self.respawn.map(|it| format!("respawn_prompt: {it}")),
            self.entry.then(|| "entry: true".to_owned()),
            self.waits.then(|| "wait: human".to_owned()),
            (!agent.is_empty()).then(|| format!("agent: {{{}}}", agent.join(", "))),
            self.budget.map(|it| format!("budget: {it}")),
            self.sandbox.map(|it| format!("sandbox: {it}")),
            self.delegates.map(|it| format!("delegates: {it}")),
            plan.is_wordy.then(|| format!("description: What is done in {}.", self.name)),
            timeout,
        ];
        keys.iter().flatten().try_for_each(|it| writeln!(f, "    {it}"))
    }
}

impl PlannedTransition {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "  - from: {}\n    to: {}", plan.state(self.from), plan.state(self.to))?;
        if !self.by.is_empty() {
            writeln!(f, "    by: [{}]", self.by.join(", "))?;
        }
        if let Some(cause) = self.cause {
            writeln!(f, "    cause: {cause}")?;
        }
        if let Some(when) = &self.when {
            writeln!(f, "    when: \"{}\"", when.text(&plan.counters))?;
        }
        if !self.gates.is_empty() {
            writeln!(f, "    gate: {}", plan.all_of(&self.gates))?;
        }
        if !self.reset.is_empty() {
            let reset: Vec<&str> = self.reset.iter().map(|it| plan.counters[*it].as_str()).collect();
            writeln!(f, "    reset: [{}]", reset.join(", "))?;
        }
        if let Some(to) = self.on_hook_failure {
            writeln!(f, "    on_hook_failure: {}", plan.state(to))?;
        }
        if !self.increments.is_empty() || !self.hooks.is_empty() {
            writeln!(f, "    hooks:")?;
        }
        for counter in &self.increments {
            writeln!(f, "      - {{action: increment, field: {}}}", plan.counters[*counter])?;
        }
        self.hooks.iter().try_for_each(|hook| hook.write(f, plan))
    }
}

impl PlannedHook {
    /// True if the hooks after it wait when it fails: by default, those after `run_command` and `sync_branch` do.
    pub fn stops(&self) -> bool {
        self.on_failure.map_or(matches!(self.action, "run_command" | "sync_branch"), |it| it == "stop")
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        write!(f, "      - {{action: {}", self.action)?;
        let keys = [
            self.prompt.map(|it| format!("prompt: {it}")),
            self.harness.map(|it| format!("harness: {it}")),
            self.role.map(|it| format!("as: {it}")),
            self.increment.map(|it| format!("increment: {}", plan.counters[it])),
            self.on_failure.map(|it| format!("on_failure: {it}")),
        ];
        self.parameters.iter().chain(keys.iter().flatten()).try_for_each(|it| write!(f, ", {it}"))?;
        writeln!(f, "}}")
    }
}

impl PlannedRule {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "    - status: {}", plan.state(self.status))?;
        match &self.applies {
            Applies::Always => {}
            Applies::HasArtifact(gates) => writeln!(f, "      has_artifact: {}", plan.all_of(gates))?,
            Applies::NoArtifact => writeln!(f, "      no_artifact: true")?,
            Applies::Ended(ending) => write!(f, "{ending}")?,
        }
        self.outcome.write(f, plan)
    }
}

impl PlannedWatch {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "    - status: {}\n      {}", plan.state(self.status), self.fact)?;
        let when = self.when.as_ref().map(|it| it.text(&plan.counters));
        when.map_or(Ok(()), |when| writeln!(f, "      when: \"{when}\""))?;
        self.rerun.map_or(Ok(()), |rerun| writeln!(f, "      rerun: {rerun}"))?;
        self.outcome.write(f, plan)
    }
}

impl PlannedOutcome {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        match self {
            PlannedOutcome::Then(to) => writeln!(f, "      then: {}", plan.state(*to)),
            PlannedOutcome::ThenWhen(clauses) => {
                writeln!(f, "      then_when:")?;
                for (when, to) in clauses {
                    let when = when.text(&plan.counters);
                    writeln!(f, "        - {{when: \"{when}\", then: {}}}", plan.state(*to))?;
                }
                Ok(())
            }
            PlannedOutcome::Crash { stuck_after, respawn } => {
                writeln!(f, "      action: crash")?;
                stuck_after.map_or(Ok(()), |it| writeln!(f, "      stuck_after: {it}"))?;
                if *respawn { writeln!(f, "      respawn: true") } else { Ok(()) }
            }
            PlannedOutcome::MarkDead => writeln!(f, "      action: mark_dead"),
            PlannedOutcome::Wait(seconds) => {
                writeln!(f, "      action: wait\n      resume_after: {seconds}")
            }
        }
    }
}

impl Display for PlannedEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = |numbers: &[i32]| match numbers {
            [one] => one.to_string(),
            several => format!("{several:?}"),
        };
        let named = [("code", &self.codes), ("signal", &self.signals)].into_iter();
        let named = named.filter(|(_, it)| !it.is_empty()).map(|(key, it)| format!("{key}: {}", numbers(it)));
        let exit: Vec<String> = named.collect();
        if !exit.is_empty() {
            writeln!(f, "      exit: {{{}}}", exit.join(", "))?;
        }
        self.output.map_or(Ok(()), |text| writeln!(f, "      on_output: \"{text}\""))
    }
}

impl Display for PlannedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outside {
            Some(Outside::Command(argv)) => return write!(f, "{{command: {{argv: {argv:?}, timeout: 60}}}}"),
            Some(Outside::Checks) => return write!(f, "{{checks: green}}"),
            Some(Outside::Children { some: true }) => return write!(f, "{{children: some}}"),
            Some(Outside::Children { some: false }) => return write!(f, "{{children: none}}"),
            None => {}
        }
        write!(f, "{{section: \"{}\"", self.section)?;
        if self.required {
            write!(f, ", required: true")?;
        }
        if let Some(verdict) = self.verdict {
            write!(f, ", verdict: {verdict}")?;
        }
        if !self.words.is_empty() {
            write!(f, ", verdicts: [{}]", self.words.join(", "))?;
        }
        if self.strict {
            write!(f, ", strict: true")?;
        }
        if !self.fields.is_empty() {
            let names = self.fields.join(", ");
            match self.every_field {
                true => write!(f, ", fields: {{all: [{names}]}}")?,
                false => write!(f, ", fields: [{names}]")?,
            }
        }
        if self.fresh {
            write!(f, ", fresh: true")?;
        }
        self.of.map_or(Ok(()), |of| write!(f, ", of: {of}"))?;
        if !self.written_by.is_empty() {
            write!(f, ", written_by: [{}]", self.written_by.join(", "))?;
        }
        write!(f, "}}")
    }
}
