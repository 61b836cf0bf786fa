//! A workflow for the tests, and its YAML. It shares no code with the compiler that it tests.

use std::fmt::{self, Display};

/// A workflow. States, counters and prompts are named by their index.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// In source order.
    pub states: Vec<PlannedState>,
    /// The names of all counters, `review_round` and `crash_count` first.
    pub counters: Vec<String>,
    /// The target of escalations, if the workflow sets one or has a state `stuck`.
    pub crash: Option<usize>,
    /// In source order.
    pub transitions: Vec<PlannedTransition>,
    /// In source order.
    pub rules: Vec<PlannedRule>,
}

/// One state.
#[derive(Clone, Debug)]
pub struct PlannedState {
    /// Its name.
    pub name: String,
    /// Whether no transition leaves it.
    pub terminal: bool,
}

/// One transition.
#[derive(Clone, Debug)]
pub struct PlannedTransition {
    /// The state it leaves.
    pub from: usize,
    /// The state it enters.
    pub to: usize,
    /// Who may ask; empty means anyone.
    pub by: Vec<&'static str>,
    /// Its guard.
    pub when: Option<Condition>,
    /// Its gates; each must hold.
    pub gates: Vec<PlannedGate>,
    /// The counters that its hooks increment, in order.
    pub increments: Vec<usize>,
}

/// A gate.
#[derive(Clone, Debug, Default)]
pub struct PlannedGate {
    /// The heading.
    pub section: &'static str,
    /// It must have a line that is not blank.
    pub required: bool,
    /// `PASS` or `FAIL`.
    pub verdict: Option<&'static str>,
    /// Whether the verdict must come first.
    pub strict: bool,
    /// These fields must have a line: one of them, or each.
    pub fields: Vec<&'static str>,
    /// Whether each of them must.
    pub every_field: bool,
    /// Whether its content must be new.
    pub fresh: bool,
}

/// A guard as a tree.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A counter is compared with a constant.
    Compare(usize, Operator, u32),
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// One holds.
    Any(Vec<Condition>),
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
    /// When it applies.
    pub applies: Applies,
    /// What it demands.
    pub outcome: PlannedOutcome,
}

/// When an exit rule applies.
#[derive(Clone, Debug)]
pub enum Applies {
    /// Always.
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
    /// Signals.
    pub signals: Vec<i32>,
    /// Words of its last lines.
    pub output: Option<&'static str>,
}

/// What an exit rule demands.
#[derive(Clone, Debug)]
pub enum PlannedOutcome {
    /// `then`
    Then(usize),
    /// `then_when`
    ThenWhen(Vec<(Condition, usize)>),
    /// `action: crash`
    Crash {
        /// The number of crashes that escalates, if it is given.
        stuck_after: Option<u32>,
        /// Whether the agent is started again.
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

impl Condition {
    /// The guard's text, with only the necessary parentheses.
    pub fn text(&self, counters: &[String]) -> String {
        let join = |parts: &[Condition], word: &str| {
            parts.iter().map(|part| part.operand(counters)).collect::<Vec<_>>().join(word)
        };
        match self {
            Condition::Compare(counter, operator, value) => {
                format!("{} {} {value}", counters[*counter], operator.as_str())
            }
            Condition::Not(inner) => format!("!({})", inner.text(counters)),
            Condition::All(parts) => join(parts, " && "),
            Condition::Any(parts) => join(parts, " || "),
        }
    }

    fn operand(&self, counters: &[String]) -> String {
        match self {
            Condition::Compare(..) | Condition::Not(_) => self.text(counters),
            Condition::All(_) | Condition::Any(_) => format!("({})", self.text(counters)),
        }
    }

    /// Every counter that is compared, with the constant.
    pub fn constants(&self) -> Vec<(usize, u32)> {
        match self {
            Condition::Compare(counter, _, value) => vec![(*counter, *value)],
            Condition::Not(inner) => inner.constants(),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().flat_map(Condition::constants).collect()
            }
        }
    }
}

impl Plan {
    fn state(&self, index: usize) -> &str {
        &self.states[index].name
    }
}

/// The plan as a workflow file.
impl Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name: {}\nversion: 1", self.name)?;
        if self.counters.len() > 2 {
            writeln!(f, "fields:")?;
        }
        for counter in &self.counters[2..] {
            writeln!(f, "  {counter}: 0")?;
        }
        if let Some(crash) = self.crash {
            writeln!(f, "commands:\n  crash: {}", self.state(crash))?;
        }
        writeln!(f, "\nstates:")?;
        for state in &self.states {
            writeln!(f, "  {}:\n    terminal: {}", state.name, state.terminal)?;
            if !state.terminal {
                writeln!(f, "    respawn_prompt: again")?;
            }
        }
        writeln!(f, "\nprompts: {{again: Go on.}}")?;
        writeln!(f, "\ntransitions:{}", if self.transitions.is_empty() { " []" } else { "" })?;
        for transition in &self.transitions {
            transition.write(f, self)?;
        }
        if !self.rules.is_empty() {
            writeln!(f, "\nexit_monitoring:\n  rules:")?;
        }
        for rule in &self.rules {
            rule.write(f, self)?;
        }
        Ok(())
    }
}

impl PlannedTransition {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "  - from: {}\n    to: {}", plan.state(self.from), plan.state(self.to))?;
        if !self.by.is_empty() {
            writeln!(f, "    by: [{}]", self.by.join(", "))?;
        }
        if let Some(when) = &self.when {
            writeln!(f, "    when: \"{}\"", when.text(&plan.counters))?;
        }
        if !self.gates.is_empty() {
            writeln!(f, "    gate: {}", all_of(&self.gates))?;
        }
        if !self.increments.is_empty() {
            writeln!(f, "    hooks:")?;
        }
        for counter in &self.increments {
            writeln!(f, "      - {{action: increment, field: {}}}", plan.counters[*counter])?;
        }
        Ok(())
    }
}

impl PlannedRule {
    fn write(&self, f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
        writeln!(f, "    - status: {}", plan.state(self.status))?;
        match &self.applies {
            Applies::Always => {}
            Applies::HasArtifact(gates) => writeln!(f, "      has_artifact: {}", all_of(gates))?,
            Applies::NoArtifact => writeln!(f, "      no_artifact: true")?,
            Applies::Ended(ending) => write!(f, "{ending}")?,
        }
        match &self.outcome {
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
                if let Some(stuck_after) = stuck_after {
                    writeln!(f, "      stuck_after: {stuck_after}")?;
                }
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

/// Gates as a workflow has them: one, or `all` of several.
fn all_of(gates: &[PlannedGate]) -> String {
    let each: Vec<String> = gates.iter().map(PlannedGate::to_string).collect();
    match &each[..] {
        [one] => one.clone(),
        several => format!("{{all: [{}]}}", several.join(", ")),
    }
}

impl Display for PlannedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{section: \"{}\"", self.section)?;
        if self.required {
            write!(f, ", required: true")?;
        }
        if let Some(verdict) = self.verdict {
            write!(f, ", verdict: {verdict}")?;
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
        write!(f, "}}")
    }
}
