//! The keys of values, programs, persons and fan-outs in generated step workflows.

use orange_testkit::Random;

use super::{PlannedStep, PlannedSteps, upstream};

/// `inputs` of a workflow.
pub(super) const INPUTS: &str = "[inputs]\nnames = { type = \"list\", max_items = 3, default = [\"a\", \"b\"] }\n\
                                 target = { words = [\"web\", \"api\"], default = \"web\" }\nsize = { type = \"number\", min = -1, max = 9 }\n";

/// `roles.worker` of a workflow.
pub(super) const WORKER: &str = "[roles.worker]\nharness = \"codex\"\nmodel = \"small\"\neffort = \"low\"\npermissions = \"reduced\"\nsandbox = \"wall\"\n";

/// Outputs of steps: the name, the declaration, and a test of the value.
const OUTPUTS: [(&str, &str, &str); 5] = [
    ("parts", "{ type = \"list\", max_items = 6 }", "'a' in {}"),
    ("risk", "{ words = [\"low\", \"LOW\", \"a-b\"] }", "{} in ['low', 'a-b']"),
    ("type", "{ type = \"number\", min = -3, max = 10 }", "{} >= -2"),
    ("is-done", "{ type = \"bool\" }", "!{}"),
    ("note", "{ type = \"text\" }", "{} != 'it is'"),
];
const GATES: [&str; 3] = [
    "{ run = [\"test\", \"-d\", \"{{worktree_path}}\"], timeout = 9 }",
    "{ file = \"NOTES.md\", contains = \"## Cause\" }",
    "{ file = \"a/b.txt\" }",
];

/// Worker of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlannedWork {
    /// An agent.
    #[default]
    Agent,
    /// A program, with this argument.
    Program(&'static str),
    /// A person, with these keys beside the question.
    Person(&'static str),
}

/// Further keys of a step.
#[derive(Debug, Default)]
pub struct MoreKeys {
    /// Worker of the step.
    pub work: PlannedWork,
    /// `outputs`: places in the list of them.
    pub outputs: Vec<usize>,
    /// `gates`, as they are written.
    pub gates: Vec<&'static str>,
    /// `read_only = true`
    pub worktree: Option<&'static str>,
    /// `for_each`, as it is written.
    pub for_each: Option<String>,
    /// `enough`
    pub enough: Option<u16>,
    /// A test that the condition has besides, as it is written.
    pub test: Option<String>,
}

impl MoreKeys {
    /// `outputs`, as they are written.
    pub(super) fn declared(&self) -> Vec<String> {
        self.outputs.iter().map(|at| format!("{} = {}", OUTPUTS[*at].0, OUTPUTS[*at].1)).collect()
    }
}

/// Gives a workflow the further keys.
pub(super) fn widen(random: &mut Random, planned: &mut PlannedSteps) {
    planned.parallel = random.chance(50).then(|| 1 + random.below(32) as u8);
    planned.has_inputs = true;
    planned.name = planned.name.replace("steps", "wide");
    for at in 0..planned.steps.len() {
        let handled = planned.steps.iter().any(|it| it.on_fail == Some(at));
        let more = keys(random, &planned.steps, at, handled);
        let texts = placeholders(random, &planned.steps, at, &more);
        let step = &mut planned.steps[at];
        step.prompt += &texts;
        step.more = more;
    }
}

fn keys(random: &mut Random, steps: &[PlannedStep], at: usize, is_handler: bool) -> MoreKeys {
    let step = &steps[at];
    let before = upstream(steps, &step.depends_on);
    let work = match random.below(10) {
        0 if !is_handler => PlannedWork::Person(
            "who = [\"Ada\", \"Bob\"]\nshow = [\"context\"]\ntimeout = 9\non_timeout = \"fail\"\n",
        ),
        1 if !is_handler => PlannedWork::Person("show = []\n"),
        2 | 3 => PlannedWork::Program(random.pick::<&str>(&["it's", "{{branch}} $(x)", "-{{step}}-"])),
        _ => PlannedWork::Agent,
    };
    if let PlannedWork::Person(_) = work {
        return MoreKeys { work, test: test(random, steps, &before), ..MoreKeys::default() };
    }
    let outputs = (0..OUTPUTS.len()).filter(|_| !is_handler && random.chance(30)).collect();
    let is_plain = is_handler || step.max_retries > 0;
    let for_each = (!is_plain && random.chance(30)).then(|| list(random, steps, &before));
    let gates = match work {
        PlannedWork::Agent => GATES.into_iter().filter(|_| random.chance(20)).collect(),
        PlannedWork::Program(_) | PlannedWork::Person(_) => Vec::new(),
    };
    MoreKeys {
        work,
        outputs,
        gates,
        worktree: random.chance(50).then_some("read_only = true"),
        enough: for_each.as_ref().and_then(|_| random.chance(40).then(|| 1 + random.below(2) as u16)),
        for_each,
        test: if is_handler { None } else { test(random, steps, &before) },
    }
}

/// A list of items: one that stands there, that the mission is started with, or that a step reports.
fn list(random: &mut Random, steps: &[PlannedStep], before: &[usize]) -> String {
    let has_list = |it: &&usize| steps[**it].more.outputs.contains(&0) && steps[**it].more.for_each.is_none();
    let lists: Vec<&usize> = before.iter().filter(has_list).collect();
    match random.below(3) {
        0 if !lists.is_empty() => format!("\"{}.parts\"", steps[**random.pick(&lists)].id),
        1 => "\"inputs.names\"".to_owned(),
        _ => "[\"it's \\\"one\\\"\", \"{{two}}\"]".to_owned(),
    }
}

/// A test of an output, an input or a number of rounds.
fn test(random: &mut Random, steps: &[PlannedStep], before: &[usize]) -> Option<String> {
    let tests = before.iter().flat_map(|it| {
        let step = &steps[*it];
        let items = if step.more.for_each.is_some() { "any " } else { "" };
        let outputs = step.more.outputs.iter().map(move |output| {
            let (name, _, test) = OUTPUTS[*output];
            let operand = format!("{}.{name}", step.id);
            match test.strip_prefix('!') {
                Some(test) => format!("!{items}{}", test.replace("{}", &operand)),
                None => format!("{items}{}", test.replace("{}", &operand)),
            }
        });
        outputs.chain([format!("{}.rounds < 3", step.id)])
    });
    let tests: Vec<String> = tests.chain(["inputs.target == 'web'".to_owned()]).collect();
    (!before.is_empty() && random.chance(60)).then(|| random.pick(&tests).clone())
}

/// Placeholders of a step: its item, an input, and what a step before it has reported.
fn placeholders(random: &mut Random, steps: &[PlannedStep], at: usize, more: &MoreKeys) -> String {
    let before = upstream(steps, &steps[at].depends_on);
    let mut texts = vec!["{{inputs.size}}".to_owned()];
    if more.for_each.is_some() {
        texts.push("{{item}}".to_owned());
    }
    for it in before.iter().filter(|it| steps[**it].more.for_each.is_none()) {
        texts.push(format!("{{{{{}.summary}}}}", steps[*it].id));
        texts.extend(
            steps[*it].more.outputs.iter().map(|at| format!("{{{{{}.{}}}}}", steps[*it].id, OUTPUTS[*at].0)),
        );
    }
    texts.into_iter().filter(|_| random.chance(40)).collect()
}
